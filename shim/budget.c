#include "shim/budget.h"

#include "common/clock.h"
#include "common/log.h"
#include "common/process.h"
#include "shim/driver/reply.h"
#include "shim/rewrite.h"
#include "shim/thread.h"

#include <errno.h>
#include <stddef.h>
#include <string.h>

bool mbp_budget_run_round(const struct mbp_binding *binding, const void *retryable,
    struct mbp_bson *reply, struct mbp_error *error)
{
    enum { DEFAULT_MOST_RETRIES = 2 };
    mbp_run_retryable *real = (mbp_run_retryable *)binding->real;
    const bool known = binding->layout != NULL;
    struct mbp_round round = {
        .outer = mbp_thread.round,
        .most_sends =
            1 + (uint32_t)(known ? mbp_retryable_most_retries(retryable) : DEFAULT_MOST_RETRIES),
        .operation.switched_off = known && mbp_retryable_eligibility(retryable) == 0,
    };
    mbp_thread.round = &round;
    const bool ok = real(retryable, reply, error);
    mbp_thread.round = round.outer;
    if (round.paid_ahead) {
        /* No server was found for it. */
        const int caller_errno = errno;
        mbp_engine_refund(mbp_process_engine());
        errno = caller_errno;
    }
    return ok;
}

/* The driver decides how long to wait and how often to retry; the policy, how
 * often it may at most, and by when. */
static struct mbp_policy policy_for(const struct mbp_engine *engine, const struct mbp_round *round)
{
    struct mbp_policy policy = *engine->policy;
    policy.numbers.base_backoff_ms = 0;
    policy.numbers.base_from_error = false;
    if (policy.numbers.max_retries >= round->most_sends) {
        policy.numbers.max_retries = round->most_sends - 1;
    }
    return policy;
}

static void settle(
    const struct mbp_engine *engine, struct mbp_round *round, const struct mbp_call *call, bool ok)
{
    const struct mbp_policy policy = policy_for(engine, round);
    struct mbp_engine own = *engine;
    struct mbp_attempt attempt = {.ok = ok, .now_ms = mbp_clock_ms()};
    own.policy = &policy;
    if (!ok) {
        const struct mbp_document reply = mbp_call_reply(call);
        mbp_reply_classify(&reply, &attempt);
        /* It finds another connection by itself, but retries nothing else. */
        attempt.unsafe_to_resend = !(attempt.labels & MBP_LABEL_OVERLOADED);
    }
    const struct mbp_verdict verdict = mbp_engine_settle(&own, &round->operation, &attempt);
    round->paid_ahead = verdict.retry;
    round->refused = !ok && !verdict.retry && !engine->observe &&
                     verdict.refusal != MBP_REFUSED_NOT_RETRYABLE &&
                     verdict.refusal != MBP_REFUSED_DISABLED;
    if (!ok) {
        mbp_log(MBP_LOG_INFO, "%s: %s", call->name,
            verdict.retry ? "overloaded; the driver's retry is paid"
                          : mbp_refusal_name(verdict.refusal));
    }
}

bool mbp_budget_run_command(
    const struct mbp_engine *engine, struct mbp_call *call, struct mbp_bson *reply)
{
    struct mbp_round *round = mbp_thread.round;
    mbp_run_command *real = (mbp_run_command *)call->binding->real;
    if (!round || !reply) {
        return real(call->cluster, call->command, reply, call->error);
    }
    struct mbp_rewrite rewrite = {.in_use = false};
    round->refused = false;
    if (round->sends++ == 0) {
        struct timespec now;
        mbp_note_time(&now);
        round->sent_ms = mbp_noted_ms(&now);
        round->operation.deadline_ms = mbp_policy_deadline_ms(engine->policy, round->sent_ms);
    } else {
        if (!round->paid_ahead) {
            round->operation.retries++;
            round->operation.paid = false;
            mbp_slot_count(engine->slot, MBP_COUNT_driver_retries, 1);
        }
        round->paid_ahead = false;
        if (!engine->observe) {
            mbp_call_look_into(call);
            mbp_rewrite_time_limit(
                &rewrite, call, mbp_time_limit_ms(call, round->sent_ms), mbp_clock_ms());
        }
    }
    const bool ok = mbp_call_send(call);
    const int driver_errno = errno;
    mbp_rewrite_end(&rewrite, call);
    if (ok && round->sends == 1 && reply->length > MBP_EMPTY_DOCUMENT_LENGTH) {
        mbp_engine_settle_first_success(engine);
    } else if (!ok || round->sends > 1) {
        mbp_call_look_into(call);
        if (!ok && round->sends == 1) {
            const uint64_t own_ms = mbp_time_limit_ms(call, round->sent_ms);
            if (own_ms &&
                (round->operation.deadline_ms == 0 || own_ms < round->operation.deadline_ms)) {
                round->operation.deadline_ms = own_ms;
            }
        }
        settle(engine, round, call, ok);
    }
    errno = driver_errno;
    return ok;
}

bool mbp_budget_withholds(const char *label)
{
    const struct mbp_round *round = mbp_thread.round;
    return round && round->refused && !mbp_thread.inside &&
           (strcmp(label, "SystemOverloadedError") == 0 || strcmp(label, "RetryableError") == 0 ||
               strcmp(label, "RetryableWriteError") == 0);
}
