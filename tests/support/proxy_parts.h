/*
 * What the files of the proxy share: proxy.c takes connections, is told and
 * tells; proxy_connection.c runs one of them. For nobody else.
 */
#ifndef MBP_TEST_PROXY_PARTS_H
#define MBP_TEST_PROXY_PARTS_H

#include "proxy.h"

#include <pthread.h>

enum { PROXY_MOST_RULES = 16, PROXY_MOST_COMMANDS = 32 };

struct proxy_count {
    char command[WIRE_NAME_SIZE];
    int sent, turned_away;
};

/* Made by the thread that accepts, run by a thread of its own, freed by
 * proxy_stop. What changes in it is guarded by the proxy's lock. */
struct proxy_peer {
    struct proxy *proxy;
    pthread_t thread;
    int client, server; /* -1: closed */
    enum proxy_manner manner;
    struct proxy_connection record;
    struct proxy_count counts[PROXY_MOST_COMMANDS];
    int count;
};

struct proxy_used_rule {
    struct proxy_rule rule;
    int used;
};

struct proxy {
    pthread_mutex_t lock;
    pthread_t acceptor;
    uint16_t port, server_port;
    int listener;
    bool stopping;
    struct proxy_peer **peers;
    size_t peer_count;
    enum proxy_manner manner;
    int to_turn_away;
    struct proxy_used_rule rules[PROXY_MOST_RULES];
    int rule_count;
};

/* Ends the test where something that can't go wrong did. */
void proxy_need(bool good, const char *what);

/* With the lock held: what the peer has sent of a command; made where it is
 * the first. */
struct proxy_count *proxy_count_of(struct proxy_peer *peer, const char *command);

/* For pthread_create, with a struct proxy_peer: runs it to its end. */
void *proxy_run_peer(void *peer);

#endif
