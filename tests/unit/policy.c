#include "common/policy.h"

#include <criterion/criterion.h>
#include <string.h>

#define RETRYABLE MBP_LABEL_RETRYABLE
#define OVERLOADED MBP_LABEL_OVERLOADED
#define BOTH (MBP_LABEL_RETRYABLE | MBP_LABEL_OVERLOADED)
#define NO_WRITES MBP_LABEL_NO_WRITES_PERFORMED

/* A jitter that hands out one number and says how often it was asked. */
struct fixed_jitter {
    double value;
    unsigned draws;
};

static double draw_fixed(void *state)
{
    struct fixed_jitter *fixed = state;
    fixed->draws++;
    return fixed->value;
}

static struct mbp_verdict decide(const struct mbp_policy *policy,
    const struct mbp_operation *operation, const struct mbp_attempt *attempt,
    struct fixed_jitter *fixed)
{
    const struct mbp_jitter jitter = {.next = draw_fixed, .state = fixed};
    return mbp_policy_decide(policy, operation, attempt, &jitter);
}

static struct mbp_policy specified(void)
{
    return (struct mbp_policy){.numbers = mbp_profiles[0]};
}

Test(policy, numbers_of_the_specification)
{
    const struct mbp_profile *numbers = &mbp_profiles[0];
    cr_expect_eq(numbers->max_retries, 5);
    cr_expect_eq(numbers->base_backoff_ms, 100);
    cr_expect_eq(numbers->max_backoff_ms, 10000);
    cr_expect_eq(numbers->first_exponent, 0);
    cr_expect_eq(numbers->retry_cost, 1000);
    cr_expect_eq(numbers->return_rate, 100);
}

/* One attempt in, one verdict out: the specification's numbered rules. With a
 * jitter of 1, a delay is as long as it can be. */
Test(policy, rules_of_the_specification)
{
    static const struct {
        const char *rule;
        uint32_t retries; /* begun before this attempt */
        bool ok;
        unsigned labels;
        bool retry, avoid_server;
        uint64_t delay_ms;
        mbp_millitokens deposit;
        enum mbp_refusal refusal;
    } rows[] = {
        {"1: first success", 0, true, 0, false, false, 0, 100, MBP_REFUSED_NOT},
        {"2: success of retry 1", 1, true, 0, false, false, 0, 1100, MBP_REFUSED_NOT},
        {"2: success of retry 5", 5, true, 0, false, false, 0, 1100, MBP_REFUSED_NOT},
        {"1: labels of a success count for nothing", 0, true, BOTH, false, false, 0, 100,
            MBP_REFUSED_NOT},
        {"2: nor for a retry's", 1, true, BOTH, false, false, 0, 1100, MBP_REFUSED_NOT},
        {"3: first attempt fails, unlabelled", 0, false, 0, false, false, 0, 0,
            MBP_REFUSED_NOT_RETRYABLE},
        {"3: first attempt fails, retryable", 0, false, RETRYABLE, true, false, 0, 0,
            MBP_REFUSED_NOT},
        {"3: retry fails, unlabelled", 1, false, 0, false, false, 0, 1000,
            MBP_REFUSED_NOT_RETRYABLE},
        {"3: retry fails, retryable, not overloaded", 2, false, RETRYABLE, true, false, 0, 1000,
            MBP_REFUSED_NOT},
        {"3: retry fails, overloaded", 1, false, BOTH, true, true, 200, 0, MBP_REFUSED_NOT},
        {"3: last retry fails, not overloaded", 5, false, RETRYABLE, false, false, 0, 1000,
            MBP_REFUSED_ATTEMPTS},
        {"3: last retry fails, overloaded", 5, false, BOTH, false, false, 3200, 0,
            MBP_REFUSED_ATTEMPTS},
        {"4: not labelled retryable", 0, false, NO_WRITES, false, false, 0, 0,
            MBP_REFUSED_NOT_RETRYABLE},
        {"4: the last retry allowed", 4, false, RETRYABLE, true, false, 0, 1000, MBP_REFUSED_NOT},
        {"4: one too many", 6, false, RETRYABLE, false, false, 0, 1000, MBP_REFUSED_ATTEMPTS},
        {"4: not retryable is the cause that counts", 5, false, 0, false, false, 0, 1000,
            MBP_REFUSED_NOT_RETRYABLE},
        {"4: other labels change nothing", 0, false, BOTH | NO_WRITES, true, true, 100, 0,
            MBP_REFUSED_NOT},
        {"5: before retry 1", 0, false, BOTH, true, true, 100, 0, MBP_REFUSED_NOT},
        {"5: before retry 2", 1, false, BOTH, true, true, 200, 0, MBP_REFUSED_NOT},
        {"5: before retry 3", 2, false, BOTH, true, true, 400, 0, MBP_REFUSED_NOT},
        {"5: before retry 4", 3, false, BOTH, true, true, 800, 0, MBP_REFUSED_NOT},
        {"5: before retry 5", 4, false, BOTH, true, true, 1600, 0, MBP_REFUSED_NOT},
    };
    const struct mbp_policy policy = specified();
    for (unsigned i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        const struct mbp_operation operation = {
            .retries = rows[i].retries, .paid = rows[i].retries > 0};
        const struct mbp_attempt attempt = {.ok = rows[i].ok, .labels = rows[i].labels};
        struct fixed_jitter jitter = {.value = 1};
        const struct mbp_verdict verdict = decide(&policy, &operation, &attempt, &jitter);
        const char *rule = rows[i].rule;
        cr_expect_eq(verdict.retry, rows[i].retry, "%s", rule);
        cr_expect_eq(verdict.avoid_server, rows[i].avoid_server, "%s", rule);
        cr_expect_eq(verdict.deposit, rows[i].deposit, "%s: %u", rule, verdict.deposit);
        cr_expect_eq(verdict.refusal, rows[i].refusal, "%s: refused: %s", rule,
            mbp_refusal_name(verdict.refusal));
        cr_expect_eq(verdict.cost, rows[i].retry ? 1000 : 0, "%s: costs %u", rule, verdict.cost);
        if (rows[i].retry) { /* a delay before no retry means nothing */
            cr_expect_eq(verdict.delay_ms, rows[i].delay_ms, "%s: %llu ms", rule,
                (unsigned long long)verdict.delay_ms);
        }
    }
}

