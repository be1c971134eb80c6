/*
 * The fixture on a replica set of three, for reads that may go to either of
 * its secondaries: one of them is to be overloaded, the other to do the work.
 * Every send of fixture.client is noted (sends.h).
 */
#ifndef MBP_TEST_REPLICA_SET_H
#define MBP_TEST_REPLICA_SET_H

#include "tests/integration/fixture.h"
#include "tests/integration/sends.h"

struct member {
    uint16_t port;
    mongoc_client_t *direct; /* of an administrator, to this member alone */
};

struct replica_set {
    struct member primary, overloaded, other;
};

extern struct replica_set set;

/* The documents of a read, and the commands that it takes: a find and two
 * getMores. */
enum { DOCUMENTS = 7, BATCH = 3, GET_MORES = 2 };

/* Connects, and stores so many documents that every member has them. */
void replica_set_connect(void);

/* For TestSuite, in place of fixture_end. */
void replica_set_end(void);

/* The member rejects this command on the test's collection as overloaded: so
 * often, or always for 0. Replaces what it rejected before. */
void member_rejects(const struct member *member, const char *command, int times);

/* Cursors that are open on the member for the test's collection. */
int member_open_cursors(const struct member *member);

/* A find in batches, on a secondary; the caller destroys it. */
mongoc_cursor_t *find_on_secondary(void);

/* What is left of a cursor; -1 where it ends with an error. */
int read_all(mongoc_cursor_t *cursor);

/* A cursor whose find was rejected by the overloaded member and answered by
 * the other, with one document read. */
mongoc_cursor_t *moved_cursor(void);

#endif
