/*
 * How fast processes can use the bucket at once, beside what one would write
 * without it: a counter behind a robust process-shared mutex. And what a slot
 * for each process is good for.
 *
 *   bucket PROCESSES...
 *
 * Prints a line "CASE CONTENDER PROCESSES OPERATIONS-PER-SECOND", separated by
 * tabs, for each contender and each number of processes: the median of
 * several rounds, in which the contenders take turns.
 */
#include "common/engine.h"
#include "common/settings.h"

#include <errno.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

enum {
    MAX_PROCESSES = 64,
    ROUNDS = 5,
    BATCH = 256, /* operations between two looks at the clock */
    ROUND_MS = 150,
    PATIENCE_S = 60, /* then a process ends itself, whatever it waits for */
};

#define NS_PER_MS 1000000ull
#define CAPACITY (1000 * MBP_TOKEN)

/* What a budget looks like without atomics. */
struct guarded_counter {
    _Alignas(MBP_CACHE_LINE) pthread_mutex_t mutex;
    mbp_millitokens balance;
};

/* Seen by all processes of a round. */
struct arena {
    pthread_barrier_t barrier;
    _Atomic uint64_t stop_ns; /* set by the first process to start */
    struct guarded_counter counter;
    struct {
        _Alignas(MBP_CACHE_LINE) uint64_t operations;
        uint64_t end_ns;
    } results[MAX_PROCESSES];
};

/* One process of a round. */
struct worker {
    struct arena *arena;
    struct mbp_layout *layout;
    struct mbp_engine engine;
};

static void must(bool done, const char *what)
{
    if (!done) {
        fprintf(stderr, "bucket: can't %s: %s\n", what, strerror(errno));
        exit(EXIT_FAILURE);
    }
}

static uint64_t now_ns(void)
{
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (uint64_t)now.tv_sec * 1000000000ull + (uint64_t)now.tv_nsec;
}

static void lock(struct guarded_counter *counter)
{
    if (pthread_mutex_lock(&counter->mutex) != 0) {
        abort();
    }
}

static void guarded_deposit(struct guarded_counter *counter, mbp_millitokens amount)
{
    lock(counter);
    if (counter->balance + amount <= CAPACITY) {
        counter->balance += amount;
    }
    pthread_mutex_unlock(&counter->mutex);
}

static void guarded_consume(struct guarded_counter *counter, mbp_millitokens amount)
{
    lock(counter);
    if (counter->balance >= amount) {
        counter->balance -= amount;
    }
    pthread_mutex_unlock(&counter->mutex);
}

static void bucket_deposit_full(const struct worker *worker)
{
    mbp_bucket_deposit(&worker->layout->bucket, MBP_TOKEN);
}

static void mutex_deposit_full(const struct worker *worker)
{
    guarded_deposit(&worker->arena->counter, MBP_TOKEN);
}

static void bucket_consume_deposit(const struct worker *worker)
{
    mbp_bucket_consume(&worker->layout->bucket, MBP_TOKEN);
    mbp_bucket_deposit(&worker->layout->bucket, MBP_TOKEN);
}

static void mutex_consume_deposit(const struct worker *worker)
{
    guarded_consume(&worker->arena->counter, MBP_TOKEN);
    guarded_deposit(&worker->arena->counter, MBP_TOKEN);
}

static void settle_success(const struct worker *worker)
{
    mbp_engine_settle_first_success(&worker->engine);
}

struct contender {
    const char *test;
    const char *name;
    void (*operate)(const struct worker *);
    bool shares_slot;
};

/* Pairs, ours first. */
static const struct contender contenders[] = {
    {"deposit into a full bucket", "bucket", bucket_deposit_full, false},
    {"deposit into a full bucket", "mutex", mutex_deposit_full, false},
    {"consume and deposit", "bucket", bucket_consume_deposit, false},
    {"consume and deposit", "mutex", mutex_consume_deposit, false},
    {"settle a success", "own slot", settle_success, false},
    {"settle a success", "one slot for all", settle_success, true},
};

enum { CONTENDER_COUNT = sizeof contenders / sizeof contenders[0] };