/* Overload alone does not say that a second send is safe. */
Test(policy, overloaded_without_retryable_is_not_retried)
{
    const struct mbp_policy policy = specified();
    const struct mbp_attempt attempt = {.labels = OVERLOADED};
    for (uint32_t retries = 0; retries <= 5; retries++) {
        const struct mbp_operation operation = {.retries = retries, .paid = retries > 0};
        struct fixed_jitter jitter = {.value = 0.5};
        const struct mbp_verdict verdict = decide(&policy, &operation, &attempt, &jitter);
        cr_expect_not(verdict.retry);
        cr_expect_eq(verdict.refusal, MBP_REFUSED_NOT_RETRYABLE);
        cr_expect_eq(verdict.deposit, 0, "the server was overloaded: nothing is refunded");
    }
}

Test(policy, what_is_unsafe_to_resend_is_never_retried)
{
    static const unsigned labels[] = {0, RETRYABLE, OVERLOADED, BOTH};
    const struct mbp_policy policy = specified();
    for (unsigned i = 0; i < sizeof labels / sizeof labels[0]; i++) {
        const struct mbp_operation operation = {0};
        const struct mbp_attempt attempt = {.unsafe_to_resend = true, .labels = labels[i]};
        struct fixed_jitter jitter = {.value = 0.5};
        const struct mbp_verdict verdict = decide(&policy, &operation, &attempt, &jitter);
        cr_expect_not(verdict.retry, "labels %u", labels[i]);
        cr_expect_not(verdict.avoid_server, "labels %u", labels[i]);
        cr_expect_eq(verdict.cost, 0, "labels %u", labels[i]);
        cr_expect_eq(verdict.refusal, MBP_REFUSED_NOT_RETRYABLE, "labels %u", labels[i]);
    }
}

Test(policy, jitter_is_drawn_once_for_a_delay_and_else_not_at_all)
{
    static const struct {
        bool ok;
        unsigned labels;
        uint32_t retries;
        unsigned draws;
    } rows[] = {
        {true, 0, 0, 0},
        {true, 0, 1, 0},
        {true, BOTH, 1, 0},
        {false, 0, 0, 0},
        {false, RETRYABLE, 0, 0},
        {false, RETRYABLE, 3, 0},
        {false, RETRYABLE, 5, 0},
        {false, BOTH, 0, 1},
        {false, BOTH, 4, 1},
    };
    const struct mbp_policy policy = specified();
    for (unsigned i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        const struct mbp_operation operation = {
            .retries = rows[i].retries, .paid = rows[i].retries > 0};
        const struct mbp_attempt attempt = {.ok = rows[i].ok, .labels = rows[i].labels};
        struct fixed_jitter jitter = {.value = 0.5};
        decide(&policy, &operation, &attempt, &jitter);
        cr_expect_eq(jitter.draws, rows[i].draws, "row %u: %u draws", i, jitter.draws);
    }
}

