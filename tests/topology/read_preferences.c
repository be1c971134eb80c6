/*
 * Where a retried read may go is for its read preference to say: what the
 * driver would not have chosen is not chosen for a retry either.
 */
#include "replica_set.h"

#include <criterion/criterion.h>
#include <stdlib.h>

TestSuite(read_preferences, .init = fixture_settings, .fini = replica_set_end);

enum { READS = 30 };

static bool reads_with(const mongoc_read_prefs_t *preference)
{
    bson_t filter = BSON_INITIALIZER;
    mongoc_cursor_t *cursor =
        mongoc_collection_find_with_opts(fixture.collection, &filter, NULL, preference);
    const int count = read_all(cursor);
    mongoc_cursor_destroy(cursor);
    return count == DOCUMENTS;
}

/* Reads so often; returns how often it went wrong. */
static int errors_with(mongoc_read_mode_t mode, const char *tag, int64_t max_staleness)
{
    int errors = 0;
    mongoc_read_prefs_t *preference = mongoc_read_prefs_new(mode);
    if (tag) {
        bson_t *tags = from_json(tag);
        mongoc_read_prefs_add_tag(preference, tags);
        bson_destroy(tags);
    }
    if (max_staleness) {
        mongoc_read_prefs_set_max_staleness_seconds(preference, max_staleness);
    }
    for (int i = 0; i < READS; i++) {
        errors += !reads_with(preference);
    }
    mongoc_read_prefs_destroy(preference);
    return errors;
}

static int accepted_by(const struct member *member)
{
    return sends_count("find", member->port, SENDS_OK);
}

Test(read_preferences, nearest)
{
    replica_set_connect();
    member_rejects(&set.overloaded, "find", 0);
    cr_expect_eq(errors_with(MONGOC_READ_NEAREST, NULL, 0), 0);
    cr_expect_eq(accepted_by(&set.primary) + accepted_by(&set.other), READS);
    cr_expect_eq(counter_named("retargeted"), sends_count("find", 0, SENDS_FAILED));
}

Test(read_preferences, primary_preferred_moves_to_a_secondary)
{
    replica_set_connect();
    member_rejects(&set.primary, "find", 0);
    cr_expect_eq(errors_with(MONGOC_READ_PRIMARY_PREFERRED, NULL, 0), 0);
    cr_expect_eq(sends_count("find", set.primary.port, SENDS_ALL), READS, "asked first, once");
    cr_expect_eq(accepted_by(&set.overloaded) + accepted_by(&set.other), READS);
    cr_expect_eq(counter_named("retargeted"), READS);
}

Test(read_preferences, secondary_preferred_moves_to_the_primary_last)
{
    replica_set_connect();
    member_rejects(&set.overloaded, "find", 0);
    member_rejects(&set.other, "find", 0);
    cr_expect_eq(errors_with(MONGOC_READ_SECONDARY_PREFERRED, NULL, 0), 0);
    cr_expect_eq(sends_count("find", set.overloaded.port, SENDS_FAILED), READS);
    cr_expect_eq(sends_count("find", set.other.port, SENDS_FAILED), READS);
    cr_expect_eq(accepted_by(&set.primary), READS);
}

/* No member has this tag, so that the primary is what is left to ask; and it
 * stays so. */
Test(read_preferences, tags_are_kept)
{
    replica_set_connect();
    member_rejects(&set.primary, "find", 0);
    cr_expect_gt(errors_with(MONGOC_READ_SECONDARY_PREFERRED, "{'no': 'such'}", 0), 0);
    cr_expect_eq(sends_count("find", set.overloaded.port, SENDS_ALL), 0);
    cr_expect_eq(sends_count("find", set.other.port, SENDS_ALL), 0);
}

Test(read_preferences, staleness_is_no_obstacle)
{
    replica_set_connect();
    member_rejects(&set.overloaded, "find", 0);
    cr_expect_eq(errors_with(MONGOC_READ_SECONDARY, NULL, 90), 0);
    cr_expect_eq(accepted_by(&set.other), READS);
}

/* The primary alone has what was written a moment ago. */
Test(read_preferences, primary_stays)
{
    replica_set_connect();
    member_rejects(&set.primary, "find", 2);
    cr_expect(reads_with(NULL));
    cr_expect_eq(sends_count("find", set.primary.port, SENDS_ALL), 3);
    cr_expect_eq(counter_named("retargeted"), 0);
}
