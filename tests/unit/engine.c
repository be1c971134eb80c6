#include "common/engine.h"

#include "tests/support/processes.h"

#include <criterion/criterion.h>
#include <string.h>
#include <sys/mman.h>

#define RETRYABLE MBP_LABEL_RETRYABLE
#define BOTH (MBP_LABEL_RETRYABLE | MBP_LABEL_OVERLOADED)

static double draw_fixed(void *state)
{
    return *(double *)state;
}

/* An engine with a bucket and a slot of its own, and a jitter of 1/2. */
struct bench {
    struct mbp_policy policy;
    struct mbp_bucket bucket;
    struct mbp_slot slot;
    double jitter;
    struct mbp_engine engine;
};

static void set_up(struct bench *bench, mbp_millitokens capacity, mbp_millitokens balance)
{
    memset(bench, 0, sizeof *bench);
    bench->policy = (struct mbp_policy){.numbers = mbp_profiles[0]};
    mbp_bucket_init_once(&bench->bucket, capacity);
    cr_assert(mbp_bucket_consume(&bench->bucket, capacity - balance));
    bench->jitter = 0.5;
    bench->engine = (struct mbp_engine){
        .policy = &bench->policy,
        .bucket = &bench->bucket,
        .slot = &bench->slot,
        .jitter = {.next = draw_fixed, .state = &bench->jitter},
    };
}

struct expected_count {
    enum mbp_counter counter;
    uint64_t value;
};

/* Every counter is checked: those not named must not have moved. */
static void check_counts(
    const struct bench *bench, const struct expected_count *expected, unsigned count)
{
    uint64_t values[MBP_COUNTER_COUNT] = {0};
    for (unsigned i = 0; i < count; i++) {
        values[expected[i].counter] = expected[i].value;
    }
    for (unsigned i = 0; i < MBP_COUNTER_COUNT; i++) {
        cr_expect_eq(bench->slot.counters[i], values[i], "%s is %llu, not %llu",
            mbp_counter_infos[i].name, (unsigned long long)bench->slot.counters[i],
            (unsigned long long)values[i]);
    }
}

#define CHECK_COUNTS(bench, ...)                                                                   \
    check_counts(bench, (const struct expected_count[]){__VA_ARGS__},                              \
        sizeof((const struct expected_count[]){__VA_ARGS__}) / sizeof(struct expected_count))

static struct mbp_verdict settle(
    struct bench *bench, struct mbp_operation *operation, struct mbp_attempt attempt)
{
    return mbp_engine_settle(&bench->engine, operation, &attempt);
}

static const struct mbp_attempt success = {.ok = true};
static const struct mbp_attempt rejection = {.labels = BOTH};
static const struct mbp_attempt retryable_error = {.labels = RETRYABLE};
static const struct mbp_attempt plain_error = {0};

Test(engine, first_success_pays_in_a_tenth)
{
    struct bench bench;
    set_up(&bench, 1000 * MBP_TOKEN, 500 * MBP_TOKEN);
    struct mbp_operation operation = mbp_engine_begin(&bench.engine, 0);
    const struct mbp_verdict verdict = settle(&bench, &operation, success);
    cr_expect_not(verdict.retry);
    cr_expect_eq(verdict.refusal, MBP_REFUSED_NOT);
    cr_expect_eq(mbp_bucket_balance(&bench.bucket), 500100);
    CHECK_COUNTS(&bench, {MBP_COUNT_operations, 1}, {MBP_COUNT_first_successes, 1},
        {MBP_COUNT_tokens_deposited, 100});
}

Test(engine, short_way_of_a_first_success_does_the_same)
{
    struct bench bench, other;
    set_up(&bench, 1000 * MBP_TOKEN, 500 * MBP_TOKEN);
    set_up(&other, 1000 * MBP_TOKEN, 500 * MBP_TOKEN);
    struct mbp_operation operation = mbp_engine_begin(&bench.engine, 0);
    settle(&bench, &operation, success);
    mbp_engine_settle_first_success(&other.engine);
    cr_expect_eq(mbp_bucket_balance(&other.bucket), mbp_bucket_balance(&bench.bucket));
    cr_expect_arr_eq(
        (void *)other.slot.counters, (void *)bench.slot.counters, sizeof bench.slot.counters);
}

