/*
 * Child processes of a test. None of them outlives the test, however it ends.
 * A child must not use the assertions of Criterion, which would go on as the
 * test itself: it uses CHILD_EXPECT and ends with _exit.
 */
#ifndef MBP_TEST_PROCESSES_H
#define MBP_TEST_PROCESSES_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <sys/types.h>

/* fork(), with a child that is killed when its parent ends. Never fails. */
pid_t child_fork(void);

/* Waits for a child; returns its status as waitpid does. */
int child_wait(pid_t child);

/* Waits for a child; whether it ended by _exit (0). */
bool child_succeeded(pid_t child);

/* Kills and reaps a child; false where it had ended of itself. */
bool child_kill(pid_t child);

/* Whether a child has ended; it can still be waited for. */
bool child_has_ended(pid_t child);

/* Runs the body in a child that then ends well, unless the body ends it. */
bool succeeds_in_child(void (*body)(void *argument), void *argument);

#define CHILD_EXPECT(condition)                                                                    \
    do {                                                                                           \
        if (!(condition)) {                                                                        \
            child_fail(__FILE__, __LINE__, #condition);                                            \
        }                                                                                          \
    } while (0)

_Noreturn void child_fail(const char *file, int line, const char *condition);

/* Zeroed memory, shared with the children forked later; never given back. */
void *shared_memory(size_t size);

/* Lets processes or threads begin something at the same moment. Zeroed, in
 * memory that all of them see. */
struct start_line {
    _Atomic unsigned waiting;
    _Atomic bool open;
};

void start_line_wait(struct start_line *line);

/* Waits until so many have come, then lets them all go. Ends the test when a
 * child ends before that, since then it would wait for ever. */
void start_line_open(struct start_line *line, unsigned expected);

#endif
