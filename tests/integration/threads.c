/*
 * Many threads of one program, each with a client from the pool.
 */
#include "fixture.h"

#include "tests/support/processes.h"

#include <criterion/criterion.h>
#include <pthread.h>
#include <stdlib.h>

enum { THREADS = 8, EACH = 50, REJECTIONS = 20 };

TestSuite(threads, .init = fixture_settings, .fini = fixture_end);

static mongoc_client_pool_t *pool;
static struct start_line start;
static _Atomic int accepted;

static void *insert_many(void *first)
{
    mongoc_client_t *client = mongoc_client_pool_pop(pool);
    mongoc_collection_t *collection = mongoc_client_get_collection(client, fixture.name, "things");
    start_line_wait(&start);
    for (int i = 0; i < EACH; i++) {
        bson_t *document = BCON_NEW("i", BCON_INT32(*(int *)first + i));
        accepted += mongoc_collection_insert_one(collection, document, NULL, NULL, NULL);
        bson_destroy(document);
    }
    mongoc_collection_destroy(collection);
    mongoc_client_pool_push(pool, client);
    return NULL;
}

static mongoc_client_pool_t *new_pool(void)
{
    mongoc_client_pool_t *made = mongoc_client_pool_new(fixture.uri);
    mongoc_apm_callbacks_t *callbacks = watch_callbacks();
    mongoc_client_pool_set_apm_callbacks(made, callbacks, NULL);
    mongoc_apm_callbacks_destroy(callbacks);
    return made;
}

Test(threads, count_exactly)
{
    pthread_t threads[THREADS];
    int first[THREADS];
    /* However the rejections fall, none has more than it may retry. */
    setenv("MONGOBP_MAX_RETRIES", "100", 1);
    fixture_connect_admin();
    cr_assert(fixture_admin_command(fixture.name, "{'create': 'things'}"));
    cr_assert(reject(.command = "insert", .times = REJECTIONS));
    pool = new_pool();
    const struct counters before = counters_now();

    for (int i = 0; i < THREADS; i++) {
        first[i] = i * EACH;
        pthread_create(&threads[i], NULL, insert_many, &first[i]);
    }
    start_line_open(&start, THREADS);
    for (int i = 0; i < THREADS; i++) {
        pthread_join(threads[i], NULL);
    }

    /* Asked by several connections at once, the server may reject one more than
     * it was told to. The driver and mongobp must agree on how many. */
    const struct counters all = counters_since(&before);
    const int rejected = watch_tally("insert").failed;
    cr_expect_geq(rejected, REJECTIONS);
    cr_expect_eq(accepted, THREADS * EACH);
    expect_events("insert", .started = THREADS * EACH + rejected, .succeeded = THREADS * EACH,
        .failed = rejected);
    cr_expect_leq(all.retry_successes, rejected);
    cr_expect_eq(all.first_successes + all.retry_successes, THREADS * EACH);
    expect_counters(&before, .operations = THREADS * EACH, .first_successes = all.first_successes,
        .retries = rejected, .retry_successes = all.retry_successes, .overload_errors = rejected,
        .tokens_consumed = (int64_t)rejected * 1000, .tokens_deposited = all.tokens_deposited);
    cr_expect_eq(fixture_count("{}"), THREADS * EACH);
    cr_expect_eq(fixture_count("{'i': {'$gte': 0, '$lt': 400}}"), THREADS * EACH);
    mongoc_client_pool_destroy(pool);
}
