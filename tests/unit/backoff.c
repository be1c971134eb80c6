#include "common/backoff.h"

#include <criterion/criterion.h>
#include <stdint.h>

#define ALMOST_ONE (1.0 - 0x1.0p-53) /* the largest jitter there is */

/* The specification's table: 100, 200, 400, 800 and 1600 ms, and the cap. */
Test(backoff, ceilings_of_the_specification)
{
    static const uint64_t expected_ms[] = {
        100, 200, 400, 800, 1600, 3200, 6400, 10000, 10000, 10000};
    for (uint32_t i = 0; i < sizeof expected_ms / sizeof expected_ms[0]; i++) {
        cr_expect_eq(mbp_backoff_ceiling_ms(100, 10000, i), expected_ms[i], "exponent %u", i);
    }
}

Test(backoff, ceilings_at_the_edges)
{
    static const struct {
        uint64_t base_ms, max_ms;
        uint32_t exponent;
        uint64_t expected_ms;
        const char *why;
    } rows[] = {
        {100, 10000, 63, 10000, "a shift by 63 would lose the base"},
        {100, 10000, 64, 10000, "a shift by 64 is undefined"},
        {100, 10000, UINT32_MAX, 10000, "and so are all beyond"},
        {1, UINT64_MAX, 63, UINT64_C(1) << 63, "the highest power that fits"},
        {1, UINT64_MAX, 64, UINT64_MAX, "the next would overflow"},
        {3, UINT64_MAX, 63, UINT64_MAX, "as would this"},
        {0, 10000, 0, 0, "no base, no delay"},
        {0, 10000, UINT32_MAX, 0, "nor ever, and soon found out"},
        {100, 50, 0, 50, "a cap below the base counts at once"},
        {100, 50, 9, 50, "and goes on to count"},
        {100, 0, 3, 0, "a cap of nothing is no delay"},
        {100, 100, 5, 100, "a cap equal to the base"},
        {100, 199, 1, 199, "just below the doubled base"},
        {100, 200, 1, 200, "just at it"},
        {100, 201, 1, 200, "just above it"},
    };
    for (unsigned i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        const uint64_t got =
            mbp_backoff_ceiling_ms(rows[i].base_ms, rows[i].max_ms, rows[i].exponent);
        cr_expect_eq(got, rows[i].expected_ms, "%s: %llu ms", rows[i].why, (unsigned long long)got);
    }
}

/* Whole milliseconds, cut and not rounded. */
Test(backoff, jitter_scales_the_ceiling)
{
    static const struct {
        uint32_t exponent;
        double jitter;
        uint64_t expected_ms;
    } rows[] = {
        {0, 0.0, 0},
        {0, 0.5, 50},
        {0, 1.0, 100},
        {0, ALMOST_ONE, 99},
        {1, 0.0, 0},
        {1, 0.5, 100},
        {1, 1.0, 200},
        {1, ALMOST_ONE, 199},
        {2, 0.0, 0},
        {2, 0.25, 100},
        {2, 1.0, 400},
        {3, 0.5, 400},
        {3, 1.0, 800},
        {4, 0.001, 1},
        {4, 0.5, 800},
        {4, 1.0, 1600},
        {4, ALMOST_ONE, 1599},
        {7, 0.0, 0},
        {7, 0.5, 5000},
        {7, 1.0, 10000},
        {500, 0.5, 5000},
        {UINT32_MAX, 1.0, 10000},
    };
    for (unsigned i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        const uint64_t got = mbp_backoff_ms(100, 10000, rows[i].exponent, rows[i].jitter);
        cr_expect_eq(got, rows[i].expected_ms, "exponent %u, jitter %g: %llu ms", rows[i].exponent,
            rows[i].jitter, (unsigned long long)got);
    }
}
