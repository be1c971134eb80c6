/*
 * mongobp status, called as a user would, on segments made here.
 */
#include "common/slots.h"
#include "tests/support/run.h"

#include <criterion/criterion.h>
#include <ctype.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

static char bucket[64];
static char name[MBP_SEGMENT_NAME_SIZE];

static void set_up(void)
{
    snprintf(bucket, sizeof bucket, "test-status-%ld", (long)getpid());
    mbp_segment_name(name, geteuid(), bucket);
}

static void tear_down(void)
{
    shm_unlink(name);
}

TestSuite(command_status, .init = set_up, .fini = tear_down);

static struct mbp_segment attach(void)
{
    struct mbp_segment segment;
    char fault[MBP_FAULT_SIZE];
    cr_assert(mbp_segment_attach(&segment, name, 1000 * MBP_TOKEN, fault), "%s", fault);
    return segment;
}

static struct mbp_slot *take_slot(struct mbp_segment *segment, const char *program)
{
    struct mbp_identity self = mbp_identity_of_self();
    self.program = program;
    return mbp_slot_take(segment, &self);
}

/* The output of a status that has to succeed; free it. */
static char *status(const char *option)
{
    struct run_result result = RUN_MONGOBP("status", "--bucket", bucket, option);
    cr_assert_eq(result.status, 0, "%s", result.err);
    cr_expect_str_empty(result.err);
    free(result.err);
    return result.out;
}

static void expect_in(const char *output, const char *part)
{
    cr_expect(strstr(output, part), "\"%s\" is not in: %s", part, output);
}

static void expect_failure(struct run_result result, int code, const char *message)
{
    cr_expect_eq(result.status, code, "status %d: %s", result.status, result.err);
    cr_expect_str_empty(result.out);
    expect_in(result.err, message);
    run_result_free(&result);
}

/* ---- is it JSON? -------------------------------------------------------------------------- */

static const char *skip_value(const char *at);

static const char *skip_blanks(const char *at)
{
    return at + strspn(at, " \t\r\n");
}

static const char *skip_string(const char *at)
{
    if (*at++ != '"') {
        return NULL;
    }
    for (; *at != '"'; at++) {
        if ((unsigned char)*at < ' ') { /* the end of the text, too */
            return NULL;
        }
        if (*at == '\\') {
            at++;
            if (*at == 'u') {
                for (int i = 0; i < 4; i++) {
                    if (!isxdigit((unsigned char)*++at)) {
                        return NULL;
                    }
                }
            } else if (!*at || !strchr("\"\\/bfnrt", *at)) {
                return NULL;
            }
        }
    }
    return at + 1;
}

static const char *skip_digits(const char *at)
{
    const size_t length = strspn(at, "0123456789");
    return length > 0 ? at + length : NULL;
}

static const char *skip_number(const char *at)
{
    at += *at == '-';
    if (at[0] == '0' && isdigit((unsigned char)at[1])) {
        return NULL;
    }
    at = skip_digits(at);
    return at && *at == '.' ? skip_digits(at + 1) : at;
}

/* An object or an array. */
static const char *skip_members(const char *at, bool with_names, char end)
{
    at = skip_blanks(at + 1);
    if (*at == end) {
        return at + 1;
    }
    for (;; at++) {
        if (with_names) {
            at = skip_string(skip_blanks(at));
            at = at ? skip_blanks(at) : NULL;
            if (!at || *at++ != ':') {
                return NULL;
            }
        }
        at = skip_value(at);
        at = at ? skip_blanks(at) : NULL;
        if (!at || *at != ',') {
            return at && *at == end ? at + 1 : NULL;
        }
    }
}

/* Behind the value that the text begins with; NULL where it begins with none. */
static const char *skip_value(const char *at)
{
    static const char *const words[] = {"null", "true", "false"};
    at = skip_blanks(at);
    for (unsigned i = 0; i < sizeof words / sizeof words[0]; i++) {
        if (strncmp(at, words[i], strlen(words[i])) == 0) {
            return at + strlen(words[i]);
        }
    }
    switch (*at) {
    case '{':
        return skip_members(at, true, '}');
    case '[':
        return skip_members(at, false, ']');
    case '"':
        return skip_string(at);
    default:
        return skip_number(at);
    }
}

static bool is_json(const char *text)
{
    const char *end = skip_value(text);
    return end && *skip_blanks(end) == '\0';
}

