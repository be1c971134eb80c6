/*
 * Every kind of operation, rejected twice: with mongobp it succeeds, by three
 * sends and two tokens; without, the same program sees an error after one. A
 * driver that retries by itself must get as far with mongobp as without.
 */
#include "fixture.h"

#include <criterion/criterion.h>
#include <stdlib.h>

enum { STORED = 10 };

TestSuite(operations, .init = fixture_settings_for_any_driver, .fini = fixture_end);
TestSuite(operations_without_mongobp, .init = fixture_settings, .fini = fixture_end);

/* Returns whether the operation succeeded. What it did is checked elsewhere:
 * in a test, but not in the callers of an operation that is to fail. */
typedef bool operation_function(void);

static void rejected_twice(const char *command, operation_function *operation)
{
    fixture_connect();
    fixture_store(STORED);
    cr_assert(reject(.command = command, .times = 2));
    const struct counters before = counters_now();

    cr_expect(operation());

    expect_events(command, .started = 3, .succeeded = 1, .failed = 2);
    cr_expect_eq(watch_total().started, 3);
    cr_expect_eq(counters_since(&before).overload_errors, 2);
    if (!driver_retries_by_itself()) {
        expect_counters(&before, .operations = 1, .retries = 2, .retry_successes = 1,
            .overload_errors = 2, .tokens_consumed = 2000, .tokens_deposited = 1100);
    }
}

static void rejected_without_mongobp(const char *command, operation_function *operation)
{
    setenv("MONGOBP_DISABLE", "1", 1);
    fixture_connect();
    fixture_store(STORED);
    cr_assert(reject(.command = command, .times = 2));

    cr_expect_not(operation());

    expect_events(command, .started = 1, .failed = 1);
    cr_expect_eq(watch_total().started, 1);
}

/* Two tests for an operation: `outcome` holds afterwards, if it was done. */
#define OPERATION_TESTS(operation, command, outcome)                                               \
    Test(operations, operation)                                                                    \
    {                                                                                              \
        rejected_twice(command, operation);                                                        \
        cr_expect(outcome);                                                                        \
    }                                                                                              \
    Test(operations_without_mongobp, operation)                                                    \
    {                                                                                              \
        rejected_without_mongobp(command, operation);                                              \
    }

/* Whether there is no other document than what was stored at first. */
static bool untouched(void)
{
    return fixture_count("{}") == STORED;
}

static bool insert_one(void)
{
    return insert_number(STORED, NULL, NULL);
}
OPERATION_TESTS(
    insert_one, "insert", fixture_count("{}") == STORED + 1 && fixture_count("{'i': 10}") == 1)

static bool insert_many(void)
{
    const bson_t *documents[3];
    for (int i = 0; i < 3; i++) {
        documents[i] = BCON_NEW("i", BCON_INT32(STORED + i));
    }
    const bool ok =
        mongoc_collection_insert_many(fixture.collection, documents, 3, NULL, NULL, NULL);
    for (int i = 0; i < 3; i++) {
        bson_destroy((bson_t *)documents[i]);
    }
    return ok;
}
OPERATION_TESTS(insert_many, "insert",
    fixture_count("{}") == STORED + 3 && fixture_count("{'i': {'$gte': 10}}") == 3)

typedef bool update_function(mongoc_collection_t *collection, const bson_t *selector,
    const bson_t *update, const bson_t *opts, bson_t *reply, bson_error_t *error);

static bool update(update_function *function, const char *filter, const char *change)
{
    bson_t *selector = from_json(filter);
    bson_t *document = from_json(change);
    const bool ok = function(fixture.collection, selector, document, NULL, NULL, NULL);
    bson_destroy(selector);
    bson_destroy(document);
    return ok;
}

static bool update_one(void)
{
    return update(mongoc_collection_update_one, "{'i': 3}", "{'$inc': {'n': 1}}");
}
OPERATION_TESTS(update_one, "update", fixture_count("{'n': 1}") == 1 && untouched())

static bool update_many(void)
{
    return update(mongoc_collection_update_many, "{'i': {'$gte': 5}}", "{'$inc': {'n': 1}}");
}
OPERATION_TESTS(update_many, "update", fixture_count("{'n': 1}") == 5 && untouched())

static bool replace_one(void)
{
    return update(mongoc_collection_replace_one, "{'i': 3}", "{'i': 3, 'n': 1}");
}
OPERATION_TESTS(replace_one, "update", fixture_count("{'n': 1}") == 1 && untouched())

static bool delete_one(void)
{
    bson_t *selector = from_json("{'i': {'$gte': 5}}");
    const bool ok = mongoc_collection_delete_one(fixture.collection, selector, NULL, NULL, NULL);
    bson_destroy(selector);
    return ok;
}
OPERATION_TESTS(delete_one, "delete", fixture_count("{}") == STORED - 1)

static bool delete_many(void)
{
    bson_t *selector = from_json("{'i': {'$gte': 5}}");
    const bool ok = mongoc_collection_delete_many(fixture.collection, selector, NULL, NULL, NULL);
    bson_destroy(selector);
    return ok;
}
OPERATION_TESTS(delete_many, "delete", fixture_count("{}") == 5)

