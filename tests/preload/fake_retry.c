/*
 * What a program gets back from a command that was sent more than once.
 */
#include "fake_host.h"

#include <criterion/criterion.h>

TestSuite(fake_retry, .init = fake_begin, .fini = fake_end, .timeout = 150);

#define BOTH " labels=RetryableError,SystemOverloadedError"
#define ALL_THREE BOTH ",NoWritesPerformed"

Test(fake_retry, six_sends_and_then_the_error)
{
    fake_expect(fake_linked, ACTIONS("linked:A", "run:A:462ro"),
        "A failed sends=6 error=17/462 'send 6 failed' reply=6 code=462" BOTH "\n");
    cr_expect_eq(fake_total(MBP_COUNT_operations), 1);
    cr_expect_eq(fake_total(MBP_COUNT_retries), 5);
    cr_expect_eq(fake_total(MBP_COUNT_overload_errors), 6);
    cr_expect_eq(fake_total(MBP_COUNT_refused_attempts), 1);
    cr_expect_eq(fake_total(MBP_COUNT_tokens_consumed), 5 * MBP_TOKEN);
    cr_expect_eq(mbp_bucket_balance(&fake_segment().layout->bucket), 995 * MBP_TOKEN);
}

Test(fake_retry, success_on_the_last_send)
{
    fake_expect(fake_linked, ACTIONS("linked:A", "run:A:462ro,462ro,462ro,462ro,462ro,ok"),
        "A ok sends=6 reply=6\n");
    cr_expect_eq(fake_total(MBP_COUNT_retry_successes), 1);
    cr_expect_eq(fake_total(MBP_COUNT_first_successes), 0);
}

Test(fake_retry, retryable_without_overload)
{
    fake_expect(fake_linked, ACTIONS("linked:A", "run:A:462r,ok"), "A ok sends=2 reply=2\n");
    cr_expect_eq(fake_total(MBP_COUNT_backoff_ms), 0);
    cr_expect_eq(fake_total(MBP_COUNT_tokens_consumed), MBP_TOKEN);
}

/* None of these is sent again. */
Test(fake_retry, errors_that_are_not_retryable)
{
    static const struct {
        const char *action;
        const char *out;
    } cases[] = {
        {"run:A:11000", "A failed sends=1 error=17/11000 'send 1 failed' reply=1 code=11000\n"},
        {"run:A:462o", "A failed sends=1 error=17/462 'send 1 failed' reply=1 code=462 "
                       "labels=SystemOverloadedError\n"},
        {"run:A:462n", "A failed sends=1 error=17/462 'send 1 failed' reply=1 code=462 "
                       "labels=NoWritesPerformed\n"},
        {"run:A:blank", "A failed sends=1 error=17/0 'send 1 failed' reply=empty\n"},
        {"run:A:0ro", "A failed sends=1 error=17/0 'send 1 failed' reply=1" BOTH "\n"},
        {"run:A:10107ro",
            "A failed sends=1 error=17/10107 'send 1 failed' reply=1 code=10107" BOTH "\n"},
    };
    enum { COUNT = sizeof cases / sizeof cases[0] };
    for (unsigned i = 0; i < COUNT; i++) {
        fake_expect(fake_linked, ACTIONS("linked:A", cases[i].action), cases[i].out);
    }
    cr_expect_eq(fake_total(MBP_COUNT_refused_not_retryable), COUNT);
    cr_expect_eq(fake_total(MBP_COUNT_tokens_consumed), 0);
}

Test(fake_retry, last_error_is_another_one)
{
    fake_expect(fake_linked, ACTIONS("linked:A", "run:A:462ro,462ro,11000"),
        "A failed sends=3 error=17/11000 'send 3 failed' reply=3 code=11000\n");
}

/* The last error says that nothing was written: the one before it that doesn't
 * is what the program must see, or else the first. */
