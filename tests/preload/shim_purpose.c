/*
 * Which commands the URI's retryReads and retryWrites stop from being retried.
 */
#include "shim/purpose.h"

#include "shim_driver.h"

#include <criterion/criterion.h>
#include <stdlib.h>
#include <string.h>

static enum mbp_purpose purpose_of(const char *name, const char *json)
{
    bson_t *command = shim_document(json);
    const struct mbp_document view = shim_view(command);
    const enum mbp_purpose purpose = mbp_purpose_of_command(name, &view);
    bson_destroy(command);
    return purpose;
}

Test(shim_purpose, the_driver_says)
{
    enum { RAW, READ, WRITE, READ_WRITE };
    cr_expect_eq(mbp_purpose_of_mode(RAW), MBP_PURPOSE_ANY);
    cr_expect_eq(mbp_purpose_of_mode(READ), MBP_PURPOSE_READ);
    cr_expect_eq(mbp_purpose_of_mode(WRITE), MBP_PURPOSE_WRITE);
    cr_expect_eq(mbp_purpose_of_mode(READ_WRITE), MBP_PURPOSE_ANY);
    cr_expect_eq(mbp_purpose_of_mode(77), MBP_PURPOSE_ANY);
    /* The parameter is an int: the rest of its register may hold anything. */
    cr_expect_eq(mbp_purpose_of_mode(UINT64_C(0xdead00000000) + WRITE), MBP_PURPOSE_WRITE);
}

Test(shim_purpose, the_name_says)
{
    static const struct {
        const char *name;
        enum mbp_purpose purpose;
    } cases[] = {
        {"find", MBP_PURPOSE_READ},
        {"getMore", MBP_PURPOSE_READ},
        {"killCursors", MBP_PURPOSE_READ},
        {"insert", MBP_PURPOSE_WRITE},
        {"findAndModify", MBP_PURPOSE_WRITE},
        {"findandmodify", MBP_PURPOSE_WRITE},
        {"bulkWrite", MBP_PURPOSE_WRITE},
        {"commitTransaction", MBP_PURPOSE_ANY},
        {"ping", MBP_PURPOSE_ANY},
        {"finder", MBP_PURPOSE_ANY},
        {"", MBP_PURPOSE_ANY},
    };
    for (unsigned i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        cr_expect_eq(purpose_of(cases[i].name, "{'a': 1}"), cases[i].purpose, "%s", cases[i].name);
    }
}

Test(shim_purpose, aggregations_by_their_stages)
{
    static const struct {
        const char *command;
        enum mbp_purpose purpose;
    } cases[] = {
        {"{'pipeline': [{'$match': {'a': 1}}]}", MBP_PURPOSE_READ},
        {"{'pipeline': [{'$match': {'a': 1}}, {'$out': 'b'}]}", MBP_PURPOSE_WRITE},
        {"{'pipeline': [{'$merge': {'into': 'b'}}]}", MBP_PURPOSE_WRITE},
        {"{'pipeline': []}", MBP_PURPOSE_READ},
        {"{'cursor': {}}", MBP_PURPOSE_READ},
        /* Only a stage's own name counts. */
        {"{'pipeline': [{'$match': {'$out': 1}}], '$merge': 1}", MBP_PURPOSE_READ},
        /* What no server would take. */
        {"{'pipeline': '$out'}", MBP_PURPOSE_READ},
        {"{'pipeline': ['$out', 1, null]}", MBP_PURPOSE_READ},
    };
    for (unsigned i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        cr_expect_eq(
            purpose_of("aggregate", cases[i].command), cases[i].purpose, "%s", cases[i].command);
    }
}

/* In memory that ends where the document was cut, for a sanitizer to watch. */
Test(shim_purpose, aggregations_cut_anywhere)
{
    bson_t *command = shim_document("{'pipeline': [{'$match': {}}, {'$out': 'b'}]}");
    for (size_t length = 0; length < command->len; length++) {
        uint8_t *cut = malloc(length + 1);
        cr_assert(cut);
        memcpy(cut + 1, bson_get_data(command), length);
        const struct mbp_document view = {.data = cut + 1, .length = length};
        const enum mbp_purpose purpose = mbp_purpose_of_command("aggregate", &view);
        cr_expect(purpose == MBP_PURPOSE_READ || purpose == MBP_PURPOSE_WRITE);
        free(cut);
    }
    bson_destroy(command);
}

Test(shim_purpose, what_each_purpose_needs)
{
    enum { READS = 1, WRITES = 2 };
    static const unsigned needs[] = {
        [MBP_PURPOSE_UNTOLD] = READS | WRITES,
        [MBP_PURPOSE_READ] = READS,
        [MBP_PURPOSE_WRITE] = WRITES,
        [MBP_PURPOSE_ANY] = READS | WRITES,
    };
    for (unsigned purpose = MBP_PURPOSE_UNTOLD; purpose <= MBP_PURPOSE_ANY; purpose++) {
        for (unsigned given = 0; given <= (READS | WRITES); given++) {
            const struct mbp_cluster_facts facts = {
                .retry_reads = given & READS, .retry_writes = given & WRITES};
            cr_expect_eq(mbp_purpose_may_retry(purpose, &facts), (needs[purpose] & ~given) == 0,
                "purpose %u, options %u", purpose, given);
        }
    }
}
