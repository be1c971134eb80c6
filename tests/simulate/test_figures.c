#include "claims.h"
#include "fleet.h"

#include <criterion/criterion.h>

Test(simulate_figures, quantiles_are_of_the_nearest_rank)
{
    uint32_t done[101] = {0};
    uint32_t waiting[101] = {0};
    for (uint32_t value = 1; value <= 100; value++) {
        done[value] = 1;
    }
    cr_assert_eq(sim_quantile_of(done, waiting, 101, 500).steps, 50);
    cr_assert_eq(sim_quantile_of(done, waiting, 101, 750).steps, 75);
    cr_assert_eq(sim_quantile_of(done, waiting, 101, 990).steps, 99);
    cr_assert_eq(sim_quantile_of(done, waiting, 101, 1000).steps, 100);
    cr_assert_not(sim_quantile_of(done, waiting, 101, 1000).at_least);
}

Test(simulate_figures, quantiles_of_few_and_of_none)
{
    const uint32_t none[4] = {0};
    const uint32_t few[4] = {0, 0, 2, 1};
    cr_assert_eq(sim_quantile_of(none, none, 4, 500).steps, 0);
    cr_assert_eq(sim_quantile_of(few, none, 4, 500).steps, 2);
    cr_assert_eq(sim_quantile_of(few, none, 4, 750).steps, 3);
}

Test(simulate_figures, quantiles_that_may_rise_are_marked)
{
    const uint32_t done[5] = {0, 2, 0, 0, 1};
    const uint32_t waiting[5] = {0, 0, 0, 1, 0};
    cr_assert_not(sim_quantile_of(done, waiting, 5, 500).at_least);
    cr_assert(sim_quantile_of(done, waiting, 5, 750).at_least);
    cr_assert_eq(sim_quantile_of(done, waiting, 5, 750).steps, 3);
    cr_assert(sim_quantile_of(done, waiting, 5, 1000).at_least);
}

/* Differences 1, 2, 3 and -2: mean 1, variance 14/3, so the standard error is
 * sqrt (14/12) = 1.0801; times t(3), here 2.7507. */
Test(simulate_figures, difference_with_its_interval)
{
    const double more[] = {2, 4, 6, 0};
    const double less[] = {1, 2, 3, 2};
    const struct sim_difference difference = sim_difference_of(more, less, 4);
    cr_assert_float_eq(difference.mean, 1.0, 1e-9);
    cr_assert_float_eq(difference.share, 0.75, 1e-9);
    cr_assert_float_eq(difference.high - 1.0, 2.7507 * 1.0801, 1e-3);
    cr_assert_float_eq(1.0 - difference.low, 2.7507 * 1.0801, 1e-3);
}

Test(simulate_figures, exponential_waits_double_up_to_the_cap)
{
    static const uint64_t steps[] = {2, 4, 8, 16, 30, 30, 30};
    struct sim_options options;
    sim_options_default(&options);
    const struct sim_strategy strategy = sim_strategy_make(&options, SIM_EXPONENTIAL);
    const struct mbp_jitter jitter = sim_strategy_jitter(&strategy, NULL);
    const struct mbp_attempt rejected = {.labels = MBP_LABEL_RETRYABLE | MBP_LABEL_OVERLOADED};
    for (uint32_t retries = 0; retries < 7; retries++) {
        const struct mbp_operation operation = {.retries = retries};
        const struct mbp_verdict verdict =
            mbp_policy_decide(&strategy.policy, &operation, &rejected, &jitter);
        cr_assert(verdict.retry);
        cr_assert_eq(sim_wait_steps(&options, verdict.delay_ms), steps[retries]);
    }
}

/* The length of a step was chosen for this. */
Test(simulate_figures, specification_has_the_ceilings_of_the_article)
{
    static const uint64_t steps[] = {2, 4, 8, 16, 32};
    struct sim_options options;
    sim_options_default(&options);
    const struct sim_strategy longest = {.random_wait = false};
    const struct sim_strategy strategy = sim_strategy_spec(&options, SIM_PER_CLIENT);
    const struct mbp_jitter jitter = sim_strategy_jitter(&longest, NULL);
    const struct mbp_attempt rejected = {.labels = MBP_LABEL_RETRYABLE | MBP_LABEL_OVERLOADED};
    for (uint32_t retries = 0; retries < 5; retries++) {
        const struct mbp_operation operation = {.retries = retries};
        const struct mbp_verdict verdict =
            mbp_policy_decide(&strategy.policy, &operation, &rejected, &jitter);
        cr_assert_eq(sim_wait_steps(&options, verdict.delay_ms), steps[retries]);
    }
}

Test(simulate_figures, waits_are_rounded_to_the_nearest_step)
{
    const struct sim_options options = {.step_ms = 50};
    cr_assert_eq(sim_wait_steps(&options, 0), 0);
    cr_assert_eq(sim_wait_steps(&options, 24), 0);
    cr_assert_eq(sim_wait_steps(&options, 25), 1);
    cr_assert_eq(sim_wait_steps(&options, 74), 1);
    cr_assert_eq(sim_wait_steps(&options, 1500), 30);
}

/* 1250 times 800 clients: 1250 times the service. A client's round is such
 * that 64 % of 6250 places, five steps each, are in use: 1250 steps. */
Test(simulate_figures, fleet_keeps_the_proportions)
{
    struct sim_options options;
    sim_options_default(&options);
    const struct sim_options fleet = sim_fleet_options(&options, SIM_OUTAGE, 100, 10, 1000);
    cr_assert_eq(fleet.clients, 1000000);
    cr_assert_eq(fleet.places, 6250);
    cr_assert_eq(fleet.overwhelmed_above, 31250);
    cr_assert_eq(fleet.progress, 31250);
    cr_assert_eq(fleet.think_steps, 1245);
    cr_assert_eq(fleet.outage_at, 1000);
    cr_assert_eq(fleet.outage_steps, 1000);
}
