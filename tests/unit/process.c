/*
 * One process with mongobp in it. The state behind mbp_process_engine is set
 * up once in a process, which is why each test runs in one of its own.
 */
#include "common/process.h"

#include "scratch.h"
#include "tests/support/processes.h"
#include "tests/support/text.h"

#include <criterion/criterion.h>
#include <errno.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

/* Nothing of the user's own settings, and a bucket of the test's own. */
static void begin(void)
{
    scratch_begin();
    for (unsigned i = 0; i < MBP_SETTING_COUNT; i++) {
        unsetenv(mbp_setting_infos[i].variable);
    }
    setenv("MONGOBP_BUCKET", scratch_bucket, 1);
}

TestSuite(process, .init = begin, .fini = scratch_end);

/* The segment as others see it. */
static struct mbp_segment segment_of_others(void)
{
    struct mbp_segment segment;
    char fault[MBP_FAULT_SIZE] = "";
    bool exists;
    cr_assert(mbp_segment_open_readonly(&segment, scratch_segment, &exists, fault), "%s", fault);
    return segment;
}

static uint64_t total(const struct mbp_segment *segment, enum mbp_counter counter)
{
    uint64_t totals[MBP_COUNTER_COUNT];
    mbp_slots_totals(segment, totals);
    return totals[counter];
}

/* Starts mongobp and hands back what it had to say about it. */
static const struct mbp_engine *start(char *said, size_t size)
{
    struct capture capture = capture_begin(STDERR_FILENO);
    const struct mbp_engine *engine = mbp_process_engine();
    capture_end(&capture, said, size);
    return engine;
}

Test(process, first_command_attaches_and_later_ones_find_the_same)
{
    char said[4096];
    cr_expect_neq(access(scratch_path, F_OK), 0, "nothing before it");
    const struct mbp_engine *engine = start(said, sizeof said);
    cr_assert_not_null(engine);
    cr_expect_str_eq(said, "");
    cr_expect_eq(mbp_process_engine(), engine);
    cr_expect_not(engine->observe);
    mbp_engine_settle_first_success(engine);
    const struct mbp_segment segment = segment_of_others();
    cr_expect_eq(total(&segment, MBP_COUNT_operations), 1);
    cr_expect_eq(mbp_slot_pid(&segment.layout->slots[0]), getpid());
    cr_expect_eq(mbp_bucket_balance(&segment.layout->bucket), 1000 * MBP_TOKEN);
}

Test(process, errno_of_the_caller_is_kept)
{
    errno = 4242;
    cr_expect_not_null(mbp_process_engine());
    cr_expect_eq(errno, 4242, "errno is now %d", errno);
}

Test(process, settings_reach_the_engine)
{
    setenv("MONGOBP_MAX_RETRIES", "3", 1);
    setenv("MONGOBP_TIMEOUT_MS", "700", 1);
    setenv("MONGOBP_CAPACITY", "50", 1);
    setenv("MONGOBP_OBSERVE", "1", 1);
    setenv("MONGOBP_LOG", "info", 1);
    const struct mbp_engine *engine = mbp_process_engine();
    cr_assert_not_null(engine);
    cr_expect_eq(engine->policy->numbers.max_retries, 3);
    cr_expect_eq(engine->policy->timeout_ms, 700);
    cr_expect_eq(mbp_bucket_capacity(engine->bucket), 50 * MBP_TOKEN);
    cr_expect(engine->observe);
    cr_expect_eq(mbp_log_get_level(), MBP_LOG_INFO);
}

Test(process, disabled_has_no_engine_and_makes_no_segment)
{
    setenv("MONGOBP_DISABLE", "1", 1);
    cr_expect_null(mbp_process_engine());
    cr_expect_null(mbp_process_engine(), "nor later");
    cr_expect_neq(access(scratch_path, F_OK), 0);
}

Test(process, bad_setting_is_warned_about_once)
{
    char said[4096];
    setenv("MONGOBP_MAX_RETRIES", "many", 1);
    cr_assert_not_null(start(said, sizeof said));
    cr_expect_eq(text_count(said, "\n"), 1, "%s", said);
    cr_expect_not_null(strstr(said, "MONGOBP_MAX_RETRIES=\"many\""), "%s", said);
    mbp_process_engine();
}

Test(process, log_off_silences_the_warnings_whatever_the_order)
{
    char said[4096];
    setenv("MONGOBP_MAX_RETRIES", "many", 1); /* read before the level is known */
    setenv("MONGOBP_LOG", "off", 1);
    cr_assert_not_null(start(said, sizeof said));
    cr_expect_str_eq(said, "");
}

