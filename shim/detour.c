#include "shim/detour.h"

#include "shim/clusters.h"
#include "shim/driver/functions.h"

#include <string.h>

#define FUNCTIONS(X)                                                                               \
    X(void *, mongoc_client_select_server,                                                         \
        (void *client, bool for_writes, const void *read_prefs, struct mbp_error *))               \
    X(uint32_t, mongoc_server_description_id, (const void *description))                           \
    X(void, mongoc_server_description_destroy, (void *description))                                \
    X(void *, mongoc_cluster_stream_for_server,                                                    \
        (struct mbp_cluster *, uint32_t server, bool reconnect_ok, void *session,                  \
            struct mbp_bson *reply, struct mbp_error *))                                           \
    X(void, mongoc_server_stream_cleanup, (void *stream))                                          \
    X(bool, mongoc_cluster_stream_valid, (struct mbp_cluster *, void *stream))                     \
    X(void *, mongoc_read_prefs_new, (int mode))                                                   \
    X(void, mongoc_read_prefs_destroy, (void *read_prefs))                                         \
    X(void, mongoc_read_prefs_set_tags, (void *read_prefs, const struct mbp_bson *tags))           \
    X(void, mongoc_read_prefs_set_max_staleness_seconds, (void *read_prefs, int64_t seconds))      \
    X(bool, bson_init_static, (struct mbp_bson *, const uint8_t *data, size_t length))

MBP_FUNCTIONS(FUNCTIONS)

static void **stream_of(const struct mbp_call *call)
{
    return mbp_command_server_stream(call->binding->layout, call->command);
}

/* ---- read preferences ---------------------------------------------------- */

enum mode {
    PRIMARY = 1,
    SECONDARY = 2,
    PRIMARY_PREFERRED = 5,
    SECONDARY_PREFERRED = 6,
    NEAREST = 10
};

/* The mode in the command's $readPreference; PRIMARY where it has none. */
static enum mode read_mode(const struct mbp_call *call, struct mbp_document *preference)
{
    static const struct {
        const char *name;
        enum mode mode;
    } modes[] = {{"secondary", SECONDARY}, {"primaryPreferred", PRIMARY_PREFERRED},
        {"secondaryPreferred", SECONDARY_PREFERRED}, {"nearest", NEAREST}};
    struct mbp_field field;
    if (mbp_document_find(&call->document, "$readPreference", &field) &&
        mbp_field_as_document(&field, preference) &&
        mbp_document_find(preference, "mode", &field)) {
        for (unsigned i = 0; i < sizeof modes / sizeof modes[0]; i++) {
            if (mbp_field_is_text(&field, modes[i].name)) {
                return modes[i].mode;
            }
        }
    }
    return PRIMARY;
}

static void *build_read_prefs(
    const struct functions *functions, enum mode mode, const struct mbp_document *preference)
{
    void *prefs = functions->mongoc_read_prefs_new(mode);
    struct mbp_field field;
    struct mbp_bson tags;
    int64_t seconds = 0;
    if (mbp_document_find(preference, "tags", &field) && field.type == MBP_BSON_ARRAY &&
        functions->bson_init_static(&tags, field.value, field.value_length)) {
        functions->mongoc_read_prefs_set_tags(prefs, &tags);
    }
    if (mbp_document_find(preference, "maxStalenessSeconds", &field) &&
        mbp_field_as_integer(&field, &seconds) && seconds > 0) {
        functions->mongoc_read_prefs_set_max_staleness_seconds(prefs, seconds);
    }
    return prefs;
}

/* ---- choosing ------------------------------------------------------------ */

