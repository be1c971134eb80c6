/*
 * The buckets of a run, and who pays into which.
 */
#ifndef SIM_BUDGETS_H
#define SIM_BUDGETS_H

#include "strategies.h"

struct sim_budgets {
    struct mbp_bucket *buckets;
    uint32_t count;
    uint32_t clients;
};

/* Full buckets. Neighbouring clients are of one process, and neighbouring
 * processes of one host. */
void sim_budgets_open(struct sim_budgets *budgets, const struct sim_options *options,
    const struct sim_strategy *strategy);
void sim_budgets_close(struct sim_budgets *budgets);

struct mbp_bucket *sim_budgets_of(const struct sim_budgets *budgets, uint32_t client);

#endif
