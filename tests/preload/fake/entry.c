/*
 * The ways in. Apart from the function they call, so that no compiler can take
 * the short way around the PLT.
 */
#include "driver.h"

#include <stdatomic.h>

struct fake_cluster fake_cluster = {.uri = "mongodb://user:uri-secret@localhost/"};

/* Something left to do after the call: without it, it would be a jump. */
static _Atomic unsigned returns;

bool fake_run(struct fake_command *command, struct fake_reply *reply, struct fake_error *error)
{
    const bool ok = mongoc_cluster_run_command_monitored(&fake_cluster, command, reply, error);
    atomic_fetch_add(&returns, 1);
    return ok;
}

bool fake_run_elsewhere(
    struct fake_command *command, struct fake_reply *reply, struct fake_error *error)
{
    const bool ok = mongoc_cluster_run_command_monitored(&fake_cluster, command, reply, error);
    atomic_fetch_sub(&returns, 1);
    return ok;
}

bool fake_run_by_jump(
    struct fake_command *command, struct fake_reply *reply, struct fake_error *error)
{
    return mongoc_cluster_run_command_monitored(&fake_cluster, command, reply, error);
}
