#include "shim/unfinished.h"

#include "shim/driver/layout.h"
#include "shim/purpose.h"

#include <string.h>

/* mongoc_read_err_type_t and mongoc_write_err_type_t. */
enum { ERROR_OTHER = 1, ERROR_TO_RETRY = 2, ERROR_OF_WRITE_CONCERN = 3 };

static int64_t operation_id(const struct mbp_call *call)
{
    const struct mbp_layout_of_driver *layout = call->binding->layout;
    return layout ? mbp_command_operation_id(layout, call->command) : 0;
}

static const struct mbp_bson *document(const struct mbp_call *call)
{
    return call->binding->layout ? *mbp_command_document(call->command) : NULL;
}

static int64_t transaction_number(const struct mbp_call *call)
{
    struct mbp_field field;
    int64_t number = -1;
    return mbp_document_find(&call->document, "txnNumber", &field) &&
                   mbp_field_as_integer(&field, &number)
               ? number
               : -1;
}

static enum mbp_transaction_end end_of_transaction(const struct mbp_call *call)
{
    return mbp_call_is(call, "commitTransaction")  ? MBP_COMMIT
           : mbp_call_is(call, "abortTransaction") ? MBP_ABORT
                                                   : MBP_NO_END;
}

/* The driver retries what ends a transaction with a command made anew. */
static bool is_retry_of(const struct mbp_unfinished *last, struct mbp_call *call)
{
    if (last->cluster != call->cluster) {
        return false;
    }
    mbp_call_look_into(call);
    return last->transaction_number == transaction_number(call) &&
           last->end == end_of_transaction(call) &&
           (last->end != MBP_NO_END ||
               (last->command == call->command && last->document == document(call) &&
                   last->operation_id == operation_id(call)));
}

bool mbp_unfinished_resume(struct mbp_call *call, struct mbp_operation *operation)
{
    struct mbp_unfinished *last = &mbp_thread.unfinished;
    const bool same = last->driver_retries && is_retry_of(last, call);
    if (same) {
        *operation = last->operation;
        operation->retries++;
        operation->paid = false; /* the driver's retries are free */
        operation->continued = true;
    }
    last->driver_retries = false;
    last->cluster = NULL;
    return same;
}

/* Once, and a write only where the server can tell that it knows it already. */
static bool driver_may_retry(const struct mbp_call *call, const struct mbp_operation *operation)
{
    const bool writes = mbp_purpose_of_command(call->name, &call->document) == MBP_PURPOSE_WRITE;
    return !operation->continued && (!writes || transaction_number(call) >= 0);
}

void mbp_unfinished_note(const struct mbp_call *call, const struct mbp_operation *operation,
    bool overloaded, bool used_up)
{
    mbp_thread.unfinished = (struct mbp_unfinished){
        .cluster = call->cluster,
        .command = call->command,
        .document = document(call),
        .operation_id = operation_id(call),
        .transaction_number = transaction_number(call),
        .operation = *operation,
        .end = end_of_transaction(call),
        .driver_may_retry = driver_may_retry(call, operation),
        .overloaded = overloaded,
        .used_up = used_up,
    };
}

int mbp_unfinished_answer(int error_type)
{
    struct mbp_unfinished *last = &mbp_thread.unfinished;
    if (error_type != ERROR_TO_RETRY || !last->cluster) {
        return error_type;
    }
    if (last->overloaded && last->used_up) {
        /* Of a commit's errors, this is one that the driver doesn't retry but
         * labels as it would if it had: UnknownTransactionCommitResult. */
        return last->end == MBP_COMMIT ? ERROR_OF_WRITE_CONCERN : ERROR_OTHER;
    }
    last->driver_retries = last->driver_may_retry;
    return error_type;
}

bool mbp_unfinished_has_label(const char *label, bool has)
{
    struct mbp_unfinished *last = &mbp_thread.unfinished;
    if (!last->cluster || last->end != MBP_ABORT || !last->driver_may_retry ||
        strcmp(label, "RetryableWriteError") != 0) {
        return has;
    }
    const bool may_retry = has && mbp_unfinished_answer(ERROR_TO_RETRY) == ERROR_TO_RETRY;
    last->driver_may_retry = false; /* it asks once; the next question is the program's */
    return may_retry;
}
