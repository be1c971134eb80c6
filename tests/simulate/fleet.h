/*
 * Past one machine: hosts, processes on each, clients in each, in front of one
 * service that grows with the clients, so that a fleet of any size is in the
 * same trouble and only the place of the budget makes a difference.
 */
#ifndef SIM_FLEET_H
#define SIM_FLEET_H

#include "summary.h"

enum sim_scenario {
    SIM_SPIKE,  /* the article's: a fifth of all clients at once */
    SIM_OUTAGE, /* steady load; the service rejects everything for a third of the time */
    SIM_SCENARIO_COUNT
};

const char *sim_scenario_name(enum sim_scenario scenario);

/* The options of a fleet: service and limits in the proportion that the given
 * options have, hosts and processes as given. */
struct sim_options sim_fleet_options(const struct sim_options *options, enum sim_scenario scenario,
    uint64_t hosts, uint64_t processes, uint64_t clients_a_process);

/* Runs the specification's policy in a fleet. */
struct sim_summary sim_fleet_measure(
    const struct sim_options *fleet, enum sim_scope scope, uint64_t capacity);

/* The table of all sizes and scopes. The times are told on standard error and
 * saved apart: they are the only thing that differs from run to run. */
bool sim_fleet_report(const struct sim_options *options, FILE *out, const char *directory);

/* What capacity a host should be given in a fleet of so many. */
bool sim_capacity_report(const struct sim_options *options, FILE *out, const char *directory);

#endif
