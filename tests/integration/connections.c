/*
 * Connections that an overloaded server turns away before it has answered
 * anything: the operation that needed one succeeds a little later, in place of
 * an error. What is no overload (no such host, a wrong password) is not tried
 * again.
 */
#include "behind_proxy.h"

#include <arpa/inet.h>
#include <criterion/criterion.h>
#include <netinet/in.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#define TURNED_AWAY "connection_overloads"

TestSuite(
    connections, .init = fixture_settings_for_any_driver, .fini = behind_proxy_end, .timeout = 120);

static void succeeds_in_the_end(enum proxy_manner manner)
{
    enum { FIRST = 3 };
    bson_error_t error;
    behind_proxy_connect("&connectTimeoutMS=300");
    proxy_turn_away(proxy, manner, FIRST);

    cr_expect(insert_number(1, NULL, &error), "%s", error.message);

    cr_expect_eq(proxy_turned_away(proxy), FIRST);
    cr_expect_geq(counter_named(TURNED_AWAY), FIRST);
    cr_expect_geq(counter_named("connection_retries"), FIRST);
    cr_expect_eq(proxy_tally(proxy, "insert").sent, 1);
    expect_events("insert", .started = 1, .succeeded = 1);
    cr_expect_eq(fixture_count("{}"), 1);
    /* And nothing of it stays behind. */
    cr_expect(inserts(2));
    cr_expect_eq(proxy_connection_count(proxy), FIRST + 1);
}

Test(connections, closed)
{
    succeeds_in_the_end(PROXY_CLOSES);
}

Test(connections, reset)
{
    succeeds_in_the_end(PROXY_RESETS);
}

Test(connections, never_answered)
{
    succeeds_in_the_end(PROXY_IS_SILENT);
}

/* A read selects its server in another way than a write. */
Test(connections, closed_for_a_read)
{
    const bson_t *document;
    bson_t query = BSON_INITIALIZER;
    bson_error_t error;
    behind_proxy_connect("");
    fixture_store(1);
    proxy_turn_away(proxy, PROXY_CLOSES, 2);

    mongoc_cursor_t *cursor =
        mongoc_collection_find_with_opts(fixture.collection, &query, NULL, NULL);
    cr_expect(mongoc_cursor_next(cursor, &document));

    cr_expect_not(mongoc_cursor_error(cursor, &error), "%s", error.message);
    cr_expect_geq(counter_named(TURNED_AWAY), 2);
    mongoc_cursor_destroy(cursor);
}

/* At most five retries here as well. */
Test(connections, given_up)
{
    bson_error_t error;
    behind_proxy_connect("");
    proxy_turn_away(proxy, PROXY_CLOSES, 1000);

    cr_expect_not(insert_number(1, NULL, &error));

    cr_expect_eq(error.domain, MONGOC_ERROR_SERVER_SELECTION);
    cr_expect_eq(proxy_turned_away(proxy), 6);
    cr_expect_eq(proxy_connection_count(proxy), 6);
}

/* A token each, of the budget that all retries share. */
Test(connections, budget_spent)
{
    setenv("MONGOBP_CAPACITY", "2", 1);
    behind_proxy_connect("");
    proxy_turn_away(proxy, PROXY_CLOSES, 1000);

    cr_expect_not(inserts(1));

    cr_expect_eq(proxy_connection_count(proxy), 3);
    cr_expect_eq(tokens_left(), 0);
}

Test(connections, not_retried_when_disabled)
{
    setenv("MONGOBP_DISABLE", "1", 1);
    behind_proxy_connect("");
    proxy_turn_away(proxy, PROXY_CLOSES, 1);
    cr_expect_not(inserts(1));
    cr_expect_eq(proxy_connection_count(proxy), 1);
}

/* Monitoring found the server long ago; what is turned away is the connection
 * for the operation itself. */
