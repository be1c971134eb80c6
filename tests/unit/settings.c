#include "common/settings.h"

#include "tests/support/text.h"

#include <criterion/criterion.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define LONGEST_NAME "0123456789012345678901234567890123456789012345678901234567890123"
static_assert(sizeof LONGEST_NAME - 1 == MBP_BUCKET_NAME_MAX, "the longest name");

static char complaints[16][512];
static unsigned complaint_count;

static void collect(const char *complaint)
{
    if (complaint_count < sizeof complaints / sizeof complaints[0]) {
        snprintf(complaints[complaint_count], sizeof complaints[0], "%s", complaint);
    }
    complaint_count++;
}

/* Reads an environment of these strings. */
static struct mbp_settings read_strings(char *const strings[])
{
    struct mbp_settings settings;
    complaint_count = 0;
    memset(complaints, 0, sizeof complaints);
    mbp_settings_read(&settings, strings, collect);
    return settings;
}

#define READ(...) read_strings((char *const[]){__VA_ARGS__, NULL})

static const struct mbp_setting_info *info_of(enum mbp_setting setting)
{
    return &mbp_setting_infos[setting];
}

static const struct {
    enum mbp_setting setting;
    uint64_t value;
} defaults[] = {
    {MBP_SET_DISABLE, 0},
    {MBP_SET_OBSERVE, 0},
    {MBP_SET_MAX_RETRIES, 5},
    {MBP_SET_BASE_BACKOFF_MS, 100},
    {MBP_SET_MAX_BACKOFF_MS, 10000},
    {MBP_SET_TIMEOUT_MS, 0},
    {MBP_SET_CAPACITY, 1000},
    {MBP_SET_RETURN_RATE, 100}, /* thousandths */
    {MBP_SET_LOG, MBP_LOG_WARN},
};

static void check_defaults(const struct mbp_settings *settings, const char *what)
{
    for (unsigned i = 0; i < sizeof defaults / sizeof defaults[0]; i++) {
        cr_expect_eq(settings->value[defaults[i].setting], defaults[i].value, "%s: %s", what,
            info_of(defaults[i].setting)->variable);
    }
    for (unsigned i = 0; i < MBP_SETTING_COUNT; i++) {
        cr_expect_not(settings->given[i], "%s: %s", what, mbp_setting_infos[i].variable);
    }
    cr_expect_str_eq(settings->bucket, "default", "%s", what);
}

Test(settings, defaults_come_from_no_environment)
{
    struct mbp_settings settings;
    complaint_count = 0;
    mbp_settings_read(&settings, NULL, collect);
    check_defaults(&settings, "none");
    cr_expect_eq(complaint_count, 0);
    settings = READ("PATH=/bin", "MONGO=1", "mongobp_disable=1", "XMONGOBP_DISABLE=1");
    check_defaults(&settings, "others' variables");
    cr_expect_eq(complaint_count, 0);
}

Test(settings, every_default_parses_and_every_setting_is_explained)
{
    for (unsigned i = 0; i < MBP_SETTING_COUNT; i++) {
        struct mbp_settings settings = {0};
        char expected[MBP_EXPECTED_SIZE] = "";
        const struct mbp_setting_info *info = &mbp_setting_infos[i];
        cr_expect(mbp_settings_parse(&settings, (enum mbp_setting)i, info->fallback, expected),
            "%s", info->variable);
        cr_expect_eq(strncmp(info->variable, "MONGOBP_", 8), 0, "%s", info->variable);
        cr_expect_gt(strlen(info->meaning), 10, "%s", info->variable);
        cr_expect_gt(strlen(expected), 5, "%s", info->variable);
        cr_expect_lt(strlen(expected), MBP_EXPECTED_SIZE - 1, "%s: cut", info->variable);
    }
}

