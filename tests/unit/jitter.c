#include "common/jitter.h"

#include <criterion/criterion.h>
#include <pthread.h>
#include <stdlib.h>

#define DRAWS 10000

static double draw(struct mbp_random *random)
{
    const struct mbp_jitter jitter = mbp_random_jitter(random);
    return jitter.next(jitter.state);
}

Test(jitter, stays_within_its_range_and_fills_it)
{
    struct mbp_random random;
    unsigned tenths[10] = {0};
    mbp_random_seed(&random, 1);
    for (int i = 0; i < DRAWS; i++) {
        const double unit = draw(&random);
        cr_assert(unit >= 0 && unit < 1, "%g", unit);
        tenths[(int)(unit * 10)]++;
    }
    /* The seed is fixed, so this is no gamble: each tenth gets its share. */
    for (int i = 0; i < 10; i++) {
        cr_expect(tenths[i] > 850 && tenths[i] < 1150, "%u draws in tenth %d", tenths[i], i);
    }
}

Test(jitter, a_seed_gives_one_sequence_and_another_seed_another)
{
    struct mbp_random one, same, other;
    mbp_random_seed(&one, 42);
    mbp_random_seed(&same, 42);
    mbp_random_seed(&other, 43);
    for (int i = 0; i < 100; i++) {
        const double unit = draw(&one);
        cr_expect_eq(unit, draw(&same));
        cr_expect_neq(unit, draw(&other));
    }
}

Test(jitter, two_seeds_from_the_system_differ)
{
    struct mbp_random one = {0}, other = {0};
    mbp_random_seed_from_system(&one);
    mbp_random_seed_from_system(&other);
    cr_expect_neq(draw(&one), draw(&other));
}

struct drawer {
    pthread_t thread;
    struct mbp_random *random;
    double drawn[DRAWS];
};

static void *draw_many(void *argument)
{
    struct drawer *drawer = argument;
    for (int i = 0; i < DRAWS; i++) {
        drawer->drawn[i] = draw(drawer->random);
    }
    return NULL;
}

static int compare(const void *a, const void *b)
{
    const double *left = a, *right = b;
    return (*left > *right) - (*left < *right);
}

/* Threads that drew the same number would wait in step. */
Test(jitter, threads_never_draw_the_same_number)
{
    enum { THREADS = 4 };
    static struct drawer drawers[THREADS];
    static double all[THREADS * DRAWS];
    struct mbp_random random;
    mbp_random_seed(&random, 7);
    for (int i = 0; i < THREADS; i++) {
        drawers[i].random = &random;
        cr_assert_eq(pthread_create(&drawers[i].thread, NULL, draw_many, &drawers[i]), 0);
    }
    for (int i = 0; i < THREADS; i++) {
        pthread_join(drawers[i].thread, NULL);
        for (int j = 0; j < DRAWS; j++) {
            all[i * DRAWS + j] = drawers[i].drawn[j];
        }
    }
    qsort(all, THREADS * DRAWS, sizeof all[0], compare);
    for (int i = 1; i < THREADS * DRAWS; i++) {
        cr_assert_neq(all[i - 1], all[i], "%.17g twice", all[i]);
    }
}
