#include "shim/rewrite.h"

#include "common/process.h"
#include "shim/driver/functions.h"

#include <stddef.h>
#include <string.h>

#define TIME_LIMIT "maxTimeMS"
#define WRITE_CONCERN "writeConcern"

#define FUNCTIONS(X)                                                                               \
    X(void, bson_init, (struct mbp_bson *))                                                        \
    X(bool, bson_init_static, (struct mbp_bson *, const uint8_t *data, size_t length))             \
    X(void, bson_copy_to, (const struct mbp_bson *from, struct mbp_bson *to))                      \
    X(void, bson_copy_to_excluding_noinit,                                                         \
        (const struct mbp_bson *from, struct mbp_bson *to, const char *first, ...))                \
    X(bool, bson_append_document,                                                                  \
        (struct mbp_bson *, const char *key, int length, const struct mbp_bson *))

MBP_FUNCTIONS(FUNCTIONS)

/* The command takes over `document`, which replaces an earlier one. */
static void put_in_place(
    struct mbp_rewrite *rewrite, const struct mbp_call *call, struct mbp_bson *document)
{
    const struct mbp_bson **place = mbp_command_document(call->command);
    if (rewrite->in_use) {
        call->driver.bson_destroy(&rewrite->own_document);
    } else {
        rewrite->drivers_document = *place;
        rewrite->in_use = true;
    }
    call->driver.bson_steal(&rewrite->own_document, document);
    *place = &rewrite->own_document;
}

void mbp_rewrite_end(struct mbp_rewrite *rewrite, const struct mbp_call *call)
{
    if (rewrite->in_use) {
        *mbp_command_document(call->command) = rewrite->drivers_document;
        call->driver.bson_destroy(&rewrite->own_document);
        rewrite->in_use = false;
    }
}

/* ---- maxTimeMS ----------------------------------------------------------- */

uint64_t mbp_time_limit_ms(const struct mbp_call *call, uint64_t sent_ms)
{
    struct mbp_field field;
    int64_t milliseconds = 0;
    const bool ignored = mbp_process_settings()->value[MBP_SET_MAXTIMEMS] == MBP_LIMIT_IGNORE;
    /* In a getMore it is how long the server waits for something to come. */
    return !ignored && !mbp_call_is(call, "getMore") &&
                   mbp_document_find(&call->document, TIME_LIMIT, &field) &&
                   mbp_field_as_integer(&field, &milliseconds) && milliseconds > 0
               ? sent_ms + (uint64_t)milliseconds
               : 0;
}

static void overwrite(const struct mbp_field *field, uint64_t value)
{
    uint8_t *place = (uint8_t *)field->value;
    const double number = (double)value;
    if (field->type == MBP_BSON_INT32 || field->type == MBP_BSON_INT64) {
        for (size_t i = 0; i < field->value_length; i++) {
            place[i] = (uint8_t)(value >> (8 * i));
        }
    } else if (field->type == MBP_BSON_DOUBLE) {
        memcpy(place, &number, sizeof number);
    }
}

void mbp_rewrite_time_limit(
    struct mbp_rewrite *rewrite, const struct mbp_call *call, uint64_t deadline_ms, uint64_t now_ms)
{
    struct functions functions;
    struct mbp_field field;
    if (deadline_ms == 0) {
        return;
    }
    if (!rewrite->in_use) {
        struct mbp_bson copy;
        if (!look_up(call->binding, &functions)) {
            return;
        }
        functions.bson_copy_to(*mbp_command_document(call->command), &copy);
        put_in_place(rewrite, call, &copy);
    }
    const struct mbp_document copied = {.data = call->driver.bson_get_data(&rewrite->own_document),
        .length = rewrite->own_document.length};
    if (mbp_document_find(&copied, TIME_LIMIT, &field)) {
        overwrite(&field, now_ms < deadline_ms ? deadline_ms - now_ms : 1);
    }
}

/* ---- the majority -------------------------------------------------------- */

/* A small document in the making. */
struct draft {
    uint8_t data[512];
    size_t length;
};

static void add(struct draft *draft, const void *bytes, size_t length)
{
    memcpy(draft->data + draft->length, bytes, length);
    draft->length += length;
}

/* All of a field or, if it is too much, nothing; `reserved` bytes stay free. */
static bool add_field(struct draft *draft, const struct mbp_field *field, size_t reserved)
{
    const size_t key_length = strlen(field->key) + 1;
    const size_t room = sizeof draft->data - draft->length - reserved;
    if (1 + key_length + field->value_length > room) {
        return false;
    }
    add(draft, &field->type, 1);
    add(draft, field->key, key_length);
    add(draft, field->value, field->value_length);
    return true;
}

static void finish(struct draft *draft)
{
    draft->data[draft->length++] = 0;
    for (size_t i = 0; i < 4; i++) {
        draft->data[i] = (uint8_t)(draft->length >> (8 * i));
    }
}

/* w: "majority", a time limit of ten seconds unless there is one, and the rest
 * as it was. */
static void draft_concern(struct draft *draft, const struct mbp_document *old)
{
    static const char majority[] = "\2w\0\11\0\0\0majority";
    static const char ten_seconds[] = "\20wtimeout\0\20\47\0"; /* and the zero that ends it */
    const size_t reserved = sizeof ten_seconds + 1;            /* for the end, too */
    struct mbp_field field;
    size_t position = 0;
    bool has_time_limit = false;
    draft->length = 4;
    add(draft, majority, sizeof majority);
    while (mbp_document_next(old, &position, &field)) {
        int64_t value = 0;
        const bool is_time_limit = strcmp(field.key, "wtimeout") == 0;
        if (strcmp(field.key, "w") == 0 ||
            (is_time_limit && (!mbp_field_as_integer(&field, &value) || value <= 0))) {
            continue;
        }
        const bool added = add_field(draft, &field, reserved);
        has_time_limit = has_time_limit || (is_time_limit && added);
    }
    if (!has_time_limit) {
        add(draft, ten_seconds, sizeof ten_seconds);
    }
    finish(draft);
}

void mbp_rewrite_majority(struct mbp_rewrite *rewrite, const struct mbp_call *call)
{
    const struct mbp_bson *now = *mbp_command_document(call->command);
    const struct mbp_document command = {
        .data = call->driver.bson_get_data(now), .length = now->length};
    struct functions functions;
    struct mbp_field field;
    struct mbp_document old = {0};
    struct mbp_bson concern;
    struct mbp_bson changed;
    struct draft draft;
    if (!look_up(call->binding, &functions)) {
        return;
    }
    if (mbp_document_find(&command, WRITE_CONCERN, &field)) {
        mbp_field_as_document(&field, &old);
    }
    draft_concern(&draft, &old);
    if (functions.bson_init_static(&concern, draft.data, draft.length)) {
        functions.bson_init(&changed);
        functions.bson_copy_to_excluding_noinit(now, &changed, WRITE_CONCERN, (char *)NULL);
        functions.bson_append_document(&changed, WRITE_CONCERN, -1, &concern);
        put_in_place(rewrite, call, &changed);
    }
}
