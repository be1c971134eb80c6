#include "tests/spec/selfcheck.h"

#include "tests/spec/operators.h"

#include <stdlib.h>

/* expected and actual are documents in JSON with ' for "; their field v is what is matched, and is
 * absent where they have none. */
static const struct {
    const char *name, *expected, *actual;
    enum match_level level;
    bool matches;
} rules[] = {
    {"equal numbers of two types", "{'v': 1}", "{'v': {'$numberLong': '1'}}", MATCH_NESTED, true},
    {"different numbers", "{'v': 1}", "{'v': 2}", MATCH_NESTED, false},
    {"number and text", "{'v': 1}", "{'v': '1'}", MATCH_NESTED, false},
    {"null is not absent", "{'v': null}", "{}", MATCH_NESTED, false},
    {"more keys in a root document", "{'v': {'a': 1}}", "{'v': {'b': 2, 'a': 1}}", MATCH_ROOT,
        true},
    {"more keys below it", "{'v': {'a': {}}}", "{'v': {'a': {'b': 2}}}", MATCH_ROOT, false},
    {"a key is missing", "{'v': {'a': 1, 'b': 2}}", "{'v': {'a': 1}}", MATCH_ROOT, false},
    {"more keys in rows", "{'v': [{'a': 1}]}", "{'v': [{'a': 1, 'b': 2}]}", MATCH_ROWS, true},
    {"more keys in an array", "{'v': [{'a': 1}]}", "{'v': [{'a': 1, 'b': 2}]}", MATCH_ROOT, false},
    {"more elements", "{'v': [1]}", "{'v': [1, 2]}", MATCH_ROWS, false},
    {"fewer elements", "{'v': [1, 2]}", "{'v': [1]}", MATCH_ROWS, false},
    {"order of elements", "{'v': [1, 2]}", "{'v': [2, 1]}", MATCH_ROWS, false},
    {"$$exists: true, present", "{'v': {'$$exists': true}}", "{'v': null}", MATCH_ROOT, true},
    {"$$exists: true, absent", "{'v': {'$$exists': true}}", "{}", MATCH_ROOT, false},
    {"$$exists: false, absent", "{'v': {'$$exists': false}}", "{}", MATCH_ROOT, true},
    {"$$exists: false, present", "{'v': {'$$exists': false}}", "{'v': 1}", MATCH_ROOT, false},
    {"$$type, one", "{'v': {'$$type': 'string'}}", "{'v': 'a'}", MATCH_ROOT, true},
    {"$$type, one of several", "{'v': {'$$type': ['int', 'long']}}", "{'v': 1}", MATCH_ROOT, true},
    {"$$type, another", "{'v': {'$$type': ['int', 'long']}}", "{'v': 1.5}", MATCH_ROOT, false},
    {"$$type, unknown", "{'v': {'$$type': 'integer'}}", "{'v': 1}", MATCH_ROOT, false},
    {"$$unsetOrMatches, absent", "{'v': {'$$unsetOrMatches': 1}}", "{}", MATCH_ROOT, true},
    {"$$unsetOrMatches, another", "{'v': {'$$unsetOrMatches': 1}}", "{'v': 2}", MATCH_ROOT, false},
    {"$$unsetOrMatches keeps the root", "{'v': {'$$unsetOrMatches': {'a': 1}}}",
        "{'v': {'a': 1, 'b': 2}}", MATCH_ROOT, true},
    {"$$lte, less", "{'v': {'$$lte': 2}}", "{'v': 1.5}", MATCH_ROOT, true},
    {"$$lte, more", "{'v': {'$$lte': 2}}", "{'v': 3}", MATCH_ROOT, false},
    {"$$matchesHexBytes", "{'v': {'$$matchesHexBytes': '6162'}}", "{'v': 'ab'}", MATCH_ROOT, true},
    {"$$matchesHexBytes, others", "{'v': {'$$matchesHexBytes': '6163'}}", "{'v': 'ab'}", MATCH_ROOT,
        false},
    {"$$matchAsRoot", "{'v': {'a': {'$$matchAsRoot': {'b': 1}}}}", "{'v': {'a': {'b': 1, 'c': 2}}}",
        MATCH_ROOT, true},
    {"$$matchAsDocument", "{'v': {'$$matchAsDocument': {'a': 1}}}", "{'v': '{\\'a\\': 1}'}",
        MATCH_ROOT, true},
    {"$$matchesEntity of nothing", "{'v': {'$$matchesEntity': 'x'}}", "{'v': 1}", MATCH_ROOT,
        false},
    {"$$sessionLsid of no session", "{'v': {'$$sessionLsid': 'x'}}", "{'v': {}}", MATCH_ROOT,
        false},
    {"an operator that is none", "{'v': {'$$nothing': 1}}", "{'v': 1}", MATCH_ROOT, false},
};

static bson_t *from_json(const char *json)
{
    char *text = bson_strdup(json);
    bson_error_t error;

    for (char *at = text; *at; at++) {
        *at = *at == '\'' ? '"' : *at;
    }
    bson_t *document = bson_new_from_json((const uint8_t *)text, -1, &error);
    if (!document) {
        fprintf(stderr, "%s: %s\n", error.message, text);
        abort();
    }
    bson_free(text);
    return document;
}

static void try_rule(struct report *report, size_t number)
{
    bson_t *expected = from_json(rules[number].expected);
    bson_t *actual = from_json(rules[number].actual);
    char *name = bson_strdup_printf("runner::%s", rules[number].name);
    struct match match = {.why = ""};
    bson_iter_t wanted, got;

    const bool matches = doc_find(expected, "v", &wanted) &&
                         match_value(&match, &wanted, doc_find(actual, "v", &got) ? &got : NULL,
                             rules[number].level);
    report_result(report, matches == rules[number].matches ? PASSED : FAILED, name,
        matches ? "matches, and should not" : match.why);
    bson_destroy(expected);
    bson_destroy(actual);
    bson_free(name);
}

static void try_unknown_operator(struct report *report)
{
    bson_t *document = from_json("{'a': [{'b': {'$$lte': {'$$nothing': 1}}}]}");
    const bool found = operator_unknown(document) != NULL;

    report_result(report, found ? PASSED : FAILED, "runner::an unknown operator below another",
        "it was not found");
    bson_destroy(document);
}

void selfcheck(struct report *report)
{
    report_folder(report, "runner");
    for (size_t i = 0; i < sizeof rules / sizeof *rules; i++) {
        try_rule(report, i);
    }
    try_unknown_operator(report);
}
