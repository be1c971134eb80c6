/* The listening half of events.h: callbacks of the driver, each of which makes one document. */
#include "tests/spec/events.h"

#include <stdlib.h>
#include <string.h>
#include <strings.h>

/* Commands whose content the specification calls sensitive, whatever they hold. */
#define SENSITIVE                                                                                  \
    "authenticate saslStart saslContinue getnonce createUser updateUser copydbgetnonce "           \
    "copydbsaslstart copydb"

struct recorder *recorder_new(const bson_t *client)
{
    struct recorder *recorder = new_aligned(sizeof *recorder);

    pthread_mutex_init(&recorder->lock, NULL);
    bson_copy_to(client, &recorder->wanted);
    recorder->sensitive = doc_bool(client, "observeSensitiveCommands", false);
    recorder->topology = "Unknown";
    return recorder;
}

void recorder_free(struct recorder *recorder)
{
    for (size_t i = 0; i < recorder->count; i++) {
        bson_destroy(recorder->events[i]);
    }
    bson_free(recorder->events);
    bson_free(recorder->database);
    bson_free(recorder->primary);
    bson_destroy(&recorder->wanted);
    pthread_mutex_destroy(&recorder->lock);
    free(recorder);
}

void recorder_stop(struct recorder *recorder)
{
    pthread_mutex_lock(&recorder->lock);
    recorder->stopped = true;
    pthread_mutex_unlock(&recorder->lock);
}

void recorder_topology(struct recorder *recorder, bson_t *doc)
{
    pthread_mutex_lock(&recorder->lock);
    BSON_APPEND_UTF8(doc, "type", recorder->topology);
    if (recorder->primary) {
        BSON_APPEND_UTF8(doc, "primary", recorder->primary);
    }
    pthread_mutex_unlock(&recorder->lock);
}

static bson_t *new_event(const char *type)
{
    bson_t *event = bson_new();

    BSON_APPEND_UTF8(event, "type", type);
    return event;
}

/* Takes the event over. */
static void keep(struct recorder *recorder, bson_t *event)
{
    bool wanted;

    pthread_mutex_lock(&recorder->lock);
    wanted = doc_lists(&recorder->wanted, "observeEvents", doc_text(event, "type", ""));
    if (wanted && !recorder->stopped) {
        size_t size = (recorder->count + 1) * sizeof(bson_t *);
        recorder->events = bson_realloc(recorder->events, size);
        recorder->events[recorder->count++] = event;
        event = NULL;
    }
    pthread_mutex_unlock(&recorder->lock);
    bson_destroy(event);
}

/* ---- commands ------------------------------------------------------------------------------ */

static bool is_hello(const char *command)
{
    return strcasecmp(command, "hello") == 0 || strcasecmp(command, "isMaster") == 0;
}

/* configureFailPoint is the runner's own; a test can't expect it. */
static bool is_ignored(struct recorder *recorder, const char *command)
{
    return strcmp(command, "configureFailPoint") == 0 ||
           (recorder->redacted && !recorder->sensitive) ||
           doc_lists(&recorder->wanted, "ignoreCommandMonitoringEvents", command);
}

/* Takes the event over. */
static void keep_command(struct recorder *recorder, bson_t *event, const char *command)
{
    if (is_ignored(recorder, command)) {
        bson_destroy(event);
        return;
    }
    BSON_APPEND_UTF8(event, "commandName", command);
    BSON_APPEND_UTF8(event, "databaseName", recorder->database ? recorder->database : "");
    keep(recorder, event);
}

