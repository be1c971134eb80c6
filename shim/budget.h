/*
 * Drivers that retry overload by themselves (2.3 and later): their own loop
 * does the retrying, and each retry is paid from the shared budget. Where it
 * can't be paid, the driver doesn't get to see the labels that make it retry;
 * the application does.
 */
#ifndef MBP_BUDGET_H
#define MBP_BUDGET_H

#include "common/engine.h"
#include "shim/call.h"

/* One command with all the retries of the driver's loop around it. */
struct mbp_round {
    struct mbp_round *outer;
    struct mbp_operation operation;
    uint64_t sent_ms;    /* for the first time */
    uint32_t most_sends; /* that the driver would make */
    uint32_t sends;
    bool paid_ahead; /* for a retry that has not begun yet */
    bool refused;    /* the latest error is not to be retried */
};

/* Runs the driver's loop. */
bool mbp_budget_run_round(const struct mbp_binding *binding, const void *retryable,
    struct mbp_bson *reply, struct mbp_error *error);

/* One send, from inside the loop. `reply` is what the driver gave. */
bool mbp_budget_run_command(
    const struct mbp_engine *engine, struct mbp_call *call, struct mbp_bson *reply);

/* Whether the driver's loop on this thread is not to see this label now. */
bool mbp_budget_withholds(const char *label);

#endif
