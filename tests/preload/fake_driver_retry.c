/*
 * Drivers up to 2.2, which retry reads and writes by themselves, once and at
 * once. Theirs and ours are one count.
 */
#include "fake_host.h"

#include <criterion/criterion.h>

TestSuite(fake_driver_retry, .init = fake_begin, .fini = fake_end, .timeout = 150);

#define BOTH " labels=RetryableError,SystemOverloadedError"
#define ALL_THREE BOTH ",RetryableWriteError"

/* All sends are used up, and the driver, which would send once more because of
 * RetryableWriteError, is told not to. The program sees that label. */
Test(fake_driver_retry, six_sends_in_all)
{
    fake_expect(fake_linked, ACTIONS("linked:A", "run:A:462row:W"),
        "A failed sends=6 error=17/462 'send 6 failed' reply=6 code=462" ALL_THREE "\n");
    cr_expect_eq(fake_total(MBP_COUNT_operations), 1);
    cr_expect_eq(fake_total(MBP_COUNT_retries), 5);
    cr_expect_eq(fake_total(MBP_COUNT_driver_retries), 0);
}

/* In the middle of it an error that is the driver's to retry: what it retries
 * is the same operation, and costs nothing. */
Test(fake_driver_retry, six_sends_with_the_drivers_among_them)
{
    fake_expect(fake_linked, ACTIONS("linked:A", "run:A:462ro,462ro,10107w,462row:W"),
        "A failed sends=6 error=17/462 'send 6 failed' reply=6 code=462" ALL_THREE "\n");
    cr_expect_eq(fake_total(MBP_COUNT_operations), 1);
    cr_expect_eq(fake_total(MBP_COUNT_retries), 4);
    cr_expect_eq(fake_total(MBP_COUNT_driver_retries), 1);
    cr_expect_eq(fake_total(MBP_COUNT_overload_errors), 5);
    cr_expect_eq(fake_total(MBP_COUNT_tokens_consumed), 4 * MBP_TOKEN);
}

Test(fake_driver_retry, overload_only_in_the_drivers_retry)
{
    fake_expect(fake_linked, ACTIONS("linked:A", "run:A:10107w,462ro:W", "run:A:10107,462ro:R"),
        "A failed sends=6 error=17/462 'send 6 failed' reply=6 code=462" BOTH "\n"
        "A failed sends=6 error=17/462 'send 6 failed' reply=6 code=462" BOTH "\n");
    cr_expect_eq(fake_total(MBP_COUNT_operations), 2);
    cr_expect_eq(fake_total(MBP_COUNT_driver_retries), 2);
}

/* The last of six sends ends in an error that the driver would retry. */
Test(fake_driver_retry, used_up_by_another_error)
{
    fake_expect(fake_linked,
        ACTIONS("linked:A", "run:A:462ro,462ro,462ro,462ro,462ro,10107w:W",
            "run:A:462ro,462ro,462ro,462ro,462ro,10107:R"),
        "A failed sends=6 error=17/10107 'send 6 failed' reply=6 code=10107 "
        "labels=RetryableWriteError\n"
        "A failed sends=6 error=17/10107 'send 6 failed' reply=6 code=10107\n");
    cr_expect_eq(fake_total(MBP_COUNT_driver_retries), 0);
}

/* An empty bucket is for the driver's retries after overload, too. */
Test(fake_driver_retry, no_token_no_retry)
{
    fake_setenv("MONGOBP_CAPACITY", "1");
    fake_expect(fake_linked, ACTIONS("linked:A", "run:A:462row:W", "run:A:462row:W"),
        "A failed sends=2 error=17/462 'send 2 failed' reply=2 code=462" ALL_THREE "\n"
        "A failed sends=1 error=17/462 'send 1 failed' reply=1 code=462" ALL_THREE "\n");
    cr_expect_eq(fake_total(MBP_COUNT_refused_budget), 2);
}

