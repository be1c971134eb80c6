/*
 * Connections that are turned away while they are being made.
 */
#include "fake_host.h"

#include <criterion/criterion.h>
#include <mongoc/mongoc.h>
#include <stdio.h>

TestSuite(fake_connect, .init = fake_begin, .fini = fake_end, .timeout = 150);

static_assert(MONGOC_ERROR_CLIENT == 1 && MONGOC_ERROR_STREAM == 2 &&
                  MONGOC_ERROR_STREAM_NAME_RESOLUTION == 3 && MONGOC_ERROR_STREAM_SOCKET == 4 &&
                  MONGOC_ERROR_STREAM_CONNECT == 5 && MONGOC_ERROR_SERVER_SELECTION == 15 &&
                  MONGOC_ERROR_SERVER_SELECTION_FAILURE == 13053,
    "the numbers in the scripts");

#define CLOSED "2/4/connection closed"

/* Versions with different parameters. The fake driver ends the program where
 * one of them is not passed on, or reply and error are not where they should
 * be. Replies are destroyed once each, or a sanitizer tells. */
Test(fake_connect, every_parameter_list)
{
    static const char *const versions[] = {"version:A:1.17.6", "version:A:1.21.0",
        "version:A:1.23.1", "version:A:1.25.4", "version:A:1.26.0", "version:A:1.29.0",
        "version:A:1.30.4", "version:A:2.0.2"};
    for (unsigned i = 0; i < sizeof versions / sizeof versions[0]; i++) {
        fake_expect(fake_linked,
            ACTIONS("linked:A", versions[i], "connect:A:reads:" CLOSED,
                "connect:A:writes:" CLOSED "," CLOSED ",ok", "connect:A:server:" CLOSED ",ok",
                "connect:A:reads:ok", "connect:A:writes-silent:" CLOSED ",ok",
                "connect:A:server-silent:" CLOSED),
            "A failed tries=6 cooldown=1000001 error=2/4 'connection closed' reply=6\n"
            "A connected tries=3 cooldown=1001\n"
            "A connected tries=2 cooldown=101\n"
            "A connected tries=1 cooldown=11\n"
            "A connected tries=2 cooldown=101\n"
            "A failed tries=6 cooldown=1000001\n");
    }
}

/* A function that came with 1.24. */
Test(fake_connect, aggregations_that_write)
{
    static const char *const versions[] = {
        "version:A:1.24.0", "version:A:1.26.0", "version:A:1.30.4", "version:A:2.2.0"};
    for (unsigned i = 0; i < sizeof versions / sizeof versions[0]; i++) {
        fake_expect(fake_linked,
            ACTIONS("linked:A", versions[i], "connect:A:aggregate:" CLOSED ",ok",
                "connect:A:aggregate:" CLOSED),
            "A connected tries=2 cooldown=101\n"
            "A failed tries=6 cooldown=1000001 error=2/4 'connection closed' reply=6\n");
    }
}

Test(fake_connect, counted_and_paid_for)
{
    fake_expect(fake_linked,
        ACTIONS("linked:A", "connect:A:reads:ok", "connect:A:reads:" CLOSED "," CLOSED ",ok",
            "connect:A:reads:" CLOSED),
        "A connected tries=1 cooldown=11\n"
        "A connected tries=3 cooldown=1001\n"
        "A failed tries=6 cooldown=1000001 error=2/4 'connection closed' reply=6\n");
    cr_expect_eq(fake_total(MBP_COUNT_connection_overloads), 8);
    cr_expect_eq(fake_total(MBP_COUNT_connection_retries), 7);
    cr_expect_eq(fake_total(MBP_COUNT_refused_attempts), 1);
    cr_expect_eq(fake_total(MBP_COUNT_operations), 0, "no command was run");
    cr_expect_eq(fake_total(MBP_COUNT_retries), 0);
    /* Of seven tokens one came back, from the try that succeeded. */
    cr_expect_eq(mbp_bucket_balance(&fake_segment().layout->bucket), 994 * MBP_TOKEN);
}

