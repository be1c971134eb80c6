#include "common/bucket.h"

#include "tests/support/processes.h"

#include <criterion/criterion.h>
#include <pthread.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <unistd.h>

static struct mbp_bucket full_bucket(mbp_millitokens capacity)
{
    struct mbp_bucket bucket = {0};
    mbp_bucket_init_once(&bucket, capacity);
    return bucket;
}

Test(bucket, starts_full)
{
    const struct mbp_bucket bucket = full_bucket(1000 * MBP_TOKEN);
    cr_expect_eq(mbp_bucket_balance(&bucket), 1000 * MBP_TOKEN);
    cr_expect_eq(mbp_bucket_capacity(&bucket), 1000 * MBP_TOKEN);
}

Test(bucket, is_filled_once_only)
{
    struct mbp_bucket bucket = full_bucket(10 * MBP_TOKEN);
    cr_assert(mbp_bucket_consume(&bucket, 10 * MBP_TOKEN));
    mbp_bucket_init_once(&bucket, 20 * MBP_TOKEN);
    cr_expect_eq(mbp_bucket_balance(&bucket), 0);
    cr_expect_eq(mbp_bucket_capacity(&bucket), 10 * MBP_TOKEN);
}

Test(bucket, gives_all_or_nothing)
{
    struct mbp_bucket bucket = full_bucket(1500);
    cr_expect(mbp_bucket_consume(&bucket, 1000));
    cr_expect_not(mbp_bucket_consume(&bucket, 1000));
    cr_expect_eq(mbp_bucket_balance(&bucket), 500, "what is too little stays");
    cr_expect_not(mbp_bucket_consume(&bucket, 501));
    cr_expect(mbp_bucket_consume(&bucket, 500), "the last of it is there to be spent");
    cr_expect_eq(mbp_bucket_balance(&bucket), 0);
    cr_expect_not(mbp_bucket_consume(&bucket, 1));
    cr_expect_eq(
        mbp_bucket_capacity(&bucket), 1500, "the balance never borrows from its neighbour");
}

/* In binary floating point, ten tenths are less than one. */
Test(bucket, ten_tenths_are_one)
{
    struct mbp_bucket bucket = full_bucket(10 * MBP_TOKEN);
    cr_assert(mbp_bucket_consume(&bucket, 10 * MBP_TOKEN));
    for (int i = 0; i < 10; i++) {
        cr_expect_not(mbp_bucket_consume(&bucket, MBP_TOKEN), "after %d tenths", i);
        cr_expect_eq(mbp_bucket_deposit(&bucket, MBP_TOKEN / 10), MBP_TOKEN / 10);
    }
    cr_expect(mbp_bucket_consume(&bucket, MBP_TOKEN));
    cr_expect_eq(mbp_bucket_balance(&bucket), 0);
}

Test(bucket, never_holds_more_than_its_capacity)
{
    struct mbp_bucket bucket = full_bucket(2 * MBP_TOKEN);
    cr_assert(mbp_bucket_consume(&bucket, 300));
    cr_expect_eq(mbp_bucket_deposit(&bucket, MBP_TOKEN), 300, "only what fits is added");
    cr_expect_eq(mbp_bucket_deposit(&bucket, MBP_TOKEN), 0);
    cr_expect_eq(mbp_bucket_balance(&bucket), 2 * MBP_TOKEN);
    cr_expect_eq(mbp_bucket_capacity(&bucket), 2 * MBP_TOKEN);
}

Test(bucket, holds_the_largest_amounts)
{
    const mbp_millitokens most = MBP_BUCKET_MAX_TOKENS * MBP_TOKEN;
    struct mbp_bucket bucket = full_bucket(most);
    cr_expect_eq(mbp_bucket_balance(&bucket), 4000000000u);
    cr_expect_not(mbp_bucket_consume(&bucket, UINT32_MAX));
    cr_expect(mbp_bucket_consume(&bucket, 1));
    cr_expect_eq(mbp_bucket_deposit(&bucket, UINT32_MAX), 1, "a sum past 32 bits is no small one");
    cr_expect(mbp_bucket_consume(&bucket, most));
    cr_expect_eq(mbp_bucket_deposit(&bucket, UINT32_MAX), most);
    cr_expect(mbp_bucket_is_valid(&bucket));
}

Test(bucket, a_change_of_capacity_cuts_the_balance)
{
    struct mbp_bucket bucket = full_bucket(10 * MBP_TOKEN);
    mbp_bucket_set_capacity(&bucket, 4 * MBP_TOKEN);
    cr_expect_eq(mbp_bucket_balance(&bucket), 4 * MBP_TOKEN);
    mbp_bucket_set_capacity(&bucket, 20 * MBP_TOKEN);
    cr_expect_eq(mbp_bucket_balance(&bucket), 4 * MBP_TOKEN, "more room is not more tokens");
    cr_expect_eq(mbp_bucket_capacity(&bucket), 20 * MBP_TOKEN);
    cr_expect_eq(mbp_bucket_deposit(&bucket, 30 * MBP_TOKEN), 16 * MBP_TOKEN);
    cr_expect(mbp_bucket_is_valid(&bucket));
}

