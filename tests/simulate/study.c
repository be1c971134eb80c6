#include "study.h"

#include "memory.h"
#include "summary.h"

#include <math.h>

const char *sim_metric_name(enum sim_metric metric)
{
    static const char *const names[] = {"latency p50", "latency p75", "latency p99", "latency max",
        "requests", "gave up", "unfinished", "back to normal"};
    return names[metric];
}

static double *values_of(
    const struct sim_study *study, enum sim_strategy_kind kind, enum sim_metric metric)
{
    return &study->values[((size_t)kind * SIM_METRIC_COUNT + metric) * study->seeds];
}

const double *sim_study_values(
    const struct sim_study *study, enum sim_strategy_kind kind, enum sim_metric metric)
{
    return values_of(study, kind, metric);
}

static void measure(struct sim_study *study, const struct sim_options *options, uint32_t seed,
    enum sim_strategy_kind kind)
{
    struct sim_options seeded = *options;
    seeded.seed += seed;
    const struct sim_strategy strategy = sim_strategy_make(&seeded, kind);
    struct sim_run run;
    sim_run(&run, &seeded, &strategy);
    const struct sim_summary summary = sim_summarize(&run);
    for (int rank = 0; rank < SIM_RANK_COUNT; rank++) {
        values_of(study, kind, SIM_METRIC_P50 + rank)[seed] = summary.latency[rank].steps;
    }
    values_of(study, kind, SIM_METRIC_REQUESTS)[seed] = (double)summary.requests;
    values_of(study, kind, SIM_METRIC_GAVE_UP)[seed] = (double)summary.gave_up;
    values_of(study, kind, SIM_METRIC_UNFINISHED)[seed] = (double)summary.unfinished;
    values_of(study, kind, SIM_METRIC_RECOVERY)[seed] =
        summary.recovery == SIM_NEVER ? (double)(options->steps - options->spike_at)
                                      : summary.recovery;
    sim_run_close(&run);
}

void sim_study_open(struct sim_study *study, const struct sim_options *options,
    enum sim_strategy_kind first, enum sim_strategy_kind end)
{
    study->seeds = (uint32_t)options->seeds;
    study->values = sim_allocate(
        (size_t)SIM_STRATEGY_COUNT * SIM_METRIC_COUNT * study->seeds, sizeof *study->values);
    for (int kind = first; kind < (int)end; kind++) {
        for (uint32_t seed = 0; seed < study->seeds; seed++) {
            measure(study, options, seed, kind);
        }
    }
}

void sim_study_close(struct sim_study *study)
{
    free(study->values);
}

/* Student's t for 95 %, both sides: the first term of its expansion is within
 * half a percent from ten seeds on. */
static double t_factor(uint32_t count)
{
    const double z = 1.959964;
    return z + (z * z * z + z) / (4.0 * (count - 1));
}

struct sim_difference sim_difference_of(const double *more, const double *less, uint32_t count)
{
    struct sim_difference difference = {0};
    uint32_t above = 0;
    for (uint32_t i = 0; i < count; i++) {
        difference.mean += (more[i] - less[i]) / count;
        above += more[i] > less[i];
    }
    double squares = 0;
    for (uint32_t i = 0; i < count; i++) {
        const double off = more[i] - less[i] - difference.mean;
        squares += off * off;
    }
    const double half = t_factor(count) * sqrt(squares / (count - 1) / count);
    difference.low = difference.mean - half;
    difference.high = difference.mean + half;
    difference.share = (double)above / count;
    return difference;
}
