/*
 * A connection in the making, as the program's side and the driver's side of
 * it see it. One at a time.
 */
#ifndef MBP_FAKE_CONNECT_H
#define MBP_FAKE_CONNECT_H

#include "driver.h"

enum fake_purpose { FAKE_FOR_READS, FAKE_FOR_WRITES, FAKE_FOR_AGGREGATE, FAKE_FOR_SERVER };

/* The parameters of mongoc_cluster_stream_for_* in the version that the driver
 * says it is, a letter each: cluster, reply, error, whether a new connection
 * may be made (n); others are only passed on. */
const char *fake_parameters(enum fake_purpose purpose);

/* What is passed for the letter. */
uintptr_t fake_argument(char letter);

extern struct fake_connection {
    const char *script;
    struct fake_reply *reply;
    struct fake_error *error;
    bool may_reconnect;
    unsigned tries;
    char cooldowns[32];
} fake_connection;

/* Asks whether a server cools down, and writes it behind the answers before. */
void fake_note_cooldown(void);

#endif
