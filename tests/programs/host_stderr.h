/*
 * What the host does to its standard error:
 *
 *   close2                         closes it
 *   socket2:inet|unix              makes it a socket
 *   pipe2:gone|full                makes it a pipe whose reader has gone or sleeps
 *   heard2                         how much has been written to that socket
 */
#ifndef MBP_HOST_STDERR_H
#define MBP_HOST_STDERR_H

#include <stdbool.h>

/* False if it is none of these. */
bool host_stderr_act(const char *verb, const char *word);

/* Ends the program with a message. */
__attribute__((format(printf, 1, 2))) _Noreturn void give_up(const char *format, ...);

#endif
