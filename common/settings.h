/*
 * What the user can set, once: parser, `mongobp --help` and the check of the
 * README's table all come from this list.
 */
#ifndef MBP_SETTINGS_H
#define MBP_SETTINGS_H

#include "log.h"
#include "policy.h"
#include "segment.h"

#include <stdbool.h>
#include <stdint.h>

#define MBP_ENVIRONMENT_PREFIX "MONGOBP_"

/* X (NAME, type, default, least, most, meaning); see mbp_setting_type. */
#define MBP_SETTINGS(X)                                                                            \
    X(DISABLE, flag, "0", 0, 1, "1: pass everything through untouched, count nothing")             \
    X(OBSERVE, flag, "0", 0, 1, "1: count what would be retried, change nothing")                  \
    X(PROFILE, profile, "original", 0, 1,                                                          \
        "edition of the specification, original or current: numbers that are not set")             \
    X(MAX_RETRIES, number, "5", 0, 100, "retries of one command (current: 2)")                     \
    X(BASE_BACKOFF_MS, number, "100", 0, 600000, "ceiling of the first delay")                     \
    X(MAX_BACKOFF_MS, number, "10000", 0, 600000, "ceiling of every delay")                        \
    X(TIMEOUT_MS, number, "0", 0, 86400000,                                                        \
        "time for a command with all its retries; 0: no limit")                                    \
    X(MAXTIMEMS, limit, "respect", 0, 1,                                                           \
        "respect: a command's maxTimeMS covers its retries, too; or ignore")                       \
    X(RETARGET, tristate, "profile", 0, 2,                                                         \
        "on: retries go to another server where they may; off; profile: on (current: off)")        \
    X(BUCKET, name, "default", 1, MBP_BUCKET_NAME_MAX,                                             \
        "programs with the same name here share one budget")                                       \
    X(CAPACITY, number, "1000", 1, MBP_BUCKET_MAX_TOKENS,                                          \
        "tokens in a full bucket; counts for the process that creates it")                         \
    X(RETURN_RATE, decimal, "0.1", 0, 1000, "tokens paid in by each success")                      \
    X(LOG, level, "warn", 0, 3, "off, warn, info or debug, on standard error")

enum mbp_setting {
#define X(name, type, fallback, least, most, meaning) MBP_SET_##name,
    MBP_SETTINGS(X)
#undef X
        MBP_SETTING_COUNT
};

enum mbp_setting_type {
    MBP_TYPE_flag,    /* 0 or 1; also on/off, true/false, yes/no */
    MBP_TYPE_number,  /* a whole number, least to most */
    MBP_TYPE_decimal, /* up to three decimals, least to most; kept in thousandths */
    MBP_TYPE_name,    /* letters, digits, '.', '_', '-'; least to most characters */
    /* One of some words; the value is its place among them. */
    MBP_TYPE_level,    /* an mbp_log_level */
    MBP_TYPE_profile,  /* an mbp_profile_name */
    MBP_TYPE_limit,    /* an mbp_limit */
    MBP_TYPE_tristate, /* an mbp_tristate */
};

enum mbp_limit { MBP_LIMIT_RESPECT, MBP_LIMIT_IGNORE };
enum mbp_tristate { MBP_OFF, MBP_ON, MBP_BY_PROFILE };

struct mbp_setting_info {
    const char *variable; /* with the prefix */
    enum mbp_setting_type type;
    const char *fallback;
    uint64_t least, most;
    const char *meaning;
};

extern const struct mbp_setting_info mbp_setting_infos[MBP_SETTING_COUNT];

struct mbp_settings {
    uint64_t value[MBP_SETTING_COUNT];
    bool given[MBP_SETTING_COUNT]; /* the user said so, and it was good */
    char bucket[MBP_BUCKET_NAME_MAX + 1];
};

/* Told about each bad value or unknown variable, in words for the user. */
typedef void mbp_settings_complaint(const char *complaint);

/* Reads an environment block ("NAME=value" strings, NULL at the end). What is
 * bad is complained about and keeps its default. */
void mbp_settings_read(
    struct mbp_settings *settings, char *const environment[], mbp_settings_complaint *complain);

/* The same for this process; a privileged (setuid) one gets the defaults. */
void mbp_settings_read_own(struct mbp_settings *settings, mbp_settings_complaint *complain);

#define MBP_EXPECTED_SIZE 96

/* Parses one value into the settings. On false they are unchanged, and
 * `expected` says what a good value looks like. */
bool mbp_settings_parse(struct mbp_settings *settings, enum mbp_setting setting, const char *text,
    char expected[MBP_EXPECTED_SIZE]);

/* The setting of that name, with or without the prefix, or -1; then `*nearest`
 * is the one whose name is most like it. */
int mbp_settings_find(const char *name, const char **nearest);

/* The policy that these settings ask for. */
struct mbp_policy mbp_settings_policy(const struct mbp_settings *settings);

#endif
