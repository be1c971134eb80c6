/*
 * For tests that run programs as a user would, and look at what comes out.
 * Needs libc alone. What can't go wrong in a sane test run (no memory, no
 * processes) ends the test with a message.
 */
#ifndef MBP_TEST_RUN_H
#define MBP_TEST_RUN_H

#include <stdbool.h>
#include <stddef.h>

struct run_result {
    int status; /* the exit status; 128 + signal where one ended it */
    char *out;  /* standard output, with a NUL after it */
    size_t out_size;
    char *err; /* standard error, the same */
    size_t err_size;
};

/* Runs argv[0], looked up on PATH, and waits for it. Its environment is this
 * process's with the given changes: "NAME=VALUE" sets, "NAME" removes. Both
 * lists end with NULL; `environment` may be NULL. Standard input is empty. A
 * program that takes minutes is ended by SIGALRM. Free the result. */
struct run_result run_command(const char *const argv[], const char *const environment[]);

/* The same with the arguments in line; the environment unchanged. */
#define RUN(...) run_command((const char *const[]){__VA_ARGS__, NULL}, NULL)

/* A list of changes for run_command, in line. */
#define ENVIRONMENT(...) ((const char *const[]){__VA_ARGS__, NULL})

void run_result_free(struct run_result *result);

/* The absolute path of something built: `name` under $MBP_BUILD_DIR, which is
 * "build" unless set. Free it. */
char *run_built(const char *name);

/* "LD_PRELOAD=" with the sanitizer's runtime that this very program uses, if
 * any, then the given library, if not NULL. A library built with a sanitizer
 * can't be loaded into a plain program otherwise. Free it. */
char *run_preload(const char *library);

/* Whether valgrind runs this program and those that it starts. It executes
 * scripts in its own way, and no setuid programs. */
bool run_under_valgrind(void);

/* Runs the `mongobp` that was built, with these arguments. Where the tests are
 * built with a sanitizer and `environment` has no LD_PRELOAD, its runtime is
 * preloaded. */
struct run_result run_mongobp(const char *const arguments[], const char *const environment[]);

/* The same with the arguments in line; the environment unchanged. */
#define RUN_MONGOBP(...) run_mongobp((const char *const[]){__VA_ARGS__, NULL}, NULL)

/* A new empty directory; and its end, with all that is in it. */
char *run_make_directory(void);

void run_remove_directory(char *path);

#endif
