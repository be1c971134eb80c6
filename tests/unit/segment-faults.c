/*
 * What can be wrong with a segment. Each fault ends in false and a phrase that
 * names it, leaves the thing as it was, and nothing open or mapped.
 */
#include "common/segment.h"

#include "scratch.h"
#include "tests/support/processes.h"
#include "tests/support/text.h"

#include <criterion/criterion.h>
#include <dirent.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

TestSuite(segment_faults, .init = scratch_begin, .fini = scratch_end);

#define CAPACITY (1000 * MBP_TOKEN)
#define NOBODY 65534

static unsigned count_open_files(void)
{
    unsigned count = 0;
    DIR *directory = opendir("/proc/self/fd");
    cr_assert_not_null(directory);
    while (readdir(directory)) {
        count++;
    }
    closedir(directory);
    return count;
}

static size_t count_mappings(void)
{
    char *maps = text_of_file("/proc/self/maps");
    cr_assert_not_null(maps);
    const size_t count = text_count(maps, scratch_segment);
    free(maps);
    return count;
}

/* Attaching is refused with that phrase, and nothing is kept. */
static void expect_fault(const char *what, const char *name, const char *phrase)
{
    struct mbp_segment segment = {0};
    char fault[MBP_FAULT_SIZE] = "";
    const unsigned open_before = count_open_files();
    const size_t mapped_before = count_mappings();
    cr_expect_not(mbp_segment_attach(&segment, name, CAPACITY, fault), "%s", what);
    cr_expect_not_null(strstr(fault, phrase), "%s: \"%s\"", what, fault);
    cr_expect_null(strchr(fault, '\n'), "%s: \"%s\"", what, fault);
    cr_expect_eq(count_open_files(), open_before, "%s", what);
    cr_expect_eq(count_mappings(), mapped_before, "%s", what);
}

static void expect_fault_of_reader(const char *what, const char *name, const char *phrase)
{
    struct mbp_segment segment = {0};
    char fault[MBP_FAULT_SIZE] = "";
    bool exists = false;
    const unsigned open_before = count_open_files();
    const size_t mapped_before = count_mappings();
    cr_expect_not(mbp_segment_open_readonly(&segment, name, &exists, fault), "%s", what);
    cr_expect(exists, "%s", what);
    cr_expect_not_null(strstr(fault, phrase), "%s, read: \"%s\"", what, fault);
    cr_expect_eq(count_open_files(), open_before, "%s", what);
    cr_expect_eq(count_mappings(), mapped_before, "%s", what);
}

/* Makes a good segment, for something to be wrong with. */
static struct mbp_layout *make_good(void)
{
    struct mbp_segment segment;
    char fault[MBP_FAULT_SIZE] = "";
    cr_assert(mbp_segment_attach(&segment, scratch_segment, CAPACITY, fault), "%s", fault);
    return segment.layout;
}

static void foreign_magic(struct mbp_layout *layout)
{
    layout->ready = MBP_LAYOUT_MAGIC + 1;
}

static void later_version(struct mbp_layout *layout)
{
    layout->version = MBP_LAYOUT_VERSION + 1;
}

static void no_version(struct mbp_layout *layout)
{
    layout->version = 0;
}

static void other_slot_size(struct mbp_layout *layout)
{
    layout->slot_size = sizeof(struct mbp_slot) + 64;
}

static void other_slot_count(struct mbp_layout *layout)
{
    layout->slot_count = MBP_SLOT_COUNT / 2;
}

static void other_total_size(struct mbp_layout *layout)
{
    layout->total_size = sizeof(struct mbp_layout) - 64;
}

static void unfinished_by_another_version(struct mbp_layout *layout)
{
    layout->ready = 0;
    layout->version = MBP_LAYOUT_VERSION + 1;
}

static void balance_above_capacity(struct mbp_layout *layout)
{
    layout->bucket.word = (uint64_t)CAPACITY << 32 | (CAPACITY + 1);
}

static void no_capacity(struct mbp_layout *layout)
{
    layout->bucket.word = 5;
}

static void ready_without_bucket(struct mbp_layout *layout)
{
    layout->bucket.word = 0;
}

static void unfinished_with_damaged_bucket(struct mbp_layout *layout)
{
    layout->ready = 0;
    layout->bucket.word = (uint64_t)1 << 32 | 2;
}

static void too_many_slots_used(struct mbp_layout *layout)
{
    layout->slots_used = MBP_SLOT_COUNT + 1;
}

