/*
 * Two mongos before one shard, one of which rejects everything: reads and
 * writes go through the other, and no write is lost or done twice. The
 * rejections are made by a proxy before that mongos, because those of its age
 * can't label them.
 */
#include "tests/integration/fixture.h"
#include "tests/integration/sends.h"
#include "tests/support/proxy.h"

#include <criterion/criterion.h>
#include <stdio.h>
#include <stdlib.h>

static struct proxy *overloaded;
static struct proxy *second_overloaded; /* mostly not there */
static uint16_t other;                  /* the port of the mongos that works */

static void end(void)
{
    fixture_end();
    sends_forget();
    if (overloaded) {
        proxy_stop(overloaded);
    }
    if (second_overloaded) {
        proxy_stop(second_overloaded);
    }
}

TestSuite(routers, .init = fixture_settings, .fini = end);

static void reject_everything(struct proxy *proxy)
{
    static const char *const commands[] = {
        "insert", "update", "delete", "find", "aggregate", "count", "findAndModify"};
    for (size_t i = 0; i < sizeof commands / sizeof *commands; i++) {
        proxy_on(proxy, .command = commands[i]);
    }
}

/* The administrator uses both mongos as they are. */
static void connect_to_both(bool both_overloaded)
{
    char text[128];
    const char *routers = getenv("MBP_TEST_MONGOS_URI");
    cr_assert(routers && *routers, "MBP_TEST_MONGOS_URI is not set; scripts/mongod --mongos does");
    setenv("MBP_TEST_URI", routers, 1);
    fixture_connect_admin();
    const mongoc_host_list_t *hosts = mongoc_uri_get_hosts(fixture.uri);
    cr_assert_not_null(hosts->next, "MBP_TEST_MONGOS_URI has one host only");
    overloaded = proxy_start(hosts->port);
    reject_everything(overloaded);
    other = hosts->next->port;
    if (both_overloaded) {
        second_overloaded = proxy_start(other);
        reject_everything(second_overloaded);
        other = proxy_port(second_overloaded);
    }
    snprintf(text, sizeof text, "mongodb://127.0.0.1:%d,127.0.0.1:%d/?localThresholdMS=60000",
        proxy_port(overloaded), other);
    mongoc_uri_destroy(fixture.uri);
    fixture.uri = mongoc_uri_new(text);
    mongoc_uri_set_appname(fixture.uri, fixture.name);
    fixture.client = fixture_new_client();
    fixture.collection = mongoc_client_get_collection(fixture.client, fixture.name, "things");
    sends_note(fixture.client);
}

/* What the one rejected, the other did: so many in all. */
static int expect_moved(const char *command, int times)
{
    const int rejected = sends_count(command, proxy_port(overloaded), SENDS_FAILED);
    cr_expect_gt(rejected, 0, "%s never met the mongos that is overloaded", command);
    cr_expect_eq(sends_count(command, proxy_port(overloaded), SENDS_ALL), rejected);
    cr_expect_eq(sends_count(command, other, SENDS_OK), times);
    cr_expect_eq(sends_count(command, 0, SENDS_ALL), times + rejected);
    cr_expect_eq(proxy_tally(overloaded, command).sent, rejected);
    return rejected;
}

static bool add_one(int number)
{
    bson_t *filter = BCON_NEW("i", BCON_INT32(number));
    bson_t *change = from_json("{'$inc': {'n': 1}}");
    const bool ok =
        mongoc_collection_update_one(fixture.collection, filter, change, NULL, NULL, NULL);
    bson_destroy(filter);
    bson_destroy(change);
    return ok;
}

