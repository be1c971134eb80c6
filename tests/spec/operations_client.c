/* Operations of a client and of a database. */
#include "tests/spec/operations.h"

#include <string.h>

/* ---- client -------------------------------------------------------------------------------- */

static bool run_list_databases(struct operation *operation)
{
    return result_rows(operation,
        mongoc_client_find_databases_with_opts(operation->object->client, &operation->opts), NULL);
}

static bool run_list_database_names(struct operation *operation)
{
    return result_names(
        operation, mongoc_client_get_database_names_with_opts(
                       operation->object->client, &operation->opts, &operation->error));
}

static bool run_drop_database(struct operation *operation)
{
    const char *name = argument_text(operation, "database");

    if (!name) {
        return false;
    }
    mongoc_database_t *database = mongoc_client_get_database(operation->object->client, name);
    outcome(
        operation, mongoc_database_drop_with_opts(database, &operation->opts, &operation->error));
    mongoc_database_destroy(database);
    return true;
}

static bool run_close_client(struct operation *operation)
{
    entity_close(operation->test, operation->object);
    return true;
}

#if MONGOC_CHECK_VERSION(2, 3, 0)
static bool run_append_metadata(struct operation *operation)
{
    bson_t info;

    if (!argument_view(operation, "driverInfoOptions", &info))
        return false;
    return outcome(operation,
        mongoc_client_append_metadata(operation->object->client, doc_text(&info, "name", NULL),
            doc_text(&info, "version", NULL), doc_text(&info, "platform", NULL)));
}
#else
#define run_append_metadata NULL
#endif

const struct operation_row client_operations[] = {
    {CLIENT, "appendMetadata", run_append_metadata, "driverInfoOptions", "2.3"},
    {CLIENT, "close", run_close_client, "", NULL},
    {CLIENT, "dropDatabase", run_drop_database, "database", NULL},
    {CLIENT, "listDatabaseNames", run_list_database_names, "", NULL},
    {CLIENT, "listDatabaseObjects", NULL, "", "none"},
    {CLIENT, "listDatabases", run_list_databases, "", NULL},
    {TEST_RUNNER, NULL, NULL, NULL, NULL},
};

/* ---- database ------------------------------------------------------------------------------ */

static bool run_aggregate(struct operation *operation)
{
    bson_t pipeline;

    return argument_view(operation, "pipeline", &pipeline) &&
           result_rows(operation,
               mongoc_database_aggregate(
                   operation->object->database, &pipeline, &operation->opts, operation->prefs),
               NULL);
}

static bool run_list_collections(struct operation *operation)
{
    return result_rows(operation,
        mongoc_database_find_collections_with_opts(operation->object->database, &operation->opts),
        NULL);
}

static bool run_list_collection_names(struct operation *operation)
{
    return result_names(
        operation, mongoc_database_get_collection_names_with_opts(
                       operation->object->database, &operation->opts, &operation->error));
}

static bool run_command(struct operation *operation)
{
    bson_t command;

    if (!argument_view(operation, "command", &command)) {
        return false;
    }
    bson_destroy(&operation->reply);
    outcome(
        operation, mongoc_database_command_with_opts(operation->object->database, &command,
                       operation->prefs, &operation->opts, &operation->reply, &operation->error));
    if (!operation->failed) {
        result_document(operation, &operation->reply);
    }
    return true;
}

/* The options of the cursor's own commands, after the one that opens it. */
#define GET_MORE "batchSize maxTimeMS comment cursorType"

/*
 * A cursor over the reply of a command. It must go on with the server that opened it, so that one
 * is chosen first. NULL where the command failed.
 */
static mongoc_cursor_t *open_command(struct operation *operation)
{
    const char *type = doc_text(&operation->arguments, "cursorType", "nonTailable");
    mongoc_client_t *client = operation->object->client;
    bson_t command, reply, opts = BSON_INITIALIZER;
    mongoc_server_description_t *server;
    mongoc_cursor_t *cursor = NULL;
    bson_iter_t iter;

    if (!argument_view(operation, "command", &command)) {
        return NULL;
    }
    if (doc_has(&operation->arguments, "maxTimeMS") && strcmp(type, "tailableAwait") != 0) {
        not_applicable(operation->test, "maxTimeMS of a getMore that does not wait");
        return NULL;
    }
    server = mongoc_client_select_server(client, false, operation->prefs, &operation->error);
    operation->failed = !server;
    if (!server) {
        return NULL;
    }
    BSON_APPEND_INT32(&operation->opts, "serverId", (int32_t)mongoc_server_description_id(server));
    mongoc_server_description_destroy(server);
    if (mongoc_database_command_with_opts(operation->object->database, &command, operation->prefs,
            &operation->opts, &reply, &operation->error)) {
        bson_concat(&opts, &operation->opts);
        for (bson_iter_init(&iter, &operation->arguments); bson_iter_next(&iter);) {
            if (in_words("batchSize comment", bson_iter_key(&iter))) {
                doc_append(&opts, bson_iter_key(&iter), &iter);
            }
        }
        if (doc_has(&operation->arguments, "maxTimeMS")) {
            BSON_APPEND_INT64(
                &opts, "maxAwaitTimeMS", doc_int(&operation->arguments, "maxTimeMS", 0));
        }
        if (strcmp(type, "nonTailable") != 0) {
            BSON_APPEND_BOOL(&opts, "tailable", true);
        }
        if (strcmp(type, "tailableAwait") == 0) {
            BSON_APPEND_BOOL(&opts, "awaitData", true);
        }
        cursor = mongoc_cursor_new_from_command_reply_with_opts(client, &reply, &opts);
    } else {
        operation->failed = true;
        bson_concat(&operation->reply, &reply);
        bson_destroy(&reply);
    }
    bson_destroy(&opts);
    return cursor;
}

static bool run_cursor_command(struct operation *operation)
{
    mongoc_cursor_t *cursor = open_command(operation);

    return cursor ? result_rows(operation, cursor, NULL) : operation->test->verdict == PASSED;
}

static bool run_create_command_cursor(struct operation *operation)
{
    operation->made.cursor = open_command(operation);
    if (operation->made.cursor) {
        cursor_failed(operation, operation->made.cursor);
    }
    return operation->test->verdict == PASSED;
}

const struct operation_row database_operations[] = {
    {DATABASE, "aggregate", run_aggregate, "pipeline", NULL},
    {DATABASE, "createCommandCursor", run_create_command_cursor, "command commandName " GET_MORE,
        NULL},
    {DATABASE, "listCollectionNames", run_list_collection_names, "", NULL},
    {DATABASE, "listCollectionObjects", NULL, "", "none"},
    {DATABASE, "listCollections", run_list_collections, "", NULL},
    {DATABASE, "runCommand", run_command, "command commandName", NULL},
    {DATABASE, "runCursorCommand", run_cursor_command, "command commandName " GET_MORE, NULL},
    {TEST_RUNNER, NULL, NULL, NULL, NULL},
};
