/*
 * The entities of a test by name: clients, what is derived from them, and saved results. They are
 * destroyed newest first, because a client must outlive all that came from it.
 */
#ifndef SPEC_ENTITIES_H
#define SPEC_ENTITIES_H

#include "tests/spec/events.h"
#include "tests/spec/test.h"

enum kind {
    TEST_RUNNER, /* no entity, but an object of operations all the same */
    CLIENT,
    DATABASE,
    COLLECTION,
    SESSION,
    BUCKET,
    CURSOR,
    CHANGE_STREAM,
    VALUE,
    TOPOLOGY,
    CLIENT_ENCRYPTION /* never made */
};

struct entity {
    struct entity *next;
    enum kind kind;
    char *id;
    mongoc_client_t *client;     /* the client it belongs to; NULL once that was closed */
    mongoc_client_pool_t *pool;  /* CLIENT: where client came from; NULL for a single one */
    struct recorder *events;     /* CLIENT; outlives the client, for what is asked at the end */
    mongoc_database_t *database; /* also of a COLLECTION: a copy of the one it is in */
    mongoc_collection_t *collection;
    mongoc_client_session_t *session;
    bson_t lsid; /* SESSION; still asked for once it has ended */
    mongoc_gridfs_bucket_t *bucket;
    mongoc_cursor_t *cursor;
    bson_t *peeked; /* CURSOR: a document that was read ahead */
    mongoc_change_stream_t *stream;
    bson_t value; /* VALUE: {v: value}; TOPOLOGY: {type, primary} */
};

const char *kind_name(enum kind kind);

/* The entity of that name, or NULL. */
struct entity *entity_find(struct test *test, const char *id);

/* The same, of that kind and still open; fails the test where it is not. */
struct entity *entity_get(struct test *test, const char *id, enum kind kind);

/* A new, empty entity; NULL and a failed test where the name is taken. */
struct entity *entity_add(struct test *test, const char *id, enum kind kind);

/* Ends what the entity stands for, and all that came from it if it is a client. Its name stays. */
void entity_close(struct test *test, struct entity *entity);

/* Destroys all entities. */
void entities_clear(struct test *test);

/* Makes the entities of an array as a test file describes it, in its order. */
bool entities_create(struct test *test, const bson_t *owner, const char *key);

/* Stops the recording on all clients. */
void entities_stop_events(struct test *test);

#endif
