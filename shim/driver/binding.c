#include "shim/driver/binding.h"

#include "common/log.h"
#include "common/process.h"
#include "shim/driver/objects.h"

#include <errno.h>
#include <stdio.h>

static const char *const hook_names[MBP_HOOK_COUNT] = {
#define X(name, type) #name,
    MBP_HOOKS(X)
#undef X
};

struct mbp_binding_table mbp_binding_tables[MBP_HOOK_COUNT];

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

const struct mbp_binding *mbp_bind(
    enum mbp_hook hook, const void *call_site, struct mbp_binding *scratch)
{
    const int caller_errno = errno;
    *scratch = (struct mbp_binding){.call_site = call_site, .code = mbp_code_before(call_site)};
    mbp_process_settings(); /* they say how loud to be about what follows */
    scratch->real = (mbp_function *)mbp_function_behind(call_site, hook_names[hook]);
    if (scratch->real) { /* otherwise it is tried again next time */
        examine(scratch);
        const unsigned place = atomic_fetch_add(&mbp_binding_tables[hook].used, 1);
        if (place < MBP_BINDINGS_REMEMBERED) {
            struct mbp_binding *entry = &mbp_binding_tables[hook].entries[place];
            entry->code = scratch->code;
            entry->real = scratch->real;
            entry->usable = scratch->usable;
            entry->retries_overload = scratch->retries_overload;
            entry->layout = scratch->layout;
            atomic_store_explicit(&entry->call_site, call_site, memory_order_release);
        } else {
            atomic_store(
                &mbp_binding_tables[hook].used, MBP_BINDINGS_REMEMBERED); /* slower, as right */
        }
    }
    errno = caller_errno;
    return scratch;
}