/* A child in the midst of its parent's work: it has the parent's bucket, but
 * neither its slot nor its jitter. */
static void count_in_child(void *parents)
{
    const struct mbp_engine *engine = mbp_process_engine();
    CHILD_EXPECT(engine->slot != parents);
    CHILD_EXPECT(mbp_slot_pid(engine->slot) == getpid());
    CHILD_EXPECT(strcmp(engine->slot->driver_version, "9.8.7") == 0);
    CHILD_EXPECT(mbp_bucket_consume(engine->bucket, MBP_TOKEN));
    mbp_slot_count(engine->slot, MBP_COUNT_operations, 10);
    CHILD_EXPECT(mbp_slot_own_count(engine->slot, MBP_COUNT_operations) == 10);
}

Test(process, forked_child_shares_the_bucket_and_has_a_slot_of_its_own)
{
    mbp_process_set_driver("9.8.7");
    const struct mbp_engine *engine = mbp_process_engine();
    cr_assert_not_null(engine);
    cr_expect_str_eq(engine->slot->driver_version, "9.8.7");
    mbp_slot_count(engine->slot, MBP_COUNT_operations, 1);
    cr_expect(succeeds_in_child(count_in_child, engine->slot));
    cr_expect(succeeds_in_child(count_in_child, engine->slot));
    cr_expect_eq(mbp_process_engine(), engine, "the parent goes on as before");
    cr_expect_eq(mbp_slot_own_count(engine->slot, MBP_COUNT_operations), 1);
    cr_expect_eq(mbp_bucket_balance(engine->bucket), 998 * MBP_TOKEN);
    const struct mbp_segment segment = segment_of_others();
    cr_expect_eq(total(&segment, MBP_COUNT_operations), 21);
    cr_expect_eq(segment.layout->slots_used, 2, "the second child has the slot of the first");
}

static void count_first_in_child(void *unused)
{
    (void)unused;
    CHILD_EXPECT(mbp_process_engine() != NULL);
    mbp_engine_settle_first_success(mbp_process_engine());
}

Test(process, child_of_a_parent_that_never_began)
{
    cr_expect(succeeds_in_child(count_first_in_child, NULL));
    cr_assert_not_null(mbp_process_engine());
    mbp_engine_settle_first_success(mbp_process_engine());
    const struct mbp_segment segment = segment_of_others();
    cr_expect_eq(total(&segment, MBP_COUNT_operations), 2);
}

Test(process, driver_that_is_known_later_is_noted_too)
{
    const struct mbp_engine *engine = mbp_process_engine();
    cr_expect_str_eq(engine->slot->driver_version, "");
    mbp_process_set_driver("1.30.0");
    cr_expect_str_eq(engine->slot->driver_version, "1.30.0");
}

#define DRAWS 4
#define DRAWERS 4

static void draw(double *drawn)
{
    const struct mbp_engine *engine = mbp_process_engine();
    for (int i = 0; i < DRAWS; i++) {
        drawn[i] = engine->jitter.next(engine->jitter.state);
    }
}

static void draw_in_child(void *drawn)
{
    draw(drawn);
}

/* Or they would all come back to the server at the same moment. */
Test(process, forked_children_wait_in_no_step)
{
    double *drawn = shared_memory(DRAWERS * DRAWS * sizeof *drawn);
    mbp_process_engine();
    for (int i = 1; i < DRAWERS; i++) {
        cr_assert(succeeds_in_child(draw_in_child, drawn + (ptrdiff_t)i * DRAWS));
    }
    draw(drawn);
    for (int i = 0; i < DRAWERS * DRAWS; i++) {
        for (int j = 0; j < i; j++) {
            cr_expect_neq(drawn[i], drawn[j], "%d and %d", i, j);
        }
    }
}

#define THREADS 16
#define COMMANDS 1000

static void *run_commands(void *line)
{
    start_line_wait(line);
    for (int i = 0; i < COMMANDS; i++) {
        mbp_engine_settle_first_success(mbp_process_engine());
    }
    return NULL;
}

Test(process, threads_that_all_come_first_lose_no_count)
{
    struct start_line line = {0};
    pthread_t threads[THREADS];
    for (int i = 0; i < THREADS; i++) {
        cr_assert_eq(pthread_create(&threads[i], NULL, run_commands, &line), 0);
    }
    start_line_open(&line, THREADS);
    for (int i = 0; i < THREADS; i++) {
        pthread_join(threads[i], NULL);
    }
    const struct mbp_segment segment = segment_of_others();
    cr_expect_eq(total(&segment, MBP_COUNT_operations), THREADS * COMMANDS);
    cr_expect_eq(total(&segment, MBP_COUNT_first_successes), THREADS * COMMANDS);
    cr_expect_eq(segment.layout->slots_used, 1);
}

