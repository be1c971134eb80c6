/*
 * The one thing that is asked about a URI, which is simply its text here.
 */
#include "driver.h"

#include <stdio.h>
#include <string.h>

bool mongoc_uri_get_option_as_bool(const char *uri, const char *option, bool fallback)
{
    char setting[64];
    snprintf(setting, sizeof setting, "%s=%s", option, fallback ? "false" : "true");
    return strstr(uri, setting) ? !fallback : fallback;
}
