#include "common/segment.h"

#include "scratch.h"
#include "tests/support/processes.h"

#include <criterion/criterion.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

TestSuite(segment, .init = scratch_begin, .fini = scratch_end);

#define CAPACITY (1000 * MBP_TOKEN)

static struct mbp_segment attach(void)
{
    struct mbp_segment segment = {0};
    char fault[MBP_FAULT_SIZE] = "";
    cr_assert(mbp_segment_attach(&segment, scratch_segment, CAPACITY, fault), "%s", fault);
    return segment;
}

static void check_ready(const struct mbp_segment *segment)
{
    const struct mbp_layout *layout = segment->layout;
    cr_expect_eq(layout->ready, MBP_LAYOUT_MAGIC);
    cr_expect_eq(layout->version, MBP_LAYOUT_VERSION);
    cr_expect_eq(layout->slot_size, sizeof(struct mbp_slot));
    cr_expect_eq(layout->slot_count, MBP_SLOT_COUNT);
    cr_expect_eq(layout->total_size, sizeof(struct mbp_layout));
    cr_expect_neq(layout->created_at_ms, 0);
    cr_expect_eq(segment->slot_count, MBP_SLOT_COUNT);
    cr_expect(mbp_bucket_is_valid(&layout->bucket));
}

Test(segment, name_is_made_of_user_version_and_bucket)
{
    char name[MBP_SEGMENT_NAME_SIZE];
    char longest[MBP_BUCKET_NAME_MAX + 1];
    mbp_segment_name(name, 1234, "default");
    cr_expect_str_eq(name, "/mongobp-1234-v1-default");
    memset(longest, 'x', MBP_BUCKET_NAME_MAX);
    longest[MBP_BUCKET_NAME_MAX] = '\0';
    mbp_segment_name(name, (uid_t)-2, longest);
    cr_expect_str_eq(strrchr(name, '-') + 1, longest, "the longest name is not cut");
}

Test(segment, is_made_where_there_is_none)
{
    struct stat status;
    const struct mbp_segment segment = attach();
    check_ready(&segment);
    cr_expect_not(segment.is_private);
    cr_expect_eq(mbp_bucket_balance(&segment.layout->bucket), CAPACITY);
    cr_expect_eq(segment.layout->slots_used, 0);
    cr_assert_eq(stat(scratch_path, &status), 0);
    cr_expect_eq(status.st_mode & 07777u, 0600u, "%o", status.st_mode);
    cr_expect_eq(status.st_size, (off_t)sizeof(struct mbp_layout));
    /* All of it is set aside: a full /dev/shm must show here, not as SIGBUS. */
    cr_expect_geq(status.st_blocks * 512, (off_t)sizeof(struct mbp_layout));
}

Test(segment, two_that_attach_have_the_same)
{
    const struct mbp_segment one = attach();
    cr_assert(mbp_bucket_consume(&one.layout->bucket, 7 * MBP_TOKEN));
    const uint64_t created_at_ms = one.layout->created_at_ms;
    const struct mbp_segment other = attach();
    cr_expect_neq(one.layout, other.layout);
    cr_expect_eq(mbp_bucket_balance(&other.layout->bucket), 993 * MBP_TOKEN);
    cr_assert(mbp_bucket_consume(&other.layout->bucket, 3 * MBP_TOKEN));
    cr_expect_eq(mbp_bucket_balance(&one.layout->bucket), 990 * MBP_TOKEN);
    cr_expect_eq(other.layout->created_at_ms, created_at_ms);
}

Test(segment, capacity_is_that_of_whoever_made_it)
{
    struct mbp_segment other;
    char fault[MBP_FAULT_SIZE];
    const struct mbp_segment one = attach();
    cr_assert(mbp_segment_attach(&other, scratch_segment, 5 * MBP_TOKEN, fault));
    cr_expect_eq(mbp_bucket_capacity(&other.layout->bucket), CAPACITY);
    cr_expect_eq(mbp_bucket_balance(&one.layout->bucket), CAPACITY);
}

/* What a process leaves behind that is killed while it makes the segment. */
enum stage { CREATED, SIZED, VERSION_WRITTEN, CONSTANTS_WRITTEN, BUCKET_FILLED };

static void leave_at(enum stage stage)
{
    if (stage == CREATED) {
        close(scratch_open());
        return;
    }
    struct mbp_layout *layout = scratch_map();
    if (stage >= VERSION_WRITTEN) {
        layout->version = MBP_LAYOUT_VERSION;
    }
    if (stage >= CONSTANTS_WRITTEN) {
        layout->slot_size = sizeof(struct mbp_slot);
        layout->slot_count = MBP_SLOT_COUNT;
        layout->total_size = sizeof(struct mbp_layout);
    }
    if (stage >= BUCKET_FILLED) {
        /* Others may have used it already: they know no creator. */
        mbp_bucket_init_once(&layout->bucket, CAPACITY);
        cr_assert(mbp_bucket_consume(&layout->bucket, 600 * MBP_TOKEN));
    }
    munmap(layout, sizeof *layout);
}

Test(segment, crash_at_any_stage_of_creation_wedges_nobody)
{
    for (int stage = CREATED; stage <= BUCKET_FILLED; stage++) {
        leave_at((enum stage)stage);
        const struct mbp_segment segment = attach();
        check_ready(&segment);
        cr_expect_eq(mbp_bucket_capacity(&segment.layout->bucket), CAPACITY, "stage %d", stage);
        cr_expect_eq(mbp_bucket_balance(&segment.layout->bucket),
            stage == BUCKET_FILLED ? 400 * MBP_TOKEN : CAPACITY, "stage %d", stage);
        cr_assert_eq(shm_unlink(scratch_segment), 0);
    }
}

