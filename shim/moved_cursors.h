/*
 * Cursors that were opened on another server than the driver believes, because
 * the command that opened them was moved there. What comes later (getMore,
 * killCursors) must go there, too.
 */
#ifndef MBP_MOVED_CURSORS_H
#define MBP_MOVED_CURSORS_H

#include "shim/driver/abi.h"

#include <stdatomic.h>

extern _Atomic unsigned mbp_moved_cursors_count;

/* False in a process that has none: all that most commands ever ask. */
static inline bool mbp_moved_cursors_exist(void)
{
    return atomic_load_explicit(&mbp_moved_cursors_count, memory_order_relaxed) > 0;
}

/* False if there is no room: then the command must not be moved. */
bool mbp_moved_cursors_have_room(void);

void mbp_moved_cursors_add(const struct mbp_cluster *cluster, int64_t cursor, uint32_t server);

/* The server that has the cursor, or 0. */
uint32_t mbp_moved_cursors_find(const struct mbp_cluster *cluster, int64_t cursor);

void mbp_moved_cursors_remove(const struct mbp_cluster *cluster, int64_t cursor);
void mbp_moved_cursors_remove_all(const struct mbp_cluster *cluster);

#endif
