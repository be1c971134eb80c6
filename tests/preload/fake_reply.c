/*
 * The reader of replies, which must get along with any bytes. Documents lie in
 * memory of just their size, so that a sanitizer sees a read past the end.
 */
#include "shim/driver/reply.h"

#include <criterion/criterion.h>
#include <stdlib.h>
#include <string.h>

enum {
    ALL_LABELS = MBP_LABEL_RETRYABLE | MBP_LABEL_OVERLOADED | MBP_LABEL_NO_WRITES_PERFORMED |
                 MBP_LABEL_TRANSIENT_TRANSACTION
};

/* Bytes with the zero after them left off. */
#define BYTES(text) text, sizeof(text) - 1

struct bytes {
    unsigned char data[1024];
    size_t length;
};

static void put(struct bytes *to, const char *data, size_t length)
{
    cr_assert_lt(to->length + length, sizeof to->data);
    memcpy(to->data + to->length, data, length);
    to->length += length;
}

static void put_number(struct bytes *to, size_t at, size_t value)
{
    for (unsigned i = 0; i < 4; i++) {
        to->data[at + i] = (unsigned char)(value >> (8 * i));
    }
}

static size_t begin(struct bytes *to)
{
    const size_t start = to->length;
    put(to, BYTES("\0\0\0\0"));
    return start;
}

static void end(struct bytes *to, size_t start)
{
    put(to, BYTES("\0"));
    put_number(to, start, to->length - start);
}

static void put_text(struct bytes *to, const char *key, const char *value)
{
    const size_t length = strlen(value) + 1;
    put(to, BYTES("\x02"));
    put(to, key, strlen(key) + 1);
    put(to, BYTES("\0\0\0\0"));
    put_number(to, to->length - 4, length);
    put(to, value, length);
}

static void put_labels(struct bytes *to)
{
    put(to, BYTES("\x04"
                  "errorLabels\0"));
    const size_t array = begin(to);
    put_text(to, "0", "TransientTransactionError");
    put_text(to, "1", "RetryableError");
    put_text(to, "2", "SystemOverloadedError");
    put_text(to, "3", "NoWritesPerformed");
    end(to, array);
}

static void put_one_of_each_type(struct bytes *to)
{
    put(to, BYTES("\x01"
                  "double\0"
                  "\0\0\0\0\0\0\xf0\x3f"));
    put_text(to, "text", "errorLabels");
    put(to, BYTES("\x03"
                  "document\0"
                  "\x05\0\0\0\0"));
    put(to, BYTES("\x05"
                  "binary\0"
                  "\x03\0\0\0\0abc"));
    put(to, BYTES("\x06"
                  "undefined\0"));
    put(to, BYTES("\x07"
                  "id\0"
                  "123456789012"));
    put(to, BYTES("\x08"
                  "bool\0"
                  "\x01"));
    put(to, BYTES("\x09"
                  "date\0"
                  "\1\2\3\4\5\6\7\7"));
    put(to, BYTES("\x0a"
                  "null\0"));
    put(to, BYTES("\x0b"
                  "regex\0"
                  "a.*\0i\0"));
    put(to, BYTES("\x0c"
                  "pointer\0"
                  "\x02\0\0\0a\0"
                  "123456789012"));
    put(to, BYTES("\x0d"
                  "code_\0"
                  "\x02\0\0\0x\0"));
    put(to, BYTES("\x0e"
                  "symbol\0"
                  "\x02\0\0\0y\0"));
    put(to, BYTES("\x0f"
                  "scope\0"
                  "\x0f\0\0\0"
                  "\x02\0\0\0z\0"
                  "\x05\0\0\0\0"));
    put(to, BYTES("\x11"
                  "operationTime\0"
                  "\1\0\0\0\2\0\0\0"));
    put(to, BYTES("\x12"
                  "long\0"
                  "\1\2\3\4\5\6\7\7"));
    put(to, BYTES("\x13"
                  "decimal\0"
                  "1234567890123456"));
    put(to, BYTES("\xff"
                  "least\0"));
    put(to, BYTES("\x7f"
                  "most\0"));
}

/* A reply with all there is, and what matters last. */
static struct bytes whole_reply(void)
{
    struct bytes reply = {.length = 0};
    const size_t start = begin(&reply);
    put_one_of_each_type(&reply);
    put(&reply, BYTES("\x10"
                      "code\0"
                      "\xce\x01\0\0"));
    put_labels(&reply);
    end(&reply, start);
    return reply;
}

