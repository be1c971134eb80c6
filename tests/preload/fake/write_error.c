/*
 * Apart from the function it calls, so that no compiler can take the short way
 * around the PLT.
 */
#include "driver.h"

int _mongoc_write_error_get_type(struct fake_reply *reply)
{
    return mongoc_error_has_label(reply, "RetryableWriteError") ? FAKE_ERROR_RETRY
                                                                : FAKE_ERROR_NONE;
}
