/*
 * The ways to a connection. Each call has the parameters that the version has,
 * and no more: what comes after them is anybody's.
 */
#include "connect.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct fake_connection fake_connection;

/* See fake_parameters. */
static const struct {
    const char *until; /* this version */
    const char *reads, *writes, *aggregate;
} parameters[] = {
    {"1.20", "coore", "core", ""},
    {"1.23", "coorwe", "core", ""},
    {"1.25", "coore", "core", "coore"},
    {"1.29", "coodre", "codre", "coore"},
    {"9.99", "cloodre", "clodre", "cloore"},
};

const char *fake_parameters(enum fake_purpose purpose)
{
    unsigned i = 0;
    while (strncmp(mongoc_get_version(), parameters[i].until, 4) > 0) {
        i++;
    }
    return purpose == FAKE_FOR_SERVER   ? "csnore"
           : purpose == FAKE_FOR_READS  ? parameters[i].reads
           : purpose == FAKE_FOR_WRITES ? parameters[i].writes
                                        : parameters[i].aggregate;
}

uintptr_t fake_argument(char letter)
{
    return letter == 'c'   ? (uintptr_t)&fake_cluster
           : letter == 'r' ? (uintptr_t)fake_connection.reply
           : letter == 'e' ? (uintptr_t)fake_connection.error
           : letter == 'n' ? fake_connection.may_reconnect
                           : (uintptr_t)letter << 32 | 1;
}

typedef void any_function(void);
typedef void *with_4(uintptr_t, uintptr_t, uintptr_t, uintptr_t);
typedef void *with_5(uintptr_t, uintptr_t, uintptr_t, uintptr_t, uintptr_t);
typedef void *with_6(uintptr_t, uintptr_t, uintptr_t, uintptr_t, uintptr_t, uintptr_t);
typedef void *with_7(uintptr_t, uintptr_t, uintptr_t, uintptr_t, uintptr_t, uintptr_t, uintptr_t);

static void *call(with_7 *real, const char *letters)
{
    any_function *function = (any_function *)real;
    uintptr_t a[7] = {0};
    for (unsigned i = 0; letters[i]; i++) {
        a[i] = fake_argument(letters[i]);
    }
    /* NOLINTBEGIN(clang-analyzer-core.CallAndMessage): what one version lacks, another has. */
    switch (strlen(letters)) {
    case 4:
        return ((with_4 *)function)(a[0], a[1], a[2], a[3]);
    case 5:
        return ((with_5 *)function)(a[0], a[1], a[2], a[3], a[4]);
    case 6:
        return ((with_6 *)function)(a[0], a[1], a[2], a[3], a[4], a[5]);
    case 7:
        return real(a[0], a[1], a[2], a[3], a[4], a[5], a[6]);
    default:
        abort(); /* this version has no such function */
    }
    /* NOLINTEND(clang-analyzer-core.CallAndMessage) */
}

static void *connect_for(const char *how)
{
    return strncmp(how, "reads", 5) == 0
               ? call(mongoc_cluster_stream_for_reads, fake_parameters(FAKE_FOR_READS))
           : strncmp(how, "writes", 6) == 0
               ? call(mongoc_cluster_stream_for_writes, fake_parameters(FAKE_FOR_WRITES))
           : strncmp(how, "aggregate", 9) == 0
               ? call(
                     mongoc_cluster_stream_for_aggr_with_write, fake_parameters(FAKE_FOR_AGGREGATE))
               : call(mongoc_cluster_stream_for_server, fake_parameters(FAKE_FOR_SERVER));
}

void fake_connect(const char *how, const char *script, char *text, size_t size)
{
    const bool is_silent = strstr(how, "-silent") != NULL;
    struct fake_reply reply = {0};
    struct fake_error error = {.message = "no error"};
    char in_reply[64] = "";
    fake_connection = (struct fake_connection){
        .script = script,
        .reply = is_silent ? NULL : &reply,
        .error = is_silent ? NULL : &error,
        .may_reconnect = strcmp(how, "server-as-is") != 0,
    };
    errno = ENOTTY;
    void *stream = connect_for(how);
    const bool errno_is_kept = errno == (stream ? ENOTTY : FAKE_ERRNO);
    fake_note_cooldown();
    int length = snprintf(text, size, "%s tries=%u cooldown=%s%s",
        stream == &fake_connection ? "connected"
        : stream                   ? "lost"
                                   : "failed",
        fake_connection.tries, fake_connection.cooldowns, errno_is_kept ? "" : " errno changed");
    if (!stream && !is_silent) {
        fake_describe(&reply, in_reply, sizeof in_reply);
        fake_release(&reply);
        snprintf(text + length, size - (size_t)length, " error=%u/%u '%s' reply=%s", error.domain,
            error.code, error.message, in_reply);
    }
}
