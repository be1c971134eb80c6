#include "shim/call.h"

#include "shim/thread.h"

#include <errno.h>
#include <string.h>

_Thread_local struct mbp_thread mbp_thread;

void mbp_call_look_into(struct mbp_call *call)
{
    const int caller_errno = errno;
    mbp_driver_look_up(&call->driver, call->binding->real);
    call->name = "command";
    call->document = (struct mbp_document){0};
    if (call->binding->layout && !call->driver.missing) {
        const struct mbp_bson *document = *mbp_command_document(call->command);
        call->name = mbp_command_name(call->command);
        call->document = (struct mbp_document){
            .data = call->driver.bson_get_data(document), .length = document->length};
    }
    errno = caller_errno;
}

bool mbp_call_send(const struct mbp_call *call)
{
    mbp_run_command *real = (mbp_run_command *)call->binding->real;
    mbp_thread.stream_died = false;
    mbp_thread.inside = true;
    const bool ok = real(call->cluster, call->command, call->reply, call->error);
    mbp_thread.inside = false;
    return ok;
}

struct mbp_document mbp_call_reply(const struct mbp_call *call)
{
    return (struct mbp_document){
        .data = call->driver.bson_get_data(call->reply), .length = call->reply->length};
}

bool mbp_call_is(const struct mbp_call *call, const char *name)
{
    return strcmp(call->name, name) == 0;
}

bool mbp_call_has(const struct mbp_call *call, const char *field_name)
{
    struct mbp_field field;
    return mbp_document_find(&call->document, field_name, &field);
}