Test(settings, good_values_to_the_ends_of_their_ranges)
{
    static const struct {
        enum mbp_setting setting;
        const char *text;
        uint64_t value;
    } rows[] = {
        {MBP_SET_DISABLE, "0", 0},
        {MBP_SET_DISABLE, "1", 1},
        {MBP_SET_DISABLE, "off", 0},
        {MBP_SET_DISABLE, "on", 1},
        {MBP_SET_DISABLE, "false", 0},
        {MBP_SET_DISABLE, "true", 1},
        {MBP_SET_DISABLE, "no", 0},
        {MBP_SET_DISABLE, "yes", 1},
        {MBP_SET_OBSERVE, "TRUE", 1},
        {MBP_SET_OBSERVE, "Off", 0},
        {MBP_SET_MAX_RETRIES, "0", 0},
        {MBP_SET_MAX_RETRIES, "100", 100},
        {MBP_SET_MAX_RETRIES, "007", 7},
        {MBP_SET_BASE_BACKOFF_MS, "0", 0},
        {MBP_SET_BASE_BACKOFF_MS, "600000", 600000},
        {MBP_SET_MAX_BACKOFF_MS, "0", 0},
        {MBP_SET_MAX_BACKOFF_MS, "600000", 600000},
        {MBP_SET_TIMEOUT_MS, "1", 1},
        {MBP_SET_TIMEOUT_MS, "86400000", 86400000},
        {MBP_SET_CAPACITY, "1", 1},
        {MBP_SET_CAPACITY, "4000000", 4000000},
        {MBP_SET_RETURN_RATE, "0", 0},
        {MBP_SET_RETURN_RATE, "0.001", 1},
        {MBP_SET_RETURN_RATE, "0.25", 250},
        {MBP_SET_RETURN_RATE, "1", 1000},
        {MBP_SET_RETURN_RATE, "1000", 1000000},
        {MBP_SET_RETURN_RATE, "1000.000", 1000000},
        {MBP_SET_LOG, "off", MBP_LOG_OFF},
        {MBP_SET_LOG, "warn", MBP_LOG_WARN},
        {MBP_SET_LOG, "info", MBP_LOG_INFO},
        {MBP_SET_LOG, "debug", MBP_LOG_DEBUG},
        {MBP_SET_LOG, "Debug", MBP_LOG_DEBUG},
    };
    for (unsigned i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        char variable[128];
        snprintf(
            variable, sizeof variable, "%s=%s", info_of(rows[i].setting)->variable, rows[i].text);
        const struct mbp_settings settings = READ(variable);
        cr_expect_eq(settings.value[rows[i].setting], rows[i].value, "%s", variable);
        cr_expect(settings.given[rows[i].setting], "%s", variable);
        cr_expect_eq(complaint_count, 0, "%s: %s", variable, complaints[0]);
    }
}

Test(settings, good_names_of_a_bucket)
{
    static const char *const names[] = {"a", "A-Z_0.9", "-", "...", LONGEST_NAME};
    for (unsigned i = 0; i < sizeof names / sizeof names[0]; i++) {
        char variable[128];
        snprintf(variable, sizeof variable, "MONGOBP_BUCKET=%s", names[i]);
        const struct mbp_settings settings = READ(variable);
        cr_expect_str_eq(settings.bucket, names[i]);
        cr_expect(settings.given[MBP_SET_BUCKET]);
        cr_expect_eq(complaint_count, 0, "%s", complaints[0]);
    }
}

/* Each keeps its default, and one complaint names variable and value. */
static void check_bad(enum mbp_setting setting, const char *text)
{
    char variable[256];
    char named[256];
    snprintf(variable, sizeof variable, "%s=%s", info_of(setting)->variable, text);
    const struct mbp_settings settings = READ(variable);
    check_defaults(&settings, variable);
    cr_expect_eq(complaint_count, 1, "%s: %u complaints", variable, complaint_count);
    snprintf(named, sizeof named, "%s=\"%.60s\"", info_of(setting)->variable, text);
    cr_expect_not_null(strstr(complaints[0], named), "%s: %s", variable, complaints[0]);
    cr_expect_not_null(
        strstr(complaints[0], info_of(setting)->fallback), "%s: %s", variable, complaints[0]);
}

