#include "tests/spec/entities.h"

#include "tests/spec/retire.h"

#include <stdlib.h>
#include <string.h>

const char *kind_name(enum kind kind)
{
    static const char *const names[] = {"testRunner", "client", "database", "collection", "session",
        "bucket", "cursor", "changeStream", "value", "topologyDescription", "clientEncryption"};

    return names[kind];
}

struct entity *entity_find(struct test *test, const char *id)
{
    for (struct entity *entity = test->entities; entity; entity = entity->next) {
        if (strcmp(entity->id, id) == 0) {
            return entity;
        }
    }
    return NULL;
}

struct entity *entity_get(struct test *test, const char *id, enum kind kind)
{
    struct entity *entity = entity_find(test, id);

    if (entity && entity->kind == kind) {
        return entity;
    }
    fail(test, "no %s '%s'", kind_name(kind), id);
    return NULL;
}

struct entity *entity_add(struct test *test, const char *id, enum kind kind)
{
    struct entity *entity;

    if (!id || entity_find(test, id)) {
        fail(test, "entity '%s': %s", id ? id : "", id ? "the name is taken" : "it needs an id");
        return NULL;
    }
    entity = new_aligned(sizeof *entity);
    entity->kind = kind;
    entity->id = bson_strdup(id);
    bson_init(&entity->lsid);
    bson_init(&entity->value);
    entity->next = test->entities;
    test->entities = entity;
    return entity;
}

/* The driver's own objects, each with its own way to end. */
static void release(struct entity *entity)
{
    mongoc_change_stream_destroy(entity->stream);
    mongoc_cursor_destroy(entity->cursor);
    mongoc_gridfs_bucket_destroy(entity->bucket);
    mongoc_client_session_destroy(entity->session);
    mongoc_collection_destroy(entity->collection);
    mongoc_database_destroy(entity->database);
    if (entity->kind == CLIENT && entity->pool) {
        mongoc_client_pool_push(entity->pool, entity->client);
        mongoc_client_pool_destroy(entity->pool);
    } else if (entity->kind == CLIENT && entity->client) {
        mongoc_client_destroy(entity->client);
    }
    entity->stream = NULL;
    entity->cursor = NULL;
    entity->bucket = NULL;
    entity->session = NULL;
    entity->collection = NULL;
    entity->database = NULL;
    entity->pool = NULL;
    entity->client = NULL;
}

void entity_close(struct test *test, struct entity *entity)
{
    mongoc_client_t *client = entity->client;

    /* The newest come first in the list, so what hangs on the client is gone before it. */
    if (entity->kind == CLIENT) {
        for (struct entity *other = test->entities; other; other = other->next) {
            if (other->client == client && client && other != entity) {
                release(other);
            }
        }
    }
    release(entity);
}

void entities_stop_events(struct test *test)
{
    for (struct entity *entity = test->entities; entity; entity = entity->next) {
        if (entity->events) {
            recorder_stop(entity->events);
        }
    }
}

void entities_clear(struct test *test)
{
    struct entity *entity;

    while ((entity = test->entities)) {
        test->entities = entity->next;
        if (entity->pool) {
            mongoc_client_pool_push(entity->pool, entity->client);
            retire(entity->pool, entity->events);
            entity->pool = NULL;
            entity->client = NULL;
            entity->events = NULL;
        }
        release(entity);
        if (entity->events) {
            recorder_free(entity->events);
        }
        bson_destroy(entity->peeked);
        bson_destroy(&entity->lsid);
        bson_destroy(&entity->value);
        bson_free(entity->id);
        free(entity);
    }
}
