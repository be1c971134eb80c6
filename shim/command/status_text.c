#include "status.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <time.h>

/* Names come from shared memory: nothing in them may reach the terminal as a
 * control sequence or shift the table. */
static const char *printable(char *text)
{
    for (char *c = text; *c; c++) {
        if (*c < ' ' || *c > '~') { /* also where char is signed and it is not ASCII */
            *c = '?';
        }
    }
    return text[0] ? text : "-";
}

static const char *format_time(char text[32], uint64_t since_1970_ms)
{
    const time_t seconds = (time_t)(since_1970_ms / 1000);
    struct tm parts;
    if (!localtime_r(&seconds, &parts) || strftime(text, 32, "%Y-%m-%d %H:%M:%S", &parts) == 0) {
        snprintf(text, 32, "-");
    }
    return text;
}

static const char *plural(uint64_t count)
{
    return count == 1 ? "" : "es";
}

static const char *format_counter(
    char text[MBP_AMOUNT_SIZE + 8], enum mbp_unit unit, uint64_t value)
{
    char amount[MBP_AMOUNT_SIZE];
    switch (unit) {
    case MBP_UNIT_tokens:
        snprintf(
            text, MBP_AMOUNT_SIZE + 8, "%s tokens", mbp_status_format_thousandths(amount, value));
        break;
    case MBP_UNIT_milliseconds:
        snprintf(text, MBP_AMOUNT_SIZE + 8, "%" PRIu64 " ms", value);
        break;
    case MBP_UNIT_count:
        snprintf(text, MBP_AMOUNT_SIZE + 8, "%" PRIu64, value);
        break;
    }
    return text;
}

static void print_counters(const struct mbp_status *status)
{
    for (int i = 0; i < MBP_COUNTER_COUNT; i++) {
        char value[MBP_AMOUNT_SIZE + 8];
        printf("  %-22s %-16s %s\n", mbp_counter_infos[i].name,
            format_counter(value, mbp_counter_infos[i].unit, status->totals[i]),
            mbp_counter_infos[i].meaning);
    }
}

static void print_processes(const struct mbp_status *status)
{
    static const char columns[] = "  %7s  %-16s %-10s %-19s %10s %10s %10s %10s\n";
    static const char row[] =
        "  %7ld  %-16s %-10s %-19s %10" PRIu64 " %10" PRIu64 " %10" PRIu64 " %10" PRIu64 "\n";
    printf("\n");
    printf(columns, "PID", "PROGRAM", "DRIVER", "ATTACHED SINCE", "OPERATIONS", "RETRIES",
        "SUCCEEDED", "REFUSED");
    for (uint32_t i = 0; i < status->process_count; i++) {
        struct mbp_status_process process = status->processes[i];
        char since[32];
        printf(row, (long)process.pid, printable(process.program),
            printable(process.driver_version), format_time(since, process.attached_at_ms),
            process.counters[MBP_COUNT_operations], process.counters[MBP_COUNT_retries],
            process.counters[MBP_COUNT_retry_successes], mbp_status_refused(process.counters));
    }
}

void mbp_status_print_text(const struct mbp_status *status)
{
    char tokens[MBP_AMOUNT_SIZE];
    char capacity[MBP_AMOUNT_SIZE];
    printf("bucket %s: %s of %s tokens\n\n", status->bucket,
        mbp_status_format_thousandths(tokens, status->tokens),
        mbp_status_format_thousandths(capacity, status->capacity));
    print_counters(status);
    printf("\n%" PRIu32 " process%s attached, %" PRIu32 " of %" PRIu32 " slots used",
        status->process_count, plural(status->process_count), status->slots_used,
        status->slot_count);
    if (status->elsewhere > 0) {
        printf("; %" PRIu32 " process%s elsewhere (in other pid namespaces)", status->elsewhere,
            plural(status->elsewhere));
    }
    printf("\n");
    if (status->process_count > 0) {
        print_processes(status);
    }
}
