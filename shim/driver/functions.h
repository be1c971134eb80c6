/*
 * Functions of the driver that a part of the shim needs, looked up when needed.
 * The part lists them as X(result, name, parameters); MBP_FUNCTIONS makes of
 * the list a `struct functions` and the function that fills it.
 */
#ifndef MBP_FUNCTIONS_H
#define MBP_FUNCTIONS_H

#include "shim/driver/binding.h"
#include "shim/driver/objects.h"

#define MBP_FUNCTION_POINTER(result, name, parameters) result(*name) parameters;

#define MBP_FIND_FUNCTION(result, name, parameters)                                                \
    functions->name = (result(*) parameters)mbp_scope_find(&scope, #name);                         \
    all = all && functions->name;

/* look_up() is false if any of them is missing. */
#define MBP_FUNCTIONS(LIST)                                                                        \
    struct functions {                                                                             \
        LIST(MBP_FUNCTION_POINTER)                                                                 \
    };                                                                                             \
                                                                                                   \
    static bool look_up(const struct mbp_binding *binding, struct functions *functions)            \
    {                                                                                              \
        struct mbp_scope scope = mbp_scope_open((const void *)binding->real);                      \
        bool all = true;                                                                           \
        LIST(MBP_FIND_FUNCTION)                                                                    \
        mbp_scope_close(&scope);                                                                   \
        return all;                                                                                \
    }

#endif
