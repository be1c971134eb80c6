/*
 * Connections that a server turns away while they are being made, as its
 * connection limiter does. Nothing was sent yet, so it is safe to try again.
 */
#ifndef MBP_CONNECT_H
#define MBP_CONNECT_H

#include "shim/driver/binding.h"

/* See mbp_stream_for. */
#define MBP_CONNECT_PARAMETERS 7

/* The driver's function behind the binding: finds a server and connects to it.
 * `reply` and `error` are their places among the arguments. */
void *mbp_connect(const struct mbp_binding *binding,
    uintptr_t const arguments[MBP_CONNECT_PARAMETERS], unsigned reply, unsigned error);

/* The same without trying again. */
void *mbp_connect_once(
    const struct mbp_binding *binding, uintptr_t const arguments[MBP_CONNECT_PARAMETERS]);

#endif