static struct arena *make_arena(unsigned processes)
{
    struct arena *arena =
        mmap(NULL, sizeof *arena, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    must(arena != MAP_FAILED, "map memory");

    pthread_barrierattr_t barrier;
    pthread_barrierattr_init(&barrier);
    pthread_barrierattr_setpshared(&barrier, PTHREAD_PROCESS_SHARED);
    pthread_barrier_init(&arena->barrier, &barrier, processes);

    pthread_mutexattr_t mutex;
    pthread_mutexattr_init(&mutex);
    pthread_mutexattr_setpshared(&mutex, PTHREAD_PROCESS_SHARED);
    pthread_mutexattr_setrobust(&mutex, PTHREAD_MUTEX_ROBUST);
    pthread_mutex_init(&arena->counter.mutex, &mutex);
    arena->counter.balance = CAPACITY;
    return arena;
}

/* The round begins with the first process that gets past the barrier, and ends
 * at the same time for all. */
static void work(const struct worker *worker, const struct contender *contender, unsigned index)
{
    struct arena *arena = worker->arena;
    uint64_t operations = 0;
    uint64_t now;
    alarm(PATIENCE_S);
    pthread_barrier_wait(&arena->barrier);
    uint64_t stop_ns = 0;
    const uint64_t own_stop_ns = now_ns() + ROUND_MS * NS_PER_MS;
    if (atomic_compare_exchange_strong(&arena->stop_ns, &stop_ns, own_stop_ns)) {
        stop_ns = own_stop_ns;
    }
    while ((now = now_ns()) < stop_ns) {
        for (int i = 0; i < BATCH; i++) {
            contender->operate(worker);
        }
        operations += BATCH;
    }
    arena->results[index].operations = operations;
    arena->results[index].end_ns = now;
}

static void start(const struct worker *worker, const struct contender *contender, unsigned index)
{
    const pid_t pid = fork();
    must(pid >= 0, "fork");
    if (pid == 0) {
        struct worker own = *worker;
        own.engine.slot =
            contender->shares_slot ? &own.layout->overflow : &own.layout->slots[index];
        work(&own, contender, index);
        _exit(EXIT_SUCCESS);
    }
}

static double rate_of(const struct arena *arena, unsigned processes)
{
    const uint64_t start_ns = arena->stop_ns - ROUND_MS * NS_PER_MS;
    uint64_t end_ns = start_ns;
    uint64_t operations = 0;
    for (unsigned i = 0; i < processes; i++) {
        operations += arena->results[i].operations;
        end_ns = arena->results[i].end_ns > end_ns ? arena->results[i].end_ns : end_ns;
    }
    return (double)operations * 1e9 / (double)(end_ns - start_ns);
}

/* Operations per second of all processes together. */
static double run_round(const struct contender *contender, unsigned processes,
    const struct mbp_policy *policy, struct mbp_layout *layout)
{
    struct arena *arena = make_arena(processes);
    const struct worker worker = {
        .arena = arena,
        .layout = layout,
        .engine = {.policy = policy, .bucket = &layout->bucket},
    };
    for (unsigned i = 0; i < processes; i++) {
        start(&worker, contender, i);
    }
    for (unsigned i = 0; i < processes; i++) {
        int status;
        must(wait(&status) > 0 && status == 0, "finish a round");
    }
    const double rate = rate_of(arena, processes);
    munmap(arena, sizeof *arena);
    return rate;
}

static int compare(const void *one, const void *other)
{
    const double a = *(const double *)one;
    const double b = *(const double *)other;
    return (a > b) - (a < b);
}

static void keep_quiet(const char *complaint)
{
    (void)complaint;
}

static void measure(unsigned processes, const struct mbp_policy *policy, struct mbp_layout *layout)
{
    double rates[CONTENDER_COUNT][ROUNDS];
    for (int round = 0; round < ROUNDS; round++) {
        for (int i = 0; i < CONTENDER_COUNT; i++) {
            rates[i][round] = run_round(&contenders[i], processes, policy, layout);
        }
    }
    for (int i = 0; i < CONTENDER_COUNT; i++) {
        qsort(rates[i], ROUNDS, sizeof rates[i][0], compare);
        printf("%s\t%s\t%u\t%.0f\n", contenders[i].test, contenders[i].name, processes,
            rates[i][ROUNDS / 2]);
    }
    fflush(stdout);
}

int main(int argc, char **argv)
{
    char *const no_environment[] = {NULL};
    struct mbp_settings settings;
    mbp_settings_read(&settings, no_environment, keep_quiet);
    const struct mbp_policy policy = mbp_settings_policy(&settings);
    struct mbp_segment segment;
    mbp_segment_make_private(&segment, CAPACITY);

    for (int i = 1; i < argc; i++) {
        const long processes = strtol(argv[i], NULL, 10);
        if (processes < 1 || processes > MAX_PROCESSES) {
            fprintf(stderr, "usage: bucket PROCESSES... (1 to %d)\n", MAX_PROCESSES);
            return 2;
        }
        measure((unsigned)processes, &policy, segment.layout);
    }
    return EXIT_SUCCESS;
}
