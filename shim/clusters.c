#include "shim/clusters.h"

#include "shim/driver/objects.h"

#include <stdatomic.h>
#include <stddef.h>

/*
 * A hash table without locks, so that no fork can find one held. A place
 * belongs to the first cluster that gets there until that is removed. Untouched
 * memory costs nothing, so there is plenty.
 */
#define PLACE_COUNT 16384
static struct place {
    _Atomic(const struct mbp_cluster *) cluster;
    struct mbp_cluster_facts facts;
} places[PLACE_COUNT];

/* Not clusters: a search goes on past these. */
static const char being_written;
static const char given_up;
#define BEING_WRITTEN ((const struct mbp_cluster *)&being_written)
#define GIVEN_UP ((const struct mbp_cluster *)&given_up)

static unsigned first_place(const struct mbp_cluster *cluster)
{
    return (unsigned)(((uintptr_t)cluster * UINT64_C(0x9e3779b97f4a7c15)) >> 32) % PLACE_COUNT;
}

static struct place *find(const struct mbp_cluster *cluster)
{
    unsigned at = first_place(cluster);
    for (unsigned i = 0; i < PLACE_COUNT; i++, at = (at + 1) % PLACE_COUNT) {
        const struct mbp_cluster *there =
            atomic_load_explicit(&places[at].cluster, memory_order_acquire);
        if (there == cluster) {
            return &places[at];
        }
        if (!there) {
            break;
        }
    }
    return NULL;
}

static struct mbp_cluster_facts examine(
    const struct mbp_binding *binding, const void *uri, void *client)
{
    typedef bool get_bool(const void *uri, const char *option, bool fallback);
    typedef int32_t get_number(const void *uri, const char *option, int32_t fallback);
    enum { DEFAULT_SELECTION_TIMEOUT_MS = 30000 };
    struct mbp_scope scope = mbp_scope_open((const void *)binding->real);
    get_bool *option = (get_bool *)mbp_scope_find(&scope, "mongoc_uri_get_option_as_bool");
    get_number *number = (get_number *)mbp_scope_find(&scope, "mongoc_uri_get_option_as_int32");
    mbp_scope_close(&scope);
    const int32_t timeout_ms =
        number ? number(uri, "serverselectiontimeoutms", DEFAULT_SELECTION_TIMEOUT_MS) : 0;
    return (struct mbp_cluster_facts){
        .client = client,
        .retry_reads = !option || option(uri, "retryreads", true),
        .retry_writes = !option || option(uri, "retrywrites", true),
        .selection_timeout_ms = timeout_ms > 0 ? (uint32_t)timeout_ms : 0,
    };
}

static bool take(struct place *place)
{
    const struct mbp_cluster *untouched = NULL;
    const struct mbp_cluster *left = GIVEN_UP;
    return atomic_compare_exchange_strong(&place->cluster, &untouched, BEING_WRITTEN) ||
           atomic_compare_exchange_strong(&place->cluster, &left, BEING_WRITTEN);
}

void mbp_clusters_add(const struct mbp_binding *binding, const struct mbp_cluster *cluster,
    const void *uri, void *client)
{
    unsigned at = first_place(cluster);
    mbp_clusters_remove(cluster); /* its memory may have been another's that was never removed */
    for (unsigned i = 0; i < PLACE_COUNT; i++, at = (at + 1) % PLACE_COUNT) {
        if (take(&places[at])) {
            places[at].facts = examine(binding, uri, client);
            atomic_store_explicit(&places[at].cluster, cluster, memory_order_release);
            return;
        }
    }
}

void mbp_clusters_remove(const struct mbp_cluster *cluster)
{
    struct place *place = find(cluster);
    if (place) {
        atomic_store_explicit(&place->cluster, GIVEN_UP, memory_order_release);
    }
}

struct mbp_cluster_facts mbp_clusters_find(const struct mbp_cluster *cluster)
{
    const struct place *place = find(cluster);
    return place ? place->facts
                 : (struct mbp_cluster_facts){.retry_reads = true, .retry_writes = true};
}
