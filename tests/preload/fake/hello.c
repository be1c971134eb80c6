/*
 * The ways to the message that every connection begins with.
 */
#include "driver.h"

#include <bson/bson.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static void make(bson_t *hello, const char *own)
{
    bson_init(hello);
    BSON_APPEND_INT32(hello, "hello", 1);
    if (strcmp(own, "no-client") != 0) {
        bson_t client;
        BSON_APPEND_DOCUMENT_BEGIN(hello, "client", &client);
        BSON_APPEND_UTF8(&client, "platform",
            "------------------------------------------------------------------------");
        bson_append_document_end(hello, &client);
    }
    if (strcmp(own, "true") == 0) {
        BSON_APPEND_BOOL(hello, "backpressure", true);
    } else if (strcmp(own, "2") == 0) {
        BSON_APPEND_UTF8(hello, "backpressure", own);
    }
    BSON_APPEND_INT32(hello, "last", 1);
}

/* All names, in order, and the value that matters. */
static void describe(const bson_t *hello, char *text, size_t size)
{
    bson_iter_t field;
    size_t length = 0;
    if (!bson_iter_init(&field, hello)) {
        abort();
    }
    while (bson_iter_next(&field)) {
        length += (size_t)snprintf(
            text + length, size - length, "%s%s", length ? " " : "", bson_iter_key(&field));
        if (BSON_ITER_HOLDS_BOOL(&field)) {
            length += (size_t)snprintf(
                text + length, size - length, "=%s", bson_iter_bool(&field) ? "true" : "false");
        } else if (BSON_ITER_HOLDS_UTF8(&field)) {
            length += (size_t)snprintf(
                text + length, size - length, "='%s'", bson_iter_utf8(&field, NULL));
        }
    }
}

static void describe_copy(bson_t *kept, char *text, size_t size)
{
    struct fake_reply copy;
    _mongoc_topology_scanner_dup_handshake_cmd(kept, &copy);
    describe((const bson_t *)&copy, text, size);
    fake_release(&copy);
}

static void describe_sent(bson_t *kept, bool is_open, char *text, size_t size)
{
    bson_t *sent = mongoc_async_cmd_new(1, is_open ? kept : NULL, 3, 4, 5, 6, 7, 8, 9,
        (const struct fake_reply *)kept, 11, 12, 13, 14);
    if (!sent) {
        snprintf(text, size, "other arguments than given");
        return;
    }
    describe(sent, text, size);
    bson_destroy(sent);
}

static void tell(bson_t *kept, const char *how, char *text, size_t size)
{
    if (strcmp(how, "dup") == 0) {
        describe_copy(kept, text, size);
    } else if (strncmp(how, "async", 5) == 0) {
        describe_sent(kept, strcmp(how, "async-open") == 0, text, size);
    } else if (strcmp(how, "ismaster") == 0) {
        describe((const bson_t *)_mongoc_topology_scanner_get_ismaster(kept), text, size);
    } else {
        describe((const bson_t *)_mongoc_topology_scanner_get_handshake_cmd(kept), text, size);
    }
}

void fake_hello(const char *how, const char *own, char *text, size_t size)
{
    bson_t kept;
    char first[256];
    make(&kept, own);
    tell(&kept, how, first, sizeof first);
    tell(&kept, how, text, size);
    if (strcmp(first, text) != 0) {
        snprintf(text, size, "first another one: %s", first);
    }
    bson_destroy(&kept);
}
