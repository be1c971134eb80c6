/*
 * A program that uses the fake driver (tests/preload/fake/fake.h) and knows
 * nothing of mongobp. Its arguments are actions, done one after the other; what
 * comes of them is printed, a line each. D is a letter for a copy of the driver.
 *
 *   linked:D                       the copy that this program is linked with
 *   open:D:local|global:PATH       dlopen
 *   close:D                        dlclose
 *   library:PATH                   dlopen of something else, for all to see
 *   version:D:TEXT                 what the copy calls itself
 *   run:D:SCRIPT[:LETTERS]         a command; r: no reply, e: no error wanted,
 *                                  2: from a second call site, j: by a jump,
 *                                  W, R: a write, a read that the driver retries
 *                                  once, L: in its own loop, N: there, but never
 *                                  to be retried
 *   sends:D                        how many sends the copy has seen
 *   threads:D:COUNT:EACH:SCRIPT    commands in several threads at once
 *   storm:D:COUNT:FORKS:SCRIPT     commands in threads while the program forks
 *   fork                           the child does all that follows, then the parent
 *   hello:D:FUNCTION:OWN           the first message of a connection, see fake_hello
 *   connect:D:FUNCTION:SCRIPT      a connection, see fake_connect
 *
 * and those of host_stderr.h.
 *
 * One source, two programs: one linked with the fake driver, one not.
 */
#include "host_stderr.h"
#include "tests/preload/fake/fake.h"

#include <dlfcn.h>
#include <pthread.h>
#include <signal.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

enum { MOST_SECONDS = 120, MOST_ARGUMENTS = 6, MOST_THREADS = 64, ERRNO_BEFORE = ENOTTY };

/* Not there in the program that is not linked with the driver. */
#define X(result, name, parameters) extern __attribute__((weak)) result name parameters;
FAKE_FUNCTIONS(X)
#undef X

static struct driver {
    void *handle;
#define X(result, name, parameters) result(*name) parameters;
    FAKE_FUNCTIONS(X)
#undef X
} drivers[26];

_Noreturn void give_up(const char *format, ...)
{
    va_list arguments;
    va_start(arguments, format);
    fputs("host: ", stdout);
    vprintf(format, arguments);
    puts("");
    va_end(arguments);
    exit(1);
}

static struct driver *driver_of(const char *letter)
{
    if (letter[0] < 'A' || letter[0] > 'Z' || letter[1]) {
        give_up("\"%s\" is no letter for a driver", letter);
    }
    return &drivers[letter[0] - 'A'];
}

static void use_linked(struct driver *driver)
{
#define X(result, name, parameters) driver->name = name;
    FAKE_FUNCTIONS(X)
#undef X
    if (!driver->fake_run) {
        give_up("not linked with the driver");
    }
}

static void *open_library(const char *path, int flags)
{
    void *handle = dlopen(path, RTLD_NOW | flags);
    if (!handle) {
        give_up("%s", dlerror());
    }
    return handle;
}

