/*
 * How drivers since 2.3 run a command: with retries of their own after
 * overload, and one after other errors. They wait between them; this one
 * doesn't.
 */
#include "driver.h"

bool _mongoc_retryable_cmd_run(
    const struct fake_retryable *retryable, struct fake_reply *reply, struct fake_error *error)
{
    const int eligibility = retryable->eligibility;
    int allowed = eligibility == FAKE_OVERLOAD_ONLY ? 0 : 1;
    for (int attempt = 1;; attempt++) {
        const bool ok = retryable->execute(retryable->user_data, reply, error);
        const bool read = eligibility == FAKE_READ &&
                          _mongoc_read_error_get_type(ok, error, reply) == FAKE_ERROR_RETRY;
        const bool write =
            eligibility == FAKE_WRITE && _mongoc_write_error_get_type(reply) == FAKE_ERROR_RETRY;
        const bool overload = mongoc_error_has_label(reply, "SystemOverloadedError");
        const bool retryable_overload = overload &&
                                        mongoc_error_has_label(reply, "RetryableError") &&
                                        eligibility != FAKE_NEVER;
        if (!read && !write && !retryable_overload) {
            return ok;
        }
        if (overload) {
            allowed = retryable->most_retries;
        }
        if (attempt > allowed || !retryable->select_server(retryable->user_data)) {
            return ok;
        }
        fake_release(reply);
    }
}
