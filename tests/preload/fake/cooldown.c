/*
 * A server that cools down for ever. Apart from those who ask, so that no
 * compiler can take the short way around the PLT.
 */
#include "driver.h"

bool mongoc_topology_scanner_node_in_cooldown(void *node, int64_t when)
{
    return node && when == 17;
}
