/*
 * The matching rules of the unified test format: whether an actual value is what a test expects.
 * Knows documents only; what it must ask of the entity map (sessions, saved values) it asks
 * through two functions, so that the rules are tested without a server.
 */
#ifndef SPEC_MATCH_H
#define SPEC_MATCH_H

#include "tests/spec/document.h"

/* Who may have more keys than expected: no document, the value itself, or each row of an array. */
enum match_level { MATCH_NESTED, MATCH_ROOT, MATCH_ROWS };

struct match {
    /* The lsid of a session, or NULL where there is no such session. */
    const bson_t *(*lsid)(void *context, const char *id);
    /* Whether there is a saved value of that name; value then stands on it. */
    bool (*saved)(void *context, const char *id, bson_iter_t *value);
    void *context;
    /* No operators, no flexible numbers: for the contents of a collection. Key order stays free. */
    bool exact;
    /* The matcher's own: where it is, and after a mismatch why. */
    char path[512];
    char why[4096];
};

/* Whether actual (NULL: absent) is what expected asks for; where not, why has path and values. */
bool match_value(
    struct match *match, const bson_iter_t *expected, const bson_iter_t *actual, enum match_level);

/* The same for two documents. */
bool match_documents(
    struct match *match, const bson_t *expected, const bson_t *actual, enum match_level);

/* ---- for operators, which are part of the matcher -------------------------------------------- */

/* Says why something does not match, with where it is, and returns false. */
bool match_mismatch(struct match *match, const char *format, ...)
    __attribute__((format(printf, 2, 3)));
bool match_differs(struct match *match, const bson_iter_t *expected, const bson_iter_t *actual);

/* A number of whatever type. */
long double match_number(const bson_iter_t *iter);

#endif
