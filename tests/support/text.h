/*
 * Text that tests look at: files, and what is written to a descriptor.
 */
#ifndef MBP_TEST_TEXT_H
#define MBP_TEST_TEXT_H

#include <stddef.h>

/* The whole file, to be freed; NULL where it can't be read. */
char *text_of_file(const char *path);

/* How often the needle occurs. */
size_t text_count(const char *text, const char *needle);

/* A descriptor that is replaced by another for a while. */
struct redirection {
    int fd;
    int saved;
};

struct redirection redirect(int fd, int replacement);

void redirect_back(struct redirection *redirection);

/* Collects what is written to a descriptor; as much as a pipe holds. */
struct capture {
    struct redirection redirection;
    int reader;
};

struct capture capture_begin(int fd);

/* Puts the descriptor back; writes what was captured, cut to fit. */
void capture_end(struct capture *capture, char *text, size_t size);

#endif
