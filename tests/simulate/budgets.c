#include "budgets.h"

#include "memory.h"

static uint64_t buckets_needed(const struct sim_options *options, enum sim_scope scope)
{
    switch (scope) {
    case SIM_PER_CLIENT:
        return options->clients;
    case SIM_PER_PROCESS:
        return options->hosts * options->processes;
    case SIM_PER_HOST:
        return options->hosts;
    case SIM_NO_BUDGET:
    case SIM_FLEET_WIDE:
        break;
    }
    return 1;
}

void sim_budgets_open(struct sim_budgets *budgets, const struct sim_options *options,
    const struct sim_strategy *strategy)
{
    const uint64_t needed = buckets_needed(options, strategy->scope);
    budgets->clients = (uint32_t)options->clients;
    budgets->count = needed < options->clients ? (uint32_t)needed : budgets->clients;
    budgets->buckets = sim_allocate(budgets->count, sizeof *budgets->buckets);
    for (uint32_t i = 0; i < budgets->count; i++) {
        mbp_bucket_init_once(&budgets->buckets[i], (mbp_millitokens)strategy->capacity * MBP_TOKEN);
    }
}

void sim_budgets_close(struct sim_budgets *budgets)
{
    free(budgets->buckets);
}

struct mbp_bucket *sim_budgets_of(const struct sim_budgets *budgets, uint32_t client)
{
    return &budgets->buckets[(uint64_t)client * budgets->count / budgets->clients];
}
