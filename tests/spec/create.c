/* Making entities as a test file describes them. */
#include "tests/spec/entities.h"
#include "tests/spec/options.h"
#include "tests/spec/server.h"
#include "tests/spec/uri.h"

#include <string.h>

typedef bool create_function(struct test *test, const bson_t *definition);

/* ---- clients ------------------------------------------------------------------------------- */

/* What a client entity may have that this driver, or any driver over this runner, has not. */
#define CLIENT_WITHOUT                                                                             \
    "autoEncryptOpts awaitMinPoolSizeMS storeEventsAsEntities observeTracingMessages"
#define CLIENT_KEYS                                                                                \
    "id uriOptions useMultipleMongoses observeEvents ignoreCommandMonitoringEvents "               \
    "observeSensitiveCommands observeLogMessages serverApi"

static bool set_server_api(struct test *test, struct entity *entity, const bson_t *definition)
{
#if MONGOC_CHECK_VERSION(1, 20, 0)
    const char *text = doc_text(definition, "version", "?");
    mongoc_server_api_version_t version;
    mongoc_server_api_t *api;
    bson_error_t error;
    bool set;

    if (!mongoc_server_api_version_from_string(text, &version)) {
        return fail(test, "serverApi: unknown version '%s'", text);
    }
    api = mongoc_server_api_new(version);
    if (doc_has(definition, "strict")) {
        mongoc_server_api_strict(api, doc_bool(definition, "strict", false));
    }
    if (doc_has(definition, "deprecationErrors")) {
        mongoc_server_api_deprecation_errors(api, doc_bool(definition, "deprecationErrors", false));
    }
    set = entity->pool ? mongoc_client_pool_set_server_api(entity->pool, api, &error)
                       : mongoc_client_set_server_api(entity->client, api, &error);
    mongoc_server_api_destroy(api);
    return set || fail(test, "serverApi: %s", error.message);
#else
    (void)entity;
    (void)definition;
    return not_applicable(test, "serverApi");
#endif
}

/* A pool is what the format has in mind: its monitors watch the servers in the background. */
static bool open_client(struct test *test, struct entity *entity, const mongoc_uri_t *uri)
{
    mongoc_apm_callbacks_t *callbacks = recorder_callbacks();

    if (test->server->single_threaded) {
        entity->client = mongoc_client_new_from_uri(uri);
    } else {
        entity->pool = mongoc_client_pool_new(uri);
    }
    if (entity->client) {
        mongoc_client_set_error_api(entity->client, MONGOC_ERROR_API_VERSION_2);
        mongoc_client_set_apm_callbacks(entity->client, callbacks, entity->events);
    } else if (entity->pool) {
        mongoc_client_pool_set_error_api(entity->pool, MONGOC_ERROR_API_VERSION_2);
        mongoc_client_pool_set_apm_callbacks(entity->pool, callbacks, entity->events);
    }
    mongoc_apm_callbacks_destroy(callbacks);
    return entity->client || entity->pool || fail(test, "client '%s' can't be made", entity->id);
}

static bool check_observed(struct test *test, const bson_t *definition)
{
    bson_iter_t iter;

    for (doc_each(definition, "observeEvents", &iter); bson_iter_next(&iter);) {
        if (!BSON_ITER_HOLDS_UTF8(&iter) || !event_class(bson_iter_utf8(&iter, NULL))) {
            return fail(test, "observeEvents: unknown event");
        }
    }
    return true;
}

static bool create_client(struct test *test, const bson_t *definition)
{
    bool sharded = strncmp(test->server->topology, "sharded", strlen("sharded")) == 0;
    bool several = doc_bool(definition, "useMultipleMongoses", true), created = true;
    mongoc_uri_t *uri;
    struct entity *entity;
    bson_iter_t iter;
    bson_t options, api;

    for (bson_iter_init(&iter, definition); bson_iter_next(&iter);) {
        if (in_words(CLIENT_WITHOUT, bson_iter_key(&iter))) {
            return not_applicable(test, "%s", bson_iter_key(&iter));
        }
    }
    if (!only_keys(test, definition, "client", CLIENT_KEYS) || !check_observed(test, definition)) {
        return false;
    }
    doc_view(definition, "uriOptions", &options);
    uri = uri_for_client(test, test->server->uri, &options, sharded && !several);
    if (!uri) {
        return false;
    }
    if (sharded && several && doc_has(definition, "useMultipleMongoses") && uri_hosts(uri) < 2) {
        created = not_applicable(test, "several mongos");
    }
    entity = created ? entity_add(test, doc_text(definition, "id", NULL), CLIENT) : NULL;
    created = entity != NULL;
    if (created) {
        entity->events = recorder_new(definition);
        created = open_client(test, entity, uri) &&
                  (!doc_view(definition, "serverApi", &api) || set_server_api(test, entity, &api));
        if (entity->pool) {
            entity->client = mongoc_client_pool_pop(entity->pool);
        }
    }
    mongoc_uri_destroy(uri);
    return created;
}