static void open_driver(struct driver *driver, const char *scope, const char *path)
{
    driver->handle = open_library(path, strcmp(scope, "global") == 0 ? RTLD_GLOBAL : RTLD_LOCAL);
#define X(result, name, parameters)                                                                \
    driver->name = (result(*) parameters)dlsym(driver->handle, #name);
    FAKE_FUNCTIONS(X)
#undef X
    if (!driver->fake_release) {
        give_up("%s is not the fake driver", path);
    }
}

/* {insert: "body-secret", txnNumber: 1}, a write that a driver may repeat, as a bson_t that holds
 * it inside. */
static const struct fake_reply body = {
    "\3\0\0\0"  /* flags */
    "\60\0\0\0" /* length */
    "\60\0\0\0\2insert\0\14\0\0\0body-secret\0"
    "\22txnNumber\0\1\0\0\0\0\0\0\0",
};

static struct fake_command new_command(const char *script)
{
    enum { SINGLE_SERVER = 4 };
    static const uint32_t server_id = 1;
    static const struct fake_stream stream = {.topology = SINGLE_SERVER, .server = &server_id};
    static _Atomic int64_t operations;
    const int64_t operation = ++operations;
    return (struct fake_command){
        .database = "database-secret",
        .body = &body,
        .name = "insert",
        .script = script,
        .stream = &stream,
        .later_stream = &stream,
        .operation_id = operation,
        .later_operation_id = operation,
    };
}

static fake_way *way_of(const struct driver *driver, const char *letters)
{
    const struct {
        char letter;
        fake_way *way;
    } ways[] = {
        {'2', driver->fake_run_elsewhere},
        {'j', driver->fake_run_by_jump},
        {'W', driver->fake_run_write},
        {'R', driver->fake_run_read},
        {'L', driver->fake_run_loop},
        {'N', driver->fake_run_loop_once},
    };
    for (unsigned i = 0; i < sizeof ways / sizeof ways[0]; i++) {
        if (strchr(letters, ways[i].letter)) {
            return ways[i].way;
        }
    }
    return driver->fake_run;
}

static void run(char letter, const char *script, const char *how)
{
    const struct driver *driver = &drivers[letter - 'A'];
    struct fake_command command = new_command(script);
    struct fake_reply reply;
    struct fake_error error = {.message = "no error"};
    struct fake_reply *const wanted_reply = strchr(how, 'r') ? NULL : &reply;
    struct fake_error *const wanted_error = strchr(how, 'e') ? NULL : &error;
    const pid_t self = getpid();
    char text[256] = "";

    errno = ERRNO_BEFORE;
    const bool ok = way_of(driver, how)(&command, wanted_reply, wanted_error);
    const int errno_after = errno;
    printf("%c %s sends=%u", letter, ok ? "ok" : "failed", command.sends);
    if (command.nested_sends) {
        printf(" nested=%u", command.nested_sends);
    }
    if (command.seen_overload) {
        printf(" overload=seen");
    }
    if (errno_after != ERRNO_BEFORE) {
        printf(" errno=%s", errno_after == FAKE_ERRNO ? "fake" : strerror(errno_after));
    }
    if (!ok && wanted_error) {
        printf(" error=%u/%u '%s'", error.domain, error.code, error.message);
    }
    if (wanted_reply) {
        driver->fake_describe(&reply, text, sizeof text);
        driver->fake_release(&reply);
        printf(" reply=%s", text);
    }
    puts("");
    if (getpid() != self) { /* forked in the middle of it */
        exit(0);
    }
}

/* For many commands at once: counts, and prints nothing. */
struct crowd {
    const struct driver *driver;
    const char *script;
    unsigned each; /* 0: until told to stop */
    _Atomic bool stop;
    _Atomic unsigned commands, ok, sends;
};

static bool run_quietly(struct crowd *crowd)
{
    struct fake_command command = new_command(crowd->script);
    struct fake_reply reply;
    struct fake_error error;
    const bool ok = crowd->driver->fake_run(&command, &reply, &error);
    crowd->driver->fake_release(&reply);
    atomic_fetch_add(&crowd->commands, 1);
    atomic_fetch_add(&crowd->ok, ok);
    atomic_fetch_add(&crowd->sends, command.sends);
    return ok;
}

static void *be_one_of(void *argument)
{
    struct crowd *crowd = argument;
    for (unsigned i = 0; crowd->each ? i < crowd->each : !crowd->stop; i++) {
        run_quietly(crowd);
    }
    return NULL;
}

static void start(pthread_t threads[], unsigned count, struct crowd *crowd)
{
    for (unsigned i = 0; i < count; i++) {
        if (pthread_create(&threads[i], NULL, be_one_of, crowd) != 0) {
            give_up("no thread");
        }
    }
}

static void join(const pthread_t threads[], unsigned count)
{
    for (unsigned i = 0; i < count; i++) {
        pthread_join(threads[i], NULL);
    }
}

static void run_threads(char letter, unsigned count, unsigned each, const char *script)
{
    pthread_t threads[MOST_THREADS];
    struct crowd crowd = {.driver = &drivers[letter - 'A'], .script = script, .each = each};
    start(threads, count, &crowd);
    join(threads, count);
    printf("%c commands=%u ok=%u sends=%u\n", letter, crowd.commands, crowd.ok, crowd.sends);
}

/* A child's memory is full of what threads held that it doesn't have: it ends
 * in the one way that no checker for leaks gets to see. */
static _Noreturn void end_storm_child(bool ok)
{
    if (ok) {
        raise(SIGKILL);
    }
    _exit(1);
}

/* The first forks meet the very first commands of the threads. A child that
 * hangs is ended by its alarm, and counts as bad. */
static void run_storm(char letter, unsigned count, unsigned forks, const char *script)
{
    pthread_t threads[MOST_THREADS];
    struct crowd crowd = {.driver = &drivers[letter - 'A'], .script = script};
    unsigned bad = 0;
    start(threads, count, &crowd);
    for (unsigned i = 0; i < forks; i++) {
        int status = -1;
        const pid_t child = fork();
        if (child == 0) {
            alarm(20);
            end_storm_child(run_quietly(&crowd));
        }
        waitpid(child, &status, 0);
        bad += !WIFSIGNALED(status) || WTERMSIG(status) != SIGKILL;
    }
    crowd.stop = true;
    join(threads, count);
    printf("%c forks=%u bad=%u others=%s\n", letter, forks, bad,
        crowd.ok == crowd.commands ? "ok" : "failed");
}

static void fork_here(void)
{
    int status = -1;
    fflush(stdout);
    const pid_t child = fork();
    if (child == 0) {
        puts("child");
        return;
    }
    waitpid(child, &status, 0);
    printf("parent, child ended with %d\n", status);
}

static unsigned number_of(const char *text)
{
    return (unsigned)strtoul(text, NULL, 10);
}

static void print_text(char letter, fake_telling *function, const char *how, const char *script)
{
    char text[1024] = "";
    function(how, script, text, sizeof text);
    printf("%c %s\n", letter, text);
}

static void act(char *action)
{
    char *words[MOST_ARGUMENTS] = {"", "", "", "", "", ""};
    for (unsigned i = 0; action && i < MOST_ARGUMENTS; i++) {
        words[i] = strsep(&action, ":");
    }
    const char *verb = words[0];
    const char letter = words[1][0];
    if (strcmp(verb, "linked") == 0) {
        use_linked(driver_of(words[1]));
    } else if (strcmp(verb, "open") == 0) {
        open_driver(driver_of(words[1]), words[2], words[3]);
    } else if (strcmp(verb, "close") == 0) {
        dlclose(driver_of(words[1])->handle);
    } else if (strcmp(verb, "library") == 0) {
        open_library(words[1], RTLD_GLOBAL);
    } else if (strcmp(verb, "version") == 0) {
        driver_of(words[1])->fake_set_version(words[2]);
    } else if (strcmp(verb, "run") == 0) {
        run(letter, words[2], words[3]);
    } else if (strcmp(verb, "sends") == 0) {
        printf("%c saw %u\n", letter, driver_of(words[1])->fake_sends());
    } else if (strcmp(verb, "threads") == 0) {
        run_threads(letter, number_of(words[2]), number_of(words[3]), words[4]);
    } else if (strcmp(verb, "storm") == 0) {
        run_storm(letter, number_of(words[2]), number_of(words[3]), words[4]);
    } else if (strcmp(verb, "fork") == 0) {
        fork_here();
    } else if (strcmp(verb, "hello") == 0) {
        print_text(letter, driver_of(words[1])->fake_hello, words[2], words[3]);
    } else if (strcmp(verb, "connect") == 0) {
        print_text(letter, driver_of(words[1])->fake_connect, words[2], words[3]);
    } else if (!host_stderr_act(verb, words[1])) {
        give_up("what is \"%s\"?", verb);
    }
}

int main(int argc, char **argv)
{
    alarm(MOST_SECONDS);
    setvbuf(stdout, NULL, _IOLBF, 0);
    for (int i = 1; i < argc; i++) {
        act(argv[i]);
    }
    return 0;
}
