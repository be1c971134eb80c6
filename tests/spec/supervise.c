#include "common/segment.h"
#include "tests/spec/worker.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

static volatile sig_atomic_t asked_to_end;

static void on_signal(int number)
{
    asked_to_end = number;
}

/* Without SA_RESTART: reading from a worker has to stop at once. */
static void listen_to_signals(void)
{
    static const int ends[] = {SIGINT, SIGTERM, SIGHUP};
    const struct sigaction action = {.sa_handler = on_signal};

    for (size_t i = 0; i < sizeof ends / sizeof *ends; i++) {
        sigaction(ends[i], &action, NULL);
    }
}

/* ---- the worker's process ------------------------------------------------------------------ */

/* A budget of the run's own, gone after each folder: neither another run nor the folder before can
 * have emptied it. */
static void bucket_name(char bucket[32], pid_t supervisor)
{
    snprintf(bucket, 32, "spec-%d", (int)supervisor);
}

static _Noreturn void become_worker(const struct worker_options *options,
    const struct folder *folder, unsigned from, int descriptor, pid_t supervisor)
{
    char program[4096], number[32], report[32], only[512], bucket[32];
    const ssize_t length = readlink("/proc/self/exe", program, sizeof program - 1);
    const char *arguments[10] = {"spec"};
    size_t count = 1;

    prctl(PR_SET_PDEATHSIG, SIGKILL);
    if (length < 0 || getppid() != supervisor) {
        _exit(EXIT_FAILURE);
    }
    program[length] = '\0';
    bucket_name(bucket, supervisor);
    setenv("MONGOBP_BUCKET", bucket, 1);
    setenv("MONGOBP_PROFILE", folder_profile(folder->path), 1);
    /* The tests are about which commands are sent, not when; at full length they take minutes. */
    setenv("MONGOBP_BASE_BACKOFF_MS", "1", 1);
    snprintf(number, sizeof number, "--from=%u", from);
    snprintf(report, sizeof report, "--report=%d", descriptor);
    arguments[count++] = number;
    arguments[count++] = report;
    if (options->plain) {
        arguments[count++] = "--plain";
    }
    if (options->single_threaded) {
        arguments[count++] = "--single-threaded";
    }
    if (options->only) {
        snprintf(only, sizeof only, "--only=%s", options->only);
        arguments[count++] = only;
    }
    arguments[count] = folder->path;
    execv(program, (char *const *)arguments);
    _exit(127);
}

/* The new process and where it reports, or -1. */
static pid_t start_worker(const struct worker_options *options, const struct folder *folder,
    unsigned from, FILE **reports)
{
    const pid_t self = getpid();
    int ends[2];

    if (pipe2(ends, O_CLOEXEC) != 0) {
        return -1;
    }
    fflush(stdout);
    const pid_t pid = fork();
    if (pid == 0) {
        fcntl(ends[1], F_SETFD, 0);
        become_worker(options, folder, from, ends[1], self);
    }
    close(ends[1]);
    *reports = fdopen(ends[0], "r");
    return pid;
}

/* ---- listening to it ----------------------------------------------------------------------- */

/* Passes on what the worker says; counts finished tests. The name of one that is not finished
 * stays in `name`, which is NULL otherwise. */
static void hear(
    FILE *reports, struct report *report, const char *folder, unsigned *finished, char **name)
{
    char *record = NULL;
    size_t size = 0;

    while (!asked_to_end && getdelim(&record, &size, '\0', reports) > 0) {
        const char letter = *record;
        if (letter == SAYS_BEGIN) {
            *name = bson_strdup_printf("%s/%s", folder, record + 1);
            continue;
        }
        report_result(report,
            letter == SAYS_PASSED   ? PASSED
            : letter == SAYS_FAILED ? FAILED
                                    : NOT_APPLICABLE,
            *name ? *name : "?", record + 1);
        bson_free(*name);
        *name = NULL;
        ++*finished;
    }
    free(record);
}

/* How a worker ended that should not have. */
static void describe_end(char *text, size_t size, int status)
{
    if (WIFSIGNALED(status)) {
        snprintf(text, size, "the process was ended by a signal: %s", strsignal(WTERMSIG(status)));
    } else {
        snprintf(text, size, "the process ended with status %d", WEXITSTATUS(status));
    }
}

/* The driver's own counters, which stay where a process could not remove them itself. */
static void remove_counters(pid_t pid)
{
    char name[32];

    snprintf(name, sizeof name, "/mongoc-%d", (int)pid);
    shm_unlink(name);
}

/* Whether another worker has to go on where this one ended. */
static bool run_worker(const struct worker_options *options, const struct folder *folder,
    struct report *report, unsigned *finished)
{
    FILE *reports = NULL;
    char *name = NULL, how[128];
    int status = 0;
    const pid_t pid = start_worker(options, folder, *finished, &reports);

    if (pid < 0 || !reports) {
        report_result(report, FAILED, folder->name, strerror(errno));
        return false;
    }
    hear(reports, report, folder->name, finished, &name);
    fclose(reports);
    if (asked_to_end) {
        kill(pid, SIGKILL);
    }
    while (waitpid(pid, &status, 0) < 0 && errno == EINTR) {
    }
    remove_counters(pid);
    const bool in_a_test = name != NULL, failed = status != 0 && !asked_to_end;
    if (failed || (in_a_test && !asked_to_end)) {
        describe_end(how, sizeof how, status);
        report_result(report, FAILED, in_a_test ? name : folder->name, how);
    }
    bson_free(name);
    *finished += in_a_test;
    return in_a_test && !asked_to_end;
}

static void remove_segment(void)
{
    char bucket[32], name[MBP_SEGMENT_NAME_SIZE];

    bucket_name(bucket, getpid());
    mbp_segment_name(name, geteuid(), bucket);
    shm_unlink(name);
}

bool supervise(
    const struct worker_options *options, const struct folder *folder, struct report *report)
{
    unsigned finished = 0;

    listen_to_signals();
    report_folder(report, folder->name);
    while (run_worker(options, folder, report, &finished)) {
    }
    remove_segment();
    return !asked_to_end;
}
