/*
 * Several processes and one bucket, and one process that becomes two.
 */
#include "fixture.h"

#include "tests/support/processes.h"

#include <criterion/criterion.h>
#include <stdlib.h>
#include <unistd.h>

TestSuite(processes, .init = fixture_settings, .fini = fixture_end);

/* What a child has seen; in memory that it shares with the test. */
struct account {
    struct start_line start;
    int accepted;
    struct tally inserts;
};

/* In a child: connects, waits for the start and inserts so often. Ends without
 * clean-up, so that no other command follows. */
static _Noreturn void be_application(struct account *account, int operations)
{
    /* The parent's, which the child has copies of: they are not lost. */
    static void *volatile inherited[2] __attribute__((used));
    inherited[0] = fixture.client;
    inherited[1] = fixture.collection;
    watch_reset();
    fixture.client = fixture_new_client();
    fixture.collection = mongoc_client_get_collection(fixture.client, fixture.name, "things");
    start_line_wait(&account->start);
    for (int i = 0; i < operations; i++) {
        account->accepted += inserts(i);
    }
    account->inserts = watch_tally("insert");
    _exit(0);
}

static pid_t start_application(struct account *account, int operations)
{
    const pid_t child = child_fork();
    if (child == 0) {
        be_application(account, operations);
    }
    return child;
}

/* Each would use five of the seven tokens. */
Test(processes, two_share_one_bucket)
{
    setenv("MONGOBP_CAPACITY", "7", 1);
    fixture_connect_admin();
    cr_assert(reject(.command = "insert"));
    const struct counters before = counters_now();
    struct account *accounts[2];
    pid_t children[2];
    for (int i = 0; i < 2; i++) {
        accounts[i] = shared_memory(sizeof *accounts[i]);
        children[i] = start_application(accounts[i], 1);
    }
    for (int i = 0; i < 2; i++) {
        start_line_open(&accounts[i]->start, 1);
    }
    for (int i = 0; i < 2; i++) {
        cr_expect(child_succeeded(children[i]));
        cr_expect_eq(accounts[i]->accepted, 0);
    }

    /* One may have had its five before the other came to its third. */
    const struct counters all = counters_since(&before);
    cr_expect_eq(accounts[0]->inserts.started + accounts[1]->inserts.started, 2 + 7);
    cr_expect(all.refused_budget == 2 || (all.refused_budget == 1 && all.refused_attempts == 1));
    expect_counters(&before, .operations = 2, .retries = 7, .overload_errors = 9,
        .refused_budget = all.refused_budget, .refused_attempts = all.refused_attempts,
        .tokens_consumed = 7000);
    cr_expect_eq(tokens_left(), 0);
    for (int i = 0; i < 2; i++) {
        struct counters own;
        cr_assert(counters_of_process(children[i], &own));
        cr_expect_eq(own.operations, 1);
        cr_expect_eq(own.retries, accounts[i]->inserts.started - 1);
    }
}

/* What one has spent, the next one does not have. */
Test(processes, bucket_outlives_a_process)
{
    setenv("MONGOBP_CAPACITY", "5", 1);
    fixture_connect_admin();
    cr_assert(reject(.command = "insert"));
    const struct counters before = counters_now();
    const int sends[] = {6, 1, 1};
    for (int i = 0; i < 3; i++) {
        struct account *account = shared_memory(sizeof *account);
        const pid_t child = start_application(account, 1);
        start_line_open(&account->start, 1);
        cr_expect(child_succeeded(child));
        cr_expect_eq(account->inserts.started, sends[i]);
    }
    expect_counters(&before, .operations = 3, .retries = 5, .overload_errors = 8,
        .refused_attempts = 1, .refused_budget = 2, .tokens_consumed = 5000);
}

/* The parent's client is the parent's: the child opens one of its own. */
Test(processes, fork_in_the_middle)
{
    fixture_connect();
    cr_assert(inserts(100));
    cr_assert(reject(.command = "insert", .times = 3));
    struct counters parent_before;
    cr_assert(counters_of_process(getpid(), &parent_before));
    const struct counters before = counters_now();

    struct account *account = shared_memory(sizeof *account);
    const pid_t child = start_application(account, 2);
    start_line_open(&account->start, 1);
    cr_expect(child_succeeded(child));

    cr_expect_eq(account->accepted, 2);
    cr_expect_eq(account->inserts.started, 3 + 2);
    struct counters own;
    cr_assert(counters_of_process(child, &own), "the child has a slot of its own");
    cr_expect_eq(own.operations, 2);
    cr_expect_eq(own.retries, 3);
    struct counters parent_after;
    cr_assert(counters_of_process(getpid(), &parent_after));
    cr_expect_eq(parent_after.operations, parent_before.operations);
    expect_counters(&before, .operations = 2, .first_successes = 1, .retries = 3,
        .retry_successes = 1, .overload_errors = 3, .tokens_consumed = 3000,
        .tokens_deposited = 1100 + 100);

    cr_expect(inserts(101), "the parent goes on");
    cr_assert(counters_of_process(getpid(), &parent_after));
    cr_expect_eq(parent_after.operations, parent_before.operations + 1);
    cr_expect_eq(fixture_count("{}"), 4);
}
