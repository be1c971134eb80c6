/*
 * Who switches the driver's own retries off in the URI gets none of mongobp's
 * either: retryReads for reads, retryWrites for writes, and a generic command,
 * of which nobody knows what it is, needs both.
 */
#include "fixture.h"

#include <criterion/criterion.h>

TestSuite(retry_options, .init = fixture_settings, .fini = fixture_end);

static void connect_with(bool reads, bool writes)
{
    fixture_connect_admin();
    fixture_store(1);
    mongoc_uri_set_option_as_bool(fixture.uri, MONGOC_URI_RETRYREADS, reads);
    mongoc_uri_set_option_as_bool(fixture.uri, MONGOC_URI_RETRYWRITES, writes);
    fixture.client = fixture_new_client();
    fixture.collection = mongoc_client_get_collection(fixture.client, fixture.name, "things");
}

static bool find_one(void)
{
    const bson_t *document;
    bson_t query = BSON_INITIALIZER;
    mongoc_cursor_t *cursor =
        mongoc_collection_find_with_opts(fixture.collection, &query, NULL, NULL);
    const bool found = mongoc_cursor_next(cursor, &document);
    mongoc_cursor_destroy(cursor);
    return found;
}

static bool insert_one(void)
{
    return inserts(1);
}

static bool update_all(void)
{
    bson_t *all = bson_new();
    bson_t *change = from_json("{'$set': {'n': 1}}");
    const bool ok =
        mongoc_collection_update_many(fixture.collection, all, change, NULL, NULL, NULL);
    bson_destroy(all);
    bson_destroy(change);
    return ok;
}

static bool ping(void)
{
    bson_t *command = from_json("{'ping': 1}");
    const bool ok =
        mongoc_client_command_simple(fixture.client, "admin", command, NULL, NULL, NULL);
    bson_destroy(command);
    return ok;
}

/* The same command by the name of a read, of a write, and of neither. */
typedef bool command_function(mongoc_client_t *client, const char *database, const bson_t *command,
    const bson_t *opts, bson_t *reply, bson_error_t *error);

static bool read_command(mongoc_client_t *client, const char *database, const bson_t *command,
    const bson_t *opts, bson_t *reply, bson_error_t *error)
{
    return mongoc_client_read_command_with_opts(
        client, database, command, NULL, opts, reply, error);
}

static bool any_command(mongoc_client_t *client, const char *database, const bson_t *command,
    const bson_t *opts, bson_t *reply, bson_error_t *error)
{
    return mongoc_client_command_with_opts(client, database, command, NULL, opts, reply, error);
}

static bool run_count(command_function *run)
{
    bson_t *command = from_json("{'count': 'things'}");
    const bool ok = run(fixture.client, fixture.name, command, NULL, NULL, NULL);
    bson_destroy(command);
    return ok;
}

static bool count_as_read(void)
{
    return run_count(read_command);
}

static bool count_as_write(void)
{
    return run_count(mongoc_client_write_command_with_opts);
}

static bool count_as_any(void)
{
    return run_count(any_command);
}

/* Rejected twice: sent three times, or once where it is not to be retried. */
static void expect_retried(const char *command, bool (*run)(void), bool retried)
{
    cr_assert(reject(.command = command, .times = 2));
    const struct counters before = counters_now();
    watch_reset();

    cr_expect_eq(run(), retried, "%s", command);

    if (retried) {
        expect_events(command, .started = 3, .succeeded = 1, .failed = 2);
    } else {
        expect_events(command, .started = 1, .failed = 1);
        cr_expect_eq(counters_since(&before).retries, 0);
        cr_expect_eq(counters_since(&before).tokens_consumed, 0);
    }
}

static void expect_all(bool reads, bool writes)
{
    connect_with(reads, writes);
    expect_retried("find", find_one, reads);
    expect_retried("insert", insert_one, writes);
    expect_retried("update", update_all, writes);
    expect_retried("ping", ping, reads && writes);
    expect_retried("count", count_as_read, reads);
    expect_retried("count", count_as_write, writes);
    expect_retried("count", count_as_any, reads && writes);
}

Test(retry_options, both_on)
{
    expect_all(true, true);
}

Test(retry_options, reads_off)
{
    expect_all(false, true);
}

Test(retry_options, writes_off)
{
    expect_all(true, false);
}

Test(retry_options, both_off)
{
    expect_all(false, false);
}
