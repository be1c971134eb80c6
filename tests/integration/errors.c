/*
 * Which errors are retried, and which one the application gets to see.
 */
#include "fixture.h"

#include <criterion/criterion.h>

enum { DUPLICATE_KEY = 11000, NOT_WRITABLE_PRIMARY = 10107, SHUTDOWN_IN_PROGRESS = 91 };

TestSuite(errors, .init = fixture_settings, .fini = fixture_end);

Test(errors, labels_reach_the_application)
{
    bson_t reply;
    bson_error_t error;
    fixture_connect();
    cr_assert(reject(.command = "insert"));
    const struct counters before = counters_now();

    cr_expect_not(insert_number(1, &reply, &error));

    cr_expect_eq(error.code, OVERLOADED);
    cr_expect(mongoc_error_has_label(&reply, "SystemOverloadedError"));
    cr_expect(mongoc_error_has_label(&reply, "RetryableError"));
    expect_events("insert", .started = 6, .failed = 6);
    expect_counters(&before, .operations = 1, .retries = 5, .overload_errors = 6,
        .refused_attempts = 1, .tokens_consumed = 5000);
    bson_destroy(&reply);
}

/* The same error without the labels that make it one to retry. */
static void sent_once(const char *labels, int overload_errors)
{
    bson_error_t error;
    fixture_connect();
    cr_assert(reject(.command = "insert", .labels = labels));
    const struct counters before = counters_now();

    cr_expect_not(insert_number(1, NULL, &error));

    cr_expect_eq(error.code, OVERLOADED);
    expect_events("insert", .started = 1, .failed = 1);
    expect_counters(
        &before, .operations = 1, .overload_errors = overload_errors, .refused_not_retryable = 1);
}

Test(errors, without_labels)
{
    sent_once(NO_LABELS, 0);
}

Test(errors, overloaded_but_not_retryable)
{
    sent_once("'SystemOverloadedError'", 1);
}

/* Writes the seed's slips of the pen; no server sends them. */
Test(errors, labels_that_only_look_alike)
{
    sent_once("'SystemOverloadError', 'RetryableErrors', 'retryableError'", 0);
}

/* With the default delays: one would show. Every rejection but the first gives
 * the token before it back. */
Test(errors, retryable_but_not_overloaded_is_retried_at_once)
{
    unsetenv("MONGOBP_BASE_BACKOFF_MS");
    fixture_connect();
    cr_assert(reject(.command = "insert", .times = 5, .labels = "'RetryableError'"));
    const struct counters before = counters_now();

    cr_expect(inserts(1));

    expect_events("insert", .started = 6, .succeeded = 1, .failed = 5);
    expect_counters(&before, .operations = 1, .retries = 5, .retry_successes = 1,
        .tokens_consumed = 5000, .tokens_deposited = 5000);
    cr_expect_eq(counters_since(&before).backoff_ms, 0);
    cr_expect_eq(fixture_count("{}"), 1);
}

Test(errors, duplicate_key)
{
    bson_error_t error;
    bson_t *document = from_json("{'_id': 1}");
    fixture_connect();
    cr_assert(mongoc_collection_insert_one(fixture.collection, document, NULL, NULL, NULL));
    const struct counters before = counters_now();

    cr_expect_not(mongoc_collection_insert_one(fixture.collection, document, NULL, NULL, &error));

    cr_expect_eq(error.code, DUPLICATE_KEY);
    expect_events("insert", .started = 2, .succeeded = 2);
    expect_counters(&before, .operations = 1, .first_successes = 1);
    bson_destroy(document);
}

/* The command did what it should; labels don't make it one to send again. */
Test(errors, write_concern_error)
{
    fixture_connect();
    cr_assert(reject(.command = "insert", .times = 1,
        .more = "'writeConcernError': {'code': 64, 'errmsg': 'waiting for replication'}"));
    const struct counters before = counters_now();

    inserts(1);

    expect_events("insert", .started = 1, .succeeded = 1);
    expect_counters(&before, .operations = 1, .first_successes = 1);
    cr_expect_eq(fixture_count("{}"), 1);
}

static bson_t *no_answer(void)
{
    return from_json("{'writeConcern': {'w': 0}}");
}

/* The next insert, on the same connection, shows that the rejection was used
 * up, and the state of the bucket that none of the three paid anything in. */
