#include "tests/spec/file.h"

#include "tests/spec/entities.h"
#include "tests/spec/operations.h"
#include "tests/spec/operators.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* The latest version of the format that all keys and operators here were taken from. */
static const unsigned known_version[3] = {1, 28, 0};

#define FILE_KEYS                                                                                  \
    "description schemaVersion runOnRequirements createEntities initialData tests _yamlAnchors"
#define TEST_KEYS                                                                                  \
    "description runOnRequirements skipReason operations expectEvents outcome "                    \
    "expectLogMessages expectTracingMessages"

void file_open(struct test_file *file, const char *path)
{
    bson_error_t error;

    memset(file, 0, sizeof *file);
    bson_json_reader_t *reader = bson_json_reader_new_from_file(path, &error);
    if (!reader) {
        snprintf(file->problem, sizeof file->problem, "%s", error.message);
        return;
    }
    file->document = bson_new();
    if (bson_json_reader_read(reader, file->document, &error) != 1) {
        snprintf(file->problem, sizeof file->problem, "not JSON: %s", error.message);
        bson_destroy(file->document);
        file->document = NULL;
    } else if (!doc_has(file->document, "schemaVersion")) {
        file->foreign = true;
        snprintf(file->problem, sizeof file->problem, "not in the unified test format");
    }
    bson_json_reader_destroy(reader);
}

void file_close(struct test_file *file)
{
    bson_destroy(file->document);
}

/* Minor versions add to each other; another major one is another format. */
static bool check_version(struct test *test, const bson_t *file)
{
    const char *text = doc_text(file, "schemaVersion", "?");
    unsigned version[3];

    return (parse_version(text, version) && version[0] == known_version[0] &&
               compare_versions(version, known_version) <= 0) ||
           fail(test, "schemaVersion '%s' is unknown; the latest known one is %u.%u", text,
               known_version[0], known_version[1]);
}

static bool check_form(struct test *test, const bson_t *file, const bson_t *definition)
{
    const char *unknown = operator_unknown(definition);

    if (unknown) {
        return fail(test, "unknown operator '%s'", unknown);
    }
    return check_version(test, file) && only_keys(test, file, "file", FILE_KEYS) &&
           only_keys(test, definition, "test", TEST_KEYS);
}

/* Whether it can be said beforehand that the test will have no verdict here. */
static bool check_applies(struct test *test, const bson_t *file, const bson_t *definition)
{
    const char *profile = getenv("MONGOBP_PROFILE");

    if (mongoc_check_version(2, 3, 0) && profile && strcmp(profile, "original") == 0) {
        return not_applicable(
            test, "the original edition: libmongoc %s retries by itself", mongoc_get_version());
    }
    if (doc_has(definition, "skipReason")) {
        return not_applicable(test, "skipped: %s", doc_text(definition, "skipReason", "?"));
    }
    if (!operations_available(test, definition, "operations") || !requirements_met(test, file) ||
        !requirements_met(test, definition) || !events_observable(test, definition)) {
        return false;
    }
    if (doc_has(definition, "expectLogMessages")) {
        return not_applicable(test, "log messages");
    }
    return !doc_has(definition, "expectTracingMessages") ||
           not_applicable(test, "tracing messages");
}

void file_run_test(const struct test_file *file, const bson_t *definition, struct test *test)
{
    bool done = check_form(test, file->document, definition) &&
                check_applies(test, file->document, definition) &&
                initial_data(test, file->document) &&
                entities_create(test, file->document, "createEntities") &&
                operations_run(test, definition, "operations");

    /* What follows is not the test's: its fail points must not hit it, its events not include it.
     */
    entities_stop_events(test);
    failpoints_off(test);
    done = done && events_check(test, definition) && outcome_check(test, definition);
    entities_clear(test);
    if (!done || test->transacted) {
        kill_sessions(test->server);
    }
}