Test(policy, deadline_is_that_of_the_whole_operation)
{
    struct mbp_policy policy = specified();
    cr_expect_eq(mbp_policy_deadline_ms(&policy, 5000), 0, "no timeout, no deadline");
    policy.timeout_ms = 250;
    cr_expect_eq(mbp_policy_deadline_ms(&policy, 5000), 5250);
    cr_expect_eq(mbp_policy_deadline_ms(&policy, 0), 250);
}

/* A retry that would begin exactly at the deadline is allowed, as in the
 * specification's "now + backoff > deadline". */
Test(policy, deadline_allows_what_fits_to_the_millisecond)
{
    static const struct {
        const char *what;
        unsigned labels;
        double jitter;
        uint64_t now_ms, deadline_ms;
        enum mbp_refusal refusal;
    } rows[] = {
        {"delay ends before it", BOTH, 0.5, 1000, 1051, MBP_REFUSED_NOT},
        {"delay ends at it", BOTH, 0.5, 1000, 1050, MBP_REFUSED_NOT},
        {"delay ends after it", BOTH, 0.5, 1000, 1049, MBP_REFUSED_DEADLINE},
        {"no delay, at it", RETRYABLE, 0.5, 1000, 1000, MBP_REFUSED_NOT},
        {"no delay, after it", RETRYABLE, 0.5, 1001, 1000, MBP_REFUSED_DEADLINE},
        {"jitter 0, at it", BOTH, 0, 1000, 1000, MBP_REFUSED_NOT},
        {"jitter 0, after it", BOTH, 0, 1001, 1000, MBP_REFUSED_DEADLINE},
        {"long past", BOTH, 0, 1000000, 1, MBP_REFUSED_DEADLINE},
        {"none", BOTH, 1, UINT64_MAX / 2, 0, MBP_REFUSED_NOT},
        {"not retryable is the cause that counts", 0, 0, 1001, 1000, MBP_REFUSED_NOT_RETRYABLE},
    };
    const struct mbp_policy policy = specified();
    for (unsigned i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        const struct mbp_operation operation = {.deadline_ms = rows[i].deadline_ms};
        const struct mbp_attempt attempt = {.labels = rows[i].labels, .now_ms = rows[i].now_ms};
        struct fixed_jitter jitter = {.value = rows[i].jitter};
        const struct mbp_verdict verdict = decide(&policy, &operation, &attempt, &jitter);
        cr_expect_eq(verdict.refusal, rows[i].refusal, "%s: %s", rows[i].what,
            mbp_refusal_name(verdict.refusal));
        cr_expect_eq(verdict.retry, rows[i].refusal == MBP_REFUSED_NOT, "%s", rows[i].what);
        cr_expect_eq(verdict.cost, verdict.retry ? 1000 : 0, "%s", rows[i].what);
    }
}

Test(policy, attempts_used_up_come_before_the_deadline)
{
    const struct mbp_policy policy = specified();
    const struct mbp_operation operation = {.retries = 5, .deadline_ms = 1};
    const struct mbp_attempt attempt = {.labels = RETRYABLE, .now_ms = 2};
    struct fixed_jitter jitter = {0};
    cr_expect_eq(decide(&policy, &operation, &attempt, &jitter).refusal, MBP_REFUSED_ATTEMPTS);
}

Test(policy, no_retries_allowed_means_switched_off)
{
    struct mbp_policy policy = specified();
    policy.numbers.max_retries = 0;
    const struct mbp_operation operation = {0};
    const struct mbp_attempt rejected = {.labels = BOTH};
    const struct mbp_attempt broken = {.labels = 0};
    const struct mbp_attempt fine = {.ok = true};
    struct fixed_jitter jitter = {0};
    cr_expect_not(decide(&policy, &operation, &rejected, &jitter).retry);
    cr_expect_eq(decide(&policy, &operation, &rejected, &jitter).refusal, MBP_REFUSED_DISABLED);
    cr_expect_eq(decide(&policy, &operation, &broken, &jitter).refusal, MBP_REFUSED_NOT_RETRYABLE);
    cr_expect_eq(decide(&policy, &operation, &fine, &jitter).deposit, 100,
        "what succeeds still pays in for others");
}

