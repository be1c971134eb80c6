#include "claims.h"

#include "memory.h"
#include "table.h"

#include <string.h>

void sim_claims_list(struct sim_claims *claims)
{
    claims->count = 0;
    for (int better = SIM_EXPONENTIAL; better <= SIM_RANDOM_EXPONENTIAL; better++) {
        for (int worse = SIM_NONE; worse <= SIM_UNIFORM; worse++) {
            for (int metric = SIM_METRIC_P50; metric <= SIM_METRIC_REQUESTS; metric++) {
                claims->list[claims->count++] = (struct sim_claim){better, worse, metric};
            }
        }
    }
    static const struct sim_claim within[] = {
        {SIM_RANDOM_EXPONENTIAL, SIM_EXPONENTIAL, SIM_METRIC_P99},
        {SIM_RANDOM_EXPONENTIAL, SIM_EXPONENTIAL, SIM_METRIC_MAX},
        {SIM_EXPONENTIAL, SIM_RANDOM_EXPONENTIAL, SIM_METRIC_P75},
        {SIM_EXPONENTIAL, SIM_RANDOM_EXPONENTIAL, SIM_METRIC_REQUESTS},
    };
    memcpy(&claims->list[claims->count], within, sizeof within);
    claims->count += sizeof within / sizeof within[0];
}

struct sim_difference sim_claim_judge(const struct sim_study *study, const struct sim_claim *claim)
{
    return sim_difference_of(sim_study_values(study, claim->worse, claim->metric),
        sim_study_values(study, claim->better, claim->metric), study->seeds);
}

static const char *verdict(const struct sim_difference *difference)
{
    return difference->low > 0 ? "holds" : difference->high < 0 ? "opposite" : "undecided";
}

double sim_mean_of(const double *values, uint32_t count)
{
    double sum = 0;
    for (uint32_t i = 0; i < count; i++) {
        sum += values[i];
    }
    return sum / count;
}

static int by_value(const void *a, const void *b)
{
    const double left = *(const double *)a;
    const double right = *(const double *)b;
    return (left > right) - (left < right);
}

/* Where the middle 95 % of the seeds lie, for the figures. */
static void add_spread(struct sim_table *table, const struct sim_study *study, int kind, int metric)
{
    const uint32_t count = study->seeds;
    const double *values = sim_study_values(study, kind, metric);
    double *sorted = sim_allocate(count, sizeof *sorted);
    memcpy(sorted, values, count * sizeof *sorted);
    qsort(sorted, count, sizeof *sorted, by_value);
    const uint32_t cut = count / 40;
    sim_table_cell(table, "%.1f", sim_mean_of(values, count));
    sim_table_cell(table, "%.0f", sorted[cut]);
    sim_table_cell(table, "%.0f", sorted[count - 1 - cut]);
    free(sorted);
}

static bool report_spread(const struct sim_options *options, const struct sim_study *study,
    FILE *out, const char *directory)
{
    struct sim_table shown;
    struct sim_table saved;
    sim_table_open(&shown, "strategy|p50|p75|p99|max|requests|gave_up|unfinished|back_to_normal");
    sim_table_open(&saved, "strategy|metric|mean|low|high");
    for (int kind = 0; kind < SIM_STRATEGY_COUNT; kind++) {
        const char *name = sim_strategy_make(options, kind).name;
        sim_table_cell(&shown, "%s", name);
        for (int metric = 0; metric < SIM_METRIC_COUNT; metric++) {
            sim_table_cell(
                &shown, "%.1f", sim_mean_of(sim_study_values(study, kind, metric), study->seeds));
            sim_table_cell(&saved, "%s", name);
            sim_table_cell(&saved, "%s", sim_metric_name(metric));
            add_spread(&saved, study, kind, metric);
        }
    }
    fprintf(out, "Means over %u seeds (what had not ended counts as far as it was seen).\n\n",
        study->seeds);
    sim_table_print(&shown, out, 1);
    const bool good = sim_table_save(&saved, directory, "study.tsv");
    sim_table_close(&shown);
    sim_table_close(&saved);
    return good;
}

static bool report_claims(const struct sim_options *options, const struct sim_study *study,
    FILE *out, const char *directory)
{
    struct sim_claims claims;
    struct sim_table table;
    sim_claims_list(&claims);
    sim_table_open(
        &table, "lower|than|in|mean|mean_of_other|difference|from|to|share_of_seeds|verdict");
    for (size_t i = 0; i < claims.count; i++) {
        const struct sim_claim *claim = &claims.list[i];
        const struct sim_difference difference = sim_claim_judge(study, claim);
        sim_table_cell(&table, "%s", sim_strategy_make(options, claim->better).name);
        sim_table_cell(&table, "%s", sim_strategy_make(options, claim->worse).name);
        sim_table_cell(&table, "%s", sim_metric_name(claim->metric));
        sim_table_cell(&table, "%.1f",
            sim_mean_of(sim_study_values(study, claim->better, claim->metric), study->seeds));
        sim_table_cell(&table, "%.1f",
            sim_mean_of(sim_study_values(study, claim->worse, claim->metric), study->seeds));
        sim_table_cell(&table, "%.1f", difference.mean);
        sim_table_cell(&table, "%.1f", difference.low);
        sim_table_cell(&table, "%.1f", difference.high);
        sim_table_cell(&table, "%.0f %%", 100 * difference.share);
        sim_table_cell(&table, "%s", verdict(&difference));
    }
    fprintf(out,
        "\nThe article's findings: mean difference over %u seeds with its 95 %% interval,\n"
        "and the share of seeds in which it is so.\n\n",
        study->seeds);
    sim_table_print(&table, out, 3);
    const bool good = sim_table_save(&table, directory, "findings.tsv");
    sim_table_close(&table);
    return good;
}

bool sim_study_report(const struct sim_options *options, FILE *out, const char *directory)
{
    struct sim_study study;
    sim_study_open(&study, options, SIM_NONE, SIM_STRATEGY_COUNT);
    bool good = report_spread(options, &study, out, directory);
    good = report_claims(options, &study, out, directory) && good;
    sim_study_close(&study);
    return good;
}
