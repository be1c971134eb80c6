#include "shim/time_limit.h"

#include "common/process.h"
#include "shim/driver/objects.h"

#include <string.h>

#define FIELD "maxTimeMS"

struct mbp_time_limit mbp_time_limit_of(const struct mbp_call *call, uint64_t sent_ms)
{
    struct mbp_time_limit limit = {.deadline_ms = 0};
    struct mbp_field field;
    int64_t milliseconds = 0;
    const bool ignored = mbp_process_settings()->value[MBP_SET_MAXTIMEMS] == MBP_LIMIT_IGNORE;
    /* In a getMore it is how long the server waits for something to come. */
    if (!ignored && !mbp_call_is(call, "getMore") &&
        mbp_document_find(&call->document, FIELD, &field) &&
        mbp_field_as_integer(&field, &milliseconds) && milliseconds > 0) {
        limit.deadline_ms = sent_ms + (uint64_t)milliseconds;
    }
    return limit;
}

static void overwrite(const struct mbp_field *field, uint64_t value)
{
    uint8_t *place = (uint8_t *)field->value;
    double number = (double)value;
    switch (field->type) {
    case MBP_BSON_INT32:
    case MBP_BSON_INT64:
        for (size_t i = 0; i < field->value_length; i++) {
            place[i] = (uint8_t)(value >> (8 * i));
        }
        break;
    case MBP_BSON_DOUBLE:
        memcpy(place, &number, sizeof number);
        break;
    default:
        break;
    }
}

void mbp_time_limit_reduce(
    struct mbp_time_limit *limit, const struct mbp_call *call, uint64_t now_ms)
{
    typedef void copy_to(const struct mbp_bson *from, struct mbp_bson *to);
    struct mbp_field field;
    if (limit->deadline_ms == 0) {
        return;
    }
    if (!limit->in_use) {
        struct mbp_scope scope = mbp_scope_open((const void *)call->binding->real);
        copy_to *copy = (copy_to *)mbp_scope_find(&scope, "bson_copy_to");
        mbp_scope_close(&scope);
        if (!copy) {
            return;
        }
        /* A copy: the original may be the program's own. */
        limit->drivers_document = *mbp_command_document(call->command);
        copy(limit->drivers_document, &limit->own_document);
        limit->in_use = true;
    }
    const struct mbp_document copied = {.data = call->driver.bson_get_data(&limit->own_document),
        .length = limit->own_document.length};
    if (mbp_document_find(&copied, FIELD, &field)) {
        overwrite(&field, now_ms < limit->deadline_ms ? limit->deadline_ms - now_ms : 1);
    }
    *mbp_command_document(call->command) = &limit->own_document;
}

void mbp_time_limit_end(struct mbp_time_limit *limit, const struct mbp_call *call)
{
    if (limit->in_use) {
        *mbp_command_document(call->command) = limit->drivers_document;
        call->driver.bson_destroy(&limit->own_document);
        limit->in_use = false;
    }
}
