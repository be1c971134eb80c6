#include "tests/spec/operations.h"

#include "tests/spec/options.h"

#include <stdio.h>
#include <string.h>

static const struct operation_row *const tables[] = {
    runner_operations,
    assert_operations,
    client_operations,
    database_operations,
    read_operations,
    write_operations,
    index_operations,
    session_operations,
    cursor_operations,
    bucket_operations,
    client_bulk_operations,
    encryption_operations,
    NULL,
};

/* ---- finding ------------------------------------------------------------------------------- */

static const struct operation_row *find(enum kind kind, const char *name)
{
    for (size_t i = 0; tables[i]; i++) {
        for (const struct operation_row *row = tables[i]; row->name; row++) {
            if (row->kind == kind && strcmp(row->name, name) == 0) {
                return row;
            }
        }
    }
    return NULL;
}

static bool absent(struct test *test, const struct operation_row *row)
{
    if (row->since && strcmp(row->since, "none") != 0) {
        return not_applicable(test, "%s, which libmongoc has from %s on", row->name, row->since);
    }
    return not_applicable(test, "%s, which this driver or runner has not", row->name);
}

typedef bool name_check(struct test *test, const char *name);

static bool is_known(struct test *test, const char *name)
{
    for (size_t i = 0; tables[i]; i++) {
        for (const struct operation_row *row = tables[i]; row->name; row++) {
            if (strcmp(row->name, name) == 0) {
                return true;
            }
        }
    }
    return fail(test, "unknown operation '%s'", name);
}

/* Whether some object has it in this driver. */
static bool is_available(struct test *test, const char *name)
{
    const struct operation_row *missing = NULL;

    for (size_t i = 0; tables[i]; i++) {
        for (const struct operation_row *row = tables[i]; row->name; row++) {
            if (strcmp(row->name, name) == 0 && row->run) {
                return true;
            }
            if (strcmp(row->name, name) == 0) {
                missing = row;
            }
        }
    }
    return !missing || absent(test, missing);
}

/* Checks the operations of an array, and those that are arguments of another. */
static bool check_all(struct test *test, const bson_t *owner, const char *key, name_check *check)
{
    bson_iter_t iter;
    bson_t definition, arguments, nested;

    for (doc_each(owner, key, &iter); bson_iter_next(&iter);) {
        iter_view(&iter, &definition);
        doc_view(&definition, "arguments", &arguments);
        if (!check(test, doc_text(&definition, "name", "?")) ||
            !check_all(test, &arguments, "callback", check) ||
            !check_all(test, &arguments, "operations", check)) {
            return false;
        }
        if (doc_view(&arguments, "operation", &nested) &&
            !check(test, doc_text(&nested, "name", "?"))) {
            return false;
        }
    }
    return true;
}

/* First all names: one that is unknown must not go unseen behind one that is absent. */
bool operations_available(struct test *test, const bson_t *owner, const char *key)
{
    return check_all(test, owner, key, is_known) && check_all(test, owner, key, is_available);
}

/* ---- what functions leave ------------------------------------------------------------------ */

bool argument_view(struct operation *operation, const char *name, bson_t *view)
{
    return doc_view(&operation->arguments, name, view) ||
           fail(operation->test, "%s needs a document '%s'", operation->name, name);
}

const char *argument_text(struct operation *operation, const char *name)
{
    const char *text = doc_text(&operation->arguments, name, NULL);

    if (!text) {
        fail(operation->test, "%s needs a string '%s'", operation->name, name);
    }
    return text;
}

bool outcome(struct operation *operation, bool ok)
{
    operation->failed = !ok;
    return true;
}

void result_document(struct operation *operation, const bson_t *value)
{
    bson_reinit(&operation->result);
    BSON_APPEND_DOCUMENT(&operation->result, "v", value);
    operation->level = MATCH_ROOT;
}

void result_iter(struct operation *operation, const bson_iter_t *value)
{
    bson_reinit(&operation->result);
    doc_append(&operation->result, "v", value);
    operation->level = MATCH_ROOT;
}

bool cursor_failed(struct operation *operation, mongoc_cursor_t *cursor)
{
    const bson_t *reply = NULL;

    if (!mongoc_cursor_error_document(cursor, &operation->error, &reply)) {
        return false;
    }
    if (reply) {
        bson_destroy(&operation->reply);
        bson_copy_to(reply, &operation->reply);
    }
    return operation->failed = true;
}

/* Takes the array over. */
static void keep_array(struct operation *operation, bson_t *array)
{
    bson_reinit(&operation->result);
    BSON_APPEND_ARRAY(&operation->result, "v", array);
    bson_destroy(array);
}

bool result_rows(struct operation *operation, mongoc_cursor_t *cursor, const char *field)
{
    const bson_t *document;
    bson_iter_t iter;
    bson_t array = BSON_INITIALIZER;
    char key[16];
    uint32_t count = 0;

    while (mongoc_cursor_next(cursor, &document)) {
        snprintf(key, sizeof key, "%u", count++);
        if (!field) {
            BSON_APPEND_DOCUMENT(&array, key, document);
        } else if (doc_find(document, field, &iter)) {
            doc_append(&array, key, &iter);
        }
    }
    keep_array(operation, &array);
    operation->level = MATCH_ROWS;
    cursor_failed(operation, cursor);
    mongoc_cursor_destroy(cursor);
    return true;
}

bool result_names(struct operation *operation, char **names)
{
    bson_t array = BSON_INITIALIZER;
    char key[16];

    for (uint32_t i = 0; names && names[i]; i++) {
        snprintf(key, sizeof key, "%u", i);
        BSON_APPEND_UTF8(&array, key, names[i]);
    }
    keep_array(operation, &array);
    bson_strfreev(names);
    return outcome(operation, names != NULL);
}

