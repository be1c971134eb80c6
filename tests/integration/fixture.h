/*
 * What every test has: a client that is watched and that the server may be
 * told to reject, an administrator's client that is neither, a collection and
 * a budget (MONGOBP_BUCKET) of its own. All of it goes away at the end of the
 * test, also of one that failed.
 */
#ifndef MBP_TEST_FIXTURE_H
#define MBP_TEST_FIXTURE_H

#include "counters.h"
#include "reject.h"
#include "watch.h"

#include <mongoc/mongoc.h>
#include <stdbool.h>

struct fixture {
    char name[64];     /* of the application and of the database; says which test process this is */
    mongoc_uri_t *uri; /* of the watched application */
    mongoc_client_t *client;
    mongoc_collection_t *collection; /* of `client`; does not exist yet */
    mongoc_client_t *admin;
};

extern struct fixture fixture;

/* Whether the driver has the policy itself, as libmongoc has from 2.3 on: it
 * sends a rejected command up to three times, and mongobp does no more than keep
 * that within the budget. */
bool driver_retries_by_itself(void);

/* For TestSuite: one of the first three is .init and sets MONGOBP_* so that
 * delays are next to nothing; a test may set more before it calls
 * fixture_connect. They differ in the drivers that the suite is about; with
 * another one its tests are skipped, when they connect. */
void fixture_settings(void); /* those that leave the retrying to mongobp */
void fixture_settings_for_retrying_driver(void);
void fixture_settings_for_any_driver(void);
void fixture_end(void);

/* Connects both clients. Fails the test where there is no server, or where
 * mongobp is not at work (or is at work, with MONGOBP_DISABLE). */
void fixture_connect(void);

/* The same without a client that is watched: for tests that make their own. */
void fixture_connect_admin(void);

/* A new client of the application, watched; the caller destroys it. */
mongoc_client_t *fixture_new_client(void);

/* Stores {i: 0}, {i: 1} and so on, by the administrator. */
void fixture_store(int count);

/* The documents that match the JSON filter, counted by the administrator. */
int64_t fixture_count(const char *filter);

/* Runs a command of the administrator; JSON with ' for ". Returns whether it
 * succeeded. */
bool fixture_admin_command(const char *database, const char *json);

/* Skips the test where the driver refuses to aggregate. */
void fixture_need_aggregation(void);

/* BSON from JSON with ' for "; the caller destroys it. */
bson_t *from_json(const char *json);

/* One {i: number} by the watched client; reply and error may be NULL. */
bool insert_number(int number, bson_t *reply, bson_error_t *error);

/* The same where nothing but success or failure matters. */
bool inserts(int number);

#endif
