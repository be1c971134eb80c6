#include "shim/retry.h"

#include "common/clock.h"
#include "common/log.h"
#include "common/process.h"
#include "shim/budget.h"
#include "shim/call.h"
#include "shim/detour.h"
#include "shim/driver/reply.h"
#include "shim/purpose.h"
#include "shim/rewrite.h"
#include "shim/unfinished.h"

#include <errno.h>

/* An error put aside, in case a later one says less about what was written. */
struct kept_error {
    bool held;
    struct mbp_bson reply;
    struct mbp_error error;
};

/* In a sharded cluster the driver has let go of the transaction's server by
 * the time we see this label. */
static bool has_lost_its_transaction(const struct mbp_call *call, unsigned labels)
{
    const struct mbp_layout_of_driver *layout = call->binding->layout;
    return (labels & MBP_LABEL_TRANSIENT_TRANSACTION) &&
           (!layout || (mbp_call_has(call, "autocommit") &&
                           mbp_server_stream_topology(*mbp_command_server_stream(
                               layout, call->command)) == MBP_TOPOLOGY_SHARDED));
}

static struct mbp_attempt examine(const struct mbp_call *call, bool ok)
{
    struct mbp_attempt attempt = {.ok = ok, .now_ms = mbp_clock_ms()};
    if (!ok) {
        const struct mbp_document reply = mbp_call_reply(call);
        mbp_reply_classify(&reply, &attempt);
        attempt.unsafe_to_resend = attempt.unsafe_to_resend || mbp_thread.stream_died ||
                                   has_lost_its_transaction(call, attempt.labels);
    }
    return attempt;
}

/* Clears the reply for the next send. Kept is the latest error that may have
 * written something or, while there is none, the first. */
static void put_aside(
    const struct mbp_call *call, const struct mbp_attempt *attempt, struct kept_error *kept)
{
    const bool tells_of_writes = !(attempt->labels & MBP_LABEL_NO_WRITES_PERFORMED);
    if (kept->held && !tells_of_writes) {
        call->driver.bson_destroy(call->reply);
        return;
    }
    if (kept->held) {
        call->driver.bson_destroy(&kept->reply);
    }
    call->driver.bson_steal(&kept->reply, call->reply);
    if (call->error) {
        kept->error = *call->error;
    }
    kept->held = true;
}

static void bring_back(const struct mbp_call *call, struct kept_error *kept)
{
    call->driver.bson_steal(call->reply, &kept->reply);
    if (call->error) {
        *call->error = kept->error;
    }
    kept->held = false;
}

static void log_verdict(const struct mbp_engine *engine, const struct mbp_call *call,
    const struct mbp_operation *operation, const struct mbp_attempt *attempt,
    const struct mbp_verdict *verdict)
{
    if (mbp_log_get_level() < MBP_LOG_INFO) {
        return;
    }
    const mbp_millitokens tokens = mbp_bucket_balance(engine->bucket);
    if (verdict->retry) {
        mbp_log(MBP_LOG_INFO, "%s: %s; retry %u in %llu ms; %u.%03u tokens left", call->name,
            attempt->labels & MBP_LABEL_OVERLOADED ? "overloaded" : "retryable error",
            operation->retries, (unsigned long long)verdict->delay_ms, tokens / MBP_TOKEN,
            tokens % MBP_TOKEN);
    } else if (verdict->refusal == MBP_REFUSED_NOT_RETRYABLE) {
        mbp_log(MBP_LOG_DEBUG, "%s: failed after %u retries: %s", call->name, operation->retries,
            mbp_refusal_name(verdict->refusal));
    } else {
        mbp_log(MBP_LOG_INFO, "%s: not retried after %u retries: %s; %u.%03u tokens left",
            call->name, operation->retries, mbp_refusal_name(verdict->refusal), tokens / MBP_TOKEN,
            tokens % MBP_TOKEN);
    }
}

static uint64_t earlier_deadline(uint64_t a, uint64_t b)
{
    return a == 0 || (b != 0 && b < a) ? b : a;
}

/* Whether a retry of the driver's own would be one too many. */
static bool is_used_up(const struct mbp_engine *engine, const struct mbp_operation *operation,
    enum mbp_refusal refusal)
{
    return refusal == MBP_REFUSED_NOT_RETRYABLE
               ? operation->retries >= engine->policy->numbers.max_retries
               : refusal != MBP_REFUSED_DISABLED;
}

