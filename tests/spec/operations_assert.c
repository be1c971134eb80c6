/* Operations of the test runner that look: at sessions, and at what is on the server. */
#include "tests/spec/operations.h"
#include "tests/spec/server.h"

#include <string.h>

/* ---- sessions ------------------------------------------------------------------------------ */

/* The session that the operation is about, still open. */
static mongoc_client_session_t *argument_session(struct operation *operation)
{
    const char *id = argument_text(operation, "session");
    struct entity *entity = id ? entity_get(operation->test, id, SESSION) : NULL;

    if (entity && !entity->session) {
        fail(operation->test, "session '%s' has ended", id);
    }
    return entity ? entity->session : NULL;
}

static bool check_pinned(struct operation *operation, bool wanted)
{
    mongoc_client_session_t *session = argument_session(operation);

    return session &&
           ((mongoc_client_session_get_server_id(session) != 0) == wanted ||
               fail(operation->test, "the session is %s", wanted ? "unpinned" : "pinned"));
}

static bool run_session_pinned(struct operation *operation)
{
    return check_pinned(operation, true);
}

static bool run_session_unpinned(struct operation *operation)
{
    return check_pinned(operation, false);
}

#if MONGOC_CHECK_VERSION(1, 18, 0)
static bool check_dirty(struct operation *operation, bool wanted)
{
    mongoc_client_session_t *session = argument_session(operation);

    return session && (mongoc_client_session_get_dirty(session) == wanted ||
                          fail(operation->test, "the session is %s", wanted ? "clean" : "dirty"));
}

static bool run_session_dirty(struct operation *operation)
{
    return check_dirty(operation, true);
}

static bool run_session_not_dirty(struct operation *operation)
{
    return check_dirty(operation, false);
}
#else
#define run_session_dirty NULL
#define run_session_not_dirty NULL
#endif

static const struct {
    const char *name;
    mongoc_transaction_state_t state;
} states[] = {
    {"none", MONGOC_TRANSACTION_NONE},
    {"starting", MONGOC_TRANSACTION_STARTING},
    {"in_progress", MONGOC_TRANSACTION_IN_PROGRESS},
    {"committed", MONGOC_TRANSACTION_COMMITTED},
    {"aborted", MONGOC_TRANSACTION_ABORTED},
};

static bool run_transaction_state(struct operation *operation)
{
    mongoc_client_session_t *session = argument_session(operation);
    const char *wanted = argument_text(operation, "state"), *actual = "?";
    bool known = false;

    if (!session || !wanted) {
        return false;
    }
    for (size_t i = 0; i < sizeof states / sizeof *states; i++) {
        known = known || strcmp(states[i].name, wanted) == 0;
        if (states[i].state == mongoc_client_session_get_transaction_state(session)) {
            actual = states[i].name;
        }
    }
    if (!known) {
        return fail(operation->test, "unknown transaction state '%s'", wanted);
    }
    return strcmp(actual, wanted) == 0 ||
           fail(operation->test, "expected transaction state %s, actual %s", wanted, actual);
}

static bool check_lsids(struct operation *operation, bool wanted)
{
    const char *id = argument_text(operation, "client");
    struct entity *client = id ? entity_get(operation->test, id, CLIENT) : NULL;
    bool same;

    return client && events_same_lsid(operation->test, client->events, &same) &&
           (same == wanted || fail(operation->test, "the last two lsids are %s",
                                  wanted ? "different" : "the same"));
}

static bool run_same_lsid(struct operation *operation)
{
    return check_lsids(operation, true);
}

static bool run_different_lsid(struct operation *operation)
{
    return check_lsids(operation, false);
}

/* ---- collections and indexes --------------------------------------------------------------- */

static bool check_collection(struct operation *operation, bool wanted)
{
    const char *database_name = argument_text(operation, "databaseName");
    const char *name = argument_text(operation, "collectionName");
    bson_error_t error = {0};

    if (!database_name || !name) {
        return false;
    }
    mongoc_database_t *database =
        mongoc_client_get_database(operation->test->server->client, database_name);
    const bool there = mongoc_database_has_collection(database, name, &error);
    mongoc_database_destroy(database);
    if (error.code) {
        return fail(operation->test, "%s: %s", operation->name, error.message);
    }
    return there == wanted ||
           fail(operation->test, "collection %s %s", name, there ? "exists" : "does not exist");
}

static bool run_collection_exists(struct operation *operation)
{
    return check_collection(operation, true);
}

static bool run_collection_not_exists(struct operation *operation)
{
    return check_collection(operation, false);
}

static bool check_index(struct operation *operation, bool wanted)
{
    const char *database = argument_text(operation, "databaseName");
    const char *name = argument_text(operation, "collectionName");
    const char *index_name = argument_text(operation, "indexName");
    const bson_t *index;
    bool there = false;

    if (!database || !name || !index_name) {
        return false;
    }
    mongoc_collection_t *collection =
        mongoc_client_get_collection(operation->test->server->client, database, name);
    mongoc_cursor_t *cursor = mongoc_collection_find_indexes_with_opts(collection, NULL);
    while (mongoc_cursor_next(cursor, &index)) {
        there = there || strcmp(doc_text(index, "name", ""), index_name) == 0;
    }
    mongoc_cursor_destroy(cursor);
    mongoc_collection_destroy(collection);
    return there == wanted ||
           fail(operation->test, "index %s %s", index_name, there ? "exists" : "does not exist");
}

static bool run_index_exists(struct operation *operation)
{
    return check_index(operation, true);
}

static bool run_index_not_exists(struct operation *operation)
{
    return check_index(operation, false);
}

#define NAMESPACE "databaseName collectionName"

const struct operation_row assert_operations[] = {
    {TEST_RUNNER, "assertCollectionExists", run_collection_exists, NAMESPACE, NULL},
    {TEST_RUNNER, "assertCollectionNotExists", run_collection_not_exists, NAMESPACE, NULL},
    {TEST_RUNNER, "assertDifferentLsidOnLastTwoCommands", run_different_lsid, "client", NULL},
    {TEST_RUNNER, "assertIndexExists", run_index_exists, NAMESPACE " indexName", NULL},
    {TEST_RUNNER, "assertIndexNotExists", run_index_not_exists, NAMESPACE " indexName", NULL},
    {TEST_RUNNER, "assertNumberConnectionsCheckedOut", NULL, "", "none"},
    {TEST_RUNNER, "assertSameLsidOnLastTwoCommands", run_same_lsid, "client", NULL},
    {TEST_RUNNER, "assertSessionDirty", run_session_dirty, "session", "1.18"},
    {TEST_RUNNER, "assertSessionNotDirty", run_session_not_dirty, "session", "1.18"},
    {TEST_RUNNER, "assertSessionPinned", run_session_pinned, "session", NULL},
    {TEST_RUNNER, "assertSessionTransactionState", run_transaction_state, "session state", NULL},
    {TEST_RUNNER, "assertSessionUnpinned", run_session_unpinned, "session", NULL},
    {TEST_RUNNER, NULL, NULL, NULL, NULL},
};
