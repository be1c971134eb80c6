/*
 * The driver's own single retry belongs to the operation that it retries, with
 * all of its sends; and nothing else does: neither the next message of a bulk
 * nor a commit that the program asks for again.
 */
#include "behind_proxy.h"

#include <criterion/criterion.h>
#include <stdio.h>
#include <stdlib.h>

enum { MOST_SENDS = 6 };

TestSuite(continued, .init = fixture_settings, .fini = behind_proxy_end, .timeout = 60);

/* Rejected twice, then its connection is closed, on which the driver retries;
 * then rejected for good. */
static void overload_around_a_lost_connection(const char *command)
{
    proxy_on(proxy, .command = command, .times = 2);
    proxy_on(proxy, .command = command, .times = 1, .action = PROXY_DISCONNECT);
    proxy_on(proxy, .command = command);
}

Test(continued, a_read_with_a_time_limit)
{
    bson_t query = BSON_INITIALIZER;
    const bson_t *document;
    bson_t *opts = from_json("{'maxTimeMS': 30000}");
    behind_proxy_connect("");
    fixture_store(1);
    overload_around_a_lost_connection("find");

    mongoc_cursor_t *cursor =
        mongoc_collection_find_with_opts(fixture.collection, &query, opts, NULL);
    cr_expect_not(mongoc_cursor_next(cursor, &document));

    cr_expect_eq(proxy_tally(proxy, "find").sent, MOST_SENDS);
    cr_expect_eq(counter_named("driver_retries"), 1);
    mongoc_cursor_destroy(cursor);
    bson_destroy(opts);
}

/* Commits a transaction with one insert; the reply is the caller's. */
static bool commit(mongoc_client_session_t *session, bson_t *reply)
{
    return mongoc_client_session_commit_transaction(session, reply, NULL);
}

static mongoc_client_session_t *begin_transaction(void)
{
    bson_t *document = from_json("{'i': 1}");
    bson_t opts = BSON_INITIALIZER;
    behind_proxy_connect("");
    cr_assert(fixture_admin_command(fixture.name, "{'create': 'things'}"));
    mongoc_client_session_t *session = mongoc_client_start_session(fixture.client, NULL, NULL);
    cr_assert(mongoc_client_session_start_transaction(session, NULL, NULL));
    cr_assert(mongoc_client_session_append(session, &opts, NULL));
    cr_assert(mongoc_collection_insert_one(fixture.collection, document, &opts, NULL, NULL));
    bson_destroy(&opts);
    bson_destroy(document);
    return session;
}

/* The driver's second commit is another command than the first, but not
 * another operation. What the program asks for is. */
Test(continued, a_commit)
{
    bson_t reply;
    mongoc_client_session_t *session = begin_transaction();
    overload_around_a_lost_connection("commitTransaction");

    cr_expect_not(commit(session, &reply));
    bson_destroy(&reply);
    cr_expect_eq(proxy_tally(proxy, "commitTransaction").sent, MOST_SENDS);
    cr_expect_eq(counter_named("driver_retries"), 1);

    cr_expect_not(commit(session, &reply));
    bson_destroy(&reply);
    cr_expect_eq(proxy_tally(proxy, "commitTransaction").sent, 2 * MOST_SENDS);

    proxy_forget_rules(proxy);
    cr_expect(commit(session, NULL));
    cr_expect_eq(fixture_count("{}"), 1);
    mongoc_client_session_destroy(session);
}

/* Of an error that the driver would retry, the program is told that the outcome
 * is not known, also where there were too many retries already. */
Test(continued, a_commit_given_up_says_that_it_may_be_repeated)
{
    bson_t reply;
    mongoc_client_session_t *session = begin_transaction();
    proxy_on(
        proxy, .command = "commitTransaction", .labels = PROXY_OVERLOADED " RetryableWriteError");

    cr_expect_not(commit(session, &reply));

    cr_expect_eq(proxy_tally(proxy, "commitTransaction").sent, MOST_SENDS);
    cr_expect(mongoc_error_has_label(&reply, "UnknownTransactionCommitResult"));
    cr_expect(mongoc_error_has_label(&reply, "SystemOverloadedError"));
    bson_destroy(&reply);
    proxy_forget_rules(proxy);
    cr_expect(commit(session, NULL));
    mongoc_client_session_destroy(session);
}

/* An abort that never got to the server leaves it with the transaction. */
static void end_session(mongoc_client_session_t *session)
{
    char command[256];
    char *lsid = bson_as_canonical_extended_json(mongoc_client_session_get_lsid(session), NULL);
    proxy_forget_rules(proxy);
    snprintf(command, sizeof command, "{'killSessions': [%s]}", lsid);
    cr_expect(fixture_admin_command("admin", command));
    bson_free(lsid);
    mongoc_client_session_destroy(session);
}

/* Where the driver decides by a label instead. */
Test(continued, an_abort)
{
    mongoc_client_session_t *session = begin_transaction();
    overload_around_a_lost_connection("abortTransaction");
    cr_expect(mongoc_client_session_abort_transaction(session, NULL), "the driver never tells");
    cr_expect_eq(proxy_tally(proxy, "abortTransaction").sent, MOST_SENDS);
    cr_expect_eq(counter_named("driver_retries"), 1);
    end_session(session);
}

Test(continued, not_an_abort_given_up)
{
    mongoc_client_session_t *session = begin_transaction();
    proxy_on(
        proxy, .command = "abortTransaction", .labels = PROXY_OVERLOADED " RetryableWriteError");
    cr_expect(mongoc_client_session_abort_transaction(session, NULL), "the driver never tells");
    cr_expect_eq(proxy_tally(proxy, "abortTransaction").sent, MOST_SENDS);
    end_session(session);
}

/* An unordered bulk of two messages, whose first one the driver gives up. */
Test(continued, not_by_the_next_message_of_a_bulk)
{
    enum { DOCUMENTS = 4, SIZE = 13000000, TIMED_OUT = 262 };
    bson_t *opts = from_json("{'ordered': false}");
    char *filler = calloc(1, SIZE);
    behind_proxy_connect("");
    mongoc_bulk_operation_t *bulk =
        mongoc_collection_create_bulk_operation_with_opts(fixture.collection, opts);
    for (int i = 0; i < DOCUMENTS; i++) {
        bson_t document = BSON_INITIALIZER;
        bson_append_binary(&document, "filler", -1, BSON_SUBTYPE_BINARY, (uint8_t *)filler, SIZE);
        mongoc_bulk_operation_insert(bulk, &document);
        bson_destroy(&document);
    }
    proxy_on(
        proxy, .command = "insert", .times = 2, .code = TIMED_OUT, .labels = "RetryableWriteError");
    proxy_on(proxy, .command = "insert");

    cr_expect_not(mongoc_bulk_operation_execute(bulk, NULL, NULL));

    cr_expect_eq(proxy_tally(proxy, "insert").sent, 2 + MOST_SENDS);
    cr_expect_eq(counter_named("driver_retries"), 1);
    mongoc_bulk_operation_destroy(bulk);
    bson_destroy(opts);
    free(filler);
}
