/*
 * One of two secondaries is overloaded for good: what it rejects is answered
 * by the other, and the application sees neither an error nor a document too
 * few or too many.
 */
#include "replica_set.h"

#include "common/clock.h"
#include "tests/support/report.h"

#include <criterion/criterion.h>
#include <stdlib.h>
#include <unistd.h>

TestSuite(retarget, .init = fixture_settings, .fini = replica_set_end);

/* Reads so often; returns how many reads had an error, and fails the test for
 * one that had not all documents. */
static int count_errors(int reads)
{
    int errors = 0;
    for (int i = 0; i < reads; i++) {
        mongoc_cursor_t *cursor = find_on_secondary();
        const int count = read_all(cursor);
        mongoc_cursor_destroy(cursor);
        errors += count < 0;
        cr_assert(count < 0 || count == DOCUMENTS, "%d documents in one read", count);
    }
    return errors;
}

/* What a reader compares: reads, errors, and how they came about. */
static void report(const char *how, int reads, int errors)
{
    report_line("one secondary overloaded       reads  errors  rejected  retries  retargeted",
        "%-28s %7d %7d %9d %8lld %11lld", how, reads, errors, sends_count("find", 0, SENDS_FAILED),
        (long long)counter_named("retries"), (long long)counter_named("retargeted"));
}

/* Each read is a find and two getMores, all but the rejected find on the other
 * secondary: a cursor knows nothing of the move, the getMores must follow. */
Test(retarget, reads_move_to_the_other_secondary)
{
    enum { READS = 1000 };
    replica_set_connect();
    member_rejects(&set.overloaded, "find", 0);
    const struct counters before = counters_now();

    cr_expect_eq(count_errors(READS), 0);

    const int rejected = sends_count("find", 0, SENDS_FAILED);
    const struct counters all = counters_since(&before);
    report("MONGOBP_RETARGET=on", READS, 0);
    cr_expect(rejected >= 350 && rejected <= 650, "%d of %d met it first", rejected, READS);
    cr_expect_eq(sends_count("find", set.overloaded.port, SENDS_FAILED), rejected);
    cr_expect_eq(sends_count("find", set.overloaded.port, SENDS_ALL), rejected, "never twice");
    cr_expect_eq(sends_count("find", set.other.port, SENDS_OK), READS);
    cr_expect_eq(sends_count("getMore", set.other.port, SENDS_OK), READS * GET_MORES);
    cr_expect_eq(sends_count("getMore", 0, SENDS_ALL), READS * GET_MORES);
    cr_expect_eq(counter_named("retargeted"), rejected);
    cr_expect_eq(all.retries, rejected);
    cr_expect_eq(all.retry_successes, rejected);
    cr_expect_eq(all.overload_errors, rejected);
    cr_expect_eq(all.tokens_consumed, (int64_t)rejected * 1000);
    cr_expect_eq(member_open_cursors(&set.overloaded) + member_open_cursors(&set.other), 0);
}

/* Then a retry meets the server that rejected it, five times, at the price of
 * a token each. */
Test(retarget, switched_off)
{
    enum { READS = 40 };
    setenv("MONGOBP_RETARGET", "off", 1);
    replica_set_connect();
    member_rejects(&set.overloaded, "find", 0);
    const struct counters before = counters_now();

    const int errors = count_errors(READS);

    const struct counters all = counters_since(&before);
    report("MONGOBP_RETARGET=off", READS, errors);
    cr_expect(errors > 0 && errors < READS, "%d errors", errors);
    cr_expect_eq(sends_count("find", set.overloaded.port, SENDS_FAILED), errors * 6);
    cr_expect_eq(sends_count("find", set.other.port, SENDS_OK), READS - errors);
    cr_expect_eq(counter_named("retargeted"), 0);
    cr_expect_eq(all.retries, errors * 5);
    cr_expect_eq(all.refused_attempts, errors);
    cr_expect_eq(all.tokens_consumed, (int64_t)errors * 5 * 1000);
}

/* Today's specification leaves a retry, of which it has two, where it is unless
 * told otherwise. */
Test(retarget, current_profile)
{
    enum { READS = 40 };
    setenv("MONGOBP_PROFILE", "current", 1);
    replica_set_connect();
    member_rejects(&set.overloaded, "find", 0);

    const int errors = count_errors(READS);

    cr_expect(errors > 0 && errors < READS, "%d errors", errors);
    cr_expect_eq(sends_count("find", set.overloaded.port, SENDS_FAILED), errors * 3);
    cr_expect_eq(counter_named("retargeted"), 0);
}

Test(retarget, current_profile_switched_on)
{
    enum { READS = 40 };
    setenv("MONGOBP_PROFILE", "current", 1);
    setenv("MONGOBP_RETARGET", "on", 1);
    replica_set_connect();
    member_rejects(&set.overloaded, "find", 0);

    cr_expect_eq(count_errors(READS), 0);

    const int rejected = sends_count("find", 0, SENDS_FAILED);
    cr_expect_gt(rejected, 0);
    cr_expect_eq(counter_named("retargeted"), rejected);
}

