#include "summary.h"

#include <criterion/criterion.h>

/* So many clients, all in the first step, in front of the article's service. */
static struct sim_options at_once(uint64_t clients)
{
    struct sim_options options;
    sim_options_default(&options);
    options.steps = 100;
    options.clients = clients;
    options.spike_percent = 0;
    options.spike_at = 0;
    options.arrival_steps = 1;
    return options;
}

static struct sim_summary run_with(const struct sim_options *options, enum sim_strategy_kind kind)
{
    const struct sim_strategy strategy = sim_strategy_make(options, kind);
    struct sim_run run;
    sim_run(&run, options, &strategy);
    const struct sim_summary summary = sim_summarize(&run);
    sim_run_close(&run);
    return summary;
}

Test(simulate_model, one_client_waits_for_its_request_alone)
{
    const struct sim_options options = at_once(1);
    const struct sim_summary summary = run_with(&options, SIM_NONE);
    cr_assert_eq(summary.latency[SIM_MAX].steps, 5);
    cr_assert_eq(summary.requests, 1);
    cr_assert_eq(summary.succeeded, 1);
}

Test(simulate_model, as_many_as_places_do_not_disturb_each_other)
{
    const struct sim_options options = at_once(5);
    const struct sim_summary summary = run_with(&options, SIM_NONE);
    cr_assert_eq(summary.latency[SIM_P50].steps, 5);
    cr_assert_eq(summary.latency[SIM_MAX].steps, 5);
    cr_assert_eq(summary.requests, 5);
}

/* The sixth is rejected in steps 0 to 4, taken in 5, and answered at 10. */
Test(simulate_model, sixth_client_without_backoff)
{
    const struct sim_options options = at_once(6);
    const struct sim_summary summary = run_with(&options, SIM_NONE);
    cr_assert_eq(summary.latency[SIM_P75].steps, 5);
    cr_assert_eq(summary.latency[SIM_MAX].steps, 10);
    cr_assert_eq(summary.requests, 5 + 6);
    cr_assert_eq(summary.burst, 6);
    cr_assert_eq(summary.retry_burst, 1);
    /* After step 4 one is left under way. */
    cr_assert_eq(summary.recovery, 5);
}

/* Told at 1, sends again at 1 + 5, is answered at 11. */
Test(simulate_model, sixth_client_with_constant_backoff)
{
    const struct sim_options options = at_once(6);
    const struct sim_summary summary = run_with(&options, SIM_CONSTANT);
    cr_assert_eq(summary.latency[SIM_MAX].steps, 11);
    cr_assert_eq(summary.requests, 5 + 2);
}

/* Told at 1, sends at 1 + 2 = 3; told at 4, sends at 4 + 4 = 8, answered at 13. */
Test(simulate_model, sixth_client_with_exponential_backoff)
{
    const struct sim_options options = at_once(6);
    const struct sim_summary summary = run_with(&options, SIM_EXPONENTIAL);
    cr_assert_eq(summary.latency[SIM_MAX].steps, 13);
    cr_assert_eq(summary.requests, 5 + 3);
}

/* Three at once, one place, a step for everything, constant backoff of 5: one
 * is answered at 1, the others, told at 1, send at 6: one is answered at 7; the
 * last, told at 7, sends at 12 and is answered at 13. */
Test(simulate_model, three_clients_for_one_place)
{
    struct sim_options options = at_once(3);
    options.places = 1;
    options.service_steps = 1;
    const struct sim_summary summary = run_with(&options, SIM_CONSTANT);
    cr_assert_eq(summary.latency[SIM_P50].steps, 7);
    cr_assert_eq(summary.latency[SIM_MAX].steps, 13);
    cr_assert_eq(summary.requests, 3 + 2 + 1);
}

/* The same, but more than two is too many, and then one moves in a step. Either
 * the accepted one does: answered at 1, the others told at 2, they send at 7,
 * are answered at 8 and, after another rejection, at 14. Or one of the others
 * does: told at 1, it sends at 6 and is answered at 7, while the first is
 * answered at 2 and the last one, told at 2, sends at 7 and is answered at 8. */
Test(simulate_model, three_clients_overwhelm_a_service)
{
    unsigned accepted_first = 0;
    enum { RUNS = 60 };
    for (uint64_t seed = 0; seed < RUNS; seed++) {
        struct sim_options options = at_once(3);
        options.seed = seed;
        options.places = 1;
        options.service_steps = 1;
        options.overwhelmed_above = 2;
        options.progress = 1;
        const struct sim_summary summary = run_with(&options, SIM_CONSTANT);
        const bool accepted = summary.requests == 6;
        cr_assert_eq(summary.requests, accepted ? 3 + 2 + 1 : 3 + 1 + 1);
        cr_assert_eq(summary.latency[SIM_P50].steps, accepted ? 8 : 7);
        cr_assert_eq(summary.latency[SIM_MAX].steps, accepted ? 14 : 8);
        accepted_first += accepted;
    }
    /* One in three; these are three standard deviations. */
    cr_assert(accepted_first > 9 && accepted_first < 31, "%u of 60", accepted_first);
}

