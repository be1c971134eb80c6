/*
 * What the subcommands of `mongobp` share. Each is one function in a file of
 * its own, listed once in main.c.
 */
#ifndef MBP_COMMAND_H
#define MBP_COMMAND_H

/* As shells, env(1) and nohup(1) have it. */
enum mbp_exit {
    MBP_EXIT_FAILURE = 1,
    MBP_EXIT_USAGE = 2,
    MBP_EXIT_RUN_FAILED = 125,     /* `run` itself could not do its part */
    MBP_EXIT_CANNOT_EXECUTE = 126, /* the program is there, but can't be run */
    MBP_EXIT_NOT_FOUND = 127,
};

/* A subcommand: argv[0] is its name. Returns the exit status. */
typedef int mbp_subcommand(int argc, char **argv);

mbp_subcommand mbp_command_run;
mbp_subcommand mbp_command_status;

/* Prints "mongobp: text" and a line end on standard error. */
__attribute__((format(printf, 1, 2))) void mbp_complain(const char *format, ...);

/* Prints the few lines that say how to call it on standard error; returns `status`. */
int mbp_usage_error(int status);

/* Prints the whole help on standard output; returns the exit status. */
int mbp_print_help(void);

/* Ends a subcommand that printed on standard output: 0, or 1 and a complaint
 * where not all of it could be written. */
int mbp_finish_output(void);

/* Like asprintf, but ends the process where there is no memory. */
__attribute__((format(printf, 1, 2))) char *mbp_text(const char *format, ...);

#endif
