/*
 * The process that runs the tests of one folder, and the process that starts it, listens and
 * starts another where a test has ended it.
 */
#ifndef SPEC_WORKER_H
#define SPEC_WORKER_H

#include "tests/spec/folders.h"
#include "tests/spec/report.h"

struct worker_options {
    bool plain;           /* mongobp need not be at work */
    bool single_threaded; /* clients are not from a pool */
    const char *only;     /* tests whose name holds this text; NULL: all */
};

/*
 * What a worker says is a record, ended by a NUL: one of these letters, then a text. The name of a
 * test comes first, then its verdict with the reason.
 */
enum { SAYS_BEGIN = 'B', SAYS_PASSED = 'P', SAYS_FAILED = 'F', SAYS_NOT_APPLICABLE = 'N' };

/* As a worker: runs the tests from number `from` on and tells of them. Returns the exit status. */
int worker_run(
    const struct worker_options *options, const char *path, unsigned from, int descriptor);

/* Has workers run all tests of a folder. False where a signal asked for the end. */
bool supervise(
    const struct worker_options *options, const struct folder *folder, struct report *report);

#endif
