#include "shim/purpose.h"

#include <string.h>

enum mbp_purpose mbp_purpose_of_mode(uintptr_t mode)
{
    static const enum mbp_purpose purposes[] = {
        MBP_PURPOSE_ANY, MBP_PURPOSE_READ, MBP_PURPOSE_WRITE, MBP_PURPOSE_ANY};
    const unsigned known = (unsigned)mode;
    return known < sizeof purposes / sizeof purposes[0] ? purposes[known] : MBP_PURPOSE_ANY;
}

static bool is_one_of(const char *name, const char *const names[])
{
    for (; *names; names++) {
        if (strcmp(name, *names) == 0) {
            return true;
        }
    }
    return false;
}

/* An aggregation whose result goes into a collection. */
static bool writes_its_result(const struct mbp_document *command)
{
    struct mbp_field field;
    struct mbp_field stage_field;
    struct mbp_document pipeline;
    struct mbp_document stage;
    size_t position = 0;
    if (!mbp_document_find(command, "pipeline", &field) ||
        !mbp_field_as_document(&field, &pipeline)) {
        return false;
    }
    while (mbp_document_next(&pipeline, &position, &field)) {
        if (mbp_field_as_document(&field, &stage) &&
            (mbp_document_find(&stage, "$out", &stage_field) ||
                mbp_document_find(&stage, "$merge", &stage_field))) {
            return true;
        }
    }
    return false;
}

enum mbp_purpose mbp_purpose_of_command(const char *name, const struct mbp_document *command)
{
    static const char *const reads[] = {"find", "getMore", "count", "distinct", "listCollections",
        "listDatabases", "listIndexes", "killCursors", NULL};
    static const char *const writes[] = {"insert", "update", "delete", "findAndModify",
        "findandmodify", "bulkWrite", "create", "createIndexes", "drop", "dropDatabase",
        "dropIndexes", "renameCollection", NULL};
    if (strcmp(name, "aggregate") == 0) {
        return writes_its_result(command) ? MBP_PURPOSE_WRITE : MBP_PURPOSE_READ;
    }
    return is_one_of(name, reads)    ? MBP_PURPOSE_READ
           : is_one_of(name, writes) ? MBP_PURPOSE_WRITE
                                     : MBP_PURPOSE_ANY;
}

bool mbp_purpose_may_retry(enum mbp_purpose purpose, const struct mbp_cluster_facts *facts)
{
    return (facts->retry_reads || purpose == MBP_PURPOSE_WRITE) &&
           (facts->retry_writes || purpose == MBP_PURPOSE_READ);
}
