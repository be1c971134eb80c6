/*
 * As much of MongoDB's wire protocol as a proxy needs: what a client asks, and
 * an error to answer with. Knows OP_MSG and, for the first hello of older
 * clients, OP_QUERY; no compression. Needs libc alone.
 */
#ifndef MBP_TEST_WIRE_H
#define MBP_TEST_WIRE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum { WIRE_HEADER_SIZE = 16, WIRE_MOST_BYTES = 48000000 + WIRE_HEADER_SIZE };

enum { WIRE_NAME_SIZE = 64, WIRE_TEXT_SIZE = 32 };

/* Types of BSON elements that tests ask for. */
enum { WIRE_ABSENT = 0, WIRE_STRING = 0x02, WIRE_BOOLEAN = 0x08 };

/* A top-level field of a command. */
struct wire_field {
    uint8_t type;              /* as BSON numbers them; WIRE_ABSENT */
    bool boolean;              /* of a WIRE_BOOLEAN */
    char text[WIRE_TEXT_SIZE]; /* of a WIRE_STRING, cut to fit */
};

struct wire_request {
    int32_t id;
    bool legacy;               /* OP_QUERY */
    bool wants_answer;         /* false for unacknowledged writes */
    char name[WIRE_NAME_SIZE]; /* of the command, as the client writes it */
    const uint8_t *command;    /* the document, inside the message */
    size_t command_size;
};

struct wire_error {
    int code;
    const char *labels;  /* separated by blanks; "" for none */
    int base_backoff_ms; /* 0: no such field */
};

/* The whole size of a message that begins with this header; 0 for one that
 * can't be right. */
size_t wire_message_size(const uint8_t header[WIRE_HEADER_SIZE]);

/* Reads a whole message; false for what is damaged or not supported. The
 * result points into the message. */
bool wire_read_request(const uint8_t *message, size_t size, struct wire_request *request);

struct wire_field wire_field(const struct wire_request *request, const char *name);

/* hello in any of its spellings. */
bool wire_is_hello(const struct wire_request *request);

enum { WIRE_ANSWER_SIZE = 1024 };

/* Writes a message that fails the request with the error; returns its size. */
size_t wire_write_error(uint8_t answer[WIRE_ANSWER_SIZE], const struct wire_request *request,
    const struct wire_error *error);

#endif
