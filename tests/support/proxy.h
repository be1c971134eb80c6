/*
 * A proxy in front of a real server, in threads of the test's own process. It
 * passes everything on unchanged, except what it was told to turn away as an
 * overloaded server would, and it notes what clients send. Needs libc alone.
 *
 * A client comes back through it as long as the server does not tell it of
 * other addresses: behind it is a mongos, or a member of a replica set that
 * the client uses with directConnection=true. Clients must not ask for
 * compression or TLS.
 *
 * All functions may be called from any thread. What can't go wrong in a sane
 * test run ends the test with a message.
 */
#ifndef MBP_TEST_PROXY_H
#define MBP_TEST_PROXY_H

#include "wire.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct proxy;

/* Listens on a free port of 127.0.0.1, for the server at that port of it. */
struct proxy *proxy_start(uint16_t server_port);

uint16_t proxy_port(const struct proxy *proxy);

/* Closes all connections and frees it. */
void proxy_stop(struct proxy *proxy);

/* ---- turning connections away ---- */

enum proxy_manner {
    PROXY_CLOSES,         /* an orderly end, before anything was answered */
    PROXY_RESETS,         /* by a reset, after the client's first words */
    PROXY_RESETS_AT_ONCE, /* by a reset, which may be there before those are sent */
    PROXY_IS_SILENT,      /* stays open, and nothing is ever answered */
};

/* The next connections, so many of them; those that are open stay as they
 * are. 0 ends it. */
void proxy_turn_away(struct proxy *proxy, enum proxy_manner manner, int connections);

/* ---- turning commands away ---- */

enum proxy_action {
    PROXY_REJECT,      /* answers with an error; the server does not see it */
    PROXY_DISCONNECT,  /* closes the connection; the server does not see it */
    PROXY_LOSE_ANSWER, /* lets the server do it, then closes the connection */
};

#define PROXY_OVERLOADED "RetryableError SystemOverloadedError"

/* The texts must live on. */
struct proxy_rule {
    const char *command;
    int times; /* 0: always */
    enum proxy_action action;
    int code;            /* of PROXY_REJECT; 0: 462 */
    const char *labels;  /* separated by blanks; NULL: PROXY_OVERLOADED */
    int base_backoff_ms; /* a field baseBackoffMS of the error; 0: none */
};

/* From now on, beside the rules before it, of which the first that fits and is
 * not used up counts. */
void proxy_add_rule(struct proxy *proxy, const struct proxy_rule *rule);

#define proxy_on(proxy, ...) proxy_add_rule(proxy, &(struct proxy_rule){__VA_ARGS__})

void proxy_forget_rules(struct proxy *proxy);

/* ---- what came ---- */

struct proxy_connection {
    bool turned_away;
    int hellos;
    bool legacy;                    /* the first hello came as OP_QUERY */
    struct wire_field backpressure; /* of the first hello */
    int commands;                   /* other than hello */
};

/* Connections since the start, the ended ones too. */
size_t proxy_connection_count(struct proxy *proxy);

struct proxy_connection proxy_connection(struct proxy *proxy, size_t index);

/* How many of them were turned away. */
int proxy_turned_away(struct proxy *proxy);

/* How often the command was sent: in all, at most on one connection, and how
 * often the proxy did not pass it on, or not its answer. */
struct proxy_tally {
    int sent, most_on_one_connection, turned_away;
};

struct proxy_tally proxy_tally(struct proxy *proxy, const char *command);

#endif
