#include "watch.h"

#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { MOST_COMMANDS = 32 };

static struct {
    pthread_mutex_t lock;
    struct {
        char command[32];
        struct tally tally;
    } entries[MOST_COMMANDS];
    int used;
} watch = {.lock = PTHREAD_MUTEX_INITIALIZER};

static _Atomic(watch_reaction *) started_reaction;
static _Atomic(watch_reaction *) failed_reaction;

/* With the lock held. */
static struct tally *tally_of(const char *command)
{
    for (int i = 0; i < watch.used; i++) {
        if (strcmp(watch.entries[i].command, command) == 0) {
            return &watch.entries[i].tally;
        }
    }
    if (watch.used == MOST_COMMANDS) {
        abort();
    }
    snprintf(watch.entries[watch.used].command, sizeof watch.entries[0].command, "%s", command);
    watch.entries[watch.used].tally = (struct tally){0};
    return &watch.entries[watch.used++].tally;
}

/* The reaction runs without the lock: it may take its time. */
static void react(watch_reaction *reaction, const char *command, int number)
{
    if (reaction) {
        reaction(command, number);
    }
}

static void on_started(const mongoc_apm_command_started_t *event)
{
    const char *command = mongoc_apm_command_started_get_command_name(event);
    pthread_mutex_lock(&watch.lock);
    const int number = ++tally_of(command)->started;
    pthread_mutex_unlock(&watch.lock);
    react(started_reaction, command, number);
}

static void on_succeeded(const mongoc_apm_command_succeeded_t *event)
{
    pthread_mutex_lock(&watch.lock);
    tally_of(mongoc_apm_command_succeeded_get_command_name(event))->succeeded++;
    pthread_mutex_unlock(&watch.lock);
}

static void on_failed(const mongoc_apm_command_failed_t *event)
{
    const char *command = mongoc_apm_command_failed_get_command_name(event);
    pthread_mutex_lock(&watch.lock);
    const int number = ++tally_of(command)->failed;
    pthread_mutex_unlock(&watch.lock);
    react(failed_reaction, command, number);
}

mongoc_apm_callbacks_t *watch_callbacks(void)
{
    mongoc_apm_callbacks_t *callbacks = mongoc_apm_callbacks_new();
    mongoc_apm_set_command_started_cb(callbacks, on_started);
    mongoc_apm_set_command_succeeded_cb(callbacks, on_succeeded);
    mongoc_apm_set_command_failed_cb(callbacks, on_failed);
    return callbacks;
}

void watch_react(watch_reaction *started, watch_reaction *failed)
{
    started_reaction = started;
    failed_reaction = failed;
}

void watch_reset(void)
{
    pthread_mutex_lock(&watch.lock);
    watch.used = 0;
    pthread_mutex_unlock(&watch.lock);
}

struct tally watch_tally(const char *command)
{
    pthread_mutex_lock(&watch.lock);
    const struct tally tally = *tally_of(command);
    pthread_mutex_unlock(&watch.lock);
    return tally;
}

struct tally watch_total(void)
{
    struct tally total = {0};
    pthread_mutex_lock(&watch.lock);
    for (int i = 0; i < watch.used; i++) {
        total.started += watch.entries[i].tally.started;
        total.succeeded += watch.entries[i].tally.succeeded;
        total.failed += watch.entries[i].tally.failed;
    }
    pthread_mutex_unlock(&watch.lock);
    return total;
}
