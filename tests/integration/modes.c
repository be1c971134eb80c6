/*
 * mongobp at work, looking on, without retries, and switched off.
 */
#include "fixture.h"

#include <criterion/criterion.h>
#include <stdlib.h>

TestSuite(modes, .init = fixture_settings, .fini = fixture_end);

static void expect_one_send_and_the_error(void)
{
    bson_t reply;
    bson_error_t error;
    cr_expect_not(insert_number(1, &reply, &error));
    cr_expect_eq(error.code, OVERLOADED);
    cr_expect(mongoc_error_has_label(&reply, "SystemOverloadedError"));
    expect_events("insert", .started = 1, .failed = 1);
    bson_destroy(&reply);
}

Test(modes, observe)
{
    setenv("MONGOBP_OBSERVE", "1", 1);
    fixture_connect();
    cr_assert(reject(.command = "insert", .times = 1));
    const struct counters before = counters_now();
    const int64_t tokens = tokens_left();

    expect_one_send_and_the_error();

    expect_counters(&before, .operations = 1, .overload_errors = 1, .observed_retries = 1);
    cr_expect_eq(tokens_left(), tokens);
    cr_expect(inserts(2));
    expect_counters(&before, .operations = 2, .first_successes = 1, .overload_errors = 1,
        .observed_retries = 1);
    cr_expect_eq(tokens_left(), tokens);
}

Test(modes, no_retries)
{
    setenv("MONGOBP_MAX_RETRIES", "0", 1);
    fixture_connect();
    cr_assert(reject(.command = "insert", .times = 1));
    const struct counters before = counters_now();

    expect_one_send_and_the_error();

    expect_counters(&before, .operations = 1, .overload_errors = 1, .refused_disabled = 1);
}

/* fixture_connect has seen to it that there is no segment. */
Test(modes, disabled)
{
    setenv("MONGOBP_DISABLE", "1", 1);
    fixture_connect();
    cr_assert(reject(.command = "insert", .times = 1));

    expect_one_send_and_the_error();

    cr_expect(inserts(2));
    cr_expect_eq(fixture_count("{}"), 1);
}

/* A value that is no good is the default's: the program goes on as if it were
 * not there. */
Test(modes, bad_values_change_nothing)
{
    setenv("MONGOBP_LOG", "off", 1);
    setenv("MONGOBP_MAX_RETRIES", "many", 1);
    setenv("MONGOBP_CAPACITY", "-3", 1);
    setenv("MONGOBP_DISABLE", "maybe", 1);
    fixture_connect();
    cr_assert(reject(.command = "insert"));
    const struct counters before = counters_now();

    cr_expect_not(inserts(1));

    expect_events("insert", .started = 6, .failed = 6);
    expect_counters(&before, .operations = 1, .retries = 5, .overload_errors = 6,
        .refused_attempts = 1, .tokens_consumed = 5000);
    cr_expect_eq(tokens_left(), 995000);
}
