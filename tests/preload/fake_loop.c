/*
 * Drivers since 2.3, which retry overload by themselves, twice. Each of their
 * retries has to be paid for.
 */
#include "fake_host.h"

#include <criterion/criterion.h>

TestSuite(fake_loop, .init = fake_begin, .fini = fake_end, .timeout = 150);

#define LINKED "linked:A", "version:A:2.5.7"
#define BOTH " labels=RetryableError,SystemOverloadedError"
#define ALL_THREE BOTH ",RetryableWriteError"
#define FAILED(send)                                                                               \
    "A failed sends=" send " overload=seen error=17/462 'send " send " failed' reply=" send        \
    " code=462"

static mbp_millitokens tokens(void)
{
    return mbp_bucket_balance(&fake_segment().layout->bucket);
}

Test(fake_loop, the_drivers_three_sends)
{
    fake_expect(fake_linked, ACTIONS(LINKED, "run:A:462ro:L"), FAILED("3") BOTH "\n");
    cr_expect_eq(fake_total(MBP_COUNT_operations), 1);
    cr_expect_eq(fake_total(MBP_COUNT_retries), 2);
    cr_expect_eq(fake_total(MBP_COUNT_driver_retries), 0, "those are for the others");
    cr_expect_eq(fake_total(MBP_COUNT_overload_errors), 3);
    cr_expect_eq(fake_total(MBP_COUNT_refused_attempts), 1);
    cr_expect_eq(fake_total(MBP_COUNT_backoff_ms), 0, "the driver waits");
    cr_expect_eq(tokens(), 998 * MBP_TOKEN);
}

/* A token comes back from what is no overload. */
Test(fake_loop, success_on_a_retry)
{
    fake_setenv("MONGOBP_RETURN_RATE", "0");
    fake_expect(fake_linked, ACTIONS(LINKED, "run:A:462ro,462ro,ok:L", "run:A:ok:L"),
        "A ok sends=3 reply=3\n"
        "A ok sends=1 reply=1\n");
    cr_expect_eq(fake_total(MBP_COUNT_retry_successes), 1);
    cr_expect_eq(fake_total(MBP_COUNT_first_successes), 1);
    cr_expect_eq(tokens(), 999 * MBP_TOKEN);
}

/* One send, whichever label the driver would go by, and the program sees all
 * labels: in the reply, and when it asks the driver. */
Test(fake_loop, empty_bucket)
{
    fake_setenv("MONGOBP_CAPACITY", "2");
    fake_expect(fake_linked,
        ACTIONS(LINKED, "run:A:462ro:L", "run:A:462ro:L", "run:A:462row:L", "run:A:10107w:L"),
        FAILED("3") BOTH "\n" FAILED("1") BOTH "\n" FAILED("1") ALL_THREE
        "\n"
        /* Not overload: the driver's own retry of a write is free. */
        "A failed sends=2 error=17/10107 'send 2 failed' reply=2 code=10107 "
        "labels=RetryableWriteError\n");
    cr_expect_eq(fake_total(MBP_COUNT_refused_budget), 2);
    cr_expect_eq(fake_total(MBP_COUNT_driver_retries), 1);
    cr_expect_eq(tokens(), 0);
}

Test(fake_loop, fewer_retries_by_setting)
{
    fake_setenv("MONGOBP_MAX_RETRIES", "1");
    fake_expect(fake_linked, ACTIONS(LINKED, "run:A:462ro:L", "run:A:462row:L"),
        FAILED("2") BOTH "\n" FAILED("2") ALL_THREE "\n");
    cr_expect_eq(fake_total(MBP_COUNT_retries), 2);
    cr_expect_eq(fake_total(MBP_COUNT_refused_attempts), 2);
}

/* The deadline is over before the first retry. */
Test(fake_loop, no_time_left)
{
    fake_setenv("MONGOBP_TIMEOUT_MS", "1");
    fake_expect(fake_linked, ACTIONS(LINKED, "run:A:sleep+462ro:L"), FAILED("1") BOTH "\n");
    cr_expect_eq(fake_total(MBP_COUNT_refused_deadline), 1);
    cr_expect_eq(tokens(), 1000 * MBP_TOKEN);
}

