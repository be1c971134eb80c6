#include "shim/moved_cursors.h"

#include <stddef.h>

/* No lock, so that no fork can find one held. A client is used by one thread
 * at a time, so the entries of one cluster never race with each other. */
#define ENTRY_COUNT 4096
static struct entry {
    _Atomic(const struct mbp_cluster *) cluster; /* NULL: free */
    _Atomic int64_t cursor;
    _Atomic uint32_t server;
} entries[ENTRY_COUNT];
static _Atomic unsigned used; /* entries beyond it were never used */
_Atomic unsigned mbp_moved_cursors_count;

bool mbp_moved_cursors_have_room(void)
{
    /* With some to spare for those who ask at the same time. */
    return atomic_load(&mbp_moved_cursors_count) < ENTRY_COUNT - 256;
}

void mbp_moved_cursors_add(const struct mbp_cluster *cluster, int64_t cursor, uint32_t server)
{
    for (unsigned i = 0; i < ENTRY_COUNT; i++) {
        const struct mbp_cluster *nobody = NULL;
        if (atomic_compare_exchange_strong(&entries[i].cluster, &nobody, cluster)) {
            unsigned known = atomic_load(&used);
            atomic_store(&entries[i].cursor, cursor);
            atomic_store(&entries[i].server, server);
            atomic_fetch_add(&mbp_moved_cursors_count, 1);
            while (known <= i && !atomic_compare_exchange_weak(&used, &known, i + 1)) {
            }
            return;
        }
    }
}

static struct entry *find(const struct mbp_cluster *cluster, int64_t cursor)
{
    const unsigned end = atomic_load(&used);
    for (unsigned i = 0; i < end; i++) {
        if (atomic_load(&entries[i].cluster) == cluster &&
            atomic_load(&entries[i].cursor) == cursor) {
            return &entries[i];
        }
    }
    return NULL;
}

uint32_t mbp_moved_cursors_find(const struct mbp_cluster *cluster, int64_t cursor)
{
    const struct entry *entry = find(cluster, cursor);
    return entry ? atomic_load(&entry->server) : 0;
}

static void release(struct entry *entry)
{
    atomic_store(&entry->cursor, 0); /* no cursor has this number */
    atomic_store(&entry->cluster, NULL);
    atomic_fetch_sub(&mbp_moved_cursors_count, 1);
}

void mbp_moved_cursors_remove(const struct mbp_cluster *cluster, int64_t cursor)
{
    struct entry *entry = find(cluster, cursor);
    if (entry) {
        release(entry);
    }
}

void mbp_moved_cursors_remove_all(const struct mbp_cluster *cluster)
{
    const unsigned end = mbp_moved_cursors_exist() ? atomic_load(&used) : 0;
    for (unsigned i = 0; i < end; i++) {
        if (atomic_load(&entries[i].cluster) == cluster) {
            release(&entries[i]);
        }
    }
}
