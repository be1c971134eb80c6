/*
 * For tests of the shim's parts that are linked into the test program: a copy
 * of the fake driver for them to look functions up in, and documents.
 */
#ifndef MBP_SHIM_DRIVER_H
#define MBP_SHIM_DRIVER_H

#include "shim/driver/binding.h"
#include "shim/driver/document.h"

#include <bson/bson.h>

/* As if a call came from the driver of that name (fake, fake-bare), which
 * stays loaded. The version decides on the layout only. */
struct mbp_binding shim_binding(const char *driver, unsigned version);

/* A document from JSON with simple quotes; to be destroyed with bson_destroy. */
bson_t *shim_document(const char *json);

/* The same document as the shim reads it; valid as long as it is. */
struct mbp_document shim_view(const bson_t *document);

#endif
