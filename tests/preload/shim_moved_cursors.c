/*
 * The table of cursors that are not where the driver believes them. It is the
 * process's own, and each test is a process.
 */
#include "shim/moved_cursors.h"

#include <criterion/criterion.h>
#include <pthread.h>
#include <stdatomic.h>

/* Addresses that stand for clusters; nobody looks behind them. */
static char addresses[8];

static const struct mbp_cluster *cluster(unsigned number)
{
    return (const struct mbp_cluster *)&addresses[number];
}

Test(shim_moved_cursors, found_until_removed)
{
    cr_expect_not(mbp_moved_cursors_exist());
    cr_expect_eq(mbp_moved_cursors_find(cluster(0), 7), 0);
    mbp_moved_cursors_add(cluster(0), 7, 2);
    cr_expect(mbp_moved_cursors_exist());
    cr_expect_eq(mbp_moved_cursors_find(cluster(0), 7), 2);
    cr_expect_eq(mbp_moved_cursors_find(cluster(0), 8), 0);
    cr_expect_eq(mbp_moved_cursors_find(cluster(1), 7), 0);

    mbp_moved_cursors_remove(cluster(1), 7);
    mbp_moved_cursors_remove(cluster(0), 8);
    cr_expect_eq(mbp_moved_cursors_find(cluster(0), 7), 2);
    mbp_moved_cursors_remove(cluster(0), 7);
    mbp_moved_cursors_remove(cluster(0), 7);
    cr_expect_eq(mbp_moved_cursors_find(cluster(0), 7), 0);
    cr_expect_not(mbp_moved_cursors_exist());
}

/* Numbers of cursors repeat between servers, so between clients, too. */
Test(shim_moved_cursors, a_client_that_ends_takes_only_its_own)
{
    for (unsigned i = 0; i < 10; i++) {
        mbp_moved_cursors_add(cluster(i % 2), 100 + i / 2, 1 + i);
    }
    mbp_moved_cursors_remove_all(cluster(0));
    for (unsigned i = 0; i < 10; i++) {
        cr_expect_eq(mbp_moved_cursors_find(cluster(i % 2), 100 + i / 2), i % 2 ? 1 + i : 0);
    }
    mbp_moved_cursors_remove_all(cluster(0));
    mbp_moved_cursors_remove_all(cluster(1));
    cr_expect_not(mbp_moved_cursors_exist());
}

/* There is some room left after it says that there is none; past its end, a
 * cursor is lost and all others are still there. */
Test(shim_moved_cursors, full_and_used_again)
{
    enum { MORE_THAN_FIT = 5000 };
    unsigned kept = 0;
    unsigned kept_with_room = 0;
    for (unsigned i = 1; i <= MORE_THAN_FIT; i++) {
        const bool had_room = mbp_moved_cursors_have_room();
        mbp_moved_cursors_add(cluster(0), i, 3);
        const bool found = mbp_moved_cursors_find(cluster(0), i) == 3;
        cr_assert(found || !had_room);
        kept += found;
        kept_with_room += found && had_room;
    }
    cr_expect_gt(kept, kept_with_room);
    cr_expect_lt(kept, MORE_THAN_FIT);
    cr_expect_eq(mbp_moved_cursors_find(cluster(0), 1), 3);
    cr_expect_eq(mbp_moved_cursors_find(cluster(0), kept), 3);

    mbp_moved_cursors_remove(cluster(0), 5);
    mbp_moved_cursors_add(cluster(1), 5, 4);
    cr_expect_eq(mbp_moved_cursors_find(cluster(1), 5), 4);
    mbp_moved_cursors_remove_all(cluster(0));
    cr_expect(mbp_moved_cursors_have_room());
    cr_expect_eq(mbp_moved_cursors_find(cluster(1), 5), 4);
}

static _Atomic unsigned wrong;

/* What one client does all its life. */
static void *come_and_go(void *own)
{
    enum { ROUNDS = 300, AT_ONCE = 8 };
    const uint32_t server = (uint32_t)(1 + ((char *)own - addresses));
    for (unsigned round = 0; round < ROUNDS; round++) {
        for (unsigned i = 1; i <= AT_ONCE; i++) {
            mbp_moved_cursors_add(own, i, server);
        }
        for (unsigned i = 1; i <= AT_ONCE; i++) {
            wrong += mbp_moved_cursors_find(own, i) != server;
        }
        if (round % 2) {
            mbp_moved_cursors_remove_all(own);
        } else {
            for (unsigned i = 1; i <= AT_ONCE; i++) {
                mbp_moved_cursors_remove(own, i);
            }
        }
        wrong += mbp_moved_cursors_find(own, 1) != 0;
    }
    return NULL;
}

Test(shim_moved_cursors, many_clients_at_once)
{
    pthread_t threads[sizeof addresses];
    for (unsigned i = 0; i < sizeof addresses; i++) {
        cr_assert_eq(pthread_create(&threads[i], NULL, come_and_go, &addresses[i]), 0);
    }
    for (unsigned i = 0; i < sizeof addresses; i++) {
        pthread_join(threads[i], NULL);
    }
    cr_expect_eq(wrong, 0);
    cr_expect_not(mbp_moved_cursors_exist());
}
