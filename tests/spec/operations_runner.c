/* Operations of the test runner that act: fail points, entities, waiting, the topology. */
#include "tests/spec/operations.h"
#include "tests/spec/server.h"

#include <string.h>
#include <time.h>

/* The format's own limit for what a test waits for. */
#define PATIENCE_MS 10000

/* Between two looks at what is waited for. */
#define LOOK_MS 10

static void sleep_ms(int64_t ms)
{
    const struct timespec duration = {.tv_sec = ms / 1000, .tv_nsec = ms % 1000 * 1000000};
    nanosleep(&duration, NULL);
}

/* The entity that the argument of that name is about, which must be of that kind. */
static struct entity *argument_entity(struct operation *operation, const char *name, enum kind kind)
{
    const char *id = argument_text(operation, name);
    return id ? entity_get(operation->test, id, kind) : NULL;
}

/* ---- fail points --------------------------------------------------------------------------- */

/* Sets the fail point on one server and notes which, so that it is put away there afterwards. */
static bool set_fail_point(struct operation *operation, mongoc_client_t *client, uint32_t number)
{
    struct test *test = operation->test;
    bson_t command;
    bson_error_t error;

    if (!argument_view(operation, "failPoint", &command)) {
        return false;
    }
    if (!mongoc_client_command_simple_with_server_id(
            client, "admin", &command, NULL, number, NULL, &error)) {
        return fail(test, "fail point: %s", error.message);
    }
    mongoc_server_description_t *server = mongoc_client_get_server_description(client, number);
    BSON_APPEND_UTF8(&test->failpoints, doc_text(&command, "configureFailPoint", "?"),
        server ? mongoc_server_description_host(server)->host_and_port : "");
    mongoc_server_description_destroy(server);
    return true;
}

static bool run_fail_point(struct operation *operation)
{
    struct entity *client = argument_entity(operation, "client", CLIENT);
    bson_error_t error;

    if (!client) {
        return false;
    }
    if (!client->client) {
        return fail(operation->test, "client '%s' is closed", client->id);
    }
    mongoc_server_description_t *server =
        mongoc_client_select_server(client->client, true, NULL, &error);
    if (!server) {
        return fail(operation->test, "fail point: %s", error.message);
    }
    const uint32_t number = mongoc_server_description_id(server);
    mongoc_server_description_destroy(server);
    return set_fail_point(operation, client->client, number);
}

static bool run_targeted_fail_point(struct operation *operation)
{
    struct entity *session = argument_entity(operation, "session", SESSION);

    if (!session) {
        return false;
    }
    const uint32_t number =
        session->session ? mongoc_client_session_get_server_id(session->session) : 0;
    if (!number) {
        return fail(operation->test, "session '%s' is not pinned", session->id);
    }
    return set_fail_point(operation, session->client, number);
}

/* ---- entities and time --------------------------------------------------------------------- */

static bool run_create_entities(struct operation *operation)
{
    return entities_create(operation->test, &operation->arguments, "entities");
}

static bool run_wait(struct operation *operation)
{
    const int64_t ms = doc_int(&operation->arguments, "ms", -1);

    if (ms < 0) {
        return fail(operation->test, "wait needs a number 'ms'");
    }
    sleep_ms(ms);
    return true;
}

/* ---- events -------------------------------------------------------------------------------- */

/* What waitForEvent and assertEventCount are about. */
struct event_count {
    struct recorder *events;
    bson_t wrapped; /* a view */
    bson_iter_t event;
    size_t count;
};

static bool argument_event(struct operation *operation, struct event_count *wanted)
{
    struct entity *client = argument_entity(operation, "client", CLIENT);

    if (!client || !argument_view(operation, "event", &wanted->wrapped) ||
        !doc_first(&wanted->wrapped, &wanted->event) ||
        !event_type_known(operation->test, bson_iter_key(&wanted->event))) {
        return false;
    }
    wanted->events = client->events;
    wanted->count = (size_t)doc_int(&operation->arguments, "count", 1);
    return true;
}

