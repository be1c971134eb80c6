/*
 * The policy at work: settles its verdicts against a bucket and counts what
 * was done. Still no clock and no sleep: the caller brings the time and does
 * the waiting, so that a simulation can run on the very same code.
 */
#ifndef MBP_ENGINE_H
#define MBP_ENGINE_H

#include "policy.h"
#include "slots.h"

struct mbp_engine {
    const struct mbp_policy *policy;
    struct mbp_bucket *bucket;
    struct mbp_slot *slot; /* where to count */
    struct mbp_jitter jitter;
    bool observe; /* count what would be done; touch neither bucket nor operation */
};

/* Begins an operation; `now_ms` is used only where there is a deadline. */
struct mbp_operation mbp_engine_begin(const struct mbp_engine *engine, uint64_t now_ms);

/* Takes note of how an attempt ended. Where the verdict says retry, its cost
 * was paid and the caller is to wait and send again. */
struct mbp_verdict mbp_engine_settle(const struct mbp_engine *engine,
    struct mbp_operation *operation, const struct mbp_attempt *attempt);

/* The same for a connection that was turned away, counted apart. */
struct mbp_verdict mbp_engine_settle_connection(const struct mbp_engine *engine,
    struct mbp_operation *operation, const struct mbp_attempt *attempt);

/* Gives back what a retry cost: the server had room, or it was never begun. */
void mbp_engine_refund(const struct mbp_engine *engine);

/* The only thing most operations need: the first attempt succeeded. */
void mbp_engine_settle_first_success(const struct mbp_engine *engine);

#endif
