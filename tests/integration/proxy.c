/*
 * The proxy that other tests rely on (tests/support/proxy.h), with mongobp
 * switched off: that it changes nothing unless told to, does what it is told,
 * and counts right.
 */
#include "behind_proxy.h"

#include <criterion/criterion.h>
#include <stdlib.h>

enum { SHUTDOWN_IN_PROGRESS = 91 };

static void without_mongobp(void)
{
    setenv("MONGOBP_DISABLE", "1", 1);
    fixture_settings();
}

TestSuite(proxy, .init = without_mongobp, .fini = behind_proxy_end);

#define expect_tally(command, ...)                                                                 \
    do {                                                                                           \
        const struct proxy_tally is_ = proxy_tally(proxy, command);                                \
        const struct proxy_tally want_ = {__VA_ARGS__};                                            \
        cr_expect(is_.sent == want_.sent && is_.turned_away == want_.turned_away &&                \
                      is_.most_on_one_connection == want_.most_on_one_connection,                  \
            "%s: sent %d, on one %d, turned away %d", command, is_.sent,                           \
            is_.most_on_one_connection, is_.turned_away);                                          \
    } while (0)

/* Several megabytes in document sequences, and cursors of several batches. */
Test(proxy, passes_on_what_is_large)
{
    enum { MANY = 30000 };
    const bson_t *document;
    bson_t query = BSON_INITIALIZER;
    bson_error_t error;
    behind_proxy_connect("");
    mongoc_bulk_operation_t *bulk =
        mongoc_collection_create_bulk_operation_with_opts(fixture.collection, NULL);
    for (int i = 0; i < MANY; i++) {
        bson_t *number = BCON_NEW("i", BCON_INT32(i), "text",
            BCON_UTF8("a text to make the document larger than it would be without it, so that "
                      "the sum of all of them is"));
        mongoc_bulk_operation_insert(bulk, number);
        bson_destroy(number);
    }
    cr_expect(mongoc_bulk_operation_execute(bulk, NULL, &error), "%s", error.message);
    mongoc_bulk_operation_destroy(bulk);

    mongoc_cursor_t *cursor =
        mongoc_collection_find_with_opts(fixture.collection, &query, NULL, NULL);
    int read = 0;
    while (mongoc_cursor_next(cursor, &document)) {
        read++;
    }
    cr_expect_not(mongoc_cursor_error(cursor, NULL));
    cr_expect_eq(read, MANY);
    mongoc_cursor_destroy(cursor);
    expect_tally("insert", .sent = 1, .most_on_one_connection = 1);
    expect_tally("find", .sent = 1, .most_on_one_connection = 1);
    cr_expect_gt(proxy_tally(proxy, "getMore").sent, 0);
    cr_expect_eq(fixture_count("{}"), MANY);
}

/* Nothing may be waited for after a command that has no answer. */
Test(proxy, passes_on_what_has_no_answer)
{
    bson_t *document = from_json("{'i': 1}");
    bson_t *opts = from_json("{'writeConcern': {'w': 0}}");
    behind_proxy_connect("");
    cr_expect(mongoc_collection_insert_one(fixture.collection, document, opts, NULL, NULL));
    proxy_on(proxy, .command = "insert", .times = 1);
    cr_expect(mongoc_collection_insert_one(fixture.collection, document, opts, NULL, NULL));
    cr_expect(inserts(2));
    expect_tally("insert", .sent = 3, .most_on_one_connection = 3, .turned_away = 1);
    cr_expect_eq(fixture_count("{}"), 2);
    bson_destroy(document);
    bson_destroy(opts);
}

Test(proxy, sees_the_first_hello_of_each_connection)
{
    behind_proxy_connect("");
    cr_assert(inserts(1));
    cr_assert_eq(proxy_connection_count(proxy), 1);
    const struct proxy_connection seen = proxy_connection(proxy, 0);
    cr_expect_eq(seen.hellos, 1);
    cr_expect_eq(seen.commands, 1);
    cr_expect_eq(seen.backpressure.type, WIRE_ABSENT);
    cr_expect_not(seen.turned_away);
}

Test(proxy, rejects_as_an_overloaded_server_does)
{
    bson_t reply;
    bson_error_t error;
    bson_iter_t field;
    behind_proxy_connect("");
    proxy_on(proxy, .command = "insert", .times = 1, .base_backoff_ms = 7);

    cr_expect_not(insert_number(1, &reply, &error));

    cr_expect_eq(error.code, OVERLOADED);
    cr_expect(mongoc_error_has_label(&reply, "RetryableError"));
    cr_expect(mongoc_error_has_label(&reply, "SystemOverloadedError"));
    bson_destroy(&reply);
    cr_expect(inserts(2));
    proxy_on(proxy, .command = "ping", .code = SHUTDOWN_IN_PROGRESS, .labels = "");
    bson_t *ping = from_json("{'ping': 1}");
    cr_expect_not(
        mongoc_client_command_simple(fixture.client, "admin", ping, NULL, &reply, &error));
    cr_expect_eq(error.code, SHUTDOWN_IN_PROGRESS);
    cr_expect_not(bson_iter_init_find(&field, &reply, "errorLabels"));
    bson_destroy(&reply);
    bson_destroy(ping);
    expect_tally("insert", .sent = 2, .most_on_one_connection = 2, .turned_away = 1);
    cr_expect_eq(fixture_count("{}"), 1);
}

/* The driver sends a retryable write once more, on another connection. */
static void disconnects(enum proxy_action action)
{
    behind_proxy_connect("");
    proxy_on(proxy, .command = "insert", .times = 1, .action = action);
    cr_expect(inserts(1));
    expect_tally("insert", .sent = 2, .most_on_one_connection = 1, .turned_away = 1);
    cr_expect_eq(proxy_connection_count(proxy), 2);
    cr_expect_eq(fixture_count("{}"), 1);
}

Test(proxy, disconnects_before)
{
    disconnects(PROXY_DISCONNECT);
}

Test(proxy, disconnects_after)
{
    disconnects(PROXY_LOSE_ANSWER);
}

static void turns_away(enum proxy_manner manner)
{
    bson_error_t error;
    behind_proxy_connect("&connectTimeoutMS=300");
    proxy_turn_away(proxy, manner, 1);
    cr_expect_not(insert_number(1, NULL, &error));
    cr_log_info("the driver says: %s", error.message);
    cr_expect_eq(proxy_turned_away(proxy), 1);
    cr_expect_eq(proxy_tally(proxy, "insert").sent, 0);
    mongoc_client_t *second = fixture_new_client(); /* which does not know of it */
    bson_t *ping = from_json("{'ping': 1}");
    cr_expect(mongoc_client_command_simple(second, "admin", ping, NULL, NULL, &error), "%s",
        error.message);
    bson_destroy(ping);
    mongoc_client_destroy(second);
}

Test(proxy, closes_connections)
{
    turns_away(PROXY_CLOSES);
}

Test(proxy, resets_connections)
{
    turns_away(PROXY_RESETS);
}

Test(proxy, resets_connections_at_once)
{
    turns_away(PROXY_RESETS_AT_ONCE);
}

Test(proxy, leaves_connections_without_an_answer)
{
    turns_away(PROXY_IS_SILENT);
}
