/*
 * Where the random factor of a delay comes from. A source is a function and
 * its state, so that a test or a simulation can hand in numbers of its own.
 */
#ifndef MBP_JITTER_H
#define MBP_JITTER_H

#include <stdatomic.h>
#include <stdint.h>

struct mbp_jitter {
    double (*next)(void *state); /* from 0 up to, not including, 1 */
    void *state;
};

/* The real source: one counter for all threads of a process, each draw a hash
 * of it. Lock-free; a forked child must be seeded anew, or it would wait just
 * as long as its parent. */
struct mbp_random {
    _Atomic uint64_t counter;
};

void mbp_random_seed(struct mbp_random *random, uint64_t seed);

/* Seeds from the kernel or, where that fails, from time, process and place. */
void mbp_random_seed_from_system(struct mbp_random *random);

struct mbp_jitter mbp_random_jitter(struct mbp_random *random);

#endif
