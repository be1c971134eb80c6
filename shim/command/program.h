/*
 * Which file a command line runs: found on PATH as execvp does, and through
 * the first lines of scripts to the program that the loader will see.
 */
#ifndef MBP_PROGRAM_H
#define MBP_PROGRAM_H

/* The path that execvp would run for `name`, always with a slash in it, for the
 * caller to free; or NULL with errno set: ENOENT, EACCES, EISDIR… */
char *mbp_program_find(const char *name);

/* The program that is loaded when `path` is executed: itself, or the
 * interpreter of a script, also by way of env(1). For the caller to free. NULL
 * with errno set where an interpreter can't be run; `*culprit`, where it isn't
 * NULL, is then its path, for the caller to free. */
char *mbp_program_loaded(const char *path, char **culprit);

#endif
