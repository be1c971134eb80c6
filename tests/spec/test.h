/*
 * One test of a file while it runs: its entities, the fail points it set, and its verdict. The
 * first verdict stands; everything that runs part of a test returns false once there is one.
 */
#ifndef SPEC_TEST_H
#define SPEC_TEST_H

#include "tests/spec/document.h"
#include "tests/spec/match.h"

enum verdict { PASSED, FAILED, NOT_APPLICABLE };

struct entity;
struct server;

struct test {
    struct server *server;
    struct entity *entities; /* the newest first */
    enum verdict verdict;
    char *reason;      /* what the verdict says: a cause, or the name of what is missing */
    bson_t failpoints; /* name: host it was set on */
    bool transacted;   /* a transaction was begun, and may have been left open */
};

void test_begin(struct test *test, struct server *server);
void test_end(struct test *test); /* frees what the test holds, but not its server */

/* Give the verdict and return false. */
bool fail(struct test *test, const char *format, ...) __attribute__((format(printf, 2, 3)));
bool not_applicable(struct test *test, const char *format, ...)
    __attribute__((format(printf, 2, 3)));

/* Fails on a key of doc that is not one of the words; what says what doc is. */
bool only_keys(struct test *test, const bson_t *doc, const char *what, const char *words);

/* A matcher that looks into the test's entities. */
struct match test_matcher(struct test *test);

#endif
