/*
 * Finding functions in the shared objects of this process. A driver need not
 * be visible to everybody: a plug-in's is often opened for the plug-in alone.
 */
#ifndef MBP_OBJECTS_H
#define MBP_OBJECTS_H

/* The function `name` that a call from `call_site` would have reached without
 * us. NULL if there is none. */
void *mbp_function_behind(const void *call_site, const char *name);

/* Where an object that holds `address` finds its functions. */
struct mbp_scope {
    void *handle; /* NULL: what everybody sees */
};

struct mbp_scope mbp_scope_open(const void *address);
void *mbp_scope_find(const struct mbp_scope *scope, const char *name);
void mbp_scope_close(struct mbp_scope *scope);

#endif
