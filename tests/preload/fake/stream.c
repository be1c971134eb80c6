/*
 * Finding a server and connecting to it, by script.
 */
#include "connect.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static void expect_arguments(enum fake_purpose purpose, const uintptr_t arguments[7])
{
    const char *letters = fake_parameters(purpose);
    for (unsigned i = 0; letters[i]; i++) {
        /* Where no error is wanted, mongobp may want one. */
        const bool may_differ = letters[i] == 'e' && !fake_connection.error;
        if (arguments[i] != fake_argument(letters[i]) && !may_differ) {
            fprintf(stderr, "fake driver: parameter %u is not what was passed\n", i + 1);
            abort();
        }
    }
}

/* DOMAIN/CODE/MESSAGE, up to a comma. */
static struct fake_error read_error(const char *step)
{
    char *end;
    struct fake_error error = {.domain = (uint32_t)strtoul(step, &end, 10)};
    error.code = (uint32_t)strtoul(end + 1, &end, 10);
    snprintf(error.message, sizeof error.message, "%.*s", (int)strcspn(end + 1, ","), end + 1);
    return error;
}

static void *connect_by_script(enum fake_purpose purpose, const uintptr_t arguments[7])
{
    const char *letters = fake_parameters(purpose);
    struct fake_reply *reply = (struct fake_reply *)arguments[strchr(letters, 'r') - letters];
    struct fake_error *error = (struct fake_error *)arguments[strchr(letters, 'e') - letters];
    const char *step = fake_connection.script;
    expect_arguments(purpose, arguments);
    for (unsigned i = 0; i < fake_connection.tries && strchr(step, ','); i++) {
        step = strchr(step, ',') + 1;
    }
    fake_connection.tries++;
    fake_note_cooldown();
    if (strncmp(step, "ok", 2) == 0) {
        errno = ENOTTY;
        return &fake_connection;
    }
    if (error) {
        *error = read_error(step);
    }
    if (reply) {
        fake_reply_fill(reply, &(struct fake_outcome){.labels = "", .send = fake_connection.tries});
    }
    errno = FAKE_ERRNO;
    return NULL;
}

#define STREAM_FOR(name, purpose)                                                                  \
    void *name(uintptr_t a1, uintptr_t a2, uintptr_t a3, uintptr_t a4, uintptr_t a5, uintptr_t a6, \
        uintptr_t a7)                                                                              \
    {                                                                                              \
        return connect_by_script(purpose, (const uintptr_t[]){a1, a2, a3, a4, a5, a6, a7});        \
    }

STREAM_FOR(mongoc_cluster_stream_for_reads, FAKE_FOR_READS)
STREAM_FOR(mongoc_cluster_stream_for_writes, FAKE_FOR_WRITES)
STREAM_FOR(mongoc_cluster_stream_for_aggr_with_write, FAKE_FOR_AGGREGATE)
STREAM_FOR(mongoc_cluster_stream_for_server, FAKE_FOR_SERVER)

void fake_note_cooldown(void)
{
    const size_t length = strlen(fake_connection.cooldowns);
    if (length + 1 < sizeof fake_connection.cooldowns) {
        fake_connection.cooldowns[length] =
            mongoc_topology_scanner_node_in_cooldown(&fake_connection, 17) ? '1' : '0';
    }
}
