#include "common/slots.h"

#include "scratch.h"
#include "tests/support/processes.h"

#include <criterion/criterion.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

/* The owner word, as slots.h describes it: 22, 16 and 26 bits. */
#define NAMESPACE_SHIFT 22
#define START_SHIFT 38
#define OTHER_NAMESPACE (UINT64_C(1) << NAMESPACE_SHIFT) /* to be flipped */
#define OTHER_START (UINT64_C(1) << START_SHIFT)

static struct mbp_segment new_segment(void)
{
    struct mbp_segment segment;
    mbp_segment_make_private(&segment, 1000 * MBP_TOKEN);
    return segment;
}

static unsigned index_of(const struct mbp_segment *segment, const struct mbp_slot *slot)
{
    return (unsigned)(slot - segment->layout->slots);
}

/* The identity of a process that has ended, and was reaped. */
static struct mbp_identity dead_identity(void)
{
    struct mbp_identity *identity = shared_memory(sizeof *identity);
    const pid_t child = child_fork();
    if (child == 0) {
        *identity = mbp_identity_of_self();
        _exit(0);
    }
    cr_assert(child_succeeded(child));
    return *identity;
}

/* Takes all slots from `first` on in the name of that owner. */
static void fill(struct mbp_segment *segment, uint32_t first, uint64_t owner)
{
    for (uint32_t i = first; i < MBP_SLOT_COUNT; i++) {
        segment->layout->slots[i].owner = owner;
    }
    segment->layout->slots_used = MBP_SLOT_COUNT;
}

Test(slots, identity_is_of_this_process)
{
    const struct mbp_identity self = mbp_identity_of_self();
    const struct mbp_slot slot = {.owner = self.owner};
    cr_expect_eq(mbp_slot_pid(&slot), getpid());
    cr_expect_neq(self.start_ticks, 0);
    cr_expect_eq(self.owner >> START_SHIFT, self.start_ticks & ((1u << 26) - 1));
    cr_expect_str_eq(self.program, program_invocation_short_name);
    cr_expect_eq(mbp_identity_of_self().owner, self.owner, "and always the same");
}

Test(slots, taking_one_fills_it_in)
{
    struct mbp_segment segment = new_segment();
    const struct mbp_identity self = mbp_identity_of_self();
    struct mbp_slot *slot = mbp_slot_take(&segment, &self);
    cr_expect_eq(index_of(&segment, slot), 0);
    cr_expect_eq(slot->owner, self.owner);
    cr_expect_eq(slot->start_ticks, self.start_ticks);
    cr_expect_neq(slot->attached_at_ms, 0);
    cr_expect_eq(strncmp(slot->program, self.program, sizeof slot->program - 1), 0);
    cr_expect_str_eq(slot->driver_version, "");
    cr_expect_eq(mbp_slot_liveness(slot, &self), MBP_SLOT_LIVE);
    cr_expect_eq(segment.layout->slots_used, 1);
}

Test(slots, texts_are_cut_to_fit_and_always_end)
{
    struct mbp_segment segment = new_segment();
    struct mbp_identity self = mbp_identity_of_self();
    self.program = "a-program-with-a-name-that-is-much-longer-than-its-place";
    struct mbp_slot *slot = mbp_slot_take(&segment, &self);
    cr_assert(slot);
    cr_expect_str_eq(slot->program, "a-program-with-a-name-that-is-m");
    mbp_slot_set_driver(slot, "1.23.4-with-a-long-suffix-after-it");
    cr_expect_str_eq(slot->driver_version, "1.23.4-with-a-long-suff");
    mbp_slot_set_driver(slot, "2.0.0");
    cr_expect_str_eq(slot->driver_version, "2.0.0");
    for (size_t i = strlen("2.0.0"); i < sizeof slot->driver_version; i++) {
        cr_expect_eq(slot->driver_version[i], '\0', "rest of a longer text at %zu", i);
    }
    for (unsigned i = 0; i < MBP_SLOT_COUNTERS; i++) {
        cr_expect_eq(slot->counters[i], 0, "the texts stay out of the counters");
    }
}

Test(slots, released_one_is_free_and_keeps_its_counts)
{
    struct mbp_segment segment = new_segment();
    const struct mbp_identity self = mbp_identity_of_self();
    struct mbp_slot *slot = mbp_slot_take(&segment, &self);
    uint64_t totals[MBP_COUNTER_COUNT];
    mbp_slot_count(slot, MBP_COUNT_operations, 3);
    mbp_slot_release(slot, &self);
    cr_expect_eq(mbp_slot_liveness(slot, &self), MBP_SLOT_FREE);
    mbp_slots_totals(&segment, totals);
    cr_expect_eq(totals[MBP_COUNT_operations], 3);
    cr_expect_eq(mbp_slot_take(&segment, &self), slot, "the next takes the free one");
}

