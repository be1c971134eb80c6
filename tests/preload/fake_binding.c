/*
 * Which driver a command belongs to, however that driver got into the program.
 */
#include "fake_host.h"

#include <criterion/criterion.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

TestSuite(fake_binding, .init = fake_begin, .fini = fake_end, .timeout = 150);

#define TWICE "462ro,ok" /* a command that needs one retry */

Test(fake_binding, linked)
{
    fake_expect(fake_linked, ACTIONS("linked:A", "run:A:ok", "run:A:" TWICE),
        "A ok sends=1 reply=1\n"
        "A ok sends=2 reply=2\n");
    cr_expect_eq(fake_total(MBP_COUNT_operations), 2);
    cr_expect_eq(fake_total(MBP_COUNT_retries), 1);
}

Test(fake_binding, opened_local)
{
    fake_expect(fake_dlopen, ACTIONS("open:A:local:@fake", "run:A:" TWICE, "run:A:ok"),
        "A ok sends=2 reply=2\n"
        "A ok sends=1 reply=1\n");
    cr_expect_eq(fake_total(MBP_COUNT_retries), 1);
}

Test(fake_binding, opened_global)
{
    fake_expect(fake_dlopen, ACTIONS("open:A:global:@fake", "run:A:" TWICE, "run:A:ok"),
        "A ok sends=2 reply=2\n"
        "A ok sends=1 reply=1\n");
    cr_expect_eq(fake_total(MBP_COUNT_retries), 1);
}

/* No retry happens in a copy that a command was not given to. */
Test(fake_binding, two_copies_one_linked)
{
    fake_expect(fake_linked,
        ACTIONS("linked:A", "open:B:local:@fake-b", "version:B:1.17.6", "run:A:" TWICE,
            "run:B:462ro,462ro,ok", "run:A:ok", "run:B:ok", "sends:A", "sends:B"),
        "A ok sends=2 reply=2\n"
        "B ok sends=3 reply=3\n"
        "A ok sends=1 reply=1\n"
        "B ok sends=1 reply=1\n"
        "A saw 3\n"
        "B saw 4\n");
    cr_expect_eq(fake_total(MBP_COUNT_operations), 4);
}

Test(fake_binding, two_copies_opened)
{
    fake_expect(fake_dlopen,
        ACTIONS("open:A:local:@fake", "open:B:local:@fake-b", "run:B:" TWICE,
            "run:A:462ro,462ro,ok", "sends:A", "sends:B"),
        "B ok sends=2 reply=2\n"
        "A ok sends=3 reply=3\n"
        "A saw 3\n"
        "B saw 2\n");
}

Test(fake_binding, two_copies_one_global)
{
    fake_expect(fake_dlopen,
        ACTIONS("open:A:global:@fake", "open:B:local:@fake-b", "run:A:" TWICE,
            "run:B:462ro,462ro,ok", "sends:A", "sends:B"),
        "A ok sends=2 reply=2\n"
        "B ok sends=3 reply=3\n"
        "A saw 2\n"
        "B saw 3\n");
}

/* Of two copies, one may retry by itself. */
Test(fake_binding, each_copy_has_a_version)
{
    fake_expect(fake_dlopen,
        ACTIONS("open:A:local:@fake", "open:B:local:@fake-b", "version:A:2.5.7", "run:A:" TWICE,
            "run:B:" TWICE, "run:A:" TWICE ":2", "run:B:" TWICE ":2"),
        "A failed sends=1 error=17/462 'send 1 failed' reply=1 code=462 "
        "labels=RetryableError,SystemOverloadedError\n"
        "B ok sends=2 reply=2\n"
        "A failed sends=1 error=17/462 'send 1 failed' reply=1 code=462 "
        "labels=RetryableError,SystemOverloadedError\n"
        "B ok sends=2 reply=2\n");
}

Test(fake_binding, closed_and_opened_again)
{
    fake_expect(fake_dlopen,
        ACTIONS("open:A:local:@fake", "run:A:" TWICE, "close:A", "open:A:local:@fake",
            "run:A:" TWICE, "close:A", "open:A:global:@fake", "run:A:" TWICE, "sends:A", "close:A"),
        "A ok sends=2 reply=2\n"
        "A ok sends=2 reply=2\n"
        "A ok sends=2 reply=2\n"
        "A saw 2\n");
}

