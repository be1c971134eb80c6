/*
 * A stand-in for libmongoc that needs no server. A program runs commands with
 * it; each command brings a script of how its sends end. The script is played
 * by a function with the name that mongobp hooks, exported and called as the
 * real driver does it: through the PLT.
 *
 * A script is a list of steps, one for each send, with commas between; the last
 * step goes on for ever. A step is an outcome with any of these before it:
 *
 *   errno+  leaves errno at FAKE_ERRNO; otherwise it is not touched
 *   nest+   runs another command inside, in the same way; it fails like 462ro
 *   sleep+  takes a hundredth of a second
 *   fork+   forks; both go on, the parent once its child has ended
 *
 * An outcome is one of
 *
 *   ok      success
 *   empty   success with an empty reply, as for write concern 0
 *   blank   failure with an empty reply, as for a broken connection
 *   462ron  failure with that code, none if it is 0, and labels by letter:
 *           RetryableError, SystemOverloadedError, NoWritesPerformed,
 *           RetryableWriteError (w)
 *   gone    never comes to pass: where the driver wants to send this, by a
 *           retry of its own, it finds no server
 */
#ifndef MBP_FAKE_DRIVER_H
#define MBP_FAKE_DRIVER_H

#include <errno.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define FAKE_ERRNO EXDEV

/* Begins like mongoc_cluster_t. */
struct fake_cluster {
    uint64_t others[3];
    const char *uri;
};

/* Begins like mongoc_server_stream_t, and is of a standalone server. */
struct fake_stream {
    int topology;
    const uint32_t *server;
};

struct fake_command;
struct fake_reply;
struct fake_error;
typedef bool fake_way(struct fake_command *, struct fake_reply *, struct fake_error *);
typedef void fake_telling(const char *how, const char *script, char *text, size_t size);

/* Has what mongoc_cmd_t has in the places of every version that is known. */
struct fake_command {
    const char *database;
    int query_flags;
    const struct fake_reply *body;
    const char *name;
    const char *script;
    unsigned sends;        /* how often the command got to the driver */
    unsigned nested_sends; /* the same, of commands run inside */
    void *unused;
    const struct fake_stream *stream; /* up to 1.26 */
    int64_t operation_id;
    void *unused_too[2];
    const struct fake_stream *later_stream; /* since 1.27 */
    int64_t later_operation_id;
    fake_way *way;      /* of running it, for what runs inside */
    bool seen_overload; /* by the program, when it asks the driver for the label */
};

/* bson_t and bson_error_t, for programs that know no libbson. */
struct fake_reply {
    _Alignas(128) unsigned char bytes[128];
};

struct fake_error {
    uint32_t domain;
    uint32_t code;
    char message[504];
};

#define FAKE_PUBLIC __attribute__((visibility("default")))

/* X (result, name, parameters): what a program can call. All of it is
 * thread-safe but fake_set_version. */
#define FAKE_FUNCTIONS(X)                                                                          \
    /* Runs a command; the reply is to be released, the error may be NULL, too. */                 \
    X(bool, fake_run, (struct fake_command *, struct fake_reply *, struct fake_error *))           \
    /* The same from another place in the code. */                                                 \
    X(bool, fake_run_elsewhere, (struct fake_command *, struct fake_reply *, struct fake_error *)) \
    /* The same by a jump: the hooked function returns straight to the program. */                 \
    X(bool, fake_run_by_jump, (struct fake_command *, struct fake_reply *, struct fake_error *))   \
    /* A write, a read that drivers up to 2.2 retry by themselves, once. The reply is a must. */   \
    X(bool, fake_run_write, (struct fake_command *, struct fake_reply *, struct fake_error *))     \
    X(bool, fake_run_read, (struct fake_command *, struct fake_reply *, struct fake_error *))      \
    /* A write in the loop of 2.3 and later, and one that is never to be retried. The same. */     \
    X(bool, fake_run_loop, (struct fake_command *, struct fake_reply *, struct fake_error *))      \
    X(bool, fake_run_loop_once, (struct fake_command *, struct fake_reply *, struct fake_error *)) \
    /* Has a message made with which a connection begins, by a function (dup, handshake, */        \
    /* ismaster, async-new, async-open), twice; tells what is in it. `own` is what the driver */   \
    /* puts there by itself: true, 2, nothing, or no-client for a message without `client`. */     \
    X(void, fake_hello, (const char *how, const char *own, char *text, size_t size))               \
    /* Connects by a function (reads, writes, aggregate, server, server-as-is; with -silent: */    \
    /* neither reply nor error wanted), with the parameters of the version; tells how it went. */  \
    /* A step of the script is ok or DOMAIN/CODE/MESSAGE. Whether a server cools down was */       \
    /* asked in each try and once after them: 1 is yes. */                                         \
    X(void, fake_connect, (const char *how, const char *script, char *text, size_t size))          \
    /* How many sends this copy of the driver has seen. */                                         \
    X(unsigned, fake_sends, (void))                                                                \
    X(void, fake_set_version, (const char *version))                                               \
    /* Writes what is in a reply: its send, its code, its labels. */                               \
    X(void, fake_describe, (const struct fake_reply *, char *text, size_t size))                   \
    X(void, fake_release, (struct fake_reply *))

#define X(result, name, parameters) FAKE_PUBLIC result name parameters;
FAKE_FUNCTIONS(X)
#undef X

#endif
