#include "shim/handshake.h"

#include "common/process.h"
#include "shim/driver/document.h"
#include "shim/driver/functions.h"

#include <stddef.h>

#define FIELD "backpressure"

#define FUNCTIONS(X)                                                                               \
    X(void, bson_init, (struct mbp_bson *))                                                        \
    X(void, bson_copy_to, (const struct mbp_bson *from, struct mbp_bson *to))                      \
    X(void, bson_copy_to_excluding_noinit,                                                         \
        (const struct mbp_bson *from, struct mbp_bson *to, const char *first, ...))                \
    X(bool, bson_append_bool, (struct mbp_bson *, const char *key, int length, bool))              \
    X(bool, bson_append_utf8,                                                                      \
        (struct mbp_bson *, const char *key, int length, const char *text, int text_length))

MBP_FUNCTIONS(FUNCTIONS)

/* What the profile says: a text, or simply true. */
static bool says(const struct mbp_field *field, const char *text)
{
    int64_t value = 0;
    return text ? mbp_field_is_text(field, text)
                : field->type == MBP_BSON_BOOL && mbp_field_as_integer(field, &value) && value;
}

static void append(const struct functions *functions, struct mbp_bson *hello, const char *text)
{
    if (text) {
        functions->bson_append_utf8(hello, FIELD, -1, text, -1);
    } else {
        functions->bson_append_bool(hello, FIELD, -1, true);
    }
}

void mbp_handshake_announce(const struct mbp_binding *binding, struct mbp_bson *hello)
{
    const struct mbp_settings *settings = mbp_process_settings();
    const char *text = mbp_settings_policy(settings).numbers.announcement;
    struct mbp_driver driver;
    struct functions functions;
    struct mbp_field field;
    /* To observe is to change nothing: an announcement would change the server. */
    if (settings->value[MBP_SET_DISABLE] || settings->value[MBP_SET_OBSERVE] || !hello ||
        !look_up(binding, &functions)) {
        return;
    }
    mbp_driver_look_up(&driver, binding->real);
    if (driver.missing) {
        return;
    }
    const struct mbp_document document = {
        .data = driver.bson_get_data(hello), .length = hello->length};
    if (!mbp_document_find(&document, FIELD, &field)) {
        append(&functions, hello, text);
    } else if (!says(&field, text)) {
        struct mbp_bson changed;
        functions.bson_init(&changed);
        functions.bson_copy_to_excluding_noinit(hello, &changed, FIELD, (char *)NULL);
        append(&functions, &changed, text);
        driver.bson_destroy(hello);
        driver.bson_steal(hello, &changed);
    }
}

bool mbp_handshake_announce_in_copy(
    const struct mbp_binding *binding, const struct mbp_bson *hello, struct mbp_bson *copy)
{
    struct functions functions;
    if (!look_up(binding, &functions)) {
        return false;
    }
    functions.bson_copy_to(hello, copy);
    mbp_handshake_announce(binding, copy);
    return true;
}