static void walk(const struct mbp_document *document, unsigned depth)
{
    struct mbp_field field;
    struct mbp_document inner;
    size_t position = 0;
    size_t before = 0;
    while (mbp_document_next(document, &position, &field)) {
        int64_t value;
        cr_assert_gt(position, before);
        cr_assert_leq(position, document->length);
        cr_assert(field.value + field.value_length <= document->data + document->length);
        before = position;
        mbp_field_as_integer(&field, &value);
        mbp_field_is_text(&field, "RetryableError");
        if (depth < 20 && mbp_field_as_document(&field, &inner)) {
            walk(&inner, depth + 1);
        }
    }
}

/* Reads so many bytes from memory that ends there. */
static struct mbp_attempt classify(const unsigned char *data, size_t length)
{
    unsigned char *copy = malloc(length ? length : 1);
    struct mbp_attempt attempt = {.ok = false};
    cr_assert(copy);
    memcpy(copy, data, length);
    const struct mbp_document document = {.data = copy, .length = length};
    mbp_reply_classify(&document, &attempt);
    walk(&document, 0);
    free(copy);
    cr_assert_eq(attempt.labels & ~(unsigned)ALL_LABELS, 0);
    return attempt;
}

Test(fake_reply, every_type_is_stepped_over)
{
    const struct bytes reply = whole_reply();
    const struct mbp_attempt attempt = classify(reply.data, reply.length);
    cr_expect_eq(attempt.labels, ALL_LABELS);
    cr_expect_not(attempt.unsafe_to_resend);
}

/* With the length it had, and with the one it has. A label is there only once
 * all of it is; without the end of the reply nothing but the last zero bytes
 * may be missing for all of them to be there. */
Test(fake_reply, cut_anywhere)
{
    struct bytes reply = whole_reply();
    for (size_t length = 0; length < reply.length; length++) {
        classify(reply.data, length);
    }
    for (size_t length = 4; length < reply.length; length++) {
        put_number(&reply, 0, length);
        classify(reply.data, length);
    }
}

Test(fake_reply, cut_before_the_labels)
{
    struct bytes reply = {.length = 0};
    const size_t start = begin(&reply);
    put(&reply, BYTES("\x10"
                      "code\0"
                      "\xce\x01\0\0"));
    const size_t labels_at = reply.length;
    put_labels(&reply);
    end(&reply, start);
    for (size_t length = 0; length < reply.length - 1; length++) {
        const struct mbp_attempt attempt = classify(reply.data, length);
        cr_expect_eq(attempt.labels, 0, "cut at %zu", length);
        cr_expect_eq(attempt.unsafe_to_resend, length < labels_at, "cut at %zu", length);
    }
}

/* Each place that could hold a length, with each length that could hurt. */
Test(fake_reply, absurd_lengths_anywhere)
{
    static const uint32_t lengths[] = {
        0, 1, 4, 5, 13, 14, 0x7fffffff, 0x80000000, 0xfffffff0, 0xfffffffb, 0xfffffffc, 0xffffffff};
    const struct bytes reply = whole_reply();
    for (size_t at = 0; at + 4 <= reply.length; at++) {
        for (unsigned i = 0; i < sizeof lengths / sizeof lengths[0]; i++) {
            struct bytes spoilt = reply;
            put_number(&spoilt, at, lengths[i]);
            classify(spoilt.data, spoilt.length);
        }
    }
}

static uint64_t next_random(uint64_t *state)
{
    *state ^= *state << 13;
    *state ^= *state >> 7;
    *state ^= *state << 17;
    return *state;
}

Test(fake_reply, random_bytes_anywhere)
{
    const struct bytes reply = whole_reply();
    uint64_t state = 20251118;
    for (unsigned round = 0; round < 50000; round++) {
        struct bytes spoilt = reply;
        for (uint64_t flips = next_random(&state) % 8 + 1; flips > 0; flips--) {
            spoilt.data[next_random(&state) % spoilt.length] = (unsigned char)next_random(&state);
        }
        classify(spoilt.data, spoilt.length);
    }
}

