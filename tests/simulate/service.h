/*
 * The service of the experiment: so many places, a fixed time for a request, a
 * fixed time for a rejection. With too much outstanding it is overwhelmed, and
 * then only so many requests, any of them equally likely, move on in a step:
 * the more rejections it owes, the slower it does its real work.
 */
#ifndef SIM_SERVICE_H
#define SIM_SERVICE_H

#include "common/jitter.h"

#include <stdbool.h>
#include <stdint.h>

struct sim_request {
    uint32_t client;
    uint32_t steps_left : 31;
    uint32_t accepted : 1;
};

struct sim_service {
    uint32_t places;
    uint32_t service_steps;
    uint32_t reject_steps;
    uint32_t overwhelmed_above;
    uint32_t progress;
    struct sim_request *outstanding; /* in no particular order */
    uint32_t count;                  /* of these */
    uint32_t queued;                 /* of these, the accepted ones */
};

/* Sets up the arrays; a client never has more than one request outstanding. */
void sim_service_open(struct sim_service *service, uint32_t clients);
void sim_service_close(struct sim_service *service);

/* A request arrives. `down`: no place is free, whatever the queue. */
void sim_service_receive(struct sim_service *service, uint32_t client, bool down);

bool sim_service_is_overwhelmed(const struct sim_service *service);

/* One step of work. Writes who is answered (their number is returned) into
 * `answers`, which has room for every client. */
uint32_t sim_service_advance(
    struct sim_service *service, const struct mbp_jitter *draw, struct sim_request *answers);

#endif
