/*
 * The special operators of the unified test format, {$$name: operand} in the place of a value.
 */
#ifndef SPEC_OPERATORS_H
#define SPEC_OPERATORS_H

#include "tests/spec/match.h"

/* Whether value is {$$name: operand}, with that key alone; operand then stands on the operand,
 * whose key is the name. */
bool operator_is(const bson_iter_t *value, bson_iter_t *operand);

/* Whether actual (NULL: absent) is what the operator asks for; fails on one that is unknown. */
bool operator_match(struct match *match, const bson_iter_t *operand, const bson_iter_t *actual,
    enum match_level level);

/*
 * An operator that the format has not, anywhere within doc, or NULL. Asked before a test is run,
 * because an operator in a branch that is never matched would go unseen.
 */
const char *operator_unknown(const bson_t *doc);

#endif
