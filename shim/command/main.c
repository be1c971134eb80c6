/*
 * mongobp: runs programs with the library, and shows what it does.
 */
#include "command.h"
#include "common/settings.h"

#include <stdio.h>
#include <string.h>

struct subcommand {
    const char *name;
    const char *arguments;
    const char *summary;
    mbp_subcommand *function;
};

static const struct subcommand subcommands[] = {
    {"run", "[--set NAME=VALUE]... [--] PROGRAM [ARGUMENT]...",
        "run a program with the library preloaded", mbp_command_run},
    {"status", "[--bucket NAME] [--json]",
        "show tokens, counters and attached processes of a bucket", mbp_command_status},
};

enum { SUBCOMMAND_COUNT = sizeof subcommands / sizeof subcommands[0] };

static void print_usage(FILE *to)
{
    const char *before = "Usage:";
    for (int i = 0; i < SUBCOMMAND_COUNT; i++) {
        fprintf(to, "%s mongobp %s %s\n", before, subcommands[i].name, subcommands[i].arguments);
        before = "      ";
    }
    fprintf(to, "%s mongobp --help | --version\n", before);
}

int mbp_usage_error(int status)
{
    print_usage(stderr);
    return status;
}

static int widest_variable(void)
{
    int widest = 0;
    for (int i = 0; i < MBP_SETTING_COUNT; i++) {
        const int width = (int)strlen(mbp_setting_infos[i].variable);
        widest = width > widest ? width : widest;
    }
    return widest;
}

int mbp_print_help(void)
{
    const int width = widest_variable();
    print_usage(stdout);
    puts("\nRetries commands that an overloaded MongoDB rejects, for programs whose driver\n"
         "can't do so itself, within a budget that all programs of a user share.\n");
    for (int i = 0; i < SUBCOMMAND_COUNT; i++) {
        printf("  %-8s %s\n", subcommands[i].name, subcommands[i].summary);
    }
    puts("\nSettings, as environment variables, or with --set, where the "
         "prefix " MBP_ENVIRONMENT_PREFIX " may be left out:\n");
    printf("  %-*s  %-8s  %s\n", width, "Variable", "Default", "Meaning");
    for (int i = 0; i < MBP_SETTING_COUNT; i++) {
        const struct mbp_setting_info *info = &mbp_setting_infos[i];
        printf("  %-*s  %-8s  %s\n", width, info->variable, info->fallback, info->meaning);
    }
    puts("\n`run` exits as the program does; 125 where mongobp itself fails, 126 where the\n"
         "program can't be run, 127 where it isn't found.");
    return mbp_finish_output();
}

static int print_version(void)
{
    puts("mongobp " MBP_VERSION);
    return mbp_finish_output();
}

int main(int argc, char **argv)
{
    if (argc < 2) {
        return mbp_usage_error(MBP_EXIT_USAGE);
    }
    const char *name = argv[1];
    if (strcmp(name, "--help") == 0 || strcmp(name, "-h") == 0 || strcmp(name, "help") == 0) {
        return mbp_print_help();
    }
    if (strcmp(name, "--version") == 0 || strcmp(name, "-V") == 0) {
        return print_version();
    }
    for (int i = 0; i < SUBCOMMAND_COUNT; i++) {
        if (strcmp(name, subcommands[i].name) == 0) {
            return subcommands[i].function(argc - 1, argv + 1);
        }
    }
    mbp_complain("unknown %s %s", name[0] == '-' ? "option" : "command", name);
    return mbp_usage_error(MBP_EXIT_USAGE);
}
