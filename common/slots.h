/*
 * Process slots: who is attached, and what each has counted.
 *
 * The owner of a slot is one word, so that taking it is one compare-and-swap:
 * the process id (22 bits), the low bits of the number of its pid namespace
 * (16) and of its start time (26). The start time tells a process from a later
 * one with the same id; the namespace keeps a container from judging processes
 * that it can't see.
 */
#ifndef MBP_SLOTS_H
#define MBP_SLOTS_H

#include "segment.h"

#include <sys/types.h>

/* This process, as it appears in a slot. */
struct mbp_identity {
    uint64_t owner;
    uint64_t start_ticks;
    const char *program;
};

struct mbp_identity mbp_identity_of_self(void);

/* Takes a slot: one whose owner is dead, else one never used, else the shared
 * overflow slot. Never fails; lock-free. */
struct mbp_slot *mbp_slot_take(struct mbp_segment *segment, const struct mbp_identity *self);

/* Gives a slot back. Its counts stay in the totals. */
void mbp_slot_release(struct mbp_slot *slot, const struct mbp_identity *self);

/* Notes which driver the process uses, for people. */
void mbp_slot_set_driver(struct mbp_slot *slot, const char *version);

static inline void mbp_slot_count(struct mbp_slot *slot, enum mbp_counter counter, uint64_t amount)
{
    atomic_fetch_add_explicit(&slot->counters[counter], amount, memory_order_relaxed);
}

enum mbp_liveness { MBP_SLOT_FREE, MBP_SLOT_LIVE, MBP_SLOT_DEAD, MBP_SLOT_ELSEWHERE };

/* Whether the slot's owner is alive, as far as `self` can know: a process of
 * another pid namespace is «elsewhere». */
enum mbp_liveness mbp_slot_liveness(const struct mbp_slot *slot, const struct mbp_identity *self);

pid_t mbp_slot_pid(const struct mbp_slot *slot);

/* What the present owner counted. */
uint64_t mbp_slot_own_count(const struct mbp_slot *slot, enum mbp_counter counter);

/* What all processes counted, living and dead. */
void mbp_slots_totals(const struct mbp_segment *segment, uint64_t totals[MBP_COUNTER_COUNT]);

#endif