Test(engine, success_on_a_retry_pays_in_one_and_a_tenth)
{
    struct bench bench;
    set_up(&bench, 1000 * MBP_TOKEN, 500 * MBP_TOKEN);
    struct mbp_operation operation = mbp_engine_begin(&bench.engine, 0);
    const struct mbp_verdict first = settle(&bench, &operation, rejection);
    cr_expect(first.retry);
    cr_expect(first.avoid_server);
    cr_expect_eq(first.delay_ms, 50);
    cr_expect_eq(mbp_bucket_balance(&bench.bucket), 499000);
    const struct mbp_verdict second = settle(&bench, &operation, success);
    cr_expect_not(second.retry);
    cr_expect_eq(mbp_bucket_balance(&bench.bucket), 500100);
    CHECK_COUNTS(&bench, {MBP_COUNT_operations, 1}, {MBP_COUNT_retries, 1},
        {MBP_COUNT_retry_successes, 1}, {MBP_COUNT_overload_errors, 1}, {MBP_COUNT_backoff_ms, 50},
        {MBP_COUNT_tokens_consumed, 1000}, {MBP_COUNT_tokens_deposited, 1100});
}

Test(engine, five_retries_and_then_the_error)
{
    static const uint64_t delays_ms[] = {50, 100, 200, 400, 800};
    struct bench bench;
    set_up(&bench, 1000 * MBP_TOKEN, 1000 * MBP_TOKEN);
    struct mbp_operation operation = mbp_engine_begin(&bench.engine, 0);
    for (int i = 0; i < 5; i++) {
        const struct mbp_verdict verdict = settle(&bench, &operation, rejection);
        cr_expect(verdict.retry, "retry %d", i + 1);
        cr_expect_eq(verdict.delay_ms, delays_ms[i], "retry %d", i + 1);
    }
    const struct mbp_verdict last = settle(&bench, &operation, rejection);
    cr_expect_not(last.retry);
    cr_expect_eq(last.refusal, MBP_REFUSED_ATTEMPTS);
    cr_expect_eq(operation.retries, 5);
    cr_expect_eq(mbp_bucket_balance(&bench.bucket), 995 * MBP_TOKEN);
    CHECK_COUNTS(&bench, {MBP_COUNT_operations, 1}, {MBP_COUNT_retries, 5},
        {MBP_COUNT_overload_errors, 6}, {MBP_COUNT_backoff_ms, 1550},
        {MBP_COUNT_refused_attempts, 1}, {MBP_COUNT_tokens_consumed, 5000});
}

Test(engine, retryable_error_is_retried_at_once_and_costs_a_token)
{
    struct bench bench;
    set_up(&bench, 10 * MBP_TOKEN, 5 * MBP_TOKEN);
    struct mbp_operation operation = mbp_engine_begin(&bench.engine, 0);
    const struct mbp_verdict verdict = settle(&bench, &operation, retryable_error);
    cr_expect(verdict.retry);
    cr_expect_not(verdict.avoid_server);
    cr_expect_eq(verdict.delay_ms, 0);
    cr_expect_eq(mbp_bucket_balance(&bench.bucket), 4 * MBP_TOKEN);
    CHECK_COUNTS(&bench, {MBP_COUNT_operations, 1}, {MBP_COUNT_retries, 1},
        {MBP_COUNT_tokens_consumed, 1000});
}

