/*
 * Every name that the library exports. A hook finds the driver it was called
 * from and hands over; it has no logic of its own.
 */
#include "shim/hooks.h"

#include "common/log.h"
#include "shim/retry.h"

#include <errno.h>
#include <stdio.h>

#define HOOK __attribute__((visibility("default")))

/* All hooks, declared by the list: a hook that is missing below doesn't link. */
#define X(name) HOOK mbp_run_command name;
MBP_HOOKS(X)
#undef X

/* There is no function to stand in for, which no real driver can bring about.
 * The call fails as any command may fail. */
static bool fail_unbound(struct mbp_bson *reply, struct mbp_error *error)
{
    mbp_log(MBP_LOG_WARN, "can't find the driver that a command came from; the command fails");
    if (reply) {
        *reply = (struct mbp_bson)MBP_EMPTY_BSON;
    }
    if (error) {
        *error = (struct mbp_error){.domain = 1, .code = 1};
        snprintf(error->message, sizeof error->message, "mongobp: libmongoc was not found");
    }
    return false;
}

bool mongoc_cluster_run_command_monitored(struct mbp_cluster *cluster, struct mbp_command *command,
    struct mbp_bson *reply, struct mbp_error *error)
{
    const int caller_errno = errno;
    struct mbp_binding scratch;
    const struct mbp_binding *binding = mbp_binding_for(__builtin_return_address(0), &scratch);
    errno = caller_errno;
    if (binding->usable) {
        return mbp_retry_run_command(binding, cluster, command, reply, error);
    }
    return binding->real_run_command ? binding->real_run_command(cluster, command, reply, error)
                                     : fail_unbound(reply, error);
}
