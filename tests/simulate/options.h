/*
 * Every number of the simulation, once: the fields, the defaults, the command
 * line and its help all come from this list. Where the defaults come from:
 * [article] "Exploring backoff", whose experiment is repeated here,
 * [policy] the numbers that ship (common/policy.c), [ours] where both are
 * silent.
 */
#ifndef SIM_OPTIONS_H
#define SIM_OPTIONS_H

#include "common/policy.h"

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

#define SIM_MOST_STEPS 10000000u
#define SIM_MOST_CLIENTS 4000000u
#define SIM_MOST_MS 86400000u

/* X (field, default, least, most, meaning) */
#define SIM_OPTIONS(X)                                                                             \
    X(seed, 1, 0, UINT64_MAX, "[ours] of all random numbers")                                      \
    X(seeds, 100, 2, 100000, "[ours] runs of `study`, with the seeds from `seed` on")              \
    X(steps, 3000, 1, SIM_MOST_STEPS, "[article] length of the experiment")                        \
    X(clients, 800, 1, SIM_MOST_CLIENTS, "[article] each begins an operation once")                \
    X(arrival_steps, 1000, 1, SIM_MOST_STEPS, "[article] first requests are spread over these")    \
    X(spike_percent, 20, 0, 100, "[article] of the clients, that begin in the spike")              \
    X(spike_at, 50, 0, SIM_MOST_STEPS, "[ours] first step of the spike")                           \
    X(spike_width, 1, 1, SIM_MOST_STEPS, "[ours] steps over which the spike is spread")            \
    X(places, 5, 1, SIM_MOST_CLIENTS, "[article] requests the service processes at a time")        \
    X(service_steps, 5, 1, 10000, "[article] time a request takes")                                \
    X(reject_steps, 1, 1, 10000, "[article] time a rejection takes")                               \
    X(overwhelmed_above, 25, 1, SIM_MOST_CLIENTS, "[article] outstanding requests")                \
    X(progress, 25, 1, SIM_MOST_CLIENTS, "[ours] requests that move in a step when overwhelmed")   \
    X(think_steps, 0, 0, SIM_MOST_STEPS,                                                           \
        "[article] 0: one operation a client; else the pause until its next, till the end")        \
    X(outage_at, 0, 0, SIM_MOST_STEPS, "[ours] from here the service rejects everything ...")      \
    X(outage_steps, 0, 0, SIM_MOST_STEPS, "[ours] ... for so long; 0: no outage")                  \
    X(constant_steps, 5, 0, SIM_MOST_STEPS, "[article] wait of the constant strategy")             \
    X(uniform_steps, 5, 0, SIM_MOST_STEPS, "[article] longest wait of the uniform strategy")       \
    X(exponential_cap_steps, 30, 1, SIM_MOST_STEPS,                                                \
        "[article] longest wait of the exponential ones")                                          \
    X(step_ms, 50, 1, 60000, "[ours] length of a step, for the specification's strategies")        \
    X(max_retries, mbp_profiles[0].max_retries, 0, 100, "[policy] retries of an operation")        \
    X(base_backoff_ms, mbp_profiles[0].base_backoff_ms, 0, SIM_MOST_MS, "[policy] first ceiling")  \
    X(max_backoff_ms, mbp_profiles[0].max_backoff_ms, 0, SIM_MOST_MS, "[policy] last ceiling")     \
    X(first_exponent, mbp_profiles[0].first_exponent, 0, 30, "[policy] of 2, for the first retry") \
    X(capacity, 1000, 1, MBP_BUCKET_MAX_TOKENS, "[policy] tokens in a full bucket")                \
    X(small_capacity, 100, 1, MBP_BUCKET_MAX_TOKENS, "[ours] the same for the small shared one")   \
    X(return_rate, mbp_profiles[0].return_rate, 0, 1000000,                                        \
        "[policy] paid in by each success, in thousandths of a token")                             \
    X(hosts, 1, 1, SIM_MOST_CLIENTS, "[ours] hosts that the clients are spread over")              \
    X(processes, 1, 1, SIM_MOST_CLIENTS, "[ours] processes on each host")                          \
    X(clients_a_process, 1000, 1, SIM_MOST_CLIENTS, "[ours] `fleet`: clients in a process")        \
    X(load_percent, 64, 1, 100, "[article] fleet: use of the service before an outage")            \
    X(burst_percent, 2, 0, 100, "[ours] `capacity`: of the clients, in a burst to be carried")     \
    X(burst_loss_permille, 10, 0, 1000, "[ours] `capacity`: of that burst, that may fail")         \
    X(outage_amplification_percent, 150, 101, 600,                                                 \
        "[ours] `capacity`: requests for 100 operations in an outage, at most")

struct sim_options {
#define X(field, fallback, least, most, meaning) uint64_t field;
    SIM_OPTIONS(X)
#undef X
};

void sim_options_default(struct sim_options *options);

/* Sets the option of that name (as a field, or with dashes for underscores).
 * On false nothing is changed, and `fault` says in one phrase what is wrong. */
bool sim_options_set(struct sim_options *options, const char *name, const char *text, char *fault,
    size_t fault_size);

/* One line an option: name, default, meaning. */
void sim_options_help(FILE *out);

#endif
