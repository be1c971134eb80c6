#include "strategies.h"

static uint32_t in_ms(const struct sim_options *options, uint64_t steps)
{
    const uint64_t ms = steps * options->step_ms;
    return ms < UINT32_MAX ? (uint32_t)ms : UINT32_MAX;
}

/* The article's strategies never give up and pay nothing. */
static struct mbp_profile unlimited(const char *name, uint32_t base_ms, uint32_t max_ms)
{
    return (struct mbp_profile){
        .name = name,
        .max_retries = UINT32_MAX,
        .base_backoff_ms = base_ms,
        .max_backoff_ms = max_ms,
    };
}

static struct sim_strategy same_wait(const char *name, const char *title, uint32_t wait_ms)
{
    return (struct sim_strategy){
        .name = name,
        .title = title,
        .policy.numbers = unlimited(name, wait_ms, wait_ms),
        .capacity = 1,
    };
}

/* 2^attempts steps, where the first retry comes after one attempt: 2, 4, 8 ... */
static struct sim_strategy doubling(
    const char *name, const char *title, const struct sim_options *options)
{
    const uint32_t cap_ms = in_ms(options, options->exponential_cap_steps);
    struct sim_strategy strategy = {
        .name = name,
        .title = title,
        .policy.numbers = unlimited(name, in_ms(options, 1), cap_ms),
        .capacity = 1,
    };
    strategy.policy.numbers.first_exponent = 1;
    return strategy;
}

struct sim_strategy sim_strategy_spec(const struct sim_options *options, enum sim_scope scope)
{
    struct mbp_profile numbers = mbp_profiles[0];
    numbers.max_retries = (uint32_t)options->max_retries;
    numbers.base_backoff_ms = (uint32_t)options->base_backoff_ms;
    numbers.max_backoff_ms = (uint32_t)options->max_backoff_ms;
    numbers.first_exponent = (uint32_t)options->first_exponent;
    numbers.return_rate = (mbp_millitokens)options->return_rate;
    if (scope == SIM_NO_BUDGET) {
        numbers.retry_cost = 0;
    }
    return (struct sim_strategy){
        .name = "specification",
        .title = "specification",
        .policy.numbers = numbers,
        .random_wait = true,
        .scope = scope,
        .capacity = options->capacity,
    };
}

static struct sim_strategy named(struct sim_strategy strategy, const char *name, const char *title)
{
    strategy.name = name;
    strategy.title = title;
    return strategy;
}

static struct sim_strategy randomly(struct sim_strategy strategy)
{
    strategy.random_wait = true;
    return strategy;
}

struct sim_strategy sim_strategy_make(
    const struct sim_options *options, enum sim_strategy_kind kind)
{
    switch (kind) {
    case SIM_CONSTANT:
        return same_wait("constant", "constant", in_ms(options, options->constant_steps));
    case SIM_UNIFORM:
        return randomly(
            same_wait("uniform", "uniform random", in_ms(options, options->uniform_steps)));
    case SIM_EXPONENTIAL:
        return doubling("exponential", "exponential", options);
    case SIM_RANDOM_EXPONENTIAL:
        return randomly(doubling("random-exponential", "random exponential", options));
    case SIM_SPEC_NO_BUCKET:
        return named(sim_strategy_spec(options, SIM_NO_BUDGET), "spec-no-bucket",
            "specification, no bucket");
    case SIM_SPEC_PER_CLIENT:
        return named(sim_strategy_spec(options, SIM_PER_CLIENT), "spec-client-bucket",
            "specification, bucket per client");
    case SIM_SPEC_SHARED:
        return named(sim_strategy_spec(options, SIM_FLEET_WIDE), "spec-shared-bucket",
            "specification, shared bucket");
    case SIM_SPEC_SMALL: {
        struct sim_strategy small = named(sim_strategy_spec(options, SIM_FLEET_WIDE),
            "spec-small-bucket", "specification, small shared bucket");
        small.capacity = options->small_capacity;
        return small;
    }
    case SIM_NONE:
    case SIM_STRATEGY_COUNT:
        break;
    }
    return same_wait("none", "no backoff", 0);
}

const char *sim_scope_name(enum sim_scope scope)
{
    static const char *const names[] = {
        [SIM_NO_BUDGET] = "none",
        [SIM_PER_CLIENT] = "client",
        [SIM_PER_PROCESS] = "process",
        [SIM_PER_HOST] = "host",
        [SIM_FLEET_WIDE] = "fleet",
    };
    return names[scope];
}

static double longest(void *state)
{
    (void)state;
    return 1.0;
}

struct mbp_jitter sim_strategy_jitter(
    const struct sim_strategy *strategy, struct mbp_random *random)
{
    return strategy->random_wait ? mbp_random_jitter(random) : (struct mbp_jitter){.next = longest};
}

uint64_t sim_wait_steps(const struct sim_options *options, uint64_t delay_ms)
{
    return (delay_ms + options->step_ms / 2) / options->step_ms;
}
