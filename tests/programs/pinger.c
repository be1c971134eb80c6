/*
 * Sends pings, one after the other: a program whose time goes into commands
 * and nothing else, for the benchmark. It knows nothing of mongobp.
 *
 *   pinger URI PINGS
 *
 * One ping more comes first, so that connecting is not measured. Prints
 * "PINGS SECONDS". Exit status: 0 all succeeded, 1 one failed, 2 the arguments
 * are wrong.
 *
 * Builds with libmongoc 1.17 up to 2.x.
 */
#include <mongoc/mongoc.h>

#include <stdio.h>
#include <stdlib.h>
#include <time.h>

enum { EXIT_BAD_USAGE = 2 };

/* A function of its own: callgrind can be told to count inside it alone. */
__attribute__((noinline)) static bool ping(mongoc_client_t *client, const bson_t *command)
{
    bson_t reply;
    bson_error_t error;
    const bool ok = mongoc_client_command_simple(client, "admin", command, NULL, &reply, &error);
    bson_destroy(&reply);
    if (!ok) {
        fprintf(stderr, "pinger: %s (%u)\n", error.message, (unsigned)error.code);
    }
    return ok;
}

static double now_s(void)
{
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (double)now.tv_sec + (double)now.tv_nsec / 1e9;
}

static bool measure(mongoc_client_t *client, long pings)
{
    bson_t *command = BCON_NEW("ping", BCON_INT32(1));
    bool ok = ping(client, command);
    const double start_s = now_s();
    for (long i = 0; ok && i < pings; i++) {
        ok = ping(client, command);
    }
    if (ok) {
        printf("%ld %.6f\n", pings, now_s() - start_s);
    }
    bson_destroy(command);
    return ok;
}

int main(int argc, char **argv)
{
    char *rest = NULL;
    const long pings = argc == 3 ? strtol(argv[2], &rest, 10) : -1;
    if (pings < 0 || rest == argv[2] || *rest != '\0') {
        fprintf(stderr, "usage: pinger URI PINGS\n");
        return EXIT_BAD_USAGE;
    }

    mongoc_init();
    int status = EXIT_BAD_USAGE;
    mongoc_client_t *client = mongoc_client_new(argv[1]);
    if (client) {
        status = measure(client, pings) ? EXIT_SUCCESS : EXIT_FAILURE;
        mongoc_client_destroy(client);
    } else {
        fprintf(stderr, "pinger: bad URI\n");
    }
    mongoc_cleanup();
    return status;
}
