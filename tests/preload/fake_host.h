/*
 * Runs the program that uses the fake driver (tests/programs/host_fake.c) under
 * the library, with a bucket of the test's own, and looks at what came of it.
 */
#ifndef MBP_FAKE_HOST_H
#define MBP_FAKE_HOST_H

#include "common/segment.h"
#include "tests/support/run.h"

/* For .init and .fini of every test here. */
void fake_begin(void);
void fake_end(void);

/* Settings and their values in place for the rest of the test's runs. */
void fake_setenv(const char *name, const char *value);

/* The program that is linked with the driver, or the one that is not. */
extern const char *fake_linked;
extern const char *fake_dlopen;

/* A list of actions. "@fake", "@fake-b" and "@fake-bare" in them stand for the
 * paths of the driver's copies, "@mongobp" for the library's. */
#define ACTIONS(...) ((const char *const[]){__VA_ARGS__, NULL})

/* Runs a program, which must end well and print just `out`. Returns what it
 * wrote to standard error; valid until the next call. */
const char *fake_run_host(const char *program, const char *const actions[], const char *out);

/* The same where standard error must stay empty. */
void fake_expect(const char *program, const char *const actions[], const char *out);

/* The same where it must be one line with `warning` in it. */
void fake_expect_warning(
    const char *program, const char *const actions[], const char *out, const char *warning);

/* How many lines a text has; the last one must be whole. */
unsigned fake_lines(const char *text);

/* The test's segment, mapped; there must be one. */
struct mbp_segment fake_segment(void);

/* Whether there is one at all. */
bool fake_has_segment(void);

/* The path of the segment, for a test that spoils it. */
const char *fake_segment_path(void);

/* Its counter, over all slots. */
uint64_t fake_total(enum mbp_counter counter);

#endif