static void *run_command(void *line)
{
    start_line_wait(line);
    mbp_engine_settle_first_success(mbp_process_engine());
    return NULL;
}

/* Forks while another thread is in the middle of setting up. A lock that it
 * holds is held for ever in the child; the alarm would then end it. */
static void fork_during_first_command(void *unused)
{
    (void)unused;
    struct start_line line = {0};
    pthread_t thread;
    CHILD_EXPECT(pthread_create(&thread, NULL, run_command, &line) == 0);
    start_line_open(&line, 1);
    const pid_t grandchild = child_fork();
    if (grandchild == 0) {
        alarm(30);
        count_first_in_child(NULL);
        _exit(0);
    }
    CHILD_EXPECT(child_succeeded(grandchild));
    pthread_join(thread, NULL);
}

Test(process, fork_amid_the_first_command_of_another_thread)
{
    enum { ROUNDS = 100 };
    for (int i = 0; i < ROUNDS; i++) {
        cr_assert(succeeds_in_child(fork_during_first_command, NULL), "round %d", i);
    }
    const struct mbp_segment segment = segment_of_others();
    cr_expect_eq(total(&segment, MBP_COUNT_operations), 2 * ROUNDS);
}

static void spend_in_child(void *unused)
{
    (void)unused;
    CHILD_EXPECT(mbp_bucket_consume(mbp_process_engine()->bucket, MBP_TOKEN));
}

Test(process, segment_of_somebody_else_ends_in_a_private_bucket_and_one_warning)
{
    char said[4096];
    struct stat after;
    struct mbp_layout *foreign = scratch_map();
    foreign->ready = 0x1234;
    foreign->bucket.word = 77;
    const struct mbp_engine *engine = start(said, sizeof said);
    cr_assert_not_null(engine);
    cr_expect_eq(text_count(said, "\n"), 1, "%s", said);
    cr_expect_eq(text_count(said, " warning: "), 1, "%s", said);
    cr_expect_not_null(strstr(said, scratch_segment), "%s", said);
    cr_expect_not_null(strstr(said, "not a segment of mongobp"), "%s", said);

    cr_expect_eq(mbp_bucket_balance(engine->bucket), 1000 * MBP_TOKEN);
    mbp_engine_settle_first_success(engine);
    cr_expect_eq(mbp_slot_own_count(engine->slot, MBP_COUNT_operations), 1);
    cr_expect(succeeds_in_child(spend_in_child, NULL));
    cr_expect_eq(mbp_bucket_balance(engine->bucket), 999 * MBP_TOKEN, "shared with children");

    cr_expect_eq(foreign->ready, 0x1234);
    cr_expect_eq(foreign->bucket.word, 77);
    cr_expect_eq(foreign->slots_used, 0);
    cr_assert_eq(stat(scratch_path, &after), 0);
    cr_expect_eq(after.st_size, (off_t)sizeof *foreign);
}

static void make_segment(mbp_millitokens capacity)
{
    struct mbp_segment segment;
    char fault[MBP_FAULT_SIZE] = "";
    cr_assert(mbp_segment_attach(&segment, scratch_segment, capacity, fault), "%s", fault);
}

Test(process, capacity_that_comes_too_late_is_warned_about)
{
    char said[4096];
    make_segment(1000 * MBP_TOKEN);
    setenv("MONGOBP_CAPACITY", "5", 1);
    const struct mbp_engine *engine = start(said, sizeof said);
    cr_assert_not_null(engine);
    cr_expect_eq(text_count(said, "\n"), 1, "%s", said);
    cr_expect_not_null(strstr(said, "MONGOBP_CAPACITY=5"), "%s", said);
    cr_expect_not_null(strstr(said, "1000"), "%s", said);
    cr_expect_eq(mbp_bucket_capacity(engine->bucket), 1000 * MBP_TOKEN);
}

Test(process, capacity_that_was_not_asked_for_is_not)
{
    char said[4096];
    make_segment(7 * MBP_TOKEN);
    const struct mbp_engine *engine = start(said, sizeof said);
    cr_assert_not_null(engine);
    cr_expect_str_eq(said, "");
    cr_expect_eq(mbp_bucket_capacity(engine->bucket), 7 * MBP_TOKEN);
}
