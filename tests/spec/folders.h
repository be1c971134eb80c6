/*
 * Where test files are found. A folder's tests run in one process of its own, since mongobp reads
 * its settings once in a process and the folder says which of them apply.
 */
#ifndef SPEC_FOLDERS_H
#define SPEC_FOLDERS_H

#include <stdbool.h>
#include <stddef.h>

struct folder {
    char *path; /* a folder, or a single file */
    char *name; /* for people: the path below the one that was searched */
};

struct folders {
    struct folder *list;
    size_t count;
};

/* Adds each folder at or below path that has test files of its own, or path if it is a file. */
void folders_find(struct folders *folders, const char *path);
void folders_free(struct folders *folders);

/* The test files of a folder by name, ended by NULL; freed by bson_strfreev. */
char **folder_files(const char *path);

/* The MONGOBP_PROFILE for its tests: its name if that is one, else that of today's specification,
 * which is what a checkout holds. */
const char *folder_profile(const char *path);

#endif
