/*
 * The matching rules tried on themselves. A matcher that finds everything alike would make every
 * other test pass.
 */
#ifndef SPEC_SELFCHECK_H
#define SPEC_SELFCHECK_H

#include "tests/spec/report.h"

/* Reports each rule as a test, of the folder "runner". Needs no server. */
void selfcheck(struct report *report);

#endif
