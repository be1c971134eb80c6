/*
 * Connections that a server turns away while they are being made, as its
 * connection limiter does. Nothing was sent yet, so it is safe to try again.
 */
#ifndef MBP_CONNECT_H
#define MBP_CONNECT_H

#include "shim/driver/binding.h"

/* See mbp_stream_for. */
#define MBP_CONNECT_PARAMETERS 7

/* Calls the driver's function behind the binding. */
void *mbp_connect_once(
    const struct mbp_binding *binding, uintptr_t const arguments[MBP_CONNECT_PARAMETERS]);

/* The driver's function behind the binding, which finds a server and connects
 * to it, has just failed with these arguments; `reply` and `error` are their
 * places among them. Tries again if that may help, and returns the stream, or
 * NULL. */
void *mbp_connect_again(const struct mbp_binding *binding,
    uintptr_t const arguments[MBP_CONNECT_PARAMETERS], unsigned reply, unsigned error)
    __attribute__((cold));

#endif