bool mbp_detour_allowed(const struct mbp_call *call)
{
    struct mbp_document preference;
    if (!call->binding->layout || !mbp_clusters_find(call->cluster).client ||
        mbp_call_has(call, "autocommit") || mbp_call_is(call, "getMore") ||
        mbp_call_is(call, "killCursors") || mbp_call_is(call, "endSessions") ||
        !mbp_moved_cursors_have_room()) {
        return false;
    }
    if (!mbp_thread.server_was_chosen) {
        return false; /* the program named the server */
    }
    if (mbp_command_is_exhaust(call->binding->layout, call->command)) {
        /* To stop it the driver closes the connection of the server it knows of;
         * the other's would go on giving batches for replies. */
        return false;
    }
    switch (mbp_server_stream_topology(*stream_of(call))) {
    case MBP_TOPOLOGY_SHARDED:
        return true;
    case MBP_TOPOLOGY_NO_PRIMARY:
    case MBP_TOPOLOGY_REPLICA_SET:
        return read_mode(call, &preference) != PRIMARY;
    default:
        return false;
    }
}

static bool is_avoided(uint32_t server)
{
    for (unsigned i = 0; i < mbp_thread.avoid_count; i++) {
        if (mbp_thread.avoid[i] == server) {
            return true;
        }
    }
    return false;
}

static uint32_t select_with(
    const struct functions *functions, const struct mbp_call *call, const void *read_prefs)
{
    struct mbp_error ignored;
    void *client = mbp_clusters_find(call->cluster).client;
    mbp_thread.selecting = true;
    void *server =
        functions->mongoc_client_select_server(client, read_prefs == NULL, read_prefs, &ignored);
    mbp_thread.selecting = false;
    if (!server) {
        return 0;
    }
    const uint32_t id = functions->mongoc_server_description_id(server);
    functions->mongoc_server_description_destroy(server);
    return id;
}

/* A member of a replica set. Preferences that any member satisfies never have
 * the driver wait for one. */
static uint32_t select_member(const struct functions *functions, const struct mbp_call *call,
    enum mode mode, const struct mbp_document *preference)
{
    void *prefs = build_read_prefs(functions, mode, preference);
    const uint32_t server = select_with(functions, call, prefs);
    functions->mongoc_read_prefs_destroy(prefs);
    return server;
}

/* A server to try next, 0 if there is none but those to avoid. */
static uint32_t select_other(const struct functions *functions, const struct mbp_call *call)
{
    uint32_t server = 0;
    if (mbp_server_stream_topology(*stream_of(call)) == MBP_TOPOLOGY_SHARDED) {
        server = select_with(functions, call, NULL);
    } else {
        struct mbp_document preference;
        const enum mode mode = read_mode(call, &preference);
        /* A primary that is preferred is to be avoided when this is asked. */
        server = select_member(
            functions, call, mode == PRIMARY_PREFERRED ? SECONDARY_PREFERRED : mode, &preference);
        if ((server == 0 || is_avoided(server)) && mode == SECONDARY_PREFERRED) {
            server = select_member(functions, call, PRIMARY_PREFERRED, &preference);
        }
    }
    return is_avoided(server) ? 0 : server;
}

/* ---- going there and back ------------------------------------------------ */

static void use_drivers_stream(
    struct mbp_detour *detour, const struct mbp_call *call, const struct functions *functions)
{
    if (detour->own_stream) {
        *stream_of(call) = detour->drivers_stream;
        functions->mongoc_server_stream_cleanup(detour->own_stream);
        detour->own_stream = NULL;
    }
}

static bool go_to(struct mbp_detour *detour, const struct mbp_call *call,
    const struct functions *functions, uint32_t server, struct mbp_bson *reply,
    struct mbp_error *error)
{
    mbp_thread.selecting = true;
    void *stream = functions->mongoc_cluster_stream_for_server(
        call->cluster, server, true, NULL, reply, error);
    mbp_thread.selecting = false;
    if (!stream) {
        return false;
    }
    use_drivers_stream(detour, call, functions);
    detour->drivers_stream = *stream_of(call);
    detour->own_stream = stream;
    *stream_of(call) = stream;
    return true;
}