/* ---- running ------------------------------------------------------------------------------- */

static bool save(struct operation *operation, const char *id)
{
    enum kind kind = operation->made.cursor       ? CURSOR
                     : operation->made.stream     ? CHANGE_STREAM
                     : operation->made.collection ? COLLECTION
                                                  : VALUE;
    struct entity *entity;

    if (kind == VALUE && bson_empty(&operation->result)) {
        return fail(operation->test, "%s gave no result to save", operation->name);
    }
    entity = entity_add(operation->test, id, kind);
    if (!entity) {
        return false;
    }
    entity->client = operation->object ? operation->object->client : NULL;
    entity->cursor = operation->made.cursor;
    entity->peeked = operation->made.peeked;
    entity->stream = operation->made.stream;
    entity->database = operation->made.database;
    entity->collection = operation->made.collection;
    memset(&operation->made, 0, sizeof operation->made);
    bson_concat(&entity->value, &operation->result);
    return true;
}

static bool check(struct operation *operation, const bson_t *definition)
{
    struct test *test = operation->test;
    bson_iter_t expected, actual;
    bson_t error;

    if (doc_bool(definition, "ignoreResultAndError", false)) {
        return true;
    }
    if (doc_view(definition, "expectError", &error)) {
        return operation->failed ? error_check(operation, &error)
                                 : fail(test, "expected an error, actual success");
    }
    if (operation->failed) {
        return fail(test, "unexpected error: %s", operation->error.message);
    }
    if (doc_find(definition, "expectResult", &expected)) {
        struct match match = test_matcher(test);
        snprintf(match.path, sizeof match.path, "result");
        if (!match_value(&match, &expected, doc_first(&operation->result, &actual) ? &actual : NULL,
                operation->level)) {
            return fail(test, "%s", match.why);
        }
    }
    return !doc_has(definition, "saveResultAsEntity") ||
           save(operation, doc_text(definition, "saveResultAsEntity", NULL));
}

/* Finds object and function and makes the options; NULL where the test has a verdict. */
static const struct operation_row *prepare(struct operation *operation, const bson_t *definition)
{
    struct test *test = operation->test;
    const char *id = doc_text(definition, "object", "?");
    bool runner = strcmp(id, "testRunner") == 0;
    const struct operation_row *row;

    operation->object = runner ? NULL : entity_find(test, id);
    if (!runner && !operation->object) {
        fail(test, "no entity '%s'", id);
        return NULL;
    }
    row = find(runner ? TEST_RUNNER : operation->object->kind, operation->name);
    if (!row) {
        fail(test, "unknown operation '%s' of a %s", operation->name,
            kind_name(runner ? TEST_RUNNER : operation->object->kind));
        return NULL;
    }
    if (!row->run) {
        absent(test, row);
        return NULL;
    }
    doc_view(definition, "arguments", &operation->arguments);
    operation->prefs = in_words(row->reads, "readPreference")
                           ? NULL
                           : read_preference(test, &operation->arguments);
    if (!driver_options(test, &operation->arguments, row->reads, &operation->opts)) {
        return NULL;
    }
    if (runner && !bson_empty(&operation->opts)) {
        fail(test, "unknown argument of %s", operation->name);
    }
    return test->verdict == PASSED ? row : NULL;
}

bool operation_run(struct test *test, const bson_t *definition, struct operation *operation)
{
    const struct operation_row *row;

    memset(operation, 0, sizeof *operation);
    operation->test = test;
    operation->name = doc_text(definition, "name", "?");
    operation->level = MATCH_ROOT;
    bson_init(&operation->arguments);
    bson_init(&operation->opts);
    bson_init(&operation->reply);
    bson_init(&operation->result);
    if (!only_keys(test, definition, "operation",
            "name object arguments ignoreResultAndError expectError expectResult "
            "saveResultAsEntity")) {
        return false;
    }
    row = prepare(operation, definition);
    return row && row->run(operation) && check(operation, definition);
}

void operation_end(struct operation *operation)
{
    mongoc_cursor_destroy(operation->made.cursor);
    mongoc_change_stream_destroy(operation->made.stream);
    mongoc_collection_destroy(operation->made.collection);
    mongoc_database_destroy(operation->made.database);
    bson_destroy(operation->made.peeked);
    mongoc_read_prefs_destroy(operation->prefs);
    bson_destroy(&operation->opts);
    bson_destroy(&operation->reply);
    bson_destroy(&operation->result);
}

/* A verdict is told with the operation that led to it. */
static void tell_where(struct test *test, unsigned number, const char *name)
{
    char *reason = test->reason;

    if (test->verdict != FAILED) {
        return;
    }
    test->reason = NULL;
    if (asprintf(&test->reason, "operation %u, %s: %s", number, name, reason ? reason : "") < 0) {
        test->reason = reason;
    } else {
        free(reason);
    }
}

bool operations_run(struct test *test, const bson_t *owner, const char *key)
{
    struct operation operation;
    bson_iter_t iter;
    bson_t definition;
    unsigned number = 0;
    bool ok = true;

    for (doc_each(owner, key, &iter); ok && bson_iter_next(&iter); number++) {
        iter_view(&iter, &definition);
        ok = operation_run(test, &definition, &operation);
        if (!ok) {
            tell_where(test, number, doc_text(&definition, "name", "?"));
        }
        operation_end(&operation);
    }
    return ok;
}
