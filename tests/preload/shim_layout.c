/*
 * The table of what differs between drivers' versions, against the driver's
 * own declarations written out here.
 */
#include "shim/driver/layout.h"

#include "tests/preload/fake/fake.h"

#include <criterion/criterion.h>
#include <string.h>

Test(shim_layout, version_numbers)
{
    static const struct {
        const char *text;
        unsigned number;
    } cases[] = {
        {"1.17.6", 1017},
        {"1.30.4", 1030},
        {"2.5.7-20251118+gitabcdef", 2005},
        {"2.0", 2000},
        {"", 0},
        {"2", 0},
        {"v1.23.1", 0},
        {"61.0.0", 0},
        {"1.1000.0", 0},
    };
    for (unsigned i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        cr_expect_eq(mbp_version_number(cases[i].text), cases[i].number, "'%s'", cases[i].text);
    }
}

Test(shim_layout, versions_that_retry_overload)
{
    cr_expect_not(mbp_version_retries_overload(0));
    cr_expect_not(mbp_version_retries_overload(1030));
    cr_expect_not(mbp_version_retries_overload(2002));
    cr_expect(mbp_version_retries_overload(2003));
    cr_expect(mbp_version_retries_overload(3000));
}

/* Parameters of mongoc_cluster_stream_for_*, a letter each: cluster, log
 * context, read preference, session, deprioritized servers, reply, error, and
 * whether it is an aggregation that writes (w). */
static const struct {
    unsigned from, to;
    const char *reads, *writes, *aggregate;
    size_t server_stream, operation_id, array_data;
} known[] = {
    {1017, 1020, "cpsre", "csre", NULL, 56, 64, 24},
    {1021, 1022, "cpsrwe", "csre", NULL, 56, 64, 24},
    {1023, 1023, "cpsrwe", "csre", NULL, 56, 64, 32},
    {1024, 1025, "cpsre", "csre", "cpsre", 56, 64, 32},
    {1026, 1026, "cpsdre", "csdre", "cpsre", 56, 64, 32},
    {1027, 1029, "cpsdre", "csdre", "cpsre", 88, 96, 32},
    {1030, 1030, "clpsdre", "clsdre", "clpsre", 88, 96, 32},
    {2000, 2005, "clpsdre", "clsdre", "clpsre", 88, 96, 32},
};

enum { KNOWN = sizeof known / sizeof known[0] };

static void expect_parameters(unsigned version, const char *letters, unsigned reply, unsigned error)
{
    if (letters) {
        cr_expect_eq(strchr(letters, 'r') - letters, reply, "%u: %s", version, letters);
        cr_expect_eq(strchr(letters, 'e') - letters, error, "%u: %s", version, letters);
    }
}

Test(shim_layout, every_known_version)
{
    for (unsigned i = 0; i < KNOWN; i++) {
        for (unsigned version = known[i].from; version <= known[i].to; version++) {
            const struct mbp_layout_of_driver *layout = mbp_layout_for(version);
            cr_assert(layout, "%u", version);
            cr_expect_eq(layout->server_stream, known[i].server_stream, "%u", version);
            cr_expect_eq(layout->operation_id, known[i].operation_id, "%u", version);
            cr_expect_eq(layout->array_data, known[i].array_data, "%u", version);
            expect_parameters(version, known[i].reads, layout->reads_reply, layout->reads_error);
            expect_parameters(version, known[i].writes, layout->writes_reply, layout->writes_error);
            expect_parameters(
                version, known[i].aggregate, layout->aggregate_reply, layout->aggregate_error);
        }
    }
}

Test(shim_layout, no_other_version_is_known)
{
    for (unsigned version = 0; version < 4000; version++) {
        bool is_known = false;
        for (unsigned i = 0; i < KNOWN; i++) {
            is_known = is_known || (version >= known[i].from && version <= known[i].to);
        }
        cr_expect_eq(mbp_layout_for(version) != NULL, is_known, "%u", version);
    }
}

/* In both kinds of the driver's structures, as the fake driver declares them. */
Test(shim_layout, fields_of_a_command)
{
    const uint32_t server = 5;
    const struct fake_stream stream = {.topology = 1, .server = &server};
    const struct fake_stream later_stream = {.topology = 3, .server = &server};
    struct fake_command fake = {
        .name = "insert",
        .stream = &stream,
        .operation_id = 17,
        .later_stream = &later_stream,
        .later_operation_id = INT64_C(1) << 40,
    };
    struct mbp_command *command = (struct mbp_command *)&fake;
    const struct mbp_layout_of_driver *early = mbp_layout_for(1026);
    const struct mbp_layout_of_driver *late = mbp_layout_for(1027);
    cr_expect_str_eq(mbp_command_name(command), "insert");
    cr_expect_eq((const void *)mbp_command_document(command), (const void *)&fake.body);
    cr_expect_eq(*mbp_command_server_stream(early, command), &stream);
    cr_expect_eq(*mbp_command_server_stream(late, command), &later_stream);
    cr_expect_eq(mbp_command_operation_id(early, command), 17);
    cr_expect_eq(mbp_command_operation_id(late, command), INT64_C(1) << 40);
    cr_expect_eq(mbp_server_stream_topology(&stream), MBP_TOPOLOGY_SHARDED);
    cr_expect_eq(mbp_server_stream_topology(&later_stream), MBP_TOPOLOGY_REPLICA_SET);
    cr_expect_eq(mbp_server_stream_id(&stream), 5);
}

/* mongoc_array_t as it was before 1.23 and as it is since. */
struct early_array {
    size_t length;
    size_t others[2];
    const uint32_t **data;
};

struct late_array {
    size_t length;
    size_t others[3];
    const uint32_t **data;
};

static void expect_dropped(const uint32_t listed[], unsigned count, const char *left)
{
    static const uint32_t ids[] = {1, 2, 3, 4};
    const uint32_t *early_data[] = {&ids[0], &ids[1], &ids[2], &ids[3]};
    const uint32_t *late_data[] = {&ids[0], &ids[1], &ids[2], &ids[3]};
    struct early_array early = {.length = 4, .data = early_data};
    struct late_array late = {.length = 4, .data = late_data};
    mbp_servers_drop(mbp_layout_for(1022), &early, listed, count);
    mbp_servers_drop(mbp_layout_for(1023), &late, listed, count);
    cr_assert_eq(early.length, strlen(left), "not '%s'", left);
    cr_assert_eq(late.length, strlen(left), "not '%s'", left);
    for (unsigned i = 0; left[i]; i++) {
        cr_expect_eq(*early_data[i], (uint32_t)(left[i] - '0'), "not '%s'", left);
        cr_expect_eq(*late_data[i], (uint32_t)(left[i] - '0'), "not '%s'", left);
    }
}

Test(shim_layout, servers_are_dropped_but_never_all)
{
    expect_dropped((const uint32_t[]){2}, 1, "134");
    expect_dropped((const uint32_t[]){4, 1, 9}, 3, "23");
    expect_dropped((const uint32_t[]){1, 2, 4}, 3, "3");
    expect_dropped((const uint32_t[]){1, 2, 3, 4}, 4, "1234");
    expect_dropped((const uint32_t[]){9}, 1, "1234");
    expect_dropped((const uint32_t[]){9}, 0, "1234");
}

Test(shim_layout, no_servers_to_drop)
{
    struct late_array none = {.length = 0};
    mbp_servers_drop(mbp_layout_for(1023), &none, (const uint32_t[]){1}, 1);
    cr_expect_eq(none.length, 0);
}
