#include "tests/spec/operators.h"

#include <string.h>

typedef bool operator_function(
    struct match *, const bson_iter_t *operand, const bson_iter_t *actual, enum match_level);

static bool operator_exists(struct match *match, const bson_iter_t *operand,
    const bson_iter_t *actual, enum match_level level)
{
    char *got;

    (void)level;
    if (!BSON_ITER_HOLDS_BOOL(operand)) {
        return match_mismatch(match, "$$exists needs a boolean");
    }
    if (bson_iter_bool(operand) == (actual != NULL)) {
        return true;
    }
    got = iter_json(actual);
    match_mismatch(match, "expected to be %s, actual %s", actual ? "absent" : "present", got);
    bson_free(got);
    return false;
}

static const struct {
    const char *name;
    bson_type_t type;
} type_names[] = {
    {"double", BSON_TYPE_DOUBLE},
    {"string", BSON_TYPE_UTF8},
    {"object", BSON_TYPE_DOCUMENT},
    {"array", BSON_TYPE_ARRAY},
    {"binData", BSON_TYPE_BINARY},
    {"undefined", BSON_TYPE_UNDEFINED},
    {"objectId", BSON_TYPE_OID},
    {"bool", BSON_TYPE_BOOL},
    {"date", BSON_TYPE_DATE_TIME},
    {"null", BSON_TYPE_NULL},
    {"regex", BSON_TYPE_REGEX},
    {"dbPointer", BSON_TYPE_DBPOINTER},
    {"javascript", BSON_TYPE_CODE},
    {"symbol", BSON_TYPE_SYMBOL},
    {"javascriptWithScope", BSON_TYPE_CODEWSCOPE},
    {"int", BSON_TYPE_INT32},
    {"timestamp", BSON_TYPE_TIMESTAMP},
    {"long", BSON_TYPE_INT64},
    {"decimal", BSON_TYPE_DECIMAL128},
    {"minKey", BSON_TYPE_MINKEY},
    {"maxKey", BSON_TYPE_MAXKEY},
    {"number", BSON_TYPE_DOUBLE},
    {"number", BSON_TYPE_INT32},
    {"number", BSON_TYPE_INT64},
    {"number", BSON_TYPE_DECIMAL128},
};

/* Whether name stands for type; known tells whether it stands for any. */
static bool names_type(const char *name, bson_type_t type, bool *known)
{
    *known = false;
    for (size_t i = 0; i < sizeof type_names / sizeof *type_names; i++) {
        if (strcmp(type_names[i].name, name) != 0) {
            continue;
        }
        *known = true;
        if (type_names[i].type == type) {
            return true;
        }
    }
    return false;
}

static bool operator_type(struct match *match, const bson_iter_t *operand,
    const bson_iter_t *actual, enum match_level level)
{
    bson_t list = BSON_INITIALIZER;
    bson_iter_t name;
    bool matches = false, known = true;

    (void)level;
    if (BSON_ITER_HOLDS_ARRAY(operand)) {
        iter_view(operand, &list);
    } else {
        doc_append(&list, "0", operand);
    }
    for (bson_iter_init(&name, &list); known && !matches && bson_iter_next(&name);) {
        const char *text = BSON_ITER_HOLDS_UTF8(&name) ? bson_iter_utf8(&name, NULL) : "?";
        matches = names_type(text, actual ? bson_iter_type(actual) : BSON_TYPE_EOD, &known);
        if (!known) {
            match_mismatch(match, "$$type knows no type '%s'", text);
        }
    }
    bson_destroy(&list);
    if (!matches && known) {
        char *wanted = iter_json(operand), *got = iter_json(actual);
        match_mismatch(match, "expected type %s, actual %s", wanted, got);
        bson_free(wanted);
        bson_free(got);
    }
    return matches;
}

static bool operator_matches_entity(struct match *match, const bson_iter_t *operand,
    const bson_iter_t *actual, enum match_level level)
{
    const char *id = BSON_ITER_HOLDS_UTF8(operand) ? bson_iter_utf8(operand, NULL) : "?";
    bson_iter_t saved;

    if (!match->saved || !match->saved(match->context, id, &saved)) {
        return match_mismatch(match, "$$matchesEntity: no saved value '%s'", id);
    }
    return match_value(match, &saved, actual, level);
}

static bool operator_matches_hex_bytes(struct match *match, const bson_iter_t *operand,
    const bson_iter_t *actual, enum match_level level)
{
    const char *digits = BSON_ITER_HOLDS_UTF8(operand) ? bson_iter_utf8(operand, NULL) : "?";
    const uint8_t *bytes = NULL;
    uint32_t length = 0;
    size_t size;
    uint8_t *wanted = hex_bytes(digits, &size);
    bool matches;

    (void)level;
    if (!wanted) {
        return match_mismatch(match, "$$matchesHexBytes: malformed '%s'", digits);
    }
    /* What is read from a stream is kept as binary, because it need not be valid UTF-8. */
    if (actual && BSON_ITER_HOLDS_UTF8(actual)) {
        bytes = (const uint8_t *)bson_iter_utf8(actual, &length);
    } else if (actual && BSON_ITER_HOLDS_BINARY(actual)) {
        bson_iter_binary(actual, NULL, &length, &bytes);
    }
    matches = bytes && length == size && memcmp(bytes, wanted, size) == 0;
    bson_free(wanted);
    return matches || match_differs(match, operand, actual);
}

