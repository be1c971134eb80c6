#include "scratch.h"

#include "tests/support/processes.h"

#include <criterion/criterion.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <sys/mman.h>
#include <sys/select.h>
#include <unistd.h>

char scratch_bucket[MBP_BUCKET_NAME_MAX + 1];
char scratch_segment[MBP_SEGMENT_NAME_SIZE];
char scratch_path[MBP_SEGMENT_NAME_SIZE + 16];

static int life_line = -1;
static pid_t janitor;

/* Removes the segment once the test has ended, in whatever way: the pipe is
 * then closed by the kernel. Tests are crashed on purpose by those who change
 * the code, and what is left in /dev/shm stays until the next boot. */
static void start_janitor(void)
{
    int ends[2];
    cr_assert_eq(pipe2(ends, O_CLOEXEC), 0);
    janitor = fork();
    cr_assert_geq(janitor, 0);
    if (janitor == 0) {
        char byte;
        signal(SIGINT, SIG_IGN); /* Ctrl-C is for the tests; there is work left here */
        dup2(ends[0], 0);
        /* close_range would do, but glibc has it since 2.34 only. */
        for (int fd = 1; fd < FD_SETSIZE; fd++) {
            close(fd);
        }
        while (read(0, &byte, 1) > 0) {
        }
        remove(scratch_path);
        _exit(0);
    }
    close(ends[0]);
    life_line = ends[1];
}

void scratch_begin(void)
{
    snprintf(scratch_bucket, sizeof scratch_bucket, "test-%ld-%s", (long)getpid(),
        criterion_current_test->name);
    mbp_segment_name(scratch_segment, geteuid(), scratch_bucket);
    snprintf(scratch_path, sizeof scratch_path, "/dev/shm%s", scratch_segment);
    start_janitor();
}

void scratch_end(void)
{
    close(life_line);
    child_wait(janitor);
    cr_expect_neq(access(scratch_path, F_OK), 0, "%s is left", scratch_path);
}

int scratch_open(void)
{
    const int fd = open(scratch_path, O_RDWR | O_CREAT | O_CLOEXEC, 0600);
    cr_assert_geq(fd, 0, "%s", scratch_path);
    return fd;
}

struct mbp_layout *scratch_map(void)
{
    const int fd = scratch_open();
    cr_assert_eq(ftruncate(fd, sizeof(struct mbp_layout)), 0);
    void *memory = mmap(NULL, sizeof(struct mbp_layout), PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
    cr_assert_neq(memory, MAP_FAILED);
    close(fd);
    return memory;
}
