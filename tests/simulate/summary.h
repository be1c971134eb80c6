/*
 * A run in a dozen numbers.
 *
 * Latency is of operations that succeeded, and of those still under way at the
 * end, which have waited at least so long: leaving these out would flatter the
 * strategies that leave most of them. Where one of them could still push a
 * percentile up, it is marked as a lower bound. Operations that gave up have no
 * latency; they are counted beside it.
 *
 * Back to normal: the time from the beginning of the spike (or the end of the
 * outage) to the first step whose end finds no more operations under way,
 * those waiting to retry included, than the service has places.
 */
#ifndef SIM_SUMMARY_H
#define SIM_SUMMARY_H

#include "model.h"

#define SIM_NEVER UINT32_MAX

struct sim_quantile {
    uint32_t steps;
    bool at_least; /* may be more: some operations had not ended */
};

enum sim_rank { SIM_P50, SIM_P75, SIM_P99, SIM_MAX, SIM_RANK_COUNT };

struct sim_summary {
    struct sim_quantile latency[SIM_RANK_COUNT];
    uint64_t operations, requests, succeeded, gave_up, unfinished, refused_budget;
    uint32_t burst;       /* most requests in one step */
    uint32_t retry_burst; /* most retries in one step */
    uint32_t recovery;    /* steps until back to normal, or SIM_NEVER */
    double amplification; /* requests for an operation; in an outage, of that time */
};

struct sim_summary sim_summarize(const struct sim_run *run);

/* The smallest value such that at least `permille` of all are not above it.
 * `done[i]` and `waiting[i]` say how many ended, or had not yet, at i; both
 * have `length` entries. 0 where there are none. */
struct sim_quantile sim_quantile_of(
    const uint32_t *done, const uint32_t *waiting, uint32_t length, uint32_t permille);

#endif
