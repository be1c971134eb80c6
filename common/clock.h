/*
 * The clocks, in milliseconds.
 */
#ifndef MBP_CLOCK_H
#define MBP_CLOCK_H

#include <stdint.h>
#include <time.h>

/* Never goes backwards; for deadlines and delays. */
uint64_t mbp_clock_ms(void);

/* The same clock, a few milliseconds behind at most, and never a system call:
 * what the path of a command that succeeds can afford. It is turned into
 * milliseconds when somebody wants to know them. */
static inline void mbp_note_time(struct timespec *time)
{
    clock_gettime(CLOCK_MONOTONIC_COARSE, time);
}

uint64_t mbp_noted_ms(const struct timespec *time);

/* Since 1970; for people only. */
uint64_t mbp_wall_clock_ms(void);

/* Sleeps through signals until mbp_clock_ms() reaches `wake_ms`. */
void mbp_sleep_until_ms(uint64_t wake_ms);

#endif
