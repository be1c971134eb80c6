#include "shim/unfinished.h"

#include "shim/driver/layout.h"

/* mongoc_read_err_type_t and mongoc_write_err_type_t. */
enum { ERROR_OTHER = 1, ERROR_TO_RETRY = 2 };

static int64_t operation_id(const struct mbp_call *call)
{
    const struct mbp_layout_of_driver *layout = call->binding->layout;
    return layout ? mbp_command_operation_id(layout, call->command) : 0;
}

static const struct mbp_bson *document(const struct mbp_call *call)
{
    return call->binding->layout ? *mbp_command_document(call->command) : NULL;
}

bool mbp_unfinished_resume(const struct mbp_call *call, struct mbp_operation *operation)
{
    struct mbp_unfinished *last = &mbp_thread.unfinished;
    const bool same = last->driver_retries && last->cluster == call->cluster &&
                      last->command == call->command && last->document == document(call) &&
                      last->operation_id == operation_id(call);
    if (same) {
        *operation = last->operation;
        operation->retries++;
        operation->paid = false; /* the driver's retries are free */
    }
    last->driver_retries = false;
    last->cluster = NULL;
    return same;
}

void mbp_unfinished_note(const struct mbp_call *call, const struct mbp_operation *operation,
    bool overloaded, bool used_up)
{
    mbp_thread.unfinished = (struct mbp_unfinished){
        .cluster = call->cluster,
        .command = call->command,
        .document = document(call),
        .operation_id = operation_id(call),
        .operation = *operation,
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
        return ERROR_OTHER;
    }
    last->driver_retries = true;
    return error_type;
}
