/*
 * What the files of the fake driver share.
 */
#ifndef MBP_FAKE_DRIVER_PARTS_H
#define MBP_FAKE_DRIVER_PARTS_H

#include "fake.h"

/* What mongobp hooks, and what it asks. */
FAKE_PUBLIC bool mongoc_cluster_run_command_monitored(struct fake_cluster *cluster,
    struct fake_command *command, struct fake_reply *reply, struct fake_error *error);
FAKE_PUBLIC const char *mongoc_get_version(void);
FAKE_PUBLIC bool mongoc_uri_get_option_as_bool(const char *uri, const char *option, bool fallback);

/* How a send ends. */
struct fake_outcome {
    bool ok;
    bool empty; /* no reply to speak of */
    int code;
    const char *labels; /* letters, up to anything else */
    unsigned send;
};

const char *fake_label(char letter); /* NULL for what is no letter of a label */

/* Fills memory that holds no reply yet, as the real driver does. */
void fake_reply_fill(struct fake_reply *reply, const struct fake_outcome *outcome);

#endif
