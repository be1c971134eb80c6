/*
 * The connection string of a client entity: the one the runner was given, with a test's own
 * options in place of its own, and with one host where the test asks for one.
 */
#ifndef SPEC_URI_H
#define SPEC_URI_H

#include "tests/spec/test.h"

/*
 * A new URI, which the caller destroys, or NULL and the test's verdict: an option that this driver
 * does not have is not applicable. one_host keeps the first host alone.
 */
mongoc_uri_t *uri_for_client(
    struct test *test, const char *base, const bson_t *options, bool one_host);

/* Hosts in the URI. */
unsigned uri_hosts(const mongoc_uri_t *uri);

/* To be called once, before any URI is made: listens to what the driver says of unknown options. */
void uri_listen(void);

#endif
