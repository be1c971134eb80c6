#include "tests/spec/match.h"

#include "tests/spec/operators.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

bool match_mismatch(struct match *match, const char *format, ...)
{
    va_list arguments;
    int used =
        snprintf(match->why, sizeof match->why, "%s: ", *match->path ? match->path : "value");

    va_start(arguments, format);
    vsnprintf(match->why + used, sizeof match->why - (size_t)used, format, arguments);
    va_end(arguments);
    return false;
}

bool match_differs(struct match *match, const bson_iter_t *expected, const bson_iter_t *actual)
{
    char *wanted = iter_json(expected), *got = iter_json(actual);

    match_mismatch(match, "expected %s, actual %s", wanted, got);
    bson_free(wanted);
    bson_free(got);
    return false;
}

/* Matches below key, so that a mismatch in there tells its whole path. */
static bool match_below(struct match *match, const char *key, const bson_iter_t *expected,
    const bson_iter_t *actual, enum match_level level)
{
    size_t length = strlen(match->path);
    bool matches;

    snprintf(match->path + length, sizeof match->path - length, "%s%s", length ? "." : "", key);
    matches = match_value(match, expected, actual, level);
    match->path[length] = '\0';
    return matches;
}

long double match_number(const bson_iter_t *iter)
{
    return BSON_ITER_HOLDS_DOUBLE(iter) ? (long double)bson_iter_double(iter)
                                        : (long double)bson_iter_as_int64(iter);
}

static bool match_keys(struct match *match, const bson_iter_t *expected, const bson_iter_t *actual,
    enum match_level level)
{
    bson_t wanted, got;
    bson_iter_t iter, found, operand;

    if (!actual || !BSON_ITER_HOLDS_DOCUMENT(actual)) {
        return match_differs(match, expected, actual);
    }
    iter_view(expected, &wanted);
    iter_view(actual, &got);
    for (bson_iter_init(&iter, &wanted); bson_iter_next(&iter);) {
        const char *key = bson_iter_key(&iter);
        bool present = doc_find(&got, key, &found);
        if (!match_below(match, key, &iter, present ? &found : NULL, MATCH_NESTED)) {
            return false;
        }
    }
    if (level == MATCH_ROOT) {
        return true;
    }
    for (bson_iter_init(&iter, &got); bson_iter_next(&iter);) {
        const char *key = bson_iter_key(&iter);
        if (!doc_find(&wanted, key, &operand)) {
            char *extra = iter_json(&iter);
            match_mismatch(match, "unexpected key '%s', actual %s", key, extra);
            bson_free(extra);
            return false;
        }
    }
    return true;
}

static bool match_elements(struct match *match, const bson_iter_t *expected,
    const bson_iter_t *actual, enum match_level level)
{
    enum match_level below = level == MATCH_ROWS ? MATCH_ROOT : MATCH_NESTED;
    bson_t wanted, got;
    bson_iter_t iter, element;

    if (!actual || !BSON_ITER_HOLDS_ARRAY(actual)) {
        return match_differs(match, expected, actual);
    }
    iter_view(expected, &wanted);
    iter_view(actual, &got);
    if (bson_count_keys(&wanted) != bson_count_keys(&got)) {
        return match_differs(match, expected, actual);
    }
    bson_iter_init(&element, &got);
    for (bson_iter_init(&iter, &wanted); bson_iter_next(&iter) && bson_iter_next(&element);) {
        if (!match_below(match, bson_iter_key(&iter), &iter, &element, below)) {
            return false;
        }
    }
    return true;
}

/* Compares as BSON does: same type, same bytes. */
static bool same_bytes(const bson_iter_t *one, const bson_iter_t *other)
{
    bson_t first = BSON_INITIALIZER, second = BSON_INITIALIZER;
    bool same;

    doc_append(&first, "v", one);
    doc_append(&second, "v", other);
    same = bson_equal(&first, &second);
    bson_destroy(&first);
    bson_destroy(&second);
    return same;
}

bool match_value(struct match *match, const bson_iter_t *expected, const bson_iter_t *actual,
    enum match_level level)
{
    bson_iter_t operand;

    if (!match->exact && operator_is(expected, &operand)) {
        return operator_match(match, &operand, actual, level);
    }
    if (BSON_ITER_HOLDS_DOCUMENT(expected)) {
        return match_keys(match, expected, actual, level);
    }
    if (BSON_ITER_HOLDS_ARRAY(expected)) {
        return match_elements(match, expected, actual, level);
    }
    if (!actual) {
        return match_differs(match, expected, actual);
    }
    if (!match->exact && BSON_ITER_HOLDS_NUMBER(expected) && BSON_ITER_HOLDS_NUMBER(actual)) {
        return match_number(expected) == match_number(actual) ||
               match_differs(match, expected, actual);
    }
    return same_bytes(expected, actual) || match_differs(match, expected, actual);
}

bool match_documents(
    struct match *match, const bson_t *expected, const bson_t *actual, enum match_level level)
{
    bson_t holder = BSON_INITIALIZER;
    bson_iter_t wanted, got;
    bool matches;

    BSON_APPEND_DOCUMENT(&holder, "expected", expected);
    BSON_APPEND_DOCUMENT(&holder, "actual", actual);
    matches = doc_find(&holder, "expected", &wanted) && doc_find(&holder, "actual", &got) &&
              match_value(match, &wanted, &got, level);
    bson_destroy(&holder);
    return matches;
}
