/*
 * Transactions: what is rejected was not begun, so that the same command may
 * be sent again, the one that starts the transaction too.
 */
#include "fixture.h"

#include <criterion/criterion.h>

TestSuite(transactions, .init = fixture_settings, .fini = fixture_end);

static mongoc_client_session_t *session;
static bson_t in_session = BSON_INITIALIZER;

static void begin_transaction(void)
{
    bson_error_t error;
    fixture_connect();
    fixture_store(1);
    session = mongoc_client_start_session(fixture.client, NULL, &error);
    cr_assert_not_null(session, "%s", error.message);
    cr_assert(mongoc_client_session_append(session, &in_session, &error), "%s", error.message);
    cr_assert(mongoc_client_session_start_transaction(session, NULL, &error), "%s", error.message);
}

static void end_session(void)
{
    mongoc_client_session_destroy(session);
    bson_destroy(&in_session);
}

static bool insert_in_transaction(int number, bson_t *reply)
{
    bson_t *document = BCON_NEW("i", BCON_INT32(number));
    const bool ok =
        mongoc_collection_insert_one(fixture.collection, document, &in_session, reply, NULL);
    bson_destroy(document);
    return ok;
}

Test(transactions, insert_and_commit_rejected)
{
    bson_error_t error;
    begin_transaction();
    const struct counters before = counters_now();

    cr_assert(reject(.command = "insert", .times = 2));
    const struct counters after_first_admin = counters_now();
    cr_expect(insert_in_transaction(10, NULL));
    expect_events("insert", .started = 3, .succeeded = 1, .failed = 2);
    expect_counters(&after_first_admin, .operations = 1, .retries = 2, .retry_successes = 1,
        .overload_errors = 2, .tokens_consumed = 2000, .tokens_deposited = 1100);
    cr_expect_eq(fixture_count("{'i': 10}"), 0);

    cr_assert(reject(.command = "commitTransaction", .times = 2));
    const struct counters before_commit = counters_now();
    cr_expect(mongoc_client_session_commit_transaction(session, NULL, &error), "%s", error.message);
    expect_events("commitTransaction", .started = 3, .succeeded = 1, .failed = 2);
    expect_counters(&before_commit, .operations = 1, .retries = 2, .retry_successes = 1,
        .overload_errors = 2, .tokens_consumed = 2000, .tokens_deposited = 1100);

    cr_expect_eq(counters_since(&before).retries, 4);
    cr_expect_eq(fixture_count("{'i': 10}"), 1);
    end_session();
}

Test(transactions, second_insert_rejected)
{
    bson_error_t error;
    begin_transaction();
    cr_assert(insert_in_transaction(10, NULL));
    cr_assert(reject(.command = "insert", .times = 2));
    const struct counters before = counters_now();

    cr_expect(insert_in_transaction(11, NULL));

    expect_events("insert", .started = 4, .succeeded = 2, .failed = 2);
    expect_counters(&before, .operations = 1, .retries = 2, .retry_successes = 1,
        .overload_errors = 2, .tokens_consumed = 2000, .tokens_deposited = 1100);
    cr_expect(mongoc_client_session_commit_transaction(session, NULL, &error), "%s", error.message);
    cr_expect_eq(fixture_count("{}"), 3);
    end_session();
}

Test(transactions, abort_rejected)
{
    bson_error_t error;
    begin_transaction();
    cr_assert(insert_in_transaction(10, NULL));
    cr_assert(reject(.command = "abortTransaction", .times = 2));
    const struct counters before = counters_now();

    cr_expect(mongoc_client_session_abort_transaction(session, &error), "%s", error.message);

    expect_events("abortTransaction", .started = 3, .succeeded = 1, .failed = 2);
    expect_counters(&before, .operations = 1, .retries = 2, .retry_successes = 1,
        .overload_errors = 2, .tokens_consumed = 2000, .tokens_deposited = 1100);
    cr_expect_eq(fixture_count("{}"), 1);
    end_session();
}

Test(transactions, insert_given_up_can_be_aborted)
{
    bson_t reply;
    bson_error_t error;
    begin_transaction();
    cr_assert(insert_in_transaction(10, NULL));
    cr_assert(reject(.command = "insert"));
    const struct counters before = counters_now();

    cr_expect_not(insert_in_transaction(11, &reply));

    cr_expect(mongoc_error_has_label(&reply, "SystemOverloadedError"));
    expect_events("insert", .started = 7, .succeeded = 1, .failed = 6);
    expect_counters(&before, .operations = 1, .retries = 5, .overload_errors = 6,
        .refused_attempts = 1, .tokens_consumed = 5000);
    cr_expect(mongoc_client_session_abort_transaction(session, &error), "%s", error.message);
    cr_expect_eq(fixture_count("{}"), 1);
    bson_destroy(&reply);
    end_session();
}

Test(transactions, commit_given_up_can_be_repeated)
{
    bson_error_t error;
    begin_transaction();
    cr_assert(insert_in_transaction(10, NULL));
    cr_assert(reject(.command = "commitTransaction"));
    const struct counters before = counters_now();

    cr_expect_not(mongoc_client_session_commit_transaction(session, NULL, &error));

    cr_expect_eq(error.code, OVERLOADED);
    expect_events("commitTransaction", .started = 6, .failed = 6);
    expect_counters(&before, .operations = 1, .retries = 5, .overload_errors = 6,
        .refused_attempts = 1, .tokens_consumed = 5000);
    cr_assert(accept_all());
    cr_expect(mongoc_client_session_commit_transaction(session, NULL, &error), "%s", error.message);
    cr_expect_eq(fixture_count("{'i': 10}"), 1);
    end_session();
}
