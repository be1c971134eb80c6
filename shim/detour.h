/*
 * Sending a command to another server than the driver chose, and putting
 * everything back afterwards.
 */
#ifndef MBP_DETOUR_H
#define MBP_DETOUR_H

#include "shim/call.h"
#include "shim/moved_cursors.h"
#include "shim/thread.h"

struct mbp_detour {
    void *drivers_stream; /* what the command had; NULL: no detour was ever made */
    void *own_stream;     /* what it has instead; NULL: it has the driver's */
    bool searched;        /* servers were looked at, which may close connections */
};

/* Whether the command may go to any other server than its own. */
bool mbp_detour_allowed(const struct mbp_call *call);

/* After the command's server was overloaded: points the command at another one
 * if there is one. True if it now goes elsewhere; `*usable` turns false if its
 * connection was lost over it, so that it must not be sent at all. */
bool mbp_detour_take(struct mbp_detour *detour, const struct mbp_call *call, bool *usable);

/* Whether mbp_detour_begin has anything to do for some command. */
static inline bool mbp_detour_is_due(void)
{
    return mbp_thread.lost_stream || mbp_moved_cursors_exist();
}

/* Before a command that can't go where the driver thinks: one about a cursor
 * that was moved goes to the server that has the cursor, and one whose
 * connection was lost during an earlier detour gets another. False if there is
 * no way; reply and error say why. */
bool mbp_detour_begin(struct mbp_detour *detour, struct mbp_call *call);

/* Puts the command back as it was and, if it opened a cursor elsewhere,
 * remembers where. */
void mbp_detour_end(struct mbp_detour *detour, const struct mbp_call *call, bool ok);

#endif
