/*
 * The ways in that lead to retries of the driver's own.
 */
#include "driver.h"

static bool retry_once(
    struct fake_command *command, struct fake_reply *reply, struct fake_error *error)
{
    fake_release(reply);
    return mongoc_cluster_run_command_monitored(&fake_cluster, command, reply, error);
}

bool fake_run_write(
    struct fake_command *command, struct fake_reply *reply, struct fake_error *error)
{
    bool ok = mongoc_cluster_run_command_monitored(&fake_cluster, command, reply, error);
    if (_mongoc_write_error_get_type(reply) == FAKE_ERROR_RETRY && fake_finds_server(command)) {
        ok = retry_once(command, reply, error);
    }
    return ok;
}

bool fake_run_read(struct fake_command *command, struct fake_reply *reply, struct fake_error *error)
{
    bool ok = mongoc_cluster_run_command_monitored(&fake_cluster, command, reply, error);
    if (_mongoc_read_error_get_type(ok, error, reply) == FAKE_ERROR_RETRY &&
        fake_finds_server(command)) {
        ok = retry_once(command, reply, error);
    }
    return ok;
}

static bool execute(void *command, struct fake_reply *reply, struct fake_error *error)
{
    const bool ok = mongoc_cluster_run_command_monitored(&fake_cluster, command, reply, error);
    return ok;
}

static bool select_server(void *command)
{
    return fake_finds_server(command);
}

static bool run_loop(struct fake_command *command, int eligibility, struct fake_reply *reply,
    struct fake_error *error)
{
    const struct fake_retryable retryable = {
        .execute = execute,
        .select_server = select_server,
        .user_data = command,
        .eligibility = eligibility,
        .most_retries = 2,
    };
    const bool ok = _mongoc_retryable_cmd_run(&retryable, reply, error);
    /* As a program does that wants to know why. */
    command->seen_overload = mongoc_error_has_label(reply, "SystemOverloadedError");
    return ok;
}

bool fake_run_loop(struct fake_command *command, struct fake_reply *reply, struct fake_error *error)
{
    command->way = fake_run_loop;
    return run_loop(command, FAKE_WRITE, reply, error);
}

bool fake_run_loop_once(
    struct fake_command *command, struct fake_reply *reply, struct fake_error *error)
{
    return run_loop(command, FAKE_NEVER, reply, error);
}