Test(settings, bad_numbers)
{
    static const enum mbp_setting numbers[] = {MBP_SET_MAX_RETRIES, MBP_SET_BASE_BACKOFF_MS,
        MBP_SET_MAX_BACKOFF_MS, MBP_SET_TIMEOUT_MS, MBP_SET_CAPACITY, MBP_SET_RETURN_RATE};
    static const char *const texts[] = {"", " ", "5x", "x5", " 5", "5 ", "-1", "+5", "0x10", "1e3",
        "1,5", "1.5.2", ".", ".5", "1..5", "0.1234", "five", "nan", "inf", "99999999999",
        "18446744073709551616", "18446744073709551621", "99999999999999999999999999999999",
        "000000000000000000000000000000000000000000000000000000000000005", "5\t", "\xd9\xa5"};
    for (unsigned i = 0; i < sizeof numbers / sizeof numbers[0]; i++) {
        for (unsigned j = 0; j < sizeof texts / sizeof texts[0]; j++) {
            check_bad(numbers[i], texts[j]);
        }
    }
}

Test(settings, bad_values_of_one_setting)
{
    static const struct {
        enum mbp_setting setting;
        const char *text;
    } rows[] = {
        {MBP_SET_MAX_RETRIES, "101"},
        {MBP_SET_MAX_RETRIES, "5.0"},
        {MBP_SET_MAX_RETRIES, "5."},
        {MBP_SET_BASE_BACKOFF_MS, "600001"},
        {MBP_SET_MAX_BACKOFF_MS, "600001"},
        {MBP_SET_TIMEOUT_MS, "86400001"},
        {MBP_SET_CAPACITY, "0"},
        {MBP_SET_CAPACITY, "4000001"},
        {MBP_SET_RETURN_RATE, "1000.001"},
        {MBP_SET_RETURN_RATE, "1001"},
        {MBP_SET_DISABLE, ""},
        {MBP_SET_DISABLE, "2"},
        {MBP_SET_DISABLE, "01"},
        {MBP_SET_DISABLE, "yes "},
        {MBP_SET_OBSERVE, "y"},
        {MBP_SET_OBSERVE, "-1"},
        {MBP_SET_LOG, ""},
        {MBP_SET_LOG, "2"},
        {MBP_SET_LOG, "warning"},
        {MBP_SET_LOG, "trace"},
        {MBP_SET_BUCKET, ""},
        {MBP_SET_BUCKET, "a/b"},
        {MBP_SET_BUCKET, "../a"},
        {MBP_SET_BUCKET, "a b"},
        {MBP_SET_BUCKET, "a\nb"},
        {MBP_SET_BUCKET, "%s%n"},
        {MBP_SET_BUCKET, "\xc3\xa4"},
        {MBP_SET_BUCKET, LONGEST_NAME "x"},
    };
    for (unsigned i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        check_bad(rows[i].setting, rows[i].text);
    }
}

Test(settings, bad_value_leaves_the_others_good)
{
    const struct mbp_settings settings =
        READ("MONGOBP_MAX_RETRIES=2", "MONGOBP_CAPACITY=many", "MONGOBP_LOG=debug");
    cr_expect_eq(settings.value[MBP_SET_MAX_RETRIES], 2);
    cr_expect_eq(settings.value[MBP_SET_CAPACITY], 1000);
    cr_expect_eq(settings.value[MBP_SET_LOG], MBP_LOG_DEBUG);
    cr_expect_eq(complaint_count, 1);
}

Test(settings, parsing_a_bad_value_changes_nothing)
{
    struct mbp_settings settings;
    struct mbp_settings before;
    char expected[MBP_EXPECTED_SIZE];
    mbp_settings_read(&settings, NULL, collect);
    before = settings;
    cr_expect_not(mbp_settings_parse(&settings, MBP_SET_CAPACITY, "0", expected));
    cr_expect_str_eq(expected, "a whole number from 1 to 4000000");
    cr_expect_not(mbp_settings_parse(&settings, MBP_SET_BUCKET, "a/b", expected));
    cr_expect_not(mbp_settings_parse(&settings, MBP_SET_RETURN_RATE, "x", expected));
    cr_expect_eq(memcmp(&settings, &before, sizeof settings), 0);
}

