#include "replica_set.h"

#include <criterion/criterion.h>
#include <stdio.h>
#include <string.h>

struct replica_set set;

static mongoc_client_t *connect_directly(uint16_t port)
{
    char text[64];
    snprintf(text, sizeof text, "mongodb://127.0.0.1:%d/?directConnection=true", port);
    mongoc_client_t *client = mongoc_client_new(text);
    cr_assert_not_null(client);
    return client;
}

static void find_members(void)
{
    size_t count;
    struct member *secondaries[] = {&set.overloaded, &set.other};
    size_t found = 0;
    mongoc_server_description_t **all =
        mongoc_client_get_server_descriptions(fixture.admin, &count);
    for (size_t i = 0; i < count; i++) {
        const char *type = mongoc_server_description_type(all[i]);
        const uint16_t port = mongoc_server_description_host(all[i])->port;
        if (strcmp(type, "RSPrimary") == 0) {
            set.primary.port = port;
        } else if (strcmp(type, "RSSecondary") == 0 && found < 2) {
            secondaries[found++]->port = port;
        }
    }
    mongoc_server_descriptions_destroy_all(all, count);
    cr_assert(set.primary.port && found == 2, "MBP_TEST_URI is not a set of three");
    set.primary.direct = connect_directly(set.primary.port);
    set.overloaded.direct = connect_directly(set.overloaded.port);
    set.other.direct = connect_directly(set.other.port);
}

void replica_set_connect(void)
{
    fixture_connect_admin();
    find_members();
    fixture_store(DOCUMENTS);
    /* When all have this, they have what was stored before it. */
    cr_assert(fixture_admin_command(
        fixture.name, "{'insert': 'marks', 'documents': [{'_id': 1}], 'writeConcern': {'w': 3}}"));
    /* Both secondaries are near enough, however long one takes to answer. */
    mongoc_uri_set_option_as_int32(fixture.uri, MONGOC_URI_LOCALTHRESHOLDMS, 60000);
    fixture.client = fixture_new_client();
    fixture.collection = mongoc_client_get_collection(fixture.client, fixture.name, "things");
    sends_note(fixture.client);
}

/* The reply, if wanted, is the caller's to destroy. */
static void member_command(
    const struct member *member, const char *database, const char *json, bson_t *reply)
{
    bson_error_t error;
    bson_t *command = from_json(json);
    cr_assert(mongoc_client_command_simple(member->direct, database, command, NULL, reply, &error),
        "%s: %s", json, error.message);
    bson_destroy(command);
}

/* By its collection too: the name of the application alone would also hit what
 * the server itself looks up on behalf of it. */
void member_rejects(const struct member *member, const char *command, int times)
{
    char json[512];
    char mode[32] = "'alwaysOn'";
    if (times) {
        snprintf(mode, sizeof mode, "{'times': %d}", times);
    }
    snprintf(json, sizeof json,
        "{'configureFailPoint': 'failCommand', 'mode': %s, 'data': {'failCommands': ['%s'], "
        "'namespace': '%s.things', 'appName': '%s', 'errorCode': %d, 'errorLabels': [" BOTH_LABELS
        "]}}",
        mode, command, fixture.name, fixture.name, OVERLOADED);
    member_command(member, "admin", json, NULL);
}

static void accept_all_again(struct member *member)
{
    if (member->direct) {
        member_command(
            member, "admin", "{'configureFailPoint': 'failCommand', 'mode': 'off'}", NULL);
        mongoc_client_destroy(member->direct);
        member->direct = NULL;
    }
}

void replica_set_end(void)
{
    accept_all_again(&set.overloaded);
    accept_all_again(&set.other);
    accept_all_again(&set.primary);
    fixture_end();
    sends_forget();
}

int member_open_cursors(const struct member *member)
{
    char json[512];
    bson_t reply;
    bson_iter_t top;
    bson_iter_t batch;
    bson_iter_t items;
    int count = 0;
    snprintf(json, sizeof json,
        "{'aggregate': 1, 'pipeline': [{'$currentOp': {'idleCursors': true}},"
        " {'$match': {'type': 'idleCursor', 'ns': '%s.things'}}], 'cursor': {}}",
        fixture.name);
    member_command(member, "admin", json, &reply);
    cr_assert(bson_iter_init(&top, &reply) &&
              bson_iter_find_descendant(&top, "cursor.firstBatch", &batch) &&
              bson_iter_recurse(&batch, &items));
    while (bson_iter_next(&items)) {
        count++;
    }
    bson_destroy(&reply);
    return count;
}

mongoc_cursor_t *find_on_secondary(void)
{
    bson_t query = BSON_INITIALIZER;
    bson_t *opts = BCON_NEW("batchSize", BCON_INT32(BATCH));
    mongoc_read_prefs_t *secondary = mongoc_read_prefs_new(MONGOC_READ_SECONDARY);
    mongoc_cursor_t *cursor =
        mongoc_collection_find_with_opts(fixture.collection, &query, opts, secondary);
    mongoc_read_prefs_destroy(secondary);
    bson_destroy(opts);
    return cursor;
}

int read_all(mongoc_cursor_t *cursor)
{
    const bson_t *document;
    int count = 0;
    while (mongoc_cursor_next(cursor, &document)) {
        count++;
    }
    return mongoc_cursor_error(cursor, NULL) ? -1 : count;
}

/* The driver chooses a secondary by lot: one in two is the wanted one. */
mongoc_cursor_t *moved_cursor(void)
{
    const bson_t *document;
    for (int i = 0; i < 64; i++) {
        const int rejected = sends_count("find", set.overloaded.port, SENDS_FAILED);
        mongoc_cursor_t *cursor = find_on_secondary();
        const bool ok = mongoc_cursor_next(cursor, &document);
        if (sends_count("find", set.overloaded.port, SENDS_FAILED) > rejected) {
            cr_assert(ok, "the find was not answered by the other secondary");
            return cursor;
        }
        mongoc_cursor_destroy(cursor);
    }
    cr_assert_fail("no find was rejected");
    return NULL;
}
