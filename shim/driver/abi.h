/*
 * The little of the driver's interface that mongobp uses, declared here
 * because one library must fit every version: the public layouts, the same
 * since 1.0, and the types of the functions that are looked up at run time.
 */
#ifndef MBP_ABI_H
#define MBP_ABI_H

#include <assert.h>
#include <stdbool.h>
#include <stdint.h>

/* bson_t: the first two fields are public, the rest is libbson's. */
struct mbp_bson {
    _Alignas(128) uint32_t flags;
    uint32_t length; /* of the document in bytes */
    uint8_t opaque[120];
};
static_assert(sizeof(struct mbp_bson) == 128, "bson_t");

#define MBP_EMPTY_DOCUMENT_LENGTH 5

/* What BSON_INITIALIZER compiles to in every program: an empty document that
 * owns nothing. */
#define MBP_EMPTY_BSON                                                                             \
    {                                                                                              \
        .flags = 3, .length = MBP_EMPTY_DOCUMENT_LENGTH, .opaque = { 5 }                           \
    }

/* bson_error_t. */
struct mbp_error {
    uint32_t domain;
    uint32_t code;
    char message[504];
};
static_assert(sizeof(struct mbp_error) == 512, "bson_error_t");

/* mongoc_cluster_t and mongoc_cmd_t. */
struct mbp_cluster;
struct mbp_command;

/* The functions that mongobp stands in for. Where a type says uintptr_t, the
 * parameter is some integer or pointer that is only passed on. */
typedef bool mbp_run_command(struct mbp_cluster *cluster, struct mbp_command *command,
    struct mbp_bson *reply, struct mbp_error *error);
typedef bool mbp_command_with_opts(uintptr_t client, uintptr_t database, uintptr_t command,
    uintptr_t mode, uintptr_t, uintptr_t, uintptr_t, uintptr_t, uintptr_t, uintptr_t,
    uintptr_t reply, uintptr_t error);
typedef bool mbp_command_simple(uintptr_t client, uintptr_t database, uintptr_t command,
    uintptr_t prefs, struct mbp_bson *reply, struct mbp_error *error);
typedef bool mbp_command_simple_with_server(uintptr_t client, uintptr_t database, uintptr_t command,
    uintptr_t prefs, uintptr_t server, struct mbp_bson *reply, struct mbp_error *error);
typedef void mbp_init_cluster(struct mbp_cluster *cluster, const void *uri, void *client);
typedef void mbp_destroy_cluster(struct mbp_cluster *cluster);
typedef void mbp_disconnect_node(struct mbp_cluster *cluster, uint32_t server);
typedef int mbp_read_error_type(
    bool ok, const struct mbp_error *error, const struct mbp_bson *reply);
typedef int mbp_write_error_type(struct mbp_bson *reply);
typedef bool mbp_has_label(const struct mbp_bson *reply, const char *label);
typedef bool mbp_run_retryable(
    const void *retryable, struct mbp_bson *reply, struct mbp_error *error);
typedef struct mbp_bson *mbp_get_hello(void *scanner);
typedef void mbp_dup_hello(void *scanner, struct mbp_bson *copy);
typedef bool mbp_in_cooldown(void *node, int64_t when);

/* Declared with as many parameters as any version has: a caller who passes
 * fewer does no harm, nor does a function that takes fewer. */
typedef void *mbp_stream_for(
    uintptr_t, uintptr_t, uintptr_t, uintptr_t, uintptr_t, uintptr_t, uintptr_t);
typedef void mbp_suitable_servers(
    void *set, uintptr_t, uintptr_t, uintptr_t, uintptr_t, uintptr_t, uintptr_t);

#endif
