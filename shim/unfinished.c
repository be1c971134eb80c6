#include "shim/unfinished.h"

#include "shim/driver/layout.h"
#include "shim/driver/objects.h"

#include <string.h>

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

static bool ends_a_transaction(const char *name)
{
    return strcmp(name, "commitTransaction") == 0 || strcmp(name, "abortTransaction") == 0;
}

static void keep_answer(struct mbp_unfinished *last, const struct mbp_call *call)
{
    const struct mbp_document reply = mbp_call_reply(call);
    if (reply.length <= sizeof last->reply) {
        memcpy(last->reply, reply.data, reply.length);
        last->reply_length = (uint32_t)reply.length;
        last->error = call->error ? *call->error : (struct mbp_error){0};
        last->answer_is_kept = true;
    }
}

void mbp_unfinished_note(const struct mbp_call *call, const struct mbp_operation *operation,
    bool overloaded, bool used_up)
{
    struct mbp_unfinished *last = &mbp_thread.unfinished;
    last->cluster = call->cluster;
    last->command = call->command;
    last->document = document(call);
    last->operation_id = operation_id(call);
    last->operation = *operation;
    last->overloaded = overloaded;
    last->used_up = used_up;
    last->driver_retries = false;
    last->answer_is_kept = false;
    last->ask_again = false;
    if (overloaded && used_up && ends_a_transaction(call->name)) {
        keep_answer(last, call);
    }
}

bool mbp_unfinished_answer_again(struct mbp_call *call)
{
    typedef bool init_static(struct mbp_bson *, const uint8_t *data, size_t length);
    typedef void copy_to(const struct mbp_bson *from, struct mbp_bson *to);
    struct mbp_unfinished *last = &mbp_thread.unfinished;
    struct mbp_bson kept;
    if (!last->ask_again || last->cluster != call->cluster || !call->binding->layout ||
        !ends_a_transaction(mbp_command_name(call->command))) {
        return false;
    }
    struct mbp_scope scope = mbp_scope_open((const void *)call->binding->real);
    init_static *init = (init_static *)mbp_scope_find(&scope, "bson_init_static");
    copy_to *copy = (copy_to *)mbp_scope_find(&scope, "bson_copy_to");
    mbp_scope_close(&scope);
    if (!init || !copy || !init(&kept, last->reply, last->reply_length)) {
        return false;
    }
    copy(&kept, call->reply);
    if (call->error) {
        *call->error = last->error;
    }
    last->ask_again = false; /* once; the application may ask as often as it likes */
    last->cluster = NULL;
    return true;
}

int mbp_unfinished_answer(int error_type)
{
    struct mbp_unfinished *last = &mbp_thread.unfinished;
    if (error_type != ERROR_TO_RETRY || !last->cluster) {
        return error_type;
    }
    if (last->answer_is_kept) {
        last->answer_is_kept = false;
        last->ask_again = true;
        return error_type;
    }
    if (last->overloaded && last->used_up) {
        return ERROR_OTHER;
    }
    last->driver_retries = true;
    return error_type;
}
