#include "sends.h"

#include "common/clock.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* One thread alone: that of the client. */
static struct {
    struct send *list;
    int64_t *request_ids;
    int used, room;
} sends;

static void make_room(void)
{
    if (sends.used == sends.room) {
        sends.room = sends.room ? 2 * sends.room : 64;
        sends.list = reallocarray(sends.list, (size_t)sends.room, sizeof *sends.list);
        sends.request_ids =
            reallocarray(sends.request_ids, (size_t)sends.room, sizeof *sends.request_ids);
        if (!sends.list || !sends.request_ids) {
            abort();
        }
    }
}

static void on_started(const mongoc_apm_command_started_t *event)
{
    make_room();
    struct send *send = &sends.list[sends.used];
    *send = (struct send){.port = mongoc_apm_command_started_get_host(event)->port,
        .document = bson_copy(mongoc_apm_command_started_get_command(event)),
        .at_ms = mbp_clock_ms()};
    snprintf(send->command, sizeof send->command, "%s",
        mongoc_apm_command_started_get_command_name(event));
    sends.request_ids[sends.used++] = mongoc_apm_command_started_get_request_id(event);
}

static void end(int64_t request_id, bool ok, const bson_t *reply)
{
    for (int i = sends.used - 1; i >= 0; i--) {
        if (sends.request_ids[i] == request_id && !sends.list[i].ended) {
            sends.list[i].ended = true;
            sends.list[i].ok = ok;
            sends.list[i].reply = bson_copy(reply);
            return;
        }
    }
}

static void on_succeeded(const mongoc_apm_command_succeeded_t *event)
{
    end(mongoc_apm_command_succeeded_get_request_id(event), true,
        mongoc_apm_command_succeeded_get_reply(event));
}

static void on_failed(const mongoc_apm_command_failed_t *event)
{
    end(mongoc_apm_command_failed_get_request_id(event), false,
        mongoc_apm_command_failed_get_reply(event));
}

void sends_note(mongoc_client_t *client)
{
    mongoc_apm_callbacks_t *callbacks = mongoc_apm_callbacks_new();
    mongoc_apm_set_command_started_cb(callbacks, on_started);
    mongoc_apm_set_command_succeeded_cb(callbacks, on_succeeded);
    mongoc_apm_set_command_failed_cb(callbacks, on_failed);
    mongoc_client_set_apm_callbacks(client, callbacks, NULL);
    mongoc_apm_callbacks_destroy(callbacks);
}

void sends_forget(void)
{
    for (int i = 0; i < sends.used; i++) {
        bson_destroy(sends.list[i].document);
        bson_destroy(sends.list[i].reply);
    }
    free(sends.list);
    free(sends.request_ids);
    memset(&sends, 0, sizeof sends);
}

const struct send *sends_get(const char *command, int index)
{
    for (int i = 0; i < sends.used; i++) {
        if (strcmp(sends.list[i].command, command) == 0 && index-- == 0) {
            return &sends.list[i];
        }
    }
    return NULL;
}

int sends_count(const char *command, uint16_t port, enum sends_outcome outcome)
{
    int count = 0;
    for (int i = 0; i < sends.used; i++) {
        const struct send *send = &sends.list[i];
        const bool asked =
            outcome == SENDS_ALL || (send->ended && send->ok == (outcome == SENDS_OK));
        count += strcmp(send->command, command) == 0 && (port == 0 || send->port == port) && asked;
    }
    return count;
}

bool send_has(const struct send *send, const char *field)
{
    return bson_has_field(send->document, field);
}

static bool find(const struct send *send, const char *field, bson_iter_t *found)
{
    bson_iter_t top;
    return bson_iter_init(&top, send->document) && bson_iter_find_descendant(&top, field, found);
}

bson_type_t send_type(const struct send *send, const char *field)
{
    bson_iter_t found;
    return find(send, field, &found) ? bson_iter_type(&found) : BSON_TYPE_EOD;
}

int64_t send_number(const struct send *send, const char *field)
{
    bson_iter_t found;
    return find(send, field, &found) ? bson_iter_as_int64(&found) : -1;
}

const char *send_text(const struct send *send, const char *field)
{
    bson_iter_t found;
    return find(send, field, &found) && BSON_ITER_HOLDS_UTF8(&found) ? bson_iter_utf8(&found, NULL)
                                                                     : "";
}