static void random_bytes(struct mbp_layout *layout)
{
    unsigned short random[3] = {1, 2, 3};
    uint32_t *words = (uint32_t *)(void *)layout;
    for (size_t i = 0; i < sizeof *layout / sizeof *words; i++) {
        words[i] = (uint32_t)jrand48(random);
    }
}

Test(segment_faults, wrong_content)
{
    static const struct {
        const char *what;
        void (*spoil)(struct mbp_layout *layout);
        const char *phrase;
    } rows[] = {
        {"foreign magic", foreign_magic, "not a segment of mongobp"},
        {"random bytes", random_bytes, "not a segment of mongobp"},
        {"later version", later_version, "another layout (version 2"},
        {"no version", no_version, "another layout (version 0"},
        {"other slot size", other_slot_size, "another layout"},
        {"other slot count", other_slot_count, "another layout"},
        {"other total size", other_total_size, "another layout (version 1, 3148992 bytes)"},
        {"unfinished, other version", unfinished_by_another_version, "another layout (version 2"},
        {"balance above capacity", balance_above_capacity, "damaged"},
        {"no capacity", no_capacity, "damaged"},
        {"ready without bucket", ready_without_bucket, "damaged"},
        {"unfinished, damaged", unfinished_with_damaged_bucket, "damaged"},
        {"too many slots used", too_many_slots_used, "damaged"},
    };
    void *before = malloc(sizeof(struct mbp_layout));
    cr_assert_not_null(before);
    for (unsigned i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        struct mbp_layout *layout = make_good();
        rows[i].spoil(layout);
        memcpy(before, layout, sizeof *layout);
        expect_fault(rows[i].what, scratch_segment, rows[i].phrase);
        expect_fault_of_reader(rows[i].what, scratch_segment, rows[i].phrase);
        cr_expect_eq(memcmp(before, layout, sizeof *layout), 0, "%s: changed", rows[i].what);
        munmap(layout, sizeof *layout);
        cr_assert_eq(shm_unlink(scratch_segment), 0);
    }
    free(before);
}

Test(segment_faults, wrong_size)
{
    static const off_t sizes[] = {1, 64, 4096, sizeof(struct mbp_layout) - 1,
        sizeof(struct mbp_layout) + 1, 2 * sizeof(struct mbp_layout)};
    for (unsigned i = 0; i < sizeof sizes / sizeof sizes[0]; i++) {
        char phrase[64];
        struct stat after;
        munmap(make_good(), sizeof(struct mbp_layout));
        cr_assert_eq(truncate(scratch_path, sizes[i]), 0);
        snprintf(phrase, sizeof phrase, "its size is %lld, not 3149056", (long long)sizes[i]);
        expect_fault("size", scratch_segment, phrase);
        expect_fault_of_reader("size", scratch_segment, phrase);
        cr_assert_eq(stat(scratch_path, &after), 0);
        cr_expect_eq(after.st_size, sizes[i]);
        cr_assert_eq(shm_unlink(scratch_segment), 0);
    }
}

Test(segment_faults, open_to_others)
{
    static const mode_t modes[] = {0666, 0660, 0640, 0604, 0602, 0610};
    munmap(make_good(), sizeof(struct mbp_layout));
    for (unsigned i = 0; i < sizeof modes / sizeof modes[0]; i++) {
        char phrase[32];
        struct stat after;
        cr_assert_eq(chmod(scratch_path, modes[i]), 0);
        snprintf(phrase, sizeof phrase, "(mode %03o)", modes[i]);
        expect_fault("mode", scratch_segment, phrase);
        expect_fault_of_reader("mode", scratch_segment, phrase);
        cr_assert_eq(stat(scratch_path, &after), 0);
        cr_expect_eq(after.st_mode & 07777u, modes[i]);
    }
}

Test(segment_faults, not_a_file)
{
    cr_assert_eq(mkdir(scratch_path, 0700), 0);
    expect_fault("directory", scratch_segment, "can't open it");
    cr_assert_eq(rmdir(scratch_path), 0);

    cr_assert_eq(mkfifo(scratch_path, 0600), 0);
    expect_fault("pipe", scratch_segment, "it is not shared memory");
    cr_assert_eq(unlink(scratch_path), 0);

    /* It could make the library write to any file of the user's. */
    cr_assert_eq(symlink("/tmp/mongobp-no-such-target", scratch_path), 0);
    expect_fault("link", scratch_segment, "can't open it");
    cr_expect_neq(access("/tmp/mongobp-no-such-target", F_OK), 0);
}

