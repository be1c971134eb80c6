/*
 * A cursor whose find was moved lives on another server than the driver
 * believes: getMore and killCursors have to find it there, and no cursor may
 * be left open on any server.
 */
#include "replica_set.h"

#include <criterion/criterion.h>

TestSuite(moved_cursors, .init = fixture_settings, .fini = replica_set_end);

static int open_cursors(void)
{
    return member_open_cursors(&set.overloaded) + member_open_cursors(&set.other) +
           member_open_cursors(&set.primary);
}

/* The server that holds it is the only one that can answer, overloaded or not. */
Test(moved_cursors, get_more_rejected)
{
    replica_set_connect();
    member_rejects(&set.overloaded, "find", 0);
    mongoc_cursor_t *cursor = moved_cursor();
    const int64_t moved = counter_named("retargeted");
    member_rejects(&set.other, "getMore", 2);
    const struct counters before = counters_now();

    cr_expect_eq(read_all(cursor), DOCUMENTS - 1);

    cr_expect_eq(sends_count("getMore", set.other.port, SENDS_FAILED), 2);
    cr_expect_eq(sends_count("getMore", set.other.port, SENDS_OK), GET_MORES);
    cr_expect_eq(sends_count("getMore", 0, SENDS_ALL), GET_MORES + 2);
    cr_expect_eq(counters_since(&before).retries, 2);
    cr_expect_eq(counter_named("retargeted"), moved, "a getMore never moves");
    mongoc_cursor_destroy(cursor);
    cr_expect_eq(open_cursors(), 0);
}

Test(moved_cursors, get_more_given_up)
{
    replica_set_connect();
    member_rejects(&set.overloaded, "find", 0);
    mongoc_cursor_t *cursor = moved_cursor();
    member_rejects(&set.other, "getMore", 0);

    cr_expect_eq(read_all(cursor), -1);

    cr_expect_eq(sends_count("getMore", set.other.port, SENDS_FAILED), 6);
    cr_expect_eq(sends_count("getMore", 0, SENDS_ALL), 6);
    mongoc_cursor_destroy(cursor);
    cr_expect_eq(open_cursors(), 0, "it was killed where it was");
}

/* A getMore of a cursor that was never moved stays where it is as well. */
Test(moved_cursors, get_more_of_a_cursor_that_stayed)
{
    const bson_t *document;
    replica_set_connect();
    mongoc_cursor_t *cursor = find_on_secondary();
    cr_assert(mongoc_cursor_next(cursor, &document));
    const uint16_t port = sends_get("find", 0)->port;
    member_rejects(port == set.other.port ? &set.other : &set.overloaded, "getMore", 2);

    cr_expect_eq(read_all(cursor), DOCUMENTS - 1);

    cr_expect_eq(sends_count("getMore", port, SENDS_ALL), GET_MORES + 2);
    cr_expect_eq(sends_count("getMore", 0, SENDS_ALL), GET_MORES + 2);
    cr_expect_eq(counter_named("retargeted"), 0);
    mongoc_cursor_destroy(cursor);
}

Test(moved_cursors, destroyed_early)
{
    replica_set_connect();
    member_rejects(&set.overloaded, "find", 0);
    mongoc_cursor_t *cursor = moved_cursor();
    cr_assert_eq(member_open_cursors(&set.other), 1);
    const int killed = sends_count("killCursors", 0, SENDS_ALL);

    mongoc_cursor_destroy(cursor);

    cr_expect_eq(sends_count("killCursors", 0, SENDS_ALL), killed + 1);
    const struct send *kill = sends_get("killCursors", killed);
    cr_assert_not_null(kill);
    cr_expect_eq(kill->port, set.other.port);
    cr_expect_eq(open_cursors(), 0);
}

/* Two at once, of which the one that is destroyed must not take the other's
 * place, and a third that the driver reads from where it believes. */
Test(moved_cursors, several_at_once)
{
    const bson_t *document;
    replica_set_connect();
    member_rejects(&set.overloaded, "find", 0);
    mongoc_cursor_t *first = moved_cursor();
    mongoc_cursor_t *second = moved_cursor();
    member_rejects(&set.overloaded, "none", 0);
    mongoc_cursor_t *third = find_on_secondary();
    cr_assert(mongoc_cursor_next(third, &document));

    mongoc_cursor_destroy(first);
    cr_expect_eq(read_all(third), DOCUMENTS - 1);
    cr_expect_eq(read_all(second), DOCUMENTS - 1);

    cr_expect_eq(sends_count("getMore", 0, SENDS_FAILED), 0);
    mongoc_cursor_destroy(second);
    mongoc_cursor_destroy(third);
    cr_expect_eq(open_cursors(), 0);
}

/* A cursor's number is its server's own: a client that comes later may meet
 * the same one elsewhere. */
Test(moved_cursors, client_destroyed_in_between)
{
    replica_set_connect();
    member_rejects(&set.overloaded, "find", 0);
    mongoc_cursor_t *cursor = moved_cursor();
    mongoc_cursor_destroy(cursor);
    mongoc_collection_destroy(fixture.collection);
    mongoc_client_destroy(fixture.client);
    sends_forget();

    fixture.client = fixture_new_client();
    fixture.collection = mongoc_client_get_collection(fixture.client, fixture.name, "things");
    sends_note(fixture.client);
    cursor = moved_cursor();
    cr_expect_eq(read_all(cursor), DOCUMENTS - 1);
    mongoc_cursor_destroy(cursor);
    cr_expect_eq(open_cursors(), 0);
}
