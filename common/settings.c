#include "settings.h"

#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/auxv.h>
#include <unistd.h>

#define PREFIX_LENGTH (sizeof MBP_ENVIRONMENT_PREFIX - 1)

const struct mbp_setting_info mbp_setting_infos[MBP_SETTING_COUNT] = {
#define X(name, type, fallback, least, most, meaning)                                              \
    {MBP_ENVIRONMENT_PREFIX #name, MBP_TYPE_##type, fallback, least, most, meaning},
    MBP_SETTINGS(X)
#undef X
};

/* For the types that are one of some words. */
static const char *const words_of_type[][8] = {
    [MBP_TYPE_flag] = {"0", "1", "off", "on", "false", "true", "no", "yes"}, /* odd: set */
    [MBP_TYPE_level] = {"off", "warn", "info", "debug"},
    [MBP_TYPE_profile] = {"original", "current"},
    [MBP_TYPE_limit] = {"respect", "ignore"},
    [MBP_TYPE_tristate] = {"off", "on", "profile"},
};

static bool parse_word(const char *text, enum mbp_setting_type type, uint64_t *value)
{
    const char *const *words = words_of_type[type];
    for (unsigned i = 0; i < sizeof words_of_type[0] / sizeof words[0] && words[i]; i++) {
        if (strcasecmp(text, words[i]) == 0) {
            *value = i;
            return true;
        }
    }
    return false;
}

/* "off, warn, info or debug". */
static void list_words(enum mbp_setting_type type, char text[MBP_EXPECTED_SIZE])
{
    const char *const *words = words_of_type[type];
    size_t used = 0;
    for (unsigned i = 0; words[i]; i++) {
        const char *separator = i == 0 ? "" : words[i + 1] ? ", " : " or ";
        used +=
            (size_t)snprintf(text + used, MBP_EXPECTED_SIZE - used, "%s%s", separator, words[i]);
    }
}

/* Digits, at most `places` decimals, and nothing else; times 10^places. */
static bool parse_scaled(const char *text, unsigned places, uint64_t *value)
{
    uint64_t result = 0;
    unsigned digits = 0;
    for (; isdigit((unsigned char)*text); text++, digits++) {
        result = result * 10 + (uint64_t)(*text - '0');
    }
    if (places > 0 && digits > 0 && *text == '.') {
        text++;
        for (; places > 0 && isdigit((unsigned char)*text); text++, places--, digits++) {
            result = result * 10 + (uint64_t)(*text - '0');
        }
    }
    for (; places > 0; places--) {
        result *= 10;
    }
    *value = result;
    /* More digits than any range needs would overflow. */
    return digits > 0 && digits <= 15 && *text == '\0';
}

static bool parse_name(const char *text, const struct mbp_setting_info *info)
{
    const size_t length = strlen(text);
    for (const char *c = text; *c; c++) {
        if (!isalnum((unsigned char)*c) && !strchr("._-", *c)) {
            return false;
        }
    }
    return length >= info->least && length <= info->most;
}

static bool in_range(uint64_t value, const struct mbp_setting_info *info, uint64_t scale)
{
    return value >= info->least * scale && value <= info->most * scale;
}

bool mbp_settings_parse(struct mbp_settings *settings, enum mbp_setting setting, const char *text,
    char expected[MBP_EXPECTED_SIZE])
{
    const struct mbp_setting_info *info = &mbp_setting_infos[setting];
    const unsigned long least = (unsigned long)info->least;
    const unsigned long most = (unsigned long)info->most;
    uint64_t value = 0;
    bool good = false;
    switch (info->type) {
    case MBP_TYPE_flag:
        good = parse_word(text, info->type, &value);
        value %= 2;
        snprintf(expected, MBP_EXPECTED_SIZE, "0 or 1");
        break;
    case MBP_TYPE_number:
        good = parse_scaled(text, 0, &value) && in_range(value, info, 1);
        snprintf(expected, MBP_EXPECTED_SIZE, "a whole number from %lu to %lu", least, most);
        break;
    case MBP_TYPE_decimal:
        good = parse_scaled(text, 3, &value) && in_range(value, info, 1000);
        snprintf(expected, MBP_EXPECTED_SIZE, "a number from %lu to %lu with up to three decimals",
            least, most);
        break;
    case MBP_TYPE_name:
        good = parse_name(text, info);
        snprintf(expected, MBP_EXPECTED_SIZE, "%lu to %lu letters, digits, '.', '_' or '-'", least,
            most);
        break;
    case MBP_TYPE_level:
    case MBP_TYPE_profile:
    case MBP_TYPE_limit:
    case MBP_TYPE_tristate:
        good = parse_word(text, info->type, &value);
        list_words(info->type, expected);
        break;
    }
    if (good) {
        settings->value[setting] = value;
        if (info->type == MBP_TYPE_name) {
            snprintf(settings->bucket, sizeof settings->bucket, "%s", text);
        }
    }
    return good;
}

/* How many letters must be changed, added or removed to make one the other. */
static unsigned edit_distance(const char *a, const char *b)
{
    enum { LONGEST = 32 };
    unsigned row[LONGEST + 1];
    const size_t b_length = strnlen(b, LONGEST);
    for (unsigned j = 0; j <= b_length; j++) {
        row[j] = j;
    }
    for (unsigned i = 1; a[i - 1] && i <= LONGEST; i++) {
        unsigned diagonal = row[0];
        row[0] = i;
        for (unsigned j = 1; j <= b_length; j++) {
            const unsigned replaced = diagonal + (a[i - 1] != b[j - 1]);
            const unsigned changed = (row[j] < row[j - 1] ? row[j] : row[j - 1]) + 1;
            diagonal = row[j];
            row[j] = replaced < changed ? replaced : changed;
        }
    }
    return row[b_length];
}

int mbp_settings_find(const char *name, const char **nearest)
{
    unsigned best = ~0u;
    if (strncmp(name, MBP_ENVIRONMENT_PREFIX, PREFIX_LENGTH) == 0) {
        name += PREFIX_LENGTH;
    }
    for (int i = 0; i < MBP_SETTING_COUNT; i++) {
        const char *known = mbp_setting_infos[i].variable;
        const unsigned distance = edit_distance(name, known + PREFIX_LENGTH);
        if (strcmp(name, known + PREFIX_LENGTH) == 0) {
            return i;
        }
        if (distance < best) {
            best = distance;
            *nearest = known;
        }
    }
    return -1;
}

/* `seen`: as with getenv, of two with one name the first counts. */
static void read_variable(struct mbp_settings *settings, bool seen[MBP_SETTING_COUNT],
    const char *variable, mbp_settings_complaint *complain)
{
    char name[64];
    char expected[MBP_EXPECTED_SIZE];
    char complaint[320];
    const char *nearest = "";
    const char *equals = strchr(variable, '=');
    if (!equals) {
        return;
    }
    snprintf(name, sizeof name, "%.*s", (int)(equals - variable), variable);
    const int setting = mbp_settings_find(name, &nearest);
    if (setting < 0) {
        snprintf(complaint, sizeof complaint, "unknown variable %s is ignored; did you mean %s?",
            name, nearest);
        complain(complaint);
        return;
    }
    if (seen[setting]) {
        return;
    }
    seen[setting] = true;
    if (mbp_settings_parse(settings, (enum mbp_setting)setting, equals + 1, expected)) {
        settings->given[setting] = true;
    } else {
        snprintf(complaint, sizeof complaint, "%s=\"%.60s\" is not %s; the default, %s, stays",
            name, equals + 1, expected, mbp_setting_infos[setting].fallback);
        complain(complaint);
    }
}

void mbp_settings_read(
    struct mbp_settings *settings, char *const environment[], mbp_settings_complaint *complain)
{
    char expected[MBP_EXPECTED_SIZE];
    bool seen[MBP_SETTING_COUNT] = {false};
    memset(settings, 0, sizeof *settings);
    for (int i = 0; i < MBP_SETTING_COUNT; i++) {
        mbp_settings_parse(settings, (enum mbp_setting)i, mbp_setting_infos[i].fallback, expected);
    }
    for (; environment && *environment; environment++) {
        if (strncmp(*environment, MBP_ENVIRONMENT_PREFIX, PREFIX_LENGTH) == 0) {
            read_variable(settings, seen, *environment, complain);
        }
    }
}

void mbp_settings_read_own(struct mbp_settings *settings, mbp_settings_complaint *complain)
{
    /* What secure_getenv does for one variable: a privileged program is not
     * steered by the environment of whoever started it. */
    mbp_settings_read(settings, getauxval(AT_SECURE) ? NULL : environ, complain);
}

struct mbp_policy mbp_settings_policy(const struct mbp_settings *settings)
{
    struct mbp_policy policy = {
        .numbers = mbp_profiles[settings->value[MBP_SET_PROFILE]],
        .timeout_ms = settings->value[MBP_SET_TIMEOUT_MS],
    };
    struct mbp_profile *numbers = &policy.numbers;
    /* Only what was given: the profile's own number is the default. */
#define OVERRIDE(setting, field)                                                                   \
    if (settings->given[MBP_SET_##setting]) {                                                      \
        numbers->field = (uint32_t)settings->value[MBP_SET_##setting];                             \
    }
    OVERRIDE(MAX_RETRIES, max_retries)
    OVERRIDE(BASE_BACKOFF_MS, base_backoff_ms)
    OVERRIDE(MAX_BACKOFF_MS, max_backoff_ms)
    OVERRIDE(RETURN_RATE, return_rate)
#undef OVERRIDE
    if (settings->value[MBP_SET_RETARGET] != MBP_BY_PROFILE) {
        numbers->retarget = settings->value[MBP_SET_RETARGET] == MBP_ON;
    }
    return policy;
}
