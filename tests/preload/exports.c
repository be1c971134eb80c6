/*
 * The library's outside: it exports its hooks and nothing else, and needs no
 * driver.
 */
#include "shim/hooks.h"
#include "tests/support/run.h"

#include <criterion/criterion.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#define X(name, type) #name,
static const char *const hooks[] = {MBP_HOOKS(X)};
#undef X

enum { HOOK_COUNT = sizeof hooks / sizeof hooks[0] };

/* A tool's output about the library; free it. */
static char *ask(const char *tool, const char *option, const char *other)
{
    char *library = run_built("libmongobp.so");
    struct run_result result =
        run_command((const char *const[]){tool, option, library, other, NULL},
            ENVIRONMENT("LC_ALL=C", "LD_PRELOAD"));
    cr_assert_eq(result.status, 0, "%s: %s", tool, result.err);
    free(library);
    free(result.err);
    return result.out;
}

static bool is_hook(const char *symbol)
{
    for (int i = 0; i < HOOK_COUNT; i++) {
        if (strcmp(symbol, hooks[i]) == 0) {
            return true;
        }
    }
    return false;
}

Test(exports, nothing_but_the_hooks)
{
    char *output = ask("nm", "-D", "--defined-only");
    char *rest = NULL;
    int count = 0;
    for (char *line = strtok_r(output, "\n", &rest); line; line = strtok_r(NULL, "\n", &rest)) {
        char *symbol = strrchr(line, ' ') + 1;
        symbol[strcspn(symbol, "@")] = '\0';
        cr_expect(is_hook(symbol), "%s is exported", symbol);
        count++;
    }
    cr_expect_eq(count, HOOK_COUNT, "%d names, not %d", count, HOOK_COUNT);
    free(output);
}

Test(exports, no_driver_is_needed)
{
    char *output = ask("readelf", "-d", NULL);
    cr_expect(strstr(output, "(NEEDED)"));
    cr_expect(!strstr(output, "mongoc") && !strstr(output, "bson"), "%s", output);
    free(output);
}
