/*
 * Programs that were not made for these tests and are not changed for them:
 * rsyslog and syslog-ng store lines while the server rejects their first
 * inserts. Without mongobp these lines are lost, or the daemon crashes, as that
 * of Debian 11 does; with it, every line arrives exactly once and in order. So
 * it does either way where the driver retries by itself.
 */
#include "daemon.h"
#include "fixture.h"

#include "common/clock.h"
#include "tests/support/processes.h"
#include "tests/support/report.h"
#include "tests/support/run.h"
#include "tests/support/text.h"

#include <criterion/criterion.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>

enum { LINES = 50, MOST_STORED = 2 * LINES, PATIENCE_MS = 60000, URI_SIZE = 1024 };

static char *directory; /* for the daemon's files; one test a process */

static void remove_directory_and_end(void)
{
    run_remove_directory(directory);
    fixture_end();
}

TestSuite(daemons, .init = fixture_settings_for_any_driver, .fini = remove_directory_and_end,
    .timeout = 180);

/* As many as a driver that retries by itself gets over without help; one more
 * where it is mongobp that retries. */
static int rejections(void)
{
    return driver_retries_by_itself() ? 2 : 3;
}

/* What the collection holds: the number of each line, in the order stored. */
struct stored {
    int numbers[MOST_STORED];
    int count;
};

/* What came of one run. */
struct outcome {
    bool finished; /* the last line arrived */
    int status;    /* of the daemon, as from waitpid */
    char *output;
    int stored;
    int distinct;
    bool in_order;
    struct counters counters; /* of the daemon itself; 0 without mongobp */
};

static int number_of_line(const bson_t *document)
{
    bson_iter_t line;
    int number = 0;
    if (bson_iter_init_find(&line, document, "msg") && BSON_ITER_HOLDS_UTF8(&line)) {
        sscanf(bson_iter_utf8(&line, NULL), " line %d", &number);
    }
    return number;
}

static struct stored read_stored(const char *collection_name)
{
    struct stored stored = {.count = 0};
    bson_t query = BSON_INITIALIZER;
    const bson_t *document;
    mongoc_collection_t *collection =
        mongoc_client_get_collection(fixture.admin, fixture.name, collection_name);
    mongoc_cursor_t *cursor = mongoc_collection_find_with_opts(collection, &query, NULL, NULL);
    while (stored.count < MOST_STORED && mongoc_cursor_next(cursor, &document)) {
        stored.numbers[stored.count++] = number_of_line(document);
    }
    cr_assert_not(mongoc_cursor_error(cursor, NULL));
    mongoc_cursor_destroy(cursor);
    mongoc_collection_destroy(collection);
    return stored;
}

/* The daemons have one worker: when the last line is there, nothing is on its
 * way any more. */
static bool last_line_arrives(pid_t pid, const char *collection)
{
    const uint64_t limit_ms = mbp_clock_ms() + PATIENCE_MS;
    while (mbp_clock_ms() < limit_ms && !child_has_ended(pid)) {
        const struct stored stored = read_stored(collection);
        if (stored.count > 0 && stored.numbers[stored.count - 1] == LINES) {
            return true;
        }
        mbp_sleep_until_ms(mbp_clock_ms() + 50);
    }
    return false;
}

static void write_lines(const char *path)
{
    FILE *file = fopen(path, "we");
    cr_assert_not_null(file);
    for (int i = 1; i <= LINES; i++) {
        fprintf(file, "line %d\n", i);
    }
    fclose(file);
}

static void judge(const struct stored *stored, struct outcome *outcome)
{
    bool seen[LINES + 1] = {false};
    outcome->stored = stored->count;
    outcome->in_order = true;
    for (int i = 0; i < stored->count; i++) {
        const int number = stored->numbers[i];
        cr_assert(number >= 1 && number <= LINES, "line %d was never written", number);
        outcome->distinct += !seen[number];
        outcome->in_order &= i == 0 || number > stored->numbers[i - 1];
        seen[number] = true;
    }
}

