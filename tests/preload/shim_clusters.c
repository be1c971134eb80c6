/*
 * What is remembered of a client's URI. The table is the process's own, and
 * each test is a process.
 */
#include "shim/clusters.h"

#include "shim_driver.h"

#include <criterion/criterion.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>

#define NO_READS "mongodb://host/?retryreads=false"
#define NO_WRITES "mongodb://host/?retrywrites=false"

/* Addresses that stand for clusters; nobody looks behind them. */
enum { CLUSTERS = 20000 };
static char addresses[CLUSTERS][64];

static const struct mbp_cluster *cluster(unsigned number)
{
    return (const struct mbp_cluster *)addresses[number];
}

static bool is_known(unsigned number)
{
    return mbp_clusters_find(cluster(number)).client == addresses[number];
}

Test(shim_clusters, known_until_removed)
{
    const struct mbp_binding binding = shim_binding("fake", 1023);
    struct mbp_cluster_facts facts = mbp_clusters_find(cluster(0));
    cr_expect(facts.retry_reads && facts.retry_writes && !facts.client, "the defaults");

    mbp_clusters_add(&binding, cluster(0), NO_READS, addresses[0]);
    mbp_clusters_add(&binding, cluster(1), NO_WRITES, addresses[1]);
    facts = mbp_clusters_find(cluster(0));
    cr_expect(!facts.retry_reads && facts.retry_writes && facts.client == addresses[0]);
    facts = mbp_clusters_find(cluster(1));
    cr_expect(facts.retry_reads && !facts.retry_writes && facts.client == addresses[1]);

    mbp_clusters_remove(cluster(0));
    mbp_clusters_remove(cluster(0));
    facts = mbp_clusters_find(cluster(0));
    cr_expect(facts.retry_reads && facts.retry_writes && !facts.client, "the defaults");
    cr_expect(is_known(1));
}

/* A client made where another was, whether or not its end was seen. */
Test(shim_clusters, address_used_again)
{
    const struct mbp_binding binding = shim_binding("fake", 1023);
    mbp_clusters_add(&binding, cluster(0), NO_READS, addresses[0]);
    mbp_clusters_add(&binding, cluster(0), NO_WRITES, addresses[0]);
    struct mbp_cluster_facts facts = mbp_clusters_find(cluster(0));
    cr_expect(facts.retry_reads && !facts.retry_writes);

    mbp_clusters_remove(cluster(0));
    cr_expect_null(mbp_clusters_find(cluster(0)).client, "there was but one");
    mbp_clusters_add(&binding, cluster(0), NO_READS, addresses[0]);
    facts = mbp_clusters_find(cluster(0));
    cr_expect(!facts.retry_reads && facts.retry_writes);
}

/* A driver that can't be asked: as if its URIs said nothing. */
Test(shim_clusters, driver_without_the_function)
{
    const struct mbp_binding binding = shim_binding("fake-bare", 1023);
    mbp_clusters_add(&binding, cluster(0), NO_READS NO_WRITES, addresses[0]);
    const struct mbp_cluster_facts facts = mbp_clusters_find(cluster(0));
    cr_expect(facts.retry_reads && facts.retry_writes && facts.client == addresses[0]);
}

/* More than there are places for: those that came late have the defaults, and
 * places that were given up are good again. */
Test(shim_clusters, more_than_fit, .timeout = 150)
{
    const struct mbp_binding binding = shim_binding("fake-bare", 1023);
    unsigned known = 0;
    for (unsigned i = 0; i < CLUSTERS; i++) {
        mbp_clusters_add(&binding, cluster(i), "", addresses[i]);
    }
    for (unsigned i = 0; i < CLUSTERS; i++) {
        known += is_known(i);
    }
    cr_expect_gt(known, 10000);
    cr_expect_lt(known, CLUSTERS);
    cr_expect(is_known(0) && !is_known(CLUSTERS - 1));

    mbp_clusters_remove(cluster(17));
    mbp_clusters_add(&binding, cluster(CLUSTERS - 1), "", addresses[CLUSTERS - 1]);
    cr_expect(is_known(CLUSTERS - 1) && !is_known(17));
}

enum { THREADS = 4, EACH = 25, ROUNDS = 20 };
static struct mbp_binding shared_binding;
static _Atomic unsigned wrong;

/* Clients of one thread's own; their places lie between those of others. */
static void *come_and_go(void *argument)
{
    const unsigned first = (unsigned)(uintptr_t)argument;
    for (unsigned round = 0; round < ROUNDS; round++) {
        const char *uri = round % 2 ? NO_READS : NO_WRITES;
        for (unsigned i = 0; i < EACH; i++) {
            const unsigned own = first + i * THREADS;
            mbp_clusters_add(&shared_binding, cluster(own), uri, addresses[own]);
        }
        for (unsigned i = 0; i < EACH; i++) {
            const unsigned own = first + i * THREADS;
            const struct mbp_cluster_facts facts = mbp_clusters_find(cluster(own));
            wrong += facts.client != addresses[own] || facts.retry_reads != (round % 2 == 0) ||
                     facts.retry_writes != (round % 2 == 1);
            mbp_clusters_remove(cluster(own));
            wrong += is_known(own);
        }
    }
    return NULL;
}

Test(shim_clusters, many_threads_at_once, .timeout = 150)
{
    pthread_t threads[THREADS];
    shared_binding = shim_binding("fake", 1023);
    for (uintptr_t i = 0; i < THREADS; i++) {
        cr_assert_eq(pthread_create(&threads[i], NULL, come_and_go, (void *)i), 0);
    }
    for (unsigned i = 0; i < THREADS; i++) {
        pthread_join(threads[i], NULL);
    }
    cr_expect_eq(wrong, 0);
}