/* To open a pipe is to wait for its other end, unless one says otherwise. */
static void read_pipe(void *unused)
{
    (void)unused;
    struct mbp_segment segment;
    char fault[MBP_FAULT_SIZE] = "";
    bool exists = false;
    alarm(10);
    CHILD_EXPECT(!mbp_segment_open_readonly(&segment, scratch_segment, &exists, fault));
    CHILD_EXPECT(exists);
    CHILD_EXPECT(strstr(fault, "it is not shared memory"));
}

Test(segment_faults, reader_does_not_wait_for_a_pipe)
{
    cr_assert_eq(mkfifo(scratch_path, 0600), 0);
    cr_expect(succeeds_in_child(read_pipe, NULL));
}

Test(segment_faults, impossible_names)
{
    char longest[300] = "/";
    memset(longest + 1, 'x', sizeof longest - 2);
    static const char *const names[] = {"", "/", "/..", "/mongobp-no-such-folder/segment"};
    for (unsigned i = 0; i < sizeof names / sizeof names[0]; i++) {
        expect_fault(names[i], names[i], "can't open it");
    }
    expect_fault("long name", longest, "can't open it");
}

/* Attaches as an ordinary user, who is not above the mode of a file. */
static void attach_unprivileged(void *unused)
{
    (void)unused;
    struct mbp_segment segment;
    char fault[MBP_FAULT_SIZE] = "";
    bool exists = false;
    if (geteuid() == 0) {
        CHILD_EXPECT(seteuid(NOBODY) == 0);
    }
    CHILD_EXPECT(!mbp_segment_attach(&segment, scratch_segment, CAPACITY, fault));
    CHILD_EXPECT(strstr(fault, "can't open it: Permission denied"));
    CHILD_EXPECT(mbp_segment_open_readonly(&segment, scratch_segment, &exists, fault));
    CHILD_EXPECT(exists);
}

Test(segment_faults, read_only_for_a_writer)
{
    munmap(make_good(), sizeof(struct mbp_layout));
    cr_assert_eq(chmod(scratch_path, 0400), 0);
    if (geteuid() == 0) {
        cr_assert_eq(chown(scratch_path, NOBODY, (gid_t)-1), 0);
    }
    cr_expect(succeeds_in_child(attach_unprivileged, NULL));
}

/* Only root can give a file away; the others see that theirs stays usable. */
Test(segment_faults, belongs_to_somebody_else)
{
    const struct mbp_layout *layout = make_good();
    if (geteuid() == 0) {
        struct stat after;
        cr_assert_eq(chown(scratch_path, NOBODY, (gid_t)-1), 0);
        /* fs.protected_regular makes the kernel refuse before we can. */
        char *protection = text_of_file("/proc/sys/fs/protected_regular");
        const bool by_kernel = protection && protection[0] != '0';
        free(protection);
        expect_fault(
            "owner", scratch_segment, by_kernel ? "can't open it" : "it belongs to user 65534");
        expect_fault_of_reader("owner", scratch_segment, "it belongs to user 65534");
        cr_assert_eq(stat(scratch_path, &after), 0);
        cr_expect_eq(after.st_uid, (uid_t)NOBODY);
    }
    cr_expect_eq(mbp_bucket_balance(&layout->bucket), CAPACITY);
}

/* Stands for a /dev/shm that is full: the file can't grow. */
static void attach_without_room(void *disposition)
{
    struct mbp_segment segment;
    char fault[MBP_FAULT_SIZE] = "";
    const struct rlimit small = {.rlim_cur = 4096, .rlim_max = 4096};
    const struct rlimit no_core = {0};
    CHILD_EXPECT(signal(SIGXFSZ, *(sighandler_t *)disposition) != SIG_ERR);
    CHILD_EXPECT(setrlimit(RLIMIT_CORE, &no_core) == 0);
    CHILD_EXPECT(setrlimit(RLIMIT_FSIZE, &small) == 0);
    CHILD_EXPECT(!mbp_segment_attach(&segment, scratch_segment, CAPACITY, fault));
    CHILD_EXPECT(strstr(fault, "can't size it: File too large"));
}

Test(segment_faults, no_room)
{
    sighandler_t ignored = SIG_IGN;
    cr_expect(succeeds_in_child(attach_without_room, &ignored));
    munmap(make_good(), sizeof(struct mbp_layout)); /* and later, with room, all is well */
}

/* The signal that comes with it ends a program that has not asked for it. */
Test(segment_faults, no_room_does_not_end_the_program)
{
    sighandler_t deadly = SIG_DFL;
    cr_expect(succeeds_in_child(attach_without_room, &deadly));
}
