/*
 * What a user gets to see: at most a line on standard error, never anything on
 * standard output, and nothing that was not meant for a log.
 */
#include "fake_host.h"

#include <criterion/criterion.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

TestSuite(fake_log, .init = fake_begin, .fini = fake_end, .timeout = 150);

static void expect_no_secret(const char *err)
{
    cr_expect_not(strstr(err, "secret"), "%s", err);
    cr_expect_not(strstr(err, "mongodb://"), "%s", err);
}

Test(fake_log, quiet_by_default)
{
    fake_expect(fake_linked, ACTIONS("linked:A", "run:A:462ro:re", "run:A:11000:re"),
        "A failed sends=6\n"
        "A failed sends=1\n");
}

Test(fake_log, one_line_for_each_retry)
{
    fake_setenv("MONGOBP_LOG", "info");
    const char *err = fake_run_host(
        fake_linked, ACTIONS("linked:A", "run:A:462ro,462ro,ok"), "A ok sends=3 reply=3\n");
    const char *second = strchr(err, '\n');
    cr_assert(second);
    second++;
    cr_expect_eq(fake_lines(err), 2, "%s", err);
    cr_expect_eq(strncmp(err, "mongobp[host_linked ", 20), 0, "%s", err);
    cr_expect(strstr(err, "] info: insert: "), "command: %s", err);
    cr_expect(strstr(err, "retry 1 in "), "attempt: %s", err);
    cr_expect(strstr(err, " ms"), "delay: %s", err);
    cr_expect(strstr(err, "999.000 tokens left"), "tokens: %s", err);
    cr_expect(strstr(second, "retry 2 in "), "attempt: %s", err);
    cr_expect(strstr(second, "998.000 tokens left"), "tokens: %s", err);
    expect_no_secret(err);
}

Test(fake_log, cause_of_each_retry)
{
    fake_setenv("MONGOBP_LOG", "info");
    const char *err = fake_run_host(
        fake_linked, ACTIONS("linked:A", "run:A:462ro,462r,ok"), "A ok sends=3 reply=3\n");
    char *lines = strdup(err);
    char *second = strchr(lines, '\n');
    cr_assert(second);
    *second++ = '\0';
    cr_expect(strcasestr(lines, "overload"), "%s", err);
    cr_expect_not(strcasestr(second, "overload"), "%s", err);
    cr_expect(strcasestr(second, "retryable"), "%s", err);
    free(lines);
}

Test(fake_log, cause_of_a_refusal)
{
    fake_setenv("MONGOBP_LOG", "info");
    const char *err =
        fake_run_host(fake_linked, ACTIONS("linked:A", "run:A:462ro:re"), "A failed sends=6\n");
    cr_expect_eq(fake_lines(err), 6, "%s", err);
    cr_expect(strstr(err, "not retried after 5 retries: attempts used up"), "%s", err);
}

Test(fake_log, never_a_body_or_a_uri)
{
    fake_setenv("MONGOBP_LOG", "debug");
    const char *err = fake_run_host(fake_linked,
        ACTIONS("linked:A", "run:A:462ro,462ron,11000:re", "run:A:462ro:r", "run:A:ok",
            "run:A:blank:re", "run:A:empty"),
        "A failed sends=3\n"
        "A failed sends=6 error=17/462 'send 6 failed'\n"
        "A ok sends=1 reply=1\n"
        "A failed sends=1\n"
        "A ok sends=1 reply=empty\n");
    cr_expect_geq(fake_lines(err), 8, "%s", err);
    expect_no_secret(err);
}

/* The private layout of a version that nobody knows is not looked at. */
Test(fake_log, no_name_from_an_unknown_version)
{
    fake_setenv("MONGOBP_LOG", "info");
    const char *err = fake_run_host(fake_linked,
        ACTIONS("linked:A", "version:A:1.9.9", "run:A:462ro,ok"), "A ok sends=2 reply=2\n");
    cr_expect_eq(fake_lines(err), 2, "%s", err);
    cr_expect(strstr(err, "libmongoc 1.9.9 is not known"), "%s", err);
    cr_expect_not(strstr(err, "insert"), "%s", err);
}

