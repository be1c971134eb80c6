/*
 * A test file, and how one of its tests is run from beginning to end.
 */
#ifndef SPEC_FILE_H
#define SPEC_FILE_H

#include "tests/spec/server.h"

struct test_file {
    bson_t *document; /* NULL where it could not be read */
    bool foreign;     /* JSON, but not in this format */
    char problem[640];
};

/* Reads a file; where that fails, problem says why. */
void file_open(struct test_file *file, const char *path);
void file_close(struct test_file *file);

/* Runs the test and leaves its verdict in `test`, which the caller has begun and ends. */
void file_run_test(const struct test_file *file, const bson_t *definition, struct test *test);

#endif
