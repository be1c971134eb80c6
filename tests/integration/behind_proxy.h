/*
 * The fixture with a proxy between the watched client and the server; the
 * administrator's client goes past it.
 */
#ifndef MBP_TEST_BEHIND_PROXY_H
#define MBP_TEST_BEHIND_PROXY_H

#include "fixture.h"

#include "tests/support/proxy.h"

/* Started by behind_proxy_start. */
extern struct proxy *proxy;

/* Connects the administrator, starts the proxy and points fixture.uri at it.
 * `options` are added to the URI, as "&name=value"; "" for none. */
void behind_proxy_start(const char *options);

/* The same, and then makes fixture.client and fixture.collection, which don't
 * connect before they are used. */
void behind_proxy_connect(const char *options);

/* For TestSuite, in place of fixture_end. */
void behind_proxy_end(void);

#endif
