#include "tests/spec/events.h"

#include "tests/spec/entities.h"

#include <stdio.h>
#include <string.h>

/* libmongoc publishes nothing about its connections; what it has none of is not applicable. */
static const struct {
    const char *type, *class;
    bool published;
} types[] = {
    {"commandStartedEvent", "command", true},
    {"commandSucceededEvent", "command", true},
    {"commandFailedEvent", "command", true},
    {"serverDescriptionChangedEvent", "sdam", true},
    {"serverHeartbeatStartedEvent", "sdam", true},
    {"serverHeartbeatSucceededEvent", "sdam", true},
    {"serverHeartbeatFailedEvent", "sdam", true},
    {"topologyDescriptionChangedEvent", "sdam", true},
    {"topologyOpeningEvent", "sdam", true},
    {"topologyClosedEvent", "sdam", true},
    {"poolCreatedEvent", "cmap", false},
    {"poolReadyEvent", "cmap", false},
    {"poolClearedEvent", "cmap", false},
    {"poolClosedEvent", "cmap", false},
    {"connectionCreatedEvent", "cmap", false},
    {"connectionReadyEvent", "cmap", false},
    {"connectionClosedEvent", "cmap", false},
    {"connectionCheckOutStartedEvent", "cmap", false},
    {"connectionCheckOutFailedEvent", "cmap", false},
    {"connectionCheckedOutEvent", "cmap", false},
    {"connectionCheckedInEvent", "cmap", false},
};

/* Fields that an expected event may have; descriptions are matched as root documents. */
#define FIELDS                                                                                     \
    "command reply commandName databaseName hasServiceId hasServerConnectionId awaited "           \
    "previousDescription newDescription"
#define ROOT_FIELDS "command reply previousDescription newDescription"

static int find_type(const char *type)
{
    for (size_t i = 0; i < sizeof types / sizeof *types; i++) {
        if (strcmp(types[i].type, type) == 0) {
            return (int)i;
        }
    }
    return -1;
}

const char *event_class(const char *type)
{
    int found = find_type(type);

    return found < 0 ? NULL : types[found].class;
}

bool event_type_known(struct test *test, const char *type)
{
    int found = find_type(type);

    if (found < 0) {
        return fail(test, "unknown event '%s'", type);
    }
    return types[found].published || not_applicable(test, "%s", type);
}

/* Whether the event is one of {type: {fields}}; where not, match->why says so. */
static bool event_matches(struct match *match, const bson_iter_t *expected, const bson_t *event)
{
    const char *type = doc_text(event, "type", "");
    bson_iter_t field, actual;
    bson_t fields;

    if (strcmp(bson_iter_key(expected), type) != 0) {
        const char *command = doc_text(event, "commandName", "");
        snprintf(match->why, sizeof match->why, "expected a %s, actual %s %s",
            bson_iter_key(expected), type, command);
        return false;
    }
    iter_view(expected, &fields);
    for (bson_iter_init(&field, &fields); bson_iter_next(&field);) {
        const char *name = bson_iter_key(&field);
        bool root = in_words(ROOT_FIELDS, name);
        if (!in_words(FIELDS, name)) {
            snprintf(match->why, sizeof match->why, "unknown field '%s' of a %s", name, type);
            return false;
        }
        snprintf(match->path, sizeof match->path, "%s.%s", type, name);
        if (!match_value(match, &field, doc_find(event, name, &actual) ? &actual : NULL,
                root ? MATCH_ROOT : MATCH_NESTED)) {
            return false;
        }
    }
    return true;
}

size_t events_matching(struct test *test, struct recorder *recorder, const bson_iter_t *expected)
{
    struct match match = test_matcher(test);
    size_t count = 0;

    pthread_mutex_lock(&recorder->lock);
    for (size_t i = 0; i < recorder->count; i++) {
        count += event_matches(&match, expected, recorder->events[i]);
    }
    pthread_mutex_unlock(&recorder->lock);
    return count;
}

bool events_same_lsid(struct test *test, struct recorder *recorder, bool *same)
{
    bson_t lsid[2];
    unsigned found = 0;

    pthread_mutex_lock(&recorder->lock);
    for (size_t i = recorder->count; i-- > 0 && found < 2;) {
        bson_t command;
        if (strcmp(doc_text(recorder->events[i], "type", ""), "commandStartedEvent") != 0) {
            continue;
        }
        if (!doc_view(recorder->events[i], "command", &command) ||
            !doc_view(&command, "lsid", &lsid[found])) {
            break;
        }
        found++;
    }
    *same = found == 2 && bson_equal(&lsid[0], &lsid[1]);
    pthread_mutex_unlock(&recorder->lock);
    return found == 2 || fail(test, "the last two commands do not both have an lsid");
}

