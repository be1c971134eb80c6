/*
 * Whether the program's URI lets a command be retried: reads need retryReads,
 * writes retryWrites, and what might be either needs both.
 */
#ifndef MBP_PURPOSE_H
#define MBP_PURPOSE_H

#include "shim/clusters.h"
#include "shim/driver/document.h"
#include "shim/thread.h"

/* What the driver was asked for, by the `mode` parameter of
 * _mongoc_client_command_with_opts. */
enum mbp_purpose mbp_purpose_of_mode(uintptr_t mode);

/* By the command itself, where the driver didn't say. */
enum mbp_purpose mbp_purpose_of_command(const char *name, const struct mbp_document *command);

bool mbp_purpose_may_retry(enum mbp_purpose purpose, const struct mbp_cluster_facts *facts);

#endif