Test(routers, writes_go_through_the_other)
{
    enum { WRITES = 60 };
    connect_to_both(false);
    cr_assert(fixture_admin_command(fixture.name, "{'create': 'things'}"));
    const struct counters before = counters_now();
    int errors = 0;

    for (int i = 0; i < WRITES; i++) {
        errors += !inserts(i);
    }
    for (int i = 0; i < WRITES; i++) {
        errors += !add_one(i);
    }

    cr_expect_eq(errors, 0);
    const int rejected = expect_moved("insert", WRITES) + expect_moved("update", WRITES);
    cr_expect_eq(counters_since(&before).retries, rejected);
    cr_expect_eq(counter_named("retargeted"), rejected);
    cr_expect_eq(fixture_count("{}"), WRITES, "none is lost, none is there twice");
    cr_expect_eq(fixture_count("{'n': 1}"), WRITES, "each was updated once");
}

/* All that are stored, in batches; -1 for an error. */
static int read_stored(void)
{
    const bson_t *document;
    bson_t query = BSON_INITIALIZER;
    bson_t *opts = from_json("{'batchSize': 3}");
    int count = 0;
    mongoc_cursor_t *cursor =
        mongoc_collection_find_with_opts(fixture.collection, &query, opts, NULL);
    while (mongoc_cursor_next(cursor, &document)) {
        count++;
    }
    count = mongoc_cursor_error(cursor, NULL) ? -1 : count;
    mongoc_cursor_destroy(cursor);
    bson_destroy(opts);
    return count;
}

static int count_stored(void)
{
    bson_t query = BSON_INITIALIZER;
    return (int)mongoc_collection_count_documents(
        fixture.collection, &query, NULL, NULL, NULL, NULL);
}

/* A getMore that went to the wrong mongos would find no cursor. */
Test(routers, reads_go_through_the_other)
{
    enum { READS = 60, STORED = 7 };
    int wrong = 0;
    connect_to_both(false);
    fixture_store(STORED);

    for (int i = 0; i < READS; i++) {
        wrong += read_stored() != STORED;
        wrong += count_stored() != STORED;
    }

    cr_expect_eq(wrong, 0);
    const int rejected = expect_moved("find", READS) + expect_moved("aggregate", READS);
    cr_expect_eq(counter_named("retargeted"), rejected);
    cr_expect_eq(sends_count("getMore", other, SENDS_OK), READS * 2);
    cr_expect_eq(sends_count("getMore", 0, SENDS_ALL), READS * 2);
}

Test(routers, bulk_goes_through_the_other)
{
    enum { BULKS = 20, EACH = 50 };
    int errors = 0;
    connect_to_both(false);
    cr_assert(fixture_admin_command(fixture.name, "{'create': 'things'}"));
    for (int b = 0; b < BULKS; b++) {
        mongoc_bulk_operation_t *bulk =
            mongoc_collection_create_bulk_operation_with_opts(fixture.collection, NULL);
        for (int i = 0; i < EACH; i++) {
            bson_t *document = BCON_NEW("i", BCON_INT32(b * EACH + i));
            mongoc_bulk_operation_insert(bulk, document);
            bson_destroy(document);
        }
        errors += mongoc_bulk_operation_execute(bulk, NULL, NULL) == 0;
        mongoc_bulk_operation_destroy(bulk);
    }
    cr_expect_eq(errors, 0);
    cr_expect_eq(counter_named("retargeted"), expect_moved("insert", BULKS));
    cr_expect_eq(fixture_count("{}"), BULKS * EACH);
}

/* Documents that are too many for one message: the driver sends them in two,
 * through one connection. */
static mongoc_bulk_operation_t *bulk_of_two_messages(void)
{
    enum { DOCUMENTS = 4, SIZE = 13000000 };
    char *filler = calloc(1, SIZE);
    mongoc_bulk_operation_t *bulk =
        mongoc_collection_create_bulk_operation_with_opts(fixture.collection, NULL);
    for (int i = 0; i < DOCUMENTS; i++) {
        bson_t document = BSON_INITIALIZER;
        bson_append_binary(&document, "filler", -1, BSON_SUBTYPE_BINARY, (uint8_t *)filler, SIZE);
        mongoc_bulk_operation_insert(bulk, &document);
        bson_destroy(&document);
    }
    free(filler);
    return bulk;
}

