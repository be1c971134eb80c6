/*
 * mongobp run: a program, with the library preloaded.
 */
#include "command.h"
#include "common/settings.h"
#include "preload.h"
#include "program.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* Puts NAME=VALUE into the environment that the program will have. */
static bool apply_setting(const char *assignment)
{
    struct mbp_settings parsed;
    char expected[MBP_EXPECTED_SIZE];
    const char *nearest = "";
    const char *equals = strchr(assignment, '=');
    if (!equals || equals == assignment) {
        mbp_complain("--set needs NAME=VALUE, not \"%s\"", assignment);
        return false;
    }
    char *name = mbp_text("%.*s", (int)(equals - assignment), assignment);
    const char *value = equals + 1;
    const int setting = mbp_settings_find(name, &nearest);
    bool good = false;
    if (setting < 0) {
        mbp_complain("unknown setting %s; did you mean %s?", name, nearest);
    } else if (!mbp_settings_parse(&parsed, (enum mbp_setting)setting, value, expected)) {
        mbp_complain("%s=\"%s\" is not %s", mbp_setting_infos[setting].variable, value, expected);
    } else if (setenv(mbp_setting_infos[setting].variable, value, 1) != 0) {
        mbp_complain("can't set %s: %s", name, strerror(errno));
    } else {
        good = true;
    }
    free(name);
    return good;
}

/* Reads the options; the index of the program's name, or -1 after a complaint,
 * or 0 where help is wanted. */
static int read_options(int argc, char **argv)
{
    int i = 1;
    for (; i < argc && argv[i][0] == '-'; i++) {
        const char *option = argv[i];
        const char *assignment = NULL;
        if (strcmp(option, "--") == 0) {
            i++;
            break;
        }
        if (strcmp(option, "--help") == 0 || strcmp(option, "-h") == 0) {
            return 0;
        }
        if (strncmp(option, "--set=", 6) == 0) {
            assignment = option + 6;
        } else if (strcmp(option, "--set") == 0) {
            assignment = i + 1 < argc ? argv[++i] : "";
        } else {
            mbp_complain("run: unknown option %s", option);
            mbp_usage_error(0);
            return -1;
        }
        if (!apply_setting(assignment)) {
            return -1;
        }
    }
    if (i == argc) {
        mbp_complain("run: which program?");
        mbp_usage_error(0);
        return -1;
    }
    return i;
}

static int exit_status_for(int error)
{
    return error == ENOENT || error == ENOTDIR ? MBP_EXIT_NOT_FOUND : MBP_EXIT_CANNOT_EXECUTE;
}

static const char *reason(int error)
{
    return error == ENOENT ? "not found" : strerror(error);
}

/* 0 where the library will be loaded into what runs the file at `path`. */
static int check_program(const char *library, const char *path)
{
    char *culprit;
    char *loaded = mbp_program_loaded(path, &culprit);
    if (!loaded) {
        const int error = errno;
        mbp_complain("can't run %s: its interpreter %s: %s", path, culprit, reason(error));
        free(culprit);
        return exit_status_for(error);
    }
    const int status = mbp_preload_fits(library, loaded) ? 0 : MBP_EXIT_RUN_FAILED;
    free(loaded);
    return status;
}

static bool set_preload(const char *library)
{
    char *value = mbp_preload_value(getenv("LD_PRELOAD"), library);
    const bool is_set = setenv("LD_PRELOAD", value, 1) == 0;
    free(value);
    return is_set;
}

/* Returns only where it can't be done. */
static int execute(const char *path, char **argv)
{
    char *library = mbp_preload_find_library();
    if (!library) {
        return MBP_EXIT_RUN_FAILED;
    }
    int status = check_program(library, path);
    if (status == 0 && !set_preload(library)) {
        mbp_complain("can't set LD_PRELOAD: %s", strerror(errno));
        status = MBP_EXIT_RUN_FAILED;
    }
    free(library);
    if (status == 0) {
        execvp(path, argv);
        status = exit_status_for(errno);
        mbp_complain("can't run %s: %s", path, strerror(errno));
    }
    return status;
}

int mbp_command_run(int argc, char **argv)
{
    const int first = read_options(argc, argv);
    if (first <= 0) {
        return first < 0 ? MBP_EXIT_RUN_FAILED : mbp_print_help();
    }
    char *path = mbp_program_find(argv[first]);
    if (!path) {
        const int error = errno;
        mbp_complain("can't run %s: %s", argv[first], reason(error));
        return exit_status_for(error);
    }
    const int status = execute(path, argv + first);
    free(path);
    return status;
}
