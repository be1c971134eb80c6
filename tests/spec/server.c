#include "tests/spec/server.h"

#include <stdio.h>
#include <string.h>

bool server_command(struct server *server, const char *database, const bson_t *command,
    bson_t *reply, bson_error_t *error)
{
    return mongoc_client_command_simple(server->client, database, command, NULL, reply, error);
}

/* Runs {name: 1} on admin and keeps its reply. */
static bool ask(struct server *server, const char *name, bson_t *reply)
{
    bson_t command = BSON_INITIALIZER;
    bson_error_t error;
    bool answered;

    if (strcmp(name, "getParameter") == 0) {
        BSON_APPEND_UTF8(&command, name, "*");
    } else {
        BSON_APPEND_INT32(&command, name, 1);
    }
    answered = server_command(server, "admin", &command, reply, &error);
    if (!answered) {
        snprintf(server->problem, sizeof server->problem, "%s: %s", name, error.message);
    }
    bson_destroy(&command);
    return answered;
}

/* Whether each shard is a replica set: its host is then "set/host". */
static bool shards_are_replica_sets(struct server *server)
{
    mongoc_collection_t *shards = mongoc_client_get_collection(server->client, "config", "shards");
    bson_t all = BSON_INITIALIZER;
    mongoc_cursor_t *cursor = mongoc_collection_find_with_opts(shards, &all, NULL, NULL);
    const bson_t *shard;
    bool sets = true;

    while (mongoc_cursor_next(cursor, &shard)) {
        sets = sets && strchr(doc_text(shard, "host", ""), '/');
    }
    mongoc_cursor_destroy(cursor);
    mongoc_collection_destroy(shards);
    bson_destroy(&all);
    return sets;
}

static const char *topology_of(struct server *server, const bson_t *hello)
{
    if (mongoc_uri_get_option_as_bool(
            mongoc_client_get_uri(server->client), "loadbalanced", false)) {
        return "load-balanced";
    }
    if (strcmp(doc_text(hello, "msg", ""), "isdbgrid") == 0) {
        return shards_are_replica_sets(server) ? "sharded-replicaset" : "sharded";
    }
    return doc_has(hello, "setName") ? "replicaset" : "single";
}

void server_open(struct server *server, const char *uri)
{
    bson_t hello = BSON_INITIALIZER, build = BSON_INITIALIZER;

    memset(server, 0, sizeof *server);
    server->uri = uri;
    bson_init(&server->parameters);
    bson_init(&server->cluster_time);
    server->client = mongoc_client_new(uri);
    if (!server->client) {
        snprintf(server->problem, sizeof server->problem, "'%s' is no URI of a server", uri);
        return;
    }
    mongoc_client_set_error_api(server->client, MONGOC_ERROR_API_VERSION_2);
    /* The old name of hello, because it is the one that every server knows. */
    if (ask(server, "isMaster", &hello) && ask(server, "buildInfo", &build)) {
        bson_iter_t part;
        unsigned i = 0;
        for (doc_each(&build, "versionArray", &part); i < 3 && bson_iter_next(&part); i++) {
            server->version[i] = (unsigned)bson_iter_as_int64(&part);
        }
        server->topology = topology_of(server, &hello);
        if (ask(server, "getParameter", &server->parameters)) {
            kill_sessions(server);
        }
    }
    bson_destroy(&hello);
    bson_destroy(&build);
}

void server_close(struct server *server)
{
    mongoc_client_destroy(server->client);
    bson_destroy(&server->parameters);
    bson_destroy(&server->cluster_time);
}

void kill_sessions(struct server *server)
{
    bson_t *command = BCON_NEW("killAllSessions", "[", "]");

    /* It may interrupt itself, and a user may not be allowed to: both are no harm. */
    server_command(server, "admin", command, NULL, NULL);
    bson_destroy(command);
}

/* The number of the server at host in the runner's own client, or 0. */
static uint32_t server_number(struct server *server, const char *host)
{
    size_t count;
    uint32_t number = 0;
    mongoc_server_description_t **servers =
        mongoc_client_get_server_descriptions(server->client, &count);

    for (size_t i = 0; i < count; i++) {
        if (strcmp(mongoc_server_description_host(servers[i])->host_and_port, host) == 0) {
            number = mongoc_server_description_id(servers[i]);
        }
    }
    mongoc_server_descriptions_destroy_all(servers, count);
    return number;
}

void failpoints_off(struct test *test)
{
    bson_iter_t iter;

    for (bson_iter_init(&iter, &test->failpoints); bson_iter_next(&iter);) {
        bson_t *command =
            BCON_NEW("configureFailPoint", BCON_UTF8(bson_iter_key(&iter)), "mode", "off");
        uint32_t number = server_number(test->server, bson_iter_utf8(&iter, NULL));
        bson_error_t error;
        bool off = number ? mongoc_client_command_simple_with_server_id(
                                test->server->client, "admin", command, NULL, number, NULL, &error)
                          : server_command(test->server, "admin", command, NULL, &error);
        if (!off) {
            fail(test, "fail point %s stays on: %s", bson_iter_key(&iter), error.message);
        }
        bson_destroy(command);
    }
}
