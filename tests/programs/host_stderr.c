#include "host_stderr.h"

#include <fcntl.h>
#include <netinet/in.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

static int socket_end = -1;

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

bool host_stderr_act(const char *verb, const char *word)
{
    if (strcmp(verb, "close2") == 0) {
        close(STDERR_FILENO);
    } else if (strcmp(verb, "socket2") == 0) {
        make_stderr_a_socket(word);
    } else if (strcmp(verb, "pipe2") == 0) {
        make_stderr_a_pipe(word);
    } else if (strcmp(verb, "heard2") == 0) {
        print_heard();
    } else {
        return false;
    }
    return true;
}