/* ---- what comes from a client -------------------------------------------------------------- */

/* The client of that name for an entity that is to be derived from it. */
static mongoc_client_t *open_client_of(struct test *test, const bson_t *definition)
{
    struct entity *client = entity_get(test, doc_text(definition, "client", "?"), CLIENT);

    if (client && !client->client) {
        fail(test, "client '%s' is closed", client->id);
    }
    return client ? client->client : NULL;
}

/* Options of a database or a collection, set by the functions that its kind has for them. */
#define SET_OPTIONS(test, options, kind, object)                                                   \
    do {                                                                                           \
        mongoc_read_concern_t *reads = read_concern(options);                                      \
        mongoc_write_concern_t *writes = write_concern(options);                                   \
        mongoc_read_prefs_t *prefs = read_preference(test, options);                               \
        if (reads)                                                                                 \
            mongoc_##kind##_set_read_concern(object, reads);                                       \
        if (writes)                                                                                \
            mongoc_##kind##_set_write_concern(object, writes);                                     \
        if (prefs)                                                                                 \
            mongoc_##kind##_set_read_prefs(object, prefs);                                         \
        mongoc_read_concern_destroy(reads);                                                        \
        mongoc_write_concern_destroy(writes);                                                      \
        mongoc_read_prefs_destroy(prefs);                                                          \
    } while (0)

static bool check_options(struct test *test, const bson_t *options, const char *what)
{
    if (doc_has(options, "timeoutMS")) {
        return not_applicable(test, "timeoutMS");
    }
    return only_keys(test, options, what, "readConcern readPreference writeConcern");
}

static bool create_database(struct test *test, const bson_t *definition)
{
    mongoc_client_t *client = open_client_of(test, definition);
    struct entity *entity;
    bson_t options;

    doc_view(definition, "databaseOptions", &options);
    if (!client || !check_options(test, &options, "databaseOptions") ||
        !only_keys(test, definition, "database", "id client databaseName databaseOptions")) {
        return false;
    }
    entity = entity_add(test, doc_text(definition, "id", NULL), DATABASE);
    if (!entity) {
        return false;
    }
    entity->client = client;
    entity->database =
        mongoc_client_get_database(client, doc_text(definition, "databaseName", "?"));
    SET_OPTIONS(test, &options, database, entity->database);
    return test->verdict == PASSED;
}

static bool create_collection(struct test *test, const bson_t *definition)
{
    struct entity *database = entity_get(test, doc_text(definition, "database", "?"), DATABASE);
    struct entity *entity;
    bson_t options;

    doc_view(definition, "collectionOptions", &options);
    if (!database || !check_options(test, &options, "collectionOptions") ||
        !only_keys(
            test, definition, "collection", "id database collectionName collectionOptions")) {
        return false;
    }
    if (!database->database) {
        return fail(test, "database '%s' is closed", database->id);
    }
    entity = entity_add(test, doc_text(definition, "id", NULL), COLLECTION);
    if (!entity) {
        return false;
    }
    entity->client = database->client;
    entity->database = mongoc_database_copy(database->database);
    entity->collection = mongoc_database_get_collection(
        database->database, doc_text(definition, "collectionName", "?"));
    SET_OPTIONS(test, &options, collection, entity->collection);
    return test->verdict == PASSED;
}

