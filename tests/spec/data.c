/* What the collections of a test hold, before it and after it. */
#include "tests/spec/server.h"

#include <stdio.h>
#include <string.h>

/* Runs {name: collection, ...others, writeConcern: majority}. */
static bool run_on(struct test *test, const char *database, const char *name,
    const char *collection, const bson_t *others)
{
    bson_t command = BSON_INITIALIZER, concern;
    bson_error_t error;
    bool done;

    BSON_APPEND_UTF8(&command, name, collection);
    if (others) {
        bson_concat(&command, others);
    }
    BSON_APPEND_DOCUMENT_BEGIN(&command, "writeConcern", &concern);
    BSON_APPEND_UTF8(&concern, "w", "majority");
    bson_append_document_end(&command, &concern);
    done = server_command(test->server, database, &command, NULL, &error);
    bson_destroy(&command);
    /* Servers before 7.0 say so where there is nothing to drop. */
    if (!done && strcmp(name, "drop") == 0 && strcmp(error.message, "ns not found") == 0) {
        return true;
    }
    return done || fail(test, "initialData: %s %s: %s", name, collection, error.message);
}

static bool fill(struct test *test, const bson_t *data)
{
    const char *database = doc_text(data, "databaseName", "?");
    const char *collection = doc_text(data, "collectionName", "?");
    bson_t options, documents, insert = BSON_INITIALIZER;
    bool with_options, filled;

    if (!run_on(test, database, "drop", collection, NULL)) {
        return false;
    }
    with_options = doc_view(data, "createOptions", &options);
    doc_view(data, "documents", &documents);
    if ((with_options || bson_empty(&documents)) &&
        !run_on(test, database, "create", collection, &options)) {
        return false;
    }
    if (bson_empty(&documents)) {
        return true;
    }
    BSON_APPEND_ARRAY(&insert, "documents", &documents);
    filled = run_on(test, database, "insert", collection, &insert);
    bson_destroy(&insert);
    return filled;
}

/*
 * A sharded cluster refuses a transaction whose session has not seen the latest change of the
 * catalogue, and one whose first command on a mongos is distinct. Both are the server's own
 * weaknesses, which the format tells runners to step around.
 */
static void warm_sharded(struct test *test, const bson_t *data)
{
    struct server *server = test->server;
    bson_t *ping = BCON_NEW("ping", BCON_INT32(1)), reply, latest;
    bson_t *distinct = BCON_NEW("distinct", BCON_UTF8(doc_text(data, "collectionName", "?")), "key",
        "x", "query", "{", "}");
    size_t count;
    mongoc_server_description_t **servers =
        mongoc_client_get_server_descriptions(server->client, &count);

    for (size_t i = 0; i < count; i++) {
        mongoc_client_command_simple_with_server_id(server->client,
            doc_text(data, "databaseName", "?"), distinct, NULL,
            mongoc_server_description_id(servers[i]), NULL, NULL);
    }
    mongoc_server_descriptions_destroy_all(servers, count);
    if (server_command(server, "admin", ping, &reply, NULL) &&
        doc_view(&reply, "$clusterTime", &latest)) {
        bson_destroy(&server->cluster_time);
        bson_copy_to(&latest, &server->cluster_time);
    }
    bson_destroy(&reply);
    bson_destroy(ping);
    bson_destroy(distinct);
}

bool initial_data(struct test *test, const bson_t *file)
{
    bool sharded = strcmp(test->server->topology, "replicaset") != 0 &&
                   strcmp(test->server->topology, "single") != 0;
    bson_iter_t iter;
    bson_t data;

    for (doc_each(file, "initialData", &iter); bson_iter_next(&iter);) {
        iter_view(&iter, &data);
        if (!only_keys(test, &data, "initialData",
                "collectionName databaseName createOptions documents") ||
            !fill(test, &data)) {
            return false;
        }
        if (sharded) {
            warm_sharded(test, &data);
        }
    }
    return true;
}

/* All documents of a collection by _id, as an array. */
static bool read_all(struct test *test, const bson_t *data, bson_t *array)
{
    mongoc_collection_t *collection = mongoc_client_get_collection(test->server->client,
        doc_text(data, "databaseName", "?"), doc_text(data, "collectionName", "?"));
    bson_t all = BSON_INITIALIZER;
    bson_t *opts =
        BCON_NEW("sort", "{", "_id", BCON_INT32(1), "}", "readConcern", "{", "level", "local", "}");
    mongoc_cursor_t *cursor = mongoc_collection_find_with_opts(collection, &all, opts, NULL);
    const bson_t *document;
    bson_error_t error;
    uint32_t count = 0;
    bool read;

    while (mongoc_cursor_next(cursor, &document)) {
        char digits[16];
        snprintf(digits, sizeof digits, "%u", count++);
        BSON_APPEND_DOCUMENT(array, digits, document);
    }
    read = !mongoc_cursor_error(cursor, &error) || fail(test, "outcome: %s", error.message);
    mongoc_cursor_destroy(cursor);
    mongoc_collection_destroy(collection);
    bson_destroy(opts);
    bson_destroy(&all);
    return read;
}

bool outcome_check(struct test *test, const bson_t *definition)
{
    bson_iter_t iter, expected, actual;
    bson_t data;
    bool same = true;

    for (doc_each(definition, "outcome", &iter); same && bson_iter_next(&iter);) {
        struct match match = {.exact = true};
        bson_t array = BSON_INITIALIZER, holder = BSON_INITIALIZER;
        iter_view(&iter, &data);
        same = only_keys(test, &data, "outcome", "collectionName databaseName documents") &&
               read_all(test, &data, &array);
        BSON_APPEND_ARRAY(&holder, "documents", &array);
        snprintf(match.path, sizeof match.path, "%s", doc_text(&data, "collectionName", "?"));
        if (same && doc_find(&data, "documents", &expected) && doc_first(&holder, &actual)) {
            same = match_value(&match, &expected, &actual, MATCH_NESTED) ||
                   fail(test, "outcome: %s", match.why);
        }
        bson_destroy(&array);
        bson_destroy(&holder);
    }
    return same;
}
