#include "fixture.h"

#include "common/clock.h"
#include "common/segment.h"

#include <criterion/criterion.h>
#include <criterion/hooks.h>
#include <dirent.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#define COLLECTION "things"

struct fixture fixture;

/* Why the test is not for this driver, if so. */
static const char *not_applicable;

/* Buckets of one run begin alike, so that the run can find what a test that
 * crashed has left. */
static void bucket_prefix(char prefix[32], pid_t runner)
{
    snprintf(prefix, 32, "integration-%d-", (int)runner);
}

bool driver_retries_by_itself(void)
{
    return mongoc_check_version(2, 3, 0);
}

void fixture_settings(void)
{
    fixture_settings_for_any_driver();
    if (driver_retries_by_itself()) {
        not_applicable = "retries by itself";
    }
}

void fixture_settings_for_retrying_driver(void)
{
    fixture_settings_for_any_driver();
    if (!driver_retries_by_itself()) {
        not_applicable = "does not retry by itself";
    }
}

void fixture_settings_for_any_driver(void)
{
    char bucket[64];
    bucket_prefix(bucket, getppid());
    snprintf(bucket + strlen(bucket), 32, "%d", (int)getpid());
    setenv("MONGOBP_BUCKET", bucket, 1);
    setenv("MONGOBP_BASE_BACKOFF_MS", "1", 1);
    /* Not the process alone: the same number may have been there before, and its database be left.
     */
    snprintf(fixture.name, sizeof fixture.name, "mbp_%d_%llx", (int)getpid(),
        (unsigned long long)mbp_wall_clock_ms());
    mongoc_init();
}

static void segment_name(char name[MBP_SEGMENT_NAME_SIZE])
{
    mbp_segment_name(name, geteuid(), getenv("MONGOBP_BUCKET"));
}

static mongoc_uri_t *uri_for(const char *application)
{
    const char *text = getenv("MBP_TEST_URI");
    cr_assert_not_null(text, "MBP_TEST_URI is not set; scripts/mongod sets it");
    mongoc_uri_t *uri = mongoc_uri_new(text);
    cr_assert_not_null(uri, "MBP_TEST_URI is no URI");
    mongoc_uri_set_appname(uri, application);
    return uri;
}

static void check_that_mongobp_is_at_work(void)
{
    const char *disabled = getenv("MONGOBP_DISABLE");
    char name[MBP_SEGMENT_NAME_SIZE];
    segment_name(name);
    if (disabled && strcmp(disabled, "1") == 0) {
        cr_assert_not(counters_open(name), "a disabled mongobp made %s", name);
    } else {
        cr_assert(counters_open(name), "no %s after a command: is LD_PRELOAD set?", name);
    }
}

void fixture_connect_admin(void)
{
    if (not_applicable) {
        cr_skip("libmongoc %s %s", mongoc_get_version(), not_applicable);
    }
    mongoc_uri_t *uri = uri_for("mbp_admin");
    fixture.admin = mongoc_client_new_from_uri(uri);
    mongoc_uri_destroy(uri);
    fixture.uri = uri_for(fixture.name);
    cr_assert(fixture_admin_command("admin", "{'ping': 1}"), "the server does not answer");
    check_that_mongobp_is_at_work();
}

mongoc_client_t *fixture_new_client(void)
{
    mongoc_client_t *client = mongoc_client_new_from_uri(fixture.uri);
    mongoc_apm_callbacks_t *callbacks = watch_callbacks();
    mongoc_client_set_error_api(client, MONGOC_ERROR_API_VERSION_2);
    mongoc_client_set_apm_callbacks(client, callbacks, NULL);
    mongoc_apm_callbacks_destroy(callbacks);
    return client;
}

void fixture_connect(void)
{
    fixture_connect_admin();
    fixture.client = fixture_new_client();
    fixture.collection = mongoc_client_get_collection(fixture.client, fixture.name, COLLECTION);
}

void fixture_end(void)
{
    char name[MBP_SEGMENT_NAME_SIZE];
    watch_react(NULL, NULL);
    if (fixture.admin) {
        accept_all();
        fixture_admin_command(fixture.name, "{'dropDatabase': 1}");
        mongoc_client_destroy(fixture.admin);
    }
    if (fixture.client) {
        mongoc_collection_destroy(fixture.collection);
        mongoc_client_destroy(fixture.client);
    }
    if (fixture.uri) {
        mongoc_uri_destroy(fixture.uri);
    }
    mongoc_cleanup();
    segment_name(name);
    shm_unlink(name);
}