Test(engine, retry_that_fails_without_overload_gets_its_token_back)
{
    struct bench bench;
    set_up(&bench, 10 * MBP_TOKEN, 5 * MBP_TOKEN);
    struct mbp_operation operation = mbp_engine_begin(&bench.engine, 0);
    cr_assert(settle(&bench, &operation, rejection).retry);
    const struct mbp_verdict verdict = settle(&bench, &operation, plain_error);
    cr_expect_eq(verdict.refusal, MBP_REFUSED_NOT_RETRYABLE);
    cr_expect_eq(mbp_bucket_balance(&bench.bucket), 5 * MBP_TOKEN);
    CHECK_COUNTS(&bench, {MBP_COUNT_operations, 1}, {MBP_COUNT_retries, 1},
        {MBP_COUNT_overload_errors, 1}, {MBP_COUNT_backoff_ms, 50},
        {MBP_COUNT_refused_not_retryable, 1}, {MBP_COUNT_tokens_consumed, 1000},
        {MBP_COUNT_tokens_deposited, 1000});
}

/* The token comes back before the next one is asked for: with one token, a
 * chain of errors that are not overload runs to its end. */
Test(engine, refund_comes_before_the_next_payment)
{
    struct bench bench;
    set_up(&bench, 10 * MBP_TOKEN, MBP_TOKEN);
    struct mbp_operation operation = mbp_engine_begin(&bench.engine, 0);
    for (int i = 0; i < 5; i++) {
        cr_expect(settle(&bench, &operation, retryable_error).retry, "retry %d", i + 1);
    }
    cr_expect_eq(settle(&bench, &operation, retryable_error).refusal, MBP_REFUSED_ATTEMPTS);
    cr_expect_eq(mbp_bucket_balance(&bench.bucket), MBP_TOKEN);
}

Test(engine, first_attempt_that_fails_moves_no_token)
{
    struct bench bench;
    set_up(&bench, 10 * MBP_TOKEN, 5 * MBP_TOKEN);
    struct mbp_operation operation = mbp_engine_begin(&bench.engine, 0);
    settle(&bench, &operation, plain_error);
    cr_expect_eq(mbp_bucket_balance(&bench.bucket), 5 * MBP_TOKEN);
    CHECK_COUNTS(&bench, {MBP_COUNT_operations, 1}, {MBP_COUNT_refused_not_retryable, 1});
}

Test(engine, empty_bucket_refuses)
{
    struct bench bench;
    set_up(&bench, 10 * MBP_TOKEN, MBP_TOKEN - 1);
    struct mbp_operation operation = mbp_engine_begin(&bench.engine, 0);
    const struct mbp_verdict verdict = settle(&bench, &operation, rejection);
    cr_expect_not(verdict.retry);
    cr_expect_not(verdict.avoid_server);
    cr_expect_eq(verdict.refusal, MBP_REFUSED_BUDGET);
    cr_expect_eq(operation.retries, 0, "a retry that was not made is not begun");
    cr_expect_eq(mbp_bucket_balance(&bench.bucket), MBP_TOKEN - 1);
    CHECK_COUNTS(&bench, {MBP_COUNT_operations, 1}, {MBP_COUNT_overload_errors, 1},
        {MBP_COUNT_refused_budget, 1});
}

Test(engine, deadline_refuses_without_spending_a_token)
{
    struct bench bench;
    set_up(&bench, 10 * MBP_TOKEN, 5 * MBP_TOKEN);
    bench.policy.timeout_ms = 49; /* the delay is 50 */
    struct mbp_operation operation = mbp_engine_begin(&bench.engine, 7000);
    cr_expect_eq(operation.deadline_ms, 7049);
    const struct mbp_verdict verdict =
        settle(&bench, &operation, (struct mbp_attempt){.labels = BOTH, .now_ms = 7000});
    cr_expect_not(verdict.retry);
    cr_expect_eq(verdict.refusal, MBP_REFUSED_DEADLINE);
    cr_expect_eq(mbp_bucket_balance(&bench.bucket), 5 * MBP_TOKEN);
    CHECK_COUNTS(&bench, {MBP_COUNT_operations, 1}, {MBP_COUNT_overload_errors, 1},
        {MBP_COUNT_refused_deadline, 1});
}

