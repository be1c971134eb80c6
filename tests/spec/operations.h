/*
 * Operations: one table says which object has which operation, by which function it is run, and
 * which driver has it. An operation's function calls the driver and leaves the outcome in its
 * struct operation; whether that was expected is found out in one place, for all of them.
 */
#ifndef SPEC_OPERATIONS_H
#define SPEC_OPERATIONS_H

#include "tests/spec/entities.h"
#include "tests/spec/test.h"

struct operation {
    struct test *test;
    const char *name;
    struct entity *object;      /* NULL for the testRunner */
    bson_t arguments;           /* a view of the test file */
    bson_t opts;                /* the arguments that the function does not read itself */
    mongoc_read_prefs_t *prefs; /* arguments.readPreference, or NULL */

    /* The outcome. */
    bool failed; /* the driver returned an error */
    bson_error_t error;
    bson_t reply;           /* what the driver gave with it: labels, codes */
    bson_t result;          /* {v: value}, or empty where there is none */
    enum match_level level; /* how the result is matched */
    struct entity made;     /* cursor, stream or collection, for saveResultAsEntity */
};

/* Returns false only where the test has a verdict; an error of the driver is an outcome. */
typedef bool operation_function(struct operation *operation);

struct operation_row {
    enum kind kind;
    const char *name;
    operation_function *run; /* NULL: this driver has it not */
    const char *reads;       /* arguments that the function reads itself */
    const char *since;       /* the first driver that has it, or "none"; NULL: each one here */
};

/* The tables, one for each file of operations; ended by a row without a name. */
extern const struct operation_row runner_operations[], client_operations[], database_operations[],
    read_operations[], write_operations[], index_operations[], session_operations[],
    cursor_operations[], bucket_operations[], client_bulk_operations[], assert_operations[],
    encryption_operations[];

/* Runs one operation of a test file and checks its outcome, which stays for operation_end. */
bool operation_run(struct test *test, const bson_t *definition, struct operation *operation);
void operation_end(struct operation *operation);

/* Runs all operations of an array, until the first whose outcome is not the expected one. */
bool operations_run(struct test *test, const bson_t *owner, const char *key);

/* Before a test is run: whether each operation of an array is one that this driver has. */
bool operations_available(struct test *test, const bson_t *owner, const char *key);

/* ---- for the functions that run operations --------------------------------------------------- */

/* An argument that is a document (or an array), and must be there. */
bool argument_view(struct operation *operation, const char *name, bson_t *view);
const char *argument_text(struct operation *operation, const char *name);

/* Keeps the outcome of a call that returned ok, with what it left in operation->error. */
bool outcome(struct operation *operation, bool ok);

/* Sets the result; the value is copied. */
void result_document(struct operation *operation, const bson_t *value);
void result_iter(struct operation *operation, const bson_iter_t *value);

/* Reads a cursor to its end: all documents, or one field of each, are the result. Destroys it. */
bool result_rows(struct operation *operation, mongoc_cursor_t *cursor, const char *field);

/* Keeps the error of a cursor, if there is one, as the outcome. */
bool cursor_failed(struct operation *operation, mongoc_cursor_t *cursor);

/* The same for a list of strings, ended by NULL or NULL itself on error. Frees it. */
bool result_names(struct operation *operation, char **names);

/* Checks operation.expectError against the outcome, which is an error. */
bool error_check(struct operation *operation, const bson_t *expected);

#endif
