#include "compare.h"

#include <criterion/criterion.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

struct text {
    char *bytes;
    size_t length;
};

static void append_file(FILE *to, const char *directory, const char *name)
{
    char path[512];
    char block[4096];
    size_t length;
    snprintf(path, sizeof path, "%s/%s", directory, name);
    FILE *file = fopen(path, "r");
    cr_assert_not_null(file, "%s", path);
    while ((length = fread(block, 1, sizeof block, file)) > 0) {
        fwrite(block, 1, length, to);
    }
    fclose(file);
    unlink(path);
}

/* Everything that a comparison prints and saves. */
static struct text output_of(uint64_t seed)
{
    char directory[] = "/tmp/mbp-simulate-XXXXXX";
    struct text text = {0};
    struct sim_options options;
    sim_options_default(&options);
    options.seed = seed;
    cr_assert_not_null(mkdtemp(directory));
    FILE *out = open_memstream(&text.bytes, &text.length);
    cr_assert(sim_compare(&options, out, directory));
    append_file(out, directory, "summary.tsv");
    for (int kind = 0; kind < SIM_STRATEGY_COUNT; kind++) {
        char name[128];
        const struct sim_strategy strategy = sim_strategy_make(&options, kind);
        snprintf(name, sizeof name, "clients-%s.tsv", strategy.name);
        append_file(out, directory, name);
        snprintf(name, sizeof name, "service-%s.tsv", strategy.name);
        append_file(out, directory, name);
    }
    fclose(out);
    cr_assert_eq(rmdir(directory), 0, "something else was left there");
    return text;
}

Test(simulate_output, same_seed_same_bytes)
{
    const struct text first = output_of(1);
    const struct text second = output_of(1);
    cr_assert_gt(first.length, 100000);
    cr_assert_eq(first.length, second.length);
    cr_assert_eq(memcmp(first.bytes, second.bytes, first.length), 0);
    free(first.bytes);
    free(second.bytes);
}

Test(simulate_output, other_seed_other_bytes)
{
    const struct text first = output_of(1);
    const struct text second = output_of(2);
    const bool same =
        first.length == second.length && memcmp(first.bytes, second.bytes, first.length) == 0;
    cr_assert_not(same);
    free(first.bytes);
    free(second.bytes);
}

Test(simulate_output, table_for_people_and_for_programs)
{
    char directory[] = "/tmp/mbp-simulate-XXXXXX";
    struct text shown = {0};
    struct text saved = {0};
    struct sim_table table;
    cr_assert_not_null(mkdtemp(directory));
    sim_table_open(&table, "name|n");
    sim_table_cell(&table, "%s", "long name");
    sim_table_cell(&table, "%d", 7);
    sim_table_cell(&table, "%s", "x");
    sim_table_cell(&table, "%d", 1234);

    FILE *out = open_memstream(&shown.bytes, &shown.length);
    sim_table_print(&table, out, 1);
    fclose(out);
    cr_assert_str_eq(shown.bytes, "name          n\nlong name     7\nx          1234\n");

    out = open_memstream(&saved.bytes, &saved.length);
    cr_assert(sim_table_save(&table, directory, "t.tsv"));
    append_file(out, directory, "t.tsv");
    fclose(out);
    cr_assert_str_eq(saved.bytes, "name\tn\nlong name\t7\nx\t1234\n");
    sim_table_close(&table);
    rmdir(directory);
    free(shown.bytes);
    free(saved.bytes);
}

Test(simulate_output, options_are_checked)
{
    struct sim_options options;
    char fault[128] = "";
    sim_options_default(&options);
    cr_assert(sim_options_set(&options, "spike-width", "7", fault, sizeof fault));
    cr_assert_eq(options.spike_width, 7);
    cr_assert_not(sim_options_set(&options, "spike-width", "-1", fault, sizeof fault));
    cr_assert_not(sim_options_set(&options, "spike-width", "0", fault, sizeof fault));
    cr_assert_not(sim_options_set(&options, "spike-width", "7x", fault, sizeof fault));
    cr_assert_not(sim_options_set(&options, "spike-width", "", fault, sizeof fault));
    cr_assert_eq(options.spike_width, 7);
    cr_assert_not(sim_options_set(&options, "spike", "7", fault, sizeof fault));
    cr_assert_str_eq(fault, "no option '--spike'");
}

Test(simulate_output, defaults_are_what_ships)
{
    struct sim_options options;
    sim_options_default(&options);
    const struct mbp_profile numbers = sim_strategy_spec(&options, SIM_PER_CLIENT).policy.numbers;
    const struct mbp_profile *shipped = &mbp_profiles[MBP_PROFILE_ORIGINAL];
    cr_expect_eq(numbers.max_retries, shipped->max_retries);
    cr_expect_eq(numbers.base_backoff_ms, shipped->base_backoff_ms);
    cr_expect_eq(numbers.max_backoff_ms, shipped->max_backoff_ms);
    cr_expect_eq(numbers.first_exponent, shipped->first_exponent);
    cr_expect_eq(numbers.retry_cost, shipped->retry_cost);
    cr_expect_eq(numbers.return_rate, shipped->return_rate);
}
