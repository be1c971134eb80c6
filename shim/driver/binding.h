/*
 * Finding the driver that a call comes from. A process may hold several copies
 * (linked, loaded by plug-ins, closed and loaded again), and none of them need
 * be visible to RTLD_NEXT. The one that counts is the one whose code called.
 */
#ifndef MBP_BINDING_H
#define MBP_BINDING_H

#include "shim/driver/abi.h"
#include "shim/driver/layout.h"
#include "shim/hooks.h"

#include <stdatomic.h>
#include <string.h>

/* Any function; to be cast to its type. */
typedef void mbp_function(void);

/* Where a hook was called from, and the function it stands in for there. */
struct mbp_binding {
    _Atomic(const void *) call_site;
    uint64_t code; /* the bytes before the call site */
    mbp_function *real;
    /* The driver is known and complete; otherwise its calls pass through
     * untouched. */
    bool usable;
    bool retries_overload;                     /* by itself: only the budget is ours */
    const struct mbp_layout_of_driver *layout; /* NULL: not known */
};

/*
 * Bindings are remembered by call site, together with the bytes of code before
 * it. A driver that was closed leaves its entries behind, but whatever takes
 * its place in memory either is the same library at the same address, for
 * which they are right, or has other code there, for which they don't match.
 * Entries are never changed or freed, so that readers need no lock. A driver
 * has about a dozen call sites of a hook.
 */
#define MBP_BINDINGS_REMEMBERED 64
struct mbp_binding_table {
    struct mbp_binding entries[MBP_BINDINGS_REMEMBERED];
    _Atomic unsigned used;
};
extern struct mbp_binding_table mbp_binding_tables[MBP_HOOK_COUNT];

static inline uint64_t mbp_code_before(const void *call_site)
{
    uint64_t code;
    memcpy(&code, (const char *)call_site - sizeof code, sizeof code);
    return code;
}

/* Looks it up and remembers it. `scratch` is used where there is no room for
 * that. errno is kept. */
const struct mbp_binding *mbp_bind(
    enum mbp_hook hook, const void *call_site, struct mbp_binding *scratch) __attribute__((cold));

/* What is remembered, or NULL. Inline, because every command passes several
 * hooks. */
static inline const struct mbp_binding *mbp_binding_known(enum mbp_hook hook, const void *call_site)
{
    struct mbp_binding *entries = mbp_binding_tables[hook].entries;
    for (unsigned i = 0; i < MBP_BINDINGS_REMEMBERED; i++) {
        const void *known = atomic_load_explicit(&entries[i].call_site, memory_order_acquire);
        if (known == call_site && entries[i].code == mbp_code_before(call_site)) {
            return &entries[i];
        }
        if (!known) {
            break; /* one that is being written just now is looked up twice */
        }
    }
    return NULL;
}

/* The binding for a call of that hook that returns to `call_site`. The first
 * call from each place looks it up; later ones take neither locks nor system
 * calls. `real` is NULL if no driver can be found at all. */
static inline const struct mbp_binding *mbp_binding_for(
    enum mbp_hook hook, const void *call_site, struct mbp_binding *scratch)
{
    const struct mbp_binding *known = mbp_binding_known(hook, call_site);
    return known ? known : mbp_bind(hook, call_site, scratch);
}

/* Functions of the driver and its own libbson. They are looked up when needed,
 * on the path of a failure only: remembered, they could dangle once the driver
 * was closed and loaded again beside another libbson. */
#define MBP_DRIVER_FUNCTIONS(X)                                                                    \
    X(void, bson_destroy, (struct mbp_bson *))                                                     \
    X(bool, bson_steal, (struct mbp_bson * to, struct mbp_bson * from))                            \
    X(const uint8_t *, bson_get_data, (const struct mbp_bson *))                                   \
    X(const char *, mongoc_get_version, (void))

struct mbp_driver {
#define X(result, name, parameters) result(*name) parameters;
    MBP_DRIVER_FUNCTIONS(X)
#undef X
    const char *missing; /* the first that was not found, or NULL */
};

void mbp_driver_look_up(struct mbp_driver *driver, mbp_function *real);

#endif