Test(simulate_model, what_has_not_ended_is_a_lower_bound)
{
    struct sim_options options = at_once(6);
    options.steps = 8;
    const struct sim_summary summary = run_with(&options, SIM_NONE);
    cr_assert_eq(summary.unfinished, 1);
    cr_assert_eq(summary.latency[SIM_MAX].steps, 8);
    cr_assert(summary.latency[SIM_MAX].at_least);
    cr_assert_not(summary.latency[SIM_P75].at_least);
}

Test(simulate_model, never_back_to_normal)
{
    struct sim_options options = at_once(6);
    options.steps = 4;
    cr_assert_eq(run_with(&options, SIM_NONE).recovery, SIM_NEVER);
}

Test(simulate_model, gives_up_after_five_retries)
{
    struct sim_options options = at_once(1);
    options.steps = options.outage_steps = 200;
    const struct sim_summary summary = run_with(&options, SIM_SPEC_PER_CLIENT);
    cr_assert_eq(summary.requests, 1 + 5);
    cr_assert_eq(summary.gave_up, 1);
    cr_assert_eq(summary.refused_budget, 0);
    cr_assert_float_eq(summary.amplification, 6.0, 1e-9);
}

/* Ten clients and nothing but rejections: retries are what the buckets hold. */
Test(simulate_model, buckets_bound_the_retries)
{
    static const struct {
        enum sim_scope scope;
        uint64_t capacity, requests;
    } cases[] = {
        {SIM_NO_BUDGET, 1, 60},
        {SIM_PER_CLIENT, 2, 30},
        {SIM_PER_PROCESS, 1, 10 + 6 * 1},
        {SIM_PER_HOST, 4, 10 + 2 * 4},
        {SIM_FLEET_WIDE, 7, 10 + 7},
    };
    struct sim_options options = at_once(10);
    options.steps = options.outage_steps = 200;
    options.hosts = 2;
    options.processes = 3;
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        struct sim_strategy strategy = sim_strategy_spec(&options, cases[i].scope);
        strategy.capacity = cases[i].capacity;
        struct sim_run run;
        sim_run(&run, &options, &strategy);
        cr_assert_eq(run.requests, cases[i].requests, "%s: %llu requests",
            sim_scope_name(cases[i].scope), (unsigned long long)run.requests);
        cr_assert_eq(run.gave_up, 10);
        sim_run_close(&run);
    }
}

Test(simulate_model, clients_that_go_on_begin_again_after_their_pause)
{
    struct sim_options options = at_once(1);
    options.think_steps = 15;
    options.steps = 100;
    /* A round of 20 steps, begun somewhere in the first 20. */
    const struct sim_summary summary = run_with(&options, SIM_NONE);
    cr_assert_eq(summary.operations, 5);
    cr_assert_eq(summary.requests, 5);
}

Test(simulate_model, the_share_of_the_spike_is_exact)
{
    struct sim_options options;
    sim_options_default(&options);
    options.spike_at = 2000; /* where nobody else begins */
    options.spike_width = 3;
    const struct sim_strategy strategy = sim_strategy_make(&options, SIM_EXPONENTIAL);
    struct sim_run run;
    sim_run(&run, &options, &strategy);
    uint32_t spike = 0;
    for (uint32_t step = 2000; step < 2003; step++) {
        cr_assert_gt(run.steps[step].first, 0);
        spike += run.steps[step].first;
    }
    cr_assert_eq(spike, 160);
    sim_run_close(&run);
}

Test(simulate_model, all_counts_agree_with_each_other_and_with_the_engine)
{
    struct sim_options options;
    sim_options_default(&options);
    for (int kind = 0; kind < SIM_STRATEGY_COUNT; kind++) {
        const struct sim_strategy strategy = sim_strategy_make(&options, kind);
        struct sim_run run;
        sim_run(&run, &options, &strategy);
        const struct sim_summary summary = sim_summarize(&run);
        cr_assert_eq(summary.operations, 800);
        cr_assert_eq(summary.succeeded + summary.gave_up + summary.unfinished, 800);
        uint64_t received = 0;
        for (uint32_t step = 0; step < options.steps; step++) {
            cr_assert_leq(run.steps[step].queued, options.places);
            received += run.steps[step].received;
        }
        cr_assert_eq(received, summary.requests);
        /* What the engine has granted and the model has not sent is a retry
         * whose time lies beyond the end. */
        const uint64_t granted = run.slot.counters[MBP_COUNT_retries];
        cr_assert_geq(granted, summary.requests - summary.operations);
        cr_assert_leq(granted, summary.requests - summary.operations + summary.unfinished);
        cr_assert_eq(run.slot.counters[MBP_COUNT_first_successes] +
                         run.slot.counters[MBP_COUNT_retry_successes],
            summary.succeeded);
        sim_run_close(&run);
    }
}
