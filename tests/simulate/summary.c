#include "summary.h"

#include "memory.h"

struct sim_quantile sim_quantile_of(
    const uint32_t *done, const uint32_t *waiting, uint32_t length, uint32_t permille)
{
    uint64_t total = 0;
    for (uint32_t i = 0; i < length; i++) {
        total += (uint64_t)done[i] + waiting[i];
    }
    const uint64_t wanted = (total * permille + 999) / 1000;
    struct sim_quantile found = {0};
    uint64_t so_far = 0;
    for (uint32_t i = 0; i < length && so_far < wanted; i++) {
        so_far += (uint64_t)done[i] + waiting[i];
        found.steps = i;
        found.at_least = found.at_least || waiting[i] > 0;
    }
    return found;
}

static void summarize_latency(struct sim_summary *summary, const struct sim_run *run)
{
    static const uint32_t permille[SIM_RANK_COUNT] = {500, 750, 990, 1000};
    const uint32_t steps = (uint32_t)run->options.steps;
    uint32_t *waiting = sim_allocate(steps + 1, sizeof *waiting);
    for (uint32_t i = 0; i < run->clients.count; i++) {
        if (run->clients.all[i].state == SIM_UNDER_WAY) {
            waiting[steps - run->clients.all[i].begun]++;
            summary->unfinished++;
        }
    }
    for (int rank = 0; rank < SIM_RANK_COUNT; rank++) {
        summary->latency[rank] =
            sim_quantile_of(run->latencies, waiting, steps + 1, permille[rank]);
    }
    free(waiting);
}

static uint32_t recovery_of(const struct sim_run *run)
{
    const struct sim_options *options = &run->options;
    const bool outage = options->outage_steps > 0;
    const uint64_t from = outage ? options->outage_at + options->outage_steps : options->spike_at;
    /* Until all of the spike is there it is no use looking. */
    const uint64_t look_from = outage ? from : from + options->spike_width - 1;
    for (uint64_t step = look_from; step < options->steps; step++) {
        if (run->steps[step].under_way <= options->places) {
            return (uint32_t)(step + 1 - from);
        }
    }
    return SIM_NEVER;
}

static double amplification_of(const struct sim_run *run)
{
    const struct sim_options *options = &run->options;
    const uint64_t from = options->outage_steps ? options->outage_at : 0;
    const uint64_t to = options->outage_steps ? from + options->outage_steps : options->steps;
    uint64_t first = 0;
    uint64_t received = 0;
    for (uint64_t step = from; step < to && step < options->steps; step++) {
        first += run->steps[step].first;
        received += run->steps[step].received;
    }
    return first ? (double)received / (double)first : 0;
}

struct sim_summary sim_summarize(const struct sim_run *run)
{
    struct sim_summary summary = {
        .operations = run->operations,
        .requests = run->requests,
        .succeeded = run->succeeded,
        .gave_up = run->gave_up,
        .refused_budget = run->refused_budget,
        .recovery = recovery_of(run),
        .amplification = amplification_of(run),
    };
    for (uint32_t step = 0; step < run->options.steps; step++) {
        const uint32_t received = run->steps[step].received;
        const uint32_t retries = received - run->steps[step].first;
        summary.burst = received > summary.burst ? received : summary.burst;
        summary.retry_burst = retries > summary.retry_burst ? retries : summary.retry_burst;
    }
    summarize_latency(&summary, run);
    return summary;
}