Test(bucket, knows_words_that_it_never_wrote)
{
    static const struct {
        uint64_t word;
        bool valid;
        const char *what;
    } rows[] = {
        {0, false, "never filled"},
        {UINT64_C(1) << 32, true, "smallest, empty"},
        {UINT64_C(1) << 32 | 1, true, "smallest, full"},
        {UINT64_C(1) << 32 | 2, false, "one too many"},
        {UINT64_C(1000000) << 32 | 1000000, true, "full"},
        {UINT64_C(1000000) << 32 | 1000001, false, "more than full"},
        {1000, false, "tokens without room"},
        {UINT32_MAX, false, "all tokens, no room"},
    };
    for (unsigned i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        const struct mbp_bucket bucket = {.word = rows[i].word};
        cr_expect_eq(mbp_bucket_is_valid(&bucket), rows[i].valid, "%s", rows[i].what);
    }
}

/* Processes that all succeed must not fight for the bucket's cache line, so
 * nothing may be written, not even the same value: here, a write is a crash. */
Test(bucket, is_not_written_where_nothing_changes)
{
    struct mbp_bucket *bucket = shared_memory(sizeof *bucket);
    mbp_bucket_init_once(bucket, 5 * MBP_TOKEN);
    cr_assert_eq(mprotect(bucket, sizeof *bucket, PROT_READ), 0);
    cr_expect_eq(mbp_bucket_deposit(bucket, MBP_TOKEN / 10), 0, "full");
    cr_expect_not(mbp_bucket_consume(bucket, 5 * MBP_TOKEN + 1), "too much to take");

    cr_assert_eq(mprotect(bucket, sizeof *bucket, PROT_READ | PROT_WRITE), 0);
    cr_assert(mbp_bucket_consume(bucket, 5 * MBP_TOKEN));
    cr_assert_eq(mprotect(bucket, sizeof *bucket, PROT_READ), 0);
    cr_expect_not(mbp_bucket_consume(bucket, MBP_TOKEN), "empty");
}

/*
 * Whatever many do to one bucket at once, nothing is lost and nothing made:
 * what there was, plus what was added, less what was taken, is what there is.
 */
#define ROUNDS 100000
#define WORKERS 8

struct worker {
    struct mbp_bucket *bucket;
    struct start_line *start;
    unsigned short seed;
    pthread_t thread;
    uint64_t deposited, consumed;
    unsigned refused, cut, out_of_bounds;
};

static void *work(void *argument)
{
    struct worker *worker = argument;
    unsigned short state[3] = {worker->seed, 1, 2};
    start_line_wait(worker->start);
    for (int i = 0; i < ROUNDS; i++) {
        const mbp_millitokens amount = (mbp_millitokens)(nrand48(state) % 3000);
        if (nrand48(state) % 2) {
            const mbp_millitokens added = mbp_bucket_deposit(worker->bucket, amount);
            worker->deposited += added;
            worker->cut += added < amount;
        } else if (mbp_bucket_consume(worker->bucket, amount)) {
            worker->consumed += amount;
        } else {
            worker->refused++;
        }
        worker->out_of_bounds += !mbp_bucket_is_valid(worker->bucket);
    }
    return NULL;
}

struct crowd {
    struct mbp_bucket bucket;
    struct start_line start;
    struct worker workers[WORKERS];
};

/* Small, so that the crowd meets both ends of it all the time. */
#define CROWD_CAPACITY (20 * MBP_TOKEN)

static struct crowd *gather_crowd(void)
{
    struct crowd *crowd = shared_memory(sizeof *crowd);
    mbp_bucket_init_once(&crowd->bucket, CROWD_CAPACITY);
    for (unsigned short i = 0; i < WORKERS; i++) {
        crowd->workers[i] =
            (struct worker){.bucket = &crowd->bucket, .start = &crowd->start, .seed = i};
    }
    return crowd;
}

static void check_conservation(const struct crowd *crowd)
{
    uint64_t expected = CROWD_CAPACITY;
    unsigned refused = 0;
    unsigned cut = 0;
    for (int i = 0; i < WORKERS; i++) {
        const struct worker *worker = &crowd->workers[i];
        expected += worker->deposited - worker->consumed;
        refused += worker->refused;
        cut += worker->cut;
        cr_expect_eq(worker->out_of_bounds, 0);
    }
    cr_expect_eq(mbp_bucket_balance(&crowd->bucket), expected);
    cr_expect_eq(mbp_bucket_capacity(&crowd->bucket), CROWD_CAPACITY);
    cr_expect(refused > 0 && cut > 0, "neither end was met: %u, %u", refused, cut);
}

Test(bucket, conserves_tokens_under_threads)
{
    struct crowd *crowd = gather_crowd();
    for (int i = 0; i < WORKERS; i++) {
        struct worker *worker = &crowd->workers[i];
        cr_assert_eq(pthread_create(&worker->thread, NULL, work, worker), 0);
    }
    start_line_open(&crowd->start, WORKERS);
    for (int i = 0; i < WORKERS; i++) {
        pthread_join(crowd->workers[i].thread, NULL);
    }
    check_conservation(crowd);
}

Test(bucket, conserves_tokens_under_processes)
{
    struct crowd *crowd = gather_crowd();
    pid_t children[WORKERS];
    for (int i = 0; i < WORKERS; i++) {
        children[i] = child_fork();
        if (children[i] == 0) {
            work(&crowd->workers[i]);
            _exit(0);
        }
    }
    start_line_open(&crowd->start, WORKERS);
    for (int i = 0; i < WORKERS; i++) {
        cr_expect(child_succeeded(children[i]));
    }
    check_conservation(crowd);
}
