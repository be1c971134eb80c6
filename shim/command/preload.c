#include "preload.h"

#include "command.h"
#include "elf_file.h"

#include <elf.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/statvfs.h>
#include <sys/xattr.h>
#include <unistd.h>

#define LIBRARY "libmongobp.so"
#define SEPARATORS " :" /* of LD_PRELOAD; there is no way to quote them */
#define SELF "/proc/self/exe"

static char *own_directory(void)
{
    char *path = realpath(SELF, NULL);
    if (path) {
        *strrchr(path, '/') = '\0';
    }
    return path;
}

static bool is_good_library(const char *path)
{
    struct mbp_elf_file file;
    const int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
    if (fd < 0) {
        mbp_complain("can't read %s: %s", path, strerror(errno));
        return false;
    }
    const bool is_elf = mbp_elf_read(fd, &file);
    close(fd);
    if (!is_elf || file.type != ET_DYN) {
        mbp_complain("%s is damaged: it is not a shared library of this machine", path);
        return false;
    }
    if (strpbrk(path, SEPARATORS)) {
        mbp_complain("%s can't be preloaded: a path with a space or a colon in it can't be written "
                     "in LD_PRELOAD; move it elsewhere",
            path);
        return false;
    }
    return true;
}

char *mbp_preload_find_library(void)
{
    static const char *const places[] = {"", "/../lib", "/../lib/mongobp"};
    char *directory = own_directory();
    char *found = NULL;
    if (!directory) {
        mbp_complain("can't tell where this command is: %s: %s", SELF, strerror(errno));
        return NULL;
    }
    for (unsigned i = 0; i < sizeof places / sizeof places[0] && !found; i++) {
        char *candidate = mbp_text("%s%s/" LIBRARY, directory, places[i]);
        found = realpath(candidate, NULL);
        free(candidate);
    }
    if (!found) {
        mbp_complain(LIBRARY " was not found in %s, nor in lib or lib/mongobp beside it; "
                             "the program was not run",
            directory);
    } else if (!is_good_library(found)) {
        free(found);
        found = NULL;
    }
    free(directory);
    return found;
}

/* Whether executing the file gives rights that the caller has not, which makes
 * the loader ignore LD_PRELOAD. A setuid file of one's own gives none. */
static bool gives_privileges(int fd)
{
    struct stat status;
    struct statvfs file_system;
    const bool may_give = prctl(PR_GET_NO_NEW_PRIVS, 0, 0, 0, 0) != 1 &&
                          fstatvfs(fd, &file_system) == 0 && !(file_system.f_flag & ST_NOSUID);
    if (!may_give || fstat(fd, &status) != 0) {
        return false;
    }
    const bool other_user = (status.st_mode & S_ISUID) && status.st_uid != getuid();
    const bool other_group =
        (status.st_mode & S_ISGID) && (status.st_mode & S_IXGRP) && status.st_gid != getgid();
    const bool capabilities = getuid() != 0 && fgetxattr(fd, "security.capability", NULL, 0) > 0;
    return other_user || other_group || capabilities;
}

static bool read_file(const char *path, struct mbp_elf_file *file)
{
    const int fd = open(path, O_RDONLY | O_CLOEXEC);
    const bool is_read = fd >= 0 && mbp_elf_read(fd, file);
    if (fd >= 0) {
        close(fd);
    }
    return is_read;
}

static const char *base_name(const char *path)
{
    const char *slash = strrchr(path, '/');
    return slash ? slash + 1 : path;
}

/* Programs of another C library have another loader, and the library, which
 * needs the one that this command was built with, would not start there. */
static bool has_same_loader(const struct mbp_elf_file *program)
{
    struct mbp_elf_file self;
    return !read_file(SELF, &self) || self.loader[0] == '\0' ||
           strcmp(base_name(self.loader), base_name(program->loader)) == 0;
}

static bool files_fit(const char *library_path, const char *path,
    const struct mbp_elf_file *library, const struct mbp_elf_file *program)
{
    if (library->bits != program->bits) {
        mbp_complain("%s is a %u-bit program and %s is for %u-bit ones", path, program->bits,
            library_path, library->bits);
        return false;
    }
    if (library->order != program->order || library->machine != program->machine) {
        mbp_complain("%s is a program for another kind of processor than %s", path, library_path);
        return false;
    }
    if (program->loader[0] == '\0') {
        mbp_complain("%s is statically linked: nothing can be preloaded into it", path);
        return false;
    }
    if (!has_same_loader(program)) {
        mbp_complain("%s uses another C library (its loader is %s) than %s", path, program->loader,
            library_path);
        return false;
    }
    return true;
}

bool mbp_preload_fits(const char *library, const char *path)
{
    struct mbp_elf_file library_file;
    struct mbp_elf_file program_file;
    bool fits = false;
    const int fd = open(path, O_RDONLY | O_CLOEXEC);
    if (fd < 0) {
        mbp_complain("warning: can't check that %s fits: %s", path, strerror(errno));
        return true;
    }
    if (!read_file(library, &library_file)) {
        mbp_complain("can't read %s", library);
    } else if (!mbp_elf_read(fd, &program_file)) {
        mbp_complain("%s is damaged: it is not a complete program", path);
    } else if (gives_privileges(fd)) {
        mbp_complain("%s runs with privileges (setuid, setgid or file capabilities): "
                     "the loader ignores LD_PRELOAD for it",
            path);
    } else {
        fits = files_fit(library, path, &library_file, &program_file);
    }
    close(fd);
    return fits;
}

static bool starts_with(const char *text, const char *start)
{
    return strncmp(text, start, strlen(start)) == 0;
}

static bool is_sanitizer(const char *entry)
{
    const char *name = base_name(entry);
    return starts_with(name, "libasan") || starts_with(name, "libtsan") ||
           starts_with(name, "libclang_rt.");
}

/* A name without a slash is looked up elsewhere than in this directory. */
static bool is_same_file(const char *entry, const char *library)
{
    struct stat one;
    struct stat other;
    return strchr(entry, '/') && stat(entry, &one) == 0 && stat(library, &other) == 0 &&
           one.st_dev == other.st_dev && one.st_ino == other.st_ino;
}

static void append(char **list, const char *entry)
{
    char *longer = **list ? mbp_text("%s:%s", *list, entry) : mbp_text("%s", entry);
    free(*list);
    *list = longer;
}

char *mbp_preload_value(const char *existing, const char *library)
{
    char *entries = mbp_text("%s", existing ? existing : "");
    char *before = mbp_text("%s", ""); /* up to the last sanitizer */
    char *after = mbp_text("%s", "");
    char *rest = NULL;
    for (char *entry = strtok_r(entries, SEPARATORS, &rest); entry;
         entry = strtok_r(NULL, SEPARATORS, &rest)) {
        if (is_same_file(entry, library)) {
            continue;
        }
        append(&after, entry);
        if (is_sanitizer(entry)) {
            append(&before, after);
            after[0] = '\0';
        }
    }
    append(&before, library);
    if (after[0] != '\0') {
        append(&before, after);
    }
    free(after);
    free(entries);
    return before;
}