bool mbp_detour_take(struct mbp_detour *detour, const struct mbp_call *call, bool *usable)
{
    struct functions functions;
    struct mbp_error ignored;
    if (!mbp_detour_allowed(call) || !look_up(call->binding, &functions)) {
        return false;
    }
    if (mbp_thread.avoid_count < MBP_AVOID_MOST) {
        mbp_thread.avoid[mbp_thread.avoid_count++] = mbp_server_stream_id(*stream_of(call));
    }
    detour->searched = true;
    const uint32_t server = select_other(&functions, call);
    if (server && go_to(detour, call, &functions, server, NULL, &ignored)) {
        return true;
    }
    /* Looking around may have closed connections, ours among them. */
    if (!functions.mongoc_cluster_stream_valid(call->cluster, *stream_of(call))) {
        const uint32_t same = mbp_server_stream_id(*stream_of(call));
        *usable = go_to(detour, call, &functions, same, NULL, &ignored);
    }
    return false;
}

static int64_t cursor_of_command(const struct mbp_call *call)
{
    struct mbp_field field;
    struct mbp_document cursors;
    size_t position = 0;
    int64_t cursor = 0;
    if (mbp_call_is(call, "getMore")) {
        return mbp_document_find(&call->document, "getMore", &field) &&
                       mbp_field_as_integer(&field, &cursor)
                   ? cursor
                   : 0;
    }
    /* The driver kills them one by one. */
    if (mbp_call_is(call, "killCursors") && mbp_document_find(&call->document, "cursors", &field) &&
        mbp_field_as_document(&field, &cursors) && mbp_document_next(&cursors, &position, &field) &&
        mbp_field_as_integer(&field, &cursor)) {
        return cursor;
    }
    return 0;
}

/* The driver sends the messages of a bulk through one connection, and learns of
 * its end only from one that fails. */
static bool replace_lost(
    struct mbp_detour *detour, const struct mbp_call *call, const struct functions *functions)
{
    if (functions->mongoc_cluster_stream_valid(call->cluster, *stream_of(call))) {
        return true; /* another stream in the same place */
    }
    detour->searched = true;
    const uint32_t server = select_with(functions, call, NULL);
    return go_to(detour, call, functions, server ? server : mbp_server_stream_id(*stream_of(call)),
        call->reply, call->error);
}

bool mbp_detour_begin(struct mbp_detour *detour, struct mbp_call *call)
{
    struct functions functions;
    const void *lost = mbp_thread.lost_stream;
    mbp_thread.lost_stream = NULL;
    if (!call->binding->layout) {
        return true;
    }
    mbp_call_look_into(call);
    if (lost && lost == *stream_of(call)) {
        return !look_up(call->binding, &functions) || replace_lost(detour, call, &functions);
    }
    const int64_t cursor = cursor_of_command(call);
    const uint32_t server = cursor ? mbp_moved_cursors_find(call->cluster, cursor) : 0;
    return server == 0 || !look_up(call->binding, &functions) ||
           go_to(detour, call, &functions, server, call->reply, call->error);
}

static int64_t cursor_of_reply(const struct mbp_call *call)
{
    struct mbp_field field;
    struct mbp_document cursor;
    int64_t id = 0;
    const struct mbp_document reply = mbp_call_reply(call);
    return mbp_document_find(&reply, "cursor", &field) && mbp_field_as_document(&field, &cursor) &&
                   mbp_document_find(&cursor, "id", &field) && mbp_field_as_integer(&field, &id)
               ? id
               : 0;
}

void mbp_detour_end(struct mbp_detour *detour, const struct mbp_call *call, bool ok)
{
    struct functions functions;
    mbp_thread.avoid_count = 0;
    if (!detour->own_stream || !look_up(call->binding, &functions)) {
        return;
    }
    const uint32_t server = mbp_server_stream_id(detour->own_stream);
    const uint32_t drivers = mbp_server_stream_id(detour->drivers_stream);
    const int64_t asked = cursor_of_command(call);
    const int64_t given = ok ? cursor_of_reply(call) : 0;
    if (asked && ok && given == 0) { /* read to its end, or killed */
        mbp_moved_cursors_remove(call->cluster, asked);
    } else if (!asked && given && server != drivers) {
        mbp_moved_cursors_add(call->cluster, given, server);
    }
    use_drivers_stream(detour, call, &functions);
    if (detour->searched &&
        !functions.mongoc_cluster_stream_valid(call->cluster, detour->drivers_stream)) {
        mbp_thread.lost_stream = detour->drivers_stream;
    }
}
