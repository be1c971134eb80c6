/*
 * The driver's own single retry (retryable reads and writes) comes as another
 * call for the same command. It goes on counting where the first one stopped,
 * and where nobody is to retry any more, the driver is told so.
 */
#ifndef MBP_UNFINISHED_H
#define MBP_UNFINISHED_H

#include "shim/call.h"
#include "shim/thread.h"

/* If this call is the driver's retry of the command that failed last on this
 * thread, true, and `operation` is what that one came to. */
bool mbp_unfinished_resume(struct mbp_call *call, struct mbp_operation *operation);

/* The command failed for good as far as we are concerned. `used_up`: its
 * retries were refused, so the driver's would be one too many. */
void mbp_unfinished_note(const struct mbp_call *call, const struct mbp_operation *operation,
    bool overloaded, bool used_up);

/* Of the driver's question how to treat an error, the answer to give. */
int mbp_unfinished_answer(int error_type);

/* The same where the driver looks for a label instead, as it does to decide
 * whether to repeat an abort: what to say, where the truth is `has`. */
bool mbp_unfinished_has_label(const char *label, bool has);

#endif
