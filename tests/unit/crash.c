/*
 * Processes that are killed at any instruction, from the making of the segment
 * on. Nothing that they counted may be missing, and nobody may be hindered.
 */
#include "common/slots.h"

#include "scratch.h"
#include "tests/support/processes.h"

#include <criterion/criterion.h>
#include <sched.h>
#include <stdlib.h>
#include <unistd.h>

#define PROCESSES 200
#define AT_ONCE 4
#define CAPACITY (20 * MBP_TOKEN) /* small: both ends are met again and again */

/* What each process is known to have counted, in memory of the test. It is
 * raised after the counter, so that the counter is never behind. */
struct tally {
    _Atomic uint64_t acknowledged[PROCESSES];
    _Atomic bool attached[PROCESSES];
};

static _Noreturn void work_until_killed(struct tally *tally, int number)
{
    struct mbp_segment segment;
    char fault[MBP_FAULT_SIZE];
    unsigned short random[3] = {(unsigned short)number, 5, 6};
    CHILD_EXPECT(mbp_segment_attach(&segment, scratch_segment, CAPACITY, fault));
    const struct mbp_identity self = mbp_identity_of_self();
    struct mbp_slot *slot = mbp_slot_take(&segment, &self);
    CHILD_EXPECT(slot != &segment.layout->overflow);
    tally->attached[number] = true;
    while (true) {
        const mbp_millitokens amount = (mbp_millitokens)(nrand48(random) % 3000);
        mbp_slot_count(slot, MBP_COUNT_operations, 1);
        atomic_fetch_add(&tally->acknowledged[number], 1);
        if (nrand48(random) % 2) {
            mbp_bucket_deposit(&segment.layout->bucket, amount);
        } else {
            mbp_bucket_consume(&segment.layout->bucket, amount);
        }
        CHILD_EXPECT(mbp_bucket_is_valid(&segment.layout->bucket));
    }
}

struct victim {
    int number;
    pid_t child;
};

static struct victim start(struct tally *tally, int number)
{
    const struct victim victim = {.number = number, .child = child_fork()};
    if (victim.child == 0) {
        work_until_killed(tally, number);
    }
    return victim;
}

/* On its way into the segment, as far as it gets. */
static void kill_early(struct victim victim, long spins)
{
    for (volatile long spin = 0; spin < spins; spin++) {
    }
    cr_expect(child_kill(victim.child), "process %d failed", victim.number);
}

static void kill_at_work(struct victim victim, const struct tally *tally, uint64_t enough)
{
    while ((!tally->attached[victim.number] || tally->acknowledged[victim.number] < enough) &&
           !child_has_ended(victim.child)) {
        sched_yield();
    }
    cr_expect(child_kill(victim.child), "process %d failed", victim.number);
}

/* A third die early; the others work, a few at a time, and the one that has
 * worked longest is killed to make room for the next. */
static void start_and_kill_all(struct tally *tally)
{
    unsigned short random[3] = {11, 12, 13};
    struct victim working[AT_ONCE];
    unsigned started = 0;
    unsigned killed = 0;
    for (int i = 0; i < PROCESSES; i++) {
        const struct victim victim = start(tally, i);
        if (nrand48(random) % 3 == 0) {
            kill_early(victim, nrand48(random) % 500000);
            continue;
        }
        working[started++ % AT_ONCE] = victim;
        if (started - killed == AT_ONCE) {
            kill_at_work(working[killed++ % AT_ONCE], tally, (uint64_t)nrand48(random) % 2000);
        }
    }
    while (killed < started) {
        kill_at_work(working[killed++ % AT_ONCE], tally, 1);
    }
}

static void attach_count_and_spend(void *unused)
{
    (void)unused;
    struct mbp_segment segment;
    char fault[MBP_FAULT_SIZE];
    CHILD_EXPECT(mbp_segment_attach(&segment, scratch_segment, CAPACITY, fault));
    const struct mbp_identity self = mbp_identity_of_self();
    struct mbp_slot *slot = mbp_slot_take(&segment, &self);
    CHILD_EXPECT(slot->owner == self.owner);
    mbp_slot_count(slot, MBP_COUNT_operations, 1);
    mbp_bucket_deposit(&segment.layout->bucket, MBP_TOKEN);
    CHILD_EXPECT(mbp_bucket_consume(&segment.layout->bucket, MBP_TOKEN));
    CHILD_EXPECT(mbp_slot_own_count(slot, MBP_COUNT_operations) == 1);
}

Test(crash, two_hundred_killed_processes_lose_no_count, .init = scratch_begin, .fini = scratch_end)
{
    struct tally *tally = shared_memory(sizeof *tally);
    start_and_kill_all(tally);

    struct mbp_segment segment;
    char fault[MBP_FAULT_SIZE] = "";
    uint64_t totals[MBP_COUNTER_COUNT];
    uint64_t acknowledged = 0;
    unsigned attached = 0;
    for (int i = 0; i < PROCESSES; i++) {
        acknowledged += tally->acknowledged[i];
        attached += tally->attached[i];
    }
    cr_assert(mbp_segment_attach(&segment, scratch_segment, CAPACITY, fault), "%s", fault);
    mbp_slots_totals(&segment, totals);
    cr_expect_geq(totals[MBP_COUNT_operations], acknowledged, "%llu counts are missing",
        (unsigned long long)(acknowledged - totals[MBP_COUNT_operations]));
    cr_expect_leq(totals[MBP_COUNT_operations], acknowledged + attached,
        "each was killed within one count at most");
    cr_expect_leq(mbp_bucket_balance(&segment.layout->bucket), CAPACITY);
    cr_expect_eq(mbp_bucket_capacity(&segment.layout->bucket), CAPACITY);
    cr_expect_gt(attached, PROCESSES / 2);
    cr_expect_leq(segment.layout->slots_used, 4 * AT_ONCE, "%u slots: those of the dead are lost",
        segment.layout->slots_used);

    cr_expect(succeeds_in_child(attach_count_and_spend, NULL));
    const uint64_t before = totals[MBP_COUNT_operations];
    mbp_slots_totals(&segment, totals);
    cr_expect_eq(totals[MBP_COUNT_operations], before + 1);
}
