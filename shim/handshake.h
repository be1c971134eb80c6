/*
 * Telling servers that this client can be turned away: the field
 * `backpressure` in the first message of every connection.
 */
#ifndef MBP_HANDSHAKE_H
#define MBP_HANDSHAKE_H

#include "shim/driver/binding.h"

/* Puts the field into a message that is the caller's own to change; a driver's
 * own word on the matter is replaced. */
void mbp_handshake_announce(const struct mbp_binding *binding, struct mbp_bson *hello);

#endif