Test(engine, switched_off_refuses_and_still_counts)
{
    struct bench bench;
    set_up(&bench, 10 * MBP_TOKEN, 5 * MBP_TOKEN);
    bench.policy.numbers.max_retries = 0;
    struct mbp_operation operation = mbp_engine_begin(&bench.engine, 0);
    cr_expect_eq(settle(&bench, &operation, rejection).refusal, MBP_REFUSED_DISABLED);
    cr_expect_eq(mbp_bucket_balance(&bench.bucket), 5 * MBP_TOKEN);
    CHECK_COUNTS(&bench, {MBP_COUNT_operations, 1}, {MBP_COUNT_overload_errors, 1},
        {MBP_COUNT_refused_disabled, 1});
}

Test(engine, deposits_count_as_far_as_they_fit)
{
    struct bench bench;
    set_up(&bench, 10 * MBP_TOKEN, 10 * MBP_TOKEN - 30);
    struct mbp_operation operation = mbp_engine_begin(&bench.engine, 0);
    settle(&bench, &operation, success);
    cr_expect_eq(bench.slot.counters[MBP_COUNT_tokens_deposited], 30);
    settle(&bench, &operation, success);
    cr_expect_eq(bench.slot.counters[MBP_COUNT_tokens_deposited], 30, "full");
    cr_expect_eq(mbp_bucket_balance(&bench.bucket), 10 * MBP_TOKEN);
}

/* Observing, the bucket is in read-only memory: the engine crashes if it so
 * much as tries to write. */
Test(engine, observing_counts_and_touches_nothing)
{
    static const struct {
        const char *what;
        struct mbp_attempt attempt;
        mbp_millitokens balance;
        enum mbp_refusal refusal;
        enum mbp_counter counter;
    } rows[] = {
        {"success", {.ok = true}, 500, MBP_REFUSED_NOT, MBP_COUNT_first_successes},
        {"rejection", {.labels = BOTH}, 1000, MBP_REFUSED_DISABLED, MBP_COUNT_observed_retries},
        {"retryable", {.labels = RETRYABLE}, 1000, MBP_REFUSED_DISABLED,
            MBP_COUNT_observed_retries},
        {"no token", {.labels = BOTH}, 999, MBP_REFUSED_BUDGET, MBP_COUNT_refused_budget},
        {"plain error", {0}, 1000, MBP_REFUSED_NOT_RETRYABLE, MBP_COUNT_refused_not_retryable},
        {"too late", {.labels = BOTH, .now_ms = 101}, 1000, MBP_REFUSED_DEADLINE,
            MBP_COUNT_refused_deadline},
    };
    for (unsigned i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        struct bench bench;
        struct mbp_bucket *bucket = shared_memory(sizeof *bucket);
        set_up(&bench, 10 * MBP_TOKEN, rows[i].balance);
        bucket->word = bench.bucket.word;
        cr_assert_eq(mprotect(bucket, sizeof *bucket, PROT_READ), 0);
        bench.engine.bucket = bucket;
        bench.engine.observe = true;
        bench.policy.timeout_ms = 100;
        struct mbp_operation operation = mbp_engine_begin(&bench.engine, 0);
        const struct mbp_verdict verdict = settle(&bench, &operation, rows[i].attempt);
        const bool overloaded = rows[i].attempt.labels == BOTH;
        cr_expect_not(verdict.retry, "%s", rows[i].what);
        cr_expect_eq(verdict.refusal, rows[i].refusal, "%s: %s", rows[i].what,
            mbp_refusal_name(verdict.refusal));
        cr_expect_eq(operation.retries, 0, "%s", rows[i].what);
        CHECK_COUNTS(&bench, {MBP_COUNT_operations, 1}, {rows[i].counter, 1},
            {MBP_COUNT_overload_errors, overloaded});
    }
}
