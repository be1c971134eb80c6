/*
 * What a client publishes, kept in order. An event is a document {type, its fields...}, so that
 * one matcher serves all types. A pooled client publishes from its monitors' threads as well.
 */
#ifndef SPEC_EVENTS_H
#define SPEC_EVENTS_H

#include "tests/spec/test.h"

#include <pthread.h>

struct recorder {
    pthread_mutex_t lock;
    bool stopped;
    bson_t wanted;  /* {observeEvents: [...], ignoreCommandMonitoringEvents: [...]} */
    bool sensitive; /* observeSensitiveCommands */
    bson_t **events;
    size_t count;
    /* Of the command under way: what its end no longer tells in every driver version. */
    char *database;
    bool redacted;
    /* The topology as last published. */
    const char *topology; /* the driver's own name of the type */
    char *primary;        /* host:port, or NULL */
};

/* A recorder for the client that a test file describes; client is copied from. */
struct recorder *recorder_new(const bson_t *client);
void recorder_free(struct recorder *recorder);

/* The callbacks that fill a recorder, which must be their context; the caller destroys them. */
mongoc_apm_callbacks_t *recorder_callbacks(void);

/* Nothing is recorded from now on. */
void recorder_stop(struct recorder *recorder);

/* The type and primary of the topology, as {type, primary}, appended to doc. */
void recorder_topology(struct recorder *recorder, bson_t *doc);

/* Whether a type of event is one that the driver has; fails or is not applicable where not. */
bool event_type_known(struct test *test, const char *type);

/* Which eventType ("command", "sdam", "cmap") a type belongs to, or NULL. */
const char *event_class(const char *type);

/* How many recorded events match {type: {fields}}. */
size_t events_matching(struct test *test, struct recorder *recorder, const bson_iter_t *expected);

/* Whether the last two commands started have the same lsid; fails where that can't be said. */
bool events_same_lsid(struct test *test, struct recorder *recorder, bool *same);

/* Checks test.expectEvents; given once all operations have run. */
bool events_check(struct test *test, const bson_t *definition);

/* Before anything is run: whether all that expectEvents asks for can be observed. */
bool events_observable(struct test *test, const bson_t *definition);

#endif
