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
FAKE_PUBLIC bool mongoc_error_has_label(const struct fake_reply *reply, const char *label);
FAKE_PUBLIC int _mongoc_read_error_get_type(
    bool ok, const struct fake_error *error, const struct fake_reply *reply);
FAKE_PUBLIC int _mongoc_write_error_get_type(struct fake_reply *reply);
FAKE_PUBLIC bool mongoc_uri_get_option_as_bool(const char *uri, const char *option, bool fallback);

/* mongoc_read_err_type_t and mongoc_write_err_type_t. */
enum { FAKE_ERROR_NONE, FAKE_ERROR_OTHER, FAKE_ERROR_RETRY };

/* mongoc_retryable_cmd_t since 2.3. */
struct fake_retryable {
    bool (*execute)(void *user_data, struct fake_reply *reply, struct fake_error *error);
    bool (*select_server)(void *user_data);
    void *user_data;
    int eligibility;
    void *jitter;
    const void *server;
    int32_t most_retries;
    bool retarget;
};

enum { FAKE_NEVER, FAKE_OVERLOAD_ONLY, FAKE_READ, FAKE_WRITE };

FAKE_PUBLIC bool _mongoc_retryable_cmd_run(
    const struct fake_retryable *retryable, struct fake_reply *reply, struct fake_error *error);

/* What a server is told first; the scanner keeps it. */
FAKE_PUBLIC struct fake_reply *_mongoc_topology_scanner_get_ismaster(void *scanner);
FAKE_PUBLIC struct fake_reply *_mongoc_topology_scanner_get_handshake_cmd(void *scanner);
FAKE_PUBLIC void _mongoc_topology_scanner_dup_handshake_cmd(void *scanner, struct fake_reply *copy);
FAKE_PUBLIC void *mongoc_async_cmd_new(uintptr_t async, void *stream, uintptr_t is_setup_done,
    uintptr_t dns, uintptr_t initiator, uintptr_t delay, uintptr_t setup, uintptr_t setup_context,
    uintptr_t database, const struct fake_reply *command, uintptr_t opcode, uintptr_t callback,
    uintptr_t context, uintptr_t timeout);

/* Connecting, with as many parameters as any version has. */
FAKE_PUBLIC void *mongoc_cluster_stream_for_reads(
    uintptr_t, uintptr_t, uintptr_t, uintptr_t, uintptr_t, uintptr_t, uintptr_t);
FAKE_PUBLIC void *mongoc_cluster_stream_for_writes(
    uintptr_t, uintptr_t, uintptr_t, uintptr_t, uintptr_t, uintptr_t, uintptr_t);
FAKE_PUBLIC void *mongoc_cluster_stream_for_aggr_with_write(
    uintptr_t, uintptr_t, uintptr_t, uintptr_t, uintptr_t, uintptr_t, uintptr_t);
FAKE_PUBLIC void *mongoc_cluster_stream_for_server(
    uintptr_t, uintptr_t, uintptr_t, uintptr_t, uintptr_t, uintptr_t, uintptr_t);
FAKE_PUBLIC bool mongoc_topology_scanner_node_in_cooldown(void *node, int64_t when);

extern struct fake_cluster fake_cluster;

/* Whether the command's next send would find a server. */
bool fake_finds_server(const struct fake_command *command);

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
