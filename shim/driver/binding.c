#include "shim/driver/binding.h"

#include "common/log.h"
#include "common/process.h"
#include "shim/driver/objects.h"

#include <errno.h>
#include <stdatomic.h>
#include <stdio.h>
#include <string.h>

static const char *const hook_names[MBP_HOOK_COUNT] = {
#define X(name, type) #name,
    MBP_HOOKS(X)
#undef X
};

/*
 * Bindings are remembered by call site, together with the bytes of code before
 * it. A driver that was closed leaves its entries behind, but whatever takes
 * its place in memory either is the same library at the same address, for
 * which they are right, or has other code there, for which they don't match.
 * Entries are never changed or freed, so that readers need no lock. A driver
 * has about a dozen call sites of a hook.
 */
#define ENTRY_COUNT 64
static struct {
    struct mbp_binding entries[ENTRY_COUNT];
    _Atomic unsigned used;
} tables[MBP_HOOK_COUNT];

static uint64_t code_before(const void *call_site)
{
    uint64_t code;
    memcpy(&code, (const char *)call_site - sizeof code, sizeof code);
    return code;
}

void mbp_driver_look_up(struct mbp_driver *driver, mbp_function *real)
{
    struct mbp_scope scope = mbp_scope_open((const void *)real);
    driver->missing = NULL;
#define X(result, name, parameters)                                                                \
    driver->name = (result(*) parameters)mbp_scope_find(&scope, #name);                            \
    if (!driver->name && !driver->missing) {                                                       \
        driver->missing = #name;                                                                   \
    }
    MBP_DRIVER_FUNCTIONS(X)
#undef X
    mbp_scope_close(&scope);
}

/* Every call site of a driver leads to examine() once; the driver is spoken of
 * once. One of its functions stands for it. */
static bool is_news(const void *driver)
{
    enum { REMEMBERED = 16 };
    static _Atomic(const void *) spoken_of[REMEMBERED];
    for (unsigned i = 0; i < REMEMBERED; i++) {
        const void *nobody = NULL;
        if (atomic_compare_exchange_strong(&spoken_of[i], &nobody, driver)) {
            return true;
        }
        if (nobody == driver) {
            return false;
        }
    }
    return false;
}

static void speak_of(const char *version, const struct mbp_binding *binding)
{
    static char noted_version[MBP_VERSION_SIZE]; /* outlives a driver that is closed */
    snprintf(noted_version, sizeof noted_version, "%s", version);
    mbp_process_set_driver(noted_version);
    mbp_log(MBP_LOG_DEBUG, "bound to libmongoc %s", version);
    if (binding->retries_overload) {
        mbp_log(MBP_LOG_INFO,
            "libmongoc %s retries overload by itself; its retries are paid from the shared budget",
            version);
    }
    if (!binding->layout) {
        mbp_log(MBP_LOG_INFO,
            "libmongoc %s is not known: no retargeting, and maxTimeMS is sent unchanged", version);
    }
}

static void examine(struct mbp_binding *binding)
{
    struct mbp_driver driver;
    mbp_driver_look_up(&driver, binding->real);
    binding->usable = driver.missing == NULL;
    if (driver.missing) {
        const void *known_by = driver.mongoc_get_version ? (const void *)driver.mongoc_get_version
                                                         : (const void *)binding->real;
        mbp_log(is_news(known_by) ? MBP_LOG_WARN : MBP_LOG_DEBUG,
            "the driver has no %s; its commands pass through untouched", driver.missing);
        return;
    }
    const char *version = driver.mongoc_get_version();
    const unsigned number = mbp_version_number(version);
    binding->layout = mbp_layout_for(number);
    binding->retries_overload = mbp_version_retries_overload(number);
    if (is_news((const void *)driver.mongoc_get_version)) {
        speak_of(version, binding);
    }
}

static __attribute__((cold, noinline)) const struct mbp_binding *bind(
    enum mbp_hook hook, const void *call_site, struct mbp_binding *scratch)
{
    const int caller_errno = errno;
    *scratch = (struct mbp_binding){.call_site = call_site, .code = code_before(call_site)};
    mbp_process_settings(); /* they say how loud to be about what follows */
    scratch->real = (mbp_function *)mbp_function_behind(call_site, hook_names[hook]);
    if (scratch->real) { /* otherwise it is tried again next time */
        examine(scratch);
        const unsigned place = atomic_fetch_add(&tables[hook].used, 1);
        if (place < ENTRY_COUNT) {
            struct mbp_binding *entry = &tables[hook].entries[place];
            entry->code = scratch->code;
            entry->real = scratch->real;
            entry->usable = scratch->usable;
            entry->retries_overload = scratch->retries_overload;
            entry->layout = scratch->layout;
            atomic_store_explicit(&entry->call_site, call_site, memory_order_release);
        } else {
            atomic_store(&tables[hook].used, ENTRY_COUNT); /* slower, as right */
        }
    }
    errno = caller_errno;
    return scratch;
}

const struct mbp_binding *mbp_binding_for(
    enum mbp_hook hook, const void *call_site, struct mbp_binding *scratch)
{
    struct mbp_binding *entries = tables[hook].entries;
    for (unsigned i = 0; i < ENTRY_COUNT; i++) {
        const void *known = atomic_load_explicit(&entries[i].call_site, memory_order_acquire);
        if (known == call_site && entries[i].code == code_before(call_site)) {
            return &entries[i];
        }
        if (!known && i >= atomic_load_explicit(&tables[hook].used, memory_order_relaxed)) {
            break;
        }
    }
    return bind(hook, call_site, scratch);
}