Test(fake_reply, nothing_but_noise)
{
    uint64_t state = 1;
    for (unsigned round = 0; round < 20000; round++) {
        struct bytes noise = {.length = next_random(&state) % 64};
        for (size_t i = 0; i < noise.length; i++) {
            noise.data[i] = (unsigned char)(next_random(&state) % 20);
        }
        if (noise.length >= 4) {
            put_number(&noise, 0, noise.length);
        }
        classify(noise.data, noise.length);
    }
}

/* Wraps one field into a reply. */
static struct mbp_attempt classify_field(const char *field, size_t length)
{
    struct bytes reply = {.length = 0};
    const size_t start = begin(&reply);
    put(&reply, field, length);
    end(&reply, start);
    return classify(reply.data, reply.length);
}

static struct mbp_attempt classify_label(const char *label)
{
    struct bytes field = {.length = 0};
    put(&field, BYTES("\x04"
                      "errorLabels\0"));
    const size_t array = begin(&field);
    put_text(&field, "0", label);
    end(&field, array);
    return classify_field((const char *)field.data, field.length);
}

Test(fake_reply, labels)
{
    cr_expect_eq(classify_label("RetryableError").labels, MBP_LABEL_RETRYABLE);
    cr_expect_eq(classify_label("SystemOverloadedError").labels, MBP_LABEL_OVERLOADED);
    cr_expect_eq(classify_label("NoWritesPerformed").labels, MBP_LABEL_NO_WRITES_PERFORMED);
    cr_expect_eq(classify_label("").labels, 0);
    cr_expect_eq(classify_label("Retryable").labels, 0);
    cr_expect_eq(classify_label("RetryableErrors").labels, 0);
    cr_expect_eq(classify_label("retryableerror").labels, 0);
    cr_expect_eq(classify_label("RetryableWriteError").labels, 0);
    cr_expect_eq(classify_label("SystemOverloadError").labels, 0);
}

Test(fake_reply, labels_that_are_no_list)
{
    struct bytes text = {.length = 0};
    put_text(&text, "errorLabels", "RetryableError");
    cr_expect_eq(classify_field((const char *)text.data, text.length).labels, 0);
    cr_expect_eq(classify_field(BYTES("\x0a"
                                      "errorLabels\0"))
                     .labels,
        0);
    cr_expect_eq(classify_field(BYTES("\x10"
                                      "errorLabels\0\1\0\0\0"))
                     .labels,
        0);
}

static bool unsafe_with_code(int32_t code)
{
    struct bytes field = {.length = 0};
    put(&field, BYTES("\x10"
                      "code\0\0\0\0\0"));
    put_number(&field, field.length - 4, (uint32_t)code);
    return classify_field((const char *)field.data, field.length).unsafe_to_resend;
}

Test(fake_reply, codes)
{
    static const int32_t unsafe[] = {91, 189, 10058, 10107, 11600, 11602, 13435, 13436};
    static const int32_t safe[] = {462, 1, -1, 0, 50, 112, 11000, INT32_MAX, INT32_MIN};
    for (unsigned i = 0; i < sizeof unsafe / sizeof unsafe[0]; i++) {
        cr_expect(unsafe_with_code(unsafe[i]), "%d", unsafe[i]);
    }
    for (unsigned i = 0; i < sizeof safe / sizeof safe[0]; i++) {
        cr_expect_not(unsafe_with_code(safe[i]), "%d", safe[i]);
    }
}

Test(fake_reply, codes_of_other_types)
{
    /* 10107 as a long and as a double; 462 as a double; no number at all. */
    cr_expect(classify_field(BYTES("\x12"
                                   "code\0\x7b\x27\0\0\0\0\0\0"))
                  .unsafe_to_resend);
    cr_expect(classify_field(BYTES("\x01"
                                   "code\0\0\0\0\0\x80\xbd\xc3\x40"))
                  .unsafe_to_resend);
    cr_expect_not(classify_field(BYTES("\x01"
                                       "code\0\0\0\0\0\0\xe0\x7c\x40"))
                      .unsafe_to_resend);
    cr_expect(classify_field(BYTES("\x01"
                                   "code\0\0\0\0\0\0\0\xf8\x7f"))
                  .unsafe_to_resend);
    cr_expect(classify_field(BYTES("\x0a"
                                   "code\0"))
                  .unsafe_to_resend);
    cr_expect(classify_field(BYTES("")).unsafe_to_resend);
}
