#include "shim/driver/document.h"

#include <string.h>

static uint32_t little_endian_32(const uint8_t *bytes)
{
    return (uint32_t)bytes[0] | (uint32_t)bytes[1] << 8 | (uint32_t)bytes[2] << 16 |
           (uint32_t)bytes[3] << 24;
}

/* The length of a value that begins with its own, or 0 if that can't be. */
static size_t prefixed(const uint8_t *value, size_t available, size_t extra, size_t least)
{
    if (available < 4) {
        return 0;
    }
    const size_t length = (size_t)little_endian_32(value) + extra;
    return length >= least && length <= available ? length : 0;
}

/* Two zero-terminated strings in a row. */
static size_t regex_length(const uint8_t *value, size_t available)
{
    const uint8_t *pattern_end = memchr(value, 0, available);
    if (!pattern_end) {
        return 0;
    }
    const size_t used = (size_t)(pattern_end - value) + 1;
    const uint8_t *options_end = memchr(value + used, 0, available - used);
    return options_end ? (size_t)(options_end - value) + 1 : 0;
}

static bool value_length(uint8_t type, const uint8_t *value, size_t available, size_t *length)
{
    switch (type) {
    case 0x06: /* undefined */
    case 0x0a: /* null */
    case 0x7f: /* max key */
    case 0xff: /* min key */
        *length = 0;
        return true;
    case MBP_BSON_BOOL:
        *length = 1;
        break;
    case MBP_BSON_INT32:
        *length = 4;
        break;
    case MBP_BSON_DOUBLE:
    case MBP_BSON_INT64:
    case 0x09: /* date */
    case 0x11: /* timestamp */
        *length = 8;
        break;
    case 0x07: /* object id */
        *length = 12;
        break;
    case 0x13: /* decimal */
        *length = 16;
        break;
    case MBP_BSON_UTF8:
    case 0x0d: /* code */
    case 0x0e: /* symbol */
        *length = prefixed(value, available, 4, 5);
        break;
    case MBP_BSON_DOCUMENT:
    case MBP_BSON_ARRAY:
        *length = prefixed(value, available, 0, 5);
        break;
    case 0x0f: /* code with scope */
        *length = prefixed(value, available, 0, 14);
        break;
    case 0x05: /* binary: a subtype after the length */
        *length = prefixed(value, available, 5, 5);
        break;
    case 0x0c: /* database pointer: a string and an object id */
        *length = prefixed(value, available, 16, 17);
        break;
    case 0x0b:
        *length = regex_length(value, available);
        break;
    default:
        return false;
    }
    return *length > 0 && *length <= available;
}

bool mbp_document_next(
    const struct mbp_document *document, size_t *position, struct mbp_field *field)
{
    if (document->length < 5) {
        return false;
    }
    /* What the document says of its own length can only make it shorter. */
    const size_t stated = little_endian_32(document->data);
    const size_t end = stated < document->length ? stated : document->length;
    size_t at = *position ? *position : 4;
    if (at >= end || document->data[at] == 0) {
        return false;
    }
    field->type = document->data[at++];
    field->key = (const char *)document->data + at;
    const uint8_t *key_end = memchr(document->data + at, 0, end - at);
    if (!key_end) {
        return false;
    }
    at = (size_t)(key_end - document->data) + 1;
    field->value = document->data + at;
    if (!value_length(field->type, field->value, end - at, &field->value_length)) {
        return false;
    }
    *position = at + field->value_length;
    return true;
}

bool mbp_document_find(
    const struct mbp_document *document, const char *key, struct mbp_field *field)
{
    size_t position = 0;
    while (mbp_document_next(document, &position, field)) {
        if (strcmp(field->key, key) == 0) {
            return true;
        }
    }
    return false;
}

bool mbp_field_as_document(const struct mbp_field *field, struct mbp_document *inner)
{
    if (field->type != MBP_BSON_DOCUMENT && field->type != MBP_BSON_ARRAY) {
        return false;
    }
    *inner = (struct mbp_document){.data = field->value, .length = field->value_length};
    return true;
}

bool mbp_field_as_integer(const struct mbp_field *field, int64_t *value)
{
    double number;
    switch (field->type) {
    case MBP_BSON_BOOL:
        *value = field->value[0] != 0;
        return true;
    case MBP_BSON_INT32:
        *value = (int32_t)little_endian_32(field->value);
        return true;
    case MBP_BSON_INT64:
        *value = (int64_t)((uint64_t)little_endian_32(field->value) |
                           (uint64_t)little_endian_32(field->value + 4) << 32);
        return true;
    case MBP_BSON_DOUBLE:
        memcpy(&number, field->value, sizeof number);
        /* Also false for what is not a number. */
        if (!(number > -9e15 && number < 9e15)) {
            return false;
        }
        *value = (int64_t)number;
        return true;
    default:
        return false;
    }
}

bool mbp_field_is_text(const struct mbp_field *field, const char *text)
{
    const size_t length = strlen(text);
    return field->type == MBP_BSON_UTF8 && field->value_length == 4 + length + 1 &&
           memcmp(field->value + 4, text, length) == 0;
}
