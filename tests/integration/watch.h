/*
 * The driver's own command monitoring: what was sent, what came of it, by
 * command name. Counts from any thread.
 */
#ifndef MBP_TEST_WATCH_H
#define MBP_TEST_WATCH_H

#include <mongoc/mongoc.h>

struct tally {
    int started, succeeded, failed;
};

/* Told of an event with how many of its kind there were, this one included.
 * Must not use the client that is watched. */
typedef void watch_reaction(const char *command, int number);

/* Callbacks for a client or pool; the caller destroys them. */
mongoc_apm_callbacks_t *watch_callbacks(void);

/* What to do about events from now on; either may be NULL. */
void watch_react(watch_reaction *on_started, watch_reaction *on_failed);

/* Forgets all events. */
void watch_reset(void);

struct tally watch_tally(const char *command);

/* All commands together. */
struct tally watch_total(void);

/* expect_events("insert", .started = 2, .succeeded = 1, .failed = 1); */
#define expect_events(command, ...)                                                                \
    do {                                                                                           \
        const struct tally is_ = watch_tally(command);                                             \
        const struct tally want_ = {__VA_ARGS__};                                                  \
        cr_expect(is_.started == want_.started && is_.succeeded == want_.succeeded &&              \
                      is_.failed == want_.failed,                                                  \
            "%s: started %d, succeeded %d, failed %d instead of %d, %d, %d", command, is_.started, \
            is_.succeeded, is_.failed, want_.started, want_.succeeded, want_.failed);              \
    } while (0)

#endif
