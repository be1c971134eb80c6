#include "tests/spec/folders.h"

#include <bson/bson.h>
#include <dirent.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

static bool is_folder(const char *path)
{
    struct stat status;
    return stat(path, &status) == 0 && S_ISDIR(status.st_mode);
}

static bool is_file(const char *path)
{
    struct stat status;
    return stat(path, &status) == 0 && S_ISREG(status.st_mode);
}

static int is_json(const struct dirent *entry)
{
    const char *dot = strrchr(entry->d_name, '.');
    return dot && strcmp(dot, ".json") == 0;
}

static int is_visible(const struct dirent *entry)
{
    return entry->d_name[0] != '.';
}

static const char *base_name(const char *path)
{
    const char *slash = strrchr(path, '/');
    return slash ? slash + 1 : path;
}

char **folder_files(const char *path)
{
    struct dirent **entries = NULL;

    if (is_file(path)) {
        char **files = bson_malloc0(2 * sizeof *files);
        files[0] = bson_strdup(path);
        return files;
    }
    const int count = scandir(path, &entries, is_json, alphasort);
    char **files = bson_malloc0(((size_t)(count > 0 ? count : 0) + 1) * sizeof *files);
    for (int i = 0; i < count; i++) {
        files[i] = bson_strdup_printf("%s/%s", path, entries[i]->d_name);
        free(entries[i]);
    }
    free(entries);
    return files;
}

static void add(struct folders *folders, const char *path, const char *name)
{
    folders->list = bson_realloc(folders->list, (folders->count + 1) * sizeof *folders->list);
    folders->list[folders->count++] =
        (struct folder){.path = bson_strdup(path), .name = bson_strdup(name)};
}

static void search(struct folders *folders, const char *path, const char *name)
{
    char **files = folder_files(path);
    struct dirent **entries = NULL;

    if (files[0]) {
        add(folders, path, *name ? name : base_name(path));
    }
    bson_strfreev(files);
    const int count = scandir(path, &entries, is_visible, alphasort);
    for (int i = 0; i < count; i++) {
        char *below = bson_strdup_printf("%s/%s", path, entries[i]->d_name);
        char *below_name = bson_strdup_printf("%s%s%s", name, *name ? "/" : "", entries[i]->d_name);
        if (is_folder(below)) {
            search(folders, below, below_name);
        }
        bson_free(below);
        bson_free(below_name);
        free(entries[i]);
    }
    free(entries);
}

void folders_find(struct folders *folders, const char *path)
{
    char *absolute = realpath(path, NULL);

    if (absolute && is_file(absolute)) {
        add(folders, absolute, base_name(absolute));
    } else if (absolute) {
        search(folders, absolute, "");
    }
    free(absolute);
}

void folders_free(struct folders *folders)
{
    for (size_t i = 0; i < folders->count; i++) {
        bson_free(folders->list[i].path);
        bson_free(folders->list[i].name);
    }
    bson_free(folders->list);
}

const char *folder_profile(const char *path)
{
    const char *name = base_name(path);
    char *folder = bson_strndup(path, (size_t)(name - path - (name > path)));
    const bool original = strcmp(is_file(path) ? base_name(folder) : name, "original") == 0;

    bson_free(folder);
    return original ? "original" : "current";
}
