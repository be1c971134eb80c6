#include "tests/spec/results.h"

#include <stdio.h>

/* A count that different functions of the driver give by different names. */
static int64_t count_of(const bson_t *reply, const char *name, const char *other)
{
    return doc_int(reply, name, doc_int(reply, other, 0));
}

void append_id(bson_t *ids, uint32_t index, const bson_t *document)
{
    bson_iter_t id;
    char key[16];

    snprintf(key, sizeof key, "%u", index);
    if (doc_find(document, "_id", &id)) {
        doc_append(ids, key, &id);
    }
}

bool is_unacknowledged(const struct operation *operation)
{
    const mongoc_write_concern_t *concern =
        mongoc_collection_get_write_concern(operation->object->collection);
    const char *id = doc_text(&operation->arguments, "session", NULL);
    struct entity *session = id ? entity_find(operation->test, id) : NULL;
    bson_t given;

    /* What is written in a transaction is acknowledged; the concern is for its end. */
    if (session && session->session && mongoc_client_session_in_transaction(session->session)) {
        return false;
    }
    if (doc_view(&operation->opts, "writeConcern", &given) && doc_has(&given, "w")) {
        return doc_int(&given, "w", 1) == 0;
    }
    return concern && !mongoc_write_concern_is_acknowledged(concern);
}

/* [{index, _id}, ...] as {index: _id, ...}. */
static void append_upserted(bson_t *result, const bson_t *reply)
{
    bson_t ids, entry;
    bson_iter_t iter, id;
    char key[16];

    BSON_APPEND_DOCUMENT_BEGIN(result, "upsertedIds", &ids);
    for (doc_each(reply, "upserted", &iter); bson_iter_next(&iter);) {
        iter_view(&iter, &entry);
        snprintf(key, sizeof key, "%lld", (long long)doc_int(&entry, "index", 0));
        if (doc_find(&entry, "_id", &id)) {
            doc_append(&ids, key, &id);
        }
    }
    bson_append_document_end(result, &ids);
}

void result_bulk(struct operation *operation, const bson_t *ids)
{
    const bson_t *reply = &operation->reply;
    bson_t result = BSON_INITIALIZER;

    if (is_unacknowledged(operation)) {
        return;
    }
    BSON_APPEND_INT64(&result, "insertedCount", count_of(reply, "nInserted", "insertedCount"));
    BSON_APPEND_INT64(&result, "deletedCount", count_of(reply, "nRemoved", "deletedCount"));
    BSON_APPEND_INT64(&result, "matchedCount", count_of(reply, "nMatched", "matchedCount"));
    BSON_APPEND_INT64(&result, "modifiedCount", count_of(reply, "nModified", "modifiedCount"));
    BSON_APPEND_INT64(&result, "upsertedCount", count_of(reply, "nUpserted", "upsertedCount"));
    append_upserted(&result, reply);
    /* An error leaves open which of them were inserted. */
    if (!operation->failed) {
        BSON_APPEND_DOCUMENT(&result, "insertedIds", ids);
    }
    result_document(operation, &result);
    bson_destroy(&result);
}

void result_update(struct operation *operation)
{
    bson_t result = BSON_INITIALIZER;
    bson_iter_t id;

    if (is_unacknowledged(operation)) {
        return;
    }
    BSON_APPEND_INT64(&result, "matchedCount", doc_int(&operation->reply, "matchedCount", 0));
    BSON_APPEND_INT64(&result, "modifiedCount", doc_int(&operation->reply, "modifiedCount", 0));
    BSON_APPEND_INT64(&result, "upsertedCount", doc_has(&operation->reply, "upsertedId"));
    if (doc_find(&operation->reply, "upsertedId", &id)) {
        doc_append(&result, "upsertedId", &id);
    }
    result_document(operation, &result);
    bson_destroy(&result);
}

void result_delete(struct operation *operation)
{
    bson_t result = BSON_INITIALIZER;

    if (is_unacknowledged(operation)) {
        return;
    }
    BSON_APPEND_INT64(&result, "deletedCount", doc_int(&operation->reply, "deletedCount", 0));
    result_document(operation, &result);
    bson_destroy(&result);
}