Test(command_status, the_json_check_itself)
{
    cr_expect(is_json("{\"a\":[1,-2.5,\"x\\\"\\u001f\",null,{}],\"b\":true}\n"));
    cr_expect(!is_json("{\"a\":1,}"));
    cr_expect(!is_json("{\"a\":01}"));
    cr_expect(!is_json("{\"a\":\"\x01\"}"));
    cr_expect(!is_json("{\"a\":\"\\x\"}"));
    cr_expect(!is_json("{\"a\":\"b}"));
    cr_expect(!is_json("{} x"));
    cr_expect(!is_json(""));
}

/* ---- what it shows ------------------------------------------------------------------------ */

Test(command_status, tokens_counters_and_processes)
{
    struct mbp_segment segment = attach();
    struct mbp_slot *slot = take_slot(&segment, "importer");
    char pid[32];
    mbp_slot_set_driver(slot, "1.23.2");
    mbp_slot_count(slot, MBP_COUNT_operations, 4711);
    mbp_slot_count(slot, MBP_COUNT_backoff_ms, 350);
    mbp_slot_count(slot, MBP_COUNT_tokens_deposited, 12340);
    mbp_slot_count(slot, MBP_COUNT_refused_budget, 300);
    mbp_slot_count(slot, MBP_COUNT_refused_attempts, 33);
    mbp_bucket_consume(&segment.layout->bucket, 12 * MBP_TOKEN + 300);
    snprintf(pid, sizeof pid, "%ld", (long)getpid());

    char *text = status(NULL);
    expect_in(text, bucket);
    expect_in(text, ": 987.7 of 1000 tokens\n");
    for (int i = 0; i < MBP_COUNTER_COUNT; i++) {
        expect_in(text, mbp_counter_infos[i].name);
        expect_in(text, mbp_counter_infos[i].meaning);
    }
    expect_in(text, " 350 ms ");
    expect_in(text, " 12.34 tokens ");
    expect_in(text, "1 process attached, 1 of 4096 slots used\n");
    const char *row = strstr(text, pid);
    cr_assert(row, "%s", text);
    expect_in(row, "importer");
    expect_in(row, "1.23.2");
    expect_in(row, " 4711 ");
    expect_in(row, " 333\n");
    free(text);
}

Test(command_status, json)
{
    struct mbp_segment segment = attach();
    struct mbp_slot *slot = take_slot(&segment, "importer");
    char part[128];
    mbp_slot_count(slot, MBP_COUNT_operations, 4711);
    mbp_slot_count(slot, MBP_COUNT_tokens_consumed, 1100);
    mbp_bucket_consume(&segment.layout->bucket, 1);

    char *text = status("--json");
    cr_expect(is_json(text), "%s", text);
    snprintf(part, sizeof part, "{\"bucket\":\"%s\",\"tokens\":999.999,\"capacity\":1000,", bucket);
    expect_in(text, part);
    for (int i = 0; i < MBP_COUNTER_COUNT; i++) {
        snprintf(part, sizeof part, "\"%s\":", mbp_counter_infos[i].name);
        expect_in(text, part);
    }
    expect_in(text, "\"operations\":4711,");
    expect_in(text, "\"tokens_consumed\":1.1");
    snprintf(
        part, sizeof part, "\"processes\":[{\"pid\":%ld,\"program\":\"importer\",", (long)getpid());
    expect_in(text, part);
    expect_in(text, "\"driver\":null,");
    free(text);
}

/* A name is chosen by whoever runs a program, not by us. */
Test(command_status, hostile_program_name)
{
    struct mbp_segment segment = attach();
    take_slot(&segment, "a\"b\\c\n\x1b[2J\xc3\xa4\xff\xed\xa0\x80\x9b\xc3");

    char *text = status(NULL);
    expect_in(text, "a\"b\\c??[2J????????");
    cr_expect(!strstr(text, "\x1b") && !strstr(text, "\x9b"));
    free(text);

    text = status("--json");
    cr_expect(is_json(text), "%s", text);
    expect_in(text, "\"program\":\"a\\\"b\\\\c\\u000a\\u001b[2J\xc3\xa4\\ufffd\\ufffd\\ufffd\\ufffd"
                    "\\ufffd\\ufffd\",");
    free(text);
}

/* A name that fills its field has no NUL after it. */
Test(command_status, names_without_an_end)
{
    struct mbp_segment segment = attach();
    struct mbp_slot *slot = take_slot(&segment, "x");
    memset(slot->program, 'p', sizeof slot->program);
    memset(slot->driver_version, 'v', sizeof slot->driver_version);
    char *text = status("--json");
    expect_in(text, "\"program\":\"pppppppppppppppppppppppppppppppp\",");
    expect_in(text, "\"driver\":\"vvvvvvvvvvvvvvvvvvvvvvvv\",");
    free(text);
}

