/*
 * Makes the server reject commands of the watched application, and of nobody
 * else, by its fail point failCommand. There is one in a server: a new
 * rejection takes the place of the one before.
 */
#ifndef MBP_TEST_REJECT_H
#define MBP_TEST_REJECT_H

#include <stdbool.h>

enum { OVERLOADED = 462 /* what a server that limits its ingress answers */ };

#define BOTH_LABELS "'SystemOverloadedError', 'RetryableError'"
#define NO_LABELS ""

struct rejection {
    const char *command;
    int times;          /* 0: always */
    int code;           /* 0: OVERLOADED */
    const char *labels; /* in ' and with commas; NULL: BOTH_LABELS */
    const char *more;   /* other fields of the fail point, as JSON; `code` is not used then */
};

/* Returns whether the server did as it was told. Safe in a reaction to an
 * event (watch.h). */
bool reject_as(const struct rejection *rejection);

#define reject(...) reject_as(&(struct rejection){__VA_ARGS__})

/* No rejections from now on. */
bool accept_all(void);

#endif
