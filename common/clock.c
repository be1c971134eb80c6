#include "clock.h"

#include <errno.h>

uint64_t mbp_noted_ms(const struct timespec *time)
{
    return (uint64_t)time->tv_sec * 1000 + (uint64_t)time->tv_nsec / 1000000;
}

static uint64_t read_ms(clockid_t clock)
{
    struct timespec now = {0};
    clock_gettime(clock, &now);
    return mbp_noted_ms(&now);
}

uint64_t mbp_clock_ms(void)
{
    return read_ms(CLOCK_MONOTONIC);
}

uint64_t mbp_wall_clock_ms(void)
{
    return read_ms(CLOCK_REALTIME);
}

void mbp_sleep_until_ms(uint64_t wake_ms)
{
    const struct timespec wake = {
        .tv_sec = (time_t)(wake_ms / 1000),
        .tv_nsec = (long)(wake_ms % 1000) * 1000000,
    };
    /* An absolute time: after a signal the same call just goes on. */
    while (clock_nanosleep(CLOCK_MONOTONIC, TIMER_ABSTIME, &wake, NULL) == EINTR) {
    }
}
