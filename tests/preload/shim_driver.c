#include "shim_driver.h"

#include "tests/support/run.h"

#include <criterion/criterion.h>
#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct mbp_binding shim_binding(const char *driver, unsigned version)
{
    char file[64];
    snprintf(file, sizeof file, "tests/libmongoc-%s.so", driver);
    char *path = run_built(file);
    void *handle = dlopen(path, RTLD_NOW | RTLD_LOCAL);
    cr_assert(handle, "%s", dlerror());
    free(path);
    return (struct mbp_binding){
        .real = (mbp_function *)dlsym(handle, "mongoc_cluster_run_command_monitored"),
        .usable = true,
        .layout = mbp_layout_for(version),
    };
}

bson_t *shim_document(const char *json)
{
    bson_error_t error;
    char *text = strdup(json);
    cr_assert(text);
    for (char *quote = text; (quote = strchr(quote, '\'')) != NULL;) {
        *quote = '"';
    }
    bson_t *document = bson_new_from_json((const uint8_t *)text, -1, &error);
    cr_assert(document, "%s: %s", json, error.message);
    free(text);
    return document;
}

struct mbp_document shim_view(const bson_t *document)
{
    return (struct mbp_document){.data = bson_get_data(document), .length = document->len};
}
