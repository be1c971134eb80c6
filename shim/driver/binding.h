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

/* The binding for a call of that hook that returns to `call_site`. The first
 * call from each place looks it up; later ones take neither locks nor system
 * calls. `scratch` is used where there is no room to remember it. `real` is
 * NULL if no driver can be found at all. errno is kept. */
const struct mbp_binding *mbp_binding_for(
    enum mbp_hook hook, const void *call_site, struct mbp_binding *scratch);

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
