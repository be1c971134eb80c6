#include "wire.h"

#include <assert.h>
#include <stdio.h>
#include <string.h>
#include <strings.h>

enum { OP_REPLY = 1, OP_QUERY = 2004, OP_MSG = 2013 };
enum { CHECKSUM_PRESENT = 1, MORE_TO_COME = 2 };
enum { TYPE_DOUBLE = 0x01, TYPE_DOCUMENT = 0x03, TYPE_ARRAY = 0x04, TYPE_INT32 = 0x10 };

/* The protocol is little-endian, and so is every machine that this runs on. */
static int32_t int32_at(const uint8_t *bytes)
{
    int32_t value;
    memcpy(&value, bytes, sizeof value);
    return value;
}

/* ---- reading --------------------------------------------------------------- */

/* What is left to be read. */
struct view {
    const uint8_t *at, *end;
};

static size_t left(const struct view *view)
{
    return (size_t)(view->end - view->at);
}

static bool skip(struct view *view, size_t size)
{
    if (left(view) < size) {
        return false;
    }
    view->at += size;
    return true;
}

static bool skip_text(struct view *view)
{
    const uint8_t *nul = memchr(view->at, '\0', left(view));
    return nul && skip(view, (size_t)(nul - view->at) + 1);
}

static bool read_int32(struct view *view, int32_t *value)
{
    if (left(view) < sizeof *value) {
        return false;
    }
    *value = int32_at(view->at);
    return skip(view, sizeof *value);
}

/* A piece that begins with its own length, which counts itself. */
static bool take_sized(struct view *view, struct view *piece)
{
    if (left(view) < sizeof(int32_t)) {
        return false;
    }
    const int32_t size = int32_at(view->at);
    *piece = (struct view){view->at, view->at + (size > 0 ? size : 0)};
    return size >= (int32_t)sizeof(int32_t) && skip(view, (size_t)size);
}

static bool skip_value(struct view *view, uint8_t type)
{
    int32_t size;
    struct view piece;
    switch (type) {
    case 0x06: /* undefined */
    case 0x0a: /* null */
    case 0x7f: /* largest key */
    case 0xff: /* smallest key */
        return true;
    case WIRE_BOOLEAN:
        return skip(view, 1);
    case TYPE_INT32:
        return skip(view, 4);
    case TYPE_DOUBLE:
    case 0x09: /* date */
    case 0x11: /* timestamp */
    case 0x12: /* int64 */
        return skip(view, 8);
    case 0x07: /* object id */
        return skip(view, 12);
    case 0x13: /* decimal */
        return skip(view, 16);
    case WIRE_STRING:
    case 0x0d: /* code */
    case 0x0e: /* symbol */
        return read_int32(view, &size) && size > 0 && skip(view, (size_t)size);
    case 0x05: /* binary: its subtype is not counted */
        return read_int32(view, &size) && size >= 0 && skip(view, (size_t)size + 1);
    case 0x0b: /* regular expression, and its options */
        if (!skip_text(view)) {
            return false;
        }
        return skip_text(view);
    case 0x0c: /* pointer */
        return read_int32(view, &size) && size > 0 && skip(view, (size_t)size + 12);
    case TYPE_DOCUMENT:
    case TYPE_ARRAY:
    case 0x0f: /* code with scope */
        return take_sized(view, &piece);
    default:
        return false;
    }
}

struct element {
    uint8_t type;
    const char *name;
    struct view value;
};

/* The next element of a document whose length was skipped; false at its end. */
static bool next_element(struct view *document, struct element *element)
{
    if (left(document) < 2 || document->at[0] == 0) {
        return false;
    }
    element->type = *document->at++;
    element->name = (const char *)document->at;
    if (!skip_text(document)) {
        return false;
    }
    element->value.at = document->at;
    const bool good = skip_value(document, element->type);
    element->value.end = document->at;
    return good;
}

size_t wire_message_size(const uint8_t header[WIRE_HEADER_SIZE])
{
    const int32_t size = int32_at(header);
    return size < WIRE_HEADER_SIZE || size > WIRE_MOST_BYTES ? 0 : (size_t)size;
}

/* Sections may come in any order; the one of kind 0 is the command, those of
 * kind 1 are the documents of a bulk write. */
static bool find_command(struct view *message, struct view *command)
{
    int32_t flags;
    bool found = false;
    if (!read_int32(message, &flags)) {
        return false;
    }
    if (flags & CHECKSUM_PRESENT) {
        message->end -= left(message) < 4 ? left(message) : 4;
    }
    while (left(message) > 0) {
        struct view section;
        const uint8_t kind = *message->at++;
        if (kind > 1 || !take_sized(message, &section)) {
            return false;
        }
        if (kind == 0) {
            *command = section;
            found = true;
        }
    }
    return found;
}

/* A command in OP_QUERY may be wrapped, to go with a read preference. */
static bool find_legacy_command(struct view *message, struct view *command)
{
    struct element first;
    if (!skip(message, 4) || !skip_text(message) || !skip(message, 8) ||
        !take_sized(message, command)) {
        return false;
    }
    struct view inside = {command->at + 4, command->end};
    if (next_element(&inside, &first) && strcmp(first.name, "$query") == 0) {
        return take_sized(&first.value, command);
    }
    return true;
}

