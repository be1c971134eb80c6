/*
 * What the commands of a transaction carry when they are sent again. The first
 * statement still begins the transaction. A commit keeps its write concern
 * after overloads, of which nothing came; after any other failure, when it may
 * have been done, it is repeated with the majority's, as the transactions
 * specification says.
 */
#include "behind_proxy.h"
#include "sends.h"

#include <criterion/criterion.h>
#include <string.h>

static mongoc_client_session_t *session;
static bson_t in_session = BSON_INITIALIZER;

/* A transaction that is still open would keep the database from being dropped. */
static void end(void)
{
    if (session) {
        proxy_forget_rules(proxy);
        mongoc_client_session_commit_transaction(session, NULL, NULL);
        mongoc_client_session_destroy(session);
    }
    bson_destroy(&in_session);
    behind_proxy_end();
    sends_forget();
}

TestSuite(transaction_fields, .init = fixture_settings, .fini = end);

/* With a write concern of its own, unless it is NULL. */
static void begin_transaction(const mongoc_write_concern_t *concern)
{
    bson_error_t error;
    mongoc_transaction_opt_t *opts = mongoc_transaction_opts_new();
    if (concern) {
        mongoc_transaction_opts_set_write_concern(opts, concern);
    }
    behind_proxy_connect("");
    cr_assert(fixture_admin_command(fixture.name, "{'create': 'things'}"));
    sends_note(fixture.client);
    session = mongoc_client_start_session(fixture.client, NULL, &error);
    cr_assert_not_null(session, "%s", error.message);
    cr_assert(mongoc_client_session_append(session, &in_session, &error), "%s", error.message);
    cr_assert(mongoc_client_session_start_transaction(session, opts, &error), "%s", error.message);
    mongoc_transaction_opts_destroy(opts);
}

static bool insert_in_transaction(int number)
{
    bson_t *document = BCON_NEW("i", BCON_INT32(number));
    const bool ok =
        mongoc_collection_insert_one(fixture.collection, document, &in_session, NULL, NULL);
    bson_destroy(document);
    return ok;
}

Test(transaction_fields, first_statement)
{
    begin_transaction(NULL);
    proxy_on(proxy, .command = "insert", .times = 2);

    cr_expect(insert_in_transaction(1));
    cr_expect(insert_in_transaction(2));

    cr_assert_eq(sends_count("insert", 0, SENDS_ALL), 4);
    for (int i = 0; i < 3; i++) {
        const struct send *send = sends_get("insert", i);
        cr_expect_eq(send_number(send, "startTransaction"), 1, "send %d", i);
        cr_expect_eq(send_number(send, "autocommit"), 0);
        cr_expect_eq(send_number(send, "txnNumber"),
            send_number(sends_get("insert", 0), "txnNumber"), "send %d", i);
    }
    cr_expect_not(send_has(sends_get("insert", 3), "startTransaction"));
    cr_expect(mongoc_client_session_commit_transaction(session, NULL, NULL));
    cr_expect_eq(fixture_count("{}"), 2);
}

/* Commits, and returns whether it was sent so often. */
static bool commits_in(int count)
{
    bson_error_t error;
    cr_assert(insert_in_transaction(1));
    cr_expect(mongoc_client_session_commit_transaction(session, NULL, &error), "%s", error.message);
    cr_expect_eq(fixture_count("{'i': 1}"), 1);
    cr_expect_eq(sends_count("commitTransaction", 0, SENDS_ALL), count);
    return sends_count("commitTransaction", 0, SENDS_ALL) == count;
}

static bool has_majority(int index)
{
    const struct send *send = sends_get("commitTransaction", index);
    return strcmp(send_text(send, "writeConcern.w"), "majority") == 0 &&
           send_number(send, "writeConcern.wtimeout") == 10000;
}

static bool has_no_concern(int index)
{
    return !send_has(sends_get("commitTransaction", index), "writeConcern");
}

Test(transaction_fields, commit_after_overloads)
{
    begin_transaction(NULL);
    proxy_on(proxy, .command = "commitTransaction", .times = 2);
    cr_assert(commits_in(3));
    for (int i = 0; i < 3; i++) {
        cr_expect(has_no_concern(i), "send %d", i);
    }
}

Test(transaction_fields, commit_after_another_error)
{
    begin_transaction(NULL);
    proxy_on(proxy, .command = "commitTransaction", .times = 1, .labels = "RetryableError");
    cr_assert(commits_in(2));
    cr_expect(has_no_concern(0));
    cr_expect(has_majority(1));
}

/* Once there was another error, all that follow have it. */
Test(transaction_fields, commit_after_overload_and_another_error)
{
    begin_transaction(NULL);
    proxy_on(proxy, .command = "commitTransaction", .times = 1);
    proxy_on(proxy, .command = "commitTransaction", .times = 1, .labels = "RetryableError");
    proxy_on(proxy, .command = "commitTransaction", .times = 1);
    cr_assert(commits_in(4));
    cr_expect(has_no_concern(0));
    cr_expect(has_no_concern(1));
    cr_expect(has_majority(2));
    cr_expect(has_majority(3));
}

/* The driver's own repetition, which has it by itself; and an overload of it. */
Test(transaction_fields, commit_repeated_by_the_driver)
{
    begin_transaction(NULL);
    proxy_on(proxy, .command = "commitTransaction", .times = 1, .action = PROXY_DISCONNECT);
    proxy_on(proxy, .command = "commitTransaction", .times = 1);
    cr_assert(commits_in(3));
    cr_expect(has_no_concern(0));
    cr_expect(has_majority(1));
    cr_expect(has_majority(2));
}

/* Whatever else the application asked for stays. */
Test(transaction_fields, commit_with_a_write_concern_of_its_own)
{
    mongoc_write_concern_t *concern = mongoc_write_concern_new();
    mongoc_write_concern_set_w(concern, 1);
    mongoc_write_concern_set_journal(concern, true);
    mongoc_write_concern_set_wtimeout_int64(concern, 7000);
    begin_transaction(concern);
    proxy_on(proxy, .command = "commitTransaction", .times = 1);
    proxy_on(proxy, .command = "commitTransaction", .times = 1, .labels = "RetryableError");
    cr_assert(commits_in(3));
    for (int i = 0; i < 3; i++) {
        const struct send *send = sends_get("commitTransaction", i);
        cr_expect_eq(send_number(send, "writeConcern.j"), 1, "send %d", i);
        cr_expect_eq(send_number(send, "writeConcern.wtimeout"), 7000, "send %d", i);
    }
    cr_expect_eq(send_number(sends_get("commitTransaction", 1), "writeConcern.w"), 1);
    cr_expect_str_eq(send_text(sends_get("commitTransaction", 2), "writeConcern.w"), "majority");
    mongoc_write_concern_destroy(concern);
}
