/*
 * The overload retry policy, as a pure function: how an attempt ended goes in,
 * what to do about it comes out. No clock, no sleep, no bucket in here; who
 * calls it (engine.h) settles the verdict.
 */
#ifndef MBP_POLICY_H
#define MBP_POLICY_H

#include "bucket.h"
#include "jitter.h"

#include <stdbool.h>
#include <stdint.h>

/* The numbers of one edition of the specification. */
struct mbp_profile {
    const char *name;
    uint32_t max_retries;
    uint32_t base_backoff_ms;
    uint32_t max_backoff_ms;
    uint32_t first_exponent; /* of 2, for the delay before the first retry */
    mbp_millitokens retry_cost;
    mbp_millitokens return_rate; /* what every success pays in */
    bool base_from_error;        /* baseBackoffMS in a reply replaces the base */
    bool retarget;               /* a retry after overload goes to another server */
    const char *announcement;    /* `backpressure` in the handshake; NULL: true */
};

enum mbp_profile_name { MBP_PROFILE_ORIGINAL, MBP_PROFILE_CURRENT, MBP_PROFILE_COUNT };

extern const struct mbp_profile mbp_profiles[MBP_PROFILE_COUNT];

/* A profile with the user's settings laid over it. */
struct mbp_policy {
    struct mbp_profile numbers;
    uint64_t timeout_ms; /* of an operation with all its retries; 0: none */
};

/* Labels of an error that matter to us, as bits. */
enum mbp_label {
    MBP_LABEL_RETRYABLE = 1 << 0,
    MBP_LABEL_OVERLOADED = 1 << 1,
    MBP_LABEL_NO_WRITES_PERFORMED = 1 << 2,
    MBP_LABEL_TRANSIENT_TRANSACTION = 1 << 3, /* the policy itself doesn't ask for it */
};

/* How one send of a command ended. */
struct mbp_attempt {
    bool ok;
    bool unsafe_to_resend; /* whatever the labels say: its connection is gone, say */
    unsigned labels;
    uint64_t base_backoff_ms; /* that the server asks for; 0: none */
    uint64_t now_ms;
};

/* A command with all its sends. Zero it, then set the deadline. */
struct mbp_operation {
    uint32_t retries;     /* begun so far, the driver's own among them */
    bool paid;            /* the latest retry cost a token, which may come back */
    bool switched_off;    /* the program asked the driver for no retries */
    bool continued;       /* the driver has made its own retry, and makes no other */
    uint64_t deadline_ms; /* on the clock of mbp_attempt.now_ms; 0: none */
};

/* Why an operation ends with an error instead of a retry. */
enum mbp_refusal {
    MBP_REFUSED_NOT, /* not refused */
    MBP_REFUSED_NOT_RETRYABLE,
    MBP_REFUSED_DISABLED,
    MBP_REFUSED_ATTEMPTS,
    MBP_REFUSED_DEADLINE,
    MBP_REFUSED_BUDGET,
};

struct mbp_verdict {
    bool retry;           /* provided that `cost` can be paid */
    bool avoid_server;    /* the retry should go elsewhere if it can */
    uint64_t delay_ms;    /* before the retry */
    mbp_millitokens cost; /* of the retry */
    mbp_millitokens deposit;
    enum mbp_refusal refusal;
};

/* The deadline of an operation that begins now; 0 where there is none. */
uint64_t mbp_policy_deadline_ms(const struct mbp_policy *policy, uint64_t now_ms);

/* Draws from `jitter` only when there is a delay to work out. */
struct mbp_verdict mbp_policy_decide(const struct mbp_policy *policy,
    const struct mbp_operation *operation, const struct mbp_attempt *attempt,
    const struct mbp_jitter *jitter);

const char *mbp_refusal_name(enum mbp_refusal refusal);

#endif
