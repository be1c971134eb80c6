#include "shim/retry.h"

#include "common/clock.h"
#include "common/log.h"
#include "common/process.h"
#include "shim/driver/reply.h"
#include "shim/driver/version.h"

#include <errno.h>

/* Set while a command runs: what the driver or a monitoring callback of the
 * program runs inside it goes straight to the driver. */
static _Thread_local bool inside __attribute__((tls_model("initial-exec")));

/* One command with what is needed to send it again. */
struct call {
    mbp_run_command *real_run_command;
    struct mbp_driver driver;
    struct mbp_cluster *cluster;
    struct mbp_command *command;
    struct mbp_bson *reply;  /* never NULL */
    struct mbp_error *error; /* may be NULL */
};

/* An error put aside, in case a later one says less about what was written. */
struct kept_error {
    bool held;
    struct mbp_bson reply;
    struct mbp_error error;
};

static bool send_command(const struct call *call)
{
    return call->real_run_command(call->cluster, call->command, call->reply, call->error);
}

static struct mbp_attempt examine(const struct call *call, bool ok)
{
    struct mbp_attempt attempt = {.ok = ok, .now_ms = mbp_clock_ms()};
    if (!ok) {
        const struct mbp_document reply = {
            .data = call->driver.bson_get_data(call->reply),
            .length = call->reply->length,
        };
        mbp_reply_classify(&reply, &attempt);
    }
    return attempt;
}

/* Clears the reply for the next send. Kept is the latest error that may have
 * written something or, while there is none, the first. */
static void put_aside(
    const struct call *call, const struct mbp_attempt *attempt, struct kept_error *kept)
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

static void bring_back(const struct call *call, struct kept_error *kept)
{
    call->driver.bson_destroy(call->reply);
    call->driver.bson_steal(call->reply, &kept->reply);
    if (call->error) {
        *call->error = kept->error;
    }
    kept->held = false;
}

static void log_verdict(const struct mbp_engine *engine, const struct call *call,
    const struct mbp_operation *operation, const struct mbp_attempt *attempt,
    const struct mbp_verdict *verdict)
{
    if (mbp_log_get_level() < MBP_LOG_INFO) {
        return;
    }
    const char *name = mbp_command_name(call->driver.mongoc_get_version(), call->command);
    const mbp_millitokens tokens = mbp_bucket_balance(engine->bucket);
    if (verdict->retry) {
        mbp_log(MBP_LOG_INFO, "%s: %s; retry %u in %llu ms; %u.%03u tokens left", name,
            attempt->labels & MBP_LABEL_OVERLOADED ? "overloaded" : "retryable error",
            operation->retries, (unsigned long long)verdict->delay_ms, tokens / MBP_TOKEN,
            tokens % MBP_TOKEN);
    } else if (verdict->refusal == MBP_REFUSED_NOT_RETRYABLE) {
        mbp_log(MBP_LOG_DEBUG, "%s: failed after %u retries: %s", name, operation->retries,
            mbp_refusal_name(verdict->refusal));
    } else {
        mbp_log(MBP_LOG_INFO, "%s: not retried after %u retries: %s; %u.%03u tokens left", name,
            operation->retries, mbp_refusal_name(verdict->refusal), tokens / MBP_TOKEN,
            tokens % MBP_TOKEN);
    }
}

/* From the end of the first attempt on. */
static bool retry_loop(const struct mbp_engine *engine, const struct call *call,
    struct mbp_operation *operation, bool ok)
{
    struct kept_error kept = {.held = false};
    int driver_errno = errno;
    for (;;) {
        const struct mbp_attempt attempt = examine(call, ok);
        const struct mbp_verdict verdict = mbp_engine_settle(engine, operation, &attempt);
        if (!ok) {
            log_verdict(engine, call, operation, &attempt, &verdict);
        }
        if (!verdict.retry) {
            const bool earlier_error_says_more =
                !ok && kept.held && (attempt.labels & MBP_LABEL_NO_WRITES_PERFORMED);
            if (earlier_error_says_more) {
                bring_back(call, &kept);
            }
            break;
        }
        put_aside(call, &attempt, &kept);
        mbp_sleep_until_ms(attempt.now_ms + verdict.delay_ms);
        errno = driver_errno;
        ok = send_command(call);
        driver_errno = errno;
    }
    if (kept.held) {
        call->driver.bson_destroy(&kept.reply);
    }
    errno = driver_errno;
    return ok;
}

/* Everything but a first attempt that succeeds with a reply for the caller. */
static __attribute__((cold, noinline)) bool finish(const struct mbp_engine *engine,
    struct call *call, struct mbp_operation *operation, bool ok, bool reply_is_ours)
{
    const int driver_errno = errno;
    mbp_driver_look_up(&call->driver, call->real_run_command);
    errno = driver_errno;
    if (ok && call->reply->length <= MBP_EMPTY_DOCUMENT_LENGTH) {
        /* Write concern 0: sent, and nobody will ever know more. */
        mbp_slot_count(engine->slot, MBP_COUNT_operations, 1);
        mbp_slot_count(engine->slot, MBP_COUNT_unacknowledged, 1);
    } else if (ok) {
        mbp_engine_settle_first_success(engine);
    } else {
        ok = retry_loop(engine, call, operation, ok);
    }
    if (reply_is_ours) {
        call->driver.bson_destroy(call->reply);
    }
    return ok;
}

bool mbp_retry_run_command(const struct mbp_binding *binding, struct mbp_cluster *cluster,
    struct mbp_command *command, struct mbp_bson *reply, struct mbp_error *error)
{
    const struct mbp_engine *engine = inside ? NULL : mbp_process_engine();
    if (!engine) {
        return binding->real_run_command(cluster, command, reply, error);
    }
    inside = true;

    struct mbp_operation operation =
        mbp_engine_begin(engine, engine->policy->timeout_ms ? mbp_coarse_clock_ms() : 0);
    bool ok;
    if (reply && (ok = binding->real_run_command(cluster, command, reply, error)) &&
        reply->length > MBP_EMPTY_DOCUMENT_LENGTH) {
        mbp_engine_settle_first_success(engine);
    } else {
        struct mbp_bson own_reply;
        struct call call = {
            .real_run_command = binding->real_run_command,
            .cluster = cluster,
            .command = command,
            .reply = reply ? reply : &own_reply,
            .error = error,
        };
        if (!reply) {
            ok = send_command(&call);
        }
        ok = finish(engine, &call, &operation, ok, !reply);
    }
    inside = false;
    return ok;
}
