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

/* Waits until the process has done as much as it is given to do; a quarter of
 * them are given nothing and die on their way into the segment. */
static void kill_after(struct tally *tally, int number, pid_t child, unsigned short random[3])
{
    if (nrand48(random) % 4 == 0) {
        for (long spin = nrand48(random) % 2000; spin > 0; spin--) {
            sched_yield();
        }
    } else {
        const uint64_t enough = (uint64_t)nrand48(random) % 2000;
        while ((!tally->attached[number] || tally->acknowledged[number] < enough) &&
               !child_has_ended(child)) {
            sched_yield();
        }
    }
    cr_expect(child_kill(child), "process %d failed", number);
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
    unsigned short random[3] = {11, 12, 13};
    pid_t children[PROCESSES];
    for (int i = 0; i < PROCESSES + AT_ONCE; i++) {
        if (i < PROCESSES) {
            children[i] = child_fork();
            if (children[i] == 0) {
                work_until_killed(tally, i);
            }
        }
        if (i >= AT_ONCE) {
            kill_after(tally, i - AT_ONCE, children[i - AT_ONCE], random);
        }
    }

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