Test(fake_log, off_means_silence)
{
    fake_setenv("MONGOBP_LOG", "off");
    fake_setenv("MONGOBP_MAX_RETRIES", "lots");
    fake_setenv("MONGOBP_NONSENSE", "1");
    fake_expect(fake_linked, ACTIONS("linked:A", "run:A:462ro:re"), "A failed sends=6\n");
}

Test(fake_log, bad_values)
{
    static const struct {
        const char *name;
        const char *value;
    } cases[] = {
        {"MONGOBP_MAX_RETRIES", "lots"},
        {"MONGOBP_MAX_RETRIES", "5 "},
        {"MONGOBP_MAX_RETRIES", "0x5"},
        {"MONGOBP_MAX_RETRIES", "-1"},
        {"MONGOBP_MAX_RETRIES", "101"},
        {"MONGOBP_MAX_RETRIES", ""},
        {"MONGOBP_MAX_RETRIES", "99999999999999999999"},
        {"MONGOBP_CAPACITY", "0"},
        {"MONGOBP_RETURN_RATE", "0,1"},
        {"MONGOBP_DISABLE", "maybe"},
        {"MONGOBP_OBSERVE", "2"},
        {"MONGOBP_TIMEOUT_MS", "1s"},
        {"MONGOBP_MAX_BACKOFF_MS", "%s%n"},
        {"MONGOBP_LOG", "loud"},
    };
    for (unsigned i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        char named[128];
        snprintf(named, sizeof named, "%s=\"%s\"", cases[i].name, cases[i].value);
        fake_setenv(cases[i].name, cases[i].value);
        fake_expect_warning(fake_linked, ACTIONS("linked:A", "run:A:462ro:re", "run:A:ok"),
            "A failed sends=6\nA ok sends=1 reply=1\n", named);
        unsetenv(cases[i].name);
    }
}

/* What came from outside can't make up lines of its own. */
Test(fake_log, bad_value_with_a_line_break)
{
    fake_setenv("MONGOBP_MAX_RETRIES", "5\nmongobp[x 1] warning: made up\033[2J");
    fake_expect_warning(fake_linked, ACTIONS("linked:A", "run:A:462ro,ok"),
        "A ok sends=2 reply=2\n", "MONGOBP_MAX_RETRIES");
}

Test(fake_log, very_long_value)
{
    char value[4096];
    memset(value, '7', sizeof value - 1);
    value[sizeof value - 1] = '\0';
    fake_setenv("MONGOBP_MAX_RETRIES", value);
    fake_expect_warning(fake_linked, ACTIONS("linked:A", "run:A:462ro,ok"),
        "A ok sends=2 reply=2\n", "MONGOBP_MAX_RETRIES=\"7777");
}

Test(fake_log, unknown_variable)
{
    fake_setenv("MONGOBP_MAX_RETRYS", "0");
    fake_expect_warning(fake_linked, ACTIONS("linked:A", "run:A:462ro,ok"),
        "A ok sends=2 reply=2\n",
        "unknown variable MONGOBP_MAX_RETRYS is ignored; did you mean MONGOBP_MAX_RETRIES?");
}

Test(fake_log, complaints_are_not_repeated_by_a_child)
{
    fake_setenv("MONGOBP_MAX_RETRYS", "0");
    fake_expect_warning(fake_linked, ACTIONS("linked:A", "run:A:ok", "fork", "run:A:ok"),
        "A ok sends=1 reply=1\n"
        "child\n"
        "A ok sends=1 reply=1\n"
        "parent, child ended with 0\n"
        "A ok sends=1 reply=1\n",
        "MONGOBP_MAX_RETRYS");
}

/* Whatever is wrong with the segment: one warning, and a budget of its own. */
static void expect_private_budget(const char *reason)
{
    fake_expect_warning(fake_linked,
        ACTIONS("linked:A", "run:A:462ro,ok", "threads:A:4:5:462ro,ok", "fork", "run:A:462ro:re"),
        "A ok sends=2 reply=2\n"
        "A commands=20 ok=20 sends=40\n"
        "child\n"
        "A failed sends=6\n"
        "parent, child ended with 0\n"
        "A failed sends=6\n",
        reason);
}

