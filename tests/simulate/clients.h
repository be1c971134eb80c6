/*
 * The clients, and the calendar that says who sends in which step: a list for
 * each step, so that only those who do something cost anything.
 */
#ifndef SIM_CLIENTS_H
#define SIM_CLIENTS_H

#include "options.h"

enum sim_state { SIM_IDLE, SIM_UNDER_WAY, SIM_SUCCEEDED, SIM_GAVE_UP };

struct sim_client {
    struct mbp_operation operation;
    uint32_t next;     /* in the calendar's list */
    uint32_t begun;    /* step of the present operation's first request */
    uint32_t ended;    /* step at which its answer is there */
    uint32_t requests; /* of the present operation */
    enum sim_state state;
};

struct sim_clients {
    struct sim_client *all;
    uint32_t count;
    uint32_t *calendar; /* by step, the last one put there */
    uint32_t steps;
};

void sim_clients_open(struct sim_clients *clients, uint32_t count, uint32_t steps);
void sim_clients_close(struct sim_clients *clients);

/* Puts down that the client sends in that step. What lies beyond the end is
 * forgotten: the client stays as it is. */
void sim_clients_send_at(struct sim_clients *clients, uint32_t client, uint64_t step);

/* Writes those who send in this step into `senders`, which has room for all,
 * in random order: two that send at once have the same chance of a place. */
uint32_t sim_clients_senders(const struct sim_clients *clients, uint32_t step,
    const struct mbp_jitter *draw, uint32_t *senders);

/* Puts down everybody's first request: exactly the given share in the spike,
 * the rest over the arrival steps; or, where clients go on for good, all spread
 * evenly over one of their rounds, which is how they would be after a while. */
void sim_clients_arrive(
    struct sim_clients *clients, const struct sim_options *options, const struct mbp_jitter *draw);

#endif
