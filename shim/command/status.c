/*
 * mongobp status: what is in a bucket, what was counted, who is attached.
 */
#include "status.h"

#include "command.h"
#include "common/settings.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

struct options {
    struct mbp_settings settings; /* for the bucket's name */
    bool json;
    bool help;
};

const char *mbp_status_format_thousandths(char text[MBP_AMOUNT_SIZE], uint64_t amount)
{
    int length = snprintf(
        text, MBP_AMOUNT_SIZE, "%" PRIu64 ".%03u", amount / 1000, (unsigned)(amount % 1000));
    while (text[length - 1] == '0') {
        text[--length] = '\0';
    }
    if (text[length - 1] == '.') {
        text[length - 1] = '\0';
    }
    return text;
}

uint64_t mbp_status_refused(const uint64_t counters[MBP_COUNTER_COUNT])
{
    static const char prefix[] = "refused_";
    uint64_t sum = 0;
    for (int i = 0; i < MBP_COUNTER_COUNT; i++) {
        if (strncmp(mbp_counter_infos[i].name, prefix, sizeof prefix - 1) == 0) {
            sum += counters[i];
        }
    }
    return sum;
}

/* False where the slot changed hands meanwhile: what was read is of two owners. */
static bool read_process(const struct mbp_slot *slot, struct mbp_status_process *process)
{
    const uint64_t owner = slot->owner;
    *process = (struct mbp_status_process){
        .pid = mbp_slot_pid(slot),
        .attached_at_ms = slot->attached_at_ms,
    };
    memcpy(process->program, slot->program, sizeof slot->program);
    memcpy(process->driver_version, slot->driver_version, sizeof slot->driver_version);
    for (int i = 0; i < MBP_COUNTER_COUNT; i++) {
        process->counters[i] = mbp_slot_own_count(slot, (enum mbp_counter)i);
    }
    return slot->owner == owner;
}

static void read_processes(const struct mbp_segment *segment, struct mbp_status *status)
{
    const struct mbp_identity self = mbp_identity_of_self();
    for (uint32_t i = 0; i < status->slots_used; i++) {
        const struct mbp_slot *slot = &segment->layout->slots[i];
        switch (mbp_slot_liveness(slot, &self)) {
        case MBP_SLOT_LIVE:
            if (read_process(slot, &status->processes[status->process_count])) {
                status->process_count++;
            }
            break;
        case MBP_SLOT_ELSEWHERE:
            status->elsewhere++;
            break;
        case MBP_SLOT_FREE:
        case MBP_SLOT_DEAD:
            break;
        }
    }
}

static void read_status(
    const struct mbp_segment *segment, const char *bucket, struct mbp_status *status)
{
    const struct mbp_layout *layout = segment->layout;
    const uint32_t used = layout->slots_used;
    status->bucket = bucket;
    status->tokens = mbp_bucket_balance(&layout->bucket);
    status->capacity = mbp_bucket_capacity(&layout->bucket);
    status->created_at_ms = layout->created_at_ms;
    status->slot_count = segment->slot_count;
    status->slots_used = used < segment->slot_count ? used : segment->slot_count;
    mbp_slots_totals(segment, status->totals);
    read_processes(segment, status);
}

static void complain(const char *complaint)
{
    mbp_complain("%s", complaint);
}

static bool read_options(int argc, char **argv, struct options *options)
{
    char expected[MBP_EXPECTED_SIZE];
    for (int i = 1; i < argc; i++) {
        const char *bucket = NULL;
        if (strcmp(argv[i], "--json") == 0) {
            options->json = true;
        } else if (strcmp(argv[i], "--help") == 0 || strcmp(argv[i], "-h") == 0) {
            options->help = true;
        } else if (strncmp(argv[i], "--bucket=", 9) == 0) {
            bucket = argv[i] + 9;
        } else if (strcmp(argv[i], "--bucket") == 0) {
            bucket = i + 1 < argc ? argv[++i] : "";
        } else {
            mbp_complain("status: unknown option %s", argv[i]);
            return false;
        }
        if (bucket && !mbp_settings_parse(&options->settings, MBP_SET_BUCKET, bucket, expected)) {
            mbp_complain("--bucket \"%s\" is not %s", bucket, expected);
            return false;
        }
    }
    return true;
}

static int show(const char *bucket, bool json)
{
    /* Not on the stack: with room for all slots it is a megabyte or so. */
    static struct mbp_status status;
    struct mbp_segment segment;
    char name[MBP_SEGMENT_NAME_SIZE];
    char fault[MBP_FAULT_SIZE];
    bool exists;
    mbp_segment_name(name, geteuid(), bucket);
    if (!mbp_segment_open_readonly(&segment, name, &exists, fault)) {
        if (exists) {
            mbp_complain("shared memory %s of bucket %s can't be used: %s", name, bucket, fault);
        } else {
            mbp_complain("no process has used the bucket %s yet (there is no shared memory %s)",
                bucket, name);
        }
        return MBP_EXIT_FAILURE;
    }
    read_status(&segment, bucket, &status);
    if (json) {
        mbp_status_print_json(&status);
    } else {
        mbp_status_print_text(&status);
    }
    return mbp_finish_output();
}

int mbp_command_status(int argc, char **argv)
{
    struct options options = {.json = false};
    mbp_settings_read_own(&options.settings, complain);
    if (!read_options(argc, argv, &options)) {
        return mbp_usage_error(MBP_EXIT_USAGE);
    }
    return options.help ? mbp_print_help() : show(options.settings.bucket, options.json);
}
