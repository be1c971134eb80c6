/*
 * mongobp's own counters, read from the shared memory as `mongobp status`
 * does. Tests compare what an operation added to them.
 */
#ifndef MBP_TEST_COUNTERS_H
#define MBP_TEST_COUNTERS_H

#include "common/counters.h"

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

/* Tokens are in thousandths, as they are stored. */
struct counters {
#define X(name, unit, meaning) int64_t name;
    MBP_COUNTERS(X)
#undef X
};

/* Maps the segment; false where there is none that is good. */
bool counters_open(const char *segment_name);

/* Of all processes that use the segment. */
struct counters counters_now(void);

struct counters counters_since(const struct counters *before);

/* What the process has counted, of which the slot must not have been taken by
 * another since; false where it has no slot. */
bool counters_of_process(pid_t pid, struct counters *counters);

/* The total of the counter of that name; fails the test where there is none. */
int64_t counter_named(const char *name);

/* The balance of the bucket, in thousandths. */
int64_t tokens_left(void);

#define COUNTERS_TEXT_SIZE 1024

/* Whether just this was added, backoff_ms apart, which depends on chance; and
 * whether the bucket's balance went along. If not, `text` says what differs. */
bool counters_match(
    const struct counters *before, const struct counters *want, char text[COUNTERS_TEXT_SIZE]);

/* expect_counters(&before, .operations = 1, .first_successes = 1); */
#define expect_counters(before, ...)                                                               \
    do {                                                                                           \
        char text_[COUNTERS_TEXT_SIZE];                                                            \
        const struct counters want_ = {__VA_ARGS__};                                               \
        cr_expect(counters_match(before, &want_, text_), "%s", text_);                             \
    } while (0)

#endif
