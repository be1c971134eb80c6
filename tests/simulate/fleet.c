#include "fleet.h"

#include "compare.h"

#include <time.h>

const char *sim_scenario_name(enum sim_scenario scenario)
{
    return scenario == SIM_SPIKE ? "spike" : "outage";
}

static uint64_t in_proportion(uint64_t value, uint64_t clients, uint64_t of_clients)
{
    const uint64_t scaled = (value * clients + of_clients / 2) / of_clients;
    return scaled ? scaled : 1;
}

struct sim_options sim_fleet_options(const struct sim_options *options, enum sim_scenario scenario,
    uint64_t hosts, uint64_t processes, uint64_t clients_a_process)
{
    struct sim_options fleet = *options;
    fleet.hosts = hosts;
    fleet.processes = processes;
    fleet.clients = hosts * processes * clients_a_process;
    fleet.places = in_proportion(options->places, fleet.clients, options->clients);
    fleet.progress = in_proportion(options->progress, fleet.clients, options->clients);
    fleet.overwhelmed_above =
        in_proportion(options->overwhelmed_above, fleet.clients, options->clients);
    if (scenario == SIM_OUTAGE) {
        /* A client's round is such that all of them use the given share. */
        const uint64_t round =
            fleet.clients * options->service_steps * 100 / (fleet.places * options->load_percent);
        fleet.spike_percent = 0;
        fleet.think_steps = round > options->service_steps ? round - options->service_steps : 1;
        fleet.outage_at = options->steps / 3;
        fleet.outage_steps = options->steps / 3;
    }
    return fleet;
}

struct sim_summary sim_fleet_measure(
    const struct sim_options *fleet, enum sim_scope scope, uint64_t capacity)
{
    struct sim_strategy strategy = sim_strategy_spec(fleet, scope);
    strategy.capacity = capacity;
    struct sim_run run;
    sim_run(&run, fleet, &strategy);
    const struct sim_summary summary = sim_summarize(&run);
    sim_run_close(&run);
    return summary;
}

static double seconds_now(void)
{
    struct timespec now;
    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &now);
    return (double)now.tv_sec + (double)now.tv_nsec / 1e9;
}

static void add_row(struct sim_table *table, struct sim_table *times,
    const struct sim_options *fleet, enum sim_scenario scenario, enum sim_scope scope)
{
    const double begun = seconds_now();
    const struct sim_summary summary = sim_fleet_measure(fleet, scope, fleet->capacity);
    const double seconds = seconds_now() - begun;
    char text[SIM_CELL_SIZE];
    const unsigned long long hosts = fleet->hosts;
    const unsigned long long processes = fleet->processes;
    const unsigned long long clients = fleet->clients;
    sim_table_cell(table, "%s", sim_scenario_name(scenario));
    sim_table_cell(table, "%llu", hosts);
    sim_table_cell(table, "%llu", processes);
    sim_table_cell(table, "%llu", clients);
    sim_table_cell(table, "%s", sim_scope_name(scope));
    sim_table_cell(table, "%.3f", summary.amplification);
    sim_table_cell(table, "%u", summary.burst);
    sim_table_cell(table, "%u", summary.retry_burst);
    sim_table_cell(table, "%s", sim_recovery_text(summary.recovery, text));
    sim_table_cell(table, "%.2f", 100.0 * (double)summary.gave_up / (double)summary.operations);

    sim_table_cell(times, "%s", sim_scenario_name(scenario));
    sim_table_cell(times, "%llu", hosts);
    sim_table_cell(times, "%llu", processes);
    sim_table_cell(times, "%llu", clients);
    sim_table_cell(times, "%s", sim_scope_name(scope));
    sim_table_cell(times, "%llu", (unsigned long long)summary.requests);
    sim_table_cell(times, "%.2f", seconds);
    fprintf(stderr, "simulator: %s, %llu clients on %llu hosts, budget per %s: %.1f s\n",
        sim_scenario_name(scenario), clients, hosts, sim_scope_name(scope), seconds);
}

bool sim_fleet_report(const struct sim_options *options, FILE *out, const char *directory)
{
    static const struct {
        uint64_t hosts, processes;
    } sizes[] = {
        {1, 1}, {1, 10}, {1, 100}, {10, 1}, {10, 10}, {10, 100}, {100, 1}, {100, 10}, {1000, 1}};
    struct sim_table table;
    struct sim_table times;
    sim_table_open(&table, "scenario|hosts|processes|clients|budget|amplification|burst|"
                           "retry_burst|back_to_normal|failed_percent");
    sim_table_open(&times, "scenario|hosts|processes|clients|budget|requests|cpu_seconds");
    for (int scenario = 0; scenario < SIM_SCENARIO_COUNT; scenario++) {
        for (size_t size = 0; size < sizeof sizes / sizeof sizes[0]; size++) {
            const struct sim_options fleet = sim_fleet_options(options, scenario, sizes[size].hosts,
                sizes[size].processes, options->clients_a_process);
            for (int scope = SIM_PER_CLIENT; scope <= SIM_FLEET_WIDE; scope++) {
                add_row(&table, &times, &fleet, scenario, scope);
            }
        }
    }
    fprintf(out,
        "\nThe specification's policy in a fleet, %llu clients in a process, %llu tokens in each\n"
        "bucket. Amplification: requests for an operation (in the outage: during it). Burst: most\n"
        "requests, and most retries, in one step.\n\n",
        (unsigned long long)options->clients_a_process, (unsigned long long)options->capacity);
    sim_table_print(&table, out, 1);
    bool good = sim_table_save(&table, directory, "fleet.tsv");
    good = sim_table_save(&times, directory, "fleet-times.tsv") && good;
    sim_table_close(&table);
    sim_table_close(&times);
    return good;
}
