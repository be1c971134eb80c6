/* Whether a test is meant for this server and this driver: runOnRequirements. */
#include "tests/spec/server.h"

#include <stdio.h>
#include <string.h>
#include <strings.h>

/* What one requirement lacks, in words; the last one told is the one reported. */
struct lack {
    char text[256];
};

bool parse_version(const char *text, unsigned version[3])
{
    memset(version, 0, 3 * sizeof *version);
    return sscanf(text, "%u.%u.%u", &version[0], &version[1], &version[2]) > 0;
}

int compare_versions(const unsigned one[3], const unsigned other[3])
{
    for (unsigned i = 0; i < 3; i++) {
        if (one[i] != other[i]) {
            return one[i] < other[i] ? -1 : 1;
        }
    }
    return 0;
}

static bool lacks(struct lack *lack, const char *what, const char *value)
{
    snprintf(lack->text, sizeof lack->text, "%s %.200s", what, value);
    return false;
}

typedef bool requirement_function(
    const struct server *server, const bson_t *requirement, const char *name, struct lack *lack);

static bool check_version(
    const struct server *server, const bson_t *requirement, const char *name, struct lack *lack)
{
    const char *text = doc_text(requirement, name, "?");
    bool least = strcmp(name, "minServerVersion") == 0;
    unsigned wanted[3];
    int order;

    if (!parse_version(text, wanted)) {
        return lacks(lack, "malformed", name);
    }
    order = compare_versions(server->version, wanted);
    return (least ? order >= 0 : order <= 0) || lacks(lack, name, text);
}

static bool check_topologies(
    const struct server *server, const bson_t *requirement, const char *name, struct lack *lack)
{
    char *wanted;
    bson_iter_t iter;

    if (doc_lists(requirement, name, server->topology)) {
        return true;
    }
    if (strncmp(server->topology, "sharded", strlen("sharded")) == 0 &&
        doc_lists(requirement, name, "sharded")) {
        return true;
    }
    wanted = iter_json(doc_find(requirement, name, &iter) ? &iter : NULL);
    lacks(lack, "topology", wanted);
    bson_free(wanted);
    return false;
}

static bool check_parameters(
    const struct server *server, const bson_t *requirement, const char *name, struct lack *lack)
{
    struct match match = {.why = ""};
    bson_t wanted;

    doc_view(requirement, name, &wanted);
    return match_documents(&match, &wanted, &server->parameters, MATCH_ROOT) ||
           lacks(lack, "server parameter", match.why);
}

static bool check_auth(
    const struct server *server, const bson_t *requirement, const char *name, struct lack *lack)
{
    bool used = mongoc_uri_get_username(mongoc_client_get_uri(server->client)) != NULL;

    return used == doc_bool(requirement, name, false) ||
           lacks(lack, "auth", used ? "false" : "true");
}

static bool check_mechanism(
    const struct server *server, const bson_t *requirement, const char *name, struct lack *lack)
{
    const char *wanted = doc_text(requirement, name, "?");
    bson_iter_t iter;

    for (doc_each(&server->parameters, "authenticationMechanisms", &iter); bson_iter_next(&iter);) {
        if (BSON_ITER_HOLDS_UTF8(&iter) && strcasecmp(bson_iter_utf8(&iter, NULL), wanted) == 0) {
            return true;
        }
    }
    return lacks(lack, name, wanted);
}

static bool check_serverless(
    const struct server *server, const bson_t *requirement, const char *name, struct lack *lack)
{
    (void)server;
    return strcmp(doc_text(requirement, name, "allow"), "require") != 0 ||
           lacks(lack, name, "require");
}

/* No mongocryptd and no crypt_shared are at hand here, so encryption is never supported. */
static bool check_encryption(
    const struct server *server, const bson_t *requirement, const char *name, struct lack *lack)
{
    bson_iter_t iter;

    (void)server;
    return (doc_find(requirement, name, &iter) && BSON_ITER_HOLDS_BOOL(&iter) &&
               !bson_iter_bool(&iter)) ||
           lacks(lack, name, "true");
}

static const struct {
    const char *name;
    requirement_function *check;
} requirements[] = {
    {"minServerVersion", check_version},
    {"maxServerVersion", check_version},
    {"topologies", check_topologies},
    {"serverParameters", check_parameters},
    {"auth", check_auth},
    {"authMechanism", check_mechanism},
    {"serverless", check_serverless},
    {"csfle", check_encryption},
};

static bool is_met(struct test *test, const bson_t *requirement, struct lack *lack)
{
    bson_iter_t iter;

    for (bson_iter_init(&iter, requirement); bson_iter_next(&iter);) {
        const char *name = bson_iter_key(&iter);
        requirement_function *check = NULL;
        for (size_t i = 0; i < sizeof requirements / sizeof *requirements; i++) {
            if (strcmp(requirements[i].name, name) == 0) {
                check = requirements[i].check;
            }
        }
        if (!check) {
            return fail(test, "unknown requirement '%s'", name);
        }
        if (!check(test->server, requirement, name, lack)) {
            return false;
        }
    }
    return true;
}

bool requirements_met(struct test *test, const bson_t *definition)
{
    struct lack lack = {""};
    bson_iter_t iter;
    bson_t requirement;

    if (!doc_has(definition, "runOnRequirements")) {
        return true;
    }
    for (doc_each(definition, "runOnRequirements", &iter); bson_iter_next(&iter);) {
        iter_view(&iter, &requirement);
        if (is_met(test, &requirement, &lack)) {
            return true;
        }
    }
    return not_applicable(test, "%s", lack.text);
}
