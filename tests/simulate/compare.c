#include "compare.h"

#include "memory.h"

const char *sim_quantile_text(struct sim_quantile quantile, char text[SIM_CELL_SIZE])
{
    snprintf(text, SIM_CELL_SIZE, "%u%s", quantile.steps, quantile.at_least ? "+" : "");
    return text;
}

const char *sim_recovery_text(uint32_t recovery, char text[SIM_CELL_SIZE])
{
    if (recovery == SIM_NEVER) {
        return "never";
    }
    snprintf(text, SIM_CELL_SIZE, "%u", recovery);
    return text;
}

static void add_summary(struct sim_table *table, const struct sim_run *run)
{
    const struct sim_summary summary = sim_summarize(run);
    char text[SIM_CELL_SIZE];
    sim_table_cell(table, "%s", run->strategy.name);
    for (int rank = 0; rank < SIM_RANK_COUNT; rank++) {
        sim_table_cell(table, "%s", sim_quantile_text(summary.latency[rank], text));
    }
    sim_table_cell(table, "%llu", (unsigned long long)summary.requests);
    sim_table_cell(table, "%llu", (unsigned long long)summary.succeeded);
    sim_table_cell(table, "%llu", (unsigned long long)summary.gave_up);
    sim_table_cell(table, "%llu", (unsigned long long)summary.refused_budget);
    sim_table_cell(table, "%llu", (unsigned long long)summary.unfinished);
    sim_table_cell(table, "%s", sim_recovery_text(summary.recovery, text));
}

/* A client as its user sees it. */
struct experience {
    uint32_t latency, requests, client;
    enum sim_state state;
};

static int by_latency(const void *a, const void *b)
{
    const struct experience *left = a;
    const struct experience *right = b;
    if (left->latency != right->latency) {
        return left->latency < right->latency ? -1 : 1;
    }
    /* Without a last word the order would be qsort's, and not the same everywhere. */
    return left->client < right->client ? -1 : 1;
}

static bool save_clients(const struct sim_run *run, const char *directory)
{
    static const char *const outcomes[] = {"idle", "unfinished", "succeeded", "gave-up"};
    const uint32_t count = run->clients.count;
    struct experience *list = sim_allocate(count, sizeof *list);
    for (uint32_t i = 0; i < count; i++) {
        const struct sim_client *client = &run->clients.all[i];
        const uint32_t until =
            client->state == SIM_UNDER_WAY ? (uint32_t)run->options.steps : client->ended;
        list[i] = (struct experience){until - client->begun, client->requests, i, client->state};
    }
    qsort(list, count, sizeof *list, by_latency);

    struct sim_table table;
    sim_table_open(&table, "rank|latency|requests|outcome|client");
    for (uint32_t i = 0; i < count; i++) {
        sim_table_cell(&table, "%u", i + 1);
        sim_table_cell(&table, "%u", list[i].latency);
        sim_table_cell(&table, "%u", list[i].requests);
        sim_table_cell(&table, "%s", outcomes[list[i].state]);
        sim_table_cell(&table, "%u", list[i].client);
    }
    free(list);
    char name[128];
    snprintf(name, sizeof name, "clients-%s.tsv", run->strategy.name);
    const bool good = sim_table_save(&table, directory, name);
    sim_table_close(&table);
    return good;
}

static bool save_service(const struct sim_run *run, const char *directory)
{
    struct sim_table table;
    sim_table_open(&table, "step|queued|outstanding|received|rejected|first|under_way");
    for (uint32_t i = 0; i < run->options.steps; i++) {
        const struct sim_step *step = &run->steps[i];
        const uint32_t values[] = {i, step->queued, step->outstanding, step->received,
            step->rejected, step->first, step->under_way};
        for (size_t column = 0; column < sizeof values / sizeof values[0]; column++) {
            sim_table_cell(&table, "%u", values[column]);
        }
    }
    char name[128];
    snprintf(name, sizeof name, "service-%s.tsv", run->strategy.name);
    const bool good = sim_table_save(&table, directory, name);
    sim_table_close(&table);
    return good;
}

bool sim_compare(const struct sim_options *options, FILE *out, const char *directory)
{
    bool good = true;
    struct sim_table table;
    sim_table_open(&table, "strategy|p50|p75|p99|max|requests|succeeded|gave_up|of_it_no_token|"
                           "unfinished|back_to_normal");
    for (int kind = 0; kind < SIM_STRATEGY_COUNT; kind++) {
        const struct sim_strategy strategy = sim_strategy_make(options, kind);
        struct sim_run run;
        sim_run(&run, options, &strategy);
        add_summary(&table, &run);
        good = save_clients(&run, directory) && save_service(&run, directory) && good;
        sim_run_close(&run);
    }
    fprintf(out,
        "One run, seed %llu: latency and time until back to normal in steps.\n"
        "Latency leaves out operations that gave up; N+ is a lower bound, because of operations\n"
        "unfinished at the end.\n\n",
        (unsigned long long)options->seed);
    sim_table_print(&table, out, 1);
    good = sim_table_save(&table, directory, "summary.tsv") && good;
    sim_table_close(&table);
    return good;
}
