/*
 * Drivers that have the policy themselves, as libmongoc has from 2.3 on: two
 * retries, with no budget. mongobp adds the budget, and never a send.
 */
#include "fixture.h"

#include <criterion/criterion.h>
#include <stdlib.h>

enum { SENDS = 3 /* of one command, by the driver */ };

TestSuite(retrying_driver, .init = fixture_settings_for_retrying_driver, .fini = fixture_end);

static void expect_overloaded(int number)
{
    bson_t reply;
    bson_error_t error;
    cr_expect_not(insert_number(number, &reply, &error));
    cr_expect_eq(error.code, OVERLOADED, "%u: %s", error.code, error.message);
    cr_expect(mongoc_error_has_label(&reply, "SystemOverloadedError"));
    bson_destroy(&reply);
}

Test(retrying_driver, sends_no_more_than_by_itself)
{
    fixture_connect();
    cr_assert(reject(.command = "insert"));
    const struct counters before = counters_now();

    expect_overloaded(1);

    expect_events("insert", .started = SENDS, .failed = SENDS);
    cr_expect_eq(counters_since(&before).overload_errors, SENDS);
    cr_expect_eq(fixture_count("{}"), 0);
}

Test(retrying_driver, pays_for_its_retries)
{
    fixture_connect();
    cr_assert(reject(.command = "insert", .times = SENDS - 1));
    const struct counters before = counters_now();

    cr_expect(inserts(1));

    expect_events("insert", .started = SENDS, .succeeded = 1, .failed = SENDS - 1);
    cr_expect_eq(counters_since(&before).tokens_consumed, (SENDS - 1) * 1000);
    cr_expect_eq(fixture_count("{}"), 1);
}

/* Ends in one way only: the bucket was emptied by the first operation. */
Test(retrying_driver, empty_bucket_refuses)
{
    setenv("MONGOBP_CAPACITY", "1", 1);
    fixture_connect();
    cr_assert(reject(.command = "insert"));

    expect_overloaded(1);
    expect_events("insert", .started = 2, .failed = 2);
    cr_expect_eq(tokens_left(), 0);

    expect_overloaded(2);
    expect_events("insert", .started = 3, .failed = 3);
    cr_expect_eq(tokens_left(), 0);
}

/* A read, and a command that the driver knows nothing of. */
Test(retrying_driver, empty_bucket_refuses_whatever_it_is)
{
    setenv("MONGOBP_CAPACITY", "1", 1);
    fixture_connect();
    cr_assert(reject(.command = "insert"));
    cr_assert_not(inserts(1));
    cr_assert_eq(tokens_left(), 0);

    bson_t query = BSON_INITIALIZER;
    const bson_t *document;
    bson_error_t error;
    cr_assert(reject(.command = "find"));
    mongoc_cursor_t *cursor =
        mongoc_collection_find_with_opts(fixture.collection, &query, NULL, NULL);
    cr_expect_not(mongoc_cursor_next(cursor, &document));
    cr_expect(mongoc_cursor_error(cursor, &error));
    cr_expect_eq(error.code, OVERLOADED);
    expect_events("find", .started = 1, .failed = 1);
    mongoc_cursor_destroy(cursor);

    bson_t *command = from_json("{'ping': 1}");
    cr_assert(reject(.command = "ping"));
    cr_expect_not(
        mongoc_client_command_simple(fixture.client, "admin", command, NULL, NULL, &error));
    cr_expect_eq(error.code, OVERLOADED);
    expect_events("ping", .started = 1, .failed = 1);
    bson_destroy(command);
}

Test(retrying_driver, successes_refill_the_bucket)
{
    setenv("MONGOBP_CAPACITY", "1", 1);
    setenv("MONGOBP_RETURN_RATE", "1", 1);
    fixture_connect();
    cr_assert(reject(.command = "insert"));
    cr_assert_not(inserts(1));
    cr_assert_eq(tokens_left(), 0);

    cr_assert(reject(.command = "insert", .times = 1), "the success that pays in");
    cr_expect_eq(tokens_left(), 1000);
    cr_expect(inserts(2));
    expect_events("insert", .started = 2 + 2, .succeeded = 1, .failed = 3);
}

Test(retrying_driver, error_that_is_not_retryable)
{
    fixture_connect();
    cr_assert(reject(.command = "insert", .labels = NO_LABELS));
    const int64_t tokens = tokens_left();

    cr_expect_not(inserts(1));

    expect_events("insert", .started = 1, .failed = 1);
    cr_expect_eq(tokens_left(), tokens);
}

static void is_left_alone(void)
{
    fixture_connect();
    cr_assert(reject(.command = "insert"));
    expect_overloaded(1);
    expect_events("insert", .started = SENDS, .failed = SENDS);
}

Test(retrying_driver, observed)
{
    setenv("MONGOBP_OBSERVE", "1", 1);
    setenv("MONGOBP_CAPACITY", "1", 1);
    is_left_alone();
    cr_expect_eq(tokens_left(), 1000);
}

/* fixture_connect has seen to it that there is no segment. */
Test(retrying_driver, disabled)
{
    setenv("MONGOBP_DISABLE", "1", 1);
    is_left_alone();
}
