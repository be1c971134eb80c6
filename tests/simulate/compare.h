/*
 * The experiment itself: one run of each strategy with one seed.
 */
#ifndef SIM_COMPARE_H
#define SIM_COMPARE_H

#include "summary.h"
#include "table.h"

/* Prints the summary to `out` and saves it, with each strategy's two views
 * (clients-NAME.tsv, service-NAME.tsv), in the directory. */
bool sim_compare(const struct sim_options *options, FILE *out, const char *directory);

/* A quantile as text: "12", or "12+" for a lower bound. */
const char *sim_quantile_text(struct sim_quantile quantile, char text[SIM_CELL_SIZE]);

/* A number of steps, or "never". */
const char *sim_recovery_text(uint32_t recovery, char text[SIM_CELL_SIZE]);

#endif
