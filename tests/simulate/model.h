/*
 * One run: clients, service and policy, step by step, in virtual time.
 *
 * In a step those whose time has come send, in random order; the service works
 * for one step; whoever it answers has the answer at the beginning of the next
 * step, asks the policy that ships (common/engine.h), and sends again after
 * the wait it was told, in that next step at the earliest. So an undisturbed
 * request that takes five steps has a latency of five.
 */
#ifndef SIM_MODEL_H
#define SIM_MODEL_H

#include "clients.h"
#include "common/engine.h"
#include "strategies.h"

/* What one step looked like; requests in these counts are of that step alone,
 * the others are what there was after the arrivals or, for `under_way`, at
 * its end. */
struct sim_step {
    uint32_t first;       /* first requests of an operation */
    uint32_t received;    /* requests, those included */
    uint32_t queued;      /* accepted and not answered yet */
    uint32_t outstanding; /* these, and those owed a rejection */
    uint32_t rejected;    /* rejections sent */
    uint32_t under_way;   /* operations begun and not ended, waiting ones included */
};

/* Valid until sim_run_close. */
struct sim_run {
    struct sim_options options;
    struct sim_strategy strategy;
    struct sim_step *steps;
    struct sim_clients clients;
    uint32_t *latencies; /* how many operations succeeded after so many steps */
    uint64_t operations, requests, succeeded, gave_up, refused_budget;
    struct mbp_slot slot; /* what the engine counted */
};

void sim_run(
    struct sim_run *run, const struct sim_options *options, const struct sim_strategy *strategy);

void sim_run_close(struct sim_run *run);

#endif
