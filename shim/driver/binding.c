#include "shim/driver/binding.h"

#include "common/log.h"
#include "common/process.h"
#include "shim/driver/objects.h"
#include "shim/driver/version.h"

#include <stdatomic.h>
#include <stdio.h>
#include <string.h>

#define HOOK_NAME "mongoc_cluster_run_command_monitored"

/*
 * Bindings are remembered by call site, together with the bytes of code before
 * it. A driver that was closed leaves its entries behind, but whatever takes
 * its place in memory either is the same library at the same address, for
 * which they are right, or has other code there, for which they don't match.
 * Entries are never changed or freed, so that readers need no lock. A driver
 * has about a dozen call sites.
 */
#define ENTRY_COUNT 128
static struct mbp_binding entries[ENTRY_COUNT];
static _Atomic unsigned entries_used;

static uint64_t code_before(const void *call_site)
{
    uint64_t code;
    memcpy(&code, (const char *)call_site - sizeof code, sizeof code);
    return code;
}

void mbp_driver_look_up(struct mbp_driver *driver, mbp_run_command *real_run_command)
{
    struct mbp_scope scope = mbp_scope_open((const void *)real_run_command);
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
 * once. */
static bool is_news(mbp_run_command *real_run_command)
{
    enum { REMEMBERED = 16 };
    static _Atomic(mbp_run_command *) spoken_of[REMEMBERED];
    for (unsigned i = 0; i < REMEMBERED; i++) {
        mbp_run_command *nobody = NULL;
        if (atomic_compare_exchange_strong(&spoken_of[i], &nobody, real_run_command)) {
            return true;
        }
        if (nobody == real_run_command) {
            return false;
        }
    }
    return false;
}

static bool examine(mbp_run_command *real_run_command)
{
    static char noted_version[MBP_VERSION_SIZE]; /* outlives a driver that is closed */
    const bool news = is_news(real_run_command);
    struct mbp_driver driver;
    mbp_driver_look_up(&driver, real_run_command);
    if (driver.missing) {
        mbp_log(news ? MBP_LOG_WARN : MBP_LOG_DEBUG,
            "the driver has no %s; its commands pass through untouched", driver.missing);
        return false;
    }
    const char *version = driver.mongoc_get_version();
    if (news) {
        snprintf(noted_version, sizeof noted_version, "%s", version);
        mbp_process_set_driver(noted_version);
    }
    if (mbp_version_retries_overload(version)) {
        mbp_log(news ? MBP_LOG_INFO : MBP_LOG_DEBUG,
            "libmongoc %s retries overload by itself; its commands pass through untouched",
            version);
        return false;
    }
    mbp_log(MBP_LOG_DEBUG, "bound to libmongoc %s", version);
    return true;
}

static __attribute__((cold, noinline)) const struct mbp_binding *bind(
    const void *call_site, struct mbp_binding *scratch)
{
    scratch->call_site = call_site;
    scratch->code = code_before(call_site);
    scratch->usable = false;
    mbp_process_settings(); /* they say how loud to be about what follows */
    scratch->real_run_command = (mbp_run_command *)mbp_function_behind(call_site, HOOK_NAME);
    if (!scratch->real_run_command) {
        return scratch; /* tried again next time */
    }
    scratch->usable = examine(scratch->real_run_command);

    const unsigned place = atomic_fetch_add(&entries_used, 1);
    if (place >= ENTRY_COUNT) {
        atomic_store(&entries_used, ENTRY_COUNT);
        return scratch; /* slower, as right */
    }
    struct mbp_binding *entry = &entries[place];
    entry->code = scratch->code;
    entry->real_run_command = scratch->real_run_command;
    entry->usable = scratch->usable;
    atomic_store_explicit(&entry->call_site, call_site, memory_order_release);
    return entry;
}

const struct mbp_binding *mbp_binding_for(const void *call_site, struct mbp_binding *scratch)
{
    for (unsigned i = 0; i < ENTRY_COUNT; i++) {
        const void *known = atomic_load_explicit(&entries[i].call_site, memory_order_acquire);
        if (known == call_site && entries[i].code == code_before(call_site)) {
            return &entries[i];
        }
        if (!known && i >= atomic_load_explicit(&entries_used, memory_order_relaxed)) {
            break;
        }
    }
    return bind(call_site, scratch);
}
