/*
 * The simulator's command line. What each part shows is in its header.
 */
#include "claims.h"
#include "compare.h"
#include "fleet.h"

#include <string.h>

typedef bool report(const struct sim_options *options, FILE *out, const char *directory);

static const struct {
    const char *name;
    report *run;
    const char *meaning;
} parts[] = {
    {"compare", sim_compare, "each strategy once: summary, clients' and service's view"},
    {"study", sim_study_report, "each strategy with many seeds: do the article's findings hold?"},
    {"sensitivity", sim_study_sensitivity, "the same where the article names no number"},
    {"fleet", sim_fleet_report, "hosts, processes and clients up to a million"},
    {"capacity", sim_capacity_report, "tokens to give each host of a fleet"},
};
static const size_t part_count = sizeof parts / sizeof parts[0];

static void help(FILE *out)
{
    fputs("usage: simulator PART [--directory DIR] [--OPTION NUMBER]...\n\n"
          "Prints tables and leaves them, as tab-separated files, in DIR (default: here).\n\n",
        out);
    for (size_t i = 0; i < part_count; i++) {
        fprintf(out, "  %-12s %s\n", parts[i].name, parts[i].meaning);
    }
    fputs("\n", out);
    sim_options_help(out);
}

static report *find_part(const char *name)
{
    for (size_t i = 0; i < part_count; i++) {
        if (strcmp(parts[i].name, name) == 0) {
            return parts[i].run;
        }
    }
    return NULL;
}

int main(int argc, char **argv)
{
    if (argc == 2 && (strcmp(argv[1], "--help") == 0 || strcmp(argv[1], "-h") == 0)) {
        help(stdout);
        return 0;
    }
    report *run = argc > 1 ? find_part(argv[1]) : NULL;
    if (!run || argc % 2 != 0) {
        help(stderr);
        return 2;
    }

    struct sim_options options;
    const char *directory = ".";
    sim_options_default(&options);
    for (int i = 2; i < argc; i += 2) {
        char fault[256] = "";
        if (strcmp(argv[i], "--directory") == 0) {
            directory = argv[i + 1];
        } else if (strncmp(argv[i], "--", 2) != 0 ||
                   !sim_options_set(&options, argv[i] + 2, argv[i + 1], fault, sizeof fault)) {
            fprintf(stderr, "simulator: %s\n", fault[0] ? fault : "options begin with --");
            return 2;
        }
    }
    const bool good = run(&options, stdout, directory);
    return good && fflush(stdout) == 0 ? 0 : 1;
}