static bool find_and_modify(void)
{
    bson_t *query = from_json("{'i': 3}");
    bson_t *change = from_json("{'$inc': {'n': 1}}");
    const bool ok = mongoc_collection_find_and_modify(
        fixture.collection, query, NULL, change, NULL, false, false, true, NULL, NULL);
    bson_destroy(query);
    bson_destroy(change);
    return ok;
}
OPERATION_TESTS(find_and_modify, "findAndModify", fixture_count("{'n': 1}") == 1 && untouched())

/* Reads all of a cursor and destroys it; returns whether it had so many. */
static bool yields(mongoc_cursor_t *cursor, int count)
{
    const bson_t *document;
    while (mongoc_cursor_next(cursor, &document)) {
        count--;
    }
    const bool ok = !mongoc_cursor_error(cursor, NULL) && count == 0;
    mongoc_cursor_destroy(cursor);
    return ok;
}

static bool find(void)
{
    bson_t query = BSON_INITIALIZER;
    return yields(mongoc_collection_find_with_opts(fixture.collection, &query, NULL, NULL), STORED);
}
OPERATION_TESTS(find, "find", untouched())

static bool aggregate(void)
{
    fixture_need_aggregation();
    bson_t *pipeline = from_json("{'pipeline': [{'$match': {'i': {'$lt': 4}}}]}");
    const bool ok = yields(
        mongoc_collection_aggregate(fixture.collection, MONGOC_QUERY_NONE, pipeline, NULL, NULL),
        4);
    bson_destroy(pipeline);
    return ok;
}
OPERATION_TESTS(aggregate, "aggregate", untouched())

static bool aggregate_to_collection(void)
{
    fixture_need_aggregation();
    bson_t *pipeline = from_json("{'pipeline': [{'$set': {'n': 1}}, {'$out': 'things'}]}");
    const bool ok = yields(
        mongoc_collection_aggregate(fixture.collection, MONGOC_QUERY_NONE, pipeline, NULL, NULL),
        0);
    bson_destroy(pipeline);
    return ok;
}
OPERATION_TESTS(
    aggregate_to_collection, "aggregate", fixture_count("{'n': 1}") == STORED && untouched())

static bool count_documents(void)
{
    bson_t *filter = from_json("{'i': {'$lt': 4}}");
    const int64_t count =
        mongoc_collection_count_documents(fixture.collection, filter, NULL, NULL, NULL, NULL);
    bson_destroy(filter);
    return count == 4;
}
OPERATION_TESTS(count_documents, "aggregate", untouched())

static bool estimated_document_count(void)
{
    return mongoc_collection_estimated_document_count(fixture.collection, NULL, NULL, NULL, NULL) ==
           STORED;
}
OPERATION_TESTS(estimated_document_count, "count", untouched())

static bool distinct(void)
{
    bson_t *command = from_json("{'distinct': 'things', 'key': 'i'}");
    bson_t reply;
    bson_iter_t values;
    bson_iter_t value;
    int count = 0;
    const bool ok = mongoc_collection_read_command_with_opts(
        fixture.collection, command, NULL, NULL, &reply, NULL);
    if (ok && bson_iter_init_find(&values, &reply, "values") &&
        bson_iter_recurse(&values, &value)) {
        while (bson_iter_next(&value)) {
            count++;
        }
    }
    bson_destroy(&reply);
    bson_destroy(command);
    return ok && count == STORED;
}
OPERATION_TESTS(distinct, "distinct", untouched())

static bool create_indexes(void)
{
    bson_t *command =
        from_json("{'createIndexes': 'things', 'indexes': [{'key': {'i': 1}, 'name': 'by_i'}]}");
    const bool ok =
        mongoc_collection_write_command_with_opts(fixture.collection, command, NULL, NULL, NULL);
    bson_destroy(command);
    return ok;
}
OPERATION_TESTS(create_indexes, "createIndexes",
    fixture_admin_command(fixture.name, "{'dropIndexes': 'things', 'index': 'by_i'}"))

static bool list_indexes(void)
{
    return yields(mongoc_collection_find_indexes_with_opts(fixture.collection, NULL), 1);
}
OPERATION_TESTS(list_indexes, "listIndexes", untouched())

static bool list_collections(void)
{
    mongoc_database_t *database = mongoc_client_get_database(fixture.client, fixture.name);
    char **names = mongoc_database_get_collection_names_with_opts(database, NULL, NULL);
    const bool ok = names && names[0] && !names[1];
    bson_strfreev(names);
    mongoc_database_destroy(database);
    return ok;
}
OPERATION_TESTS(list_collections, "listCollections", untouched())

static bool list_databases(void)
{
    char **names = mongoc_client_get_database_names_with_opts(fixture.client, NULL, NULL);
    const bool ok = names && names[0];
    bson_strfreev(names);
    return ok;
}
OPERATION_TESTS(list_databases, "listDatabases", untouched())

static bool drop_collection(void)
{
    return mongoc_collection_drop_with_opts(fixture.collection, NULL, NULL);
}
OPERATION_TESTS(drop_collection, "drop", fixture_count("{}") == 0)

static bool run_command(const char *json)
{
    bson_t *command = from_json(json);
    const bool ok =
        mongoc_client_command_simple(fixture.client, fixture.name, command, NULL, NULL, NULL);
    bson_destroy(command);
    return ok;
}

static bool ping(void)
{
    return run_command("{'ping': 1}");
}
OPERATION_TESTS(ping, "ping", untouched())

static bool generic_command(void)
{
    return run_command("{'collStats': 'things'}");
}
OPERATION_TESTS(generic_command, "collStats", untouched())