/* The load balancer's service and the server's number for the connection came with 1.20 to 1.24. */
#if MONGOC_CHECK_VERSION(1, 24, 0)
#define APPEND_CONNECTION(event, kind, from)                                                       \
    do {                                                                                           \
        BSON_APPEND_BOOL(event, "hasServiceId", mongoc_apm_##kind##_get_service_id(from) != NULL); \
        BSON_APPEND_BOOL(event, "hasServerConnectionId",                                           \
            mongoc_apm_##kind##_get_server_connection_id_int64(from) > 0);                         \
    } while (0)
#elif MONGOC_CHECK_VERSION(1, 23, 0)
#define APPEND_CONNECTION(event, kind, from)                                                       \
    do {                                                                                           \
        BSON_APPEND_BOOL(event, "hasServiceId", mongoc_apm_##kind##_get_service_id(from) != NULL); \
        BSON_APPEND_BOOL(event, "hasServerConnectionId",                                           \
            mongoc_apm_##kind##_get_server_connection_id(from) > 0);                               \
    } while (0)
#else
#define APPEND_CONNECTION(event, kind, from) BSON_APPEND_BOOL(event, "hasServiceId", false)
#endif

static void on_started(const mongoc_apm_command_started_t *started)
{
    struct recorder *recorder = mongoc_apm_command_started_get_context(started);
    const char *name = mongoc_apm_command_started_get_command_name(started);
    const bson_t *command = mongoc_apm_command_started_get_command(started);
    bson_t *event = new_event("commandStartedEvent");

    bson_free(recorder->database);
    recorder->database = bson_strdup(mongoc_apm_command_started_get_database_name(started));
    /* A hello is sensitive if it authenticates; a driver that redacts leaves it empty. */
    recorder->redacted =
        in_words(SENSITIVE, name) ||
        (is_hello(name) && (bson_empty(command) || doc_has(command, "speculativeAuthenticate")));
    BSON_APPEND_DOCUMENT(event, "command", command);
    APPEND_CONNECTION(event, command_started, started);
    keep_command(recorder, event, name);
}

static void on_succeeded(const mongoc_apm_command_succeeded_t *succeeded)
{
    bson_t *event = new_event("commandSucceededEvent");

    BSON_APPEND_DOCUMENT(event, "reply", mongoc_apm_command_succeeded_get_reply(succeeded));
    APPEND_CONNECTION(event, command_succeeded, succeeded);
    keep_command(mongoc_apm_command_succeeded_get_context(succeeded), event,
        mongoc_apm_command_succeeded_get_command_name(succeeded));
}

static void on_failed(const mongoc_apm_command_failed_t *failed)
{
    bson_t *event = new_event("commandFailedEvent");

    APPEND_CONNECTION(event, command_failed, failed);
    keep_command(mongoc_apm_command_failed_get_context(failed), event,
        mongoc_apm_command_failed_get_command_name(failed));
}

/* ---- servers and topology ------------------------------------------------------------------ */

static void append_description(bson_t *event, const char *key, const char *type)
{
    bson_t description;

    BSON_APPEND_DOCUMENT_BEGIN(event, key, &description);
    BSON_APPEND_UTF8(&description, "type", type);
    bson_append_document_end(event, &description);
}

static void on_server_changed(const mongoc_apm_server_changed_t *changed)
{
    bson_t *event = new_event("serverDescriptionChangedEvent");

    append_description(event, "previousDescription",
        mongoc_server_description_type(
            mongoc_apm_server_changed_get_previous_description(changed)));
    append_description(event, "newDescription",
        mongoc_server_description_type(mongoc_apm_server_changed_get_new_description(changed)));
    keep(mongoc_apm_server_changed_get_context(changed), event);
}

static char *primary_of(const mongoc_topology_description_t *topology)
{
    char *primary = NULL;
    size_t count;
    mongoc_server_description_t **servers =
        mongoc_topology_description_get_servers(topology, &count);

    for (size_t i = 0; i < count; i++) {
        if (strcmp(mongoc_server_description_type(servers[i]), "RSPrimary") == 0) {
            primary = bson_strdup(mongoc_server_description_host(servers[i])->host_and_port);
        }
    }
    mongoc_server_descriptions_destroy_all(servers, count);
    return primary;
}

static void on_topology_changed(const mongoc_apm_topology_changed_t *changed)
{
    struct recorder *recorder = mongoc_apm_topology_changed_get_context(changed);
    const mongoc_topology_description_t *now =
        mongoc_apm_topology_changed_get_new_description(changed);
    bson_t *event = new_event("topologyDescriptionChangedEvent");

    append_description(event, "previousDescription",
        mongoc_topology_description_type(
            mongoc_apm_topology_changed_get_previous_description(changed)));
    append_description(event, "newDescription", mongoc_topology_description_type(now));
    pthread_mutex_lock(&recorder->lock);
    recorder->topology = mongoc_topology_description_type(now);
    bson_free(recorder->primary);
    recorder->primary = primary_of(now);
    pthread_mutex_unlock(&recorder->lock);
    keep(recorder, event);
}

static void on_topology_opening(const mongoc_apm_topology_opening_t *opening)
{
    keep(mongoc_apm_topology_opening_get_context(opening), new_event("topologyOpeningEvent"));
}

static void on_topology_closed(const mongoc_apm_topology_closed_t *closed)
{
    keep(mongoc_apm_topology_closed_get_context(closed), new_event("topologyClosedEvent"));
}

#define HEARTBEAT(kind, type)                                                                      \
    static void on_heartbeat_##kind(const mongoc_apm_server_heartbeat_##kind##_t *heartbeat)       \
    {                                                                                              \
        bson_t *event = new_event(type);                                                           \
        BSON_APPEND_BOOL(                                                                          \
            event, "awaited", mongoc_apm_server_heartbeat_##kind##_get_awaited(heartbeat));        \
        keep(mongoc_apm_server_heartbeat_##kind##_get_context(heartbeat), event);                  \
    }
HEARTBEAT(started, "serverHeartbeatStartedEvent")
HEARTBEAT(succeeded, "serverHeartbeatSucceededEvent")
HEARTBEAT(failed, "serverHeartbeatFailedEvent")

mongoc_apm_callbacks_t *recorder_callbacks(void)
{
    mongoc_apm_callbacks_t *callbacks = mongoc_apm_callbacks_new();

    mongoc_apm_set_command_started_cb(callbacks, on_started);
    mongoc_apm_set_command_succeeded_cb(callbacks, on_succeeded);
    mongoc_apm_set_command_failed_cb(callbacks, on_failed);
    mongoc_apm_set_server_changed_cb(callbacks, on_server_changed);
    mongoc_apm_set_topology_changed_cb(callbacks, on_topology_changed);
    mongoc_apm_set_topology_opening_cb(callbacks, on_topology_opening);
    mongoc_apm_set_topology_closed_cb(callbacks, on_topology_closed);
    mongoc_apm_set_server_heartbeat_started_cb(callbacks, on_heartbeat_started);
    mongoc_apm_set_server_heartbeat_succeeded_cb(callbacks, on_heartbeat_succeeded);
    mongoc_apm_set_server_heartbeat_failed_cb(callbacks, on_heartbeat_failed);
    return callbacks;
}
