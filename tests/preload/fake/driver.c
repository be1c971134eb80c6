#include "driver.h"

#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

static _Atomic unsigned sends;
static char version[64] = "1.23.1";

unsigned fake_sends(void)
{
    return sends;
}

void fake_set_version(const char *new_version)
{
    snprintf(version, sizeof version, "%s", new_version);
}

const char *mongoc_get_version(void)
{
    return version;
}

const char *fake_label(char letter)
{
    return letter == 'r'   ? "RetryableError"
           : letter == 'o' ? "SystemOverloadedError"
           : letter == 'n' ? "NoWritesPerformed"
           : letter == 'w' ? "RetryableWriteError"
                           : NULL;
}

static const char *step_of(const char *script, unsigned send)
{
    for (const char *comma; send > 1 && (comma = strchr(script, ',')) != NULL; send--) {
        script = comma + 1;
    }
    return script;
}

static bool begins_with(const char **text, const char *prefix)
{
    const size_t length = strlen(prefix);
    const bool found = strncmp(*text, prefix, length) == 0;
    *text += found ? length : 0;
    return found;
}

bool fake_finds_server(const struct fake_command *command)
{
    const char *step = step_of(command->script, command->sends + 1);
    return !begins_with(&step, "gone");
}

static void run_nested(struct fake_command *command)
{
    struct fake_command nested = {.name = "nested", .script = "462ro"};
    struct fake_reply reply = {0};
    (command->way ? command->way : fake_run)(&nested, &reply, NULL);
    fake_release(&reply);
    command->nested_sends += nested.sends;
}

static void fork_and_wait(void)
{
    const pid_t child = fork();
    if (child > 0) {
        waitpid(child, NULL, 0);
    }
}

/* Runs what comes before the outcome; true where errno is to be changed. */
static bool play_preface(const char **step, struct fake_command *command)
{
    bool sets_errno = false;
    for (;;) {
        if (begins_with(step, "errno+")) {
            sets_errno = true;
        } else if (begins_with(step, "nest+")) {
            run_nested(command);
        } else if (begins_with(step, "sleep+")) {
            usleep(10000);
        } else if (begins_with(step, "fork+")) {
            fork_and_wait();
        } else {
            return sets_errno;
        }
    }
}

static struct fake_outcome read_outcome(const char *step)
{
    struct fake_outcome outcome = {.labels = ""};
    char *end = (char *)step;
    if (begins_with(&step, "ok")) {
        outcome.ok = true;
    } else if (begins_with(&step, "empty")) {
        outcome.ok = outcome.empty = true;
    } else if (begins_with(&step, "blank")) {
        outcome.empty = true;
    } else {
        outcome.code = (int)strtol(step, &end, 10);
        outcome.labels = end;
        if (end == step) {
            fprintf(stderr, "fake driver: what is the step \"%s\"?\n", step);
            abort();
        }
    }
    return outcome;
}

bool mongoc_cluster_run_command_monitored(struct fake_cluster *cluster,
    struct fake_command *command, struct fake_reply *reply, struct fake_error *error)
{
    const int caller_errno = errno;
    if (strncmp(cluster->uri, "mongodb://", 10) != 0) { /* not what the entry point sent */
        abort();
    }
    atomic_fetch_add(&sends, 1);
    const char *step = step_of(command->script, ++command->sends);
    const bool sets_errno = play_preface(&step, command);
    struct fake_outcome outcome = read_outcome(step);
    outcome.send = command->sends;
    if (reply) {
        fake_reply_fill(reply, &outcome);
    }
    if (error && !outcome.ok) {
        *error = (struct fake_error){.domain = 17, .code = (uint32_t)outcome.code};
        snprintf(error->message, sizeof error->message, "send %u failed", outcome.send);
    }
    errno = sets_errno ? FAKE_ERRNO : caller_errno;
    return outcome.ok;
}
