#include "program.h"

#include "command.h"

#include <ctype.h>
#include <errno.h>
#include <fcntl.h>
#include <paths.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

/* What the kernel looks at of a script, and how many scripts it follows. */
enum { FIRST_LINE_SIZE = 256, MOST_SCRIPTS = 5 };

/* 0, or why the file can't be executed; `*seen` tells whether it is there. */
static int examine(const char *path, bool *seen)
{
    struct stat status;
    *seen = stat(path, &status) == 0;
    if (!*seen) {
        return errno;
    }
    if (S_ISDIR(status.st_mode)) {
        return EISDIR;
    }
    if (!S_ISREG(status.st_mode)) {
        return EACCES;
    }
    return faccessat(AT_FDCWD, path, X_OK, AT_EACCESS) == 0 ? 0 : errno;
}

static int execution_error(const char *path)
{
    bool seen;
    return examine(path, &seen);
}

/* A directory of PATH may hold a file that can't be executed while a later one
 * has the right one; only if none has, that is the error. A directory that may
 * not be searched holds nothing, as shells see it. */
static char *find_in(const char *search_path, const char *name)
{
    int error = ENOENT;
    for (const char *directory = search_path;; directory++) {
        const size_t length = strcspn(directory, ":");
        const bool is_here = length == 0;
        char *path =
            is_here ? mbp_text("./%s", name) : mbp_text("%.*s/%s", (int)length, directory, name);
        bool seen;
        const int candidate_error = examine(path, &seen);
        if (candidate_error == 0) {
            return path;
        }
        free(path);
        if (seen) {
            error = candidate_error;
        }
        directory += length;
        if (*directory == '\0') {
            errno = error;
            return NULL;
        }
    }
}

char *mbp_program_find(const char *name)
{
    if (name[0] == '\0') {
        errno = ENOENT;
        return NULL;
    }
    if (!strchr(name, '/')) {
        const char *search_path = getenv("PATH");
        return find_in(search_path ? search_path : "/bin:/usr/bin", name);
    }
    const int error = execution_error(name);
    if (error != 0) {
        errno = error;
        return NULL;
    }
    return mbp_text("%s", name);
}

/* Cuts the first word off the line, ended by blanks; "" where there is none. */
static char *cut_word(char **line)
{
    char *word = *line + strspn(*line, " \t");
    char *end = word + strcspn(word, " \t");
    *line = end;
    if (*end != '\0') {
        *end = '\0';
        *line = end + 1;
    }
    return word;
}

/* What env(1) runs, given the rest of the script's first line, which the
 * kernel hands over as one argument. NULL where it can't be told: options other
 * than -S, quotes, nothing at all. */
static char *program_of_env(char *argument)
{
    static const char *const splitters[] = {"-S", "--split-string="};
    char *word = argument;
    for (unsigned i = 0; i < sizeof splitters / sizeof splitters[0]; i++) {
        const size_t length = strlen(splitters[i]);
        if (strncmp(argument, splitters[i], length) == 0) {
            argument += length;
            do {
                word = cut_word(&argument);
            } while (strchr(word, '='));
            break;
        }
    }
    const bool is_plain = word[0] != '\0' && word[0] != '-' && !strpbrk(word, "=\"'\\$");
    return is_plain ? mbp_program_find(word) : NULL;
}

/* The first line of a script without its "#!" and its end; false where the
 * file is none, or may not be read. */
static bool read_first_line(const char *path, char line[FIRST_LINE_SIZE])
{
    const int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
    if (fd < 0) {
        return false;
    }
    const ssize_t length = read(fd, line, FIRST_LINE_SIZE - 1);
    close(fd);
    if (length < 2 || line[0] != '#' || line[1] != '!') {
        return false;
    }
    line[length] = '\0';
    line[0] = line[1] = ' ';
    char *end = line + strcspn(line, "\n");
    while (end > line && isspace((unsigned char)end[-1])) {
        end--;
    }
    *end = '\0';
    return true;
}

/* What runs the file that begins with this line. */
static char *interpreter_of(char *line)
{
    const char *interpreter = cut_word(&line);
    const char *slash = strrchr(interpreter, '/');
    char *argument = line + strspn(line, " \t");
    char *through_env = NULL;
    if (strcmp(slash ? slash + 1 : interpreter, "env") == 0) {
        through_env = program_of_env(argument);
    }
    return through_env ? through_env : mbp_text("%s", interpreter);
}

static bool is_elf(const char *path)
{
    char magic[4] = "";
    const int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
    if (fd < 0) {
        return errno == EACCES; /* it may be executed, but not read: nothing is known */
    }
    const bool found = read(fd, magic, sizeof magic) == (ssize_t)sizeof magic &&
                       memcmp(magic, "\177ELF", sizeof magic) == 0;
    close(fd);
    return found;
}

char *mbp_program_loaded(const char *path, char **culprit)
{
    char line[FIRST_LINE_SIZE];
    char *loaded = mbp_text("%s", path);
    *culprit = NULL;
    for (int scripts = 0; read_first_line(loaded, line); scripts++) {
        if (scripts == MOST_SCRIPTS) {
            *culprit = loaded;
            errno = ELOOP;
            return NULL;
        }
        char *interpreter = interpreter_of(line);
        if (interpreter[0] == '\0') {
            free(interpreter);
            break;
        }
        free(loaded);
        loaded = interpreter;
        const int error = execution_error(loaded);
        if (error != 0) {
            *culprit = loaded;
            errno = error;
            return NULL;
        }
    }
    if (!is_elf(loaded)) { /* execvp gives it to the shell */
        free(loaded);
        loaded = mbp_text("%s", _PATH_BSHELL);
    }
    return loaded;
}
