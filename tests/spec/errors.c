/* What an operation's error is expected to be: expectError. */
#include "tests/spec/operations.h"

#include <stdio.h>
#include <string.h>
#include <strings.h>

/* The names of codes that tests use, for replies in which the driver gives the number alone. */
static const struct {
    const char *name;
    int64_t code;
} code_names[] = {
    {"InternalError", 1},
    {"BadValue", 2},
    {"HostUnreachable", 6},
    {"HostNotFound", 7},
    {"Unauthorized", 13},
    {"NamespaceNotFound", 26},
    {"IndexNotFound", 27},
    {"NamespaceExists", 48},
    {"MaxTimeMSExpired", 50},
    {"CommandNotFound", 59},
    {"WriteConcernFailed", 64},
    {"WriteConcernTimeout", 64},
    {"InvalidOptions", 72},
    {"NetworkTimeout", 89},
    {"ShutdownInProgress", 91},
    {"UnsatisfiableWriteConcern", 100},
    {"WriteConflict", 112},
    {"DocumentValidationFailure", 121},
    {"PrimarySteppedDown", 189},
    {"NoSuchTransaction", 251},
    {"OperationNotSupportedInTransaction", 263},
    {"SocketException", 9001},
    {"NotWritablePrimary", 10107},
    {"DuplicateKey", 11000},
    {"InterruptedAtShutdown", 11600},
    {"Interrupted", 11601},
    {"InterruptedDueToReplStateChange", 11602},
    {"NotPrimaryNoSecondaryOk", 13435},
    {"NotPrimaryOrSecondary", 13436},
};

static bool from_server(const bson_error_t *error)
{
    return error->domain == MONGOC_ERROR_SERVER || error->domain == MONGOC_ERROR_WRITE_CONCERN;
}

/* The lists in which a reply about writes may hold the errors of the server. */
static const char *const lists[] = {"writeErrors", "writeConcernErrors", "errorReplies"};

static bool same_text(const char *key, const char *actual, const char *text)
{
    return strcmp(key, "errmsg") == 0 ? strcasestr(actual, text) != NULL
                                      : strcasecmp(actual, text) == 0;
}

/* Whether one of the documents about this error has that text (a message: as a part) or number. */
static bool reply_says(const bson_t *reply, const char *key, const char *text, int64_t number)
{
    bson_iter_t iter;
    bson_t below;

    if (doc_find(reply, key, &iter) && (text ? same_text(key, doc_text(reply, key, ""), text)
                                             : doc_int(reply, key, number - 1) == number)) {
        return true;
    }
    if (doc_view(reply, "writeConcernError", &below) && reply_says(&below, key, text, number)) {
        return true;
    }
    for (size_t i = 0; i < sizeof lists / sizeof *lists; i++) {
        for (doc_each(reply, lists[i], &iter); bson_iter_next(&iter);) {
            if (iter_view(&iter, &below) && reply_says(&below, key, text, number)) {
                return true;
            }
        }
    }
    return false;
}

static bool code_is(const struct operation *operation, int64_t code)
{
    return reply_says(&operation->reply, "code", NULL, code) ||
           (from_server(&operation->error) && operation->error.code == (uint32_t)code);
}

/* ---- one function for each key of expectError ----------------------------------------------- */

static bool unlike(struct operation *operation, const char *key, const bson_iter_t *expected)
{
    char *wanted = iter_json(expected);
    char *reply = bson_as_relaxed_extended_json(&operation->reply, NULL);

    fail(operation->test, "expectError: expected %s %s, actual %u.%u '%s' with reply %s", key,
        wanted, operation->error.domain, operation->error.code, operation->error.message, reply);
    bson_free(wanted);
    bson_free(reply);
    return false;
}

typedef bool error_function(struct operation *operation, const bson_iter_t *expected);

static bool is_error(struct operation *operation, const bson_iter_t *expected)
{
    (void)operation;
    return bson_iter_as_bool(expected);
}

static bool is_client_error(struct operation *operation, const bson_iter_t *expected)
{
    return from_server(&operation->error) != bson_iter_as_bool(expected);
}

static bool is_timeout_error(struct operation *operation, const bson_iter_t *expected)
{
    (void)expected;
    return not_applicable(operation->test, "timeoutMS");
}

static bool error_contains(struct operation *operation, const bson_iter_t *expected)
{
    const char *text = BSON_ITER_HOLDS_UTF8(expected) ? bson_iter_utf8(expected, NULL) : "?";

    return strcasestr(operation->error.message, text) ||
           reply_says(&operation->reply, "errmsg", text, 0);
}

static bool error_code(struct operation *operation, const bson_iter_t *expected)
{
    return code_is(operation, bson_iter_as_int64(expected));
}

