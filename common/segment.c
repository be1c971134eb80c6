#include "segment.h"

#include "clock.h"

#include <errno.h>
#include <fcntl.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

void mbp_segment_name(char name[MBP_SEGMENT_NAME_SIZE], uid_t uid, const char *bucket)
{
    snprintf(name, MBP_SEGMENT_NAME_SIZE, "/mongobp-%lu-v%u-%.*s", (unsigned long)uid,
        MBP_LAYOUT_VERSION, MBP_BUCKET_NAME_MAX, bucket);
}

__attribute__((format(printf, 2, 3))) static bool fail(
    char fault[MBP_FAULT_SIZE], const char *format, ...)
{
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(fault, MBP_FAULT_SIZE, format, arguments);
    va_end(arguments);
    return false;
}

static bool fail_errno(char fault[MBP_FAULT_SIZE], const char *action)
{
    return fail(fault, "can't %s it: %s", action, strerror(errno));
}

static bool check_file(int fd, off_t *size, char fault[MBP_FAULT_SIZE])
{
    struct stat status;
    if (fstat(fd, &status) != 0) {
        return fail_errno(fault, "examine");
    }
    if (!S_ISREG(status.st_mode)) {
        return fail(fault, "it is not shared memory");
    }
    if (status.st_uid != geteuid()) {
        return fail(fault, "it belongs to user %lu", (unsigned long)status.st_uid);
    }
    if (status.st_mode & (S_IRWXG | S_IRWXO)) {
        return fail(fault, "others may use it (mode %03o)", status.st_mode & 0777u);
    }
    if (status.st_size != 0 && status.st_size != (off_t)sizeof(struct mbp_layout)) {
        return fail(fault, "its size is %lld, not %zu", (long long)status.st_size,
            sizeof(struct mbp_layout));
    }
    *size = status.st_size;
    return true;
}

/* To pass this limit is to get a signal that ends the program. */
static bool may_grow(void)
{
    struct rlimit limit;
    return getrlimit(RLIMIT_FSIZE, &limit) != 0 || limit.rlim_cur >= sizeof(struct mbp_layout);
}

/* Grows a new file and has the kernel set the memory aside: otherwise a full
 * /dev/shm would show only as a SIGBUS at some later write. Both calls change
 * nothing when another process was faster. */
static bool reserve_memory(int fd, off_t size, char fault[MBP_FAULT_SIZE])
{
    if (size == 0 && !may_grow()) {
        errno = EFBIG;
        return fail_errno(fault, "size");
    }
    if (ftruncate(fd, sizeof(struct mbp_layout)) != 0) {
        return fail_errno(fault, "size");
    }
    int result;
    do {
        result = fallocate(fd, 0, 0, sizeof(struct mbp_layout));
    } while (result != 0 && errno == EINTR);
    return result == 0 || fail_errno(fault, "reserve memory for");
}

static bool is_zero_or(uint64_t value, uint64_t expected)
{
    return value == 0 || value == expected;
}

static bool check_layout(const struct mbp_layout *layout, char fault[MBP_FAULT_SIZE])
{
    const uint64_t ready = atomic_load_explicit(&layout->ready, memory_order_acquire);
    if (ready != 0 && ready != MBP_LAYOUT_MAGIC) {
        return fail(fault, "it is not a segment of mongobp");
    }
    /* Before the ready word is there, each field is right or not yet written. */
    const bool fields_fit = ready ? layout->version == MBP_LAYOUT_VERSION &&
                                        layout->slot_size == sizeof(struct mbp_slot) &&
                                        layout->slot_count == MBP_SLOT_COUNT &&
                                        layout->total_size == sizeof(struct mbp_layout)
                                  : is_zero_or(layout->version, MBP_LAYOUT_VERSION) &&
                                        is_zero_or(layout->slot_size, sizeof(struct mbp_slot)) &&
                                        is_zero_or(layout->slot_count, MBP_SLOT_COUNT) &&
                                        is_zero_or(layout->total_size, sizeof(struct mbp_layout));
    if (!fields_fit) {
        return fail(fault, "it has another layout (version %u, %llu bytes)", layout->version,
            (unsigned long long)layout->total_size);
    }
    const bool bucket_fits =
        mbp_bucket_is_valid(&layout->bucket) || (!ready && layout->bucket.word == 0);
    if (!bucket_fits || layout->slots_used > MBP_SLOT_COUNT) {
        return fail(fault, "it is damaged");
    }
    return true;
}

