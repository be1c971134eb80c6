/*
 * An operation with a maxTimeMS has this time for all its sends together: each
 * resend carries what is left of it, and when nothing is left the application
 * gets its error. The document that the application gave stays as it was.
 */
#include "fixture.h"
#include "sends.h"

#include "common/clock.h"

#include <criterion/criterion.h>
#include <stdlib.h>

enum { LIMIT_MS = 500, MAX_TIME_EXPIRED = 50 };

static void end(void)
{
    fixture_end();
    sends_forget();
}

TestSuite(max_time, .init = fixture_settings, .fini = end, .timeout = 60);

/* The server takes a while for each rejection, so that time goes by; and
 * nothing but the time ends it. */
static void reject_for_ever(const char *command)
{
    setenv("MONGOBP_MAX_RETRIES", "100", 1);
    setenv("MONGOBP_MAX_BACKOFF_MS", "10", 1);
    fixture_connect();
    fixture_store(3);
    sends_note(fixture.client);
    cr_assert(reject(.command = command,
        .more = "'errorCode': 462, 'blockConnection': true, 'blockTimeMS': 20"));
}

static struct counters before;
static uint64_t begun_ms;

static void begin(void)
{
    before = counters_now();
    begun_ms = mbp_clock_ms();
}

static bool has_what_was_left(const struct send *send, const struct send *before_it)
{
    const int64_t has = send_number(send, "maxTimeMS");
    const int64_t elapsed_ms = (int64_t)(send->at_ms - begun_ms);
    return has > 0 && has < send_number(before_it, "maxTimeMS") &&
           has >= LIMIT_MS - elapsed_ms - 50 &&
           send_type(send, "maxTimeMS") == send_type(before_it, "maxTimeMS");
}

/* The first send has the whole time, every later one less, and what a send has
 * is what was left when it was sent. The server may notice the end itself. */
static void expect_time_to_run_out(const char *command, uint32_t code)
{
    const uint64_t taken_ms = mbp_clock_ms() - begun_ms;
    const struct counters all = counters_since(&before);
    const struct send *first = sends_get(command, 0);
    cr_assert_not_null(first);
    cr_expect_eq(send_number(first, "maxTimeMS"), LIMIT_MS);
    const struct send *last = first;
    int sends = 1;
    for (const struct send *send; (send = sends_get(command, sends)) != NULL; sends++) {
        if (!has_what_was_left(send, last)) {
            break;
        }
        last = send;
    }
    const struct send *wrong = sends_get(command, sends);
    const int all_sends = sends_count(command, 0, SENDS_ALL);
    cr_expect_eq(sends, all_sends, "send %d has %lld ms after %lld", sends,
        (long long)(wrong ? send_number(wrong, "maxTimeMS") : 0),
        (long long)(wrong ? wrong->at_ms - begun_ms : 0));
    cr_log_info("%s: %d sends in %llu ms, the last good one with %lld ms", command, all_sends,
        (unsigned long long)taken_ms, (long long)send_number(last, "maxTimeMS"));
    cr_expect_gt(all_sends, 1);
    cr_expect_lt(taken_ms, 5000);
    cr_expect(code == OVERLOADED || code == MAX_TIME_EXPIRED, "error %u", code);
    cr_expect_eq(all.refused_deadline + all.refused_not_retryable, 1);
    cr_expect_eq(all.refused_attempts, 0);
    cr_expect_eq(all.retries, all_sends - 1);
}

static uint32_t find_fails(bson_t *opts)
{
    bson_t query = BSON_INITIALIZER;
    const bson_t *document;
    bson_error_t error = {0};
    mongoc_cursor_t *cursor =
        mongoc_collection_find_with_opts(fixture.collection, &query, opts, NULL);
    cr_expect_not(mongoc_cursor_next(cursor, &document));
    cr_expect(mongoc_cursor_error(cursor, &error));
    mongoc_cursor_destroy(cursor);
    bson_destroy(opts);
    return error.code;
}

Test(max_time, find)
{
    reject_for_ever("find");
    begin();
    const uint32_t code = find_fails(BCON_NEW("maxTimeMS", BCON_INT32(LIMIT_MS)));
    expect_time_to_run_out("find", code);
}

Test(max_time, find_with_a_long_integer)
{
    reject_for_ever("find");
    begin();
    const uint32_t code = find_fails(BCON_NEW("maxTimeMS", BCON_INT64(LIMIT_MS)));
    expect_time_to_run_out("find", code);
}

Test(max_time, find_and_modify)
{
    bson_error_t error = {0};
    bson_t *query = from_json("{'i': 1}");
    bson_t *change = from_json("{'$inc': {'n': 1}}");
    mongoc_find_and_modify_opts_t *opts = mongoc_find_and_modify_opts_new();
    mongoc_find_and_modify_opts_set_update(opts, change);
    mongoc_find_and_modify_opts_set_max_time_ms(opts, LIMIT_MS);
    reject_for_ever("findAndModify");
    begin();

    cr_expect_not(
        mongoc_collection_find_and_modify_with_opts(fixture.collection, query, opts, NULL, &error));

    expect_time_to_run_out("findAndModify", error.code);
    cr_expect_eq(fixture_count("{'n': 1}"), 0);
    mongoc_find_and_modify_opts_destroy(opts);
    bson_destroy(query);
    bson_destroy(change);
}

