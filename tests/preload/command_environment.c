/*
 * What mongobp run does to the environment of the program.
 */
#include "command_support.h"

#include <criterion/criterion.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

TestSuite(command_environment, .init = command_begin, .fini = command_end);

/* LD_PRELOAD as the program sees it, where it was `existing` before. */
static char *preload_given(const char *existing)
{
    char *preload = run_preload(existing[0] ? existing : NULL);
    struct run_result result = run_mongobp(
        ENVIRONMENT("run", "sh", "-c", "printf %s \"$LD_PRELOAD\""), ENVIRONMENT(preload));
    cr_expect_eq(result.status, 0, "%s", result.err);
    free(preload);
    free(result.err);
    return result.out;
}

/* Where the entry is in the list; valgrind puts entries of its own before. */
static long place_of(const char *list, const char *entry)
{
    const char *found = strstr(list, entry);
    return found ? found - list : -1;
}

static unsigned times_in(const char *list, const char *entry)
{
    unsigned times = 0;
    for (const char *at = list; (at = strstr(at, entry)); at++) {
        times++;
    }
    return times;
}

Test(command_environment, library_comes_before_other_preloads)
{
    char *library = run_built("libmongobp.so");
    char *list = preload_given("");
    cr_expect_eq(times_in(list, library), 1, "%s", list);
    free(list);
    list = preload_given("libm.so.6 libdl.so.2");
    cr_expect(place_of(list, library) >= 0, "%s", list);
    cr_expect(place_of(list, library) < place_of(list, "libm.so.6"), "%s", list);
    cr_expect(place_of(list, "libm.so.6") < place_of(list, "libdl.so.2"), "%s", list);
    free(list);
    free(library);
}

Test(command_environment, library_is_not_preloaded_twice)
{
    char *library = run_built("libmongobp.so");
    char existing[1200];
    snprintf(existing, sizeof existing, "libm.so.6:%s", library);
    char *list = preload_given(existing);
    cr_expect_eq(times_in(list, "libmongobp.so"), 1, "%s", list);
    cr_expect(place_of(list, library) < place_of(list, "libm.so.6"), "%s", list);
    free(list);
    free(library);
}

Test(command_environment, sanitizer_stays_first)
{
    char *library = run_built("libmongobp.so");
    char existing[1200];
    shell("gcc -shared -o $1/libtsan.so.9 -x c /dev/null");
    snprintf(existing, sizeof existing, "%s/libtsan.so.9:libm.so.6", directory);
    char *list = preload_given(existing);
    cr_expect(place_of(list, "libtsan.so.9") < place_of(list, library), "%s", list);
    cr_expect(place_of(list, library) < place_of(list, "libm.so.6"), "%s", list);
    free(list);
    free(library);
}

Test(command_environment, preloads_of_any_length)
{
    enum { ENTRIES = 1000 };
    static const char entry[] = "libm.so.6:";
    const size_t length = sizeof entry - 1;
    char existing[ENTRIES * sizeof entry] = "";
    for (size_t i = 0; i < ENTRIES; i++) {
        memcpy(existing + i * length, entry, length);
    }
    char *list = preload_given(existing);
    cr_expect_eq(times_in(list, "libm.so.6"), ENTRIES);
    cr_expect_eq(times_in(list, "libmongobp.so"), 1);
    free(list);
}

Test(command_environment, settings_are_passed_on)
{
    const char *const arguments[] = {"run", "--set", "MAX_RETRIES=3", "--set=MONGOBP_LOG=debug",
        "--set", "BUCKET=other", "--", "sh", "-c",
        "echo $MONGOBP_MAX_RETRIES $MONGOBP_LOG $MONGOBP_BUCKET", NULL};
    expect(run_mongobp(arguments, ENVIRONMENT("MONGOBP_BUCKET=mine")), 0, "3 debug other\n", NULL);
}

Test(command_environment, bad_settings_are_refused)
{
    EXPECT_REFUSED(RUN_MONGOBP("run", "--set", "MAX_RETRIS=3", "echo", "x"),
        "unknown setting MAX_RETRIS; did you mean MONGOBP_MAX_RETRIES?");
    EXPECT_REFUSED(RUN_MONGOBP("run", "--set", "MAX_RETRIES=many", "echo", "x"),
        "MONGOBP_MAX_RETRIES=\"many\" is not a whole number");
    EXPECT_REFUSED(RUN_MONGOBP("run", "--set", "MAX_RETRIES", "echo", "x"), "NAME=VALUE");
    EXPECT_REFUSED(RUN_MONGOBP("run", "--set"), "NAME=VALUE");
}