/* What was changed in the command, to be put back in the end. */
struct changes {
    struct mbp_detour detour;
    struct mbp_rewrite rewrite;
    uint64_t time_limit_ms; /* the command's own; 0: none */
};

/* Points the command where it should go next and has it say what it should
 * say; false if there is no way. */
static bool prepare_retry(const struct mbp_engine *engine, const struct mbp_call *call,
    const struct mbp_attempt *attempt, const struct mbp_verdict *verdict, struct changes *changes)
{
    bool usable = true;
    if (verdict->avoid_server && mbp_detour_take(&changes->detour, call, &usable)) {
        mbp_slot_count(engine->slot, MBP_COUNT_retargeted, 1);
    }
    if (!usable) {
        return false;
    }
    if (!(attempt->labels & MBP_LABEL_OVERLOADED) && mbp_call_is(call, "commitTransaction")) {
        mbp_rewrite_majority(&changes->rewrite, call);
    }
    mbp_rewrite_time_limit(&changes->rewrite, call, changes->time_limit_ms, mbp_clock_ms());
    return true;
}

/* From the end of the first attempt on. */
static bool retry_loop(const struct mbp_engine *engine, const struct mbp_call *call,
    struct mbp_operation *operation, struct changes *changes)
{
    struct kept_error kept = {.held = false};
    bool ok = false;
    bool overloaded = false;
    bool used_up = false;
    int driver_errno = errno;
    for (;;) {
        const struct mbp_attempt attempt = examine(call, ok);
        const struct mbp_verdict verdict = mbp_engine_settle(engine, operation, &attempt);
        overloaded = overloaded || (attempt.labels & MBP_LABEL_OVERLOADED);
        if (ok) {
            break;
        }
        log_verdict(engine, call, operation, &attempt, &verdict);
        if (!verdict.retry) {
            used_up = !engine->observe && is_used_up(engine, operation, verdict.refusal);
            if (kept.held && (attempt.labels & MBP_LABEL_NO_WRITES_PERFORMED)) {
                call->driver.bson_destroy(call->reply);
                bring_back(call, &kept);
            }
            break;
        }
        put_aside(call, &attempt, &kept);
        mbp_sleep_until_ms(attempt.now_ms + verdict.delay_ms);
        if (!prepare_retry(engine, call, &attempt, &verdict, changes)) {
            mbp_engine_refund(engine); /* the retry was never begun */
            bring_back(call, &kept);   /* there is at least this one */
            break;
        }
        errno = driver_errno;
        ok = mbp_call_send(call);
        driver_errno = errno;
    }
    if (kept.held) {
        call->driver.bson_destroy(&kept.reply);
    }
    mbp_rewrite_end(&changes->rewrite, call);
    if (!ok) {
        mbp_unfinished_note(call, operation, overloaded, used_up);
    }
    errno = driver_errno;
    return ok;
}

/* The command failed for the first time. */
static bool retry(const struct mbp_engine *engine, struct mbp_call *call,
    struct mbp_operation *operation, struct changes *changes, uint64_t sent_ms)
{
    const struct mbp_cluster_facts facts = mbp_clusters_find(call->cluster);
    const enum mbp_purpose purpose = mbp_thread.purpose != MBP_PURPOSE_UNTOLD
                                         ? mbp_thread.purpose
                                         : mbp_purpose_of_command(call->name, &call->document);
    /* Sessions end as a client does, which should not have to wait. */
    operation->switched_off =
        !mbp_purpose_may_retry(purpose, &facts) || mbp_call_is(call, "endSessions");
    changes->time_limit_ms = mbp_time_limit_ms(call, sent_ms);
    operation->deadline_ms = earlier_deadline(operation->deadline_ms, changes->time_limit_ms);
    return retry_loop(engine, call, operation, changes);
}

/* Everything but a first attempt that succeeds with a reply for the caller. */
static __attribute__((cold, noinline)) bool finish(const struct mbp_engine *engine,
    struct mbp_call *call, struct mbp_operation *operation, struct changes *changes, bool ok,
    uint64_t sent_ms)
{
    mbp_call_look_into(call);
    if (!ok) {
        return retry(engine, call, operation, changes, sent_ms);
    }
    if (operation->retries > 0) { /* the driver's own */
        const struct mbp_attempt success = {.ok = true};
        mbp_engine_settle(engine, operation, &success);
    } else if (call->reply->length <= MBP_EMPTY_DOCUMENT_LENGTH) {
        /* Write concern 0: sent, and nobody will ever know more. */
        mbp_slot_count(engine->slot, MBP_COUNT_operations, 1);
        mbp_slot_count(engine->slot, MBP_COUNT_unacknowledged, 1);
    } else {
        mbp_engine_settle_first_success(engine);
    }
    return ok;
}

