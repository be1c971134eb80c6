#include "shim/driver/objects.h"

#include <dlfcn.h>
#include <link.h>
#include <stdbool.h>
#include <stddef.h>
#include <string.h>

static const void *base_of(const void *address)
{
    Dl_info info;
    return address && dladdr(address, &info) ? info.dli_fbase : NULL;
}

static bool in_same_object(const void *a, const void *b)
{
    const void *base = base_of(a);
    return base && base == base_of(b);
}

static bool is_our_own(const void *function)
{
    static const char in_here;
    return in_same_object(function, &in_here);
}

/* The object that holds `address`, as a handle to look names up in: in itself
 * first, then in what it depends on. NULL for the program itself. */
static void *open_object_of(const void *address)
{
    Dl_info info;
    struct link_map *object = NULL;
    if (!dladdr1(address, &info, (void **)&object, RTLD_DL_LINKMAP) || !object ||
        !object->l_name[0]) {
        return NULL;
    }
    return dlopen(object->l_name, RTLD_LAZY | RTLD_NOLOAD);
}

static void *look_up_and_close(void *handle, const char *name)
{
    void *found = handle ? dlsym(handle, name) : NULL;
    if (handle) {
        dlclose(handle); /* somebody else has it open */
    }
    return found && !is_our_own(found) ? found : NULL;
}

/* The names of all objects, one after the other, as far as they fit. */
struct names {
    char text[32768];
    size_t used;
};

static int add_name(struct dl_phdr_info *info, size_t size, void *data)
{
    struct names *names = data;
    const size_t length = strlen(info->dlpi_name) + 1;
    (void)size;
    if (length > 1 && length <= sizeof names->text - names->used) {
        memcpy(names->text + names->used, info->dlpi_name, length);
        names->used += length;
    }
    return 0;
}

/* The one function of that name in the process; NULL if there are several.
 * Opening objects while they are being listed could deadlock, so that comes
 * after. */
static __attribute__((noinline)) void *the_only(const char *name)
{
    struct names names = {.used = 0};
    void *only = NULL;
    dl_iterate_phdr(add_name, &names);
    for (size_t at = 0; at < names.used; at += strlen(names.text + at) + 1) {
        void *found = look_up_and_close(dlopen(names.text + at, RTLD_LAZY | RTLD_NOLOAD), name);
        if (found && only && found != only) {
            return NULL;
        }
        only = found ? found : only;
    }
    return only;
}

void *mbp_function_behind(const void *call_site, const char *name)
{
    /* First what needs no dlopen: in a child that was forked while another
     * thread was in one, the loader may not know what belongs together. */
    void *next = dlsym(RTLD_NEXT, name);
    if (next && in_same_object(next, call_site)) {
        return next;
    }
    void *callers_own = look_up_and_close(open_object_of(call_site), name);
    if (callers_own) {
        return callers_own;
    }
    /* A driver's function may end with a jump, and its caller look like ours. */
    return next ? next : the_only(name);
}

struct mbp_scope mbp_scope_open(const void *address)
{
    const bool seen_by_all = in_same_object(dlsym(RTLD_NEXT, "mongoc_get_version"), address);
    return (struct mbp_scope){.handle = seen_by_all ? NULL : open_object_of(address)};
}

void *mbp_scope_find(const struct mbp_scope *scope, const char *name)
{
    return dlsym(scope->handle ? scope->handle : RTLD_NEXT, name);
}

void mbp_scope_close(struct mbp_scope *scope)
{
    if (scope->handle) {
        dlclose(scope->handle);
    }
}
