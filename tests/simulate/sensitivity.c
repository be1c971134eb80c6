#include "claims.h"
#include "table.h"

/* A number that the article leaves open, and another choice for it. */
struct change {
    const char *option, *value;
};

static bool apply(const struct change *change, struct sim_options *options)
{
    char fault[128];
    if (!sim_options_set(options, change->option, change->value, fault, sizeof fault)) {
        fprintf(stderr, "simulator: %s\n", fault);
        return false;
    }
    fprintf(stderr, "simulator: %s %s, %llu seeds\n", change->option, change->value,
        (unsigned long long)options->seeds);
    return true;
}

/* The smallest share of seeds among the claims that an exponential strategy
 * beats one of the other three in this metric. */
static double weakest(const struct sim_study *study, enum sim_metric metric)
{
    struct sim_claims claims;
    double least = 1;
    sim_claims_list(&claims);
    for (size_t i = 0; i < claims.count; i++) {
        const struct sim_claim *claim = &claims.list[i];
        if (claim->worse <= SIM_UNIFORM && claim->metric == metric) {
            const double share = sim_claim_judge(study, claim).share;
            least = share < least ? share : least;
        }
    }
    return least;
}

static void add_findings(
    struct sim_table *table, const struct sim_options *options, const char *title)
{
    struct sim_study study;
    sim_study_open(&study, options, SIM_NONE, SIM_RANDOM_EXPONENTIAL + 1);
    sim_table_cell(table, "%s", title);
    for (int metric = SIM_METRIC_P50; metric <= SIM_METRIC_REQUESTS; metric++) {
        sim_table_cell(table, "%.0f %%", 100 * weakest(&study, metric));
    }
    for (int metric = SIM_METRIC_P99; metric <= SIM_METRIC_MAX; metric++) {
        const struct sim_claim tail = {SIM_RANDOM_EXPONENTIAL, SIM_EXPONENTIAL, metric};
        sim_table_cell(table, "%.0f %%", 100 * sim_claim_judge(&study, &tail).share);
    }
    sim_study_close(&study);
}

static bool report_findings(const struct sim_options *options, FILE *out, const char *directory)
{
    static const struct change changes[] = {{"progress", "5"}, {"progress", "10"},
        {"progress", "15"}, {"progress", "20"}, {"progress", "30"}, {"progress", "35"},
        {"progress", "50"}, {"spike_width", "10"}, {"spike_width", "50"}, {"spike_at", "200"},
        {"steps", "15000"}};
    struct sim_table table;
    sim_table_open(&table, "with|p50|p75|p99|max|requests|random_p99|random_max");
    add_findings(&table, options, "as given");
    for (size_t i = 0; i < sizeof changes / sizeof changes[0]; i++) {
        struct sim_options changed = *options;
        char title[SIM_CELL_SIZE];
        if (!apply(&changes[i], &changed)) {
            sim_table_close(&table);
            return false;
        }
        snprintf(title, sizeof title, "%s %s", changes[i].option, changes[i].value);
        add_findings(&table, &changed, title);
    }
    fprintf(out,
        "\nHow much hangs on the numbers that the article doesn't name: share of %llu seeds in\n"
        "which both exponential strategies beat each of the other three (the weakest pair), and\n"
        "in which the random one has the better tail of the two. A tie, as when none of them\n"
        "recovers before the end, is no win.\n\n",
        (unsigned long long)options->seeds);
    sim_table_print(&table, out, 1);
    const bool good = sim_table_save(&table, directory, "sensitivity.tsv");
    sim_table_close(&table);
    return good;
}

static bool report_step_length(const struct sim_options *options, FILE *out, const char *directory)
{
    static const struct change changes[] = {{"step_ms", "10"}, {"step_ms", "25"}, {"step_ms", "50"},
        {"step_ms", "100"}, {"step_ms", "200"}, {"step_ms", "500"}};
    struct sim_table table;
    sim_table_open(&table, "step_ms|p50|p75|p99|max|requests|gave_up|unfinished|back_to_normal");
    for (size_t i = 0; i < sizeof changes / sizeof changes[0]; i++) {
        struct sim_options changed = *options;
        struct sim_study study;
        if (!apply(&changes[i], &changed)) {
            sim_table_close(&table);
            return false;
        }
        sim_study_open(&study, &changed, SIM_SPEC_PER_CLIENT, SIM_SPEC_PER_CLIENT + 1);
        sim_table_cell(&table, "%s", changes[i].value);
        for (int metric = 0; metric < SIM_METRIC_COUNT; metric++) {
            const double *values = sim_study_values(&study, SIM_SPEC_PER_CLIENT, metric);
            sim_table_cell(&table, "%.1f", sim_mean_of(values, study.seeds));
        }
        sim_study_close(&study);
    }
    fprintf(out,
        "\nThe specification's strategy, bucket per client, if a step were of another\n"
        "length: means over %llu seeds, in steps.\n\n",
        (unsigned long long)options->seeds);
    sim_table_print(&table, out, 0);
    const bool good = sim_table_save(&table, directory, "step-length.tsv");
    sim_table_close(&table);
    return good;
}

bool sim_study_sensitivity(const struct sim_options *options, FILE *out, const char *directory)
{
    const bool good = report_findings(options, out, directory);
    return report_step_length(options, out, directory) && good;
}