Test(slots, only_its_owner_releases_one)
{
    struct mbp_segment segment = new_segment();
    const struct mbp_identity self = mbp_identity_of_self();
    const struct mbp_identity other = dead_identity();
    struct mbp_slot *slot = mbp_slot_take(&segment, &self);
    mbp_slot_release(slot, &other);
    cr_expect_eq(slot->owner, self.owner);
}

Test(slots, living_processes_have_distinct_ones)
{
    enum { PROCESSES = 8 };
    struct shared {
        struct start_line take, leave;
        unsigned taken[PROCESSES];
    } *shared = shared_memory(sizeof *shared);
    struct mbp_segment segment = new_segment();
    pid_t children[PROCESSES];
    for (int i = 0; i < PROCESSES; i++) {
        children[i] = child_fork();
        if (children[i] == 0) {
            const struct mbp_identity self = mbp_identity_of_self();
            start_line_wait(&shared->take);
            struct mbp_slot *slot = mbp_slot_take(&segment, &self);
            CHILD_EXPECT(slot->owner == self.owner);
            shared->taken[i] = index_of(&segment, slot);
            start_line_wait(&shared->leave); /* all are alive until all have one */
            CHILD_EXPECT(slot->owner == self.owner);
            _exit(0);
        }
    }
    start_line_open(&shared->take, PROCESSES);
    start_line_open(&shared->leave, PROCESSES);
    for (int i = 0; i < PROCESSES; i++) {
        cr_expect(child_succeeded(children[i]));
        for (int j = 0; j < i; j++) {
            cr_expect_neq(shared->taken[i], shared->taken[j], "%d and %d", i, j);
        }
    }
    cr_expect_eq(segment.layout->slots_used, PROCESSES);
}

Test(slots, that_of_a_dead_process_is_reused_and_its_counts_stay)
{
    struct mbp_segment segment = new_segment();
    const struct mbp_identity self = mbp_identity_of_self();
    uint64_t totals[MBP_COUNTER_COUNT];
    const pid_t child = child_fork();
    if (child == 0) {
        const struct mbp_identity mine = mbp_identity_of_self();
        struct mbp_slot *slot = mbp_slot_take(&segment, &mine);
        mbp_slot_set_driver(slot, "1.2.3");
        mbp_slot_count(slot, MBP_COUNT_operations, 5);
        raise(SIGKILL);
    }
    cr_assert(WIFSIGNALED(child_wait(child)));
    cr_expect_eq(mbp_slot_liveness(&segment.layout->slots[0], &self), MBP_SLOT_DEAD);

    struct mbp_slot *slot = mbp_slot_take(&segment, &self);
    cr_expect_eq(index_of(&segment, slot), 0);
    cr_expect_eq(segment.layout->slots_used, 1);
    cr_expect_str_eq(slot->driver_version, "", "the driver was that of the dead");
    cr_expect_eq(mbp_slot_own_count(slot, MBP_COUNT_operations), 0, "so were the counts");
    mbp_slot_count(slot, MBP_COUNT_operations, 2);
    cr_expect_eq(mbp_slot_own_count(slot, MBP_COUNT_operations), 2);
    mbp_slots_totals(&segment, totals);
    cr_expect_eq(totals[MBP_COUNT_operations], 7);
}

Test(slots, liveness_of_every_kind_of_owner)
{
    const struct mbp_identity self = mbp_identity_of_self();
    const struct mbp_identity dead = dead_identity();
    const struct {
        const char *what;
        uint64_t owner;
        enum mbp_liveness expected;
    } rows[] = {
        {"nobody", 0, MBP_SLOT_FREE},
        {"this process", self.owner, MBP_SLOT_LIVE},
        {"an earlier one of its id", self.owner ^ OTHER_START, MBP_SLOT_DEAD},
        {"an earlier one, by the highest bit", self.owner ^ UINT64_C(1) << 63, MBP_SLOT_DEAD},
        {"one whose start is not known", self.owner & (OTHER_START - 1), MBP_SLOT_LIVE},
        {"one that has ended", dead.owner, MBP_SLOT_DEAD},
        {"its id in another namespace", self.owner ^ OTHER_NAMESPACE, MBP_SLOT_ELSEWHERE},
        {"an ended one in another namespace", dead.owner ^ OTHER_NAMESPACE, MBP_SLOT_ELSEWHERE},
        {"another namespace and start", self.owner ^ OTHER_NAMESPACE ^ OTHER_START,
            MBP_SLOT_ELSEWHERE},
    };
    for (unsigned i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        const struct mbp_slot slot = {.owner = rows[i].owner};
        cr_expect_eq(mbp_slot_liveness(&slot, &self), rows[i].expected, "%s", rows[i].what);
    }
}

