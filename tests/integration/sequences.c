/*
 * One operation that meets different errors in turn: what it pays and gets
 * back for each, and which of them the application sees.
 */
#include "fixture.h"

#include <criterion/criterion.h>

#define NO_WRITES BOTH_LABELS ", 'NoWritesPerformed'"

TestSuite(sequences, .init = fixture_settings, .fini = fixture_end);

/* What is to come after the present one; ends with one that has no command. */
static const struct rejection *next_rejection;

static void go_on(const char *command, int number)
{
    (void)command;
    (void)number;
    if (next_rejection->command) {
        reject_as(next_rejection++);
    }
}

/* Runs an insert against rejections, one for each send; the last one stays. */
static bool insert_against(const struct rejection *rejections, bson_t *reply, bson_error_t *error)
{
    next_rejection = rejections + 1;
    watch_react(NULL, go_on);
    return reject_as(rejections) && insert_number(1, reply, error);
}

static void expect_error(const struct rejection *rejections, uint32_t code, bool no_writes)
{
    bson_t reply;
    bson_error_t error = {0};
    fixture_connect();

    cr_expect_not(insert_against(rejections, &reply, &error));

    cr_expect_eq(error.code, code, "code %u instead of %u", error.code, code);
    cr_expect_eq(mongoc_error_has_label(&reply, "NoWritesPerformed"), no_writes);
    cr_expect(mongoc_error_has_label(&reply, "RetryableError"));
    expect_events("insert", .started = 6, .failed = 6);
    cr_expect_eq(counters_now().refused_attempts, 1);
    cr_expect_eq(counters_now().retries, 5);
    bson_destroy(&reply);
}

Test(sequences, error_before_no_writes_performed)
{
    expect_error((const struct rejection[]){{"insert", .code = 601},
                     {"insert", .code = 602, .labels = NO_WRITES}, {0}},
        601, false);
}

Test(sequences, latest_error_before_no_writes_performed)
{
    expect_error((const struct rejection[]){{"insert", .code = 601}, {"insert", .code = 602},
                     {"insert", .code = 603, .labels = NO_WRITES}, {0}},
        602, false);
}

Test(sequences, no_writes_performed_by_any)
{
    expect_error((const struct rejection[]){{"insert", .code = 601, .labels = NO_WRITES},
                     {"insert", .code = 602, .labels = NO_WRITES}, {0}},
        601, true);
}

Test(sequences, last_error_that_may_have_written)
{
    expect_error((const struct rejection[]){{"insert", .code = 601, .labels = NO_WRITES},
                     {"insert", .code = 602}, {0}},
        602, false);
}

/* The server had room after all: the token comes back, the error is final. */
Test(sequences, retry_that_meets_another_error)
{
    bson_t reply;
    bson_error_t error = {0};
    fixture_connect();
    const struct counters before = counters_now();
    const struct rejection rejections[] = {
        {"insert", .code = OVERLOADED}, {"insert", .code = 2, .labels = NO_LABELS}, {0}};

    cr_expect_not(insert_against(rejections, &reply, &error));

    cr_expect_eq(error.code, 2);
    cr_expect_not(mongoc_error_has_label(&reply, "RetryableError"));
    expect_events("insert", .started = 2, .failed = 2);
    /* One operation more: the administrator's first rejection. */
    expect_counters(&before, .operations = 2, .first_successes = 1, .retries = 1,
        .overload_errors = 1, .refused_not_retryable = 1, .tokens_consumed = 1000,
        .tokens_deposited = 1000);
    bson_destroy(&reply);
}

Test(sequences, overloaded_then_only_retryable_then_accepted)
{
    fixture_connect();
    const struct counters before = counters_now();
    const struct rejection rejections[] = {{"insert", .times = 1}, {"insert", .times = 1},
        {"insert", .times = 1, .labels = "'RetryableError'"}, {0}};

    cr_expect(insert_against(rejections, NULL, NULL));

    expect_events("insert", .started = 4, .succeeded = 1, .failed = 3);
    expect_counters(&before, .operations = 2, .first_successes = 1, .retries = 3,
        .retry_successes = 1, .overload_errors = 2, .tokens_consumed = 3000,
        .tokens_deposited = 1000 + 1100);
    cr_expect_eq(fixture_count("{}"), 1);
}

/* A retry that finds the server gone: the shim lets go, and so does the driver. */
Test(sequences, overloaded_then_not_primary)
{
    bson_error_t error = {0};
    fixture_connect();
    const struct counters before = counters_now();
    const struct rejection rejections[] = {
        {"insert", .times = 1}, {"insert", .times = 1, .code = 10107}, {0}};

    cr_expect_not(insert_against(rejections, NULL, &error));

    cr_expect_eq(error.code, 10107);
    expect_events("insert", .started = 2, .failed = 2);
    expect_counters(&before, .operations = 2, .first_successes = 1, .retries = 1,
        .overload_errors = 2, .refused_not_retryable = 1, .tokens_consumed = 1000);
    cr_expect(inserts(2), "the next operation finds the server again");
}
