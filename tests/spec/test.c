#include "tests/spec/test.h"

#include "tests/spec/entities.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

void test_begin(struct test *test, struct server *server)
{
    memset(test, 0, sizeof *test);
    test->server = server;
    bson_init(&test->failpoints);
}

void test_end(struct test *test)
{
    entities_clear(test);
    bson_destroy(&test->failpoints);
    free(test->reason);
}

static void decide(struct test *test, enum verdict verdict, const char *format, va_list arguments)
{
    if (test->verdict != PASSED) {
        return;
    }
    test->verdict = verdict;
    if (vasprintf(&test->reason, format, arguments) < 0) {
        test->reason = NULL;
    }
}

bool fail(struct test *test, const char *format, ...)
{
    va_list arguments;

    va_start(arguments, format);
    decide(test, FAILED, format, arguments);
    va_end(arguments);
    return false;
}

bool not_applicable(struct test *test, const char *format, ...)
{
    va_list arguments;

    va_start(arguments, format);
    decide(test, NOT_APPLICABLE, format, arguments);
    va_end(arguments);
    return false;
}

bool only_keys(struct test *test, const bson_t *doc, const char *what, const char *words)
{
    const char *stranger = doc_stranger(doc, words);

    return !stranger || fail(test, "%s: unknown key '%s'", what, stranger);
}

static const bson_t *session_lsid(void *context, const char *id)
{
    struct entity *entity = entity_find(context, id);

    return entity && entity->kind == SESSION ? &entity->lsid : NULL;
}

static bool saved_value(void *context, const char *id, bson_iter_t *value)
{
    struct entity *entity = entity_find(context, id);

    return entity && entity->kind == VALUE && doc_first(&entity->value, value);
}

struct match test_matcher(struct test *test)
{
    return (struct match){.lsid = session_lsid, .saved = saved_value, .context = test};
}
