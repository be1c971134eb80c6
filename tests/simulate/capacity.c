/*
 * What an operator asks: how many tokens shall each host of N have? Too few,
 * and a burst that a little patience would carry fails to the application; too
 * many, and in an outage every operation is sent six times for nothing. Both
 * ends are found by halving, on runs of the model.
 */
#include "compare.h"
#include "fleet.h"

struct question {
    struct sim_options outage, burst;
    double most_amplification;
    uint64_t most_lost; /* of the burst */
};

static bool bearable(const struct question *question, uint64_t capacity)
{
    return sim_fleet_measure(&question->outage, SIM_PER_HOST, capacity).amplification <=
           question->most_amplification;
}

static bool sufficient(const struct question *question, uint64_t capacity)
{
    return sim_fleet_measure(&question->burst, SIM_PER_HOST, capacity).gave_up <=
           question->most_lost;
}

/* The first capacity for which `holds` is `wanted`, from where on it stays so. */
static uint64_t first_where(
    const struct question *question, bool (*holds)(const struct question *, uint64_t), bool wanted)
{
    uint64_t low = 0; /* not so here, or here just not looked at: no bucket is that small */
    uint64_t high = 1;
    while (high < MBP_BUCKET_MAX_TOKENS && holds(question, high) != wanted) {
        low = high;
        high = high * 4 < MBP_BUCKET_MAX_TOKENS ? high * 4 : MBP_BUCKET_MAX_TOKENS;
    }
    /* Two digits are as many as anybody wants. */
    while (high - low > 1 + high / 100) {
        const uint64_t middle = low + (high - low) / 2;
        if (holds(question, middle) == wanted) {
            high = middle;
        } else {
            low = middle;
        }
    }
    return high;
}

/* Two digits, downwards. */
static uint64_t rounded(uint64_t value)
{
    uint64_t unit = 1;
    while (value / unit >= 100) {
        unit *= 10;
    }
    return value / unit * unit;
}

static void add_answer(struct sim_table *table, const struct sim_options *options, uint64_t hosts,
    uint64_t clients_a_host)
{
    struct question question = {
        .outage = sim_fleet_options(options, SIM_OUTAGE, hosts, 1, clients_a_host),
        .burst = sim_fleet_options(options, SIM_SPIKE, hosts, 1, clients_a_host),
        .most_amplification = (double)options->outage_amplification_percent / 100,
    };
    question.burst.spike_percent = options->burst_percent;
    const uint64_t in_burst = question.burst.clients * options->burst_percent / 100;
    const struct sim_summary unlimited = sim_fleet_measure(&question.burst, SIM_NO_BUDGET, 1);
    question.most_lost = unlimited.gave_up + in_burst * options->burst_loss_permille / 1000;

    const uint64_t least = first_where(&question, sufficient, true);
    const uint64_t most = first_where(&question, bearable, false) - 1;
    const uint64_t round = question.outage.think_steps + options->service_steps;
    const double operations_a_second =
        (double)clients_a_host * 1000 / (double)(round * options->step_ms);
    sim_table_cell(table, "%llu", (unsigned long long)hosts);
    sim_table_cell(table, "%llu", (unsigned long long)question.burst.clients);
    sim_table_cell(table, "%.2f", operations_a_second);
    sim_table_cell(table, "%llu", (unsigned long long)least);
    sim_table_cell(table, "%llu", (unsigned long long)most);
    if (least <= most) {
        sim_table_cell(table, "%llu", (unsigned long long)rounded(most));
    } else {
        sim_table_cell(table, "none fits");
    }
    sim_table_cell(table, "%.1f", (double)most / operations_a_second);
    sim_table_cell(table, "%.2f",
        sim_fleet_measure(&question.outage, SIM_PER_HOST, options->capacity).amplification);
    const struct sim_summary with_policy =
        sim_fleet_measure(&question.burst, SIM_PER_HOST, options->capacity);
    const double lost = (double)with_policy.gave_up - (double)unlimited.gave_up;
    sim_table_cell(table, "%.1f", lost > 0 && in_burst ? 100 * lost / (double)in_burst : 0);
    fprintf(stderr, "simulator: capacity for %llu hosts, %llu clients: %llu to %llu tokens\n",
        (unsigned long long)hosts, (unsigned long long)question.burst.clients,
        (unsigned long long)least, (unsigned long long)most);
}

bool sim_capacity_report(const struct sim_options *options, FILE *out, const char *directory)
{
    static const struct {
        uint64_t hosts, clients_a_host;
    } fleets[] = {{1, 100000}, {10, 10000}, {100, 1000}, {1000, 100}, {10, 1000}, {1000, 1000}};
    const uint64_t outage_steps = sim_fleet_options(options, SIM_OUTAGE, 1, 1, 1).outage_steps;
    struct sim_table table;
    sim_table_open(&table, "hosts|clients|ops_per_s_host|at_least|at_most|recommended|"
                           "seconds_of_ops|amplification_at_default|lost_percent_at_default");
    for (size_t i = 0; i < sizeof fleets / sizeof fleets[0]; i++) {
        add_answer(&table, options, fleets[i].hosts, fleets[i].clients_a_host);
    }
    fprintf(out,
        "\nTokens for each host. At least: a burst of %llu %% of the clients loses no more than\n"
        "%.1f %% of itself for want of tokens. At most: in an outage of %llu steps (%.0f s) there\n"
        "are no more than %.2f requests for an operation. Recommended: the latter, two digits;\n"
        "seconds_of_ops is the same in operations the host begins in so many seconds. The last\n"
        "two: outage amplification, and loss of the burst, with %llu tokens.\n\n",
        (unsigned long long)options->burst_percent, (double)options->burst_loss_permille / 10,
        (unsigned long long)outage_steps, (double)(outage_steps * options->step_ms) / 1000,
        (double)options->outage_amplification_percent / 100, (unsigned long long)options->capacity);
    sim_table_print(&table, out, 0);
    const bool good = sim_table_save(&table, directory, "capacity.tsv");
    sim_table_close(&table);
    return good;
}
