/*
 * What no hook and no public function of a driver can give: places of fields
 * in its private structures, and parameter lists that changed. One table, by
 * version. A version that is not in it is served without what needs it.
 */
#ifndef MBP_DRIVER_LAYOUT_H
#define MBP_DRIVER_LAYOUT_H

#include <stdbool.h>
#include <stdint.h>

struct mbp_command;
struct mbp_bson;

struct mbp_layout_of_driver {
    uint16_t from, to; /* versions, 1.23 being 1023 */
    /* mongoc_cmd_t; the fields before these are the same in all versions. */
    uint8_t server_stream, operation_id;
    uint8_t is_exhaust; /* 0: there is none, every batch is asked for */
    /* mongoc_array_t */
    uint8_t array_data;
    /* mongoc_cluster_stream_for_*: where the reply is among the parameters, the
     * first being 0, and where the error. */
    uint8_t reads_reply, reads_error;
    uint8_t writes_reply, writes_error;
    uint8_t aggregate_reply, aggregate_error;
};

/* "1.23.1" as 1023; what is no version becomes 0. */
unsigned mbp_version_number(const char *version);

/* NULL for a version that is not known. */
const struct mbp_layout_of_driver *mbp_layout_for(unsigned version);

/* From 2.3 on the driver has the policy, though not the shared budget. */
bool mbp_version_retries_overload(unsigned version);

/* Fields of mongoc_cmd_t. The first two stand where they always have. */
const struct mbp_bson **mbp_command_document(struct mbp_command *command);
const char *mbp_command_name(const struct mbp_command *command);
void **mbp_command_server_stream(
    const struct mbp_layout_of_driver *layout, struct mbp_command *command);
int64_t mbp_command_operation_id(
    const struct mbp_layout_of_driver *layout, const struct mbp_command *command);

/* Whether the server is to send all batches without being asked again. */
bool mbp_command_is_exhaust(
    const struct mbp_layout_of_driver *layout, const struct mbp_command *command);

/* mongoc_server_stream_t and mongoc_server_description_t begin like this in
 * every known version. */
enum mbp_topology { MBP_TOPOLOGY_SHARDED = 1, MBP_TOPOLOGY_NO_PRIMARY, MBP_TOPOLOGY_REPLICA_SET };
enum mbp_topology mbp_server_stream_topology(const void *server_stream);
uint32_t mbp_server_stream_id(const void *server_stream);

/* mongoc_retryable_cmd_t of 2.3 and later. */
int mbp_retryable_eligibility(const void *retryable); /* 0: not to be retried */
int32_t mbp_retryable_most_retries(const void *retryable);

/* mongoc_array_t of server descriptions: drops those whose id is listed, but
 * never the last. */
void mbp_servers_drop(const struct mbp_layout_of_driver *layout, void *array,
    const uint32_t listed[], unsigned count);

#endif
