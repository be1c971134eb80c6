#include "command_support.h"

#include <criterion/criterion.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>

char *directory;

void command_begin(void)
{
    directory = run_make_directory();
}

void command_end(void)
{
    run_remove_directory(directory);
}

void expect(struct run_result result, int status, const char *out, const char *err)
{
    cr_expect_eq(result.status, status, "status %d, not %d; %s", result.status, status, result.err);
    cr_expect_str_eq(result.out, out);
    if (err) {
        cr_expect(strstr(result.err, err), "\"%s\" is not in: %s", err, result.err);
    } else {
        cr_expect_str_empty(result.err);
    }
    run_result_free(&result);
}

const char *in_directory(const char *name)
{
    static char paths[8][512];
    static unsigned next;
    char *path = paths[next++ % 8];
    snprintf(path, sizeof paths[0], "%s/%s", directory, name);
    return path;
}

const char *make_file(const char *name, const void *content, size_t size, mode_t mode)
{
    const char *path = in_directory(name);
    FILE *file = fopen(path, "w");
    cr_assert(file);
    fwrite(content, 1, size, file);
    cr_assert(fclose(file) == 0 && chmod(path, mode) == 0);
    return path;
}

const char *make_script(const char *name, const char *text)
{
    return make_file(name, text, strlen(text), 0755);
}

void shell(const char *command)
{
    struct run_result result =
        run_command((const char *const[]){"sh", "-ec", command, "sh", directory, NULL}, NULL);
    cr_assert_eq(result.status, 0, "%s: %s", command, result.err);
    run_result_free(&result);
}
