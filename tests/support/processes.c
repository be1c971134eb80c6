#include "processes.h"

#include <errno.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

pid_t child_fork(void)
{
    const pid_t parent = getpid();
    const pid_t child = fork();
    if (child < 0) {
        perror("fork");
        abort();
    }
    if (child == 0) {
        prctl(PR_SET_PDEATHSIG, SIGKILL);
        if (getppid() != parent) { /* it ended before the line above */
            _exit(1);
        }
    }
    return child;
}

int child_wait(pid_t child)
{
    int status = -1;
    while (waitpid(child, &status, 0) < 0 && errno == EINTR) {
    }
    return status;
}

bool child_succeeded(pid_t child)
{
    const int status = child_wait(child);
    return WIFEXITED(status) && WEXITSTATUS(status) == 0;
}

bool child_kill(pid_t child)
{
    kill(child, SIGKILL);
    const int status = child_wait(child);
    return WIFSIGNALED(status) && WTERMSIG(status) == SIGKILL;
}

static bool has_ended(idtype_t type, pid_t child)
{
    siginfo_t info = {0};
    return waitid(type, (id_t)child, &info, WEXITED | WNOHANG | WNOWAIT) == 0 && info.si_pid != 0;
}

bool child_has_ended(pid_t child)
{
    return has_ended(P_PID, child);
}

bool succeeds_in_child(void (*body)(void *argument), void *argument)
{
    const pid_t child = child_fork();
    if (child == 0) {
        body(argument);
        _exit(0);
    }
    return child_succeeded(child);
}

void child_fail(const char *file, int line, const char *condition)
{
    dprintf(STDERR_FILENO, "%s:%d: in a child process: expected %s\n", file, line, condition);
    _exit(1);
}

void *shared_memory(size_t size)
{
    void *memory = mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    if (memory == MAP_FAILED) {
        perror("mmap");
        abort();
    }
    return memory;
}

void start_line_wait(struct start_line *line)
{
    atomic_fetch_add(&line->waiting, 1);
    while (!atomic_load(&line->open)) {
        sched_yield();
    }
}

void start_line_open(struct start_line *line, unsigned expected)
{
    while (atomic_load(&line->waiting) < expected) {
        if (has_ended(P_ALL, 0)) {
            dprintf(STDERR_FILENO, "a child ended before the start\n");
            abort();
        }
        sched_yield();
    }
    atomic_store(&line->open, true);
}
