/*
 * Log daemons of other people's, as Debian builds them, unpacked by
 * scripts/programs and not installed. They follow a file and store each of its
 * lines in MongoDB, through their module for it, which they load with dlopen.
 */
#ifndef MBP_TEST_DAEMON_H
#define MBP_TEST_DAEMON_H

#include <stdbool.h>
#include <sys/types.h>

/* What a daemon is told. */
struct daemon_task {
    const char *directory; /* for its configuration, its state and its output ("log") */
    const char *input;     /* the file it reads, from the beginning */
    const char *uri;
    const char *database;
    const char *collection; /* gets documents {msg: LINE} */
};

/* Starts a daemon in the foreground, as a child that never outlives this
 * process; with mongobp preloaded or without. */
typedef pid_t daemon_start(const struct daemon_task *task, bool with_mongobp);

daemon_start start_rsyslog;
daemon_start start_syslog_ng;

/* Asks it to end, and kills it where it doesn't. Returns its status as waitpid
 * does: 0 where it ended well. */
int daemon_stop(pid_t pid);

#endif
