#include "slots.h"

#include "clock.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define PID_BITS 22
#define NAMESPACE_BITS 16
#define START_BITS 26
static_assert(PID_BITS + NAMESPACE_BITS + START_BITS == 64, "the owner word");

static uint64_t low_bits(uint64_t value, unsigned bits)
{
    return value & ((UINT64_C(1) << bits) - 1);
}

static pid_t pid_of(uint64_t owner)
{
    return (pid_t)low_bits(owner, PID_BITS);
}

static uint64_t namespace_of(uint64_t owner)
{
    return low_bits(owner >> PID_BITS, NAMESPACE_BITS);
}

static uint64_t start_of(uint64_t owner)
{
    return owner >> (PID_BITS + NAMESPACE_BITS);
}

#define ZOMBIE UINT64_MAX

/* Field 22 of /proc/PID/stat; 0 where it can't be read, ZOMBIE for a process
 * that has ended but was not waited for. The program's name, in parentheses
 * before it all, may itself hold spaces and parentheses. */
static uint64_t start_ticks_of(pid_t pid)
{
    char path[32];
    char text[1024];
    snprintf(path, sizeof path, "/proc/%ld/stat", (long)pid);
    const int fd = open(path, O_RDONLY | O_CLOEXEC);
    if (fd < 0) {
        return 0;
    }
    const ssize_t length = read(fd, text, sizeof text - 1);
    close(fd);
    if (length <= 0) {
        return 0;
    }
    text[length] = '\0';
    const char *field = strrchr(text, ')');
    if (field && strncmp(field, ") Z", 3) == 0) {
        return ZOMBIE;
    }
    for (int number = 2; field && number < 22; number++) {
        field = strchr(field + 1, ' ');
    }
    return field ? strtoull(field, NULL, 10) : 0;
}

/* The number in "pid:[4026531836]". */
static uint64_t own_pid_namespace(void)
{
    char text[64];
    const ssize_t length = readlink("/proc/self/ns/pid", text, sizeof text - 1);
    if (length <= 0) {
        return 0;
    }
    text[length] = '\0';
    const char *number = strchr(text, '[');
    return number ? strtoull(number + 1, NULL, 10) : 0;
}

struct mbp_identity mbp_identity_of_self(void)
{
    const pid_t pid = getpid();
    const uint64_t start_ticks = start_ticks_of(pid);
    return (struct mbp_identity){
        .owner = low_bits((uint64_t)pid, PID_BITS) |
                 low_bits(own_pid_namespace(), NAMESPACE_BITS) << PID_BITS |
                 low_bits(start_ticks, START_BITS) << (PID_BITS + NAMESPACE_BITS),
        .start_ticks = start_ticks,
        .program = program_invocation_short_name,
    };
}

/* Cheap, and enough to find a free place: an id that is in use again only
 * makes a slot stay taken for longer. */
static bool pid_is_gone(uint64_t owner, const struct mbp_identity *self)
{
    return namespace_of(owner) == namespace_of(self->owner) && kill(pid_of(owner), 0) != 0 &&
           errno == ESRCH;
}

static bool owner_is_dead(uint64_t owner, const struct mbp_identity *self)
{
    if (namespace_of(owner) != namespace_of(self->owner)) {
        return false;
    }
    if (pid_is_gone(owner, self)) {
        return true;
    }
    const uint64_t start_ticks = start_ticks_of(pid_of(owner));
    return start_ticks == ZOMBIE || (start_ticks != 0 && start_of(owner) != 0 &&
                                        low_bits(start_ticks, START_BITS) != start_of(owner));
}

static void copy_text(char *to, size_t size, const char *from)
{
    const size_t length = strnlen(from, size - 1);
    memcpy(to, from, length);
    memset(to + length, 0, size - length);
}

static bool claim(struct mbp_slot *slot, uint64_t seen, const struct mbp_identity *self)
{
    if (!atomic_compare_exchange_strong(&slot->owner, &seen, self->owner)) {
        return false;
    }
    for (unsigned i = 0; i < MBP_SLOT_COUNTERS; i++) {
        slot->base[i] = slot->counters[i];
    }
    slot->start_ticks = self->start_ticks;
    slot->attached_at_ms = mbp_wall_clock_ms();
    copy_text(slot->program, sizeof slot->program, self->program);
    copy_text(slot->driver_version, sizeof slot->driver_version, "");
    return true;
}

static struct mbp_slot *claim_abandoned(struct mbp_segment *segment,
    const struct mbp_identity *self, bool (*abandoned)(uint64_t, const struct mbp_identity *))
{
    struct mbp_layout *layout = segment->layout;
    const uint32_t used = layout->slots_used;
    for (uint32_t i = 0; i < used && i < segment->slot_count; i++) {
        const uint64_t owner = layout->slots[i].owner;
        if ((owner == 0 || abandoned(owner, self)) && claim(&layout->slots[i], owner, self)) {
            return &layout->slots[i];
        }
    }
    return NULL;
}

static struct mbp_slot *claim_fresh(struct mbp_segment *segment, const struct mbp_identity *self)
{
    struct mbp_layout *layout = segment->layout;
    uint32_t used = layout->slots_used;
    while (used < segment->slot_count) {
        if (!atomic_compare_exchange_weak(&layout->slots_used, &used, used + 1)) {
            continue;
        }
        if (claim(&layout->slots[used], 0, self)) {
            return &layout->slots[used];
        }
        used = layout->slots_used; /* another process saw it free and took it */
    }
    return NULL;
}

struct mbp_slot *mbp_slot_take(struct mbp_segment *segment, const struct mbp_identity *self)
{
    struct mbp_slot *slot = claim_abandoned(segment, self, pid_is_gone);
    if (!slot) {
        slot = claim_fresh(segment, self);
    }
    if (!slot) {
        /* Reads a file a slot, so only when there is nothing better. */
        slot = claim_abandoned(segment, self, owner_is_dead);
    }
    return slot ? slot : &segment->layout->overflow;
}

void mbp_slot_release(struct mbp_slot *slot, const struct mbp_identity *self)
{
    uint64_t owner = self->owner;
    atomic_compare_exchange_strong(&slot->owner, &owner, 0);
}

void mbp_slot_set_driver(struct mbp_slot *slot, const char *version)
{
    copy_text(slot->driver_version, sizeof slot->driver_version, version);
}

enum mbp_liveness mbp_slot_liveness(const struct mbp_slot *slot, const struct mbp_identity *self)
{
    const uint64_t owner = slot->owner;
    if (owner == 0) {
        return MBP_SLOT_FREE;
    }
    if (namespace_of(owner) != namespace_of(self->owner)) {
        return MBP_SLOT_ELSEWHERE;
    }
    return owner_is_dead(owner, self) ? MBP_SLOT_DEAD : MBP_SLOT_LIVE;
}

pid_t mbp_slot_pid(const struct mbp_slot *slot)
{
    return pid_of(slot->owner);
}

uint64_t mbp_slot_own_count(const struct mbp_slot *slot, enum mbp_counter counter)
{
    return slot->counters[counter] - slot->base[counter];
}

void mbp_slots_totals(const struct mbp_segment *segment, uint64_t totals[MBP_COUNTER_COUNT])
{
    const struct mbp_layout *layout = segment->layout;
    const uint32_t used = layout->slots_used;
    for (unsigned counter = 0; counter < MBP_COUNTER_COUNT; counter++) {
        totals[counter] = layout->overflow.counters[counter];
        for (uint32_t i = 0; i < used && i < segment->slot_count; i++) {
            totals[counter] += layout->slots[i].counters[counter];
        }
    }
}
