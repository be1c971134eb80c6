/* Operations of a session: transactions. */
#include "tests/spec/operations.h"
#include "tests/spec/options.h"

#include <string.h>

#define TRANSACTION "readConcern writeConcern readPreference maxCommitTimeMS"

static mongoc_client_session_t *open_session(struct operation *operation)
{
    if (!operation->object->session) {
        fail(operation->test, "session '%s' has ended", operation->object->id);
    }
    return operation->object->session;
}

static bool run_start_transaction(struct operation *operation)
{
    mongoc_client_session_t *session = open_session(operation);
    mongoc_transaction_opt_t *opts = transaction_options(operation->test, &operation->arguments);

    operation->test->transacted = true;
    if (session && operation->test->verdict == PASSED) {
        outcome(
            operation, mongoc_client_session_start_transaction(session, opts, &operation->error));
    }
    mongoc_transaction_opts_destroy(opts);
    return operation->test->verdict == PASSED;
}

static bool run_commit_transaction(struct operation *operation)
{
    mongoc_client_session_t *session = open_session(operation);

    if (!session) {
        return false;
    }
    bson_destroy(&operation->reply);
    return outcome(operation,
        mongoc_client_session_commit_transaction(session, &operation->reply, &operation->error));
}

static bool run_abort_transaction(struct operation *operation)
{
    mongoc_client_session_t *session = open_session(operation);

    return session &&
           outcome(operation, mongoc_client_session_abort_transaction(session, &operation->error));
}

static bool run_end_session(struct operation *operation)
{
    entity_close(operation->test, operation->object);
    return true;
}

/*
 * Runs the operations of the callback. An error of one of them goes on to the driver, even if the
 * test expects it, because the driver decides by its labels whether to begin again.
 */
static bool transact(
    mongoc_client_session_t *session, void *context, bson_t **reply, bson_error_t *error)
{
    struct operation *with = context;
    struct operation operation;
    bson_iter_t iter;
    bson_t definition;
    bool ok = true;

    (void)session;
    for (doc_each(&with->arguments, "callback", &iter); ok && bson_iter_next(&iter);) {
        bool expected;
        iter_view(&iter, &definition);
        expected = operation_run(with->test, &definition, &operation);
        ok = expected && !operation.failed;
        if (operation.failed) {
            *error = operation.error;
            *reply = bson_copy(&operation.reply);
        } else if (!expected) {
            bson_set_error(error, MONGOC_ERROR_CLIENT, 1, "the test has a verdict");
        }
        operation_end(&operation);
    }
    return ok;
}

static bool run_with_transaction(struct operation *operation)
{
    mongoc_client_session_t *session = open_session(operation);
    mongoc_transaction_opt_t *opts = transaction_options(operation->test, &operation->arguments);

    operation->test->transacted = true;
    if (session && operation->test->verdict == PASSED) {
        bson_destroy(&operation->reply);
        outcome(operation, mongoc_client_session_with_transaction(session, transact, opts,
                               operation, &operation->reply, &operation->error));
    }
    mongoc_transaction_opts_destroy(opts);
    return operation->test->verdict == PASSED;
}

const struct operation_row session_operations[] = {
    {SESSION, "abortTransaction", run_abort_transaction, "", NULL},
    {SESSION, "commitTransaction", run_commit_transaction, "", NULL},
    {SESSION, "endSession", run_end_session, "", NULL},
    {SESSION, "getSnapshotTime", NULL, "", "none"},
    {SESSION, "startTransaction", run_start_transaction, TRANSACTION, NULL},
    {SESSION, "withTransaction", run_with_transaction, TRANSACTION " callback", NULL},
    {TEST_RUNNER, NULL, NULL, NULL, NULL},
};