/* The driver's own text of a URI leaves out what was set later: the name of the
 * application, by which the server knows whom to reject. */
static void write_uri(char uri[URI_SIZE])
{
    const char *server = getenv("MBP_TEST_URI");
    cr_assert_not_null(server);
    snprintf(
        uri, URI_SIZE, "%s%sappName=%s", server, strchr(server, '?') ? "&" : "/?", fixture.name);
}

static struct outcome run_daemon(daemon_start *start, bool with_mongobp)
{
    struct outcome outcome = {0};
    char input[256];
    char own_directory[256];
    char log[300];
    char command[64];
    char uri[URI_SIZE];
    const char *collection = with_mongobp ? "with" : "without";
    snprintf(own_directory, sizeof own_directory, "%s/%s", directory, collection);
    snprintf(input, sizeof input, "%s/lines", directory);
    snprintf(log, sizeof log, "%s/log", own_directory);
    cr_assert_eq(mkdir(own_directory, 0700), 0);
    write_lines(input);
    write_uri(uri);
    /* Made by one client: see scripts/demo. */
    snprintf(command, sizeof command, "{'create': '%s'}", collection);
    cr_assert(fixture_admin_command(fixture.name, command));
    cr_assert(reject(.command = "insert", .times = rejections()));
    const struct daemon_task task = {.directory = own_directory,
        .input = input,
        .uri = uri,
        .database = fixture.name,
        .collection = collection};

    const pid_t pid = start(&task, with_mongobp);
    outcome.finished = last_line_arrives(pid, collection);
    outcome.status = daemon_stop(pid);
    outcome.output = text_of_file(log);
    const struct stored stored = read_stored(collection);
    judge(&stored, &outcome);
    cr_expect_eq(counters_of_process(pid, &outcome.counters), with_mongobp);
    return outcome;
}

/* One row a daemon, for scripts/test to show. */
static void report(const char *program, const struct outcome *without, const struct outcome *with)
{
    report_line("program     lines  stored without  stored with  duplicates  rejections",
        "%-10s %6d %15d %12d %11d %11lld%s", program, LINES, without->stored, with->stored,
        with->stored - with->distinct, (long long)with->counters.overload_errors,
        WIFSIGNALED(without->status) ? "  (crashes without)" : "");
}

static void expect_loss(const struct outcome *outcome)
{
    const bool crashed = WIFSIGNALED(outcome->status);
    cr_expect(crashed || (outcome->finished && outcome->status == 0), "%s", outcome->output);
    cr_expect_eq(outcome->stored, crashed ? 0 : LINES - rejections());
    cr_expect_eq(outcome->distinct, outcome->stored);
}

static void expect_all_lines(const struct outcome *outcome)
{
    cr_expect_eq(outcome->status, 0, "status %d: %s", outcome->status, outcome->output);
    cr_expect(outcome->finished, "the last line is missing: %s", outcome->output);
    cr_expect_eq(outcome->stored, LINES);
    cr_expect_eq(outcome->distinct, LINES);
    cr_expect(outcome->in_order);
}

static void all_lines_arrive_with_mongobp(const char *program, daemon_start *start)
{
    directory = run_make_directory();
    unsetenv("MONGOBP_BASE_BACKOFF_MS");
    fixture_connect_admin();

    const struct outcome without = run_daemon(start, false);
    const struct outcome with = run_daemon(start, true);

    report(program, &without, &with);
    expect_all_lines(&with);
    cr_expect_eq(with.counters.overload_errors, rejections());
    if (driver_retries_by_itself()) {
        expect_all_lines(&without);
    } else {
        expect_loss(&without);
        cr_expect_eq(with.counters.retries, rejections());
        cr_expect_eq(with.counters.retry_successes, 1);
    }
    free(without.output);
    free(with.output);
}

Test(daemons, rsyslog)
{
    all_lines_arrive_with_mongobp("rsyslog", start_rsyslog);
}

Test(daemons, syslog_ng)
{
    all_lines_arrive_with_mongobp("syslog-ng", start_syslog_ng);
}
