#include "status.h"

#include <inttypes.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>

/* The bytes of the UTF-8 character at the start of the text, or 0 where that is
 * none: JSON has to be UTF-8, and a name may be anything, or cut in half. */
static size_t utf8_length(const unsigned char *text)
{
    const unsigned char lead = text[0];
    const size_t length = lead < 0x80                    ? 1
                          : lead >= 0xc2 && lead <= 0xdf ? 2
                          : lead >= 0xe0 && lead <= 0xef ? 3
                          : lead >= 0xf0 && lead <= 0xf4 ? 4
                                                         : 0;
    for (size_t i = 1; i < length; i++) { /* the NUL at the end is no continuation */
        if ((text[i] & 0xc0) != 0x80) {
            return 0;
        }
    }
    const bool is_overlong = (lead == 0xe0 && text[1] < 0xa0) || (lead == 0xf0 && text[1] < 0x90);
    const bool is_surrogate = lead == 0xed && text[1] >= 0xa0;
    const bool is_too_high = lead == 0xf4 && text[1] >= 0x90;
    return is_overlong || is_surrogate || is_too_high ? 0 : length;
}

static void print_string(const char *string)
{
    const unsigned char *text = (const unsigned char *)string;
    putchar('"');
    while (*text) {
        const size_t length = utf8_length(text);
        if (length == 0) {
            fputs("\\ufffd", stdout);
            text++;
            continue;
        }
        if (*text == '"' || *text == '\\') {
            printf("\\%c", *text);
        } else if (*text < ' ' || *text == 0x7f) {
            printf("\\u%04x", *text);
        } else {
            fwrite(text, 1, length, stdout);
        }
        text += length;
    }
    putchar('"');
}

/* A text that may be unknown. */
static void print_string_or_null(const char *string)
{
    if (string[0]) {
        print_string(string);
    } else {
        fputs("null", stdout);
    }
}

static void print_amount(const char *name, uint64_t thousandths)
{
    char text[MBP_AMOUNT_SIZE];
    printf("\"%s\":%s", name, mbp_status_format_thousandths(text, thousandths));
}

static void print_counters(const uint64_t counters[MBP_COUNTER_COUNT])
{
    fputs("\"counters\":{", stdout);
    for (int i = 0; i < MBP_COUNTER_COUNT; i++) {
        const struct mbp_counter_info *info = &mbp_counter_infos[i];
        if (i > 0) {
            putchar(',');
        }
        if (info->unit == MBP_UNIT_tokens) {
            print_amount(info->name, counters[i]);
        } else {
            printf("\"%s\":%" PRIu64, info->name, counters[i]);
        }
    }
    putchar('}');
}

static void print_process(const struct mbp_status_process *process)
{
    printf("{\"pid\":%ld,\"program\":", (long)process->pid);
    print_string(process->program);
    fputs(",\"driver\":", stdout);
    print_string_or_null(process->driver_version);
    printf(",\"attached_at_ms\":%" PRIu64 ",", process->attached_at_ms);
    print_counters(process->counters);
    putchar('}');
}

void mbp_status_print_json(const struct mbp_status *status)
{
    fputs("{\"bucket\":", stdout);
    print_string(status->bucket);
    putchar(',');
    print_amount("tokens", status->tokens);
    putchar(',');
    print_amount("capacity", status->capacity);
    printf(",\"created_at_ms\":%" PRIu64 ",", status->created_at_ms);
    print_counters(status->totals);
    printf(",\"slots\":{\"used\":%" PRIu32 ",\"count\":%" PRIu32 "},\"elsewhere\":%" PRIu32,
        status->slots_used, status->slot_count, status->elsewhere);
    fputs(",\"processes\":[", stdout);
    for (uint32_t i = 0; i < status->process_count; i++) {
        if (i > 0) {
            putchar(',');
        }
        print_process(&status->processes[i]);
    }
    puts("]}");
}
