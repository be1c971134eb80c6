/*
 * Every single send of a command, from the driver's own command monitoring:
 * to which server it went, the document as it was sent, and what came of it.
 * Where counts are enough, watch.h has them.
 */
#ifndef MBP_TEST_SENDS_H
#define MBP_TEST_SENDS_H

#include <mongoc/mongoc.h>
#include <stdbool.h>
#include <stdint.h>

struct send {
    char command[32];
    uint16_t port;    /* of the server */
    bson_t *document; /* the whole command */
    uint64_t at_ms;   /* on mbp_clock_ms */
    bool ended, ok;
    bson_t *reply; /* NULL before it ended */
};

/* Makes a single-threaded client one whose sends are noted, in place of what
 * watched it before. */
void sends_note(mongoc_client_t *client);

/* Forgets all; what sends_get returned is gone. */
void sends_forget(void);

/* The sends of a command in their order, from 0; NULL after the last. */
const struct send *sends_get(const char *command, int index);

/* How many there were: to that server, or to all for 0; that ended so, or in
 * any way. */
enum sends_outcome { SENDS_ALL, SENDS_OK, SENDS_FAILED };
int sends_count(const char *command, uint16_t port, enum sends_outcome outcome);

/* A field of the command as it was sent, by its path ("writeConcern.w"). Of
 * what it does not have, or not of this type, the number is -1 and the text
 * "". */
bool send_has(const struct send *send, const char *field);
bson_type_t send_type(const struct send *send, const char *field);
int64_t send_number(const struct send *send, const char *field);
const char *send_text(const struct send *send, const char *field);

#endif
