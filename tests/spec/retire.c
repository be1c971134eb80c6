#include "tests/spec/retire.h"

#include <stdlib.h>

/* So many at a time: each holds connections to the server. */
enum { MOST = 8 };

struct retirement {
    pthread_t thread;
    mongoc_client_pool_t *pool;
    struct recorder *recorder;
};

/* A ring: the oldest is the next to be waited for. */
static struct {
    struct retirement slots[MOST];
    unsigned oldest, count;
} ring;

static void destroy(const struct retirement *retirement)
{
    mongoc_client_pool_destroy(retirement->pool);
    recorder_free(retirement->recorder);
}

static void *run(void *retirement)
{
    destroy(retirement);
    return NULL;
}

static void wait_for_oldest(void)
{
    pthread_join(ring.slots[ring.oldest].thread, NULL);
    ring.oldest = (ring.oldest + 1) % MOST;
    ring.count--;
}

void retire(mongoc_client_pool_t *pool, struct recorder *recorder)
{
    if (ring.count == MOST) {
        wait_for_oldest();
    }
    struct retirement *slot = &ring.slots[(ring.oldest + ring.count) % MOST];
    *slot = (struct retirement){.pool = pool, .recorder = recorder};
    if (pthread_create(&slot->thread, NULL, run, slot) == 0) {
        ring.count++;
    } else {
        destroy(slot);
    }
}

void retire_wait(void)
{
    while (ring.count > 0) {
        wait_for_oldest();
    }
}
