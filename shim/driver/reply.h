/*
 * What a server's reply to a failed command means for a retry.
 */
#ifndef MBP_REPLY_H
#define MBP_REPLY_H

#include "common/policy.h"
#include "shim/driver/document.h"

/* Sets the labels, base_backoff_ms and unsafe_to_resend of the attempt. */
void mbp_reply_classify(const struct mbp_document *reply, struct mbp_attempt *attempt);

#endif