bson_t *from_json(const char *json)
{
    char *text = strdup(json);
    for (char *c = text; *c; c++) {
        *c = *c == '\'' ? '"' : *c;
    }
    bson_error_t error;
    bson_t *document = bson_new_from_json((const uint8_t *)text, -1, &error);
    if (!document) {
        fprintf(stderr, "%s: %s\n", error.message, text);
        abort();
    }
    free(text);
    return document;
}

/* Debian's 1.30.4-1+deb13u3 takes "DATABASE.COLLECTION" for the name of a
 * database, and fails before it sends anything. */
void fixture_need_aggregation(void)
{
    bson_error_t error = {0};
    bson_t pipeline = BSON_INITIALIZER;
    mongoc_collection_t *collection =
        mongoc_client_get_collection(fixture.admin, fixture.name, COLLECTION);
    mongoc_cursor_t *cursor =
        mongoc_collection_aggregate(collection, MONGOC_QUERY_NONE, &pipeline, NULL, NULL);
    const bool refused =
        mongoc_cursor_error(cursor, &error) && strstr(error.message, "database name");
    mongoc_cursor_destroy(cursor);
    mongoc_collection_destroy(collection);
    if (refused) {
        cr_skip("libmongoc %s refuses to aggregate a collection", mongoc_get_version());
    }
}

bool fixture_admin_command(const char *database, const char *json)
{
    bson_error_t error;
    bson_t *command = from_json(json);
    const bool ok =
        mongoc_client_command_simple(fixture.admin, database, command, NULL, NULL, &error);
    if (!ok) {
        fprintf(stderr, "%s: %s\n", json, error.message);
    }
    bson_destroy(command);
    return ok;
}

void fixture_store(int count)
{
    mongoc_collection_t *collection =
        mongoc_client_get_collection(fixture.admin, fixture.name, COLLECTION);
    mongoc_bulk_operation_t *bulk =
        mongoc_collection_create_bulk_operation_with_opts(collection, NULL);
    for (int i = 0; i < count; i++) {
        bson_t *document = BCON_NEW("i", BCON_INT32(i));
        mongoc_bulk_operation_insert(bulk, document);
        bson_destroy(document);
    }
    bson_error_t error;
    cr_assert(mongoc_bulk_operation_execute(bulk, NULL, &error), "%s", error.message);
    mongoc_bulk_operation_destroy(bulk);
    mongoc_collection_destroy(collection);
}

int64_t fixture_count(const char *filter)
{
    mongoc_collection_t *collection =
        mongoc_client_get_collection(fixture.admin, fixture.name, COLLECTION);
    bson_t *query = from_json(filter);
    bson_error_t error;
    const int64_t count =
        mongoc_collection_count_documents(collection, query, NULL, NULL, NULL, &error);
    cr_assert_geq(count, 0, "%s", error.message);
    bson_destroy(query);
    mongoc_collection_destroy(collection);
    return count;
}

bool insert_number(int number, bson_t *reply, bson_error_t *error)
{
    bson_t *document = BCON_NEW("i", BCON_INT32(number));
    const bool ok = mongoc_collection_insert_one(fixture.collection, document, NULL, reply, error);
    bson_destroy(document);
    return ok;
}

bool inserts(int number)
{
    return insert_number(number, NULL, NULL);
}

/* In the process that runs the tests, after all of them. */
ReportHook(POST_ALL)(struct criterion_global_stats *stats)
{
    char bucket[32];
    char prefix[MBP_SEGMENT_NAME_SIZE];
    (void)stats;
    bucket_prefix(bucket, getpid());
    mbp_segment_name(prefix, geteuid(), bucket);

    DIR *directory = opendir("/dev/shm");
    struct dirent *entry;
    while (directory && (entry = readdir(directory))) {
        if (strncmp(entry->d_name, prefix + 1, strlen(prefix + 1)) == 0) {
            char name[sizeof entry->d_name + 1];
            snprintf(name, sizeof name, "/%s", entry->d_name);
            shm_unlink(name);
        }
    }
    if (directory) {
        closedir(directory);
    }
}
