/*
 * Commands that are sent again with something changed in them.
 */
#include "shim/rewrite.h"

#include "shim_driver.h"
#include "tests/preload/fake/fake.h"

#include <criterion/criterion.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* A command as the driver has it, and a call with it. */
struct scene {
    struct mbp_binding binding;
    struct fake_command command;
    bson_t *document;
    struct mbp_call call;
    struct mbp_rewrite rewrite;
};

static void begin(struct scene *scene, const char *name, const char *json)
{
    *scene = (struct scene){.binding = shim_binding("fake", 1023)};
    scene->document = shim_document(json);
    scene->command.name = name;
    scene->command.body = (const struct fake_reply *)scene->document;
    scene->call.binding = &scene->binding;
    scene->call.command = (struct mbp_command *)&scene->command;
    mbp_call_look_into(&scene->call);
    cr_assert_null(scene->call.driver.missing);
}

/* What would be sent now must be this. */
static void expect_sent(const struct scene *scene, const char *json)
{
    const bson_t *sent = (const bson_t *)scene->command.body;
    bson_t *expected = shim_document(json);
    char *text = bson_as_canonical_extended_json(sent, NULL);
    cr_expect(bson_validate(sent, BSON_VALIDATE_NONE, NULL), "malformed");
    cr_expect(bson_equal(sent, expected), "%s is not %s", text, json);
    cr_expect_neq(sent, scene->document, "the driver's own was changed");
    bson_free(text);
    bson_destroy(expected);
}

static void end(struct scene *scene, const char *json)
{
    bson_t *original = shim_document(json);
    mbp_rewrite_end(&scene->rewrite, &scene->call);
    mbp_rewrite_end(&scene->rewrite, &scene->call);
    cr_expect_eq(scene->command.body, (const struct fake_reply *)scene->document);
    cr_expect(bson_equal(scene->document, original), "the driver's own was changed");
    bson_destroy(original);
    bson_destroy(scene->document);
}

Test(shim_rewrite, time_limit_in_every_type)
{
    static const struct {
        const char *before, *after, *at_last;
    } cases[] = {
        {"{'find': 'a', 'maxTimeMS': 500, 'z': 1}", "{'find': 'a', 'maxTimeMS': 300, 'z': 1}",
            "{'find': 'a', 'maxTimeMS': 1, 'z': 1}"},
        {"{'find': 'a', 'maxTimeMS': {'$numberLong': '500'}}",
            "{'find': 'a', 'maxTimeMS': {'$numberLong': '300'}}",
            "{'find': 'a', 'maxTimeMS': {'$numberLong': '1'}}"},
        {"{'find': 'a', 'maxTimeMS': {'$numberDouble': '500.0'}}",
            "{'find': 'a', 'maxTimeMS': {'$numberDouble': '300.0'}}",
            "{'find': 'a', 'maxTimeMS': {'$numberDouble': '1.0'}}"},
    };
    for (unsigned i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        struct scene scene;
        begin(&scene, "find", cases[i].before);
        const uint64_t deadline = mbp_time_limit_ms(&scene.call, 1000);
        cr_expect_eq(deadline, 1500);
        mbp_rewrite_time_limit(&scene.rewrite, &scene.call, deadline, 1200);
        expect_sent(&scene, cases[i].after);
        /* 0 would mean no limit. */
        mbp_rewrite_time_limit(&scene.rewrite, &scene.call, deadline, 1500);
        expect_sent(&scene, cases[i].at_last);
        end(&scene, cases[i].before);
    }
}

Test(shim_rewrite, commands_without_a_time_limit)
{
    static const struct {
        const char *name, *json;
    } cases[] = {
        {"find", "{'find': 'a'}"},
        {"find", "{'find': 'a', 'maxTimeMS': 0}"},
        {"find", "{'find': 'a', 'maxTimeMS': -5}"},
        {"find", "{'find': 'a', 'maxTimeMS': 'soon'}"},
        /* How long the server is to wait for news. */
        {"getMore", "{'getMore': 1, 'maxTimeMS': 500}"},
    };
    for (unsigned i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        struct scene scene;
        begin(&scene, cases[i].name, cases[i].json);
        cr_expect_eq(mbp_time_limit_ms(&scene.call, 1000), 0, "%s", cases[i].json);
        mbp_rewrite_time_limit(&scene.rewrite, &scene.call, 0, 1200);
        end(&scene, cases[i].json);
    }
}

