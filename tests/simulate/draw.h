/*
 * Random numbers, all from the source that ships (common/jitter.h), one stream
 * for each purpose. Separate streams give every strategy the same arrivals for
 * the same seed, so that strategies can be compared pair by pair.
 */
#ifndef SIM_DRAW_H
#define SIM_DRAW_H

#include "common/jitter.h"

enum sim_stream { SIM_ARRIVALS = 1, SIM_SERVICE, SIM_WAITS };

/* Odd and large, so that neighbouring seeds and streams begin far apart. */
static inline void sim_draw_seed(struct mbp_random *random, uint64_t seed, enum sim_stream stream)
{
    mbp_random_seed(random, seed * 0xd1342543de82ef95u + (uint64_t)stream * 0xaf251af3b0f025b5u);
}

/* From 0 up to, not including, `limit`; each equally likely. */
static inline uint32_t sim_draw_below(const struct mbp_jitter *draw, uint32_t limit)
{
    return (uint32_t)(draw->next(draw->state) * (double)limit);
}

#endif