Test(fake_connect, only_what_may_be_overload)
{
    static const struct {
        const char *error;
        bool tried_again;
    } cases[] = {
        {"2/4/Failed to send handshake", true},
        {"2/5/Failed to connect to target host", true},
        {"2/3/Failed to resolve host", false},
        {"2/4/TLS handshake failed", false},
        {"2/4/certificate verify failed", false},
        {"2/4/Authentication failed", false},
        {"15/13053/No suitable servers found [connection closed calling hello on a]", true},
        {"15/13053/No suitable servers found [connection timeout calling hello on a]", true},
        {"15/13053/No suitable servers found [socket timeout calling hello on a]", true},
        {"15/13053/No suitable servers found [connection error calling hello on a]", true},
        {"15/13053/No suitable servers found", false},
        {"1/5/connection closed", false},
        {"11/18/connection closed", false},
    };
    for (unsigned i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        char action[128];
        snprintf(action, sizeof action, "connect:A:writes-silent:%s", cases[i].error);
        fake_expect(fake_linked, ACTIONS("linked:A", action),
            cases[i].tried_again ? "A failed tries=6 cooldown=1000001\n"
                                 : "A failed tries=1 cooldown=11\n");
    }
}

/* The error that the program sees is the one that ended it. */
Test(fake_connect, another_error_on_a_later_try)
{
    fake_expect(fake_linked,
        ACTIONS("linked:A", "connect:A:reads:" CLOSED ",11/18/Authentication failed"),
        "A failed tries=2 cooldown=101 error=11/18 'Authentication failed' reply=2\n");
}

/* Only a connection that is there was asked for. */
Test(fake_connect, no_new_connection_wanted)
{
    fake_expect(fake_linked, ACTIONS("linked:A", "connect:A:server-as-is:" CLOSED),
        "A failed tries=1 cooldown=11 error=2/4 'connection closed' reply=1\n");
    cr_expect_not(fake_has_segment());
}

Test(fake_connect, empty_bucket)
{
    fake_setenv("MONGOBP_CAPACITY", "1");
    fake_expect(fake_linked, ACTIONS("linked:A", "connect:A:reads:" CLOSED),
        "A failed tries=2 cooldown=101 error=2/4 'connection closed' reply=2\n");
    cr_expect_eq(fake_total(MBP_COUNT_refused_budget), 1);
}

Test(fake_connect, observed)
{
    fake_setenv("MONGOBP_OBSERVE", "1");
    fake_expect(fake_linked, ACTIONS("linked:A", "connect:A:reads:" CLOSED),
        "A failed tries=1 cooldown=11 error=2/4 'connection closed' reply=1\n");
    cr_expect_eq(fake_total(MBP_COUNT_observed_retries), 1);
    cr_expect_eq(fake_total(MBP_COUNT_tokens_consumed), 0);
}

Test(fake_connect, disabled)
{
    fake_setenv("MONGOBP_DISABLE", "1");
    fake_expect(fake_linked, ACTIONS("linked:A", "connect:A:reads:" CLOSED),
        "A failed tries=1 cooldown=11 error=2/4 'connection closed' reply=1\n");
    cr_expect_not(fake_has_segment());
}

/* Nobody knows where its parameters are. */
Test(fake_connect, version_not_known)
{
    fake_expect(fake_linked,
        ACTIONS("linked:A", "version:A:9.0.0", "connect:A:reads:" CLOSED,
            "connect:A:writes:" CLOSED, "connect:A:reads:ok"),
        "A failed tries=1 cooldown=11 error=2/4 'connection closed' reply=1\n"
        "A failed tries=1 cooldown=11 error=2/4 'connection closed' reply=1\n"
        "A connected tries=1 cooldown=11\n");
    cr_expect_not(fake_has_segment());
}