/* The other copy most likely lands where the first one was. */
Test(fake_binding, closed_and_another_opened)
{
    fake_expect(fake_dlopen,
        ACTIONS("open:A:local:@fake", "run:A:" TWICE, "close:A", "open:B:local:@fake-b",
            "run:B:" TWICE, "open:A:local:@fake", "run:A:" TWICE, "close:B", "run:A:" TWICE,
            "sends:A"),
        "A ok sends=2 reply=2\n"
        "B ok sends=2 reply=2\n"
        "A ok sends=2 reply=2\n"
        "A ok sends=2 reply=2\n"
        "A saw 4\n");
}

Test(fake_binding, closed_while_another_is_linked)
{
    fake_expect(fake_linked,
        ACTIONS("linked:A", "open:B:local:@fake-b", "run:B:" TWICE, "close:B",
            "open:B:local:@fake-b", "run:B:" TWICE, "run:A:" TWICE, "sends:A", "sends:B"),
        "B ok sends=2 reply=2\n"
        "B ok sends=2 reply=2\n"
        "A ok sends=2 reply=2\n"
        "A saw 2\n"
        "B saw 2\n");
}

Test(fake_binding, second_call_site)
{
    fake_expect(fake_dlopen,
        ACTIONS("open:A:local:@fake", "run:A:" TWICE, "run:A:" TWICE ":2", "run:A:" TWICE),
        "A ok sends=2 reply=2\n"
        "A ok sends=2 reply=2\n"
        "A ok sends=2 reply=2\n");
}

/* A compiler may turn the driver's last call into a jump: then the call seems
 * to come from the program. */
Test(fake_binding, reached_by_a_jump_linked)
{
    fake_expect(fake_linked, ACTIONS("linked:A", "run:A:" TWICE ":j", "run:A:ok:j"),
        "A ok sends=2 reply=2\n"
        "A ok sends=1 reply=1\n");
}

Test(fake_binding, reached_by_a_jump_opened_global)
{
    fake_expect(
        fake_dlopen, ACTIONS("open:A:global:@fake", "run:A:ok:j"), "A ok sends=1 reply=1\n");
}

Test(fake_binding, reached_by_a_jump_opened_local)
{
    fake_expect(fake_dlopen, ACTIONS("open:A:local:@fake", "run:A:ok:j"), "A ok sends=1 reply=1\n");
}

#define BARE_FAILED "A failed sends=1 error=17/462 'send 1 failed' reply=84 bytes\n"

Test(fake_binding, missing_symbol)
{
    fake_expect_warning(fake_dlopen,
        ACTIONS("open:A:local:@fake-bare", "run:A:462ro", "run:A:ok", "run:A:462ro:2",
            "run:A:462ro:re", "threads:A:4:20:ok"),
        BARE_FAILED "A ok sends=1 reply=13 bytes\n" BARE_FAILED "A failed sends=1\n"
                    "A commands=80 ok=80 sends=80\n",
        "the driver has no bson_destroy");
    cr_expect_not(fake_has_segment());
}

/* The warning is not repeated for each of its call sites, and another driver,
 * which is complete, doesn't suffer. */
Test(fake_binding, missing_symbol_beside_a_complete_driver)
{
    fake_expect_warning(fake_dlopen,
        ACTIONS("open:A:local:@fake-bare", "open:B:local:@fake", "run:A:462ro", "run:B:" TWICE,
            "run:A:462ro:2", "run:B:" TWICE ":2"),
        BARE_FAILED "B ok sends=2 reply=2\n" BARE_FAILED "B ok sends=2 reply=2\n",
        "the driver has no bson_destroy");
}

Test(fake_binding, missing_symbol_with_the_log_off)
{
    fake_setenv("MONGOBP_LOG", "off");
    fake_expect(fake_dlopen, ACTIONS("open:A:local:@fake-bare", "run:A:462ro"), BARE_FAILED);
}

#define PASSED_THROUGH                                                                             \
    "A failed sends=1 error=17/462 'send 1 failed' reply=1 code=462 "                              \
    "labels=RetryableError,SystemOverloadedError\n"

Test(fake_binding, version_that_retries_by_itself)
{
    fake_expect(fake_linked,
        ACTIONS("linked:A", "version:A:2.5.7", "run:A:" TWICE, "run:A:ok", "run:A:" TWICE ":2"),
        PASSED_THROUGH "A ok sends=1 reply=1\n" PASSED_THROUGH);
}

