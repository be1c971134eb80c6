/*
 * Replies made by libbson and too long to lie inside a bson_t: one that is lost
 * or freed twice shows under a sanitizer.
 */
#include "driver.h"

#include <assert.h>
#include <bson/bson.h>
#include <stdio.h>

static_assert(sizeof(struct fake_reply) == sizeof(bson_t), "bson_t");
static_assert(sizeof(struct fake_error) == sizeof(bson_error_t), "bson_error_t");

static void append_labels(bson_t *reply, const char *letters)
{
    bson_t labels = BSON_INITIALIZER;
    char key[2] = "0";
    for (; fake_label(*letters); letters++, key[0]++) {
        bson_append_utf8(&labels, key, 1, fake_label(*letters), -1);
    }
    BSON_APPEND_ARRAY(reply, "errorLabels", &labels);
    bson_destroy(&labels);
}

void fake_reply_fill(struct fake_reply *reply, const struct fake_outcome *outcome)
{
    bson_t *document = (bson_t *)reply;
    bson_init(document);
    if (outcome->empty) {
        return;
    }
    BSON_APPEND_DOUBLE(document, "ok", outcome->ok ? 1 : 0);
    BSON_APPEND_UTF8(document, "filler",
        "------------------------------------------------------------------------"
        "------------------------------------------------------------------------");
    BSON_APPEND_INT32(document, "send", (int32_t)outcome->send);
    if (outcome->code) {
        BSON_APPEND_INT32(document, "code", outcome->code);
    }
    if (fake_label(*outcome->labels)) {
        append_labels(document, outcome->labels);
    }
}

void fake_describe(const struct fake_reply *reply, char *text, size_t size)
{
    const bson_t *document = (const bson_t *)reply;
    bson_iter_t field;
    bson_iter_t label;
    int length = 0;
    if (bson_empty(document)) {
        snprintf(text, size, "empty");
        return;
    }
    if (bson_iter_init_find(&field, document, "send")) {
        length += snprintf(text, size, "%d", bson_iter_int32(&field));
    }
    if (bson_iter_init_find(&field, document, "code")) {
        length +=
            snprintf(text + length, size - (size_t)length, " code=%d", bson_iter_int32(&field));
    }
    if (bson_iter_init_find(&field, document, "errorLabels") && bson_iter_recurse(&field, &label)) {
        for (const char *before = " labels="; bson_iter_next(&label); before = ",") {
            length += snprintf(
                text + length, size - (size_t)length, "%s%s", before, bson_iter_utf8(&label, NULL));
        }
    }
}

void fake_release(struct fake_reply *reply)
{
    bson_destroy((bson_t *)reply);
}
