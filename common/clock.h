/*
 * The clocks, in milliseconds.
 */
#ifndef MBP_CLOCK_H
#define MBP_CLOCK_H

#include <stdint.h>

/* Never goes backwards; for deadlines and delays. */
uint64_t mbp_clock_ms(void);

/* The same clock, a few milliseconds behind at most, and never a system call:
 * what the path of a command that succeeds can afford. */
uint64_t mbp_coarse_clock_ms(void);

/* Since 1970; for people only. */
uint64_t mbp_wall_clock_ms(void);

/* Sleeps through signals until mbp_clock_ms() reaches `wake_ms`. */
void mbp_sleep_until_ms(uint64_t wake_ms);

#endif
