#include "backoff.h"

uint64_t mbp_backoff_ceiling_ms(uint64_t base_ms, uint64_t max_ms, uint32_t exponent)
{
    uint64_t delay_ms = base_ms;
    while (exponent-- > 0 && delay_ms > 0 && delay_ms < max_ms) {
        /* Compared by halves: doubling first could overflow. */
        delay_ms = delay_ms > max_ms / 2 ? max_ms : delay_ms * 2;
    }
    return delay_ms < max_ms ? delay_ms : max_ms;
}

uint64_t mbp_backoff_ms(uint64_t base_ms, uint64_t max_ms, uint32_t exponent, double jitter)
{
    return (uint64_t)(jitter * (double)mbp_backoff_ceiling_ms(base_ms, max_ms, exponent));
}
