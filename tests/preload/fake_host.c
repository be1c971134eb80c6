#include "fake_host.h"

#include "common/slots.h"

#include <criterion/criterion.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

enum { MOST_ACTIONS = 32 };

const char *fake_linked = "tests/bin/host_linked";
const char *fake_dlopen = "tests/bin/host_dlopen";

static char segment_name[MBP_SEGMENT_NAME_SIZE];
static char segment_path[MBP_SEGMENT_NAME_SIZE + 16];
static struct run_result result;

void fake_setenv(const char *name, const char *value)
{
    cr_assert_eq(setenv(name, value, 1), 0);
}

void fake_begin(void)
{
    char bucket[MBP_BUCKET_NAME_MAX + 1];
    char *library = run_built("libmongobp.so");
    char *preload = run_preload(library);
    snprintf(bucket, sizeof bucket, "test-fake-%ld", (long)getpid());
    mbp_segment_name(segment_name, geteuid(), bucket);
    snprintf(segment_path, sizeof segment_path, "/dev/shm%s", segment_name);
    remove(segment_path);
    fake_setenv("MONGOBP_BUCKET", bucket);
    fake_setenv("MONGOBP_BASE_BACKOFF_MS", "1");
    /* Not for this process any more: it is read when a program starts. */
    fake_setenv("LD_PRELOAD", strchr(preload, '=') + 1);
    free(preload);
    free(library);
}

void fake_end(void)
{
    remove(segment_path);
    run_result_free(&result);
}

/* The action with a path for the word after '@'. */
static char *with_path(const char *action)
{
    const char *at = strchr(action, '@');
    char file[64];
    char *text;
    if (!at) {
        return strdup(action);
    }
    const bool is_library = strcmp(at, "@mongobp") == 0;
    snprintf(file, sizeof file, is_library ? "lib%s.so" : "tests/libmongoc-%s.so", at + 1);
    char *path = run_built(file);
    cr_assert_geq(asprintf(&text, "%.*s%s", (int)(at - action), action, path), 0);
    free(path);
    return text;
}

const char *fake_run_host(const char *program, const char *const actions[], const char *out)
{
    char *arguments[MOST_ACTIONS + 2] = {run_built(program)};
    for (unsigned i = 0; actions[i]; i++) {
        cr_assert_lt(i, MOST_ACTIONS);
        arguments[i + 1] = with_path(actions[i]);
    }
    run_result_free(&result);
    result = run_command((const char *const *)arguments, NULL);
    for (unsigned i = 0; arguments[i]; i++) {
        free(arguments[i]);
    }
    cr_expect_eq(result.status, 0, "status %d; standard error:\n%s", result.status, result.err);
    cr_expect_str_eq(result.out, out, "printed:\n%sexpected:\n%sstandard error:\n%s", result.out,
        out, result.err);
    return result.err;
}

void fake_expect(const char *program, const char *const actions[], const char *out)
{
    const char *err = fake_run_host(program, actions, out);
    cr_expect_str_empty(err, "standard error:\n%s", err);
}

void fake_expect_warning(
    const char *program, const char *const actions[], const char *out, const char *warning)
{
    const char *err = fake_run_host(program, actions, out);
    cr_expect_eq(fake_lines(err), 1, "standard error:\n%s", err);
    cr_expect(strncmp(err, "mongobp[host_", 13) == 0, "standard error:\n%s", err);
    cr_expect(strstr(err, "] warning: "), "standard error:\n%s", err);
    cr_expect(strstr(err, warning), "no '%s' in standard error:\n%s", warning, err);
}

unsigned fake_lines(const char *text)
{
    unsigned count = 0;
    for (; *text; text++) {
        count += *text == '\n';
        cr_expect(text[1] || *text == '\n', "the last line is torn");
    }
    return count;
}

struct mbp_segment fake_segment(void)
{
    static struct mbp_segment segment;
    char fault[MBP_FAULT_SIZE];
    bool exists;
    if (!segment.layout) {
        cr_assert(mbp_segment_open_readonly(&segment, segment_name, &exists, fault), "%s", fault);
    }
    return segment;
}

bool fake_has_segment(void)
{
    return access(segment_path, F_OK) == 0;
}

const char *fake_segment_path(void)
{
    return segment_path;
}

uint64_t fake_total(enum mbp_counter counter)
{
    const struct mbp_segment segment = fake_segment();
    uint64_t totals[MBP_COUNTER_COUNT];
    mbp_slots_totals(&segment, totals);
    return totals[counter];
}
