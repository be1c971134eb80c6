#include "tests/spec/uri.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

/* The driver tells of an option that it doesn't know in its log alone. */
static char unsupported[128];

static void on_log(mongoc_log_level_t level, const char *domain, const char *message, void *unused)
{
    if (sscanf(message, "Unsupported URI option \"%127[^\"]", unsupported) == 1) {
        return;
    }
    if (level <= MONGOC_LOG_LEVEL_WARNING) {
        mongoc_log_default_handler(level, domain, message, unused);
    }
}

void uri_listen(void)
{
    mongoc_log_set_handler(on_log, NULL);
}

unsigned uri_hosts(const mongoc_uri_t *uri)
{
    unsigned count = 0;

    for (const mongoc_host_list_t *host = mongoc_uri_get_hosts(uri); host; host = host->next) {
        count++;
    }
    return count;
}

static void put_escaped(FILE *stream, const char *text)
{
    for (; *text; text++) {
        bool plain = (*text >= 'a' && *text <= 'z') || (*text >= 'A' && *text <= 'Z') ||
                     (*text >= '0' && *text <= '9') || strchr("-_.~:,", *text);
        fprintf(stream, plain ? "%c" : "%%%02X", (unsigned char)*text);
    }
}

static void put_value(FILE *stream, const bson_iter_t *value)
{
    bson_iter_t iter;
    const char *separator = "";

    if (BSON_ITER_HOLDS_UTF8(value)) {
        put_escaped(stream, bson_iter_utf8(value, NULL));
    } else if (BSON_ITER_HOLDS_BOOL(value)) {
        fputs(bson_iter_bool(value) ? "true" : "false", stream);
    } else if (BSON_ITER_HOLDS_NUMBER(value)) {
        fprintf(stream, "%lld", (long long)bson_iter_as_int64(value));
    } else if (bson_iter_recurse(value, &iter)) {
        for (; bson_iter_next(&iter); separator = ",") {
            fputs(separator, stream);
            if (BSON_ITER_HOLDS_DOCUMENT(value)) {
                fprintf(stream, "%s:", bson_iter_key(&iter));
            }
            put_value(stream, &iter);
        }
    }
}

/* readPreferenceTags alone may be there several times, once for each element. */
static void put_option(FILE *stream, const char **separator, const bson_iter_t *option)
{
    const char *name = bson_iter_key(option);
    bson_iter_t iter;

    if (strcasecmp(name, "readPreferenceTags") == 0 && BSON_ITER_HOLDS_ARRAY(option) &&
        bson_iter_recurse(option, &iter)) {
        while (bson_iter_next(&iter)) {
            fprintf(stream, "%s%s=", *separator, name);
            put_value(stream, &iter);
            *separator = "&";
        }
        return;
    }
    fprintf(stream, "%s%s=", *separator, name);
    put_value(stream, option);
    *separator = "&";
}

/* Whether options has the name, in any case, or excludes it. */
static bool overrides(const bson_t *options, const char *name, size_t length)
{
    bson_iter_t iter;

    if (length == strlen("replicaSet") && strncasecmp(name, "replicaSet", length) == 0 &&
        doc_bool(options, "directConnection", false)) {
        return true;
    }
    for (bson_iter_init(&iter, options); bson_iter_next(&iter);) {
        if (strlen(bson_iter_key(&iter)) == length &&
            strncasecmp(bson_iter_key(&iter), name, length) == 0) {
            return true;
        }
    }
    return false;
}

/* base is mongodb://[user@]hosts[/[database][?options]]; libmongoc has no way to take a host out.
 */
static char *compose(const char *base, const bson_t *options, bool one_host)
{
    size_t size, scheme = strcspn(base, "/");
    char *text = NULL;
    FILE *stream = open_memstream(&text, &size);
    const char *hosts = base + scheme + strspn(base + scheme, "/");
    const char *end = hosts + strcspn(hosts, "/?"), *path = end, *query;
    const char *at = memchr(hosts, '@', (size_t)(end - hosts)), *separator = "?";
    bson_iter_t iter;

    if (!stream) {
        return NULL;
    }
    if (one_host) {
        const char *first = at ? at + 1 : hosts;
        const char *comma = memchr(first, ',', (size_t)(end - first));
        end = comma ? comma : end;
    }
    fwrite(base, 1, (size_t)(end - base), stream);
    query = path + strcspn(path, "?");
    fprintf(stream, "%.*s", (int)(query - path), path);
    if (query == path) {
        fputc('/', stream);
    }
    while (*query) {
        size_t length = strcspn(++query, "&");
        if (length && !overrides(options, query, strcspn(query, "=&"))) {
            fprintf(stream, "%s%.*s", separator, (int)length, query);
            separator = "&";
        }
        query += length;
    }
    for (bson_iter_init(&iter, options); bson_iter_next(&iter);) {
        put_option(stream, &separator, &iter);
    }
    fclose(stream);
    return text;
}

mongoc_uri_t *uri_for_client(
    struct test *test, const char *base, const bson_t *options, bool one_host)
{
    char *text = compose(base, options, one_host || doc_bool(options, "directConnection", false));
    bson_error_t error;
    mongoc_uri_t *uri;

    unsupported[0] = '\0';
    uri = mongoc_uri_new_with_error(text, &error);
    if (!uri) {
        fail(test, "'%s': %s", text, error.message);
    } else if (*unsupported) {
        not_applicable(test, "URI option %s", unsupported);
    }
    free(text);
    if (test->verdict == PASSED) {
        return uri;
    }
    if (uri) {
        mongoc_uri_destroy(uri);
    }
    return NULL;
}