Test(settings, unknown_variables_get_the_nearest_known_one)
{
    static const struct {
        char *variable;
        const char *name, *nearest;
    } rows[] = {
        {"MONGOBP_DISABLED=1", "MONGOBP_DISABLED", "MONGOBP_DISABLE?"},
        {"MONGOBP_DISALBE=1", "MONGOBP_DISALBE", "MONGOBP_DISABLE?"},
        {"MONGOBP_MAX_RETRY=1", "MONGOBP_MAX_RETRY", "MONGOBP_MAX_RETRIES?"},
        {"MONGOBP_TIMEOUT=1", "MONGOBP_TIMEOUT", "MONGOBP_TIMEOUT_MS?"},
        {"MONGOBP_BACKOFF_MS=1", "MONGOBP_BACKOFF_MS", "BACKOFF_MS?"},
        {"MONGOBP_BUCKT=a", "MONGOBP_BUCKT", "MONGOBP_BUCKET?"},
        {"MONGOBP_LOGS=", "MONGOBP_LOGS", "MONGOBP_LOG?"},
        {"MONGOBP_log=debug", "MONGOBP_log", "MONGOBP_"},
        {"MONGOBP_=1", "MONGOBP_ ", "MONGOBP_"},
    };
    for (unsigned i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        const struct mbp_settings settings = READ(rows[i].variable);
        check_defaults(&settings, rows[i].variable);
        cr_expect_eq(complaint_count, 1, "%s", rows[i].variable);
        const char *named = strstr(complaints[0], rows[i].name);
        cr_expect_not_null(named, "%s: %s", rows[i].variable, complaints[0]);
        cr_expect(
            named && strstr(named + 1, rows[i].nearest), "%s: %s", rows[i].variable, complaints[0]);
    }
}

Test(settings, unknown_variable_of_any_length_is_survived)
{
    char variable[5000] = "MONGOBP_";
    memset(variable + 8, 'X', sizeof variable - 12);
    memcpy(variable + sizeof variable - 4, "=1", 3);
    const struct mbp_settings settings = READ(variable);
    check_defaults(&settings, "long");
    cr_expect_eq(complaint_count, 1);
}

Test(settings, value_of_any_length_is_survived)
{
    char variable[5000] = "MONGOBP_CAPACITY=";
    memset(variable + 17, '9', sizeof variable - 18);
    const struct mbp_settings settings = READ(variable);
    check_defaults(&settings, "long");
    cr_expect_eq(complaint_count, 1);
    cr_expect_not_null(strstr(complaints[0], "MONGOBP_CAPACITY"));
    cr_expect_not_null(strstr(complaints[0], "1000, stays"), "%s", complaints[0]);
}

Test(settings, string_without_a_value_is_no_variable)
{
    const struct mbp_settings settings = READ("MONGOBP_DISABLE", "MONGOBP_", "MONGOBP_NONSENSE");
    check_defaults(&settings, "no value");
    cr_expect_eq(complaint_count, 0);
}

/* As with getenv, which gives the rest of the program the first one: a default
 * that "stays" beside a value that was taken would be a lie, too. */
Test(settings, first_of_two_counts)
{
    struct mbp_settings settings = READ("MONGOBP_MAX_RETRIES=2", "MONGOBP_MAX_RETRIES=3");
    cr_expect_eq(settings.value[MBP_SET_MAX_RETRIES], 2);
    settings = READ("MONGOBP_MAX_RETRIES=2", "MONGOBP_MAX_RETRIES=many");
    cr_expect_eq(settings.value[MBP_SET_MAX_RETRIES], 2);
    cr_expect_eq(complaint_count, 0, "%s", complaints[0]);
}

Test(settings, names_are_found_with_and_without_the_prefix)
{
    const char *nearest = NULL;
    for (int i = 0; i < MBP_SETTING_COUNT; i++) {
        const char *variable = mbp_setting_infos[i].variable;
        cr_expect_eq(mbp_settings_find(variable, &nearest), i, "%s", variable);
        cr_expect_eq(mbp_settings_find(variable + 8, &nearest), i, "%s", variable + 8);
    }
    cr_expect_eq(mbp_settings_find("CAPACITI", &nearest), -1);
    cr_expect_str_eq(nearest, "MONGOBP_CAPACITY");
}

Test(settings, own_environment_is_read)
{
    struct mbp_settings settings;
    complaint_count = 0;
    cr_assert_eq(setenv("MONGOBP_MAX_RETRIES", "9", 1), 0);
    mbp_settings_read_own(&settings, collect);
    cr_expect_eq(settings.value[MBP_SET_MAX_RETRIES], 9);
}

