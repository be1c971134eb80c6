/*
 * The shared memory is read by processes built at other times and for other
 * word sizes. These numbers are what they know: a change here takes a new
 * MBP_LAYOUT_VERSION.
 */
#include "common/layout.h"

#include <criterion/criterion.h>
#include <string.h>

struct place {
    const char *field;
    size_t offset, size;
    size_t expected_offset, expected_size;
};

#define PLACE(type, field, expected_offset, expected_size)                                         \
    {                                                                                              \
#field, offsetof(struct type, field), sizeof(((struct type *)0)->field), expected_offset,  \
            expected_size                                                                          \
    }

/* Each place is where it belongs, and each follows the one before it without
 * a hole: a hole is a field that this table has forgotten. */
static void check_places(const struct place *places, size_t count, size_t total)
{
    size_t end = 0;
    for (size_t i = 0; i < count; i++) {
        cr_expect_eq(places[i].offset, places[i].expected_offset, "%s is at %zu, not %zu",
            places[i].field, places[i].offset, places[i].expected_offset);
        cr_expect_eq(places[i].size, places[i].expected_size, "%s has %zu bytes, not %zu",
            places[i].field, places[i].size, places[i].expected_size);
        cr_expect_eq(places[i].expected_offset, end, "before %s", places[i].field);
        end = places[i].expected_offset + places[i].expected_size;
    }
    cr_expect_eq(end, total);
}

Test(layout, places_in_a_slot)
{
    static const struct place places[] = {
        PLACE(mbp_slot, owner, 0, 8),
        PLACE(mbp_slot, attached_at_ms, 8, 8),
        PLACE(mbp_slot, start_ticks, 16, 8),
        PLACE(mbp_slot, reserved_identity, 24, 32),
        PLACE(mbp_slot, program, 56, 32),
        PLACE(mbp_slot, driver_version, 88, 24),
        PLACE(mbp_slot, reserved_line, 112, 16),
        PLACE(mbp_slot, counters, 128, 320),
        PLACE(mbp_slot, base, 448, 320),
    };
    check_places(places, sizeof places / sizeof places[0], 768);
    cr_expect_eq(sizeof(struct mbp_slot), 768);
}

Test(layout, places_in_the_segment)
{
    static const struct place places[] = {
        PLACE(mbp_layout, ready, 0, 8),
        PLACE(mbp_layout, version, 8, 4),
        PLACE(mbp_layout, slot_size, 12, 4),
        PLACE(mbp_layout, slot_count, 16, 4),
        PLACE(mbp_layout, reserved_word, 20, 4),
        PLACE(mbp_layout, total_size, 24, 8),
        PLACE(mbp_layout, created_at_ms, 32, 8),
        PLACE(mbp_layout, reserved_head, 40, 24),
        PLACE(mbp_layout, bucket, 64, 8),
        PLACE(mbp_layout, reserved_bucket, 72, 56),
        PLACE(mbp_layout, slots_used, 128, 4),
        PLACE(mbp_layout, reserved_used, 132, 60),
        PLACE(mbp_layout, reserved_tuning, 192, 1856),
        PLACE(mbp_layout, overflow, 2048, 768),
        PLACE(mbp_layout, reserved_tail, 2816, 512),
        PLACE(mbp_layout, slots, 3328, 4096 * 768),
    };
    check_places(places, sizeof places / sizeof places[0], 3149056);
    cr_expect_eq(sizeof(struct mbp_layout), 3149056);
}

Test(layout, magic_spells_the_name)
{
    const uint64_t magic = MBP_LAYOUT_MAGIC;
    cr_expect_eq(memcmp(&magic, "MONGOBP1", 8), 0);
    cr_expect_eq(MBP_LAYOUT_VERSION, 1u);
}

/* Capacity above, balance below: the one word that all processes change. */
Test(layout, halves_of_the_bucket_word)
{
    struct mbp_bucket bucket = {0};
    mbp_bucket_init_once(&bucket, 1000000);
    cr_assert(mbp_bucket_consume(&bucket, 1));
    cr_expect_eq(bucket.word, UINT64_C(1000000) << 32 | 999999);
}

/* Append, never reorder. */
Test(layout, places_of_the_counters)
{
    static const struct {
        enum mbp_counter counter;
        const char *name;
        enum mbp_unit unit;
    } rows[] = {
        {MBP_COUNT_operations, "operations", MBP_UNIT_count},
        {MBP_COUNT_first_successes, "first_successes", MBP_UNIT_count},
        {MBP_COUNT_retries, "retries", MBP_UNIT_count},
        {MBP_COUNT_retry_successes, "retry_successes", MBP_UNIT_count},
        {MBP_COUNT_overload_errors, "overload_errors", MBP_UNIT_count},
        {MBP_COUNT_backoff_ms, "backoff_ms", MBP_UNIT_milliseconds},
        {MBP_COUNT_refused_budget, "refused_budget", MBP_UNIT_count},
        {MBP_COUNT_refused_attempts, "refused_attempts", MBP_UNIT_count},
        {MBP_COUNT_refused_deadline, "refused_deadline", MBP_UNIT_count},
        {MBP_COUNT_refused_not_retryable, "refused_not_retryable", MBP_UNIT_count},
        {MBP_COUNT_refused_disabled, "refused_disabled", MBP_UNIT_count},
        {MBP_COUNT_observed_retries, "observed_retries", MBP_UNIT_count},
        {MBP_COUNT_unacknowledged, "unacknowledged", MBP_UNIT_count},
        {MBP_COUNT_tokens_deposited, "tokens_deposited", MBP_UNIT_tokens},
        {MBP_COUNT_tokens_consumed, "tokens_consumed", MBP_UNIT_tokens},
    };
    for (unsigned i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        cr_expect_eq(rows[i].counter, i, "%s", rows[i].name);
        cr_expect_str_eq(mbp_counter_infos[i].name, rows[i].name);
        cr_expect_eq(mbp_counter_infos[i].unit, rows[i].unit, "%s", rows[i].name);
        cr_expect_gt(strlen(mbp_counter_infos[i].meaning), 0, "%s", rows[i].name);
    }
}