Test(fake_driver_retry, success_in_the_drivers_retry)
{
    fake_expect(fake_linked, ACTIONS("linked:A", "run:A:10107w,ok:W", "run:A:10107,ok:R"),
        "A ok sends=2 reply=2\n"
        "A ok sends=2 reply=2\n");
    cr_expect_eq(fake_total(MBP_COUNT_operations), 2);
    cr_expect_eq(fake_total(MBP_COUNT_retry_successes), 2);
    cr_expect_eq(fake_total(MBP_COUNT_first_successes), 0);
    cr_expect_eq(fake_total(MBP_COUNT_driver_retries), 2);
    cr_expect_eq(fake_total(MBP_COUNT_tokens_consumed), 0);
}

/* Without overload the driver does as it always did. */
Test(fake_driver_retry, no_overload)
{
    fake_expect(fake_linked,
        ACTIONS("linked:A", "run:A:10107w:W", "run:A:10107:R", "run:A:11000:W"),
        "A failed sends=2 error=17/10107 'send 2 failed' reply=2 code=10107 "
        "labels=RetryableWriteError\n"
        "A failed sends=2 error=17/10107 'send 2 failed' reply=2 code=10107\n"
        "A failed sends=1 error=17/11000 'send 1 failed' reply=1 code=11000\n");
}

/* The driver wanted to retry and found no server. The next command lies where
 * that one lay, and is another one. */
Test(fake_driver_retry, next_command_starts_anew)
{
    fake_expect(fake_linked,
        ACTIONS("linked:A", "run:A:462ro,10107w,gone:W", "run:A:462ro:W", "run:A:462row:W",
            "run:A:ok:W"),
        "A failed sends=2 error=17/10107 'send 2 failed' reply=2 code=10107 "
        "labels=RetryableWriteError\n"
        "A failed sends=6 error=17/462 'send 6 failed' reply=6 code=462" BOTH "\n"
        "A failed sends=6 error=17/462 'send 6 failed' reply=6 code=462" ALL_THREE "\n"
        "A ok sends=1 reply=1\n");
    cr_expect_eq(fake_total(MBP_COUNT_operations), 4);
    cr_expect_eq(fake_total(MBP_COUNT_first_successes), 1);
    cr_expect_eq(fake_total(MBP_COUNT_driver_retries), 0);
}

/* Also where the command has its fields elsewhere, and where that is not known. */
Test(fake_driver_retry, other_versions)
{
    static const char *const versions[] = {
        "version:A:1.17.6", "version:A:1.30.4", "version:A:2.2.0", "version:A:1.99.0"};
    for (unsigned i = 0; i < sizeof versions / sizeof versions[0]; i++) {
        fake_expect(fake_linked,
            ACTIONS("linked:A", versions[i], "run:A:462ro,10107w,462row:W", "run:A:462ro,ok:W"),
            "A failed sends=6 error=17/462 'send 6 failed' reply=6 code=462" ALL_THREE "\n"
            "A ok sends=2 reply=2\n");
        cr_expect_eq(fake_total(MBP_COUNT_driver_retries), i + 1);
    }
}

Test(fake_driver_retry, observed)
{
    fake_setenv("MONGOBP_OBSERVE", "1");
    fake_expect(fake_linked, ACTIONS("linked:A", "run:A:462row:W", "run:A:10107:R"),
        "A failed sends=2 error=17/462 'send 2 failed' reply=2 code=462" ALL_THREE "\n"
        "A failed sends=2 error=17/10107 'send 2 failed' reply=2 code=10107\n");
    cr_expect_eq(fake_total(MBP_COUNT_retries), 0);
    cr_expect_eq(mbp_bucket_balance(&fake_segment().layout->bucket), 1000 * MBP_TOKEN);
}

Test(fake_driver_retry, disabled)
{
    fake_setenv("MONGOBP_DISABLE", "1");
    fake_expect(fake_linked, ACTIONS("linked:A", "run:A:462row:W"),
        "A failed sends=2 error=17/462 'send 2 failed' reply=2 code=462" ALL_THREE "\n");
    cr_expect_not(fake_has_segment());
}
