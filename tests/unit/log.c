#include "common/log.h"

#include "tests/support/processes.h"
#include "tests/support/text.h"

#include <arpa/inet.h>
#include <criterion/criterion.h>
#include <errno.h>
#include <fcntl.h>
#include <netinet/in.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

#define SOME_ERRNO 4242

/* Logs one line to that descriptor instead of standard error. */
static void log_to(int fd)
{
    struct redirection redirection = redirect(STDERR_FILENO, fd);
    errno = SOME_ERRNO;
    mbp_log(MBP_LOG_WARN, "retry %d", 3);
    const int errno_after = errno;
    redirect_back(&redirection);
    cr_expect_eq(errno_after, SOME_ERRNO, "errno is now %d", errno_after);
}

static void expected_line(char line[256])
{
    snprintf(line, 256, "mongobp[%s %ld] warning: retry 3\n", program_invocation_short_name,
        (long)getpid());
}

Test(log, line_says_program_process_level_and_text)
{
    static const struct {
        enum mbp_log_level level;
        const char *name;
    } rows[] = {{MBP_LOG_WARN, "warning"}, {MBP_LOG_INFO, "info"}, {MBP_LOG_DEBUG, "debug"}};
    mbp_log_set_level(MBP_LOG_DEBUG);
    for (unsigned i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        char text[1024];
        char expected[256];
        struct capture capture = capture_begin(STDERR_FILENO);
        mbp_log(rows[i].level, "%s after %d ms", "insert", 50);
        capture_end(&capture, text, sizeof text);
        snprintf(expected, sizeof expected, "mongobp[%s %ld] %s: insert after 50 ms\n",
            program_invocation_short_name, (long)getpid(), rows[i].name);
        cr_expect_str_eq(text, expected);
    }
}

Test(log, lines_above_the_level_are_not_written)
{
    cr_expect_eq(mbp_log_get_level(), MBP_LOG_WARN, "the default");
    for (int threshold = MBP_LOG_OFF; threshold <= MBP_LOG_DEBUG; threshold++) {
        mbp_log_set_level((enum mbp_log_level)threshold);
        cr_expect_eq((int)mbp_log_get_level(), threshold);
        for (int level = MBP_LOG_OFF; level <= MBP_LOG_DEBUG; level++) {
            char text[1024];
            struct capture capture = capture_begin(STDERR_FILENO);
            mbp_log((enum mbp_log_level)level, "text");
            capture_end(&capture, text, sizeof text);
            const bool written = text[0] != '\0';
            cr_expect_eq(written, level != MBP_LOG_OFF && level <= threshold,
                "level %d at threshold %d", level, threshold);
        }
    }
}

/* A pipe of packets keeps apart what was written apart. */
Test(log, line_is_one_write)
{
    int ends[2];
    char packet[1024];
    char expected[256];
    cr_assert_eq(pipe2(ends, O_DIRECT | O_CLOEXEC | O_NONBLOCK), 0);
    log_to(ends[1]);
    const ssize_t length = read(ends[0], packet, sizeof packet - 1);
    cr_assert_gt(length, 0);
    packet[length] = '\0';
    expected_line(expected);
    cr_expect_str_eq(packet, expected);
    cr_expect_lt(read(ends[0], packet, sizeof packet), 0, "a second write");
}

Test(log, long_text_is_cut_to_one_line)
{
    char text[20000];
    char body[10000];
    memset(body, 'x', sizeof body - 1);
    body[sizeof body - 1] = '\0';
    for (size_t length = 400; length < sizeof body; length += length < 600 ? 1 : 4000) {
        struct capture capture = capture_begin(STDERR_FILENO);
        mbp_log(MBP_LOG_WARN, "%.*s", (int)length, body);
        capture_end(&capture, text, sizeof text);
        cr_expect_leq(strlen(text), 512, "%zu", length);
        cr_expect_geq(strlen(text), 400, "%zu", length);
        cr_expect_eq(text_count(text, "\n"), 1, "%zu", length);
        cr_expect_eq(text[strlen(text) - 1], '\n', "%zu", length);
    }
}

