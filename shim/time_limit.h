/*
 * A command's own maxTimeMS: the time that its retries have to share.
 */
#ifndef MBP_TIME_LIMIT_H
#define MBP_TIME_LIMIT_H

#include "shim/call.h"

struct mbp_time_limit {
    uint64_t deadline_ms; /* 0: none */
    const struct mbp_bson *drivers_document;
    struct mbp_bson own_document;
    bool in_use;
};

/* The command's limit, from when it was first sent. */
struct mbp_time_limit mbp_time_limit_of(const struct mbp_call *call, uint64_t sent_ms);

/* Has the command say how much is left, at least 1 ms. */
void mbp_time_limit_reduce(
    struct mbp_time_limit *limit, const struct mbp_call *call, uint64_t now_ms);

/* Puts the command back as it was. */
void mbp_time_limit_end(struct mbp_time_limit *limit, const struct mbp_call *call);

#endif
