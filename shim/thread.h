/*
 * What the hooks know about the thread they run on: how the pieces of one
 * operation, which reach us through different functions, find each other.
 */
#ifndef MBP_THREAD_H
#define MBP_THREAD_H

#include "common/policy.h"
#include "shim/driver/abi.h"

/* What a command is for; decides which of retryReads and retryWrites it needs. */
enum mbp_purpose {
    MBP_PURPOSE_UNTOLD, /* its name tells */
    MBP_PURPOSE_READ,
    MBP_PURPOSE_WRITE,
    MBP_PURPOSE_ANY, /* a command of the program's own making */
};

enum mbp_transaction_end { MBP_NO_END, MBP_COMMIT, MBP_ABORT };

/* A failed command that the driver may send once more by itself. */
struct mbp_unfinished {
    const struct mbp_cluster *cluster;
    const struct mbp_command *command;
    const struct mbp_bson *document;
    int64_t operation_id;
    int64_t transaction_number; /* -1: none */
    struct mbp_operation operation;
    enum mbp_transaction_end end;
    bool driver_may_retry; /* the driver asks more often than it retries */
    bool overloaded;       /* an overload error was among its errors */
    bool used_up;          /* its retries were refused: nobody is to retry it */
    bool driver_retries;   /* the driver has decided to */
};

struct mbp_round; /* see budget.h */

#define MBP_AVOID_MOST 8

struct mbp_thread {
    bool inside;      /* a command is being sent */
    bool stream_died; /* and its connection was closed meanwhile */
    bool connecting;  /* connections are being tried again: no cool-down */
    bool selecting;   /* a server is being chosen by ourselves */
    /* How the driver came by the server of the next command. */
    bool server_was_chosen; /* by itself, not named by the program */
    bool selection_is_over; /* a command was sent since */
    enum mbp_purpose purpose;
    struct mbp_unfinished unfinished;
    const void *lost_stream; /* the driver still has it; its connection is gone */
    struct mbp_round *round;
    uint32_t avoid[MBP_AVOID_MOST]; /* ids of servers that are overloaded */
    unsigned avoid_count;
};

extern _Thread_local struct mbp_thread mbp_thread
    __attribute__((tls_model("initial-exec"), visibility("hidden")));

#endif