/* Without mongobp these reads are errors. */
Test(retarget, without_mongobp)
{
    enum { READS = 40 };
    setenv("MONGOBP_DISABLE", "1", 1);
    replica_set_connect();
    member_rejects(&set.overloaded, "find", 0);

    const int errors = count_errors(READS);

    cr_expect(errors > 0 && errors < READS, "%d errors", errors);
    cr_expect_eq(sends_count("find", 0, SENDS_FAILED), errors);
}

/* When every server that may be asked has rejected it, any of them is asked
 * again; a primary never is where a secondary was wanted. */
Test(retarget, both_secondaries_overloaded)
{
    replica_set_connect();
    member_rejects(&set.overloaded, "find", 0);
    member_rejects(&set.other, "find", 0);
    const struct counters before = counters_now();

    cr_expect_eq(count_errors(1), 1);

    cr_expect_eq(sends_count("find", 0, SENDS_FAILED), 6);
    cr_expect_eq(sends_count("find", set.primary.port, SENDS_ALL), 0);
    cr_expect_gt(sends_count("find", set.overloaded.port, SENDS_ALL), 0);
    cr_expect_gt(sends_count("find", set.other.port, SENDS_ALL), 0);
    cr_expect_eq(counters_since(&before).refused_attempts, 1);
}

/* Any read that carries its preference may move. */
static void command_moves(const char *name, const char *json)
{
    enum { TIMES = 40 };
    int errors = 0;
    bson_t *command = from_json(json);
    mongoc_read_prefs_t *secondary = mongoc_read_prefs_new(MONGOC_READ_SECONDARY);
    replica_set_connect();
    member_rejects(&set.overloaded, name, 0);

    for (int i = 0; i < TIMES; i++) {
        errors += !mongoc_client_read_command_with_opts(
            fixture.client, fixture.name, command, secondary, NULL, NULL, NULL);
    }

    cr_expect_eq(errors, 0);
    const int rejected = sends_count(name, set.overloaded.port, SENDS_FAILED);
    cr_expect_gt(rejected, 0);
    cr_expect_eq(sends_count(name, set.other.port, SENDS_OK), TIMES);
    cr_expect_eq(sends_count(name, 0, SENDS_ALL), TIMES + rejected);
    cr_expect_eq(counter_named("retargeted"), rejected);
    mongoc_read_prefs_destroy(secondary);
    bson_destroy(command);
}

Test(retarget, count)
{
    command_moves("count", "{'count': 'things'}");
}

Test(retarget, distinct)
{
    command_moves("distinct", "{'distinct': 'things', 'key': 'i'}");
}

/* There is one primary: where it rejects, nobody else can do it. */
Test(retarget, writes_stay_with_the_primary)
{
    replica_set_connect();
    member_rejects(&set.primary, "insert", 3);

    cr_expect(inserts(100));

    cr_expect_eq(sends_count("insert", set.primary.port, SENDS_FAILED), 3);
    cr_expect_eq(sends_count("insert", set.primary.port, SENDS_OK), 1);
    cr_expect_eq(sends_count("insert", 0, SENDS_ALL), 4);
    cr_expect_eq(counter_named("retargeted"), 0);
    cr_expect_eq(fixture_count("{'i': 100}"), 1);
}

Test(retarget, reads_of_the_primary_stay_there)
{
    bson_t query = BSON_INITIALIZER;
    replica_set_connect();
    member_rejects(&set.primary, "find", 3);

    mongoc_cursor_t *cursor =
        mongoc_collection_find_with_opts(fixture.collection, &query, NULL, NULL);
    cr_expect_eq(read_all(cursor), DOCUMENTS);

    cr_expect_eq(sends_count("find", set.primary.port, SENDS_ALL), 4);
    cr_expect_eq(sends_count("find", 0, SENDS_ALL), 4);
    cr_expect_eq(counter_named("retargeted"), 0);
    mongoc_cursor_destroy(cursor);
}

/* What may be read anywhere moves away from an overloaded primary, too. */
Test(retarget, preferred_primary_overloaded)
{
    bson_t query = BSON_INITIALIZER;
    mongoc_read_prefs_t *preferred = mongoc_read_prefs_new(MONGOC_READ_PRIMARY_PREFERRED);
    replica_set_connect();
    member_rejects(&set.primary, "find", 0);

    mongoc_cursor_t *cursor =
        mongoc_collection_find_with_opts(fixture.collection, &query, NULL, preferred);
    cr_expect_eq(read_all(cursor), DOCUMENTS);

    cr_expect_eq(sends_count("find", set.primary.port, SENDS_ALL), 1);
    cr_expect_eq(sends_count("find", 0, SENDS_ALL), 2);
    cr_expect_eq(counter_named("retargeted"), 1);
    mongoc_cursor_destroy(cursor);
    mongoc_read_prefs_destroy(preferred);
}

