#include "shim/connect.h"

#include "common/clock.h"
#include "common/log.h"
#include "common/process.h"
#include "shim/clusters.h"
#include "shim/thread.h"

#include <errno.h>
#include <string.h>

void *mbp_connect_once(
    const struct mbp_binding *binding, uintptr_t const arguments[MBP_CONNECT_PARAMETERS])
{
    return ((mbp_stream_for *)binding->real)(arguments[0], arguments[1], arguments[2], arguments[3],
        arguments[4], arguments[5], arguments[6]);
}

static bool has_any(const char *text, const char *const parts[])
{
    for (; *parts; parts++) {
        if (strstr(text, *parts)) {
            return true;
        }
    }
    return false;
}

/* The driver gives no more than its words. */
static bool was_turned_away(const struct mbp_error *error)
{
    enum { DOMAIN_STREAM = 2, CODE_NAME_RESOLUTION = 3, DOMAIN_SERVER_SELECTION = 15 };
    static const char *const turned_away[] = {"connection closed", "closed connection",
        "connection timeout", "socket timeout", "connection error", "unknown socket error",
        "Failed to receive", "Failed to write rpc", NULL};
    static const char *const never_overload[] = {
        "resolve", "TLS", "certificate", "uthentication", NULL};
    if (error->domain == DOMAIN_STREAM) {
        return error->code != CODE_NAME_RESOLUTION && !has_any(error->message, never_overload);
    }
    return error->domain == DOMAIN_SERVER_SELECTION && has_any(error->message, turned_away);
}

static bool wait_for_another_try(
    const struct mbp_engine *engine, struct mbp_operation *operation, uint64_t now_ms)
{
    const struct mbp_attempt attempt = {
        .labels = MBP_LABEL_RETRYABLE | MBP_LABEL_OVERLOADED, .now_ms = now_ms};
    const struct mbp_verdict verdict = mbp_engine_settle_connection(engine, operation, &attempt);
    if (verdict.retry) {
        mbp_log(MBP_LOG_INFO, "connection turned away; tried again in %llu ms",
            (unsigned long long)verdict.delay_ms);
        mbp_sleep_until_ms(now_ms + verdict.delay_ms);
    } else {
        mbp_log(MBP_LOG_INFO, "connection turned away; not tried again: %s",
            mbp_refusal_name(verdict.refusal));
    }
    return verdict.retry;
}

/* The program's time to find a server does not begin anew with each try: all of
 * them together take no longer than one more search for a server may take. */
static struct mbp_operation begin(
    const struct mbp_engine *engine, const struct mbp_cluster *cluster, uint64_t now_ms)
{
    struct mbp_operation operation = mbp_engine_begin(engine, now_ms);
    const uint32_t timeout_ms = mbp_clusters_find(cluster).selection_timeout_ms;
    if (timeout_ms && (operation.deadline_ms == 0 || now_ms + timeout_ms < operation.deadline_ms)) {
        operation.deadline_ms = now_ms + timeout_ms;
    }
    return operation;
}

void *mbp_connect_again(const struct mbp_binding *binding,
    uintptr_t const arguments[MBP_CONNECT_PARAMETERS], unsigned reply, unsigned error)
{
    const struct mbp_error *why = (const struct mbp_error *)arguments[error];
    struct mbp_bson *drivers_reply = (struct mbp_bson *)arguments[reply];
    int driver_errno = errno;
    const struct mbp_engine *engine = why && was_turned_away(why) ? mbp_process_engine() : NULL;
    struct mbp_driver driver;
    void *stream = NULL;
    if (!engine) {
        return NULL;
    }
    mbp_driver_look_up(&driver, binding->real);
    struct mbp_operation operation =
        begin(engine, (const struct mbp_cluster *)arguments[0], mbp_clock_ms());
    while (!stream && was_turned_away(why) &&
           wait_for_another_try(engine, &operation, mbp_clock_ms())) {
        if (drivers_reply) {
            driver.bson_destroy(drivers_reply); /* it is filled again, or not looked at */
        }
        errno = driver_errno;
        mbp_thread.connecting = true;
        stream = mbp_connect_once(binding, arguments);
        mbp_thread.connecting = false;
        driver_errno = errno;
    }
    if (stream || !was_turned_away(why)) { /* the server had room */
        mbp_engine_refund(engine);
    }
    errno = driver_errno;
    return stream;
}
