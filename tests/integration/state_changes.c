/*
 * Errors that say that the server is no longer what it was, or that take the
 * connection away, with the labels of an overload: mongobp sends nothing again
 * on that connection. The driver's own single retry stays as it is. Counted by
 * the driver and, for each connection, by a proxy.
 */
#include "behind_proxy.h"

#include <criterion/criterion.h>

enum {
    NOT_WRITABLE_PRIMARY = 10107,
    NOT_PRIMARY_NO_SECONDARY_OK = 13435,
    SHUTDOWN_IN_PROGRESS = 91,
    INTERRUPTED_AT_SHUTDOWN = 11600,
    PRIMARY_STEPPED_DOWN = 189,
};

#define WITH_THE_DRIVERS_LABEL PROXY_OVERLOADED " RetryableWriteError"

TestSuite(state_changes, .init = fixture_settings, .fini = behind_proxy_end);

static const int codes[] = {NOT_WRITABLE_PRIMARY, NOT_PRIMARY_NO_SECONDARY_OK, SHUTDOWN_IN_PROGRESS,
    INTERRUPTED_AT_SHUTDOWN, PRIMARY_STEPPED_DOWN};
/* Each takes half a second until the driver looks again; a few are enough
 * where it does so more than once. */
enum { CODES = sizeof codes / sizeof *codes, FEW = 2 };

static struct counters before;

static void connect_client(void)
{
    behind_proxy_connect("");
    cr_assert(fixture_admin_command(fixture.name, "{'create': 'things'}"));
    before = counters_now();
}

/* mongobp neither sent again nor paid for it. */
static void expect_no_retry(void)
{
    cr_expect_eq(counters_since(&before).retries, 0);
    cr_expect_eq(counters_since(&before).tokens_consumed, 0);
}

/* Not a write that the driver may repeat, for all that it knows. */
Test(state_changes, write)
{
    connect_client();
    for (int i = 0; i < CODES; i++) {
        bson_error_t error = {0};
        proxy_on(proxy, .command = "insert", .times = 1, .code = codes[i]);
        watch_reset();

        cr_expect_not(insert_number(i, NULL, &error));

        cr_expect_eq(error.code, (uint32_t)codes[i]);
        expect_events("insert", .started = 1, .failed = 1);
        cr_expect(inserts(100 + i), "after %d", codes[i]);
        proxy_forget_rules(proxy);
    }
    expect_no_retry();
    cr_expect_eq(fixture_count("{}"), CODES);
}

/* One that it may: once more, and that is all, however long it goes on. */
Test(state_changes, write_that_the_driver_repeats)
{
    connect_client();
    for (int i = 0; i < FEW; i++) {
        proxy_on(proxy, .command = "insert", .times = 1, .code = codes[i],
            .labels = WITH_THE_DRIVERS_LABEL);
        watch_reset();
        cr_expect(inserts(i));
        expect_events("insert", .started = 2, .succeeded = 1, .failed = 1);

        proxy_forget_rules(proxy);
        proxy_on(proxy, .command = "insert", .code = codes[i], .labels = WITH_THE_DRIVERS_LABEL);
        watch_reset();
        cr_expect_not(inserts(100 + i));
        expect_events("insert", .started = 2, .failed = 2);
        proxy_forget_rules(proxy);
    }
    expect_no_retry();
    cr_expect_eq(fixture_count("{}"), FEW);
}

/* The driver repeats a read on these by itself. */
Test(state_changes, read)
{
    bson_t query = BSON_INITIALIZER;
    connect_client();
    fixture_store(1);
    for (int i = 0; i < FEW; i++) {
        const bson_t *document;
        proxy_on(proxy, .command = "find", .times = 1, .code = codes[i]);
        watch_reset();
        mongoc_cursor_t *cursor =
            mongoc_collection_find_with_opts(fixture.collection, &query, NULL, NULL);
        cr_expect(mongoc_cursor_next(cursor, &document), "after %d", codes[i]);
        expect_events("find", .started = 2, .succeeded = 1, .failed = 1);
        mongoc_cursor_destroy(cursor);
        proxy_forget_rules(proxy);
    }
    expect_no_retry();
}

/* A connection that is shut down has nothing more sent on it. */
Test(state_changes, shutdown_ends_the_connection)
{
    connect_client();
    proxy_on(proxy, .command = "insert", .times = 1, .code = SHUTDOWN_IN_PROGRESS,
        .labels = WITH_THE_DRIVERS_LABEL);
    cr_expect(inserts(1));
    cr_expect_eq(proxy_tally(proxy, "insert").sent, 2);
    cr_expect_eq(proxy_tally(proxy, "insert").most_on_one_connection, 1);
    expect_no_retry();
}

static void connection_lost(enum proxy_action action)
{
    connect_client();
    proxy_on(proxy, .command = "insert", .times = 1, .action = action);

    cr_expect(inserts(1));

    expect_events("insert", .started = 2, .succeeded = 1, .failed = 1);
    cr_expect_eq(proxy_tally(proxy, "insert").most_on_one_connection, 1);
    expect_no_retry();
    cr_expect_eq(fixture_count("{}"), 1, "stored once");
}

Test(state_changes, connection_lost_before)
{
    connection_lost(PROXY_DISCONNECT);
}

Test(state_changes, connection_lost_after)
{
    connection_lost(PROXY_LOSE_ANSWER);
}

/* Nobody may repeat a command of which it isn't known whether it was done. */
Test(state_changes, connection_lost_by_what_may_not_be_repeated)
{
    bson_t *all = bson_new();
    bson_t *change = from_json("{'$inc': {'n': 1}}");
    connect_client();
    fixture_store(2);
    proxy_on(proxy, .command = "update", .times = 1, .action = PROXY_LOSE_ANSWER);

    cr_expect_not(mongoc_collection_update_many(fixture.collection, all, change, NULL, NULL, NULL));

    expect_events("update", .started = 1, .failed = 1);
    expect_no_retry();
    cr_expect_eq(fixture_count("{'n': 1}"), 2);
    bson_destroy(all);
    bson_destroy(change);
}

/* First overloaded, which is tried again; then no primary, which is not. */
Test(state_changes, after_an_overload)
{
    bson_error_t error;
    connect_client();
    proxy_on(proxy, .command = "insert", .times = 2);
    proxy_on(proxy, .command = "insert", .code = NOT_WRITABLE_PRIMARY);

    cr_expect_not(insert_number(1, NULL, &error));

    cr_expect_eq(error.code, NOT_WRITABLE_PRIMARY);
    expect_events("insert", .started = 3, .failed = 3);
    cr_expect_eq(counters_since(&before).retries, 2);
}
