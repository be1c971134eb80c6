#include "policy.h"

#include "backoff.h"

#include <stddef.h>

const struct mbp_profile mbp_profiles[MBP_PROFILE_COUNT] = {
    [MBP_PROFILE_ORIGINAL] =
        {
            .name = "original",
            .max_retries = 5,
            .base_backoff_ms = 100,
            .max_backoff_ms = 10000,
            .first_exponent = 0,
            .retry_cost = MBP_TOKEN,
            .return_rate = MBP_TOKEN / 10,
            .base_from_error = false,
            .retarget = true,
            .announcement = NULL,
        },
    [MBP_PROFILE_CURRENT] =
        {
            .name = "current",
            .max_retries = 2,
            .base_backoff_ms = 100,
            .max_backoff_ms = 10000,
            .first_exponent = 1,
            .retry_cost = MBP_TOKEN,
            .return_rate = MBP_TOKEN / 10,
            .base_from_error = true,
            .retarget = false,
            .announcement = "2",
        },
};

uint64_t mbp_policy_deadline_ms(const struct mbp_policy *policy, uint64_t now_ms)
{
    return policy->timeout_ms ? now_ms + policy->timeout_ms : 0;
}

/* The policy's rules 1 to 3: what an attempt pays in. A retry that reached a
 * server with room gets its token back, whether or not it succeeded. */
static mbp_millitokens deposit_for(
    const struct mbp_profile *numbers, bool succeeded, bool was_paid, bool overloaded)
{
    const mbp_millitokens refund = was_paid && !overloaded ? numbers->retry_cost : 0;
    return succeeded ? numbers->return_rate + refund : refund;
}

struct mbp_verdict mbp_policy_decide(const struct mbp_policy *policy,
    const struct mbp_operation *operation, const struct mbp_attempt *attempt,
    const struct mbp_jitter *jitter)
{
    const struct mbp_profile *numbers = &policy->numbers;
    const bool overloaded = !attempt->ok && (attempt->labels & MBP_LABEL_OVERLOADED);
    struct mbp_verdict verdict = {
        .deposit = deposit_for(numbers, attempt->ok, operation->paid, overloaded),
    };
    if (attempt->ok) {
        return verdict;
    }

    /* Rule 5: only an overloaded server is given time. */
    if (overloaded) {
        const bool server_sets_base = numbers->base_from_error && attempt->base_backoff_ms > 0;
        verdict.delay_ms =
            mbp_backoff_ms(server_sets_base ? attempt->base_backoff_ms : numbers->base_backoff_ms,
                numbers->max_backoff_ms, numbers->first_exponent + operation->retries,
                jitter->next(jitter->state));
    }

    /* Rule 4, except for the token: that one is taken last, by the caller, so
     * that nothing is spent on a retry that is refused for another reason. */
    const bool may_resend = (attempt->labels & MBP_LABEL_RETRYABLE) && !attempt->unsafe_to_resend;
    const bool switched_off = numbers->max_retries == 0 || operation->switched_off;
    const bool attempts_left = operation->retries < numbers->max_retries;
    const bool in_time =
        operation->deadline_ms == 0 || attempt->now_ms + verdict.delay_ms <= operation->deadline_ms;
    verdict.refusal = !may_resend      ? MBP_REFUSED_NOT_RETRYABLE
                      : switched_off   ? MBP_REFUSED_DISABLED
                      : !attempts_left ? MBP_REFUSED_ATTEMPTS
                      : !in_time       ? MBP_REFUSED_DEADLINE
                                       : MBP_REFUSED_NOT;
    verdict.retry = verdict.refusal == MBP_REFUSED_NOT;
    verdict.cost = verdict.retry ? numbers->retry_cost : 0;

    /* Rule 6. */
    verdict.avoid_server = verdict.retry && overloaded && numbers->retarget;
    return verdict;
}

const char *mbp_refusal_name(enum mbp_refusal refusal)
{
    switch (refusal) {
    case MBP_REFUSED_NOT:
        return "none";
    case MBP_REFUSED_NOT_RETRYABLE:
        return "not retryable";
    case MBP_REFUSED_DISABLED:
        return "retries disabled";
    case MBP_REFUSED_ATTEMPTS:
        return "attempts used up";
    case MBP_REFUSED_DEADLINE:
        return "deadline";
    case MBP_REFUSED_BUDGET:
        return "no token left";
    }
    return "unknown";
}
