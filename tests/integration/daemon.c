#include "daemon.h"

#include "tests/support/processes.h"
#include "tests/support/run.h"

#include <fcntl.h>
#include <glob.h>
#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <time.h>
#include <unistd.h>

enum { STOP_SECONDS = 20 };

#define PROGRAMS "build/programs"

/* The text, to be freed. */
static __attribute__((format(printf, 1, 2))) char *text(const char *format, ...)
{
    char *made;
    va_list arguments;
    va_start(arguments, format);
    if (vasprintf(&made, format, arguments) < 0) {
        abort();
    }
    va_end(arguments);
    return made;
}

/* All that match the pattern below PROGRAMS, with a colon between them, as an
 * absolute path each; to be freed. Empty where there is none. */
static char *unpacked(const char *pattern)
{
    const char *root = getenv("MBP_SOURCE_ROOT");
    char *whole = text("%s/" PROGRAMS "/%s", root ? root : ".", pattern);
    char *found = strdup("");
    glob_t matches;
    if (glob(whole, 0, NULL, &matches) == 0) {
        for (size_t i = 0; i < matches.gl_pathc; i++) {
            char *longer = text("%s%s%s", found, *found ? ":" : "", matches.gl_pathv[i]);
            free(found);
            found = longer;
        }
        globfree(&matches);
    }
    free(whole);
    return found;
}

static char *write_configuration(const struct daemon_task *task, char *content)
{
    char *path = text("%s/configuration", task->directory);
    FILE *file = fopen(path, "we");
    if (!file || fputs(content, file) < 0 || fclose(file) != 0) {
        perror(path);
        abort();
    }
    free(content);
    return path;
}

/* Leaks in a daemon are not ours. */
static void set_environment(bool with_mongobp)
{
    char *libraries = unpacked("usr/lib/*-linux-gnu*");
    char *more_libraries = unpacked("lib/*-linux-gnu*");
    char *own_libraries = unpacked("usr/lib/syslog-ng");
    setenv("ASAN_OPTIONS", "detect_leaks=0", 1);
    putenv(text("LD_LIBRARY_PATH=%s:%s:%s", libraries, more_libraries, own_libraries));
    if (with_mongobp) {
        putenv(run_preload(run_built("libmongobp.so")));
    } else {
        unsetenv("LD_PRELOAD");
    }
}

static pid_t start(const struct daemon_task *task, bool with_mongobp, const char *const argv[])
{
    char *log_path = text("%s/log", task->directory);
    const int log = open(log_path, O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0600);
    const pid_t child = child_fork();
    if (child == 0) {
        const struct rlimit no_core_file = {0}; /* some of them crash */
        const int nothing = open("/dev/null", O_RDONLY);
        setrlimit(RLIMIT_CORE, &no_core_file);
        dup2(nothing, STDIN_FILENO);
        dup2(log, STDOUT_FILENO);
        dup2(log, STDERR_FILENO);
        set_environment(with_mongobp);
        execv(argv[0], (char *const *)argv);
        fprintf(stderr, "can't run %s (scripts/programs fetches it)\n", argv[0]);
        _exit(127);
    }
    close(log);
    free(log_path);
    return child;
}

pid_t start_rsyslog(const struct daemon_task *task, bool with_mongobp)
{
    char *modules = unpacked("usr/lib/*/rsyslog");
    char *program = unpacked("usr/sbin/rsyslogd");
    char *pid_file = text("%s/pid", task->directory);
    char *configuration = write_configuration(
        task, text("global(workDirectory=\"%s\")\n"
                   "module(load=\"imfile\")\n"
                   "module(load=\"ommongodb\")\n"
                   "input(type=\"imfile\" file=\"%s\" tag=\"test:\")\n"
                   "action(type=\"ommongodb\" uristr=\"%s\" db=\"%s\" collection=\"%s\")\n",
                  task->directory, task->input, task->uri, task->database, task->collection));
    const char *const argv[] = {
        program, "-n", "-f", configuration, "-i", pid_file, "-M", modules, NULL};
    const pid_t pid = start(task, with_mongobp, argv);
    free(configuration);
    free(pid_file);
    free(program);
    free(modules);
    return pid;
}

/* "mongodb://HOSTS/?OPTIONS" with the database before the options, where
 * syslog-ng looks for it. */
static char *uri_with_database(const struct daemon_task *task)
{
    const char *options = strstr(task->uri, "/?");
    return options ? text("%.*s/%s%s", (int)(options - task->uri), task->uri, task->database,
                         options + 1)
                   : text("%s/%s", task->uri, task->database);
}

/* retries(1): one failed attempt and the message is given up. By default it is
 * given up after three, with a minute of standstill before each. */
pid_t start_syslog_ng(const struct daemon_task *task, bool with_mongobp)
{
    char *modules = unpacked("usr/lib/syslog-ng/[0-9]*");
    char *program = unpacked("usr/sbin/syslog-ng");
    char *state = text("%s/state", task->directory);
    char *control = text("%s/control", task->directory);
    char *pid_file = text("%s/pid", task->directory);
    char *uri = uri_with_database(task);
    const char *version = strrchr(modules, '/');
    char *configuration = write_configuration(
        task, text("@version: %s\n"
                   "options { time-reopen(1); };\n"
                   "source lines { file(\"%s\" flags(no-parse) follow-freq(1)); };\n"
                   "destination store { mongodb(uri(\"%s\") collection(\"%s\")\n"
                   "  value-pairs(pair(\"msg\" \"$MSG\")) retries(1)); };\n"
                   "log { source(lines); destination(store); };\n",
                  version ? version + 1 : "unknown", task->input, uri, task->collection));
    const char *const argv[] = {program, "--foreground", "--no-caps", "--stderr", "-f",
        configuration, "-R", state, "-c", control, "-p", pid_file, "--module-path", modules, NULL};
    const pid_t pid = start(task, with_mongobp, argv);
    free(configuration);
    free(uri);
    free(pid_file);
    free(control);
    free(state);
    free(program);
    free(modules);
    return pid;
}

int daemon_stop(pid_t pid)
{
    const struct timespec pause = {.tv_nsec = 20000000};
    kill(pid, SIGTERM);
    for (int i = 0; i < STOP_SECONDS * 50 && !child_has_ended(pid); i++) {
        nanosleep(&pause, NULL);
    }
    if (!child_has_ended(pid)) {
        kill(pid, SIGKILL);
    }
    return child_wait(pid);
}
