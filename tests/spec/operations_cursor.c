/* Operations of cursors and change streams. */
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
    {TEST_RUNNER, NULL, NULL, NULL, NULL},
};
