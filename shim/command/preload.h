/*
 * The library: where it is, whether it fits a program, and how it is named to
 * the loader. The loader carries on without a library that it can't use, so
 * all of this is checked before.
 */
#ifndef MBP_PRELOAD_H
#define MBP_PRELOAD_H

#include <stdbool.h>

/* The path of libmongobp.so: beside this command (as built) or in ../lib or
 * ../lib/mongobp (as installed). For the caller to free. NULL after a complaint
 * where there is none that could be preloaded. */
char *mbp_preload_find_library(void);

/* Whether the library would be loaded into the program at `path`; complains
 * where not. */
bool mbp_preload_fits(const char *library, const char *path);

/* The value of LD_PRELOAD with the library in it once: first, but after any
 * sanitizer's runtime, which insists on that. `existing` may be NULL. For the
 * caller to free. */
char *mbp_preload_value(const char *existing, const char *library);

#endif
