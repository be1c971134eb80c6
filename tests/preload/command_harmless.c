/*
 * A program that never runs a MongoDB command doesn't notice the library.
 */
#include "common/segment.h"
#include "tests/support/run.h"

#include <criterion/criterion.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static void expect_same(const struct run_result *without, const struct run_result *with)
{
    cr_expect_eq(with->status, without->status, "status %d, not %d: %s", with->status,
        without->status, with->err);
    cr_expect_str_eq(with->out, without->out);
    cr_expect_str_eq(with->err, without->err);
    cr_expect_eq(with->out_size, without->out_size);
}

/* Runs it without and with the library, which is named to the loader directly. */
static void expect_unnoticed(const char *const argv[])
{
    char bucket[MBP_BUCKET_NAME_MAX + 1];
    char variable[MBP_BUCKET_NAME_MAX + 32];
    char name[MBP_SEGMENT_NAME_SIZE];
    char path[MBP_SEGMENT_NAME_SIZE + 16];
    char *library = run_built("libmongobp.so");
    char *plain = run_preload(NULL);
    char *preload = run_preload(library);
    snprintf(bucket, sizeof bucket, "test-harmless-%ld", (long)getpid());
    snprintf(variable, sizeof variable, "MONGOBP_BUCKET=%s", bucket);
    mbp_segment_name(name, geteuid(), bucket);
    snprintf(path, sizeof path, "/dev/shm%s", name);

    /* Leaks of other people's programs are not what a sanitizer is here for. */
    struct run_result without =
        run_command(argv, ENVIRONMENT(plain, variable, "ASAN_OPTIONS=detect_leaks=0"));
    struct run_result with =
        run_command(argv, ENVIRONMENT(preload, variable, "ASAN_OPTIONS=detect_leaks=0"));
    expect_same(&without, &with);
    cr_expect(access(path, F_OK) != 0, "%s made shared memory", argv[0]);

    run_result_free(&without);
    run_result_free(&with);
    free(preload);
    free(plain);
    free(library);
}

#define EXPECT_UNNOTICED(...) expect_unnoticed((const char *const[]){__VA_ARGS__, NULL})

static bool exists(const char *command)
{
    struct run_result result = RUN("sh", "-c", "command -v \"$0\"", command);
    const bool found = result.status == 0;
    run_result_free(&result);
    return found;
}

Test(command_harmless, true_and_false)
{
    EXPECT_UNNOTICED("/bin/true");
    EXPECT_UNNOTICED("/bin/false");
}

Test(command_harmless, ls)
{
    EXPECT_UNNOTICED("/bin/ls", "-l", "common");
    EXPECT_UNNOTICED("/bin/ls", "/no/such/place");
}

Test(command_harmless, an_interpreter)
{
    if (exists("python3")) {
        EXPECT_UNNOTICED("python3", "-c", "");
        EXPECT_UNNOTICED("python3", "-c", "import sys; print(1); sys.exit(5)");
    }
    if (exists("perl")) {
        EXPECT_UNNOTICED("perl", "-e", "");
        EXPECT_UNNOTICED("perl", "-e", "print STDERR 1; exit 5");
    }
}

/* A wrong setting is worth a warning only where it would matter. */
Test(command_harmless, wrong_settings_are_no_concern_of_other_programs)
{
    EXPECT_UNNOTICED("env", "MONGOBP_NONSENSE=1", "MONGOBP_LOG=9", "/bin/true");
}
