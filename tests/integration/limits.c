/*
 * What ends the retrying: attempts, the budget, the deadline. And what must
 * not: signals.
 */
#include "fixture.h"

#include "common/clock.h"

#include <criterion/criterion.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/time.h>

TestSuite(limits, .init = fixture_settings, .fini = fixture_end);

Test(limits, number_of_retries_is_a_setting)
{
    setenv("MONGOBP_MAX_RETRIES", "2", 1);
    fixture_connect();
    cr_assert(reject(.command = "insert"));
    const struct counters before = counters_now();

    cr_expect_not(inserts(1));

    expect_events("insert", .started = 3, .failed = 3);
    expect_counters(&before, .operations = 1, .retries = 2, .overload_errors = 3,
        .refused_attempts = 1, .tokens_consumed = 2000);
}

Test(limits, success_on_the_last_attempt)
{
    fixture_connect();
    cr_assert(reject(.command = "insert", .times = 5));
    const struct counters before = counters_now();

    cr_expect(inserts(1));

    expect_events("insert", .started = 6, .succeeded = 1, .failed = 5);
    expect_counters(&before, .operations = 1, .retries = 5, .retry_successes = 1,
        .overload_errors = 5, .tokens_consumed = 5000, .tokens_deposited = 1100);
    cr_expect_eq(fixture_count("{}"), 1);
}

Test(limits, empty_bucket_refuses)
{
    bson_t reply;
    setenv("MONGOBP_CAPACITY", "1", 1);
    fixture_connect();
    cr_assert(reject(.command = "insert"));
    const struct counters before = counters_now();

    cr_expect_not(inserts(1));
    expect_events("insert", .started = 2, .failed = 2);
    expect_counters(&before, .operations = 1, .retries = 1, .overload_errors = 2,
        .refused_budget = 1, .tokens_consumed = 1000);
    cr_expect_eq(tokens_left(), 0);

    cr_expect_not(insert_number(2, &reply, NULL));
    cr_expect(mongoc_error_has_label(&reply, "SystemOverloadedError"));
    expect_events("insert", .started = 3, .failed = 3);
    expect_counters(&before, .operations = 2, .retries = 1, .overload_errors = 3,
        .refused_budget = 2, .tokens_consumed = 1000);
    bson_destroy(&reply);
}

/* Ten successes at 0.1 make a token; nine don't. */
Test(limits, successes_refill_the_bucket)
{
    setenv("MONGOBP_CAPACITY", "1", 1);
    fixture_connect();
    cr_assert(reject(.command = "insert", .times = 2));
    cr_assert_not(inserts(0));
    cr_assert_eq(tokens_left(), 0);
    for (int i = 1; i <= 8; i++) {
        cr_assert(inserts(i));
    }
    cr_assert(reject(.command = "insert", .times = 1), "the ninth success");
    cr_expect_eq(tokens_left(), 900);
    cr_expect_not(inserts(9));

    cr_assert(reject(.command = "insert", .times = 1), "the tenth success");
    cr_expect_eq(tokens_left(), 1000);
    const struct counters before = counters_now();
    cr_expect(inserts(10));
    expect_counters(&before, .operations = 1, .retries = 1, .retry_successes = 1,
        .overload_errors = 1, .tokens_consumed = 1000, .tokens_deposited = 1000);
}

Test(limits, return_rate_is_a_setting)
{
    setenv("MONGOBP_RETURN_RATE", "0.25", 1);
    fixture_connect();
    cr_assert(reject(.command = "insert", .times = 4));
    const struct counters before = counters_now();

    cr_expect(inserts(1));
    cr_expect(inserts(2));

    expect_counters(&before, .operations = 2, .first_successes = 1, .retries = 4,
        .retry_successes = 1, .overload_errors = 4, .tokens_consumed = 4000,
        .tokens_deposited = 1250 + 250);
}

/* A delay of up to ten minutes does not fit into a millisecond, but for one
 * case in 600,000. */
Test(limits, no_token_is_spent_on_a_retry_past_the_deadline, .timeout = 60)
{
    setenv("MONGOBP_TIMEOUT_MS", "1", 1);
    setenv("MONGOBP_BASE_BACKOFF_MS", "600000", 1);
    setenv("MONGOBP_MAX_BACKOFF_MS", "600000", 1);
    fixture_connect();
    cr_assert(reject(.command = "insert"));
    const struct counters before = counters_now();
    const int64_t tokens = tokens_left();

    cr_expect_not(inserts(1));

    expect_events("insert", .started = 1, .failed = 1);
    expect_counters(&before, .operations = 1, .overload_errors = 1, .refused_deadline = 1);
    cr_expect_eq(counters_since(&before).backoff_ms, 0);
    cr_expect_eq(tokens_left(), tokens);
}

Test(limits, deadline_far_away)
{
    setenv("MONGOBP_TIMEOUT_MS", "600000", 1);
    fixture_connect();
    cr_assert(reject(.command = "insert", .times = 2));
    const struct counters before = counters_now();

    cr_expect(inserts(1));

    expect_events("insert", .started = 3, .succeeded = 1, .failed = 2);
    expect_counters(&before, .operations = 1, .retries = 2, .retry_successes = 1,
        .overload_errors = 2, .tokens_consumed = 2000, .tokens_deposited = 1100);
}

static volatile sig_atomic_t alarms;

static void count_alarm(int signal)
{
    (void)signal;
    alarms++;
}

static void set_timer(long microseconds)
{
    const struct itimerval timer = {{0, microseconds}, {0, microseconds}};
    setitimer(ITIMER_REAL, &timer, NULL);
}

/* Alarms come between a failure and the next send: while mongobp waits. */
static void timer_off(const char *command, int number)
{
    (void)command;
    (void)number;
    set_timer(0);
}

static void timer_on(const char *command, int number)
{
    (void)command;
    (void)number;
    set_timer(2000);
}

Test(limits, signals_do_not_shorten_the_wait)
{
    const struct sigaction action = {.sa_handler = count_alarm}; /* no SA_RESTART */
    setenv("MONGOBP_BASE_BACKOFF_MS", "100", 1);
    setenv("MONGOBP_MAX_BACKOFF_MS", "100", 1);
    fixture_connect();
    cr_assert(reject(.command = "insert", .times = 5));
    sigaction(SIGALRM, &action, NULL);
    watch_react(timer_off, timer_on);
    const struct counters before = counters_now();
    const uint64_t begun_ms = mbp_clock_ms();

    cr_expect(inserts(1));

    set_timer(0);
    const int64_t taken_ms = (int64_t)(mbp_clock_ms() - begun_ms);
    cr_expect_gt(alarms, 0);
    cr_expect_geq(taken_ms, counters_since(&before).backoff_ms);
    cr_expect_gt(counters_since(&before).backoff_ms, 0);
    expect_events("insert", .started = 6, .succeeded = 1, .failed = 5);
    expect_counters(&before, .operations = 1, .retries = 5, .retry_successes = 1,
        .overload_errors = 5, .tokens_consumed = 5000, .tokens_deposited = 1100);
}