static int make_segment_file(mode_t mode, off_t size)
{
    const int fd = open(fake_segment_path(), O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC, mode);
    cr_assert_geq(fd, 0);
    cr_assert_eq(fchmod(fd, mode), 0);
    cr_assert_eq(ftruncate(fd, size), 0);
    return fd;
}

Test(fake_log, segment_is_a_directory)
{
    cr_assert_eq(mkdir(fake_segment_path(), 0700), 0);
    expect_private_budget("can't open it");
}

Test(fake_log, segment_is_open_to_others)
{
    struct stat status;
    const int fd = make_segment_file(0666, sizeof(struct mbp_layout));
    expect_private_budget("mode 666");
    cr_expect_eq(fstat(fd, &status), 0);
    cr_expect_eq(status.st_blocks, 0, "it was written to");
    close(fd);
}

Test(fake_log, segment_has_another_size)
{
    struct stat status;
    const int fd = make_segment_file(0600, 100);
    expect_private_budget("its size is 100");
    cr_expect_eq(fstat(fd, &status), 0);
    cr_expect_eq(status.st_size, 100);
    close(fd);
}

Test(fake_log, segment_is_something_else)
{
    const int fd = make_segment_file(0600, sizeof(struct mbp_layout));
    char byte = 0;
    cr_assert_eq(pwrite(fd, "not ours", 8, 0), 8);
    expect_private_budget("it is not a segment of mongobp");
    cr_expect_eq(pread(fd, &byte, 1, offsetof(struct mbp_layout, bucket)), 1);
    cr_expect_eq(byte, 0, "it was written to");
    close(fd);
}

/* Root, who may write to anything, is refused what is somebody else's. */
Test(fake_log, segment_that_may_not_be_written)
{
    const int fd = make_segment_file(0400, sizeof(struct mbp_layout));
    cr_assert(geteuid() != 0 || fchown(fd, 65534, 65534) == 0);
    fake_expect_warning(fake_linked, ACTIONS("linked:A", "run:A:462ro,ok"),
        "A ok sends=2 reply=2\n", "this process has a budget of its own");
    close(fd);
}

/* What follows makes the library say something as often as it can. */
static void be_noisy(void)
{
    fake_setenv("MONGOBP_LOG", "debug");
    fake_setenv("MONGOBP_NONSENSE", "1");
}

Test(fake_log, standard_error_is_closed)
{
    be_noisy();
    fake_expect(fake_linked, ACTIONS("linked:A", "close2", "run:A:462ro,ok", "run:A:462ro:re"),
        "A ok sends=2 reply=2\n"
        "A failed sends=6\n");
    cr_expect_eq(fake_total(MBP_COUNT_operations), 2);
}

Test(fake_log, standard_error_is_a_connection)
{
    be_noisy();
    fake_expect(fake_linked,
        ACTIONS("linked:A", "socket2:inet", "run:A:462ro,ok", "run:A:462ro:re", "heard2"),
        "A ok sends=2 reply=2\n"
        "A failed sends=6\n"
        "heard 0 bytes\n");
}

/* A driver's connection may be one of these, too. */
Test(fake_log, standard_error_is_a_unix_socket)
{
    be_noisy();
    fake_expect(fake_linked, ACTIONS("linked:A", "socket2:unix", "run:A:462ro,ok", "heard2"),
        "A ok sends=2 reply=2\n"
        "heard 0 bytes\n");
}

Test(fake_log, reader_of_standard_error_has_gone)
{
    be_noisy();
    fake_expect(
        fake_linked, ACTIONS("linked:A", "pipe2:gone", "run:A:462ro,ok"), "A ok sends=2 reply=2\n");
}

Test(fake_log, reader_of_standard_error_sleeps)
{
    be_noisy();
    fake_expect(
        fake_linked, ACTIONS("linked:A", "pipe2:full", "run:A:462ro,ok"), "A ok sends=2 reply=2\n");
}