static void command_on(const struct member *member, const char *json)
{
    bson_error_t error;
    bson_t *command = from_json(json);
    cr_expect(mongoc_client_command_simple(member->direct, "admin", command, NULL, NULL, &error),
        "%s: %s", json, error.message);
    bson_destroy(command);
}

static void wait_for_a_primary(void)
{
    mongoc_client_t *client = mongoc_client_new_from_uri(fixture.uri);
    mongoc_server_description_t *primary = NULL;
    for (int i = 0; i < 300 && !primary; i++) {
        primary = mongoc_client_select_server(client, true, NULL, NULL);
        usleep(100000);
    }
    cr_expect_not_null(primary);
    mongoc_server_description_destroy(primary);
    mongoc_client_destroy(client);
}

/* Nobody waits for a primary where a read would do without. */
Test(retarget, no_primary_there, .timeout = 120)
{
    enum { SELECTION_TIMEOUT_MS = 5000 };
    bson_t query = BSON_INITIALIZER;
    mongoc_read_prefs_t *preferred = mongoc_read_prefs_new(MONGOC_READ_SECONDARY_PREFERRED);
    replica_set_connect();
    command_on(&set.overloaded, "{'replSetFreeze': 60}");
    command_on(&set.other, "{'replSetFreeze': 60}");
    command_on(&set.primary, "{'replSetStepDown': 60, 'force': true}");
    member_rejects(&set.primary, "find", 0);
    member_rejects(&set.overloaded, "find", 0);
    member_rejects(&set.other, "find", 0);
    mongoc_uri_set_option_as_int32(
        fixture.uri, MONGOC_URI_SERVERSELECTIONTIMEOUTMS, SELECTION_TIMEOUT_MS);
    mongoc_client_pool_t *pool = mongoc_client_pool_new(fixture.uri);
    mongoc_client_t *client = mongoc_client_pool_pop(pool);
    mongoc_collection_t *things = mongoc_client_get_collection(client, fixture.name, "things");
    const uint64_t begun_ms = mbp_clock_ms();

    mongoc_cursor_t *cursor = mongoc_collection_find_with_opts(things, &query, NULL, preferred);
    cr_expect_eq(read_all(cursor), -1);

    cr_expect_lt(mbp_clock_ms() - begun_ms, SELECTION_TIMEOUT_MS / 2);
    mongoc_cursor_destroy(cursor);
    mongoc_collection_destroy(things);
    mongoc_client_pool_push(pool, client);
    mongoc_client_pool_destroy(pool);
    mongoc_read_prefs_destroy(preferred);
    command_on(&set.primary, "{'replSetFreeze': 0}");
    command_on(&set.overloaded, "{'replSetFreeze': 0}");
    command_on(&set.other, "{'replSetFreeze': 0}");
    wait_for_a_primary();
}

static uint32_t server_id_of(uint16_t port)
{
    size_t count;
    uint32_t id = 0;
    mongoc_server_description_t **all =
        mongoc_client_get_server_descriptions(fixture.client, &count);
    for (size_t i = 0; i < count; i++) {
        if (mongoc_server_description_host(all[i])->port == port) {
            id = mongoc_server_description_id(all[i]);
        }
    }
    mongoc_server_descriptions_destroy_all(all, count);
    return id;
}

/* Whoever names a server by its id means that one. */
Test(retarget, named_server_is_kept)
{
    bson_t query = BSON_INITIALIZER;
    bson_t ping = BSON_INITIALIZER;
    mongoc_read_prefs_t *secondary = mongoc_read_prefs_new(MONGOC_READ_SECONDARY);
    replica_set_connect();
    member_rejects(&set.overloaded, "find", 0);
    BSON_APPEND_INT32(&ping, "ping", 1);
    cr_assert(mongoc_client_command_simple(fixture.client, "admin", &ping, NULL, NULL, NULL));
    bson_t *opts = BCON_NEW("serverId", BCON_INT32((int32_t)server_id_of(set.overloaded.port)));

    mongoc_cursor_t *cursor =
        mongoc_collection_find_with_opts(fixture.collection, &query, opts, secondary);
    cr_expect_eq(read_all(cursor), -1);

    cr_expect_eq(sends_count("find", set.overloaded.port, SENDS_FAILED), 6);
    cr_expect_eq(sends_count("find", 0, SENDS_ALL), 6);
    cr_expect_eq(counter_named("retargeted"), 0);
    mongoc_cursor_destroy(cursor);
    mongoc_read_prefs_destroy(secondary);
    bson_destroy(opts);
    bson_destroy(&ping);
}
