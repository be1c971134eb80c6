/*
 * One call of the driver's function that runs commands, with what is needed to
 * look into it and to make it again.
 */
#ifndef MBP_CALL_H
#define MBP_CALL_H

#include "shim/driver/binding.h"
#include "shim/driver/document.h"

struct mbp_call {
    const struct mbp_binding *binding;
    struct mbp_cluster *cluster;
    struct mbp_command *command;
    struct mbp_bson *reply;  /* never NULL */
    struct mbp_error *error; /* may be NULL */
    /* From here on only where something went wrong; see mbp_call_look_into. */
    struct mbp_driver driver;
    const char *name;             /* of the command; "command" if not known */
    struct mbp_document document; /* the command; empty if not known */
};

void mbp_call_look_into(struct mbp_call *call);

/* Calls the real function; notes in mbp_thread if the connection is lost. */
bool mbp_call_send(const struct mbp_call *call);

/* The reply as it is now. */
struct mbp_document mbp_call_reply(const struct mbp_call *call);

bool mbp_call_is(const struct mbp_call *call, const char *name);
bool mbp_call_has(const struct mbp_call *call, const char *field);

#endif
