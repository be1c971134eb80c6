/*
 * The server under test, seen through the runner's own client: what it is, whether a test is meant
 * for it, and the data that a test begins and ends with.
 */
#ifndef SPEC_SERVER_H
#define SPEC_SERVER_H

#include "tests/spec/test.h"

struct server {
    const char *uri;
    bool single_threaded; /* client entities are no pooled clients */
    mongoc_client_t *client;
    unsigned version[3];
    const char *topology; /* as runOnRequirements name them */
    bson_t parameters;    /* all of getParameter */
    bson_t cluster_time;  /* the latest, after initialData; empty where not sharded */
    char problem[640];    /* why there is none; empty if there is one */
};

/* Connects and asks what the server is. Where that fails, problem says why. */
void server_open(struct server *server, const char *uri);
void server_close(struct server *server);

/* A command of the runner's own on a database; the caller destroys reply if it is not NULL. */
bool server_command(struct server *server, const char *database, const bson_t *command,
    bson_t *reply, bson_error_t *error);

/* Parses major.minor.patch; what is absent is 0. False where it is no version. */
bool parse_version(const char *text, unsigned version[3]);
int compare_versions(const unsigned one[3], const unsigned other[3]);

/* Whether one of the requirements is met; not applicable where none is, naming what is missing. */
bool requirements_met(struct test *test, const bson_t *definition);

/* Makes the collections hold what file.initialData says. */
bool initial_data(struct test *test, const bson_t *file);

/* Checks that the collections hold what test.outcome says. */
bool outcome_check(struct test *test, const bson_t *definition);

/* Ends transactions that a test left open, which would block the next one. */
void kill_sessions(struct server *server);

/* Turns off what the test's fail points turned on. */
void failpoints_off(struct test *test);

#endif
