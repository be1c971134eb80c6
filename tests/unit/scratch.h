/*
 * A segment name of the test's own, made of process and test, and removed when
 * the test ends, even by a crash.
 */
#ifndef MBP_TEST_SCRATCH_H
#define MBP_TEST_SCRATCH_H

#include "common/segment.h"

extern char scratch_bucket[MBP_BUCKET_NAME_MAX + 1];  /* for MONGOBP_BUCKET */
extern char scratch_segment[MBP_SEGMENT_NAME_SIZE];   /* for shm_open */
extern char scratch_path[MBP_SEGMENT_NAME_SIZE + 16]; /* the same as a file */

/* For .init and .fini of a test. */
void scratch_begin(void);
void scratch_end(void);

/* Opens the segment's file as it is, making it if there is none. */
int scratch_open(void);

/* The same of full size, mapped without a look at its content; all zero if
 * it was made by this call. */
struct mbp_layout *scratch_map(void);

#endif