Test(settings, policy_is_the_profile_unless_something_is_given)
{
    const struct mbp_settings plain = READ("PATH=/bin");
    const struct mbp_policy specified = mbp_settings_policy(&plain);
    const struct mbp_profile *profile = &mbp_profiles[0];
    cr_expect_str_eq(specified.numbers.name, "original");
    cr_expect_eq(specified.numbers.first_exponent, profile->first_exponent);
    cr_expect(specified.numbers.retarget);
    cr_expect_eq(specified.timeout_ms, 0);
    /* What the help says is the default is what the profile does. */
    cr_expect_eq(plain.value[MBP_SET_MAX_RETRIES], profile->max_retries);
    cr_expect_eq(plain.value[MBP_SET_BASE_BACKOFF_MS], profile->base_backoff_ms);
    cr_expect_eq(plain.value[MBP_SET_MAX_BACKOFF_MS], profile->max_backoff_ms);
    cr_expect_eq(plain.value[MBP_SET_RETURN_RATE], profile->return_rate);

    const struct mbp_settings given = READ("MONGOBP_MAX_RETRIES=0", "MONGOBP_BASE_BACKOFF_MS=7",
        "MONGOBP_MAX_BACKOFF_MS=70", "MONGOBP_RETURN_RATE=0.005", "MONGOBP_TIMEOUT_MS=700");
    const struct mbp_policy policy = mbp_settings_policy(&given);
    cr_expect_eq(policy.numbers.max_retries, 0);
    cr_expect_eq(policy.numbers.base_backoff_ms, 7);
    cr_expect_eq(policy.numbers.max_backoff_ms, 70);
    cr_expect_eq(policy.numbers.return_rate, 5);
    cr_expect_eq(policy.numbers.retry_cost, profile->retry_cost);
    cr_expect_eq(policy.timeout_ms, 700);
}

Test(settings, profile_is_chosen_and_overridden)
{
    const struct mbp_settings plain = READ("MONGOBP_PROFILE=current");
    struct mbp_policy policy = mbp_settings_policy(&plain);
    cr_expect_str_eq(policy.numbers.name, "current");
    cr_expect_eq(policy.numbers.max_retries, 2);
    cr_expect_eq(policy.numbers.first_exponent, 1);
    cr_expect(policy.numbers.base_from_error);
    cr_expect_not(policy.numbers.retarget);

    const struct mbp_settings given =
        READ("MONGOBP_MAX_RETRIES=4", "MONGOBP_PROFILE=current", "MONGOBP_RETARGET=on");
    policy = mbp_settings_policy(&given);
    cr_expect_eq(policy.numbers.max_retries, 4);
    cr_expect_eq(policy.numbers.first_exponent, 1);
    cr_expect(policy.numbers.retarget);

    const struct mbp_settings bad = READ("MONGOBP_PROFILE=newest", "MONGOBP_RETARGET=off");
    policy = mbp_settings_policy(&bad);
    cr_expect_str_eq(policy.numbers.name, "original");
    cr_expect_not(policy.numbers.retarget);
    cr_expect(strstr(complaints[0], "original or current"), "%s", complaints[0]);
}

/* The README has a row for each: | `MONGOBP_NAME` | default | meaning | */
Test(settings, readme_names_each_with_its_default)
{
    const char *root = getenv("MBP_SOURCE_ROOT");
    char path[4096];
    snprintf(path, sizeof path, "%s/README.md", root ? root : ".");
    char *readme = text_of_file(path);
    cr_assert_not_null(readme, "%s", path);
    for (unsigned i = 0; i < MBP_SETTING_COUNT; i++) {
        char row[128];
        char ticked_row[128];
        const struct mbp_setting_info *info = &mbp_setting_infos[i];
        snprintf(row, sizeof row, "\n| `%s` | %s |", info->variable, info->fallback);
        snprintf(
            ticked_row, sizeof ticked_row, "\n| `%s` | `%s` |", info->variable, info->fallback);
        cr_expect(strstr(readme, row) || strstr(readme, ticked_row), "no row %s", row + 1);
    }
    free(readme);
}
