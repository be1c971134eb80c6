/*
 * How long to wait before a retry: j * min (max, base * 2^exponent).
 */
#ifndef MBP_BACKOFF_H
#define MBP_BACKOFF_H

#include <stdint.h>

/* The delay before jitter. Never overflows, whatever the exponent. */
uint64_t mbp_backoff_ceiling_ms(uint64_t base_ms, uint64_t max_ms, uint32_t exponent);

/* The delay itself, in whole milliseconds; `jitter` is from 0 to 1. */
uint64_t mbp_backoff_ms(uint64_t base_ms, uint64_t max_ms, uint32_t exponent, double jitter);

#endif
