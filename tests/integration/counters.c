#include "counters.h"

#include "common/slots.h"

#include <criterion/criterion.h>
#include <stdio.h>
#include <string.h>

static struct mbp_segment segment;
static int64_t balance_at_open;
static struct counters counters_at_open;

static struct counters from_array(const uint64_t values[MBP_COUNTER_COUNT])
{
    return (struct counters){
#define X(name, unit, meaning) .name = (int64_t)values[MBP_COUNT_##name],
        MBP_COUNTERS(X)
#undef X
    };
}

bool counters_open(const char *segment_name)
{
    bool exists;
    char fault[MBP_FAULT_SIZE];
    if (!mbp_segment_open_readonly(&segment, segment_name, &exists, fault)) {
        return false;
    }
    balance_at_open = tokens_left();
    counters_at_open = counters_now();
    return true;
}

struct counters counters_now(void)
{
    uint64_t totals[MBP_COUNTER_COUNT];
    mbp_slots_totals(&segment, totals);
    return from_array(totals);
}

struct counters counters_since(const struct counters *before)
{
    const struct counters now = counters_now();
    return (struct counters){
#define X(name, unit, meaning) .name = now.name - before->name,
        MBP_COUNTERS(X)
#undef X
    };
}

bool counters_of_process(pid_t pid, struct counters *counters)
{
    uint64_t values[MBP_COUNTER_COUNT];
    for (uint32_t i = 0; i < segment.slot_count; i++) {
        const struct mbp_slot *slot = &segment.layout->slots[i];
        if (mbp_slot_pid(slot) == pid) {
            for (int c = 0; c < MBP_COUNTER_COUNT; c++) {
                values[c] = mbp_slot_own_count(slot, (enum mbp_counter)c);
            }
            *counters = from_array(values);
            return true;
        }
    }
    return false;
}

int64_t counter_named(const char *name)
{
    uint64_t totals[MBP_COUNTER_COUNT];
    mbp_slots_totals(&segment, totals);
    for (int c = 0; c < MBP_COUNTER_COUNT; c++) {
        if (strcmp(mbp_counter_infos[c].name, name) == 0) {
            return (int64_t)totals[c];
        }
    }
    cr_expect_fail("there is no counter '%s'", name);
    return -1;
}

int64_t tokens_left(void)
{
    return mbp_bucket_balance(&segment.layout->bucket);
}

static void note_difference(
    char text[COUNTERS_TEXT_SIZE], const char *name, int64_t is, int64_t want)
{
    const size_t used = strlen(text);
    if (is != want) {
        snprintf(text + used, COUNTERS_TEXT_SIZE - used, "%s%s %lld instead of %lld",
            used ? ", " : "", name, (long long)is, (long long)want);
    }
}

bool counters_match(
    const struct counters *before, const struct counters *want, char text[COUNTERS_TEXT_SIZE])
{
    const struct counters is = counters_since(before);
    const struct counters all = counters_since(&counters_at_open);
    text[0] = '\0';
#define X(name, unit, meaning)                                                                     \
    if (MBP_COUNT_##name != MBP_COUNT_backoff_ms) {                                                \
        note_difference(text, #name, is.name, want->name);                                         \
    }
    MBP_COUNTERS(X)
#undef X
    note_difference(text, "tokens left", tokens_left(),
        balance_at_open + all.tokens_deposited - all.tokens_consumed);
    return text[0] == '\0';
}
