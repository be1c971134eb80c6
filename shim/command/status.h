/*
 * What `mongobp status` knows of a bucket: taken from the shared memory at one
 * go, then printed for people or for programs.
 */
#ifndef MBP_STATUS_H
#define MBP_STATUS_H

#include "common/slots.h"

struct mbp_status_process {
    pid_t pid;
    uint64_t attached_at_ms;
    char program[MBP_PROGRAM_SIZE + 1]; /* any bytes: whoever it is chose them */
    char driver_version[MBP_VERSION_SIZE + 1];
    uint64_t counters[MBP_COUNTER_COUNT]; /* its own */
};

struct mbp_status {
    const char *bucket;
    mbp_millitokens tokens;
    mbp_millitokens capacity;
    uint64_t created_at_ms;
    uint64_t totals[MBP_COUNTER_COUNT];
    uint32_t slots_used;
    uint32_t slot_count;
    uint32_t elsewhere; /* processes of other pid namespaces */
    uint32_t process_count;
    struct mbp_status_process processes[MBP_SLOT_COUNT];
};

void mbp_status_print_text(const struct mbp_status *status);

void mbp_status_print_json(const struct mbp_status *status);

#define MBP_AMOUNT_SIZE 32

/* Writes thousandths as a decimal number with no more places than it takes. */
const char *mbp_status_format_thousandths(char text[MBP_AMOUNT_SIZE], uint64_t amount);

/* All refusals, whatever the cause. */
uint64_t mbp_status_refused(const uint64_t counters[MBP_COUNTER_COUNT]);

#endif
