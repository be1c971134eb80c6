#include "shim/driver/version.h"

#include <stdlib.h>

/* "1.23.1" as 1023; what is no version becomes 0. */
static unsigned major_minor(const char *version)
{
    char *end;
    const unsigned long major = strtoul(version, &end, 10);
    if (*end != '.' || major > 1000) {
        return 0;
    }
    const unsigned long minor = strtoul(end + 1, &end, 10);
    return minor > 999 ? 0 : (unsigned)(major * 1000 + minor);
}

bool mbp_version_retries_overload(const char *version)
{
    return major_minor(version) >= 2003;
}

const char *mbp_command_name(const char *version, const struct mbp_command *command)
{
    enum { FIRST_KNOWN = 1017, LAST_KNOWN = 2005, NAME_OFFSET = 24 };
    const unsigned known = major_minor(version);
    if (known < FIRST_KNOWN || known > LAST_KNOWN) {
        return "command";
    }
    return *(const char *const *)((const char *)command + NAME_OFFSET);
}