/* The application sends its own document again later: with all of its time. */
Test(max_time, generic_command_twice)
{
    bson_error_t error = {0};
    bson_t *command = BCON_NEW("count", "things", "maxTimeMS", BCON_INT32(LIMIT_MS));
    bson_t *copy = bson_copy(command);
    reject_for_ever("count");
    for (int i = 0; i < 2; i++) {
        begin();
        cr_expect_not(mongoc_client_command_simple(
            fixture.client, fixture.name, command, NULL, NULL, &error));
        expect_time_to_run_out("count", error.code);
        cr_expect(bson_equal(command, copy), "the application's document was changed");
        sends_forget();
    }
    bson_destroy(command);
    bson_destroy(copy);
}

Test(max_time, commit)
{
    bson_error_t error = {0};
    bson_t in_session = BSON_INITIALIZER;
    bson_t *document = from_json("{'i': 10}");
    reject_for_ever("commitTransaction");
    mongoc_transaction_opt_t *opts = mongoc_transaction_opts_new();
    mongoc_transaction_opts_set_max_commit_time_ms(opts, LIMIT_MS);
    mongoc_client_session_t *session = mongoc_client_start_session(fixture.client, NULL, &error);
    cr_assert_not_null(session, "%s", error.message);
    cr_assert(mongoc_client_session_append(session, &in_session, &error), "%s", error.message);
    cr_assert(mongoc_client_session_start_transaction(session, opts, &error), "%s", error.message);
    cr_assert(mongoc_collection_insert_one(fixture.collection, document, &in_session, NULL, &error),
        "%s", error.message);
    begin();

    cr_expect_not(mongoc_client_session_commit_transaction(session, NULL, &error));

    expect_time_to_run_out("commitTransaction", error.code);
    /* An open transaction would keep the database from being dropped. */
    cr_assert(accept_all());
    cr_expect(mongoc_client_session_commit_transaction(session, NULL, &error), "%s", error.message);
    mongoc_client_session_destroy(session);
    mongoc_transaction_opts_destroy(opts);
    bson_destroy(&in_session);
    bson_destroy(document);
}

/* Then it is the server's business alone, as it is without mongobp. */
Test(max_time, ignored)
{
    setenv("MONGOBP_MAXTIMEMS", "ignore", 1);
    fixture_connect();
    fixture_store(1);
    sends_note(fixture.client);
    cr_assert(reject(.command = "find"));
    begin();

    cr_expect_eq(find_fails(BCON_NEW("maxTimeMS", BCON_INT32(LIMIT_MS))), OVERLOADED);

    cr_expect_eq(sends_count("find", 0, SENDS_FAILED), 6);
    for (int i = 0; i < 6; i++) {
        cr_expect_eq(send_number(sends_get("find", i), "maxTimeMS"), LIMIT_MS);
    }
    cr_expect_eq(counters_since(&before).refused_attempts, 1);
}

Test(max_time, not_added_where_there_was_none)
{
    setenv("MONGOBP_TIMEOUT_MS", "60000", 1);
    fixture_connect();
    fixture_store(1);
    sends_note(fixture.client);
    cr_assert(reject(.command = "find"));

    cr_expect_eq(find_fails(bson_new()), OVERLOADED);

    cr_expect_eq(sends_count("find", 0, SENDS_FAILED), 6);
    for (int i = 0; i < 6; i++) {
        cr_expect_not(send_has(sends_get("find", i), "maxTimeMS"));
    }
}

/* What a getMore of such a cursor carries is how long the server shall wait for
 * news, each time anew; it is no deadline. */
Test(max_time, of_a_cursor_that_awaits_data)
{
    enum { AWAIT_MS = 300 };
    bson_t query = BSON_INITIALIZER;
    const bson_t *document;
    bson_t *opts = BCON_NEW("tailable", BCON_BOOL(true), "awaitData", BCON_BOOL(true),
        "maxAwaitTimeMS", BCON_INT32(AWAIT_MS));
    fixture_connect();
    cr_assert(
        fixture_admin_command(fixture.name, "{'create': 'things', 'capped': true, 'size': 4096}"));
    fixture_store(1);
    sends_note(fixture.client);
    mongoc_cursor_t *cursor =
        mongoc_collection_find_with_opts(fixture.collection, &query, opts, NULL);
    cr_assert(mongoc_cursor_next(cursor, &document));
    cr_assert(reject(.command = "getMore", .times = 3));

    cr_expect_not(mongoc_cursor_next(cursor, &document));
    cr_expect_not(mongoc_cursor_error(cursor, NULL));

    cr_expect_eq(sends_count("getMore", 0, SENDS_FAILED), 3);
    cr_expect_eq(sends_count("getMore", 0, SENDS_OK), 1);
    for (int i = 0; i < 4; i++) {
        cr_expect_eq(send_number(sends_get("getMore", i), "maxTimeMS"), AWAIT_MS);
    }
    mongoc_cursor_destroy(cursor);
    bson_destroy(opts);
}