Test(connections, closed_for_a_client_of_a_pool)
{
    bson_error_t error;
    bson_t *ping = from_json("{'ping': 1}");
    behind_proxy_start("");
    mongoc_client_pool_t *pool = mongoc_client_pool_new(fixture.uri);
    mongoc_client_t *first = mongoc_client_pool_pop(pool);
    mongoc_client_t *second = mongoc_client_pool_pop(pool);
    cr_assert(mongoc_client_command_simple(first, "admin", ping, NULL, NULL, &error), "%s",
        error.message);
    proxy_turn_away(proxy, PROXY_CLOSES, 3);

    cr_expect(mongoc_client_command_simple(second, "admin", ping, NULL, NULL, &error), "%s",
        error.message);

    /* Some of the three may have been for monitoring, which comes back alone. */
    cr_expect_eq(proxy_turned_away(proxy), 3);
    cr_expect_geq(counter_named(TURNED_AWAY), 1);
    mongoc_client_pool_push(pool, first);
    mongoc_client_pool_push(pool, second);
    mongoc_client_pool_destroy(pool);
    bson_destroy(ping);
}

/* How long a client looks for a server is the program's to say: the retries
 * fit into this time. */
Test(connections, time_to_select_a_server_is_kept)
{
    bson_error_t error = {0};
    behind_proxy_connect("&serverSelectionTimeoutMS=1000&connectTimeoutMS=300");
    proxy_turn_away(proxy, PROXY_IS_SILENT, 1000);

    cr_expect_not(insert_number(1, NULL, &error));

    cr_expect_eq(error.domain, MONGOC_ERROR_SERVER_SELECTION, "%s", error.message);
    cr_expect_gt(proxy_connection_count(proxy), 1);
    cr_expect_eq(counters_now().refused_deadline, 1);
}

/* Pings the URI in vain; returns how many tries to connect followed the first. */
static int64_t retries_in_vain(const char *uri)
{
    bson_error_t error = {0};
    bson_t *ping = from_json("{'ping': 1}");
    fixture_connect_admin();
    const struct counters before = counters_now();
    mongoc_client_t *client = mongoc_client_new(uri);
    cr_assert_not_null(client);

    cr_expect_not(mongoc_client_command_simple(client, "admin", ping, NULL, NULL, &error));

    const int64_t retries = counter_named("connection_retries");
    cr_log_info("%lld retries; the driver says: %s", (long long)retries, error.message);
    cr_expect_eq(counters_since(&before).retries, 0, "it came to no command");
    cr_expect_eq(counters_since(&before).tokens_consumed, retries * 1000);
    mongoc_client_destroy(client);
    bson_destroy(ping);
    return retries;
}

/* A name that no resolver asks anybody about: it is too long for one. */
Test(connections, no_such_host)
{
    char uri[128] = "mongodb://";
    memset(uri + strlen(uri), 'a', 70);
    cr_expect_eq(retries_in_vain(uri), 0);
    cr_expect_eq(counter_named(TURNED_AWAY), 0);
}

/* Bound, so that nobody else takes it; and nobody listens. */
Test(connections, nobody_there)
{
    char uri[64];
    struct sockaddr_in address = {.sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
    socklen_t size = sizeof address;
    const int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
    cr_assert(bind(fd, (const struct sockaddr *)&address, sizeof address) == 0 &&
              getsockname(fd, (struct sockaddr *)&address, &size) == 0);
    snprintf(uri, sizeof uri, "mongodb://127.0.0.1:%d/", ntohs(address.sin_port));
    cr_expect_eq(retries_in_vain(uri), 0);
    close(fd);
}

Test(connections, wrong_password)
{
    char uri[128];
    behind_proxy_start("");
    snprintf(uri, sizeof uri, "mongodb://nobody:wrong@127.0.0.1:%d/?directConnection=true",
        proxy_port(proxy));
    mongoc_client_destroy(fixture.admin); /* retries_in_vain connects anew */
    mongoc_uri_destroy(fixture.uri);
    cr_expect_eq(retries_in_vain(uri), 0);
    cr_expect_eq(counter_named(TURNED_AWAY), 0);
    /* Drivers from 1.24 on try once more by themselves. */
    cr_expect_eq(proxy_tally(proxy, "saslStart").sent, mongoc_check_version(1, 24, 0) ? 2 : 1);
}