static bool operator_unset_or_matches(struct match *match, const bson_iter_t *operand,
    const bson_iter_t *actual, enum match_level level)
{
    return !actual || match_value(match, operand, actual, level);
}

static bool operator_session_lsid(struct match *match, const bson_iter_t *operand,
    const bson_iter_t *actual, enum match_level level)
{
    const char *id = BSON_ITER_HOLDS_UTF8(operand) ? bson_iter_utf8(operand, NULL) : "?";
    const bson_t *lsid = match->lsid ? match->lsid(match->context, id) : NULL;
    bson_t holder = BSON_INITIALIZER;
    bson_iter_t expected;
    bool matches;

    (void)level;
    if (!lsid) {
        return match_mismatch(match, "$$sessionLsid: no session '%s'", id);
    }
    BSON_APPEND_DOCUMENT(&holder, "lsid", lsid);
    matches = doc_first(&holder, &expected) && match_value(match, &expected, actual, MATCH_NESTED);
    bson_destroy(&holder);
    return matches;
}

static bool operator_lte(struct match *match, const bson_iter_t *operand, const bson_iter_t *actual,
    enum match_level level)
{
    char *wanted, *got;

    (void)level;
    if (!BSON_ITER_HOLDS_NUMBER(operand)) {
        return match_mismatch(match, "$$lte needs a number");
    }
    if (actual && BSON_ITER_HOLDS_NUMBER(actual) && match_number(actual) <= match_number(operand)) {
        return true;
    }
    wanted = iter_json(operand);
    got = iter_json(actual);
    match_mismatch(match, "expected at most %s, actual %s", wanted, got);
    bson_free(wanted);
    bson_free(got);
    return false;
}

static bool operator_match_as_document(struct match *match, const bson_iter_t *operand,
    const bson_iter_t *actual, enum match_level level)
{
    bson_t holder = BSON_INITIALIZER, *parsed;
    bson_error_t error;
    bson_iter_t value;
    bool matches;

    (void)level;
    if (!actual || !BSON_ITER_HOLDS_UTF8(actual)) {
        return match_differs(match, operand, actual);
    }
    /* libbson takes an array for a document with numbers as keys. */
    if (bson_iter_utf8(actual, NULL)[strspn(bson_iter_utf8(actual, NULL), " \t\r\n")] != '{') {
        return match_mismatch(
            match, "$$matchAsDocument: not a document: %s", bson_iter_utf8(actual, NULL));
    }
    parsed = bson_new_from_json((const uint8_t *)bson_iter_utf8(actual, NULL), -1, &error);
    if (!parsed) {
        return match_mismatch(match, "$$matchAsDocument: not JSON: %s", error.message);
    }
    BSON_APPEND_DOCUMENT(&holder, "v", parsed);
    matches = doc_first(&holder, &value) && match_value(match, operand, &value, MATCH_NESTED);
    bson_destroy(&holder);
    bson_destroy(parsed);
    return matches;
}

static bool operator_match_as_root(struct match *match, const bson_iter_t *operand,
    const bson_iter_t *actual, enum match_level level)
{
    (void)level;
    return match_value(match, operand, actual, MATCH_ROOT);
}

/* Without a function: not for matching, but an operation's argument. */
static const struct {
    const char *name;
    operator_function *run;
} operators[] = {
    {"$$exists", operator_exists},
    {"$$type", operator_type},
    {"$$matchesEntity", operator_matches_entity},
    {"$$matchesHexBytes", operator_matches_hex_bytes},
    {"$$unsetOrMatches", operator_unset_or_matches},
    {"$$sessionLsid", operator_session_lsid},
    {"$$lte", operator_lte},
    {"$$matchAsDocument", operator_match_as_document},
    {"$$matchAsRoot", operator_match_as_root},
    {"$$hexBytes", NULL},
    {"$$placeholder", NULL},
};

bool operator_is(const bson_iter_t *value, bson_iter_t *iter)
{
    bson_t doc;

    return BSON_ITER_HOLDS_DOCUMENT(value) && iter_view(value, &doc) &&
           bson_count_keys(&doc) == 1 && doc_first(&doc, iter) &&
           strncmp(bson_iter_key(iter), "$$", 2) == 0;
}

static int find_operator(const char *name)
{
    for (size_t i = 0; i < sizeof operators / sizeof *operators; i++) {
        if (strcmp(operators[i].name, name) == 0) {
            return (int)i;
        }
    }
    return -1;
}

const char *operator_unknown(const bson_t *doc)
{
    const char *unknown = NULL;
    bson_iter_t iter, operand;

    for (bson_iter_init(&iter, doc); !unknown && bson_iter_next(&iter);) {
        bson_t below;
        if (operator_is(&iter, &operand) && find_operator(bson_iter_key(&operand)) < 0) {
            return bson_iter_key(&operand);
        }
        if (iter_view(&iter, &below)) {
            unknown = operator_unknown(&below);
        }
    }
    return unknown;
}

bool operator_match(struct match *match, const bson_iter_t *operand, const bson_iter_t *actual,
    enum match_level level)
{
    const int found = find_operator(bson_iter_key(operand));

    if (found < 0 || !operators[found].run) {
        return match_mismatch(match, "unknown operator %s", bson_iter_key(operand));
    }
    return operators[found].run(match, operand, actual, level);
}
