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

typedef bool mbp_run_command(struct mbp_cluster *cluster, struct mbp_command *command,
    struct mbp_bson *reply, struct mbp_error *error);

#endif
