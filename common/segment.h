/*
 * The mapping of the shared memory: found or made, checked, or replaced by a
 * private one.
 *
 * There is no creator: a new segment is all zeros, and every process that
 * finds it so writes the same constants, fills the bucket by compare-and-swap
 * from zero, and stores the ready word last. Whoever is killed half-way, the
 * next one just goes through the same steps.
 */
#ifndef MBP_SEGMENT_H
#define MBP_SEGMENT_H

#include "layout.h"

#include <stdbool.h>
#include <sys/types.h>

#define MBP_BUCKET_NAME_MAX 64
#define MBP_SEGMENT_NAME_SIZE (MBP_BUCKET_NAME_MAX + 48)
#define MBP_FAULT_SIZE 192

struct mbp_segment {
    struct mbp_layout *layout; /* stays mapped as long as the process lives */
    uint32_t slot_count;       /* 0: all share the overflow slot */
    bool is_private;
};

/* Writes the name for shm_open: by user, layout version and bucket. */
void mbp_segment_name(char name[MBP_SEGMENT_NAME_SIZE], uid_t uid, const char *bucket);

/* Attaches to the named segment, making it if there is none. On false, `fault`
 * says in one phrase what is wrong, and nothing stays open or mapped. */
bool mbp_segment_attach(struct mbp_segment *segment, const char *name, mbp_millitokens capacity,
    char fault[MBP_FAULT_SIZE]);

/* The same for a reader: maps read-only and makes nothing. `*exists` tells a
 * segment that isn't there from one that is no good. */
bool mbp_segment_open_readonly(
    struct mbp_segment *segment, const char *name, bool *exists, char fault[MBP_FAULT_SIZE]);

/* What is used when sharing fails: memory of this process and the children it
 * forks. Can't fail. */
void mbp_segment_make_private(struct mbp_segment *segment, mbp_millitokens capacity);

#endif