Test(command_status, the_dead_are_counted_and_not_listed)
{
    struct mbp_segment segment = attach();
    const pid_t child = fork();
    if (child == 0) {
        mbp_slot_count(take_slot(&segment, "ghost"), MBP_COUNT_operations, 77);
        _exit(0);
    }
    cr_assert(waitpid(child, NULL, 0) == child);
    char *text = status(NULL);
    expect_in(text, "0 processes attached, 1 of 4096 slots used\n");
    expect_in(text, " 77 ");
    cr_expect(!strstr(text, "ghost"), "%s", text);
    free(text);
    text = status("--json");
    cr_expect(is_json(text), "%s", text);
    expect_in(text, "\"processes\":[]");
    free(text);
}

Test(command_status, processes_of_other_namespaces)
{
    struct mbp_segment segment = attach();
    struct mbp_slot *slot = take_slot(&segment, "far");
    slot->owner ^= UINT64_C(1) << 22; /* the first bit of the namespace */
    char *text = status(NULL);
    expect_in(text, "0 processes attached, 1 of 4096 slots used; 1 process elsewhere");
    free(text);
}

Test(command_status, bucket_of_the_environment)
{
    char variable[96];
    attach();
    snprintf(variable, sizeof variable, "MONGOBP_BUCKET=%s", bucket);
    struct run_result result = run_mongobp(ENVIRONMENT("status"), ENVIRONMENT(variable));
    cr_expect_eq(result.status, 0, "%s", result.err);
    expect_in(result.out, bucket);
    run_result_free(&result);
}

Test(command_status, output_that_can_not_be_written)
{
    attach();
    char *command = run_built("mongobp");
    struct run_result result =
        RUN("sh", "-c", "\"$0\" status --bucket \"$1\" >/dev/full", command, bucket);
    cr_expect_eq(result.status, 1);
    expect_in(result.err, "can't write to standard output");
    run_result_free(&result);
    free(command);
}

/* ---- what it must not do ------------------------------------------------------------------ */

Test(command_status, the_segment_stays_as_it_was)
{
    struct mbp_segment segment = attach();
    mbp_slot_count(take_slot(&segment, "x"), MBP_COUNT_operations, 5);
    mbp_bucket_consume(&segment.layout->bucket, 5 * MBP_TOKEN);
    const size_t size = sizeof *segment.layout;
    const void *bytes = segment.layout;
    void *before = malloc(size);
    cr_assert(before);
    memcpy(before, bytes, size);
    free(status(NULL));
    free(status("--json"));
    cr_expect(memcmp(before, bytes, size) == 0);
    free(before);
}

Test(command_status, no_segment)
{
    char message[128];
    snprintf(message, sizeof message, "no process has used the bucket %s yet", bucket);
    expect_failure(RUN_MONGOBP("status", "--bucket", bucket), 1, message);
    expect_failure(RUN_MONGOBP("status", "--json", "--bucket", bucket), 1, message);
    cr_expect(shm_open(name, O_RDONLY, 0) < 0, "status made a segment");
}

Test(command_status, damaged_segment)
{
    struct mbp_segment segment = attach();
    segment.layout->slots_used = MBP_SLOT_COUNT + 1;
    expect_failure(RUN_MONGOBP("status", "--bucket", bucket), 1, "it is damaged");
    segment.layout->slots_used = 0;
    segment.layout->ready = 1;
    expect_failure(RUN_MONGOBP("status", "--bucket", bucket), 1, "not a segment of mongobp");
}

Test(command_status, segment_of_another_size)
{
    const int fd = shm_open(name, O_RDWR | O_CREAT, 0600);
    cr_assert(fd >= 0);
    expect_failure(RUN_MONGOBP("status", "--bucket", bucket), 1, "it is empty");
    cr_assert(ftruncate(fd, 100) == 0);
    expect_failure(RUN_MONGOBP("status", "--bucket", bucket), 1, "its size is 100");
    close(fd);
}

Test(command_status, segment_that_others_may_use)
{
    attach();
    const int fd = shm_open(name, O_RDWR, 0);
    cr_assert(fd >= 0 && fchmod(fd, 0666) == 0);
    close(fd);
    expect_failure(RUN_MONGOBP("status", "--bucket", bucket), 1, "mode 666");
}

Test(command_status, wrong_calls)
{
    expect_failure(RUN_MONGOBP("status", "--nonsense"), 2, "unknown option --nonsense");
    expect_failure(RUN_MONGOBP("status", "x"), 2, "Usage: mongobp");
    expect_failure(RUN_MONGOBP("status", "--bucket", "a/b"), 2, "--bucket \"a/b\" is not");
    expect_failure(RUN_MONGOBP("status", "--bucket"), 2, "--bucket \"\" is not");
}