/* The search for another mongos finds that the first has hung up, and the
 * driver frees its connection. The next message must not go there. */
Test(routers, bulk_goes_on_when_its_connection_was_lost, .timeout = 120)
{
    enum { BULKS_AT_MOST = 40 }; /* each goes to either mongos first */
    int bulks = 0;
    int errors = 0;
    int lost = 0;
    setenv("MONGOBP_BASE_BACKOFF_MS", "2500", 1); /* mostly more than a heartbeat */
    connect_to_both(false);
    mongoc_uri_set_option_as_int32(fixture.uri, MONGOC_URI_HEARTBEATFREQUENCYMS, 500);
    cr_assert(fixture_admin_command(fixture.name, "{'create': 'things'}"));
    for (; bulks < BULKS_AT_MOST && lost < 2; bulks++) {
        bson_t *ping = from_json("{'ping': 1}");
        mongoc_collection_destroy(fixture.collection);
        mongoc_client_destroy(fixture.client);
        proxy_forget_rules(overloaded);
        fixture.client = fixture_new_client();
        fixture.collection = mongoc_client_get_collection(fixture.client, fixture.name, "things");
        mongoc_bulk_operation_t *bulk = bulk_of_two_messages();
        /* From here on it is less than a heartbeat until a server is chosen. */
        cr_assert(mongoc_client_command_simple(fixture.client, "admin", ping, NULL, NULL, NULL));
        reject_everything(overloaded);
        proxy_on(overloaded, .command = "hello", .action = PROXY_DISCONNECT);
        proxy_on(overloaded, .command = "isMaster", .action = PROXY_DISCONNECT);
        proxy_on(overloaded, .command = "ismaster", .action = PROXY_DISCONNECT);
        errors += !mongoc_bulk_operation_execute(bulk, NULL, NULL);
        mongoc_bulk_operation_destroy(bulk);
        bson_destroy(ping);
        lost = proxy_tally(overloaded, "insert").sent;
    }
    cr_expect_eq(errors, 0);
    cr_expect_geq(lost, 2, "all went to the other one at once");
    cr_expect_eq(fixture_count("{}"), bulks * 4, "none is lost, none is there twice");
}

Test(routers, switched_off)
{
    enum { WRITES = 40 };
    int errors = 0;
    setenv("MONGOBP_RETARGET", "off", 1);
    connect_to_both(false);
    cr_assert(fixture_admin_command(fixture.name, "{'create': 'things'}"));

    for (int i = 0; i < WRITES; i++) {
        errors += !inserts(i);
    }

    cr_expect(errors > 0 && errors < WRITES, "%d errors", errors);
    cr_expect_eq(proxy_tally(overloaded, "insert").sent, errors * 6);
    cr_expect_eq(sends_count("insert", other, SENDS_ALL), WRITES - errors);
    cr_expect_eq(counter_named("retargeted"), 0);
    cr_expect_eq(fixture_count("{}"), WRITES - errors);
}

/* Both are asked before one is asked again; and after five retries it ends. */
Test(routers, both_overloaded)
{
    bson_t reply;
    bson_error_t error;
    connect_to_both(true);
    const struct counters before = counters_now();

    cr_expect_not(insert_number(1, &reply, &error));

    cr_expect_eq(error.code, OVERLOADED);
    cr_expect(mongoc_error_has_label(&reply, "SystemOverloadedError"));
    const struct send *first = sends_get("insert", 0);
    const struct send *next = sends_get("insert", 1);
    cr_assert(first && next);
    cr_expect_neq(first->port, next->port);
    cr_expect_eq(sends_count("insert", 0, SENDS_ALL), 6);
    cr_expect_eq(counters_since(&before).refused_attempts, 1);
    cr_expect_eq(counters_since(&before).tokens_consumed, 5000);
    cr_expect_eq(fixture_count("{}"), 0);
    bson_destroy(&reply);
}
