/*
 * Replies of a driver that has no libbson mongobp could find: documents that
 * lie inside the bson_t, put together by hand. Every failure is the same.
 */
#include "tests/preload/fake/driver.h"

#include <assert.h>
#include <stdio.h>
#include <string.h>

struct document {
    uint32_t flags;
    uint32_t length;
    char bytes[120];
};

void fake_reply_fill(struct fake_reply *reply, const struct fake_outcome *outcome)
{
    static const char success[] = "\x0d\0\0\0\x10ok\0\1\0\0\0";
    static const char failure[] = "\x54\0\0\0"
                                  "\x10"
                                  "code\0\xce\x01\0\0"
                                  "\x04"
                                  "errorLabels\0\x38\0\0\0"
                                  "\x02"
                                  "0\0\x0f\0\0\0RetryableError\0"
                                  "\x02"
                                  "1\0\x16\0\0\0SystemOverloadedError\0"
                                  "\0";
    static_assert(sizeof success == 0x0d && sizeof failure == 0x54, "lengths, with the last byte");
    struct document *document = (struct document *)reply;
    *document =
        (struct document){.flags = 3, .length = outcome->ok ? sizeof success : sizeof failure};
    memcpy(document->bytes, outcome->ok ? success : failure, document->length);
}

void fake_describe(const struct fake_reply *reply, char *text, size_t size)
{
    const struct document *document = (const struct document *)reply;
    snprintf(text, size, "%u bytes", document->length);
}

void fake_release(struct fake_reply *reply)
{
    memset(reply, 0, sizeof *reply);
}