/* A bad value of a variable, for one, is the user's text, not ours. Lines that
 * look as if somebody else had written them must not come of it. */
Test(log, text_with_line_ends_is_still_one_line)
{
    char text[1024];
    struct capture capture = capture_begin(STDERR_FILENO);
    mbp_log(MBP_LOG_WARN, "MONGOBP_LOG=\"%s\" is not good", "a\nb\r\nc\x1b[31m");
    capture_end(&capture, text, sizeof text);
    cr_expect_eq(text_count(text, "\n"), 1, "%s", text);
    cr_expect_eq(text_count(text, "\r"), 0);
    cr_expect_eq(text_count(text, "\x1b"), 0, "terminals obey these");
    cr_expect_not_null(strstr(text, "is not good\n"), "%s", text);
}

Test(log, percent_signs_in_arguments_are_text)
{
    char text[1024];
    struct capture capture = capture_begin(STDERR_FILENO);
    mbp_log(MBP_LOG_WARN, "%s", "%s%n%d");
    capture_end(&capture, text, sizeof text);
    cr_expect_not_null(strstr(text, "warning: %s%n%d\n"), "%s", text);
}

/* A file has no name here, and so needs no removal. */
static int reopen_memory(int memory, int flags)
{
    char path[64];
    snprintf(path, sizeof path, "/proc/self/fd/%d", memory);
    const int fd = open(path, flags | O_CLOEXEC);
    cr_assert_geq(fd, 0);
    return fd;
}

Test(log, file_to_be_written_is_a_log_and_one_to_be_read_too_is_not)
{
    char text[256] = "";
    char expected[256];
    const int memory = memfd_create("log", MFD_CLOEXEC);
    cr_assert_geq(memory, 0);
    log_to(memory);
    cr_expect_eq(lseek(memory, 0, SEEK_END), 0, "read and write: somebody's data");
    const int read_only = reopen_memory(memory, O_RDONLY);
    log_to(read_only);
    const int write_only = reopen_memory(memory, O_WRONLY | O_APPEND);
    log_to(write_only);
    cr_assert_geq(pread(memory, text, sizeof text - 1, 0), 0);
    expected_line(expected);
    cr_expect_str_eq(text, expected);
    close(write_only);
    close(read_only);
    close(memory);
}