static mongoc_session_opt_t *session_options(struct test *test, const bson_t *definition)
{
    mongoc_session_opt_t *opts = mongoc_session_opts_new();
    mongoc_transaction_opt_t *transaction;
    bson_t options, defaults;

    doc_view(definition, "sessionOptions", &options);
    if (doc_has(&options, "defaultTimeoutMS") || doc_has(&options, "snapshotTime")) {
        not_applicable(
            test, "%s", doc_has(&options, "snapshotTime") ? "snapshotTime" : "timeoutMS");
    }
    only_keys(
        test, &options, "sessionOptions", "causalConsistency snapshot defaultTransactionOptions");
    if (doc_has(&options, "causalConsistency")) {
        mongoc_session_opts_set_causal_consistency(
            opts, doc_bool(&options, "causalConsistency", true));
    }
    if (doc_has(&options, "snapshot")) {
#if MONGOC_CHECK_VERSION(1, 20, 0)
        mongoc_session_opts_set_snapshot(opts, doc_bool(&options, "snapshot", false));
#else
        not_applicable(test, "snapshot sessions");
#endif
    }
    doc_view(&options, "defaultTransactionOptions", &defaults);
    transaction = transaction_options(test, &defaults);
    if (transaction) {
        mongoc_session_opts_set_default_transaction_opts(opts, transaction);
    }
    mongoc_transaction_opts_destroy(transaction);
    return opts;
}

static bool create_session(struct test *test, const bson_t *definition)
{
    mongoc_client_t *client = open_client_of(test, definition);
    struct entity *entity;
    mongoc_session_opt_t *opts;
    bson_error_t error = {0};

    if (!client || !only_keys(test, definition, "session", "id client sessionOptions")) {
        return false;
    }
    entity = entity_add(test, doc_text(definition, "id", NULL), SESSION);
    if (!entity) {
        return false;
    }
    entity->client = client;
    opts = session_options(test, definition);
    if (test->verdict == PASSED) {
        entity->session = mongoc_client_start_session(client, opts, &error);
    }
    mongoc_session_opts_destroy(opts);
    if (!entity->session) {
        return fail(test, "session '%s': %s", entity->id, error.message);
    }
    bson_destroy(&entity->lsid);
    bson_copy_to(mongoc_client_session_get_lsid(entity->session), &entity->lsid);
    if (!bson_empty(&test->server->cluster_time)) {
        mongoc_client_session_advance_cluster_time(entity->session, &test->server->cluster_time);
    }
    return true;
}

static bool create_bucket(struct test *test, const bson_t *definition)
{
    struct entity *database = entity_get(test, doc_text(definition, "database", "?"), DATABASE);
    struct entity *entity;
    mongoc_read_prefs_t *prefs;
    bson_t options, opts = BSON_INITIALIZER;
    bson_error_t error;

    if (!database || !only_keys(test, definition, "bucket", "id database bucketOptions")) {
        return false;
    }
    entity = entity_add(test, doc_text(definition, "id", NULL), BUCKET);
    if (!entity) {
        return false;
    }
    entity->client = database->client;
    doc_view(definition, "bucketOptions", &options);
    prefs = read_preference(test, &options);
    if (driver_options(test, &options, "", &opts)) {
        entity->bucket = mongoc_gridfs_bucket_new(database->database, &opts, prefs, &error);
        if (!entity->bucket) {
            fail(test, "bucket '%s': %s", entity->id, error.message);
        }
    }
    mongoc_read_prefs_destroy(prefs);
    bson_destroy(&opts);
    return test->verdict == PASSED;
}

/* ---- by name ------------------------------------------------------------------------------- */

/* Without a function: what libmongoc has not, or this runner can't offer with it. */
static const struct {
    const char *name;
    create_function *create;
} makers[] = {
    {"client", create_client}, {"database", create_database}, {"collection", create_collection},
    {"session", create_session}, {"bucket", create_bucket}, {"clientEncryption", NULL},
    {"thread", NULL}, /* a client object of libmongoc belongs to one thread */
};

static bool create_one(struct test *test, const bson_t *wrapped)
{
    bson_iter_t iter;
    bson_t definition;

    if (!doc_first(wrapped, &iter) || !iter_view(&iter, &definition)) {
        return fail(test, "createEntities: not an entity");
    }
    for (size_t i = 0; i < sizeof makers / sizeof *makers; i++) {
        if (strcmp(makers[i].name, bson_iter_key(&iter)) != 0) {
            continue;
        }
        return makers[i].create ? makers[i].create(test, &definition)
                                : not_applicable(test, "%s entity", makers[i].name);
    }
    return fail(test, "createEntities: unknown entity '%s'", bson_iter_key(&iter));
}

bool entities_create(struct test *test, const bson_t *owner, const char *key)
{
    bson_iter_t iter;
    bson_t wrapped;

    for (doc_each(owner, key, &iter); bson_iter_next(&iter);) {
        iter_view(&iter, &wrapped);
        if (!create_one(test, &wrapped)) {
            return false;
        }
    }
    return true;
}
