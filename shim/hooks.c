/*
 * Hooks that a command passes. A hook finds the driver it was called from and
 * hands over; it has no logic of its own.
 */
#include "shim/hook.h"

#include "common/log.h"
#include "shim/budget.h"
#include "shim/purpose.h"
#include "shim/retry.h"
#include "shim/thread.h"
#include "shim/unfinished.h"

#include <stdio.h>

/* ---- commands ------------------------------------------------------------ */

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
    BIND(mongoc_cluster_run_command_monitored);
    if (binding->usable) {
        return mbp_retry_run_command(binding, cluster, command, reply, error);
    }
    return binding->real ? REAL(mbp_run_command)(cluster, command, reply, error)
                         : fail_unbound(reply, error);
}

/* ---- what a command is for ----------------------------------------------- */

bool _mongoc_client_command_with_opts(uintptr_t client, uintptr_t database, uintptr_t command,
    uintptr_t mode, uintptr_t a5, uintptr_t a6, uintptr_t a7, uintptr_t a8, uintptr_t a9,
    uintptr_t a10, uintptr_t reply, uintptr_t error)
{
    BIND(_mongoc_client_command_with_opts);
    if (!binding->real) {
        return fail_unbound((struct mbp_bson *)reply, (struct mbp_error *)error);
    }
    const enum mbp_purpose outer = mbp_thread.purpose;
    mbp_thread.purpose = mbp_purpose_of_mode(mode);
    const bool ok = REAL(mbp_command_with_opts)(
        client, database, command, mode, a5, a6, a7, a8, a9, a10, reply, error);
    mbp_thread.purpose = outer;
    return ok;
}

bool mongoc_client_command_simple(uintptr_t client, uintptr_t database, uintptr_t command,
    uintptr_t prefs, struct mbp_bson *reply, struct mbp_error *error)
{
    BIND(mongoc_client_command_simple);
    if (!binding->real) {
        return fail_unbound(reply, error);
    }
    const enum mbp_purpose outer = mbp_thread.purpose;
    mbp_thread.purpose = MBP_PURPOSE_ANY;
    const bool ok = REAL(mbp_command_simple)(client, database, command, prefs, reply, error);
    mbp_thread.purpose = outer;
    return ok;
}

bool mongoc_client_command_simple_with_server_id(uintptr_t client, uintptr_t database,
    uintptr_t command, uintptr_t prefs, uintptr_t server, struct mbp_bson *reply,
    struct mbp_error *error)
{
    BIND(mongoc_client_command_simple_with_server_id);
    if (!binding->real) {
        return fail_unbound(reply, error);
    }
    const enum mbp_purpose outer = mbp_thread.purpose;
    mbp_thread.purpose = MBP_PURPOSE_ANY;
    const bool ok = REAL(mbp_command_simple_with_server)(
        client, database, command, prefs, server, reply, error);
    mbp_thread.purpose = outer;
    return ok;
}

/* ---- the driver's own retries -------------------------------------------- */

enum { ERROR_OTHER = 1 };

/* What the driver is told about an error that it would call `type`. */
static int answer_about_error(const struct mbp_binding *binding, int type)
{
    if (!mbp_hook_is_active(binding) || mbp_hook_changes_nothing()) {
        return type;
    }
    if (mbp_thread.round) {
        return mbp_budget_withholds("RetryableWriteError") && type > ERROR_OTHER ? ERROR_OTHER
                                                                                 : type;
    }
    return mbp_unfinished_answer(type);
}

int _mongoc_read_error_get_type(
    bool ok, const struct mbp_error *error, const struct mbp_bson *reply)
{
    BIND(_mongoc_read_error_get_type);
    return binding->real ? answer_about_error(binding, REAL(mbp_read_error_type)(ok, error, reply))
                         : 0;
}

int _mongoc_write_error_get_type(struct mbp_bson *reply)
{
    BIND(_mongoc_write_error_get_type);
    return binding->real ? answer_about_error(binding, REAL(mbp_write_error_type)(reply)) : 0;
}

static __attribute__((noinline)) bool has_label_for_driver(
    const struct mbp_bson *reply, const char *label, const void *call_site)
{
    struct mbp_binding scratch;
    const struct mbp_binding *binding =
        mbp_binding_for(MBP_HOOK_mongoc_error_has_label, call_site, &scratch);
    const bool has =
        binding->real && !mbp_budget_withholds(label) && REAL(mbp_has_label)(reply, label);
    return mbp_hook_is_active(binding) && !mbp_hook_changes_nothing()
               ? mbp_unfinished_has_label(label, has)
               : has;
}

bool mongoc_error_has_label(const struct mbp_bson *reply, const char *label)
{
    BIND_IF_KNOWN(mongoc_error_has_label);
    return binding && !mbp_thread.round && !mbp_thread.unfinished.cluster
               ? REAL(mbp_has_label)(reply, label)
               : has_label_for_driver(reply, label, __builtin_return_address(0));
}

bool _mongoc_retryable_cmd_run(
    const void *retryable, struct mbp_bson *reply, struct mbp_error *error)
{
    BIND(_mongoc_retryable_cmd_run);
    if (!binding->real) {
        return fail_unbound(reply, error);
    }
    return mbp_hook_is_active(binding) ? mbp_budget_run_round(binding, retryable, reply, error)
                                       : REAL(mbp_run_retryable)(retryable, reply, error);
}