bool wire_read_request(const uint8_t *message, size_t size, struct wire_request *request)
{
    struct view view = {message, message + size};
    struct view command;
    struct element first;
    if (!skip(&view, WIRE_HEADER_SIZE)) {
        return false;
    }
    const int32_t code = int32_at(message + 12);
    *request = (struct wire_request){
        .id = int32_at(message + 4), .legacy = code == OP_QUERY, .wants_answer = true};
    if (code == OP_MSG) {
        request->wants_answer = left(&view) >= 4 && !(int32_at(view.at) & MORE_TO_COME);
    }
    if (!(code == OP_MSG && find_command(&view, &command)) &&
        !(code == OP_QUERY && find_legacy_command(&view, &command))) {
        return false;
    }
    request->command = command.at;
    request->command_size = left(&command);
    struct view inside = {command.at + 4, command.end};
    if (!next_element(&inside, &first)) {
        return false;
    }
    snprintf(request->name, sizeof request->name, "%s", first.name);
    return true;
}

struct wire_field wire_field(const struct wire_request *request, const char *name)
{
    struct view document = {request->command + 4, request->command + request->command_size};
    struct element element;
    struct wire_field field = {.type = WIRE_ABSENT};
    while (next_element(&document, &element)) {
        if (strcmp(element.name, name) == 0) {
            field.type = element.type;
            if (element.type == WIRE_BOOLEAN) {
                field.boolean = *element.value.at != 0;
            } else if (element.type == WIRE_STRING) {
                snprintf(field.text, sizeof field.text, "%.*s", int32_at(element.value.at),
                    (const char *)element.value.at + 4);
            }
            break;
        }
    }
    return field;
}

bool wire_is_hello(const struct wire_request *request)
{
    return strcmp(request->name, "hello") == 0 || strcasecmp(request->name, "isMaster") == 0;
}

/* ---- writing --------------------------------------------------------------- */

struct writer {
    uint8_t *bytes;
    size_t size;
};

static void put(struct writer *writer, const void *bytes, size_t size)
{
    assert(writer->size + size <= WIRE_ANSWER_SIZE);
    memcpy(writer->bytes + writer->size, bytes, size);
    writer->size += size;
}

static void put_int32(struct writer *writer, int32_t value)
{
    put(writer, &value, sizeof value);
}

static void put_zeros(struct writer *writer, size_t count)
{
    while (count--) {
        put(writer, "", 1);
    }
}

static void put_name(struct writer *writer, uint8_t type, const char *name)
{
    put(writer, &type, 1);
    put(writer, name, strlen(name) + 1);
}

static void put_string(struct writer *writer, const char *name, const char *text, size_t length)
{
    put_name(writer, WIRE_STRING, name);
    put_int32(writer, (int32_t)length + 1);
    put(writer, text, length);
    put_zeros(writer, 1);
}

/* Whatever has its own length in front: begun with begin, ended with finish. */
static size_t begin(struct writer *writer)
{
    put_int32(writer, 0);
    return writer->size - 4;
}

static void finish(struct writer *writer, size_t from)
{
    const int32_t size = (int32_t)(writer->size - from);
    memcpy(writer->bytes + from, &size, sizeof size);
}

static void put_labels(struct writer *writer, const char *labels)
{
    char index[] = "0";
    put_name(writer, TYPE_ARRAY, "errorLabels");
    const size_t array = begin(writer);
    for (size_t length; *(labels += strspn(labels, " ")); labels += length) {
        length = strcspn(labels, " ");
        put_string(writer, index, labels, length);
        index[0]++;
    }
    put_zeros(writer, 1);
    finish(writer, array);
}

static void put_error(struct writer *writer, const struct wire_error *error)
{
    static const char text[] = "turned away by the proxy";
    const double failed = 0;
    const size_t document = begin(writer);
    put_name(writer, TYPE_DOUBLE, "ok");
    put(writer, &failed, sizeof failed);
    put_string(writer, "errmsg", text, sizeof text - 1);
    put_name(writer, TYPE_INT32, "code");
    put_int32(writer, error->code);
    if (*error->labels) {
        put_labels(writer, error->labels);
    }
    if (error->base_backoff_ms) {
        put_name(writer, TYPE_INT32, "baseBackoffMS");
        put_int32(writer, error->base_backoff_ms);
    }
    put_zeros(writer, 1);
    finish(writer, document);
}

size_t wire_write_error(uint8_t answer[WIRE_ANSWER_SIZE], const struct wire_request *request,
    const struct wire_error *error)
{
    struct writer writer = {.bytes = answer};
    const size_t message = begin(&writer);
    put_int32(&writer, 0); /* its own id, which nobody looks at */
    put_int32(&writer, request->id);
    put_int32(&writer, request->legacy ? OP_REPLY : OP_MSG);
    put_int32(&writer, 0); /* flags */
    if (request->legacy) {
        put_zeros(&writer, 8 + 4); /* no cursor, from the start */
        put_int32(&writer, 1);     /* one document */
    } else {
        put_zeros(&writer, 1); /* a section of kind 0 */
    }
    put_error(&writer, error);
    finish(&writer, message);
    return writer.size;
}
