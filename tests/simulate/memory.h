/*
 * Memory or the end: a simulation that runs out of it has no result to save.
 */
#ifndef SIM_MEMORY_H
#define SIM_MEMORY_H

#include <stdio.h>
#include <stdlib.h>

/* Zeroed; the caller frees it. Never NULL. */
static inline void *sim_allocate(size_t count, size_t size)
{
    void *memory = calloc(count ? count : 1, size);
    if (!memory) {
        perror("simulator");
        exit(1);
    }
    return memory;
}

#endif
