/*
 * Runs one command on a MongoDB server and prints the reply, for scripts and tests on machines
 * that have libmongoc but no shell for MongoDB.
 *
 *   mongo-admin URI DATABASE COMMAND-AS-JSON
 *
 * The reply goes to standard output as one line of extended JSON, also when the server refuses the
 * command; what went wrong goes to standard error. Exit status: 0 the command succeeded, 1 it
 * failed, 2 the arguments are wrong.
 *
 * Builds with libmongoc 1.17 up to 2.x.
 */
#define _DEFAULT_SOURCE 1 /* libmongoc's headers need struct addrinfo, also under -std=c11 */
#include <mongoc/mongoc.h>

#include <stdio.h>
#include <stdlib.h>

enum { EXIT_BAD_USAGE = 2 };

enum { SELECTION_TIMEOUT_MS = 3000, CONNECT_TIMEOUT_MS = 3000, SOCKET_TIMEOUT_MS = 60000 };

static void default_to(mongoc_uri_t *uri, const char *option, int32_t value)
{
    if (!mongoc_uri_has_option(uri, option)) {
        mongoc_uri_set_option_as_int32(uri, option, value);
    }
}

/* Callers poll servers that may not be up yet, so the driver's half-minute waits are too long. */
static void set_defaults(mongoc_uri_t *uri)
{
    default_to(uri, MONGOC_URI_SERVERSELECTIONTIMEOUTMS, SELECTION_TIMEOUT_MS);
    default_to(uri, MONGOC_URI_CONNECTTIMEOUTMS, CONNECT_TIMEOUT_MS);
    default_to(uri, MONGOC_URI_SOCKETTIMEOUTMS, SOCKET_TIMEOUT_MS);

    const mongoc_host_list_t *hosts = mongoc_uri_get_hosts(uri);
    const bool one_host = hosts && !hosts->next;
    /* A member that was not initiated yet, or is no primary, must answer too. */
    if (one_host && !mongoc_uri_get_replica_set(uri) &&
        !mongoc_uri_has_option(uri, MONGOC_URI_DIRECTCONNECTION)) {
        mongoc_uri_set_option_as_bool(uri, MONGOC_URI_DIRECTCONNECTION, true);
    }
}

static bool run(const mongoc_uri_t *uri, const char *database, const bson_t *command)
{
    mongoc_client_t *client = mongoc_client_new_from_uri(uri);
    if (!client) {
        fprintf(stderr, "mongo-admin: no client for this URI\n");
        return false;
    }

    bson_t reply;
    bson_error_t error = {0};
    const bool ok = mongoc_client_command_simple(client, database, command, NULL, &reply, &error);
    char *text = bson_as_relaxed_extended_json(&reply, NULL);
    if (text && !bson_empty(&reply)) {
        puts(text);
    }
    if (!ok) {
        fprintf(stderr, "mongo-admin: %s (%u)\n", error.message, (unsigned)error.code);
    }

    bson_free(text);
    bson_destroy(&reply);
    mongoc_client_destroy(client);
    return ok;
}

int main(int argc, char **argv)
{
    if (argc != 4) {
        fprintf(stderr, "usage: mongo-admin URI DATABASE COMMAND-AS-JSON\n");
        return EXIT_BAD_USAGE;
    }

    mongoc_init();
    mongoc_log_set_handler(NULL, NULL);

    int status = EXIT_BAD_USAGE;
    bson_error_t error = {0};
    bson_t *command = NULL;
    mongoc_uri_t *uri = mongoc_uri_new_with_error(argv[1], &error);
    if (!uri) {
        fprintf(stderr, "mongo-admin: bad URI: %s\n", error.message);
        goto done;
    }
    command = bson_new_from_json((const uint8_t *)argv[3], -1, &error);
    if (!command) {
        fprintf(stderr, "mongo-admin: bad JSON: %s\n", error.message);
        goto done;
    }

    set_defaults(uri);
    status = run(uri, argv[2], command) ? EXIT_SUCCESS : EXIT_FAILURE;

done:
    if (command) {
        bson_destroy(command);
    }
    if (uri) {
        mongoc_uri_destroy(uri);
    }
    mongoc_cleanup();
    return status;
}
