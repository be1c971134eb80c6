/*
 * Bulk writes: each batch is a command of its own, retried by itself, and no
 * document is lost or stored twice.
 */
#include "fixture.h"

#include <criterion/criterion.h>

enum { STORED = 10 };

TestSuite(bulk, .init = fixture_settings, .fini = fixture_end);

static mongoc_bulk_operation_t *new_bulk(bool ordered)
{
    bson_t *opts = BCON_NEW("ordered", BCON_BOOL(ordered));
    mongoc_bulk_operation_t *bulk =
        mongoc_collection_create_bulk_operation_with_opts(fixture.collection, opts);
    bson_destroy(opts);
    return bulk;
}

static void add_insert(mongoc_bulk_operation_t *bulk, int number)
{
    bson_t *document = BCON_NEW("i", BCON_INT32(number));
    mongoc_bulk_operation_insert(bulk, document);
    bson_destroy(document);
}

/* Four batches: insert, update, delete, insert. */
static mongoc_bulk_operation_t *mixed_bulk(bool ordered)
{
    mongoc_bulk_operation_t *bulk = new_bulk(ordered);
    bson_t *few = from_json("{'i': {'$lt': 4}}");
    bson_t *change = from_json("{'$inc': {'n': 1}}");
    bson_t *last = from_json("{'i': 9}");
    add_insert(bulk, 100);
    add_insert(bulk, 101);
    mongoc_bulk_operation_update(bulk, few, change, false);
    mongoc_bulk_operation_remove(bulk, last);
    add_insert(bulk, 102);
    bson_destroy(few);
    bson_destroy(change);
    bson_destroy(last);
    return bulk;
}

static void later_batch_rejected(bool ordered)
{
    bson_error_t error;
    fixture_connect();
    fixture_store(STORED);
    cr_assert(reject(.command = "update", .times = 3));
    mongoc_bulk_operation_t *bulk = mixed_bulk(ordered);
    const struct counters before = counters_now();

    cr_expect(mongoc_bulk_operation_execute(bulk, NULL, &error), "%s", error.message);

    expect_events("insert", .started = 2, .succeeded = 2);
    expect_events("update", .started = 4, .succeeded = 1, .failed = 3);
    expect_events("delete", .started = 1, .succeeded = 1);
    expect_counters(&before, .operations = 4, .first_successes = 3, .retries = 3,
        .retry_successes = 1, .overload_errors = 3, .tokens_consumed = 3000,
        .tokens_deposited = 1100 + 100 + 100);
    cr_expect_eq(fixture_count("{'i': {'$gte': 100}}"), 3);
    cr_expect_eq(fixture_count("{'n': 1}"), 4);
    cr_expect_eq(fixture_count("{'i': 9}"), 0);
    cr_expect_eq(fixture_count("{}"), STORED + 3 - 1);
    mongoc_bulk_operation_destroy(bulk);
}

Test(bulk, later_batch_rejected_ordered)
{
    later_batch_rejected(true);
}

Test(bulk, later_batch_rejected_unordered)
{
    later_batch_rejected(false);
}

/* The update is never accepted. Returns with `before` from before the bulk. */
static void batch_given_up(bool ordered, struct counters *before)
{
    bson_t reply;
    bson_error_t error;
    fixture_connect();
    fixture_store(STORED);
    cr_assert(reject(.command = "update"));
    mongoc_bulk_operation_t *bulk = mixed_bulk(ordered);
    *before = counters_now();

    cr_expect_not(mongoc_bulk_operation_execute(bulk, &reply, &error));

    /* Going on, the driver forgets the code, with or without mongobp. */
    cr_expect(!ordered || error.code == OVERLOADED);
    cr_expect(mongoc_error_has_label(&reply, "SystemOverloadedError"));
    cr_expect(mongoc_error_has_label(&reply, "RetryableError"));
    expect_events("update", .started = 6, .failed = 6);
    bson_destroy(&reply);
    mongoc_bulk_operation_destroy(bulk);
}

