/*
 * The strategies that are compared. All of them are numbers for the one policy
 * that ships (common/policy.h) and a source of jitter: what differs between
 * them is never code.
 */
#ifndef SIM_STRATEGIES_H
#define SIM_STRATEGIES_H

#include "options.h"

/* Who shares one bucket. */
enum sim_scope { SIM_NO_BUDGET, SIM_PER_CLIENT, SIM_PER_PROCESS, SIM_PER_HOST, SIM_FLEET_WIDE };

struct sim_strategy {
    const char *name;  /* in tables and file names */
    const char *title; /* in figures */
    struct mbp_policy policy;
    bool random_wait; /* else the longest one */
    enum sim_scope scope;
    uint64_t capacity; /* tokens in each bucket */
};

enum sim_strategy_kind {
    SIM_NONE,
    SIM_CONSTANT,
    SIM_UNIFORM,
    SIM_EXPONENTIAL,
    SIM_RANDOM_EXPONENTIAL,
    SIM_SPEC_NO_BUCKET,
    SIM_SPEC_PER_CLIENT,
    SIM_SPEC_SHARED,
    SIM_SPEC_SMALL,
    SIM_STRATEGY_COUNT
};

struct sim_strategy sim_strategy_make(
    const struct sim_options *options, enum sim_strategy_kind kind);

/* The specification's, with the bucket at another place. */
struct sim_strategy sim_strategy_spec(const struct sim_options *options, enum sim_scope scope);

const char *sim_scope_name(enum sim_scope scope);

/* Where the waits of a strategy come from: `random`, or always the longest. */
struct mbp_jitter sim_strategy_jitter(
    const struct sim_strategy *strategy, struct mbp_random *random);

/* Milliseconds to whole steps, to the nearest: the mean wait stays what it was. */
uint64_t sim_wait_steps(const struct sim_options *options, uint64_t delay_ms);

#endif
