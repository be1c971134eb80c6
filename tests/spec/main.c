/*
 * Runs tests in MongoDB's unified test format over the driver, with mongobp preloaded.
 *
 *   spec [OPTION]... [PATH]...
 *
 * A PATH is a test file or a folder with such files somewhere in it; without one it is
 * $MONGOBP_SPEC_TESTS, or ../shared/spec-tests beside the sources. The server is $MBP_TEST_URI.
 */
#include "tests/spec/selfcheck.h"
#include "tests/spec/worker.h"

#include <getopt.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const char help[] =
    "usage: spec [OPTION]... [PATH]...\n"
    "  --tap=FILE          write a report in the Test Anything Protocol\n"
    "  --only=TEXT         tests whose FILE::DESCRIPTION holds the text\n"
    "  --single-threaded   clients are not from a pool\n"
    "  --plain             without mongobp: what the driver does by itself\n"
    "  --jobs=N, --color=WHEN, --verbose=N are accepted and change nothing\n";

enum { TAP = 1, ONLY, SINGLE_THREADED, PLAIN, FROM, REPORT, IGNORED, HELP };

static const struct option known_options[] = {
    {"tap", required_argument, NULL, TAP},
    {"only", required_argument, NULL, ONLY},
    {"single-threaded", no_argument, NULL, SINGLE_THREADED},
    {"plain", no_argument, NULL, PLAIN},
    {"from", required_argument, NULL, FROM},     /* of a worker */
    {"report", required_argument, NULL, REPORT}, /* of a worker: makes it one */
    {"jobs", required_argument, NULL, IGNORED},
    {"color", required_argument, NULL, IGNORED},
    {"verbose", required_argument, NULL, IGNORED},
    {"help", no_argument, NULL, HELP},
    {NULL, 0, NULL, 0},
};

struct options {
    struct worker_options worker;
    const char *tap;
    unsigned from;
    int report;
};

static void parse(struct options *options, int count, char **arguments)
{
    int option;

    *options = (struct options){.report = -1};
    while ((option = getopt_long(count, arguments, "", known_options, NULL)) != -1) {
        switch (option) {
        case TAP:
            options->tap = optarg;
            break;
        case ONLY:
            options->worker.only = optarg;
            break;
        case SINGLE_THREADED:
            options->worker.single_threaded = true;
            break;
        case PLAIN:
            options->worker.plain = true;
            break;
        case FROM:
            options->from = (unsigned)strtoul(optarg, NULL, 10);
            break;
        case REPORT:
            options->report = (int)strtol(optarg, NULL, 10);
            break;
        case IGNORED:
            break;
        default:
            fputs(help, option == HELP ? stdout : stderr);
            exit(option == HELP ? EXIT_SUCCESS : 2);
        }
    }
}

/* Where the tests are, unless arguments say so; freed by bson_free. */
static char *default_path(void)
{
    const char *given = getenv("MONGOBP_SPEC_TESTS"), *root = getenv("MBP_SOURCE_ROOT");

    return given && *given ? bson_strdup(given)
                           : bson_strdup_printf("%s/../shared/spec-tests", root ? root : ".");
}

static int run_all(const struct options *options, const struct folders *folders)
{
    struct report report;
    bool all = true;

    if (!report_open(&report, options->tap)) {
        return EXIT_FAILURE;
    }
    selfcheck(&report);
    for (size_t i = 0; all && i < folders->count; i++) {
        all = supervise(&options->worker, &folders->list[i], &report);
    }
    const bool passed = report_close(&report);
    return all && passed ? EXIT_SUCCESS : EXIT_FAILURE;
}

/* No failure of mongobp's, so the status says nothing of the kind; the report says the rest. */
static int run_nothing(const struct options *options, const char *path)
{
    struct report report;
    char *reason = bson_strdup_printf("there are no test files in %s; set MONGOBP_SPEC_TESTS to a "
                                      "folder of them, such as source/client-backpressure/tests in "
                                      "a checkout of github.com/mongodb/specifications",
        path);

    if (report_open(&report, options->tap)) {
        report_not_run(&report, reason);
    }
    bson_free(reason);
    return EXIT_SUCCESS;
}

int main(int count, char **arguments)
{
    struct options options;
    struct folders folders = {NULL, 0};
    int status;

    parse(&options, count, arguments);
    if (options.report >= 0) {
        return worker_run(&options.worker, arguments[optind], options.from, options.report);
    }
    char *path = default_path();
    if (optind == count) {
        folders_find(&folders, path);
    }
    for (int i = optind; i < count; i++) {
        folders_find(&folders, arguments[i]);
    }
    if (folders.count > 0) {
        status = run_all(&options, &folders);
    } else {
        status = run_nothing(&options, optind < count ? arguments[optind] : path);
    }
    folders_free(&folders);
    bson_free(path);
    return status;
}