/* Every step gives the same result whoever does it and however often. */
static void initialise(struct mbp_layout *layout, mbp_millitokens capacity)
{
    uint64_t untouched = 0;
    layout->version = MBP_LAYOUT_VERSION;
    layout->slot_size = sizeof(struct mbp_slot);
    layout->slot_count = MBP_SLOT_COUNT;
    layout->total_size = sizeof(struct mbp_layout);
    atomic_compare_exchange_strong(&layout->created_at_ms, &untouched, mbp_wall_clock_ms());
    mbp_bucket_init_once(&layout->bucket, capacity);
    atomic_store_explicit(&layout->ready, MBP_LAYOUT_MAGIC, memory_order_release);
}

static void *map(int fd, int protection, char fault[MBP_FAULT_SIZE])
{
    void *memory = mmap(NULL, sizeof(struct mbp_layout), protection, MAP_SHARED, fd, 0);
    if (memory == MAP_FAILED) {
        fail_errno(fault, "map");
        return NULL;
    }
    if (!check_layout(memory, fault)) {
        munmap(memory, sizeof(struct mbp_layout));
        return NULL;
    }
    return memory;
}

bool mbp_segment_attach(struct mbp_segment *segment, const char *name, mbp_millitokens capacity,
    char fault[MBP_FAULT_SIZE])
{
    const int fd = shm_open(name, O_RDWR | O_CREAT, S_IRUSR | S_IWUSR);
    if (fd < 0) {
        return fail_errno(fault, "open");
    }
    off_t size = 0;
    struct mbp_layout *layout = NULL;
    if (check_file(fd, &size, fault) && reserve_memory(fd, size, fault)) {
        layout = map(fd, PROT_READ | PROT_WRITE, fault);
    }
    close(fd);
    if (!layout) {
        return false;
    }
    if (atomic_load_explicit(&layout->ready, memory_order_acquire) != MBP_LAYOUT_MAGIC) {
        initialise(layout, capacity);
    }
    *segment = (struct mbp_segment){.layout = layout, .slot_count = MBP_SLOT_COUNT};
    return true;
}

bool mbp_segment_open_readonly(
    struct mbp_segment *segment, const char *name, bool *exists, char fault[MBP_FAULT_SIZE])
{
    /* Nonblocking: should it be a pipe, opening it would wait for a writer. */
    const int fd = shm_open(name, O_RDONLY | O_NONBLOCK, 0);
    *exists = fd >= 0 || errno != ENOENT;
    if (fd < 0) {
        return fail_errno(fault, "open");
    }
    off_t size = 0;
    struct mbp_layout *layout = NULL;
    if (check_file(fd, &size, fault)) {
        if (size == 0) {
            fail(fault, "it is empty");
        } else {
            layout = map(fd, PROT_READ, fault);
        }
    }
    close(fd);
    if (layout && atomic_load_explicit(&layout->ready, memory_order_acquire) == 0) {
        munmap(layout, sizeof(struct mbp_layout));
        return fail(fault, "it was never finished");
    }
    *segment = (struct mbp_segment){.layout = layout, .slot_count = MBP_SLOT_COUNT};
    return layout != NULL;
}

void mbp_segment_make_private(struct mbp_segment *segment, mbp_millitokens capacity)
{
    /* The head of the layout, with the overflow slot, for the case that there
     * is no memory to be had at all. */
    static _Alignas(MBP_CACHE_LINE) unsigned char last_resort[offsetof(struct mbp_layout, slots)];

    void *memory = mmap(NULL, sizeof(struct mbp_layout), PROT_READ | PROT_WRITE,
        MAP_SHARED | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    const bool mapped = memory != MAP_FAILED;
    *segment = (struct mbp_segment){
        .layout = mapped ? memory : (void *)last_resort,
        .slot_count = mapped ? MBP_SLOT_COUNT : 0,
        .is_private = true,
    };
    initialise(segment->layout, capacity);
}
