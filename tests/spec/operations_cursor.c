/* Operations of cursors and change streams, and those that open a change stream. */
#include "tests/spec/operations.h"

#include <string.h>
#include <time.h>

/* The format sets no limit; this one turns a test that would never end into a failure. */
#define PATIENCE_S 30

/* One step. Returns whether it brought a document; the outcome is an error where that was met. */
static bool step(struct operation *operation)
{
    struct entity *entity = operation->object;
    const bson_t *document, *reply = NULL;

    if (entity->peeked) {
        result_document(operation, entity->peeked);
        bson_destroy(entity->peeked);
        entity->peeked = NULL;
        return true;
    }
    if (entity->kind == CURSOR ? mongoc_cursor_next(entity->cursor, &document)
                               : mongoc_change_stream_next(entity->stream, &document)) {
        result_document(operation, document);
        return true;
    }
    if (entity->kind == CURSOR) {
        cursor_failed(operation, entity->cursor);
    } else {
        operation->failed =
            mongoc_change_stream_error_document(entity->stream, &operation->error, &reply);
    }
    if (reply) {
        bson_concat(&operation->reply, reply);
    }
    return false;
}

static bool is_open(struct operation *operation)
{
    return operation->object->cursor || operation->object->stream ||
           fail(operation->test, "'%s' is closed", operation->object->id);
}

static bool run_iterate_until(struct operation *operation)
{
    time_t end = time(NULL) + PATIENCE_S;

    if (!is_open(operation)) {
        return false;
    }
    while (!step(operation) && !operation->failed) {
        if (operation->object->kind == CURSOR && !mongoc_cursor_more(operation->object->cursor)) {
            return fail(operation->test, "the cursor is exhausted");
        }
        if (time(NULL) > end) {
            return fail(operation->test, "no document within %d s", PATIENCE_S);
        }
    }
    return true;
}

static bool run_iterate_once(struct operation *operation)
{
    if (!is_open(operation)) {
        return false;
    }
    step(operation);
    return true;
}

static mongoc_change_stream_t *watch(struct operation *operation, const bson_t *pipeline)
{
    const struct entity *object = operation->object;

    switch (object->kind) {
    case CLIENT:
        return mongoc_client_watch(object->client, pipeline, &operation->opts);
    case DATABASE:
        return mongoc_database_watch(object->database, pipeline, &operation->opts);
    default:
        return mongoc_collection_watch(object->collection, pipeline, &operation->opts);
    }
}

static bool run_watch(struct operation *operation)
{
    const bson_t *reply = NULL;
    bson_t pipeline;

    if (!argument_view(operation, "pipeline", &pipeline)) {
        return false;
    }
    /* Earlier drivers send it as an option of the aggregate, which the server refuses. */
    if (!MONGOC_CHECK_VERSION(1, 24, 0) && doc_has(&operation->opts, "showExpandedEvents")) {
        return not_applicable(operation->test, "showExpandedEvents");
    }
    operation->made.stream = watch(operation, &pipeline);
    operation->failed =
        mongoc_change_stream_error_document(operation->made.stream, &operation->error, &reply);
    if (reply) {
        bson_concat(&operation->reply, reply);
    }
    return true;
}

static bool run_close(struct operation *operation)
{
    entity_close(operation->test, operation->object);
    return true;
}

const struct operation_row cursor_operations[] = {
    {CURSOR, "close", run_close, "", NULL},
    {CURSOR, "iterateOnce", run_iterate_once, "", NULL},
    {CURSOR, "iterateUntilDocumentOrError", run_iterate_until, "", NULL},
    {CHANGE_STREAM, "close", run_close, "", NULL},
    {CHANGE_STREAM, "iterateOnce", run_iterate_once, "", NULL},
    {CHANGE_STREAM, "iterateUntilDocumentOrError", run_iterate_until, "", NULL},
    {CLIENT, "createChangeStream", run_watch, "pipeline", NULL},
    {DATABASE, "createChangeStream", run_watch, "pipeline", NULL},
    {COLLECTION, "createChangeStream", run_watch, "pipeline", NULL},
    {TEST_RUNNER, NULL, NULL, NULL, NULL},
};
