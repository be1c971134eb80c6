/*
 * Sending a command again with something changed in it: in a copy, since the
 * document may be the program's own and the driver may yet send it by itself.
 */
#ifndef MBP_REWRITE_H
#define MBP_REWRITE_H

#include "shim/call.h"

struct mbp_rewrite {
    bool in_use;
    const struct mbp_bson *drivers_document;
    struct mbp_bson own_document;
};

/* When the command's own maxTimeMS is over, if it was sent then; 0: never. */
uint64_t mbp_time_limit_ms(const struct mbp_call *call, uint64_t sent_ms);

/* Has the command say how much of it is left, at least 1 ms. */
void mbp_rewrite_time_limit(struct mbp_rewrite *rewrite, const struct mbp_call *call,
    uint64_t deadline_ms, uint64_t now_ms);

/* Has a commit ask for the majority, as the transactions specification wants
 * once the outcome of an earlier one is not known. What else its write concern
 * says stays. */
void mbp_rewrite_majority(struct mbp_rewrite *rewrite, const struct mbp_call *call);

/* Puts the command back as it was. */
void mbp_rewrite_end(struct mbp_rewrite *rewrite, const struct mbp_call *call);

#endif