static bool error_code_name(struct operation *operation, const bson_iter_t *expected)
{
    const char *name = BSON_ITER_HOLDS_UTF8(expected) ? bson_iter_utf8(expected, NULL) : "";

    if (reply_says(&operation->reply, "codeName", name, 0)) {
        return true;
    }
    for (size_t i = 0; i < sizeof code_names / sizeof *code_names; i++) {
        if (strcasecmp(code_names[i].name, name) == 0 && code_is(operation, code_names[i].code)) {
            return true;
        }
    }
    return false;
}

static bool each_label(struct operation *operation, const bson_iter_t *expected, bool present)
{
    bson_iter_t label;

    for (bson_iter_recurse(expected, &label); bson_iter_next(&label);) {
        if (mongoc_error_has_label(&operation->reply, bson_iter_utf8(&label, NULL)) != present) {
            return false;
        }
    }
    return true;
}

static bool labels_contain(struct operation *operation, const bson_iter_t *expected)
{
    return each_label(operation, expected, true);
}

static bool labels_omit(struct operation *operation, const bson_iter_t *expected)
{
    return each_label(operation, expected, false);
}

static bool matches(struct operation *operation, const char *what, const bson_iter_t *expected,
    const bson_iter_t *actual, enum match_level level)
{
    struct match match = test_matcher(operation->test);

    snprintf(match.path, sizeof match.path, "%s", what);
    return match_value(&match, expected, actual, level) ||
           fail(operation->test, "expectError: %s", match.why);
}

static bool error_result(struct operation *operation, const bson_iter_t *expected)
{
    bson_iter_t actual;

    return matches(operation, "expectResult", expected,
        doc_first(&operation->result, &actual) ? &actual : NULL, operation->level);
}

/* Writes have the server's replies in a list; where the driver gives none, nobody can tell. */
static bool error_response(struct operation *operation, const bson_iter_t *expected)
{
    bson_t holder = BSON_INITIALIZER, first;
    bson_iter_t iter, actual;
    bool same;

    if (!doc_has(&operation->reply, "errorReplies") && !doc_has(&operation->reply, "ok")) {
        bson_destroy(&holder);
        return not_applicable(operation->test, "errorResponse of a write");
    }
    doc_each(&operation->reply, "errorReplies", &iter);
    if (bson_iter_next(&iter) && iter_view(&iter, &first)) {
        BSON_APPEND_DOCUMENT(&holder, "v", &first);
    } else {
        BSON_APPEND_DOCUMENT(&holder, "v", &operation->reply);
    }
    same = doc_first(&holder, &actual) &&
           matches(operation, "errorResponse", expected, &actual, MATCH_ROOT);
    bson_destroy(&holder);
    return same;
}

/* Of a client's bulk write: {index: {code, ...}}, with no others. */
static bool write_errors(struct operation *operation, const bson_iter_t *expected)
{
    bson_t wanted, got;
    bson_iter_t iter, actual;

    iter_view(expected, &wanted);
    doc_view(&operation->reply, "writeErrors", &got);
    if (bson_count_keys(&wanted) != bson_count_keys(&got)) {
        return false;
    }
    for (bson_iter_init(&iter, &wanted); bson_iter_next(&iter);) {
        if (!matches(operation, "writeErrors", &iter,
                doc_find(&got, bson_iter_key(&iter), &actual) ? &actual : NULL, MATCH_ROOT)) {
            return false;
        }
    }
    return true;
}

static bool write_concern_errors(struct operation *operation, const bson_iter_t *expected)
{
    bson_iter_t actual;

    return matches(operation, "writeConcernErrors", expected,
        doc_find(&operation->reply, "writeConcernErrors", &actual) ? &actual : NULL, MATCH_ROWS);
}

static const struct {
    const char *key;
    error_function *holds;
} checks[] = {
    {"isError", is_error},
    {"isClientError", is_client_error},
    {"isTimeoutError", is_timeout_error},
    {"errorContains", error_contains},
    {"errorCode", error_code},
    {"errorCodeName", error_code_name},
    {"errorLabelsContain", labels_contain},
    {"errorLabelsOmit", labels_omit},
    {"expectResult", error_result},
    {"errorResponse", error_response},
    {"writeErrors", write_errors},
    {"writeConcernErrors", write_concern_errors},
};

bool error_check(struct operation *operation, const bson_t *expected)
{
    bson_iter_t iter;

    for (bson_iter_init(&iter, expected); bson_iter_next(&iter);) {
        error_function *holds = NULL;
        for (size_t i = 0; i < sizeof checks / sizeof *checks; i++) {
            if (strcmp(checks[i].key, bson_iter_key(&iter)) == 0) {
                holds = checks[i].holds;
            }
        }
        if (!holds) {
            return fail(operation->test, "expectError: unknown key '%s'", bson_iter_key(&iter));
        }
        if (!holds(operation, &iter)) {
            return unlike(operation, bson_iter_key(&iter), &iter);
        }
    }
    return true;
}
