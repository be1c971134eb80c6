/*
 * Hooks about clients, their servers and the connections to them.
 */
#include "shim/hook.h"

#include "shim/clusters.h"
#include "shim/connect.h"
#include "shim/driver/document.h"
#include "shim/handshake.h"
#include "shim/moved_cursors.h"
#include "shim/thread.h"

#include <string.h>

/* ---- clients and their connections --------------------------------------- */

void mongoc_cluster_init(struct mbp_cluster *cluster, const void *uri, void *client)
{
    BIND(mongoc_cluster_init);
    if (binding->real) {
        REAL(mbp_init_cluster)(cluster, uri, client);
    }
    if (mbp_hook_is_active(binding)) {
        mbp_clusters_add(binding, cluster, uri, client);
    }
}

void mongoc_cluster_destroy(struct mbp_cluster *cluster)
{
    BIND(mongoc_cluster_destroy);
    mbp_clusters_remove(cluster);
    mbp_moved_cursors_remove_all(cluster);
    if (binding->real) {
        REAL(mbp_destroy_cluster)(cluster);
    }
}

void mongoc_cluster_disconnect_node(struct mbp_cluster *cluster, uint32_t server)
{
    BIND(mongoc_cluster_disconnect_node);
    mbp_thread.stream_died = true;
    if (binding->real) {
        REAL(mbp_disconnect_node)(cluster, server);
    }
}

/* ---- the first message of a connection ----------------------------------- */

/* The driver keeps this message; here it is handed out for the first time,
 * before anybody else can see it. One without `client` is shared with what is
 * sent later, and stays as it is. */
static struct mbp_bson *announce_in_kept(const struct mbp_binding *binding, void *scanner)
{
    struct mbp_bson *hello = binding->real ? REAL(mbp_get_hello)(scanner) : NULL;
    struct mbp_driver driver;
    struct mbp_field field;
    if (!hello || !mbp_hook_is_active(binding)) {
        return hello;
    }
    mbp_driver_look_up(&driver, binding->real);
    const struct mbp_document document = {
        .data = driver.bson_get_data(hello), .length = hello->length};
    if (mbp_document_find(&document, "client", &field)) {
        mbp_handshake_announce(binding, hello);
    }
    return hello;
}

struct mbp_bson *_mongoc_topology_scanner_get_ismaster(void *scanner)
{
    BIND(_mongoc_topology_scanner_get_ismaster);
    return announce_in_kept(binding, scanner);
}

struct mbp_bson *_mongoc_topology_scanner_get_handshake_cmd(void *scanner)
{
    BIND(_mongoc_topology_scanner_get_handshake_cmd);
    return announce_in_kept(binding, scanner);
}

void _mongoc_topology_scanner_dup_handshake_cmd(void *scanner, struct mbp_bson *copy)
{
    BIND(_mongoc_topology_scanner_dup_handshake_cmd);
    if (binding->real) {
        REAL(mbp_dup_hello)(scanner, copy);
    }
    if (binding->real && mbp_hook_is_active(binding)) {
        mbp_handshake_announce(binding, copy);
    }
}

/* A single-threaded client's message. With a connection that it had lost, the
 * driver may use a message that it keeps for open ones. */
void *mongoc_async_cmd_new(uintptr_t async, void *stream, uintptr_t a3, uintptr_t a4, uintptr_t a5,
    uintptr_t a6, uintptr_t a7, uintptr_t a8, uintptr_t database, const struct mbp_bson *command,
    uintptr_t a11, uintptr_t a12, uintptr_t a13, uintptr_t a14)
{
    BIND(mongoc_async_cmd_new);
    struct mbp_bson copy;
    const bool is_new = !stream && command && binding->layout && mbp_hook_is_active(binding);
    const bool copied = is_new && mbp_handshake_announce_in_copy(binding, command, &copy);
    void *result = NULL;
    if (binding->real) {
        result = REAL(mbp_async_command)(async, stream, a3, a4, a5, a6, a7, a8, database,
            copied ? &copy : command, a11, a12, a13, a14);
    }
    if (copied) {
        struct mbp_driver driver;
        mbp_driver_look_up(&driver, binding->real);
        driver.bson_destroy(&copy);
    }
    return result;
}

/* ---- finding a server and connecting to it ------------------------------- */

/* What happens inside a command is about another one. */
static inline void note_choice(void)
{
    if (!mbp_thread.inside) {
        mbp_thread.server_was_chosen = true;
        mbp_thread.selection_is_over = false;
    }
}

static inline void note_named_server(void)
{
    if (!mbp_thread.inside && mbp_thread.selection_is_over) { /* not chosen just now */
        mbp_thread.server_was_chosen = false;
        mbp_thread.selection_is_over = false;
    }
}

static __attribute__((cold, noinline)) bool may_try_again(const struct mbp_binding *binding)
{
    return mbp_hook_is_active(binding) && binding->layout && !mbp_thread.inside &&
           !mbp_thread.selecting;
}

/* The parameters differ between versions, see layout.c. */
#define PARAMETERS                                                                                 \
    uintptr_t a1, uintptr_t a2, uintptr_t a3, uintptr_t a4, uintptr_t a5, uintptr_t a6, uintptr_t a7