Test(bulk, ordered_stops_at_the_batch_given_up)
{
    struct counters before;
    batch_given_up(true, &before);
    expect_events("insert", .started = 1, .succeeded = 1);
    expect_events("delete", .started = 0);
    expect_counters(&before, .operations = 2, .first_successes = 1, .retries = 5,
        .overload_errors = 6, .refused_attempts = 1, .tokens_consumed = 5000);
    cr_expect_eq(fixture_count("{}"), STORED + 2);
}

Test(bulk, unordered_goes_on_after_the_batch_given_up)
{
    struct counters before;
    batch_given_up(false, &before);
    expect_events("insert", .started = 2, .succeeded = 2);
    expect_events("delete", .started = 1, .succeeded = 1);
    expect_counters(&before, .operations = 4, .first_successes = 3, .retries = 5,
        .overload_errors = 6, .refused_attempts = 1, .tokens_consumed = 5000,
        .tokens_deposited = 200);
    cr_expect_eq(fixture_count("{}"), STORED + 3 - 1);
    cr_expect_eq(fixture_count("{'n': 1}"), 0);
}

enum { MANY = 250000 };

/* The second batch is on its way: from its first send on the server rejects. */
static void reject_second_batch(const char *command, int number)
{
    if (strcmp(command, "insert") == 0 && number == 2) {
        reject(.command = "insert", .times = 3);
    }
}

/* Groups all documents by their number and by how often it occurs. A command
 * and no cursor: see fixture_need_aggregation. */
static int64_t numbers_stored_once(int64_t *sum)
{
    bson_t *command =
        from_json("{'aggregate': 'things', 'allowDiskUse': true, 'cursor': {}, 'pipeline': ["
                  "{'$group': {'_id': '$i', 'times': {'$sum': 1}}},"
                  "{'$match': {'times': 1}},"
                  "{'$group': {'_id': null, 'numbers': {'$sum': 1},"
                  "            'sum': {'$sum': {'$toLong': '$_id'}}}}]}");
    bson_t reply;
    bson_iter_t fields;
    bson_iter_t numbers;
    bson_iter_t sums;
    int64_t count = -1;
    mongoc_client_command_simple(fixture.admin, fixture.name, command, NULL, &reply, NULL);
    if (bson_iter_init(&fields, &reply) &&
        bson_iter_find_descendant(&fields, "cursor.firstBatch.0.numbers", &numbers) &&
        bson_iter_init(&fields, &reply) &&
        bson_iter_find_descendant(&fields, "cursor.firstBatch.0.sum", &sums)) {
        count = bson_iter_as_int64(&numbers);
        *sum = bson_iter_as_int64(&sums);
    }
    bson_destroy(&reply);
    bson_destroy(command);
    return count;
}

static void middle_of_many_rejected(bool ordered)
{
    bson_error_t error;
    int64_t sum = 0;
    fixture_connect();
    mongoc_bulk_operation_t *bulk = new_bulk(ordered);
    for (int i = 0; i < MANY; i++) {
        add_insert(bulk, i);
    }
    watch_react(reject_second_batch, NULL);
    const struct counters before = counters_now();

    cr_expect(mongoc_bulk_operation_execute(bulk, NULL, &error), "%s", error.message);

    expect_events("insert", .started = 6, .succeeded = 3, .failed = 3);
    expect_counters(&before, .operations = 3, .first_successes = 2, .retries = 3,
        .retry_successes = 1, .overload_errors = 3, .tokens_consumed = 3000,
        .tokens_deposited = 1100 + 100);
    cr_expect_eq(fixture_count("{}"), MANY);
    cr_expect_eq(numbers_stored_once(&sum), MANY);
    cr_expect_eq(sum, (int64_t)MANY * (MANY - 1) / 2);
    mongoc_bulk_operation_destroy(bulk);
}

Test(bulk, middle_of_many_rejected_ordered)
{
    middle_of_many_rejected(true);
}

Test(bulk, middle_of_many_rejected_unordered)
{
    middle_of_many_rejected(false);
}
