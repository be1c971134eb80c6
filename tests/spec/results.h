/*
 * The result of a write, as tests expect it, from what the driver gives: the counts, and the ids
 * that the test itself chose (the driver keeps those that it makes to itself).
 */
#ifndef SPEC_RESULTS_H
#define SPEC_RESULTS_H

#include "tests/spec/operations.h"

/*
 * Sets the result of a write of many from operation->reply, whichever words it uses for its counts;
 * ids is {index: _id} of what was to be inserted.
 */
void result_bulk(struct operation *operation, const bson_t *ids);

/* The same for an update or a delete of one statement. */
void result_update(struct operation *operation);
void result_delete(struct operation *operation);

/* Whether the write concern in force asks for no answer: there is no result then. */
bool is_unacknowledged(const struct operation *operation);

/* Appends document's _id to ids as index, if it has one. */
void append_id(bson_t *ids, uint32_t index, const bson_t *document);

#endif
