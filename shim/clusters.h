/*
 * What the URI of a client says that matters here, remembered from when the
 * client was made. A cluster is the driver's name for a client's connections.
 */
#ifndef MBP_CLUSTERS_H
#define MBP_CLUSTERS_H

#include "shim/driver/binding.h"

struct mbp_cluster_facts {
    void *client; /* NULL: not known */
    bool retry_reads, retry_writes;
    uint32_t selection_timeout_ms; /* to find a server and connect to it; 0: not known */
};

void mbp_clusters_add(const struct mbp_binding *binding, const struct mbp_cluster *cluster,
    const void *uri, void *client);
void mbp_clusters_remove(const struct mbp_cluster *cluster);

/* For a cluster that was never seen: the defaults. */
struct mbp_cluster_facts mbp_clusters_find(const struct mbp_cluster *cluster);

#endif