/* Each number is taken from the profile, none from the code. */
Test(policy, another_profile_gives_other_numbers)
{
    const struct mbp_policy policy = {.numbers = {
                                          .name = "another",
                                          .max_retries = 2,
                                          .base_backoff_ms = 30,
                                          .max_backoff_ms = 100,
                                          .first_exponent = 1,
                                          .retry_cost = 2500,
                                          .return_rate = 7,
                                      }};
    const struct mbp_attempt rejected = {.labels = BOTH};
    const struct mbp_attempt fine = {.ok = true};
    struct mbp_operation operation = {0};
    struct fixed_jitter jitter = {.value = 1};
    struct mbp_verdict verdict = decide(&policy, &operation, &rejected, &jitter);
    cr_expect_eq(verdict.delay_ms, 60);
    cr_expect_eq(verdict.cost, 2500);
    cr_expect_eq(decide(&policy, &operation, &fine, &jitter).deposit, 7);
    operation.retries = 1;
    operation.paid = true;
    verdict = decide(&policy, &operation, &rejected, &jitter);
    cr_expect_eq(verdict.delay_ms, 100, "capped");
    cr_expect_eq(decide(&policy, &operation, &fine, &jitter).deposit, 2507);
    operation.retries = 2;
    verdict = decide(&policy, &operation, &rejected, &jitter);
    cr_expect_eq(verdict.refusal, MBP_REFUSED_ATTEMPTS);
}

Test(policy, each_refusal_has_a_name_of_its_own)
{
    for (int i = MBP_REFUSED_NOT; i <= MBP_REFUSED_BUDGET; i++) {
        const char *name = mbp_refusal_name((enum mbp_refusal)i);
        cr_expect_str_neq(name, "unknown");
        for (int j = MBP_REFUSED_NOT; j < i; j++) {
            cr_expect_str_neq(name, mbp_refusal_name((enum mbp_refusal)j));
        }
    }
}

static struct fixed_jitter longest = {.value = 1};

/* What another edition does differently. */
Test(policy, current_profile)
{
    const struct mbp_policy policy = {.numbers = mbp_profiles[MBP_PROFILE_CURRENT]};
    struct mbp_operation operation = {0};
    struct mbp_attempt attempt = {.labels = MBP_LABEL_RETRYABLE | MBP_LABEL_OVERLOADED};
    struct mbp_verdict verdict = decide(&policy, &operation, &attempt, &longest);
    cr_expect(verdict.retry);
    cr_expect_not(verdict.avoid_server);
    cr_expect_eq(verdict.delay_ms, 200);

    attempt.base_backoff_ms = 7;
    operation.retries = 1;
    operation.paid = true;
    verdict = decide(&policy, &operation, &attempt, &longest);
    cr_expect(verdict.retry);
    cr_expect_eq(verdict.delay_ms, 7 * 4, "the server's base replaces ours");

    operation.retries = 2;
    verdict = decide(&policy, &operation, &attempt, &longest);
    cr_expect_eq(verdict.refusal, MBP_REFUSED_ATTEMPTS);
}

Test(policy, original_profile_keeps_its_base)
{
    const struct mbp_policy policy = specified();
    const struct mbp_operation operation = {0};
    const struct mbp_attempt attempt = {
        .labels = MBP_LABEL_RETRYABLE | MBP_LABEL_OVERLOADED, .base_backoff_ms = 7};
    cr_expect_eq(decide(&policy, &operation, &attempt, &longest).delay_ms, 100);
}

/* A retry that the driver made by itself cost nothing, so nothing comes back. */
Test(policy, unpaid_retry_gets_no_refund)
{
    const struct mbp_policy policy = specified();
    const struct mbp_operation operation = {.retries = 1};
    const struct mbp_attempt success = {.ok = true};
    const struct mbp_attempt failure = {0};
    cr_expect_eq(decide(&policy, &operation, &success, &longest).deposit, 100);
    cr_expect_eq(decide(&policy, &operation, &failure, &longest).deposit, 0);
}

Test(policy, switched_off_for_an_operation)
{
    const struct mbp_policy policy = specified();
    const struct mbp_operation operation = {.switched_off = true};
    const struct mbp_attempt attempt = {.labels = MBP_LABEL_RETRYABLE};
    const struct mbp_verdict verdict = decide(&policy, &operation, &attempt, &longest);
    cr_expect_not(verdict.retry);
    cr_expect_eq(verdict.refusal, MBP_REFUSED_DISABLED);
}