Test(segment, reader_makes_nothing)
{
    struct mbp_segment segment;
    char fault[MBP_FAULT_SIZE] = "";
    bool exists = true;
    cr_expect_not(mbp_segment_open_readonly(&segment, scratch_segment, &exists, fault));
    cr_expect_not(exists);
    cr_expect_neq(access(scratch_path, F_OK), 0);
}

Test(segment, reader_finishes_nothing)
{
    for (int stage = CREATED; stage <= BUCKET_FILLED; stage++) {
        struct mbp_segment segment;
        struct stat before, after;
        char fault[MBP_FAULT_SIZE] = "";
        bool exists = false;
        leave_at((enum stage)stage);
        cr_assert_eq(stat(scratch_path, &before), 0);
        cr_expect_not(mbp_segment_open_readonly(&segment, scratch_segment, &exists, fault));
        cr_expect(exists, "stage %d", stage);
        cr_expect_str_neq(fault, "", "stage %d", stage);
        cr_assert_eq(stat(scratch_path, &after), 0);
        cr_expect_eq(after.st_size, before.st_size, "stage %d", stage);
        cr_assert_eq(shm_unlink(scratch_segment), 0);
    }
}

/* Asks the kernel to write there, which says no where we would crash. */
static bool is_writable(void *address)
{
    const int zeros = open("/dev/zero", O_RDONLY | O_CLOEXEC);
    const bool written = read(zeros, address, 1) == 1;
    cr_assert(written || errno == EFAULT);
    close(zeros);
    return written;
}

Test(segment, reader_sees_all_and_can_write_nothing)
{
    struct mbp_segment reader;
    char fault[MBP_FAULT_SIZE] = "";
    bool exists = false;
    const struct mbp_segment writer = attach();
    cr_assert(mbp_segment_open_readonly(&reader, scratch_segment, &exists, fault), "%s", fault);
    cr_expect(exists);
    cr_expect_not(reader.is_private);
    cr_assert(mbp_bucket_consume(&writer.layout->bucket, MBP_TOKEN));
    cr_expect_eq(mbp_bucket_balance(&reader.layout->bucket), 999 * MBP_TOKEN);
    check_ready(&reader);
    cr_expect_not(is_writable(&reader.layout->bucket));
    cr_expect_not(is_writable(&reader.layout->slots[MBP_SLOT_COUNT - 1]));
    cr_expect_eq(mbp_bucket_balance(&writer.layout->bucket), 999 * MBP_TOKEN);
}

static void consume_ten(void *segment)
{
    struct mbp_layout *layout = ((struct mbp_segment *)segment)->layout;
    CHILD_EXPECT(mbp_bucket_consume(&layout->bucket, 10 * MBP_TOKEN));
}

Test(segment, private_one_works_and_is_shared_with_children)
{
    struct mbp_segment segment;
    mbp_segment_make_private(&segment, CAPACITY);
    check_ready(&segment);
    cr_expect(segment.is_private);
    cr_expect_eq(mbp_bucket_balance(&segment.layout->bucket), CAPACITY);
    cr_expect(succeeds_in_child(consume_ten, &segment));
    cr_expect_eq(mbp_bucket_balance(&segment.layout->bucket), 990 * MBP_TOKEN);
    cr_expect_neq(access(scratch_path, F_OK), 0, "and leaves no trace");
}

/* In a child: nobody else there asks for memory while there is none. */
static void make_private_without_memory(void *unused)
{
    (void)unused;
    struct mbp_segment segment;
    struct rlimit before;
    getrlimit(RLIMIT_AS, &before);
    const struct rlimit nothing = {.rlim_cur = 1, .rlim_max = before.rlim_max};
    CHILD_EXPECT(setrlimit(RLIMIT_AS, &nothing) == 0);
    mbp_segment_make_private(&segment, CAPACITY);
    CHILD_EXPECT(setrlimit(RLIMIT_AS, &before) == 0);
    CHILD_EXPECT(segment.is_private);
    CHILD_EXPECT(segment.slot_count == 0); /* the overflow slot is all there is */
    CHILD_EXPECT(segment.layout->ready == MBP_LAYOUT_MAGIC);
    CHILD_EXPECT(mbp_bucket_balance(&segment.layout->bucket) == CAPACITY);
    CHILD_EXPECT(mbp_bucket_consume(&segment.layout->bucket, MBP_TOKEN));
    segment.layout->overflow.counters[MBP_SLOT_COUNTERS - 1]++;
}

Test(segment, private_one_is_there_even_without_memory)
{
    cr_expect(succeeds_in_child(make_private_without_memory, NULL));
}

/* All at once on no segment, so that creation itself is raced. */
Test(segment, sixty_four_processes_start_at_once)
{
    enum { PROCESSES = 64, TOKENS_EACH = 10 };
    struct start_line *start = shared_memory(sizeof *start);
    pid_t children[PROCESSES];
    for (int i = 0; i < PROCESSES; i++) {
        children[i] = child_fork();
        if (children[i] == 0) {
            struct mbp_segment segment;
            char fault[MBP_FAULT_SIZE];
            start_line_wait(start);
            CHILD_EXPECT(mbp_segment_attach(&segment, scratch_segment, CAPACITY, fault));
            for (int token = 0; token < TOKENS_EACH; token++) {
                CHILD_EXPECT(mbp_bucket_consume(&segment.layout->bucket, MBP_TOKEN));
            }
            _exit(0);
        }
    }
    start_line_open(start, PROCESSES);
    for (int i = 0; i < PROCESSES; i++) {
        cr_expect(child_succeeded(children[i]), "process %d", i);
    }
    const struct mbp_segment segment = attach();
    check_ready(&segment);
    cr_expect_eq(mbp_bucket_balance(&segment.layout->bucket), 360 * MBP_TOKEN);
}
