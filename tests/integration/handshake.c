/*
 * What a client says of itself on every new connection, in its first hello:
 * `backpressure: true`, or "2" in today's edition of the specification. As the
 * server hears it, since a proxy listens.
 */
#include "behind_proxy.h"

#include <criterion/criterion.h>
#include <stdlib.h>
#include <string.h>

TestSuite(handshake, .init = fixture_settings, .fini = behind_proxy_end);

enum announced { NOTHING, TRUE, EDITION_2 };

static bool is_announced(const struct proxy_connection *connection, enum announced what)
{
    const struct wire_field *field = &connection->backpressure;
    switch (what) {
    case NOTHING:
        return field->type == WIRE_ABSENT;
    case TRUE:
        return field->type == WIRE_BOOLEAN && field->boolean;
    case EDITION_2:
        return field->type == WIRE_STRING && strcmp(field->text, "2") == 0;
    }
    return false;
}

/* Of all connections so far; returns how many had commands other than hello.
 * The rest are monitoring. */
static int expect_announced(enum announced what, int *monitoring)
{
    int used = 0;
    *monitoring = 0;
    for (size_t i = 0; i < proxy_connection_count(proxy); i++) {
        const struct proxy_connection connection = proxy_connection(proxy, i);
        if (connection.hellos > 0) {
            cr_expect(is_announced(&connection, what),
                "connection %zu (%s): type %d, true: %d, text '%s'", i,
                connection.commands ? "used" : "monitoring", connection.backpressure.type,
                connection.backpressure.boolean, connection.backpressure.text);
            used += connection.commands > 0;
            *monitoring += connection.commands == 0;
        }
    }
    return used;
}

/* A client that loses its connection makes another. */
static void single_threaded(enum announced what)
{
    int monitoring;
    behind_proxy_connect("");
    cr_expect(inserts(1));
    proxy_on(proxy, .command = "insert", .times = 1, .action = PROXY_DISCONNECT);
    cr_expect(inserts(2));
    cr_expect_eq(expect_announced(what, &monitoring), 2);
}

/* With monitoring connections of its own. */
static void pooled(enum announced what)
{
    enum { CLIENTS = 3 };
    int monitoring;
    mongoc_client_t *clients[CLIENTS];
    bson_t *ping = from_json("{'ping': 1}");
    behind_proxy_start("");
    mongoc_client_pool_t *pool = mongoc_client_pool_new(fixture.uri);
    for (int i = 0; i < CLIENTS; i++) {
        bson_error_t error;
        clients[i] = mongoc_client_pool_pop(pool);
        cr_expect(mongoc_client_command_simple(clients[i], "admin", ping, NULL, NULL, &error), "%s",
            error.message);
    }
    cr_expect_eq(expect_announced(what, &monitoring), CLIENTS);
    cr_expect_geq(monitoring, 1);
    for (int i = 0; i < CLIENTS; i++) {
        mongoc_client_pool_push(pool, clients[i]);
    }
    mongoc_client_pool_destroy(pool);
    bson_destroy(ping);
}

Test(handshake, by_default)
{
    single_threaded(TRUE);
}

Test(handshake, by_default_of_a_pool)
{
    pooled(TRUE);
}

Test(handshake, original_profile)
{
    setenv("MONGOBP_PROFILE", "original", 1);
    single_threaded(TRUE);
}

Test(handshake, current_profile)
{
    setenv("MONGOBP_PROFILE", "current", 1);
    single_threaded(EDITION_2);
}

Test(handshake, current_profile_of_a_pool)
{
    setenv("MONGOBP_PROFILE", "current", 1);
    pooled(EDITION_2);
}

Test(handshake, disabled)
{
    setenv("MONGOBP_DISABLE", "1", 1);
    single_threaded(NOTHING);
}

Test(handshake, disabled_pool)
{
    setenv("MONGOBP_DISABLE", "1", 1);
    pooled(NOTHING);
}

/* Who only observes does not behave as it would announce. */
Test(handshake, observe)
{
    setenv("MONGOBP_OBSERVE", "1", 1);
    single_threaded(NOTHING);
}
