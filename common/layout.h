/*
 * The shared memory, byte by byte. This header alone owns the layout: the
 * library writes it and the command reads it through the same declarations.
 * Fixed widths only, no pthread types: a 32-bit and a 64-bit process may map
 * the same segment. Any change of meaning or place takes a new version, which
 * is part of the segment's name; new fields go where it says reserved.
 */
#ifndef MBP_LAYOUT_H
#define MBP_LAYOUT_H

#include "bucket.h"
#include "counters.h"

#include <assert.h>
#include <stdatomic.h>
#include <stddef.h>
#include <stdint.h>

#define MBP_LAYOUT_VERSION 1u
#define MBP_LAYOUT_MAGIC 0x3150424f474e4f4dull /* "MONGOBP1" */
#define MBP_CACHE_LINE 64
#define MBP_SLOT_COUNT 4096u
#define MBP_SLOT_COUNTERS 40 /* room for later ones */
#define MBP_PROGRAM_SIZE 32
#define MBP_VERSION_SIZE 24

/*
 * One attached process. The counters only ever grow, across owners too: the
 * sum over all slots is the total of all time, and a dead process is "folded
 * into the totals" by doing nothing at all, so that no crash can lose or
 * double a count. What the present owner did is `counters - base`.
 */
struct mbp_slot {
    _Atomic uint64_t owner;          /* see slots.h; 0: free */
    _Atomic uint64_t attached_at_ms; /* since 1970 */
    _Atomic uint64_t start_ticks;    /* of the process, since boot, as in /proc */
    uint64_t reserved_identity[4];
    char program[MBP_PROGRAM_SIZE];
    char driver_version[MBP_VERSION_SIZE];
    uint64_t reserved_line[2];
    /* From here on written with every command; nobody else writes these lines. */
    _Atomic uint64_t counters[MBP_SLOT_COUNTERS];
    _Atomic uint64_t base[MBP_SLOT_COUNTERS];
};

struct mbp_layout {
    _Atomic uint64_t ready; /* MBP_LAYOUT_MAGIC, stored last */
    _Atomic uint32_t version;
    _Atomic uint32_t slot_size;
    _Atomic uint32_t slot_count;
    _Atomic uint32_t reserved_word;
    _Atomic uint64_t total_size;
    _Atomic uint64_t created_at_ms; /* since 1970 */
    uint64_t reserved_head[3];
    /* A line each: the first is written whenever the bucket is not full, the
     * second when a process attaches. */
    struct mbp_bucket bucket;
    uint64_t reserved_bucket[7];
    _Atomic uint32_t slots_used; /* slots from here on were never owned */
    uint32_t reserved_used[15];
    uint64_t reserved_tuning[232]; /* for settings changed while programs run */
    struct mbp_slot overflow;      /* shared by all processes that found no slot */
    uint64_t reserved_tail[64];
    struct mbp_slot slots[MBP_SLOT_COUNT];
};

static_assert(sizeof(_Atomic uint64_t) == 8 && sizeof(_Atomic uint32_t) == 4, "plain words");
static_assert(sizeof(struct mbp_slot) == 768, "slot size");
static_assert(sizeof(struct mbp_slot) % MBP_CACHE_LINE == 0, "slots share no line");
static_assert(offsetof(struct mbp_slot, counters) == 128, "slot counters");
static_assert(offsetof(struct mbp_slot, base) == 448, "slot base");
static_assert(MBP_COUNTER_COUNT <= MBP_SLOT_COUNTERS, "room for the counters");
static_assert(offsetof(struct mbp_layout, bucket) == 64, "bucket");
static_assert(offsetof(struct mbp_layout, slots_used) == 128, "slots_used");
static_assert(offsetof(struct mbp_layout, overflow) == 2048, "overflow");
static_assert(offsetof(struct mbp_layout, slots) % MBP_CACHE_LINE == 0, "slots are aligned");

#endif