static bool run_wait_for_event(struct operation *operation)
{
    struct event_count wanted;

    if (!argument_event(operation, &wanted)) {
        return false;
    }
    for (int64_t waited = 0; waited < PATIENCE_MS; waited += LOOK_MS) {
        if (events_matching(operation->test, wanted.events, &wanted.event) >= wanted.count) {
            return true;
        }
        sleep_ms(LOOK_MS);
    }
    return fail(operation->test, "expected %zu %s, actual %zu after %d s", wanted.count,
        bson_iter_key(&wanted.event),
        events_matching(operation->test, wanted.events, &wanted.event), PATIENCE_MS / 1000);
}

static bool run_assert_event_count(struct operation *operation)
{
    struct event_count wanted;

    if (!argument_event(operation, &wanted)) {
        return false;
    }
    const size_t count = events_matching(operation->test, wanted.events, &wanted.event);
    return count == wanted.count || fail(operation->test, "expected %zu %s, actual %zu",
                                        wanted.count, bson_iter_key(&wanted.event), count);
}

/* ---- topology ------------------------------------------------------------------------------ */

static bool run_record_topology(struct operation *operation)
{
    struct entity *client = argument_entity(operation, "client", CLIENT);
    const char *id = argument_text(operation, "id");
    struct entity *entity = client && id ? entity_add(operation->test, id, TOPOLOGY) : NULL;

    if (entity) {
        recorder_topology(client->events, &entity->value);
    }
    return entity != NULL;
}

static bool run_assert_topology_type(struct operation *operation)
{
    struct entity *topology = argument_entity(operation, "topologyDescription", TOPOLOGY);
    const char *wanted = argument_text(operation, "topologyType");

    if (!topology || !wanted) {
        return false;
    }
    const char *actual = doc_text(&topology->value, "type", "?");
    return strcmp(actual, wanted) == 0 ||
           fail(operation->test, "expected topology %s, actual %s", wanted, actual);
}

static bool run_wait_for_primary_change(struct operation *operation)
{
    struct entity *client = argument_entity(operation, "client", CLIENT);
    struct entity *prior = argument_entity(operation, "priorTopologyDescription", TOPOLOGY);
    const int64_t patience = doc_int(&operation->arguments, "timeoutMS", PATIENCE_MS);

    if (!client || !prior) {
        return false;
    }
    for (int64_t waited = 0; waited < patience; waited += LOOK_MS) {
        bson_t now = BSON_INITIALIZER;
        recorder_topology(client->events, &now);
        const char *primary = doc_text(&now, "primary", "");
        const bool changed =
            *primary && strcmp(primary, doc_text(&prior->value, "primary", "")) != 0;
        bson_destroy(&now);
        if (changed) {
            return true;
        }
        sleep_ms(LOOK_MS);
    }
    return fail(operation->test, "the primary stayed the same for %lld ms", (long long)patience);
}

/* Threads: a client object of libmongoc, and what is made from it, belongs to one thread. A loop
 * ends when somebody from outside ends it. */
const struct operation_row runner_operations[] = {
    {TEST_RUNNER, "assertEventCount", run_assert_event_count, "client event count", NULL},
    {TEST_RUNNER, "assertTopologyType", run_assert_topology_type,
        "topologyDescription topologyType", NULL},
    {TEST_RUNNER, "createEntities", run_create_entities, "entities", NULL},
    {TEST_RUNNER, "failPoint", run_fail_point, "client failPoint session", NULL},
    {TEST_RUNNER, "loop", NULL, "", "none"},
    {TEST_RUNNER, "recordTopologyDescription", run_record_topology, "client id", NULL},
    {TEST_RUNNER, "runOnThread", NULL, "", "none"},
    {TEST_RUNNER, "targetedFailPoint", run_targeted_fail_point, "session failPoint", NULL},
    {TEST_RUNNER, "wait", run_wait, "ms", NULL},
    {TEST_RUNNER, "waitForEvent", run_wait_for_event, "client event count", NULL},
    {TEST_RUNNER, "waitForPrimaryChange", run_wait_for_primary_change,
        "client priorTopologyDescription timeoutMS", NULL},
    {TEST_RUNNER, "waitForThread", NULL, "", "none"},
    {TEST_RUNNER, NULL, NULL, NULL, NULL},
};
