#include "process.h"

#include "log.h"

#include <errno.h>
#include <pthread.h>
#include <unistd.h>

static struct {
    pthread_once_t settings_once;
    struct mbp_settings settings;
    pthread_once_t attach_once;
    struct mbp_policy policy;
    struct mbp_segment segment;
    struct mbp_random random;
    struct mbp_engine engine;          /* counts in the slot of this process */
    struct mbp_engine slotless_engine; /* counts in the shared overflow slot */
    _Atomic(const char *) driver_version;
    _Atomic bool has_slot; /* `engine` may be used; false again in a forked child */
    _Atomic bool taking_slot;
} process = {.settings_once = PTHREAD_ONCE_INIT, .attach_once = PTHREAD_ONCE_INIT};

static void complain(const char *complaint)
{
    mbp_log(MBP_LOG_WARN, "%s", complaint);
}

static void keep_quiet(const char *complaint)
{
    (void)complaint;
}

static void read_settings(void)
{
    /* Twice: how loud to complain is itself a setting. */
    mbp_settings_read_own(&process.settings, keep_quiet);
    mbp_log_set_level((enum mbp_log_level)process.settings.value[MBP_SET_LOG]);
    mbp_settings_read_own(&process.settings, complain);
}

const struct mbp_settings *mbp_process_settings(void)
{
    pthread_once(&process.settings_once, read_settings);
    return &process.settings;
}

static void attach(void)
{
    const struct mbp_settings *settings = &process.settings;
    const mbp_millitokens capacity = (mbp_millitokens)settings->value[MBP_SET_CAPACITY] * MBP_TOKEN;
    char name[MBP_SEGMENT_NAME_SIZE];
    char fault[MBP_FAULT_SIZE];
    mbp_segment_name(name, geteuid(), settings->bucket);
    if (!mbp_segment_attach(&process.segment, name, capacity, fault)) {
        mbp_segment_make_private(&process.segment, capacity);
        mbp_log(MBP_LOG_WARN,
            "shared memory %s can't be used: %s; this process has a budget of its own", name,
            fault);
    }
    const mbp_millitokens actual = mbp_bucket_capacity(&process.segment.layout->bucket);
    if (settings->given[MBP_SET_CAPACITY] && actual != capacity) {
        mbp_log(MBP_LOG_WARN, "%s=%u comes too late: the bucket has room for %u tokens already",
            mbp_setting_infos[MBP_SET_CAPACITY].variable, capacity / MBP_TOKEN, actual / MBP_TOKEN);
    }
}

/* The child shares the bucket, but must neither count in its parent's slot nor
 * wait in step with it. Only stores: more could deadlock in a forked child. */
static void forget_slot_in_child(void)
{
    atomic_store(&process.has_slot, false);
    atomic_store(&process.taking_slot, false);
}

static void set_up(void)
{
    attach();
    process.policy = mbp_settings_policy(&process.settings);
    process.slotless_engine = (struct mbp_engine){
        .policy = &process.policy,
        .bucket = &process.segment.layout->bucket,
        .slot = &process.segment.layout->overflow,
        .jitter = mbp_random_jitter(&process.random),
        .observe = process.settings.value[MBP_SET_OBSERVE],
    };
    mbp_random_seed_from_system(&process.random);
    pthread_atfork(NULL, NULL, forget_slot_in_child);
}

static void take_slot(void)
{
    const struct mbp_identity self = mbp_identity_of_self();
    const char *version = atomic_load(&process.driver_version);
    struct mbp_slot *slot = mbp_slot_take(&process.segment, &self);
    if (version && slot != &process.segment.layout->overflow) {
        mbp_slot_set_driver(slot, version);
    }
    mbp_random_seed_from_system(&process.random);
    process.engine = process.slotless_engine;
    process.engine.slot = slot;
    atomic_store_explicit(&process.has_slot, true, memory_order_release);
}

/* The first command of a process, or of a forked child. */
static __attribute__((cold, noinline)) const struct mbp_engine *first_engine(void)
{
    const int caller_errno = errno;
    bool nobody = false;
    const bool disabled = mbp_process_settings()->value[MBP_SET_DISABLE];
    if (!disabled) {
        pthread_once(&process.attach_once, set_up);
    }
    if (!disabled && atomic_compare_exchange_strong(&process.taking_slot, &nobody, true)) {
        take_slot();
    }
    errno = caller_errno;
    /* While another thread takes the slot, nobody waits for it. */
    return disabled                         ? NULL
           : atomic_load(&process.has_slot) ? &process.engine
                                            : &process.slotless_engine;
}

const struct mbp_engine *mbp_process_engine(void)
{
    return atomic_load_explicit(&process.has_slot, memory_order_acquire) ? &process.engine
                                                                         : first_engine();
}

void mbp_process_set_driver(const char *version)
{
    atomic_store(&process.driver_version, version);
    if (atomic_load(&process.has_slot) &&
        process.engine.slot != &process.segment.layout->overflow) {
        mbp_slot_set_driver(process.engine.slot, version);
    }
}
