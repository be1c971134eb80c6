/*
 * What is known of driver versions.
 */
#ifndef MBP_DRIVER_VERSION_H
#define MBP_DRIVER_VERSION_H

#include <stdbool.h>

struct mbp_command;

/* From 2.3.0 on the driver has the policy, though not the shared budget. */
bool mbp_version_retries_overload(const char *version);

/* The command's name, for the log; "command" for a version whose private
 * layout is not known. */
const char *mbp_command_name(const char *version, const struct mbp_command *command);

#endif
