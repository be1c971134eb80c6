#include "text.h"

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

char *text_of_file(const char *path)
{
    char *text = NULL;
    size_t size = 0;
    FILE *file = fopen(path, "re");
    if (!file) {
        return NULL;
    }
    /* By end of file, not by size: files in /proc have none. */
    if (getdelim(&text, &size, '\0', file) < 0) {
        free(text);
        text = strdup("");
    }
    fclose(file);
    return text;
}

size_t text_count(const char *text, const char *needle)
{
    size_t count = 0;
    for (; (text = strstr(text, needle)) != NULL; text += strlen(needle)) {
        count++;
    }
    return count;
}

struct redirection redirect(int fd, int replacement)
{
    const struct redirection redirection = {
        .fd = fd, .saved = fcntl(fd, F_DUPFD_CLOEXEC, 10)}; /* out of the way of low numbers */
    if (redirection.saved < 0 || dup2(replacement, fd) < 0) {
        perror("redirect");
        abort();
    }
    return redirection;
}

void redirect_back(struct redirection *redirection)
{
    dup2(redirection->saved, redirection->fd);
    close(redirection->saved);
    redirection->saved = -1;
}

struct capture capture_begin(int fd)
{
    int ends[2];
    if (pipe2(ends, O_CLOEXEC) != 0) {
        perror("pipe2");
        abort();
    }
    const struct capture capture = {.redirection = redirect(fd, ends[1]), .reader = ends[0]};
    close(ends[1]);
    return capture;
}

void capture_end(struct capture *capture, char *text, size_t size)
{
    redirect_back(&capture->redirection);
    size_t length = 0;
    ssize_t got;
    while (
        length < size - 1 && (got = read(capture->reader, text + length, size - 1 - length)) > 0) {
        length += (size_t)got;
    }
    text[length] = '\0';
    close(capture->reader);
}
