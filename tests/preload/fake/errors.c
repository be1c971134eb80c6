/*
 * What the driver thinks of an error. Its answers about labels come through
 * the PLT themselves.
 */
#include "driver.h"

#include <bson/bson.h>
#include <string.h>

bool mongoc_error_has_label(const struct fake_reply *reply, const char *label)
{
    bson_iter_t field;
    bson_iter_t labels;
    if (bson_iter_init_find(&field, (const bson_t *)reply, "errorLabels") &&
        bson_iter_recurse(&field, &labels)) {
        while (bson_iter_next(&labels)) {
            if (strcmp(bson_iter_utf8(&labels, NULL), label) == 0) {
                return true;
            }
        }
    }
    return false;
}

int _mongoc_read_error_get_type(
    bool ok, const struct fake_error *error, const struct fake_reply *reply)
{
    enum { NOT_WRITABLE_PRIMARY = 10107 };
    (void)reply;
    return ok                                    ? FAKE_ERROR_NONE
           : error->code == NOT_WRITABLE_PRIMARY ? FAKE_ERROR_RETRY
                                                 : FAKE_ERROR_OTHER;
}