/* Descriptor 2 of a daemon may have become its connection to a server. */
Test(log, connection_gets_nothing)
{
    struct sockaddr_in address = {.sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
    socklen_t length = sizeof address;
    char byte;
    const int listener = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
    cr_assert_eq(bind(listener, (struct sockaddr *)&address, sizeof address), 0);
    cr_assert_eq(listen(listener, 1), 0);
    cr_assert_eq(getsockname(listener, (struct sockaddr *)&address, &length), 0);
    const int client = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
    cr_assert_eq(connect(client, (struct sockaddr *)&address, sizeof address), 0);
    const int server = accept4(listener, NULL, NULL, SOCK_CLOEXEC);
    cr_assert_geq(server, 0);
    log_to(client);
    close(client);
    cr_expect_eq(recv(server, &byte, 1, 0), 0, "something came before the end");
    close(server);
    close(listener);
}

Test(log, nothing_there_to_write_to)
{
    const int directory = open("/", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    log_to(directory);
    close(directory);

    const int saved = dup(STDERR_FILENO);
    close(STDERR_FILENO);
    errno = SOME_ERRNO;
    mbp_log(MBP_LOG_WARN, "to nobody");
    const int errno_after = errno;
    dup2(saved, STDERR_FILENO);
    close(saved);
    cr_expect_eq(errno_after, SOME_ERRNO);
}

static int pipe_without_reader(void)
{
    int ends[2];
    cr_assert_eq(pipe2(ends, O_CLOEXEC), 0);
    close(ends[0]);
    return ends[1];
}

static bool sigpipe_is_pending(void)
{
    sigset_t pending;
    sigemptyset(&pending);
    sigpending(&pending);
    return sigismember(&pending, SIGPIPE) == 1;
}

static sigset_t block_sigpipe(void)
{
    sigset_t sigpipe;
    sigset_t before;
    sigemptyset(&sigpipe);
    sigaddset(&sigpipe, SIGPIPE);
    pthread_sigmask(SIG_BLOCK, &sigpipe, &before);
    return before;
}

/* The test itself would be ended by the signal. */
Test(log, reader_that_has_gone_does_not_end_the_program)
{
    const int fd = pipe_without_reader();
    signal(SIGPIPE, SIG_DFL);
    log_to(fd);
    log_to(fd);
    cr_expect_not(sigpipe_is_pending());
    sigset_t mask;
    pthread_sigmask(SIG_BLOCK, NULL, &mask);
    cr_expect_eq(sigismember(&mask, SIGPIPE), 0, "the mask is as before");
    close(fd);
}

Test(log, blocked_sigpipe_of_ours_is_not_left_pending)
{
    const int fd = pipe_without_reader();
    const sigset_t before = block_sigpipe();
    log_to(fd);
    cr_expect_not(sigpipe_is_pending(), "the program would take it for its own");
    pthread_sigmask(SIG_SETMASK, &before, NULL);
    close(fd);
}

Test(log, sigpipe_of_the_program_is_kept)
{
    const struct timespec at_once = {0};
    const int fd = pipe_without_reader();
    const sigset_t before = block_sigpipe();
    sigset_t sigpipe;
    sigemptyset(&sigpipe);
    sigaddset(&sigpipe, SIGPIPE);
    kill(getpid(), SIGPIPE);
    cr_assert(sigpipe_is_pending());
    log_to(fd);
    cr_expect(sigpipe_is_pending());
    while (sigtimedwait(&sigpipe, NULL, &at_once) == SIGPIPE) {
    }
    pthread_sigmask(SIG_SETMASK, &before, NULL);
    close(fd);
}

static void fill(int fd)
{
    static const char bytes[4096];
    const int flags = fcntl(fd, F_GETFL);
    fcntl(fd, F_SETFL, flags | O_NONBLOCK);
    while (write(fd, bytes, sizeof bytes) > 0) {
    }
    while (write(fd, bytes, 1) > 0) {
    }
    cr_assert_eq(errno, EAGAIN);
    fcntl(fd, F_SETFL, flags);
}

/* Whoever reads our lines may have stopped. If the program had to wait for
 * them, the alarm would end this test. */
Test(log, full_pipe_or_socket_does_not_hold_the_program_up)
{
    int ends[2];
    alarm(20);
    cr_assert_eq(pipe2(ends, O_CLOEXEC), 0);
    fill(ends[1]);
    log_to(ends[1]);
    cr_assert_eq(socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends), 0);
    fill(ends[1]);
    log_to(ends[1]);
    alarm(0);
    cr_expect_eq(fcntl(ends[1], F_GETFL) & O_NONBLOCK, 0, "others share its flags");
}

/* A log at the limit of its size: the write brings a signal that ends programs. */
static void log_past_the_limit(void *fd)
{
    const struct rlimit small = {.rlim_cur = 1, .rlim_max = 1};
    const struct rlimit no_core = {0};
    CHILD_EXPECT(signal(SIGXFSZ, SIG_DFL) != SIG_ERR);
    CHILD_EXPECT(setrlimit(RLIMIT_CORE, &no_core) == 0);
    CHILD_EXPECT(setrlimit(RLIMIT_FSIZE, &small) == 0);
    CHILD_EXPECT(dup2(*(int *)fd, STDERR_FILENO) == STDERR_FILENO);
    mbp_log(MBP_LOG_WARN, "too much");
}

Test(log, file_at_its_limit_does_not_end_the_program)
{
    const int memory = memfd_create("log", MFD_CLOEXEC);
    cr_assert_eq(ftruncate(memory, 1), 0);
    int write_only = reopen_memory(memory, O_WRONLY | O_APPEND);
    cr_expect(succeeds_in_child(log_past_the_limit, &write_only));
    cr_expect_eq(lseek(memory, 0, SEEK_END), 1);
    close(write_only);
    close(memory);
}
