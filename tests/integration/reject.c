#include "reject.h"

#include "fixture.h"

#include <stdio.h>

/* Not every server that tests run on has the fail point. */
static bool was_used;

bool reject_as(const struct rejection *rejection)
{
    was_used = true;
    char mode[32] = "'alwaysOn'";
    char outcome[128];
    char command[640];
    if (rejection->times) {
        snprintf(mode, sizeof mode, "{'times': %d}", rejection->times);
    }
    snprintf(
        outcome, sizeof outcome, "'errorCode': %d", rejection->code ? rejection->code : OVERLOADED);
    snprintf(command, sizeof command,
        "{'configureFailPoint': 'failCommand', 'mode': %s, 'data': {"
        "'failCommands': ['%s'], 'appName': '%s', 'errorLabels': [%s], %s}}",
        mode, rejection->command, fixture.name, rejection->labels ? rejection->labels : BOTH_LABELS,
        rejection->more ? rejection->more : outcome);
    return fixture_admin_command("admin", command);
}

bool accept_all(void)
{
    return !was_used ||
           fixture_admin_command("admin", "{'configureFailPoint': 'failCommand', 'mode': 'off'}");
}