Test(errors, unacknowledged_write)
{
    bson_t *document = from_json("{'i': 1}");
    bson_t *opts = no_answer();
    fixture_connect();
    cr_assert(reject(.command = "insert", .times = 6));
    cr_assert_not(inserts(0), "takes five tokens out of the bucket");
    cr_assert(reject(.command = "insert", .times = 1));
    watch_reset();
    const struct counters before = counters_now();

    for (int i = 0; i < 3; i++) {
        cr_expect(mongoc_collection_insert_one(fixture.collection, document, opts, NULL, NULL));
    }

    expect_events("insert", .started = 3, .succeeded = 3);
    expect_counters(&before, .operations = 3, .unacknowledged = 3);
    cr_expect(inserts(2));
    expect_events("insert", .started = 4, .succeeded = 4);
    cr_expect_eq(fixture_count("{'i': 1}"), 2);
    bson_destroy(document);
    bson_destroy(opts);
}

/* The driver drops its connection on these, so there is nothing to send on. A
 * write is not resent by anybody, since it is not labelled for the driver. */
static void server_gone_for_write(int code)
{
    bson_error_t error;
    fixture_connect();
    cr_assert(inserts(0));
    cr_assert(reject(.command = "insert", .times = 1, .code = code));
    watch_reset();
    const struct counters before = counters_now();

    cr_expect_not(insert_number(1, NULL, &error));

    cr_expect_eq(error.code, (uint32_t)code);
    expect_events("insert", .started = 1, .failed = 1);
    expect_counters(&before, .operations = 1, .overload_errors = 1, .refused_not_retryable = 1);
    cr_expect(inserts(2), "the next operation finds the server again");
    cr_expect_eq(fixture_count("{}"), 2);
}

Test(errors, not_primary_for_write)
{
    server_gone_for_write(NOT_WRITABLE_PRIMARY);
}

Test(errors, shutdown_for_write)
{
    server_gone_for_write(SHUTDOWN_IN_PROGRESS);
}

/* A read is sent again by the driver itself, once, on a new connection. It is
 * still the same operation. */
static void server_gone_for_read(int code)
{
    bson_t query = BSON_INITIALIZER;
    const bson_t *document;
    fixture_connect();
    fixture_store(1);
    cr_assert(reject(.command = "find", .times = 1, .code = code));
    const struct counters before = counters_now();

    mongoc_cursor_t *cursor =
        mongoc_collection_find_with_opts(fixture.collection, &query, NULL, NULL);
    cr_expect(mongoc_cursor_next(cursor, &document));

    expect_events("find", .started = 2, .succeeded = 1, .failed = 1);
    expect_counters(&before, .operations = 1, .retry_successes = 1, .driver_retries = 1,
        .overload_errors = 1, .refused_not_retryable = 1);
    mongoc_cursor_destroy(cursor);
}

Test(errors, not_primary_for_read)
{
    server_gone_for_read(NOT_WRITABLE_PRIMARY);
}

Test(errors, shutdown_for_read)
{
    server_gone_for_read(SHUTDOWN_IN_PROGRESS);
}

/* The driver sends a write once more by itself. */
static void connection_closed(void)
{
    fixture_connect();
    cr_assert(inserts(0));
    cr_assert(reject(.command = "insert", .times = 1, .more = "'closeConnection': true"));
    watch_reset();

    cr_expect(inserts(1));

    expect_events("insert", .started = 2, .succeeded = 1, .failed = 1);
    cr_expect_eq(fixture_count("{}"), 2);
}

Test(errors, closed_connection)
{
    connection_closed();
    const struct counters all = counters_since(&(struct counters){0});
    cr_expect_eq(all.retries, 0);
    cr_expect_eq(all.overload_errors, 0);
    cr_expect_eq(all.refused_not_retryable, 1);
    cr_expect_eq(all.tokens_consumed, 0);
}

Test(errors, closed_connection_without_mongobp)
{
    setenv("MONGOBP_DISABLE", "1", 1);
    connection_closed();
}

/* The driver's own retry of such a write would be the seventh send. */
Test(errors, given_up_is_not_retried_by_the_driver)
{
    bson_error_t error;
    fixture_connect();
    cr_assert(reject(.command = "insert",
        .labels = "'RetryableError', 'SystemOverloadedError', 'RetryableWriteError'"));
    const struct counters before = counters_now();

    cr_expect_not(insert_number(1, NULL, &error));

    cr_expect_eq(error.code, OVERLOADED);
    expect_events("insert", .started = 6, .failed = 6);
    expect_counters(&before, .operations = 1, .retries = 5, .overload_errors = 6,
        .refused_attempts = 1, .tokens_consumed = 5000);
}

/* An overload error that is for the driver to retry, and then ours: one count. */
Test(errors, driver_and_we_share_the_attempts)
{
    fixture_connect();
    cr_assert(
        reject(.command = "insert", .labels = "'SystemOverloadedError', 'RetryableWriteError'"));
    const struct counters before = counters_now();

    cr_expect_not(inserts(1));

    expect_events("insert", .started = 2, .failed = 2);
    expect_counters(&before, .operations = 1, .driver_retries = 1, .overload_errors = 2,
        .refused_not_retryable = 2);
}