/* A command that is more than a first attempt on the driver's own connection. */
static __attribute__((cold, noinline)) bool run_unusual(
    const struct mbp_engine *engine, struct mbp_call *call, bool reply_is_ours)
{
    struct changes changes = {.rewrite.in_use = false};
    const uint64_t now_ms = mbp_clock_ms();
    struct mbp_operation operation = mbp_engine_begin(engine, now_ms);
    if (mbp_unfinished_resume(call, &operation)) {
        mbp_slot_count(engine->slot, MBP_COUNT_driver_retries, 1);
    }
    bool ok = false;
    /* If there is no way to the right server, reply and error say so. */
    if (!mbp_detour_is_due() || mbp_detour_begin(&changes.detour, call)) {
        ok = mbp_call_send(call);
        ok = finish(engine, call, &operation, &changes, ok, now_ms);
        mbp_detour_end(&changes.detour, call, ok);
    }
    if (reply_is_ours) {
        call->driver.bson_destroy(call->reply);
    }
    return ok;
}

/* What the path of a command that succeeds at once has not made yet. */
static struct mbp_call make_call(const struct mbp_binding *binding, struct mbp_cluster *cluster,
    struct mbp_command *command, struct mbp_bson *reply, struct mbp_error *error)
{
    return (struct mbp_call){
        .binding = binding,
        .cluster = cluster,
        .command = command,
        .reply = reply,
        .error = error,
    };
}

static __attribute__((cold, noinline)) bool finish_first(const struct mbp_binding *binding,
    struct mbp_cluster *cluster, struct mbp_command *command, struct mbp_bson *reply,
    struct mbp_error *error, bool ok, const struct timespec *sent)
{
    const struct mbp_engine *engine = mbp_process_engine();
    const uint64_t sent_ms = mbp_noted_ms(sent);
    struct mbp_call call = make_call(binding, cluster, command, reply, error);
    struct changes changes = {.rewrite.in_use = false};
    struct mbp_operation operation = mbp_engine_begin(engine, sent_ms);
    ok = finish(engine, &call, &operation, &changes, ok, sent_ms);
    mbp_detour_end(&changes.detour, &call, ok);
    return ok;
}

static __attribute__((cold, noinline)) bool run_unusual_call(const struct mbp_binding *binding,
    struct mbp_cluster *cluster, struct mbp_command *command, struct mbp_bson *reply,
    struct mbp_error *error)
{
    const struct mbp_engine *engine = mbp_process_engine();
    struct mbp_bson own_reply;
    struct mbp_call call = make_call(binding, cluster, command, reply ? reply : &own_reply, error);
    return binding->retries_overload ? mbp_budget_run_command(engine, &call, reply)
                                     : run_unusual(engine, &call, !reply);
}

bool mbp_retry_run_command(const struct mbp_binding *binding, struct mbp_cluster *cluster,
    struct mbp_command *command, struct mbp_bson *reply, struct mbp_error *error)
{
    mbp_run_command *real = (mbp_run_command *)binding->real;
    const struct mbp_engine *engine = mbp_thread.inside ? NULL : mbp_process_engine();
    if (!engine) {
        return real(cluster, command, reply, error);
    }
    mbp_thread.selection_is_over = true;
    if (binding->retries_overload || !reply || mbp_thread.unfinished.cluster ||
        mbp_detour_is_due()) {
        return run_unusual_call(binding, cluster, command, reply, error);
    }

    /* What most commands are: sent once, with nothing to do before or after. */
    struct timespec sent;
    mbp_note_time(&sent);
    mbp_thread.stream_died = false;
    mbp_thread.inside = true;
    const bool ok = real(cluster, command, reply, error);
    mbp_thread.inside = false;
    if (!ok || reply->length <= MBP_EMPTY_DOCUMENT_LENGTH) {
        return finish_first(binding, cluster, command, reply, error, ok, &sent);
    }
    mbp_engine_settle_first_success(engine);
    return true;
}
