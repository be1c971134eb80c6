/*
 * The experiment many times over, each time with another seed: what can be
 * said for sure. Strategies see the same arrivals for the same seed, so they
 * are compared pair by pair, and the interval is that of the mean difference.
 */
#ifndef SIM_STUDY_H
#define SIM_STUDY_H

#include "strategies.h"

enum sim_metric {
    SIM_METRIC_P50, /* the latencies are in the order of sim_rank */
    SIM_METRIC_P75,
    SIM_METRIC_P99,
    SIM_METRIC_MAX,
    SIM_METRIC_REQUESTS,
    SIM_METRIC_GAVE_UP,
    SIM_METRIC_UNFINISHED,
    SIM_METRIC_RECOVERY,
    SIM_METRIC_COUNT
};

const char *sim_metric_name(enum sim_metric metric);

struct sim_study {
    uint32_t seeds;
    double *values; /* by strategy, metric, seed */
};

/* What never got back to normal, or had not ended, counts as far as it was
 * seen: in favour of the strategies that did worst. Strategies from `first` up
 * to, not including, `end`. */
void sim_study_open(struct sim_study *study, const struct sim_options *options,
    enum sim_strategy_kind first, enum sim_strategy_kind end);
void sim_study_close(struct sim_study *study);

/* The values of one strategy and metric, in the order of the seeds. */
const double *sim_study_values(
    const struct sim_study *study, enum sim_strategy_kind kind, enum sim_metric metric);

/* One value less another, over the seeds. */
struct sim_difference {
    double mean, low, high; /* low to high: the 95 % interval of the mean */
    double share;           /* of the seeds, in which it is above zero */
};

struct sim_difference sim_difference_of(const double *more, const double *less, uint32_t count);

#endif
