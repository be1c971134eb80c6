/*
 * Operations on indexes and on collections as such. Through the driver's generic commands where its
 * own functions send the same command but keep the reply, and with it the error labels, to
 * themselves.
 */
#include "tests/spec/operations.h"

#include <stdio.h>
#include <string.h>

static bool run_collection_command(struct operation *operation, bson_t *command)
{
    bool ok;

    bson_destroy(&operation->reply);
    ok = mongoc_collection_write_command_with_opts(operation->object->collection, command,
        &operation->opts, &operation->reply, &operation->error);
    bson_destroy(command);
    return outcome(operation, ok);
}

static bson_t *new_command(struct operation *operation, const char *name)
{
    bson_t *command = bson_new();

    BSON_APPEND_UTF8(command, name, mongoc_collection_get_name(operation->object->collection));
    return command;
}

/* What of the arguments describes the index, and what is an option of the command. */
#define INDEX_COMMAND "session writeConcern comment maxTimeMS commitQuorum rawData"

static bool run_create_index(struct operation *operation)
{
    bson_t *command, keys, indexes = BSON_INITIALIZER, index;
    const char *name = doc_text(&operation->arguments, "name", NULL);
    char *made;

    if (!argument_view(operation, "keys", &keys)) {
        return false;
    }
    made = mongoc_collection_keys_to_index_string(&keys);
    command = new_command(operation, "createIndexes");
    BSON_APPEND_DOCUMENT_BEGIN(&indexes, "0", &index);
    BSON_APPEND_DOCUMENT(&index, "key", &keys);
    BSON_APPEND_UTF8(&index, "name", name ? name : made);
    doc_append_others(&index, &operation->arguments, "keys name " INDEX_COMMAND);
    bson_append_document_end(&indexes, &index);
    BSON_APPEND_ARRAY(command, "indexes", &indexes);
    bson_destroy(&indexes);
    run_collection_command(operation, command);
    if (!operation->failed) {
        BSON_APPEND_UTF8(&operation->result, "v", name ? name : made);
    }
    bson_free(made);
    return true;
}

static bool drop_index(struct operation *operation, const char *name)
{
    bson_t *command = new_command(operation, "dropIndexes");

    BSON_APPEND_UTF8(command, "index", name);
    return run_collection_command(operation, command);
}

static bool run_drop_index(struct operation *operation)
{
    const char *name = argument_text(operation, "name");

    return name && drop_index(operation, name);
}

static bool run_drop_indexes(struct operation *operation)
{
    return drop_index(operation, "*");
}

static bool run_list_indexes(struct operation *operation)
{
    return result_rows(operation,
        mongoc_collection_find_indexes_with_opts(operation->object->collection, &operation->opts),
        strcmp(operation->name, "listIndexNames") == 0 ? "name" : NULL);
}

/* By command, because the driver's own function renames the entity's object as well. */
static bool run_rename(struct operation *operation)
{
    const char *database = mongoc_database_get_name(operation->object->database);
    const char *to = argument_text(operation, "to");
    bson_t command = BSON_INITIALIZER;
    char *from, *target;
    bool ok;

    if (!to) {
        return false;
    }
    from = bson_strdup_printf(
        "%s.%s", database, mongoc_collection_get_name(operation->object->collection));
    target = bson_strdup_printf("%s.%s", database, to);
    BSON_APPEND_UTF8(&command, "renameCollection", from);
    BSON_APPEND_UTF8(&command, "to", target);
    bson_destroy(&operation->reply);
    ok = mongoc_client_write_command_with_opts(operation->object->client, "admin", &command,
        &operation->opts, &operation->reply, &operation->error);
    bson_free(from);
    bson_free(target);
    bson_destroy(&command);
    return outcome(operation, ok);
}

/* ---- of a database ------------------------------------------------------------------------- */

/* Runs {command: collection, ...}, all other arguments being fields of the command. */
static bool run_on_collection(struct operation *operation, const char *name)
{
    const char *collection = argument_text(operation, "collection");
    bson_t command = BSON_INITIALIZER;
    bool ok;

    if (!collection) {
        return false;
    }
    BSON_APPEND_UTF8(&command, name, collection);
    bson_destroy(&operation->reply);
    ok = mongoc_database_write_command_with_opts(operation->object->database, &command,
        &operation->opts, &operation->reply, &operation->error);
    bson_destroy(&command);
    return outcome(operation, ok);
}

static bool run_create_collection(struct operation *operation)
{
    mongoc_database_t *database = operation->object->database;

    if (!run_on_collection(operation, "create")) {
        return false;
    }
    if (!operation->failed) {
        operation->made.database = mongoc_database_copy(database);
        operation->made.collection = mongoc_database_get_collection(
            database, doc_text(&operation->arguments, "collection", "?"));
    }
    return true;
}

static bool run_modify_collection(struct operation *operation)
{
    return run_on_collection(operation, "collMod");
}

/* Servers before 7.0 call it an error that there is nothing to drop; drivers do not. */
static bool run_drop_collection(struct operation *operation)
{
    if (!run_on_collection(operation, "drop")) {
        return false;
    }
    if (operation->failed && doc_int(&operation->reply, "code", 0) == 26) {
        operation->failed = false;
    }
    return true;
}

const struct operation_row index_operations[] = {
    {COLLECTION, "createIndex", run_create_index,
        "keys name unique sparse expireAfterSeconds collation partialFilterExpression hidden "
        "wildcardProjection weights bucketSize storageEngine",
        NULL},
    {COLLECTION, "dropIndex", run_drop_index, "name", NULL},
    {COLLECTION, "dropIndexes", run_drop_indexes, "", NULL},
    {COLLECTION, "listIndexNames", run_list_indexes, "", NULL},
    {COLLECTION, "listIndexes", run_list_indexes, "", NULL},
    {COLLECTION, "rename", run_rename, "to", NULL},
    {COLLECTION, "createSearchIndex", NULL, "", "none"},
    {COLLECTION, "createSearchIndexes", NULL, "", "none"},
    {COLLECTION, "dropSearchIndex", NULL, "", "none"},
    {COLLECTION, "listSearchIndexes", NULL, "", "none"},
    {COLLECTION, "updateSearchIndex", NULL, "", "none"},
    {DATABASE, "createCollection", run_create_collection, "collection", NULL},
    {DATABASE, "dropCollection", run_drop_collection, "collection", NULL},
    {DATABASE, "modifyCollection", run_modify_collection, "collection", NULL},
    {TEST_RUNNER, NULL, NULL, NULL, NULL},
};
