/*
 * A reader for BSON as it lies in memory, for the few fields that mongobp
 * wants to see. It never reads past the length it is given and takes nothing
 * for granted: a document that is cut or malformed just ends early.
 */
#ifndef MBP_DOCUMENT_H
#define MBP_DOCUMENT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum mbp_bson_type {
    MBP_BSON_DOUBLE = 0x01,
    MBP_BSON_UTF8 = 0x02,
    MBP_BSON_DOCUMENT = 0x03,
    MBP_BSON_ARRAY = 0x04,
    MBP_BSON_BOOL = 0x08,
    MBP_BSON_INT32 = 0x10,
    MBP_BSON_INT64 = 0x12,
};

/* A document or array that lies in somebody else's memory. */
struct mbp_document {
    const uint8_t *data;
    size_t length;
};

struct mbp_field {
    uint8_t type;
    const char *key;      /* ends with a zero byte */
    const uint8_t *value; /* what comes after the key */
    size_t value_length;
};

/* Steps to the next field; zero `*position` to start. False at the end. */
bool mbp_document_next(
    const struct mbp_document *document, size_t *position, struct mbp_field *field);

bool mbp_document_find(
    const struct mbp_document *document, const char *key, struct mbp_field *field);

/* The field as what it holds; false where it holds something else. */
bool mbp_field_as_document(const struct mbp_field *field, struct mbp_document *inner);
bool mbp_field_as_integer(const struct mbp_field *field, int64_t *value);

/* Whether the field is that very string. */
bool mbp_field_is_text(const struct mbp_field *field, const char *text);

#endif