Test(slots, overflow_takes_whoever_finds_none)
{
    struct mbp_segment segment = new_segment();
    const struct mbp_identity self = mbp_identity_of_self();
    uint64_t totals[MBP_COUNTER_COUNT];
    fill(&segment, 0, self.owner);
    struct mbp_slot *slot = mbp_slot_take(&segment, &self);
    cr_expect_eq(slot, &segment.layout->overflow);
    cr_expect_eq(mbp_slot_take(&segment, &self), slot, "shared by all who come later");
    mbp_slot_count(slot, MBP_COUNT_retries, 4);
    mbp_slot_count(&segment.layout->slots[MBP_SLOT_COUNT - 1], MBP_COUNT_retries, 1);
    mbp_slots_totals(&segment, totals);
    cr_expect_eq(totals[MBP_COUNT_retries], 5);
    cr_expect_eq(segment.layout->slots_used, MBP_SLOT_COUNT);
}

Test(slots, last_one_never_used_comes_before_overflow)
{
    struct mbp_segment segment = new_segment();
    const struct mbp_identity self = mbp_identity_of_self();
    fill(&segment, 0, self.owner);
    segment.layout->slots[MBP_SLOT_COUNT - 1].owner = 0;
    segment.layout->slots_used = MBP_SLOT_COUNT - 1;
    cr_expect_eq(index_of(&segment, mbp_slot_take(&segment, &self)), MBP_SLOT_COUNT - 1);
    cr_expect_eq(mbp_slot_take(&segment, &self), &segment.layout->overflow);
}

/* Its id is in use again; only the start time tells. */
Test(slots, that_of_an_earlier_process_of_the_same_id_is_found)
{
    struct mbp_segment segment = new_segment();
    const struct mbp_identity self = mbp_identity_of_self();
    fill(&segment, 0, self.owner);
    segment.layout->slots[1234].owner = self.owner ^ OTHER_START;
    cr_expect_eq(index_of(&segment, mbp_slot_take(&segment, &self)), 1234);
    cr_expect_eq(segment.layout->slots[1234].owner, self.owner);
}

/* A process that can't be seen from here may well be alive. */
Test(slots, those_of_another_namespace_are_never_taken)
{
    struct mbp_segment segment = new_segment();
    const struct mbp_identity self = mbp_identity_of_self();
    const uint64_t elsewhere = dead_identity().owner ^ OTHER_NAMESPACE;
    fill(&segment, 0, elsewhere);
    cr_expect_eq(mbp_slot_take(&segment, &self), &segment.layout->overflow);
    for (uint32_t i = 0; i < MBP_SLOT_COUNT; i++) {
        cr_assert_eq(segment.layout->slots[i].owner, elsewhere, "slot %u", i);
    }
}

/* As with private memory of last resort. */
Test(slots, segment_without_any_has_the_overflow_slot)
{
    struct mbp_segment segment = new_segment();
    const struct mbp_identity self = mbp_identity_of_self();
    uint64_t totals[MBP_COUNTER_COUNT];
    segment.slot_count = 0;
    struct mbp_slot *slot = mbp_slot_take(&segment, &self);
    cr_expect_eq(slot, &segment.layout->overflow);
    mbp_slot_count(slot, MBP_COUNT_operations, 1);
    mbp_slots_totals(&segment, totals);
    cr_expect_eq(totals[MBP_COUNT_operations], 1);
}

Test(slots, totals_are_of_every_counter_in_every_slot)
{
    struct mbp_segment segment = new_segment();
    uint64_t totals[MBP_COUNTER_COUNT];
    segment.layout->slots_used = 3;
    for (unsigned counter = 0; counter < MBP_COUNTER_COUNT; counter++) {
        segment.layout->overflow.counters[counter] = 1 + counter;
        for (unsigned slot = 0; slot < 3; slot++) {
            segment.layout->slots[slot].counters[counter] = 100 * (slot + 1);
        }
    }
    mbp_slots_totals(&segment, totals);
    for (unsigned counter = 0; counter < MBP_COUNTER_COUNT; counter++) {
        cr_expect_eq(totals[counter], 601 + counter, "%s", mbp_counter_infos[counter].name);
    }
}

static size_t line_of(const void *address)
{
    return (uintptr_t)address / 64;
}

/* A success writes the counters of its own slot and nothing else: no line of
 * memory that is written with every command has a second writer. */
Test(slots, processes_share_no_line)
{
    const struct mbp_segment segment = new_segment();
    const struct mbp_layout *layout = segment.layout;
    cr_expect_eq((uintptr_t)layout % 64, 0);
    for (uint32_t i = 0; i < MBP_SLOT_COUNT; i++) {
        const struct mbp_slot *slot = &layout->slots[i];
        const struct mbp_slot *before = i ? &layout->slots[i - 1] : &layout->overflow;
        cr_assert_lt(line_of((const char *)(before + 1) - 1), line_of(&slot->owner), "%u", i);
        cr_assert_lt(line_of(&slot->driver_version[MBP_VERSION_SIZE - 1]),
            line_of((const void *)&slot->counters[0]), "%u", i);
    }
    cr_expect_lt(line_of((const void *)&layout->created_at_ms), line_of(&layout->bucket));
    cr_expect_lt(line_of(&layout->bucket), line_of((const void *)&layout->slots_used));
    cr_expect_lt(line_of((const void *)&layout->slots_used), line_of(&layout->overflow));
}
