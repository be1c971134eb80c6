#include "jitter.h"

#include <sys/random.h>
#include <time.h>
#include <unistd.h>

/* SplitMix64: a Weyl sequence, hashed. Adding to the counter is all the shared
 * state there is, which is what makes it safe for threads. */
#define WEYL_STEP 0x9e3779b97f4a7c15u

static uint64_t mix(uint64_t z)
{
    z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9u;
    z = (z ^ (z >> 27)) * 0x94d049bb133111ebu;
    return z ^ (z >> 31);
}

static double next_unit(void *state)
{
    struct mbp_random *random = state;
    const uint64_t drawn =
        mix(atomic_fetch_add_explicit(&random->counter, WEYL_STEP, memory_order_relaxed));
    return (double)(drawn >> 11) * 0x1.0p-53;
}

void mbp_random_seed(struct mbp_random *random, uint64_t seed)
{
    atomic_store_explicit(&random->counter, seed, memory_order_relaxed);
}

void mbp_random_seed_from_system(struct mbp_random *random)
{
    uint64_t seed = 0;
    /* Without GRND_NONBLOCK a program started early at boot could hang here. */
    if (getrandom(&seed, sizeof seed, GRND_NONBLOCK) != (ssize_t)sizeof seed) {
        struct timespec now = {0};
        clock_gettime(CLOCK_MONOTONIC, &now);
        seed = mix((uint64_t)now.tv_nsec ^ (uint64_t)now.tv_sec << 30 ^ (uint64_t)getpid() << 48 ^
                   (uint64_t)(uintptr_t)random);
    }
    mbp_random_seed(random, seed);
}

struct mbp_jitter mbp_random_jitter(struct mbp_random *random)
{
    return (struct mbp_jitter){.next = next_unit, .state = random};
}
