/*
 * What a run says: a line for each test while it goes on, a report in the Test Anything Protocol
 * for scripts, and a table at the end.
 */
#ifndef SPEC_REPORT_H
#define SPEC_REPORT_H

#include "tests/spec/test.h"

#include <stdio.h>

struct tally {
    char *folder;
    unsigned passed, failed, not_applicable;
};

struct report {
    FILE *tap; /* NULL: none is wanted */
    struct tally *tallies;
    size_t folders;
};

/* False, and a message, where the file can't be written; path may be NULL. */
bool report_open(struct report *report, const char *path);

/* From now on, results are those of this folder. */
void report_folder(struct report *report, const char *folder);

/* The result of one test; reason may be NULL if it passed. */
void report_result(
    struct report *report, enum verdict verdict, const char *name, const char *reason);

/* That nothing could be run, and why: no failure, but no success either. */
void report_not_run(struct report *report, const char *reason);

/* Prints the table; whether no test failed. Frees what the report holds. */
bool report_close(struct report *report);

#endif