/* The names of the events of a class, for the reason of a failure. */
static char *sequence(const struct recorder *recorder, const char *class)
{
    char *text = NULL;
    size_t size;
    FILE *stream = open_memstream(&text, &size);

    for (size_t i = 0; stream && i < recorder->count; i++) {
        const char *type = doc_text(recorder->events[i], "type", "");
        if (strcmp(event_class(type), class) == 0) {
            fprintf(stream, "%s%.*s %s", ftell(stream) ? ", " : "",
                (int)(strlen(type) - strlen("Event")), type,
                doc_text(recorder->events[i], "commandName", ""));
        }
    }
    if (stream) {
        fclose(stream);
    }
    return text;
}

static bool check_sequence(
    struct test *test, const char *client, struct recorder *recorder, const bson_t *definition)
{
    const char *class = doc_text(definition, "eventType", "command");
    struct match match = test_matcher(test);
    bson_iter_t iter, expected;
    bson_t wrapped;
    size_t at = 0, number = 0;
    const char *problem = NULL;

    for (doc_each(definition, "events", &iter); !problem && bson_iter_next(&iter); number++) {
        if (!iter_view(&iter, &wrapped) || !doc_first(&wrapped, &expected)) {
            return fail(test, "events of %s: %zu is no event", client, number);
        }
        while (at < recorder->count &&
               strcmp(event_class(doc_text(recorder->events[at], "type", "")), class) != 0) {
            at++;
        }
        if (at == recorder->count) {
            snprintf(match.why, sizeof match.why, "expected a %s, there are no more",
                bson_iter_key(&expected));
        }
        if (at == recorder->count || !event_matches(&match, &expected, recorder->events[at])) {
            problem = match.why;
        }
        at++;
    }
    for (; !problem && !doc_bool(definition, "ignoreExtraEvents", false) && at < recorder->count;
         at++) {
        if (strcmp(event_class(doc_text(recorder->events[at], "type", "")), class) == 0) {
            problem = "more events than expected";
        }
    }
    if (problem) {
        char *actual = sequence(recorder, class);
        fail(test, "events of %s, number %zu: %s\nall: %s", client, number, problem, actual);
        free(actual);
    }
    return !problem;
}

bool events_check(struct test *test, const bson_t *definition)
{
    bson_iter_t iter;
    bson_t expected;

    for (doc_each(definition, "expectEvents", &iter); bson_iter_next(&iter);) {
        const char *id;
        struct entity *client;
        bool matches;
        iter_view(&iter, &expected);
        id = doc_text(&expected, "client", "?");
        client = entity_get(test, id, CLIENT);
        if (!client || !only_keys(test, &expected, "expectEvents",
                           "client eventType events ignoreExtraEvents")) {
            return false;
        }
        pthread_mutex_lock(&client->events->lock);
        matches = check_sequence(test, id, client->events, &expected);
        pthread_mutex_unlock(&client->events->lock);
        if (!matches) {
            return false;
        }
    }
    return true;
}

bool events_observable(struct test *test, const bson_t *definition)
{
    bson_iter_t iter, event, type;
    bson_t expected, wrapped;

    for (doc_each(definition, "expectEvents", &iter); bson_iter_next(&iter);) {
        const char *class;
        iter_view(&iter, &expected);
        class = doc_text(&expected, "eventType", "command");
        if (!in_words("command sdam cmap", class)) {
            return fail(test, "unknown eventType '%s'", class);
        }
        for (doc_each(&expected, "events", &event); bson_iter_next(&event);) {
            iter_view(&event, &wrapped);
            if (!doc_first(&wrapped, &type) || !event_type_known(test, bson_iter_key(&type))) {
                return false;
            }
            if (strcmp(event_class(bson_iter_key(&type)), class) != 0) {
                return fail(test, "%s is no event of type %s", bson_iter_key(&type), class);
            }
        }
        /* An empty list says that there was none, which nobody can tell here. */
        if (strcmp(class, "cmap") == 0) {
            return not_applicable(test, "cmap events");
        }
    }
    return true;
}
