/*
 * The loop: send, look at the reply, ask the policy, wait, send again.
 */
#ifndef MBP_RETRY_H
#define MBP_RETRY_H

#include "shim/driver/binding.h"

/* Runs a command as the driver's own function would, with retries. reply and
 * error may be NULL. */
bool mbp_retry_run_command(const struct mbp_binding *binding, struct mbp_cluster *cluster,
    struct mbp_command *command, struct mbp_bson *reply, struct mbp_error *error);

#endif
