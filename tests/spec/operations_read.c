/* Operations of a collection that read. */
#include "tests/spec/operations.h"

#include <string.h>

/* A find by the arguments and options; NULL where it has no filter, which fails the test. */
static mongoc_cursor_t *open_find(struct operation *operation)
{
    const char *type = doc_text(&operation->arguments, "cursorType", "nonTailable");
    bson_t filter;

    if (!argument_view(operation, "filter", &filter)) {
        return NULL;
    }
    if (strcmp(type, "nonTailable") != 0) {
        BSON_APPEND_BOOL(&operation->opts, "tailable", true);
    }
    if (strcmp(type, "tailableAwait") == 0) {
        BSON_APPEND_BOOL(&operation->opts, "awaitData", true);
    }
    return mongoc_collection_find_with_opts(
        operation->object->collection, &filter, &operation->opts, operation->prefs);
}

static bool run_find(struct operation *operation)
{
    mongoc_cursor_t *cursor = open_find(operation);

    return cursor && result_rows(operation, cursor, NULL);
}

/* The driver has no findOne: programs ask for one document in one batch. */
static bool run_find_one(struct operation *operation)
{
    mongoc_cursor_t *cursor;
    const bson_t *document;

    BSON_APPEND_INT64(&operation->opts, "limit", 1);
    BSON_APPEND_BOOL(&operation->opts, "singleBatch", true);
    cursor = open_find(operation);
    if (!cursor) {
        return false;
    }
    if (mongoc_cursor_next(cursor, &document)) {
        result_document(operation, document);
    } else if (!cursor_failed(operation, cursor)) {
        BSON_APPEND_NULL(&operation->result, "v");
    }
    mongoc_cursor_destroy(cursor);
    return true;
}

/* A cursor does nothing before it is read, so its first document is read and kept. */
static bool run_create_find_cursor(struct operation *operation)
{
    mongoc_cursor_t *cursor = open_find(operation);
    const bson_t *document;

    if (!cursor) {
        return false;
    }
    if (mongoc_cursor_next(cursor, &document)) {
        operation->made.peeked = bson_copy(document);
    }
    cursor_failed(operation, cursor);
    operation->made.cursor = cursor;
    return true;
}

/* Debian 13's driver takes the full name of a collection for a database's, and refuses before
 * anything is sent. */
static bool is_refused(mongoc_cursor_t *cursor)
{
    bson_error_t error;

    return mongoc_cursor_error(cursor, &error) && error.domain == MONGOC_ERROR_NAMESPACE &&
           strstr(error.message, "database name");
}

static bool run_aggregate(struct operation *operation)
{
    bson_t pipeline;
    mongoc_cursor_t *cursor;

    if (!argument_view(operation, "pipeline", &pipeline)) {
        return false;
    }
    cursor = mongoc_collection_aggregate(operation->object->collection, MONGOC_QUERY_NONE,
        &pipeline, &operation->opts, operation->prefs);
    if (is_refused(cursor)) {
        mongoc_cursor_destroy(cursor);
        return not_applicable(operation->test,
            "aggregate of a collection, which libmongoc %s refuses", mongoc_get_version());
    }
    return result_rows(operation, cursor, NULL);
}

static bool keep_count(struct operation *operation, int64_t count)
{
    if (count >= 0) {
        BSON_APPEND_INT64(&operation->result, "v", count);
    }
    return outcome(operation, count >= 0);
}

static bool run_count_documents(struct operation *operation)
{
    bson_t filter;
    int64_t count;

    if (!argument_view(operation, "filter", &filter)) {
        return false;
    }
    bson_destroy(&operation->reply);
    count = mongoc_collection_count_documents(operation->object->collection, &filter,
        &operation->opts, operation->prefs, &operation->reply, &operation->error);
    return keep_count(operation, count);
}

static bool run_estimated_document_count(struct operation *operation)
{
    int64_t count;

    bson_destroy(&operation->reply);
    count = mongoc_collection_estimated_document_count(operation->object->collection,
        &operation->opts, operation->prefs, &operation->reply, &operation->error);
    return keep_count(operation, count);
}

/* ---- commands for which the driver has no function of its own ------------------------------- */

/* As a read command of the collection, which the driver retries as it does its own reads. */
static bool run_read_command(struct operation *operation, bson_t *command, const char *field)
{
    bson_iter_t iter;
    bool ok;

    bson_destroy(&operation->reply);
    ok = mongoc_collection_read_command_with_opts(operation->object->collection, command,
        operation->prefs, &operation->opts, &operation->reply, &operation->error);
    if (ok && doc_find(&operation->reply, field, &iter)) {
        result_iter(operation, &iter);
    }
    bson_destroy(command);
    return outcome(operation, ok);
}

static bson_t *new_command(struct operation *operation, const char *name)
{
    bson_t *command = bson_new();

    BSON_APPEND_UTF8(command, name, mongoc_collection_get_name(operation->object->collection));
    return command;
}

static bool run_count(struct operation *operation)
{
    bson_t *command = new_command(operation, "count"), filter;

    doc_view(&operation->arguments, "filter", &filter);
    BSON_APPEND_DOCUMENT(command, "query", &filter);
    return run_read_command(operation, command, "n");
}

static bool run_distinct(struct operation *operation)
{
    const char *field = argument_text(operation, "fieldName");
    bson_t *command, filter;

    if (!field) {
        return false;
    }
    command = new_command(operation, "distinct");
    BSON_APPEND_UTF8(command, "key", field);
    doc_view(&operation->arguments, "filter", &filter);
    BSON_APPEND_DOCUMENT(command, "query", &filter);
    return run_read_command(operation, command, "values");
}

/* Not through the driver's retries, because mapReduce may write. */
static bool run_map_reduce(struct operation *operation)
{
    bson_t *command = new_command(operation, "mapReduce");
    bson_iter_t iter;
    bool ok;

    doc_append_others(command, &operation->opts, "sessionId");
    bson_destroy(&operation->reply);
    ok = mongoc_collection_command_simple(operation->object->collection, command, operation->prefs,
        &operation->reply, &operation->error);
    if (ok && doc_find(&operation->reply, "results", &iter)) {
        result_iter(operation, &iter);
    }
    bson_destroy(command);
    operation->level = MATCH_ROWS;
    return outcome(operation, ok);
}

const struct operation_row read_operations[] = {
    {COLLECTION, "aggregate", run_aggregate, "pipeline", NULL},
    {COLLECTION, "count", run_count, "filter", NULL},
    {COLLECTION, "countDocuments", run_count_documents, "filter", NULL},
    {COLLECTION, "createFindCursor", run_create_find_cursor, "filter cursorType", NULL},
    {COLLECTION, "distinct", run_distinct, "fieldName filter", NULL},
    {COLLECTION, "estimatedDocumentCount", run_estimated_document_count, "", NULL},
    {COLLECTION, "find", run_find, "filter cursorType", NULL},
    {COLLECTION, "findOne", run_find_one, "filter", NULL},
    {COLLECTION, "mapReduce", run_map_reduce, "", NULL},
    {TEST_RUNNER, NULL, NULL, NULL, NULL},
};
