/*
 * What is counted, once: the enum, the names in `mongobp status` and their
 * explanations all come from this list. The position is the place in shared
 * memory: append, never reorder.
 */
#ifndef MBP_COUNTERS_H
#define MBP_COUNTERS_H

/* X (name, unit, meaning). A unit of `tokens` is stored in thousandths. */
#define MBP_COUNTERS(X)                                                                            \
    X(operations, count, "commands that passed through")                                           \
    X(first_successes, count, "commands that succeeded at once")                                   \
    X(retries, count, "retries attempted")                                                         \
    X(retry_successes, count, "commands that succeeded on a retry")                                \
    X(overload_errors, count, "errors labelled SystemOverloadedError")                             \
    X(backoff_ms, milliseconds, "time waited before retries")                                      \
    X(refused_budget, count, "retries refused: no token left")                                     \
    X(refused_attempts, count, "retries refused: attempts used up")                                \
    X(refused_deadline, count, "retries refused: no time left")                                    \
    X(refused_not_retryable, count, "errors that are not safe to retry")                           \
    X(refused_disabled, count, "retries refused: retrying is switched off")                        \
    X(observed_retries, count, "retries that observe mode would have made")                        \
    X(unacknowledged, count, "commands with no reply (write concern 0)")                           \
    X(tokens_deposited, tokens, "tokens paid in")                                                  \
    X(tokens_consumed, tokens, "tokens spent on retries")                                          \
    X(retargeted, count, "retries that went to another server")                                    \
    X(driver_retries, count, "retries of the driver's own, continued in the same count")           \
    X(connection_overloads, count, "connections that a server turned away")                        \
    X(connection_retries, count, "connections tried again, paid for like retries")

enum mbp_counter {
#define X(name, unit, meaning) MBP_COUNT_##name,
    MBP_COUNTERS(X)
#undef X
        MBP_COUNTER_COUNT
};

enum mbp_unit { MBP_UNIT_count, MBP_UNIT_milliseconds, MBP_UNIT_tokens };

struct mbp_counter_info {
    const char *name;
    enum mbp_unit unit;
    const char *meaning;
};

extern const struct mbp_counter_info mbp_counter_infos[MBP_COUNTER_COUNT];

#endif