Test(fake_binding, version_that_retries_by_itself_is_told)
{
    fake_setenv("MONGOBP_LOG", "info");
    const char *err = fake_run_host(fake_linked,
        ACTIONS("linked:A", "version:A:2.5.7", "run:A:" TWICE, "run:A:" TWICE ":2"),
        PASSED_THROUGH PASSED_THROUGH);
    cr_expect_eq(fake_lines(err), 1, "%s", err);
    cr_expect(strstr(err, "libmongoc 2.5.7"), "%s", err);
}

Test(fake_binding, versions_around_the_change)
{
    static const struct {
        const char *version;
        bool retries;
    } cases[] = {
        {"1.17.6", true},
        {"1.30.4", true},
        {"2.0.0", true},
        {"2.2.9", true},
        {"2.3.0", false},
        {"2.10.0", false},
        {"3.0.0", false},
        {"2.5.7-20251118+gitabcdef", false},
    };
    for (unsigned i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        char version[64];
        snprintf(version, sizeof version, "version:A:%s", cases[i].version);
        fake_expect(fake_linked, ACTIONS("linked:A", version, "run:A:" TWICE),
            cases[i].retries ? "A ok sends=2 reply=2\n" : PASSED_THROUGH);
    }
}

Test(fake_binding, version_nobody_knows)
{
    static const char *const versions[] = {"", "banana", "2", "2.", "..", "-3.5", "1.99999999999",
        "99999999999999999999999.1", "\xff\xfe%s%n",
        "a version that is longer than any place where it might be written down"};
    fake_setenv("MONGOBP_LOG", "info"); /* the log needs the version, too */
    for (unsigned i = 0; i < sizeof versions / sizeof versions[0]; i++) {
        char version[128];
        snprintf(version, sizeof version, "version:A:%s", versions[i]);
        fake_run_host(fake_linked, ACTIONS("linked:A", version, "run:A:" TWICE, "run:A:ok"),
            "A ok sends=2 reply=2\nA ok sends=1 reply=1\n");
    }
}

Test(fake_binding, version_is_noted_in_the_slot)
{
    fake_expect(
        fake_linked, ACTIONS("linked:A", "version:A:1.17.6", "run:A:ok"), "A ok sends=1 reply=1\n");
    const struct mbp_slot *slot = &fake_segment().layout->slots[0];
    cr_expect_str_eq(slot->driver_version, "1.17.6");
    cr_expect_str_eq(slot->program, "host_linked");
}

Test(fake_binding, library_listed_twice)
{
    char *library = run_built("libmongobp.so");
    char *preload = run_preload(library);
    char twice[8192];
    snprintf(twice, sizeof twice, "%s:%s", strchr(preload, '=') + 1, library);
    fake_setenv("LD_PRELOAD", twice);
    fake_expect(fake_linked, ACTIONS("linked:A", "run:A:462ro"),
        "A failed sends=6 error=17/462 'send 6 failed' reply=6 code=462 "
        "labels=RetryableError,SystemOverloadedError\n");
    cr_expect_eq(fake_total(MBP_COUNT_operations), 1);
    free(preload);
    free(library);
}

Test(fake_binding, library_opened_again)
{
    fake_expect(fake_dlopen,
        ACTIONS("library:@mongobp", "library:@mongobp", "open:A:local:@fake", "run:A:462ro"),
        "A failed sends=6 error=17/462 'send 6 failed' reply=6 code=462 "
        "labels=RetryableError,SystemOverloadedError\n");
    cr_expect_eq(fake_total(MBP_COUNT_operations), 1);
}

/* Without a preload: a program may open the library before the driver. */
Test(fake_binding, library_opened_instead_of_preloaded)
{
    char *preload = run_preload(NULL);
    fake_setenv("LD_PRELOAD", strchr(preload, '=') + 1);
    free(preload);
    fake_expect(fake_dlopen, ACTIONS("library:@mongobp", "open:A:local:@fake", "run:A:" TWICE),
        "A ok sends=2 reply=2\n");
}

Test(fake_binding, without_the_library)
{
    char *preload = run_preload(NULL);
    fake_setenv("LD_PRELOAD", strchr(preload, '=') + 1);
    free(preload);
    fake_expect(fake_linked, ACTIONS("linked:A", "run:A:" TWICE), PASSED_THROUGH);
    cr_expect_not(fake_has_segment());
}
