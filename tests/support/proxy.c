#include "proxy_parts.h"

#include <arpa/inet.h>
#include <errno.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

void proxy_need(bool good, const char *what)
{
    if (!good) {
        fprintf(stderr, "proxy: can't %s: %s\n", what, strerror(errno));
        abort();
    }
}

static struct sockaddr_in local_address(uint16_t port)
{
    return (struct sockaddr_in){
        .sin_family = AF_INET, .sin_port = htons(port), .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
}

/* Small messages go back and forth: none of them may wait for an answer to the
 * one before. */
static void do_not_delay(int fd)
{
    const int on = 1;
    setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &on, sizeof on);
}

static int connect_to(uint16_t port)
{
    const struct sockaddr_in address = local_address(port);
    const int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
    proxy_need(fd >= 0, "make a socket");
    if (connect(fd, (const struct sockaddr *)&address, sizeof address) != 0) {
        close(fd);
        return -1;
    }
    do_not_delay(fd);
    return fd;
}

/* ---- all connections ------------------------------------------------------- */

/* With the lock held. */
static struct proxy_peer *add_peer(struct proxy *proxy, int client)
{
    struct proxy_peer *peer = calloc(1, sizeof *peer);
    struct proxy_peer **list =
        reallocarray(proxy->peers, proxy->peer_count + 1, sizeof(struct proxy_peer *));
    proxy_need(peer && list, "allocate");
    proxy->peers = list;
    proxy->peers[proxy->peer_count++] = peer;
    *peer = (struct proxy_peer){
        .proxy = proxy, .client = client, .server = -1, .manner = proxy->manner};
    if (proxy->to_turn_away > 0) {
        proxy->to_turn_away--;
        peer->record.turned_away = true;
    } else {
        peer->server = connect_to(proxy->server_port);
    }
    return peer;
}

static void *accept_connections(void *argument)
{
    struct proxy *proxy = argument;
    for (;;) {
        const int client = accept4(proxy->listener, NULL, NULL, SOCK_CLOEXEC);
        pthread_mutex_lock(&proxy->lock);
        const bool stopping = proxy->stopping;
        if (client >= 0 && !stopping) {
            do_not_delay(client);
            struct proxy_peer *peer = add_peer(proxy, client);
            proxy_need(
                pthread_create(&peer->thread, NULL, proxy_run_peer, peer) == 0, "start a thread");
        } else if (client >= 0) {
            close(client);
        }
        pthread_mutex_unlock(&proxy->lock);
        if (stopping) {
            return NULL;
        }
    }
}

/* The test's signals are for the test's own threads. */
static void start_acceptor(struct proxy *proxy)
{
    sigset_t all;
    sigset_t before;
    sigfillset(&all);
    pthread_sigmask(SIG_SETMASK, &all, &before);
    proxy_need(
        pthread_create(&proxy->acceptor, NULL, accept_connections, proxy) == 0, "start a thread");
    pthread_sigmask(SIG_SETMASK, &before, NULL);
}

struct proxy *proxy_start(uint16_t server_port)
{
    struct sockaddr_in address = local_address(0);
    socklen_t size = sizeof address;
    struct proxy *proxy = calloc(1, sizeof *proxy);
    proxy_need(proxy != NULL, "allocate");
    pthread_mutex_init(&proxy->lock, NULL);
    proxy->server_port = server_port;
    proxy->listener = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
    proxy_need(proxy->listener >= 0 &&
                   bind(proxy->listener, (const struct sockaddr *)&address, sizeof address) == 0 &&
                   listen(proxy->listener, SOMAXCONN) == 0 &&
                   getsockname(proxy->listener, (struct sockaddr *)&address, &size) == 0,
        "listen");
    proxy->port = ntohs(address.sin_port);
    start_acceptor(proxy);
    return proxy;
}

uint16_t proxy_port(const struct proxy *proxy)
{
    return proxy->port;
}

void proxy_stop(struct proxy *proxy)
{
    pthread_mutex_lock(&proxy->lock);
    proxy->stopping = true;
    shutdown(proxy->listener, SHUT_RDWR); /* wakes the acceptor */
    pthread_mutex_unlock(&proxy->lock);
    pthread_join(proxy->acceptor, NULL);
    for (size_t i = 0; i < proxy->peer_count; i++) {
        struct proxy_peer *peer = proxy->peers[i];
        pthread_mutex_lock(&proxy->lock);
        shutdown(peer->client, SHUT_RDWR);
        shutdown(peer->server, SHUT_RDWR);
        pthread_mutex_unlock(&proxy->lock);
        pthread_join(peer->thread, NULL);
        free(peer);
    }
    close(proxy->listener);
    free(proxy->peers);
    pthread_mutex_destroy(&proxy->lock);
    free(proxy);
}

/* ---- what it is told, what it tells ---------------------------------------- */

void proxy_turn_away(struct proxy *proxy, enum proxy_manner manner, int connections)
{
    pthread_mutex_lock(&proxy->lock);
    proxy->manner = manner;
    proxy->to_turn_away = connections;
    pthread_mutex_unlock(&proxy->lock);
}

void proxy_add_rule(struct proxy *proxy, const struct proxy_rule *rule)
{
    pthread_mutex_lock(&proxy->lock);
    proxy_need(proxy->rule_count < PROXY_MOST_RULES, "have so many rules");
    proxy->rules[proxy->rule_count++] = (struct proxy_used_rule){.rule = *rule};
    pthread_mutex_unlock(&proxy->lock);
}

void proxy_forget_rules(struct proxy *proxy)
{
    pthread_mutex_lock(&proxy->lock);
    proxy->rule_count = 0;
    pthread_mutex_unlock(&proxy->lock);
}

size_t proxy_connection_count(struct proxy *proxy)
{
    pthread_mutex_lock(&proxy->lock);
    const size_t count = proxy->peer_count;
    pthread_mutex_unlock(&proxy->lock);
    return count;
}

struct proxy_connection proxy_connection(struct proxy *proxy, size_t index)
{
    pthread_mutex_lock(&proxy->lock);
    const struct proxy_connection record = proxy->peers[index]->record;
    pthread_mutex_unlock(&proxy->lock);
    return record;
}

int proxy_turned_away(struct proxy *proxy)
{
    int count = 0;
    pthread_mutex_lock(&proxy->lock);
    for (size_t i = 0; i < proxy->peer_count; i++) {
        count += proxy->peers[i]->record.turned_away;
    }
    pthread_mutex_unlock(&proxy->lock);
    return count;
}

struct proxy_tally proxy_tally(struct proxy *proxy, const char *command)
{
    struct proxy_tally tally = {0};
    pthread_mutex_lock(&proxy->lock);
    for (size_t i = 0; i < proxy->peer_count; i++) {
        const struct proxy_count *count = proxy_count_of(proxy->peers[i], command);
        tally.sent += count->sent;
        tally.turned_away += count->turned_away;
        if (count->sent > tally.most_on_one_connection) {
            tally.most_on_one_connection = count->sent;
        }
    }
    pthread_mutex_unlock(&proxy->lock);
    return tally;
}
