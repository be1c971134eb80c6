#include "shim/driver/layout.h"

#include <stddef.h>
#include <stdlib.h>
#include <string.h>

/* clang-format off */
static const struct mbp_layout_of_driver layouts[] = {
    /*           command        array   reads    writes   aggregate with $out */
    {1017, 1020, 56, 64,   0,   24,     3, 4,    2, 3,    3, 4},
    {1021, 1022, 56, 64,   0,   24,     3, 5,    2, 3,    3, 4},
    {1023, 1023, 56, 64,   0,   32,     3, 5,    2, 3,    3, 4},
    {1024, 1024, 56, 64,   0,   32,     3, 4,    2, 3,    3, 4},
    {1025, 1025, 56, 64,  90,   32,     3, 4,    2, 3,    3, 4},
    {1026, 1026, 56, 64,  90,   32,     4, 5,    3, 4,    3, 4},
    {1027, 1029, 88, 96, 122,   32,     4, 5,    3, 4,    3, 4},
    {1030, 1030, 88, 96, 122,   32,     5, 6,    4, 5,    4, 5},
    {2000, 2005, 88, 96, 122,   32,     5, 6,    4, 5,    4, 5},
};
/* clang-format on */

enum {
    DOCUMENT_OFFSET = 16, /* mongoc_cmd_t */
    NAME_OFFSET = 24,
    DESCRIPTION_OFFSET = 8,  /* mongoc_server_stream_t */
    ELIGIBILITY_OFFSET = 24, /* mongoc_retryable_cmd_t */
    MOST_RETRIES_OFFSET = 48,
};

unsigned mbp_version_number(const char *version)
{
    char *end;
    const unsigned long major = strtoul(version, &end, 10);
    if (*end != '.' || major > 60) {
        return 0;
    }
    const unsigned long minor = strtoul(end + 1, &end, 10);
    return minor > 999 ? 0 : (unsigned)(major * 1000 + minor);
}

const struct mbp_layout_of_driver *mbp_layout_for(unsigned version)
{
    for (unsigned i = 0; i < sizeof layouts / sizeof layouts[0]; i++) {
        if (version >= layouts[i].from && version <= layouts[i].to) {
            return &layouts[i];
        }
    }
    return NULL;
}

bool mbp_version_retries_overload(unsigned version)
{
    return version >= 2003;
}

static void *field(const void *structure, size_t offset)
{
    return (char *)structure + offset;
}

const struct mbp_bson **mbp_command_document(struct mbp_command *command)
{
    return field(command, DOCUMENT_OFFSET);
}

const char *mbp_command_name(const struct mbp_command *command)
{
    return *(const char **)field(command, NAME_OFFSET);
}

void **mbp_command_server_stream(
    const struct mbp_layout_of_driver *layout, struct mbp_command *command)
{
    return field(command, layout->server_stream);
}

int64_t mbp_command_operation_id(
    const struct mbp_layout_of_driver *layout, const struct mbp_command *command)
{
    return *(int64_t *)field(command, layout->operation_id);
}

bool mbp_command_is_exhaust(
    const struct mbp_layout_of_driver *layout, const struct mbp_command *command)
{
    return layout->is_exhaust && *(const bool *)field(command, layout->is_exhaust);
}

enum mbp_topology mbp_server_stream_topology(const void *server_stream)
{
    return *(const enum mbp_topology *)server_stream;
}

uint32_t mbp_server_stream_id(const void *server_stream)
{
    return **(uint32_t **)field(server_stream, DESCRIPTION_OFFSET);
}

int mbp_retryable_eligibility(const void *retryable)
{
    return *(int *)field(retryable, ELIGIBILITY_OFFSET);
}

int32_t mbp_retryable_most_retries(const void *retryable)
{
    return *(int32_t *)field(retryable, MOST_RETRIES_OFFSET);
}

static bool is_listed(uint32_t id, const uint32_t listed[], unsigned count)
{
    for (unsigned i = 0; i < count; i++) {
        if (listed[i] == id) {
            return true;
        }
    }
    return false;
}

void mbp_servers_drop(
    const struct mbp_layout_of_driver *layout, void *array, const uint32_t listed[], unsigned count)
{
    size_t *length = array;
    const uint32_t **servers = *(const uint32_t ***)field(array, layout->array_data);
    size_t kept = 0;
    for (size_t i = 0; i < *length; i++) {
        if (!is_listed(*servers[i], listed, count)) {
            kept++;
        }
    }
    if (kept == 0 || kept == *length) {
        return;
    }
    size_t place = 0;
    for (size_t i = 0; i < *length; i++) {
        if (!is_listed(*servers[i], listed, count)) {
            servers[place++] = servers[i];
        }
    }
    *length = kept;
}
