#include "run.h"

#include <errno.h>
#include <fcntl.h>
#include <link.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

enum { MOST_SECONDS = 300 };

static void need(bool good, const char *what)
{
    if (!good) {
        fprintf(stderr, "run: can't %s: %s\n", what, strerror(errno));
        abort();
    }
}

static void change_environment(const char *const changes[])
{
    for (; changes && *changes; changes++) {
        if (strchr(*changes, '=')) {
            putenv(strdup(*changes));
        } else {
            unsetenv(*changes);
        }
    }
}

/* A file for writing only, as a log or a shell's redirection is: the library
 * takes anything else for a file of the program's own and prints nothing. */
static void redirect(int memory, int to)
{
    char path[32];
    snprintf(path, sizeof path, "/proc/self/fd/%d", memory);
    const int fd = open(path, O_WRONLY | O_APPEND);
    need(fd >= 0 && dup2(fd, to) == to, "redirect output");
    close(fd);
}

static _Noreturn void become(
    const char *const argv[], const char *const environment[], int out, int err)
{
    const int nothing = open("/dev/null", O_RDONLY);
    redirect(out, STDOUT_FILENO);
    redirect(err, STDERR_FILENO);
    dup2(nothing, STDIN_FILENO);
    close(nothing);
    change_environment(environment);
    alarm(MOST_SECONDS);
    execvp(argv[0], (char *const *)argv);
    fprintf(stderr, "run: can't run %s: %s\n", argv[0], strerror(errno));
    _exit(127);
}

static char *read_all(int memory, size_t *size)
{
    struct stat status;
    need(fstat(memory, &status) == 0, "read output");
    *size = (size_t)status.st_size;
    char *text = malloc(*size + 1);
    need(text && pread(memory, text, *size, 0) == (ssize_t)*size, "read output");
    text[*size] = '\0';
    close(memory);
    return text;
}

struct run_result run_command(const char *const argv[], const char *const environment[])
{
    struct run_result result = {0};
    int status;
    const int out = memfd_create("out", MFD_CLOEXEC);
    const int err = memfd_create("err", MFD_CLOEXEC);
    need(out >= 0 && err >= 0, "make a file");
    const pid_t pid = fork();
    need(pid >= 0, "fork");
    if (pid == 0) {
        become(argv, environment, out, err);
    }
    while (waitpid(pid, &status, 0) < 0) {
        need(errno == EINTR, "wait");
    }
    result.status = WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
    result.out = read_all(out, &result.out_size);
    result.err = read_all(err, &result.err_size);
    return result;
}

void run_result_free(struct run_result *result)
{
    free(result->out);
    free(result->err);
    *result = (struct run_result){0};
}

char *run_built(const char *name)
{
    const char *directory = getenv("MBP_BUILD_DIR");
    char *path;
    char *parent = realpath(directory ? directory : "build", NULL);
    need(parent != NULL, "find the build directory");
    need(asprintf(&path, "%s/%s", parent, name) >= 0, "allocate");
    free(parent);
    return path;
}

static int note_sanitizer(struct dl_phdr_info *info, size_t size, void *data)
{
    const char **found = data;
    const char *slash = strrchr(info->dlpi_name, '/');
    (void)size;
    if (slash && strncmp(slash, "/libasan", 8) == 0) {
        *found = info->dlpi_name;
        return 1;
    }
    return 0;
}

char *run_preload(const char *library)
{
    const char *sanitizer = NULL;
    char *text;
    dl_iterate_phdr(note_sanitizer, &sanitizer);
    need(asprintf(&text, "LD_PRELOAD=%s%s%s", sanitizer ? sanitizer : "",
             sanitizer && library ? ":" : "", library ? library : "") >= 0,
        "allocate");
    return text;
}

bool run_under_valgrind(void)
{
    const char *preload = getenv("LD_PRELOAD");
    return preload && strstr(preload, "/vgpreload_");
}

static size_t length_of(const char *const list[])
{
    size_t length = 0;
    while (list && list[length]) {
        length++;
    }
    return length;
}

struct run_result run_mongobp(const char *const arguments[], const char *const environment[])
{
    const size_t argument_count = length_of(arguments);
    const size_t change_count = length_of(environment);
    const char *argv[argument_count + 2];
    const char *changes[change_count + 2];
    char *command = run_built("mongobp");
    char *preload = run_preload(NULL);
    argv[0] = command;
    changes[0] = preload; /* a later one overrides it */
    for (size_t i = 0; i < argument_count; i++) {
        argv[i + 1] = arguments[i];
    }
    for (size_t i = 0; i < change_count; i++) {
        changes[i + 1] = environment[i];
    }
    argv[argument_count + 1] = NULL;
    changes[change_count + 1] = NULL;
    struct run_result result = run_command(argv, changes);
    free(preload);
    free(command);
    return result;
}

char *run_make_directory(void)
{
    const char *parent = getenv("TMPDIR");
    char *path;
    need(asprintf(&path, "%s/mongobp-test-XXXXXX", parent && *parent ? parent : "/tmp") >= 0,
        "allocate");
    need(mkdtemp(path) != NULL, "make a directory");
    return path;
}

void run_remove_directory(char *path)
{
    struct run_result result = RUN("rm", "-rf", "--", path);
    run_result_free(&result);
    free(path);
}
