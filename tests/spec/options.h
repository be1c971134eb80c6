/*
 * The common options of the format (read and write concern, read preference, transactions), made
 * into what the driver takes.
 */
#ifndef SPEC_OPTIONS_H
#define SPEC_OPTIONS_H

#include "tests/spec/test.h"

/*
 * The read preference at options.readPreference, or NULL where there is none. Whoever calls
 * destroys it. Fails the test where it is malformed.
 */
mongoc_read_prefs_t *read_preference(struct test *test, const bson_t *options);

/* The same for options.readConcern and options.writeConcern. */
mongoc_read_concern_t *read_concern(const bson_t *options);
mongoc_write_concern_t *write_concern(const bson_t *options);

/* The options of a transaction that options holds, or NULL where it holds none. */
mongoc_transaction_opt_t *transaction_options(struct test *test, const bson_t *options);

/*
 * Appends to opts, in the driver's form, all options but those whose name is one of the words:
 * the session by its id, the write concern in the server's terms, others as they are.
 */
bool driver_options(struct test *test, const bson_t *options, const char *words, bson_t *opts);

#endif