#define ARGUMENTS a1, a2, a3, a4, a5, a6, a7

/* The long way, for the first call from a place and for programs that don't want
 * to know why it failed: we do. */
static __attribute__((cold, noinline)) void *connect_and_see(const struct mbp_binding *binding,
    uintptr_t const arguments[MBP_CONNECT_PARAMETERS], unsigned reply, unsigned error)
{
    struct mbp_error why = {0};
    uintptr_t own[MBP_CONNECT_PARAMETERS];
    memcpy(own, arguments, sizeof own);
    if (!own[error]) {
        own[error] = (uintptr_t)&why;
    }
    void *stream = mbp_connect_once(binding, own);
    return stream || !may_try_again(binding) ? stream
                                             : mbp_connect_again(binding, own, reply, error);
}

#define CONNECTING_HOOK(name, kind)                                                                \
    static __attribute__((cold, noinline)) void *name##_unusual(                                   \
        const void *call_site, uintptr_t const arguments[MBP_CONNECT_PARAMETERS])                  \
    {                                                                                              \
        struct mbp_binding scratch;                                                                \
        const struct mbp_binding *binding = mbp_binding_for(MBP_HOOK_##name, call_site, &scratch); \
        note_choice();                                                                             \
        const struct mbp_layout_of_driver *layout = binding->layout;                               \
        return layout ? connect_and_see(                                                           \
                            binding, arguments, layout->kind##_reply, layout->kind##_error)        \
               : binding->real ? mbp_connect_once(binding, arguments)                              \
                               : NULL;                                                             \
    }                                                                                              \
                                                                                                   \
    void *name(PARAMETERS)                                                                         \
    {                                                                                              \
        BIND_IF_KNOWN(name);                                                                       \
        const uintptr_t arguments[] = {ARGUMENTS};                                                 \
        if (!binding || !binding->layout || !arguments[binding->layout->kind##_error]) {           \
            return name##_unusual(__builtin_return_address(0), arguments);                         \
        }                                                                                          \
        note_choice();                                                                             \
        void *stream = REAL(mbp_stream_for)(ARGUMENTS);                                            \
        if (stream || !may_try_again(binding)) {                                                   \
            return stream;                                                                         \
        }                                                                                          \
        return mbp_connect_again(                                                                  \
            binding, arguments, binding->layout->kind##_reply, binding->layout->kind##_error);     \
    }

CONNECTING_HOOK(mongoc_cluster_stream_for_reads, reads)
CONNECTING_HOOK(mongoc_cluster_stream_for_writes, writes)
CONNECTING_HOOK(mongoc_cluster_stream_for_aggr_with_write, aggregate)

void *mongoc_cluster_stream_for_server(PARAMETERS)
{
    enum { REPLY = 4, ERROR = 5 }; /* in every version */
    const bool reconnect_ok = (bool)(a3 & 1);
    BIND(mongoc_cluster_stream_for_server);
    if (reconnect_ok) { /* otherwise the driver only asks for what it has */
        note_named_server();
    }
    if (!a6 && binding->layout && reconnect_ok) {
        return connect_and_see(binding, (uintptr_t[]){ARGUMENTS}, REPLY, ERROR);
    }
    void *stream = binding->real ? REAL(mbp_stream_for)(ARGUMENTS) : NULL;
    if (stream || !reconnect_ok || !may_try_again(binding)) {
        return stream;
    }
    return mbp_connect_again(binding, (uintptr_t[]){ARGUMENTS}, REPLY, ERROR);
}

static __attribute__((noinline)) void drop_avoided_servers(const void *call_site, void *set,
    uintptr_t a2, uintptr_t a3, uintptr_t a4, uintptr_t a5, uintptr_t a6, uintptr_t a7)
{
    struct mbp_binding scratch;
    const struct mbp_binding *binding =
        mbp_binding_for(MBP_HOOK_mongoc_topology_description_suitable_servers, call_site, &scratch);
    if (!binding->real) {
        return;
    }
    REAL(mbp_suitable_servers)(set, a2, a3, a4, a5, a6, a7);
    /* The ids mean something to the client alone whose command is being retried. */
    if (mbp_thread.selecting && binding->usable && binding->layout) {
        mbp_servers_drop(binding->layout, set, mbp_thread.avoid, mbp_thread.avoid_count);
    }
}

void mongoc_topology_description_suitable_servers(
    void *set, uintptr_t a2, uintptr_t a3, uintptr_t a4, uintptr_t a5, uintptr_t a6, uintptr_t a7)
{
    BIND_IF_KNOWN(mongoc_topology_description_suitable_servers);
    if (binding && mbp_thread.avoid_count == 0) {
        REAL(mbp_suitable_servers)(set, a2, a3, a4, a5, a6, a7);
    } else {
        drop_avoided_servers(__builtin_return_address(0), set, a2, a3, a4, a5, a6, a7);
    }
}

bool mongoc_topology_scanner_node_in_cooldown(void *node, int64_t when)
{
    BIND(mongoc_topology_scanner_node_in_cooldown);
    return !mbp_thread.connecting && binding->real && REAL(mbp_in_cooldown)(node, when);
}
