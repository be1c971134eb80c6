/*
 * Every name that the library exports. A hook finds the driver it was called
 * from and hands over; it has no logic of its own.
 */
#include "shim/hooks.h"

#include "common/log.h"
#include "common/process.h"
#include "shim/budget.h"
#include "shim/clusters.h"
#include "shim/connect.h"
#include "shim/driver/document.h"
#include "shim/handshake.h"
#include "shim/moved_cursors.h"
#include "shim/purpose.h"
#include "shim/retry.h"
#include "shim/thread.h"
#include "shim/unfinished.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

/* All hooks, declared by the list: a hook that is missing below doesn't link. */
#define X(name, type) __attribute__((visibility("default"))) type name;
MBP_HOOKS(X)
#undef X

/* Where this hook was called from; `binding` is what it finds there. */
#define BIND(name)                                                                                 \
    struct mbp_binding scratch;                                                                    \
    const struct mbp_binding *binding =                                                            \
        mbp_binding_for(MBP_HOOK_##name, __builtin_return_address(0), &scratch)

/* The same for hooks that most often have nothing to do: NULL where this is the
 * first call. The compiler can then make a mere jump of them. */
#define BIND_IF_KNOWN(name)                                                                        \
    const struct mbp_binding *binding =                                                            \
        mbp_binding_known(MBP_HOOK_##name, __builtin_return_address(0))

/* The real function, by its type. */
#define REAL(type) ((type *)binding->real)

static bool is_active(const struct mbp_binding *binding)
{
    return binding->usable && !mbp_process_settings()->value[MBP_SET_DISABLE];
}

static bool changes_nothing(void)
{
    return mbp_process_settings()->value[MBP_SET_OBSERVE];
}

/* ---- commands ------------------------------------------------------------ */

/* There is no function to stand in for, which no real driver can bring about.
 * The call fails as any command may fail. */
static bool fail_unbound(struct mbp_bson *reply, struct mbp_error *error)
{
    mbp_log(MBP_LOG_WARN, "can't find the driver that a command came from; the command fails");
    if (reply) {
        *reply = (struct mbp_bson)MBP_EMPTY_BSON;
    }
    if (error) {
        *error = (struct mbp_error){.domain = 1, .code = 1};
        snprintf(error->message, sizeof error->message, "mongobp: libmongoc was not found");
    }
    return false;
}

bool mongoc_cluster_run_command_monitored(struct mbp_cluster *cluster, struct mbp_command *command,
    struct mbp_bson *reply, struct mbp_error *error)
{
    BIND(mongoc_cluster_run_command_monitored);
    if (binding->usable) {
        return mbp_retry_run_command(binding, cluster, command, reply, error);
    }
    return binding->real ? REAL(mbp_run_command)(cluster, command, reply, error)
                         : fail_unbound(reply, error);
}

/* ---- what a command is for ----------------------------------------------- */

bool _mongoc_client_command_with_opts(uintptr_t client, uintptr_t database, uintptr_t command,
    uintptr_t mode, uintptr_t a5, uintptr_t a6, uintptr_t a7, uintptr_t a8, uintptr_t a9,
    uintptr_t a10, uintptr_t reply, uintptr_t error)
{
    BIND(_mongoc_client_command_with_opts);
    if (!binding->real) {
        return fail_unbound((struct mbp_bson *)reply, (struct mbp_error *)error);
    }
    const enum mbp_purpose outer = mbp_thread.purpose;
    mbp_thread.purpose = mbp_purpose_of_mode(mode);
    const bool ok = REAL(mbp_command_with_opts)(
        client, database, command, mode, a5, a6, a7, a8, a9, a10, reply, error);
    mbp_thread.purpose = outer;
    return ok;
}

bool mongoc_client_command_simple(uintptr_t client, uintptr_t database, uintptr_t command,
    uintptr_t prefs, struct mbp_bson *reply, struct mbp_error *error)
{
    BIND(mongoc_client_command_simple);
    if (!binding->real) {
        return fail_unbound(reply, error);
    }
    const enum mbp_purpose outer = mbp_thread.purpose;
    mbp_thread.purpose = MBP_PURPOSE_ANY;
    const bool ok = REAL(mbp_command_simple)(client, database, command, prefs, reply, error);
    mbp_thread.purpose = outer;
    return ok;
}

bool mongoc_client_command_simple_with_server_id(uintptr_t client, uintptr_t database,
    uintptr_t command, uintptr_t prefs, uintptr_t server, struct mbp_bson *reply,
    struct mbp_error *error)
{
    BIND(mongoc_client_command_simple_with_server_id);
    if (!binding->real) {
        return fail_unbound(reply, error);
    }
    const enum mbp_purpose outer = mbp_thread.purpose;
    mbp_thread.purpose = MBP_PURPOSE_ANY;
    const bool ok = REAL(mbp_command_simple_with_server)(
        client, database, command, prefs, server, reply, error);
    mbp_thread.purpose = outer;
    return ok;
}

/* ---- clients and their connections --------------------------------------- */

void mongoc_cluster_init(struct mbp_cluster *cluster, const void *uri, void *client)
{
    BIND(mongoc_cluster_init);
    if (binding->real) {
        REAL(mbp_init_cluster)(cluster, uri, client);
    }
    if (is_active(binding)) {
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

/* ---- the driver's own retries -------------------------------------------- */

enum { ERROR_OTHER = 1 };

/* What the driver is told about an error that it would call `type`. */
static int answer_about_error(const struct mbp_binding *binding, int type)
{
    if (!is_active(binding) || changes_nothing()) {
        return type;
    }
    if (mbp_thread.round) {
        return mbp_budget_withholds("RetryableWriteError") && type > ERROR_OTHER ? ERROR_OTHER
                                                                                 : type;
    }
    return mbp_unfinished_answer(type);
}

int _mongoc_read_error_get_type(
    bool ok, const struct mbp_error *error, const struct mbp_bson *reply)
{
    BIND(_mongoc_read_error_get_type);
    return binding->real ? answer_about_error(binding, REAL(mbp_read_error_type)(ok, error, reply))
                         : 0;
}

int _mongoc_write_error_get_type(struct mbp_bson *reply)
{
    BIND(_mongoc_write_error_get_type);
    return binding->real ? answer_about_error(binding, REAL(mbp_write_error_type)(reply)) : 0;
}

static __attribute__((noinline)) bool has_label_for_driver(
    const struct mbp_bson *reply, const char *label, const void *call_site)
{
    struct mbp_binding scratch;
    const struct mbp_binding *binding =
        mbp_binding_for(MBP_HOOK_mongoc_error_has_label, call_site, &scratch);
    const bool has =
        binding->real && !mbp_budget_withholds(label) && REAL(mbp_has_label)(reply, label);
    return is_active(binding) && !changes_nothing() ? mbp_unfinished_has_label(label, has) : has;
}

bool mongoc_error_has_label(const struct mbp_bson *reply, const char *label)
{
    BIND_IF_KNOWN(mongoc_error_has_label);
    return binding && !mbp_thread.round && !mbp_thread.unfinished.cluster
               ? REAL(mbp_has_label)(reply, label)
               : has_label_for_driver(reply, label, __builtin_return_address(0));
}

bool _mongoc_retryable_cmd_run(
    const void *retryable, struct mbp_bson *reply, struct mbp_error *error)
{
    BIND(_mongoc_retryable_cmd_run);
    if (!binding->real) {
        return fail_unbound(reply, error);
    }
    return is_active(binding) ? mbp_budget_run_round(binding, retryable, reply, error)
                              : REAL(mbp_run_retryable)(retryable, reply, error);
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
    if (!hello || !is_active(binding)) {
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
    if (binding->real && is_active(binding)) {
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
    const bool is_new = !stream && command && binding->layout && is_active(binding);
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
    return is_active(binding) && binding->layout && !mbp_thread.inside && !mbp_thread.selecting;
}

/* The parameters differ between versions, see layout.c. */
#define PARAMETERS                                                                                 \
    uintptr_t a1, uintptr_t a2, uintptr_t a3, uintptr_t a4, uintptr_t a5, uintptr_t a6, uintptr_t a7
#define ARGUMENTS a1, a2, a3, a4, a5, a6, a7
#define ARGUMENT(place) ((place) == 3 ? a4 : (place) == 4 ? a5 : (place) == 5 ? a6 : a7)

/* Where the program doesn't want to know why it failed, we do all the same. */
static __attribute__((cold, noinline)) void *connect_for_careless_program(
    const struct mbp_binding *binding, uintptr_t const arguments[MBP_CONNECT_PARAMETERS],
    unsigned reply, unsigned error)
{
    struct mbp_error why = {0};
    uintptr_t own[MBP_CONNECT_PARAMETERS];
    memcpy(own, arguments, sizeof own);
    own[error] = (uintptr_t)&why;
    void *stream = mbp_connect_once(binding, own);
    return stream || !may_try_again(binding) ? stream
                                             : mbp_connect_again(binding, own, reply, error);
}

#define CONNECTING_HOOK(name, kind)                                                                \
    void *name(PARAMETERS)                                                                         \
    {                                                                                              \
        BIND(name);                                                                                \
        note_choice();                                                                             \
        const struct mbp_layout_of_driver *layout = binding->layout;                               \
        if (layout && !ARGUMENT(layout->kind##_error)) {                                           \
            return connect_for_careless_program(                                                   \
                binding, (uintptr_t[]){ARGUMENTS}, layout->kind##_reply, layout->kind##_error);    \
        }                                                                                          \
        void *stream = binding->real ? REAL(mbp_stream_for)(ARGUMENTS) : NULL;                     \
        if (stream || !may_try_again(binding)) {                                                   \
            return stream;                                                                         \
        }                                                                                          \
        return mbp_connect_again(                                                                  \
            binding, (uintptr_t[]){ARGUMENTS}, layout->kind##_reply, layout->kind##_error);        \
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
        return connect_for_careless_program(binding, (uintptr_t[]){ARGUMENTS}, REPLY, ERROR);
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