/* Paid for, but then the driver finds no server. */
Test(fake_loop, retry_that_never_begins)
{
    fake_expect(fake_linked, ACTIONS(LINKED, "run:A:462ro,gone:L"), FAILED("1") BOTH "\n");
    cr_expect_eq(fake_total(MBP_COUNT_tokens_consumed), MBP_TOKEN);
    cr_expect_eq(fake_total(MBP_COUNT_tokens_deposited), MBP_TOKEN);
    cr_expect_eq(tokens(), 1000 * MBP_TOKEN);
}

/* retryWrites=false: the driver won't, and nothing is paid. */
Test(fake_loop, never_to_be_retried)
{
    fake_expect(fake_linked, ACTIONS(LINKED, "run:A:462ro:N"), FAILED("1") BOTH "\n");
    cr_expect_eq(fake_total(MBP_COUNT_refused_disabled), 1);
    cr_expect_eq(fake_total(MBP_COUNT_tokens_consumed), 0);
}

Test(fake_loop, errors_that_are_not_overload)
{
    fake_expect(fake_linked, ACTIONS(LINKED, "run:A:11000:L", "run:A:462r:L", "run:A:10107w,ok:L"),
        "A failed sends=1 error=17/11000 'send 1 failed' reply=1 code=11000\n"
        "A failed sends=1 error=17/462 'send 1 failed' reply=1 code=462 labels=RetryableError\n"
        "A ok sends=2 reply=2\n");
    cr_expect_eq(fake_total(MBP_COUNT_tokens_consumed), 0);
    cr_expect_eq(fake_total(MBP_COUNT_refused_not_retryable), 3);
    cr_expect_eq(fake_total(MBP_COUNT_driver_retries), 1);
}

/* What runs inside a send has a loop of its own, which neither pays nor takes
 * the outer one's refusal for its own. */
Test(fake_loop, nested)
{
    fake_setenv("MONGOBP_CAPACITY", "1");
    fake_expect(fake_linked, ACTIONS(LINKED, "run:A:nest+462ro:L", "run:A:nest+462ro:L"),
        "A failed sends=2 nested=6 overload=seen error=17/462 'send 2 failed' reply=2 "
        "code=462" BOTH "\n"
        "A failed sends=1 nested=3 overload=seen error=17/462 'send 1 failed' reply=1 "
        "code=462" BOTH "\n");
    cr_expect_eq(fake_total(MBP_COUNT_operations), 2);
    cr_expect_eq(fake_total(MBP_COUNT_retries), 1);
    cr_expect_eq(fake_total(MBP_COUNT_refused_budget), 2);
}

Test(fake_loop, errno_is_what_the_driver_left)
{
    fake_expect(fake_linked, ACTIONS(LINKED, "run:A:462ro,errno+ok:L", "run:A:462ro,gone:L"),
        "A ok sends=2 errno=fake reply=2\n" FAILED("1") BOTH "\n");
}

Test(fake_loop, observed)
{
    fake_setenv("MONGOBP_OBSERVE", "1");
    fake_setenv("MONGOBP_CAPACITY", "1");
    fake_setenv("MONGOBP_MAX_RETRIES", "1");
    fake_expect(fake_linked, ACTIONS(LINKED, "run:A:462row:L"), FAILED("3") ALL_THREE "\n");
    cr_expect_eq(fake_total(MBP_COUNT_observed_retries), 1);
    cr_expect_eq(fake_total(MBP_COUNT_retries), 0);
    cr_expect_eq(tokens(), MBP_TOKEN);
}

Test(fake_loop, disabled)
{
    fake_setenv("MONGOBP_DISABLE", "1");
    fake_setenv("MONGOBP_MAX_RETRIES", "1");
    fake_expect(fake_linked, ACTIONS(LINKED, "run:A:462row:L"), FAILED("3") ALL_THREE "\n");
    cr_expect_not(fake_has_segment());
}

/* A version that is not known is taken to have the loop as it was. */
Test(fake_loop, later_version)
{
    fake_setenv("MONGOBP_CAPACITY", "2");
    fake_expect(fake_linked,
        ACTIONS("linked:A", "version:A:3.1.0", "run:A:462ro:L", "run:A:462row:L"),
        FAILED("3") BOTH "\n" FAILED("1") ALL_THREE "\n");
    cr_expect_eq(tokens(), 0);
}
