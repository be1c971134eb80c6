/*
 * Cursors of several batches: every document is read exactly once, whichever
 * of the commands behind them is rejected.
 */
#include "fixture.h"

#include <criterion/criterion.h>

enum { STORED = 10 };

TestSuite(cursors, .init = fixture_settings, .fini = fixture_end);

/* Reads to the end; returns whether the numbers 0 to STORED - 1 came in turn. */
static bool reads_all_in_turn(mongoc_cursor_t *cursor)
{
    const bson_t *document;
    bson_iter_t number;
    int next = 0;
    while (mongoc_cursor_next(cursor, &document)) {
        if (!bson_iter_init_find(&number, document, "i") || bson_iter_int32(&number) != next++) {
            return false;
        }
    }
    return !mongoc_cursor_error(cursor, NULL) && next == STORED;
}

static mongoc_cursor_t *find_in_threes(void)
{
    bson_t query = BSON_INITIALIZER;
    bson_t *opts = from_json("{'sort': {'i': 1}, 'batchSize': 3}");
    mongoc_cursor_t *cursor =
        mongoc_collection_find_with_opts(fixture.collection, &query, opts, NULL);
    bson_destroy(opts);
    return cursor;
}

Test(cursors, get_more_of_find_rejected)
{
    fixture_connect();
    fixture_store(STORED);
    cr_assert(reject(.command = "getMore", .times = 2));
    mongoc_cursor_t *cursor = find_in_threes();
    const struct counters before = counters_now();

    cr_expect(reads_all_in_turn(cursor));

    expect_events("find", .started = 1, .succeeded = 1);
    expect_events("getMore", .started = 3 + 2, .succeeded = 3, .failed = 2);
    expect_counters(&before, .operations = 4, .first_successes = 3, .retries = 2,
        .retry_successes = 1, .overload_errors = 2, .tokens_consumed = 2000,
        .tokens_deposited = 1100 + 100 + 100);
    mongoc_cursor_destroy(cursor);
}

Test(cursors, get_more_of_aggregate_rejected)
{
    fixture_connect();
    fixture_need_aggregation();
    bson_t *pipeline = from_json("{'pipeline': [{'$sort': {'i': 1}}]}");
    bson_t *opts = from_json("{'batchSize': 3}");
    fixture_store(STORED);
    cr_assert(reject(.command = "getMore", .times = 2));
    mongoc_cursor_t *cursor =
        mongoc_collection_aggregate(fixture.collection, MONGOC_QUERY_NONE, pipeline, opts, NULL);
    const struct counters before = counters_now();

    cr_expect(reads_all_in_turn(cursor));

    expect_events("aggregate", .started = 1, .succeeded = 1);
    expect_events("getMore", .started = 3 + 2, .succeeded = 3, .failed = 2);
    expect_counters(&before, .operations = 4, .first_successes = 3, .retries = 2,
        .retry_successes = 1, .overload_errors = 2, .tokens_consumed = 2000,
        .tokens_deposited = 1100 + 100 + 100);
    mongoc_cursor_destroy(cursor);
    bson_destroy(pipeline);
    bson_destroy(opts);
}

/* What starts is rejected once, whatever it is. */
static void reject_each_once(const char *command, int number)
{
    if (number % 2 == 1) {
        reject(.command = command, .times = 1);
    }
}

Test(cursors, every_command_rejected)
{
    fixture_connect();
    fixture_store(STORED);
    watch_react(reject_each_once, NULL);
    mongoc_cursor_t *cursor = find_in_threes();
    const struct counters before = counters_now();

    cr_expect(reads_all_in_turn(cursor));

    expect_events("find", .started = 2, .succeeded = 1, .failed = 1);
    expect_events("getMore", .started = 6, .succeeded = 3, .failed = 3);
    /* A token each time, given back each time, as far as there is room. */
    expect_counters(&before, .operations = 4, .retries = 4, .retry_successes = 4,
        .overload_errors = 4, .tokens_consumed = 4000, .tokens_deposited = 4000);
    mongoc_cursor_destroy(cursor);
}

Test(cursors, get_more_given_up)
{
    bson_error_t error;
    const bson_t *reply;
    const bson_t *document;
    int count = 0;
    fixture_connect();
    fixture_store(STORED);
    cr_assert(reject(.command = "getMore"));
    mongoc_cursor_t *cursor = find_in_threes();
    const struct counters before = counters_now();

    while (mongoc_cursor_next(cursor, &document)) {
        count++;
    }

    cr_expect_eq(count, 3);
    cr_assert(mongoc_cursor_error_document(cursor, &error, &reply));
    cr_expect_eq(error.code, OVERLOADED);
    cr_expect(mongoc_error_has_label(reply, "SystemOverloadedError"));
    expect_events("find", .started = 1, .succeeded = 1);
    expect_events("getMore", .started = 6, .failed = 6);
    expect_counters(&before, .operations = 2, .first_successes = 1, .retries = 5,
        .overload_errors = 6, .refused_attempts = 1, .tokens_consumed = 5000);
    mongoc_cursor_destroy(cursor);
}

/* The driver has no use for the reply to this one, and passes none. */
Test(cursors, kill_cursors_rejected)
{
    const bson_t *document;
    fixture_connect();
    fixture_store(STORED);
    cr_assert(reject(.command = "killCursors", .times = 2));
    mongoc_cursor_t *cursor = find_in_threes();
    cr_assert(mongoc_cursor_next(cursor, &document));
    const struct counters before = counters_now();

    mongoc_cursor_destroy(cursor);

    expect_events("killCursors", .started = 3, .succeeded = 1, .failed = 2);
    expect_counters(&before, .operations = 1, .retries = 2, .retry_successes = 1,
        .overload_errors = 2, .tokens_consumed = 2000, .tokens_deposited = 1100);
}
