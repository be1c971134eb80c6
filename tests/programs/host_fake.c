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
 *                                  2: from a second call site, j: by a jump
 *   sends:D                        how many sends the copy has seen
 *   threads:D:COUNT:EACH:SCRIPT    commands in several threads at once
 *   storm:D:COUNT:FORKS:SCRIPT     commands in threads while the program forks
 *   fork                           the child does all that follows, then the parent
 *   close2                         closes standard error
 *   socket2:inet|unix              makes it a socket
 *   pipe2:gone|full                makes it a pipe whose reader has gone or sleeps
 *   heard2                         how much has been written to that socket
 *
 * One source, two programs: one linked with the fake driver, one not.
 */
#include "tests/preload/fake/fake.h"

#include <dlfcn.h>
#include <fcntl.h>
#include <netinet/in.h>
#include <pthread.h>
#include <signal.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
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

static int socket_end = -1;

__attribute__((format(printf, 1, 2))) static _Noreturn void give_up(const char *format, ...)
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

/* {insert: "body-secret"} as a bson_t that holds it inside. */
static const struct fake_reply body = {
    "\3\0\0\0"  /* flags */
    "\35\0\0\0" /* length */
    "\35\0\0\0\2insert\0\14\0\0\0body-secret\0",
};

static struct fake_command new_command(const char *script)
{
    enum { SINGLE_SERVER = 4 };
    static const uint32_t server_id = 1;
    static const struct fake_stream stream = {.topology = SINGLE_SERVER, .server = &server_id};
    return (struct fake_command){
        .database = "database-secret",
        .body = &body,
        .name = "insert",
        .script = script,
        .stream = &stream,
        .later_stream = &stream,
    };
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
    const bool ok =
        strchr(how, '2')   ? driver->fake_run_elsewhere(&command, wanted_reply, wanted_error)
        : strchr(how, 'j') ? driver->fake_run_by_jump(&command, wanted_reply, wanted_error)
                           : driver->fake_run(&command, wanted_reply, wanted_error);
    const int errno_after = errno;
    printf("%c %s sends=%u", letter, ok ? "ok" : "failed", command.sends);
    if (command.nested_sends) {
        printf(" nested=%u", command.nested_sends);
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

static void make_inet_pair(int ends[2])
{
    struct sockaddr_in address = {.sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
    socklen_t length = sizeof address;
    const int listener = socket(AF_INET, SOCK_STREAM, 0);
    ends[0] = socket(AF_INET, SOCK_STREAM, 0);
    if (bind(listener, (struct sockaddr *)&address, length) != 0 || listen(listener, 1) != 0 ||
        getsockname(listener, (struct sockaddr *)&address, &length) != 0 ||
        connect(ends[0], (struct sockaddr *)&address, length) != 0) {
        give_up("no socket");
    }
    ends[1] = accept(listener, NULL, NULL);
    close(listener);
}

static void make_stderr_a_socket(const char *family)
{
    int ends[2];
    if (strcmp(family, "inet") == 0) {
        make_inet_pair(ends);
    } else if (socketpair(AF_UNIX, SOCK_STREAM, 0, ends) != 0) {
        give_up("no socket");
    }
    dup2(ends[0], STDERR_FILENO);
    close(ends[0]);
    socket_end = ends[1];
}

static void make_stderr_a_pipe(const char *reader)
{
    int ends[2];
    if (pipe(ends) != 0) {
        give_up("no pipe");
    }
    dup2(ends[1], STDERR_FILENO);
    if (strcmp(reader, "gone") == 0) {
        close(ends[0]);
    } else {
        const int flags = fcntl(ends[1], F_GETFL);
        fcntl(ends[1], F_SETFL, flags | O_NONBLOCK);
        while (write(ends[1], "x", 1) == 1) {
        }
        fcntl(ends[1], F_SETFL, flags);
    }
    close(ends[1]);
}

static void print_heard(void)
{
    char bytes[4096];
    const ssize_t length = recv(socket_end, bytes, sizeof bytes, MSG_DONTWAIT);
    printf("heard %zd bytes\n", length < 0 ? 0 : length);
}

static unsigned number_of(const char *text)
{
    return (unsigned)strtoul(text, NULL, 10);
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
    } else if (strcmp(verb, "close2") == 0) {
        close(STDERR_FILENO);
    } else if (strcmp(verb, "socket2") == 0) {
        make_stderr_a_socket(words[1]);
    } else if (strcmp(verb, "pipe2") == 0) {
        make_stderr_a_pipe(words[1]);
    } else if (strcmp(verb, "heard2") == 0) {
        print_heard();
    } else {
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
