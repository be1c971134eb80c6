/*
 * The driver's functions that mongobp stands in for, once: they are all that
 * the library exports. X (name, type), the types being those of driver/abi.h.
 */
#ifndef MBP_HOOKS_H
#define MBP_HOOKS_H

#define MBP_HOOKS(X)                                                                               \
    /* Every command passes here, and every retry of the driver's own. */                          \
    X(mongoc_cluster_run_command_monitored, mbp_run_command)                                       \
    /* How a command was meant: to read, to write, or nobody knows. */                             \
    X(_mongoc_client_command_with_opts, mbp_command_with_opts)                                     \
    X(mongoc_client_command_simple, mbp_command_simple)                                            \
    X(mongoc_client_command_simple_with_server_id, mbp_command_simple_with_server)                 \
    /* Which URI a command belongs to. */                                                          \
    X(mongoc_cluster_init, mbp_init_cluster)                                                       \
    X(mongoc_cluster_destroy, mbp_destroy_cluster)                                                 \
    /* The connection of a command is gone. */                                                     \
    X(mongoc_cluster_disconnect_node, mbp_disconnect_node)                                         \
    /* The driver asks whether to retry by itself. */                                              \
    X(_mongoc_read_error_get_type, mbp_read_error_type)                                            \
    X(_mongoc_write_error_get_type, mbp_write_error_type)                                          \
    X(mongoc_error_has_label, mbp_has_label)                                                       \
    X(_mongoc_retryable_cmd_run, mbp_run_retryable)                                                \
    /* What is said to a server when a connection is made: 1.17, 1.18 and 1.19, 1.20 on. */        \
    X(_mongoc_topology_scanner_get_ismaster, mbp_get_hello)                                        \
    X(_mongoc_topology_scanner_get_handshake_cmd, mbp_get_hello)                                   \
    X(_mongoc_topology_scanner_dup_handshake_cmd, mbp_dup_hello)                                   \
    /* Finding a server and connecting to it. */                                                   \
    X(mongoc_cluster_stream_for_reads, mbp_stream_for)                                             \
    X(mongoc_cluster_stream_for_writes, mbp_stream_for)                                            \
    X(mongoc_cluster_stream_for_aggr_with_write, mbp_stream_for)                                   \
    X(mongoc_cluster_stream_for_server, mbp_stream_for)                                            \
    X(mongoc_topology_description_suitable_servers, mbp_suitable_servers)                          \
    X(mongoc_topology_scanner_node_in_cooldown, mbp_in_cooldown)

enum mbp_hook {
#define X(name, type) MBP_HOOK_##name,
    MBP_HOOKS(X)
#undef X
        MBP_HOOK_COUNT
};

#endif
