/*
 * For the tests that call mongobp as a user would, each in a directory of its
 * own.
 */
#ifndef MBP_TEST_COMMAND_SUPPORT_H
#define MBP_TEST_COMMAND_SUPPORT_H

#include "tests/support/run.h"

#include <sys/types.h>

/* Of the running test; made before it and removed after it. */
extern char *directory;

void command_begin(void);
void command_end(void);

/* Takes over the result. `err` is a part of standard error, NULL: it is empty. */
void expect(struct run_result result, int status, const char *out, const char *err);

/* Refused by mongobp itself, and the program was not run. */
#define EXPECT_REFUSED(result, err) expect(result, 125, "", err)

/* A path in the test's directory; the last few stay valid. */
const char *in_directory(const char *name);

const char *make_file(const char *name, const void *content, size_t size, mode_t mode);
const char *make_script(const char *name, const char *text);

/* Runs it with the directory as $1. */
void shell(const char *command);

#endif
