#include "proxy_parts.h"

#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

enum { OVERLOADED = 462 };

/* ---- sockets --------------------------------------------------------------- */

static bool send_all(int fd, const uint8_t *bytes, size_t size)
{
    while (size > 0) {
        const ssize_t sent = send(fd, bytes, size, MSG_NOSIGNAL);
        if (sent <= 0) {
            return false;
        }
        bytes += sent;
        size -= (size_t)sent;
    }
    return true;
}

static bool receive_all(int fd, uint8_t *bytes, size_t size)
{
    return recv(fd, bytes, size, MSG_WAITALL) == (ssize_t)size;
}

static void wait_for_end(int fd)
{
    uint8_t bytes[1024];
    while (recv(fd, bytes, sizeof bytes, 0) > 0) {
    }
}

/* ---- records, with the lock held ------------------------------------------- */

struct proxy_count *proxy_count_of(struct proxy_peer *peer, const char *command)
{
    for (int i = 0; i < peer->count; i++) {
        if (strcmp(peer->counts[i].command, command) == 0) {
            return &peer->counts[i];
        }
    }
    proxy_need(peer->count < PROXY_MOST_COMMANDS, "count so many commands");
    struct proxy_count *count = &peer->counts[peer->count++];
    snprintf(count->command, sizeof count->command, "%s", command);
    return count;
}

static void note(struct proxy_peer *peer, const struct wire_request *request)
{
    struct proxy_connection *record = &peer->record;
    proxy_count_of(peer, request->name)->sent++;
    if (!wire_is_hello(request)) {
        record->commands++;
    } else if (record->hellos++ == 0) {
        record->legacy = request->legacy;
        record->backpressure = wire_field(request, "backpressure");
    }
}

/* The rule for this request, used once more; NULL where there is none. */
static const struct proxy_rule *use_rule(struct proxy *proxy, const char *command)
{
    for (int i = 0; i < proxy->rule_count; i++) {
        struct proxy_used_rule *rule = &proxy->rules[i];
        if (strcmp(rule->rule.command, command) == 0 &&
            (rule->rule.times == 0 || rule->used < rule->rule.times)) {
            rule->used++;
            return &rule->rule;
        }
    }
    return NULL;
}

/* Notes the request and copies its rule, if any. */
static bool has_rule(
    struct proxy_peer *peer, const struct wire_request *request, struct proxy_rule *rule)
{
    struct proxy *proxy = peer->proxy;
    pthread_mutex_lock(&proxy->lock);
    note(peer, request);
    const struct proxy_rule *found = use_rule(proxy, request->name);
    if (found) {
        *rule = *found;
        proxy_count_of(peer, request->name)->turned_away++;
    }
    pthread_mutex_unlock(&proxy->lock);
    return found != NULL;
}

/* ---- one connection -------------------------------------------------------- */

/* All of these return whether the connection goes on. */

static bool reject(const struct proxy_peer *peer, const struct wire_request *request,
    const struct proxy_rule *rule)
{
    uint8_t answer[WIRE_ANSWER_SIZE];
    const struct wire_error error = {.code = rule->code ? rule->code : OVERLOADED,
        .labels = rule->labels ? rule->labels : PROXY_OVERLOADED,
        .base_backoff_ms = rule->base_backoff_ms};
    if (!request->wants_answer) {
        return true;
    }
    return send_all(peer->client, answer, wire_write_error(answer, request, &error));
}

static bool serve(struct proxy_peer *peer, const uint8_t *message, size_t size)
{
    struct wire_request request;
    struct proxy_rule rule;
    uint8_t first;
    if (!wire_read_request(message, size, &request)) {
        fprintf(stderr, "proxy: a message that it can't read\n");
        return false;
    }
    if (!has_rule(peer, &request, &rule)) {
        return send_all(peer->server, message, size);
    }
    switch (rule.action) {
    case PROXY_REJECT:
        return reject(peer, &request, &rule);
    case PROXY_LOSE_ANSWER:
        if (send_all(peer->server, message, size)) {
            receive_all(peer->server, &first, 1); /* then the server has done it */
        }
        return false;
    case PROXY_DISCONNECT:
        return false;
    }
    return false;
}

static bool pass_request(struct proxy_peer *peer)
{
    uint8_t header[WIRE_HEADER_SIZE];
    if (!receive_all(peer->client, header, sizeof header)) {
        return false;
    }
    const size_t size = wire_message_size(header);
    if (size == 0) {
        return false;
    }
    uint8_t *message = malloc(size);
    if (!message) {
        return false;
    }
    memcpy(message, header, sizeof header);
    const bool goes_on = receive_all(peer->client, message + sizeof header, size - sizeof header) &&
                         serve(peer, message, size);
    free(message);
    return goes_on;
}

/* Answers need no reading: a client asks next when it has the last one whole,
 * so one of the proxy's own never gets into the middle of another. */
static bool pass_answer(const struct proxy_peer *peer)
{
    uint8_t bytes[65536];
    const ssize_t size = recv(peer->server, bytes, sizeof bytes, 0);
    return size > 0 && send_all(peer->client, bytes, (size_t)size);
}

static void pass_on(struct proxy_peer *peer)
{
    bool goes_on = true;
    while (goes_on) {
        struct pollfd sides[] = {
            {.fd = peer->client, .events = POLLIN},
            {.fd = peer->server, .events = POLLIN},
        };
        if (poll(sides, 2, -1) < 0) {
            return;
        }
        if (sides[1].revents) {
            goes_on = pass_answer(peer);
        } else if (sides[0].revents) {
            goes_on = pass_request(peer);
        }
    }
}

static void turn_away(const struct proxy_peer *peer)
{
    const struct linger at_once = {.l_onoff = 1, .l_linger = 0};
    uint8_t header[WIRE_HEADER_SIZE];
    switch (peer->manner) {
    case PROXY_RESETS:
        receive_all(peer->client, header, sizeof header);
        /* fall through */
    case PROXY_RESETS_AT_ONCE:
        setsockopt(peer->client, SOL_SOCKET, SO_LINGER, &at_once, sizeof at_once);
        break;
    case PROXY_CLOSES:
        /* Closed with a request unread, it would be reset. */
        shutdown(peer->client, SHUT_WR);
        wait_for_end(peer->client);
        break;
    case PROXY_IS_SILENT:
        wait_for_end(peer->client);
        break;
    }
}

/* With the lock held, so that proxy_stop never meets a number that was given
 * to another file since. */
static void close_both(struct proxy_peer *peer)
{
    close(peer->client);
    if (peer->server >= 0) {
        close(peer->server);
    }
    peer->client = peer->server = -1;
}

void *proxy_run_peer(void *argument)
{
    struct proxy_peer *peer = argument;
    if (peer->record.turned_away) {
        turn_away(peer);
    } else if (peer->server >= 0) {
        pass_on(peer);
    }
    pthread_mutex_lock(&peer->proxy->lock);
    close_both(peer);
    pthread_mutex_unlock(&peer->proxy->lock);
    return NULL;
}
