/*
 * The keeper of the message that every connection begins with. It keeps one,
 * as the driver up to 1.19 hands out, and makes copies, as later ones do.
 */
#include "driver.h"

#include <bson/bson.h>

struct fake_reply *_mongoc_topology_scanner_get_ismaster(void *scanner)
{
    return scanner;
}

struct fake_reply *_mongoc_topology_scanner_get_handshake_cmd(void *scanner)
{
    return scanner;
}

void _mongoc_topology_scanner_dup_handshake_cmd(void *scanner, struct fake_reply *copy)
{
    bson_copy_to(scanner, (bson_t *)copy);
}

/* Hands back a copy of what would be sent. */
void *mongoc_async_cmd_new(uintptr_t async, void *stream, uintptr_t is_setup_done, uintptr_t dns,
    uintptr_t initiator, uintptr_t delay, uintptr_t setup, uintptr_t setup_context,
    uintptr_t database, const struct fake_reply *command, uintptr_t opcode, uintptr_t callback,
    uintptr_t context, uintptr_t timeout)
{
    (void)stream;
    /* Each has its own number, see hello.c. */
    const bool all_there = async == 1 && is_setup_done == 3 && dns == 4 && initiator == 5 &&
                           delay == 6 && setup == 7 && setup_context == 8 && database == 9 &&
                           opcode == 11 && callback == 12 && context == 13 && timeout == 14;
    return all_there ? bson_copy((const bson_t *)command) : NULL;
}
