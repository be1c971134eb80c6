/*
 * The end of pools, beside the tests that follow. Destroying a pool takes half a second in some
 * versions of the driver, until its monitors notice; one after the other that is most of a run.
 */
#ifndef SPEC_RETIRE_H
#define SPEC_RETIRE_H

#include "tests/spec/events.h"

/* Destroys a pool, all of whose clients are back, and then its recorder, some time from now. */
void retire(mongoc_client_pool_t *pool, struct recorder *recorder);

/* Waits until all of them are gone. */
void retire_wait(void);

#endif