Test(fake_retry, no_writes_performed)
{
    static const struct {
        const char *action;
        const char *out;
    } cases[] = {
        {"run:A:462ro,11000n",
            "A failed sends=2 error=17/462 'send 1 failed' reply=1 code=462" BOTH "\n"},
        {"run:A:462ro,463ro,462ron",
            "A failed sends=6 error=17/463 'send 2 failed' reply=2 code=463" BOTH "\n"},
        {"run:A:462ro,462ron,464ro,462ron",
            "A failed sends=6 error=17/464 'send 3 failed' reply=3 code=464" BOTH "\n"},
        {"run:A:461ron,462ron",
            "A failed sends=6 error=17/461 'send 1 failed' reply=1 code=461" ALL_THREE "\n"},
        {"run:A:462ro,462ron,ok", "A ok sends=3 reply=3\n"},
        {"run:A:462ron,462ro,11000",
            "A failed sends=3 error=17/11000 'send 3 failed' reply=3 code=11000\n"},
        /* Nobody to compare with: the error itself. */
        {"run:A:462n", "A failed sends=1 error=17/462 'send 1 failed' reply=1 code=462 "
                       "labels=NoWritesPerformed\n"},
        /* Kept and brought back where only one of the two is wanted. */
        {"run:A:462ro,11000n:e", "A failed sends=2 reply=1 code=462" BOTH "\n"},
        {"run:A:462ro,11000n:r", "A failed sends=2 error=17/462 'send 1 failed'\n"},
        {"run:A:462ro,11000n:re", "A failed sends=2\n"},
    };
    for (unsigned i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        fake_expect(fake_linked, ACTIONS("linked:A", cases[i].action), cases[i].out);
    }
}

Test(fake_retry, no_reply_wanted)
{
    fake_expect(fake_linked,
        ACTIONS("linked:A", "run:A:ok:r", "run:A:462ro,ok:r", "run:A:462ro:r", "run:A:blank:r",
            "run:A:empty:r"),
        "A ok sends=1\n"
        "A ok sends=2\n"
        "A failed sends=6 error=17/462 'send 6 failed'\n"
        "A failed sends=1 error=17/0 'send 1 failed'\n"
        "A ok sends=1\n");
    cr_expect_eq(fake_total(MBP_COUNT_operations), 5);
    cr_expect_eq(fake_total(MBP_COUNT_first_successes), 1);
    cr_expect_eq(fake_total(MBP_COUNT_unacknowledged), 1);
}

Test(fake_retry, no_error_wanted)
{
    fake_expect(fake_linked, ACTIONS("linked:A", "run:A:ok:e", "run:A:462ro,ok:e", "run:A:462ro:e"),
        "A ok sends=1 reply=1\n"
        "A ok sends=2 reply=2\n"
        "A failed sends=6 reply=6 code=462" BOTH "\n");
}

Test(fake_retry, neither_wanted)
{
    fake_expect(fake_linked,
        ACTIONS("linked:A", "run:A:ok:re", "run:A:462ro,ok:re", "run:A:462ro:re"),
        "A ok sends=1\n"
        "A ok sends=2\n"
        "A failed sends=6\n");
}

/* Write concern 0: one send, counted apart, and no token comes of it. */
Test(fake_retry, empty_reply)
{
    fake_expect(fake_linked, ACTIONS("linked:A", "run:A:462r,ok", "run:A:empty"),
        "A ok sends=2 reply=2\n"
        "A ok sends=1 reply=empty\n");
    cr_expect_eq(fake_total(MBP_COUNT_unacknowledged), 1);
    cr_expect_eq(fake_total(MBP_COUNT_operations), 2);
    cr_expect_eq(fake_total(MBP_COUNT_first_successes), 0);
}

/* What runs inside a command is not an operation of its own: it would be
 * retried for each retry of the outer one. */
