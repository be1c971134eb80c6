/*
 * What every hook begins with: finding the driver that it was called from.
 */
#ifndef MBP_HOOK_H
#define MBP_HOOK_H

#include "common/process.h"
#include "shim/driver/binding.h"
#include "shim/hooks.h"

/* All hooks, declared by the list: a hook that is nowhere defined doesn't link. */
#define X(name, type) __attribute__((visibility("default"))) type name;
MBP_HOOKS(X)
#undef X

/* Where this hook was called from; `binding` is what it finds there. */
#define BIND(name)                                                                                 \
    struct mbp_binding scratch;                                                                    \
    const struct mbp_binding *binding =                                                            \
        mbp_binding_for(MBP_HOOK_##name, __builtin_return_address(0), &scratch)

/* The same for hooks that most often have nothing to do: NULL where this is the
 * first call. The compiler can then make a mere jump of them. */
#define BIND_IF_KNOWN(name)                                                                        \
    const struct mbp_binding *binding =                                                            \
        mbp_binding_known(MBP_HOOK_##name, __builtin_return_address(0))

/* The real function, by its type. */
#define REAL(type) ((type *)binding->real)

static inline bool mbp_hook_is_active(const struct mbp_binding *binding)
{
    return binding->usable && !mbp_process_settings()->value[MBP_SET_DISABLE];
}

static inline bool mbp_hook_changes_nothing(void)
{
    return mbp_process_settings()->value[MBP_SET_OBSERVE];
}

#endif
