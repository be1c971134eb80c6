#include "log.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <time.h>
#include <unistd.h>

#define LINE_SIZE 512 /* below PIPE_BUF: a line is never torn or half-written */

static _Atomic int threshold = MBP_LOG_WARN;

void mbp_log_set_level(enum mbp_log_level level)
{
    atomic_store_explicit(&threshold, (int)level, memory_order_relaxed);
}

enum mbp_log_level mbp_log_get_level(void)
{
    return (enum mbp_log_level)atomic_load_explicit(&threshold, memory_order_relaxed);
}

/* The one socket that is a log: systemd's. */
static bool leads_to_the_journal(int fd)
{
    static const char journal[] = "/run/systemd/journal/";
    struct sockaddr_un peer = {0};
    socklen_t length = sizeof peer;
    return getpeername(fd, (struct sockaddr *)&peer, &length) == 0 && peer.sun_family == AF_UNIX &&
           strncmp(peer.sun_path, journal, sizeof journal - 1) == 0;
}

/* A daemon may have closed its standard error, and descriptor 2 may now be its
 * connection to a server or a file of its own. */
static bool is_for_people(int fd)
{
    struct stat status;
    if (fstat(fd, &status) != 0) {
        return false;
    }
    if (S_ISCHR(status.st_mode) || S_ISFIFO(status.st_mode)) {
        return true;
    }
    if (S_ISREG(status.st_mode)) {
        return (fcntl(fd, F_GETFL) & O_ACCMODE) == O_WRONLY;
    }
    return S_ISSOCK(status.st_mode) && leads_to_the_journal(fd);
}

static bool would_not_block(int fd)
{
    struct pollfd ready = {.fd = fd, .events = POLLOUT};
    return poll(&ready, 1, 0) == 1 && (ready.revents & POLLOUT);
}

static void take_back(int signal)
{
    const struct timespec at_once = {0};
    sigset_t set;
    sigemptyset(&set);
    sigaddset(&set, signal);
    while (sigtimedwait(&set, NULL, &at_once) < 0 && errno == EINTR) {
    }
}

/* A reader that has gone (SIGPIPE) or a file that may not grow (SIGXFSZ) must
 * not end the program. */
static void write_without_signals(int fd, const char *line, size_t length)
{
    sigset_t deadly;
    sigset_t before;
    sigset_t pending;
    sigemptyset(&deadly);
    sigaddset(&deadly, SIGPIPE);
    sigaddset(&deadly, SIGXFSZ);
    if (pthread_sigmask(SIG_BLOCK, &deadly, &before) != 0) {
        return;
    }
    sigemptyset(&pending);
    sigpending(&pending);
    if (write(fd, line, length) < 0) {
        const int signal = errno == EPIPE ? SIGPIPE : errno == EFBIG ? SIGXFSZ : 0;
        if (signal && !sigismember(&pending, signal)) {
            take_back(signal);
        }
    }
    pthread_sigmask(SIG_SETMASK, &before, NULL);
}

/* Text that isn't ours, a bad value say, must not make lines of its own nor
 * steer a terminal. */
static void make_harmless(char *text)
{
    for (; *text; text++) {
        if ((unsigned char)*text < ' ' || *text == 0x7f) {
            *text = '?';
        }
    }
}

void mbp_log(enum mbp_log_level level, const char *format, ...)
{
    static const char *const names[] = {"", "warning", "info", "debug"};
    if (level == MBP_LOG_OFF || level > mbp_log_get_level()) {
        return;
    }
    const int saved_errno = errno;
    char line[LINE_SIZE];
    int length = snprintf(line, sizeof line,
        "mongobp[%.64s %ld] %s: ", program_invocation_short_name, (long)getpid(), names[level]);
    va_list arguments;
    va_start(arguments, format);
    length += vsnprintf(line + length, sizeof line - (size_t)length, format, arguments);
    va_end(arguments);
    if (length > (int)sizeof line - 2) {
        length = (int)sizeof line - 2;
    }
    line[length] = '\0';
    make_harmless(line);
    line[length] = '\n';
    if (is_for_people(STDERR_FILENO) && would_not_block(STDERR_FILENO)) {
        write_without_signals(STDERR_FILENO, line, (size_t)length + 1);
    }
    errno = saved_errno;
}