Test(fake_retry, nested_command_goes_straight_to_the_driver)
{
    fake_expect(fake_linked, ACTIONS("linked:A", "run:A:nest+ok", "run:A:nest+462ro,nest+462ro,ok"),
        "A ok sends=1 nested=1 reply=1\n"
        "A ok sends=3 nested=2 reply=3\n");
    cr_expect_eq(fake_total(MBP_COUNT_operations), 2);
    cr_expect_eq(fake_total(MBP_COUNT_retries), 2);
    cr_expect_eq(fake_total(MBP_COUNT_overload_errors), 2);
}

/* The guard is off again afterwards. */
Test(fake_retry, next_command_after_a_nested_one)
{
    fake_expect(fake_linked, ACTIONS("linked:A", "run:A:nest+11000", "run:A:462ro,ok"),
        "A failed sends=1 nested=1 error=17/11000 'send 1 failed' reply=1 code=11000\n"
        "A ok sends=2 reply=2\n");
}

/* The program prints errno only where it is not as before. */
Test(fake_retry, errno_is_what_the_driver_left)
{
    fake_expect(fake_linked,
        ACTIONS("linked:A", "run:A:errno+ok", "run:A:errno+462ro,ok", "run:A:462ro,errno+ok",
            "run:A:462ro,errno+462ro:re", "run:A:errno+11000", "run:A:errno+empty:r",
            "run:A:462ro"),
        "A ok sends=1 errno=fake reply=1\n"
        "A ok sends=2 errno=fake reply=2\n"
        "A ok sends=2 errno=fake reply=2\n"
        "A failed sends=6 errno=fake\n"
        "A failed sends=1 errno=fake error=17/11000 'send 1 failed' reply=1 code=11000\n"
        "A ok sends=1 errno=fake\n"
        "A failed sends=6 error=17/462 'send 6 failed' reply=6 code=462" BOTH "\n");
}

Test(fake_retry, disabled)
{
    fake_setenv("MONGOBP_DISABLE", "1");
    fake_expect(fake_linked, ACTIONS("linked:A", "run:A:462ro,ok", "run:A:ok:r"),
        "A failed sends=1 error=17/462 'send 1 failed' reply=1 code=462" BOTH "\n"
        "A ok sends=1\n");
    cr_expect_not(fake_has_segment());
}

Test(fake_retry, observed)
{
    fake_setenv("MONGOBP_OBSERVE", "1");
    fake_expect(fake_linked, ACTIONS("linked:A", "run:A:462ro,ok"),
        "A failed sends=1 error=17/462 'send 1 failed' reply=1 code=462" BOTH "\n");
    cr_expect_eq(fake_total(MBP_COUNT_observed_retries), 1);
    cr_expect_eq(fake_total(MBP_COUNT_retries), 0);
    cr_expect_eq(mbp_bucket_balance(&fake_segment().layout->bucket), 1000 * MBP_TOKEN);
}

Test(fake_retry, empty_bucket_refuses)
{
    fake_setenv("MONGOBP_CAPACITY", "2");
    fake_expect(fake_linked, ACTIONS("linked:A", "run:A:462ro"),
        "A failed sends=3 error=17/462 'send 3 failed' reply=3 code=462" BOTH "\n");
    cr_expect_eq(fake_total(MBP_COUNT_refused_budget), 1);
    cr_expect_eq(mbp_bucket_balance(&fake_segment().layout->bucket), 0);
}

/* Any delay would end after the deadline. */
Test(fake_retry, deadline_refuses_without_a_token)
{
    fake_setenv("MONGOBP_TIMEOUT_MS", "1");
    fake_setenv("MONGOBP_BASE_BACKOFF_MS", "600000");
    fake_setenv("MONGOBP_MAX_BACKOFF_MS", "600000");
    fake_expect(fake_linked, ACTIONS("linked:A", "run:A:462ro"),
        "A failed sends=1 error=17/462 'send 1 failed' reply=1 code=462" BOTH "\n");
    cr_expect_eq(fake_total(MBP_COUNT_refused_deadline), 1);
    cr_expect_eq(fake_total(MBP_COUNT_tokens_consumed), 0);
}