Test(shim_rewrite, time_limit_ignored_by_setting)
{
    struct scene scene;
    setenv("MONGOBP_MAXTIMEMS", "ignore", 1);
    begin(&scene, "find", "{'find': 'a', 'maxTimeMS': 500}");
    cr_expect_eq(mbp_time_limit_ms(&scene.call, 1000), 0);
    end(&scene, "{'find': 'a', 'maxTimeMS': 500}");
}

Test(shim_rewrite, majority)
{
    static const struct {
        const char *before, *after;
    } cases[] = {
        {"{'commitTransaction': 1, 'z': 1}",
            "{'commitTransaction': 1, 'z': 1, 'writeConcern': {'w': 'majority', 'wtimeout': "
            "10000}}"},
        {"{'commitTransaction': 1, 'writeConcern': {'w': 1, 'j': true, 'wtimeout': 250}, 'z': 1}",
            "{'commitTransaction': 1, 'z': 1, 'writeConcern': {'w': 'majority', 'j': true, "
            "'wtimeout': 250}}"},
        {"{'commitTransaction': 1, 'writeConcern': {'wtimeout': {'$numberLong': '250'}}}",
            "{'commitTransaction': 1, 'writeConcern': {'w': 'majority', 'wtimeout': "
            "{'$numberLong': '250'}}}"},
        /* 0 is no limit at all. */
        {"{'commitTransaction': 1, 'writeConcern': {'wtimeout': 0, 'j': false}}",
            "{'commitTransaction': 1, 'writeConcern': {'w': 'majority', 'j': false, 'wtimeout': "
            "10000}}"},
        {"{'commitTransaction': 1, 'writeConcern': 'none'}",
            "{'commitTransaction': 1, 'writeConcern': {'w': 'majority', 'wtimeout': 10000}}"},
    };
    for (unsigned i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        struct scene scene;
        begin(&scene, "commitTransaction", cases[i].before);
        mbp_rewrite_majority(&scene.rewrite, &scene.call);
        expect_sent(&scene, cases[i].after);
        mbp_rewrite_majority(&scene.rewrite, &scene.call);
        expect_sent(&scene, cases[i].after);
        end(&scene, cases[i].before);
    }
}

/* A part of a field would spoil the whole command. */
Test(shim_rewrite, majority_beside_what_is_too_long)
{
    static const char before[] = "{'commitTransaction': 1, 'writeConcern': {'j': true, 'a': '";
    for (int length = 300; length <= 600; length++) {
        struct scene scene;
        char text[1024];
        snprintf(text, sizeof text, "%s%0*d'}}", before, length, 0);
        begin(&scene, "commitTransaction", text);
        mbp_rewrite_majority(&scene.rewrite, &scene.call);
        bson_iter_t top;
        bson_iter_t field;
        const bson_t *sent = (const bson_t *)scene.command.body;
        cr_assert(bson_validate(sent, BSON_VALIDATE_NONE, NULL), "malformed with %d", length);
        cr_assert(bson_iter_init(&top, sent));
        cr_expect(bson_iter_find_descendant(&top, "writeConcern.wtimeout", &field));
        cr_assert(bson_iter_init(&top, sent));
        cr_expect(bson_iter_find_descendant(&top, "writeConcern.j", &field));
        end(&scene, text);
    }
}

Test(shim_rewrite, both_at_once)
{
    static const char before[] = "{'commitTransaction': 1, 'maxTimeMS': 500}";
    static const char after[] = "{'commitTransaction': 1, 'maxTimeMS': 100, 'writeConcern': "
                                "{'w': 'majority', 'wtimeout': 10000}}";
    struct scene scene;
    begin(&scene, "commitTransaction", before);
    mbp_rewrite_majority(&scene.rewrite, &scene.call);
    mbp_rewrite_time_limit(&scene.rewrite, &scene.call, 1500, 1400);
    expect_sent(&scene, after);
    end(&scene, before);
    begin(&scene, "commitTransaction", before);
    mbp_rewrite_time_limit(&scene.rewrite, &scene.call, 1500, 1400);
    mbp_rewrite_majority(&scene.rewrite, &scene.call);
    expect_sent(&scene, after);
    end(&scene, before);
}

/* Without libbson nothing can be copied, and the command stays as it is. */
Test(shim_rewrite, driver_without_libbson)
{
    struct scene scene;
    begin(&scene, "commitTransaction", "{'commitTransaction': 1, 'maxTimeMS': 500}");
    scene.binding = shim_binding("fake-bare", 1023);
    mbp_rewrite_majority(&scene.rewrite, &scene.call);
    mbp_rewrite_time_limit(&scene.rewrite, &scene.call, 1500, 1400);
    end(&scene, "{'commitTransaction': 1, 'maxTimeMS': 500}");
}
