/*
 * Takes tokens out of a shared bucket, so that a program measured afterwards
 * finds it not full.
 *
 *   drain BUCKET TOKENS
 */
#include "common/segment.h"

#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

int main(int argc, char **argv)
{
    const unsigned long tokens = argc == 3 ? strtoul(argv[2], NULL, 10) : 0;
    if (tokens < 1 || tokens > MBP_BUCKET_MAX_TOKENS) {
        fprintf(stderr, "usage: drain BUCKET TOKENS\n");
        return 2;
    }
    const mbp_millitokens amount = (mbp_millitokens)tokens * MBP_TOKEN;
    char name[MBP_SEGMENT_NAME_SIZE];
    char fault[MBP_FAULT_SIZE];
    struct mbp_segment segment;
    mbp_segment_name(name, geteuid(), argv[1]);
    if (!mbp_segment_attach(&segment, name, amount, fault)) {
        fprintf(stderr, "drain: %s: %s\n", name, fault);
        return EXIT_FAILURE;
    }
    if (!mbp_bucket_consume(&segment.layout->bucket, amount)) {
        fprintf(stderr, "drain: %s holds fewer than %lu tokens\n", name, tokens);
        return EXIT_FAILURE;
    }
    return EXIT_SUCCESS;
}
