#include "tests/spec/report.h"

#include <stdlib.h>
#include <string.h>

bool report_open(struct report *report, const char *path)
{
    memset(report, 0, sizeof *report);
    if (path && !(report->tap = fopen(path, "we"))) {
        perror(path);
        return false;
    }
    return true;
}

void report_folder(struct report *report, const char *folder)
{
    const size_t size = (report->folders + 1) * sizeof *report->tallies;

    report->tallies = bson_realloc(report->tallies, size);
    report->tallies[report->folders++] = (struct tally){.folder = bson_strdup(folder)};
}

/* A line of the protocol ends with the line, and a # begins a directive. */
static void put_flat(FILE *stream, const char *text)
{
    for (; *text; text++) {
        fputc(*text == '\n' || *text == '#' ? ' ' : *text, stream);
    }
}

static void put_tap(FILE *tap, const char *begin, const char *name, const char *skipped)
{
    fputs(begin, tap);
    put_flat(tap, name);
    if (skipped) {
        fputs(" # SKIP ", tap);
        put_flat(tap, skipped);
    }
    fputc('\n', tap);
    fflush(tap);
}

void report_result(
    struct report *report, enum verdict verdict, const char *name, const char *reason)
{
    struct tally *tally = &report->tallies[report->folders - 1];
    const bool passed = verdict == PASSED, failed = verdict == FAILED;
    const char *mark = passed ? "PASS" : failed ? "FAIL" : "SKIP";

    tally->passed += passed;
    tally->failed += failed;
    tally->not_applicable += !passed && !failed;
    if (passed) {
        printf("[%s] %s\n", mark, name);
    } else {
        printf("[%s] %s: %s\n", mark, name, reason);
    }
    fflush(stdout);
    if (report->tap) {
        put_tap(
            report->tap, failed ? "not ok - " : "ok - ", name, passed || failed ? NULL : reason);
    }
}

void report_not_run(struct report *report, const char *reason)
{
    static const char name[] = "spec::NOT RUN";

    printf("[SKIP] %s: %s\n", name, reason);
    if (report->tap) {
        fputs("1..1\n", report->tap);
        put_tap(report->tap, "ok - ", name, reason);
        fclose(report->tap);
    }
}

static void put_row(const char *name, int width, const struct tally *tally)
{
    printf("%-*s %7u %7u %7u %15u\n", width, name,
        tally->passed + tally->failed + tally->not_applicable, tally->passed, tally->failed,
        tally->not_applicable);
}

bool report_close(struct report *report)
{
    struct tally sum = {0};
    int width = (int)strlen("folder");

    for (size_t i = 0; i < report->folders; i++) {
        const int length = (int)strlen(report->tallies[i].folder);
        width = length > width ? length : width;
        sum.passed += report->tallies[i].passed;
        sum.failed += report->tallies[i].failed;
        sum.not_applicable += report->tallies[i].not_applicable;
    }
    printf("\n%-*s %7s %7s %7s %15s\n", width, "folder", "tests", "passed", "failed",
        "not applicable");
    for (size_t i = 0; i < report->folders; i++) {
        put_row(report->tallies[i].folder, width, &report->tallies[i]);
        bson_free(report->tallies[i].folder);
    }
    if (report->folders > 1) {
        put_row("all", width, &sum);
    }
    bson_free(report->tallies);
    if (report->tap) {
        fprintf(report->tap, "1..%u\n", sum.passed + sum.failed + sum.not_applicable);
        fclose(report->tap);
    }
    return sum.failed == 0;
}
