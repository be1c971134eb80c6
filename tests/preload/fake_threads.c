/*
 * Threads and forks.
 */
#include "common/slots.h"
#include "fake_host.h"

#include <criterion/criterion.h>
#include <string.h>

TestSuite(fake_threads, .init = fake_begin, .fini = fake_end, .timeout = 150);

static const struct mbp_slot *slot(unsigned number)
{
    return &fake_segment().layout->slots[number];
}

static unsigned slots_used(void)
{
    return fake_segment().layout->slots_used;
}

/* Two tokens for each command, 1.1 back. */
Test(fake_threads, eight_at_once)
{
    enum { COMMANDS = 8 * 100 };
    fake_setenv("MONGOBP_CAPACITY", "10000");
    fake_expect(fake_linked, ACTIONS("linked:A", "threads:A:8:100:462ro,462ro,ok"),
        "A commands=800 ok=800 sends=2400\n");
    cr_expect_eq(fake_total(MBP_COUNT_operations), COMMANDS);
    cr_expect_eq(fake_total(MBP_COUNT_retries), 2 * COMMANDS);
    cr_expect_eq(fake_total(MBP_COUNT_retry_successes), COMMANDS);
    cr_expect_eq(mbp_bucket_balance(&fake_segment().layout->bucket),
        10000 * MBP_TOKEN - COMMANDS * 9 * MBP_TOKEN / 10);
    cr_expect_eq(slots_used(), 1);
}

Test(fake_threads, eight_at_once_opened_local)
{
    fake_expect(fake_dlopen, ACTIONS("open:A:local:@fake", "threads:A:8:50:462r,ok", "sends:A"),
        "A commands=400 ok=400 sends=800\n"
        "A saw 800\n");
    cr_expect_eq(fake_total(MBP_COUNT_operations), 400);
}

/* A budget for ten retries is spent by all threads together. */
Test(fake_threads, share_one_budget)
{
    fake_setenv("MONGOBP_CAPACITY", "10");
    fake_expect(
        fake_linked, ACTIONS("linked:A", "threads:A:8:5:462ro"), "A commands=40 ok=0 sends=50\n");
    cr_expect_eq(mbp_bucket_balance(&fake_segment().layout->bucket), 0);
}

Test(fake_threads, settings_are_complained_about_once)
{
    fake_setenv("MONGOBP_MAX_RETRIES", "many");
    fake_expect_warning(fake_linked, ACTIONS("linked:A", "threads:A:8:5:462ro,ok", "run:A:ok"),
        "A commands=40 ok=40 sends=80\n"
        "A ok sends=1 reply=1\n",
        "MONGOBP_MAX_RETRIES=\"many\"");
}

Test(fake_threads, fork_after_a_command)
{
    fake_expect(fake_linked, ACTIONS("linked:A", "run:A:ok", "fork", "run:A:462ro,ok"),
        "A ok sends=1 reply=1\n"
        "child\n"
        "A ok sends=2 reply=2\n"
        "parent, child ended with 0\n"
        "A ok sends=2 reply=2\n");
    cr_assert_eq(slots_used(), 2);
    cr_expect_neq(mbp_slot_pid(slot(0)), mbp_slot_pid(slot(1)));
    cr_expect_eq(mbp_slot_own_count(slot(0), MBP_COUNT_operations), 2);
    cr_expect_eq(mbp_slot_own_count(slot(1), MBP_COUNT_operations), 1);
    cr_expect_str_eq(slot(1)->driver_version, "1.23.1");
    cr_expect_eq(mbp_bucket_balance(&fake_segment().layout->bucket), 1000 * MBP_TOKEN);
}

/* The child is gone when its parent comes to take a slot. */
Test(fake_threads, fork_before_the_first_command)
{
    fake_expect(fake_linked, ACTIONS("linked:A", "fork", "run:A:462ro,ok"),
        "child\n"
        "A ok sends=2 reply=2\n"
        "parent, child ended with 0\n"
        "A ok sends=2 reply=2\n");
    cr_expect_eq(slots_used(), 1);
    cr_expect_eq(mbp_slot_own_count(slot(0), MBP_COUNT_operations), 1);
    cr_expect_eq(fake_total(MBP_COUNT_operations), 2);
}

Test(fake_threads, forks_of_forks)
{
    fake_expect(fake_linked,
        ACTIONS("linked:A", "run:A:ok", "fork", "run:A:ok", "fork", "run:A:ok"),
        "A ok sends=1 reply=1\n"
        "child\n"
        "A ok sends=1 reply=1\n"
        "child\n"
        "A ok sends=1 reply=1\n"
        "parent, child ended with 0\n"
        "A ok sends=1 reply=1\n"
        "parent, child ended with 0\n"
        "A ok sends=1 reply=1\n"
        "child\n"
        "A ok sends=1 reply=1\n"
        "parent, child ended with 0\n"
        "A ok sends=1 reply=1\n");
    cr_expect_eq(fake_total(MBP_COUNT_operations), 7);
}

/* From a monitoring callback, say: both go on with the same command. */
Test(fake_threads, fork_inside_a_command)
{
    fake_expect(fake_linked, ACTIONS("linked:A", "run:A:fork+462ro,ok", "run:A:462ro,ok"),
        "A ok sends=2 reply=2\n"
        "A ok sends=2 reply=2\n"
        "A ok sends=2 reply=2\n");
    cr_expect_eq(fake_total(MBP_COUNT_operations), 3);
    cr_expect_eq(fake_total(MBP_COUNT_retries), 3);
}

static void copy_delays(const char **err, unsigned count, char *delays, size_t size)
{
    delays[0] = '\0';
    for (unsigned i = 0; i < count; i++) {
        const char *delay = strstr(*err, " in ");
        cr_assert(delay, "too few delays");
        *err = delay + 4;
        strncat(delays, *err, strcspn(*err, "m"));
        cr_assert_lt(strlen(delays), size - 16);
    }
}

/* Parent and child would otherwise come back to the server together. */
Test(fake_threads, child_waits_out_of_step_with_its_parent)
{
    char childs[128];
    char parents[128];
    fake_setenv("MONGOBP_LOG", "info");
    fake_setenv("MONGOBP_BASE_BACKOFF_MS", "50");
    fake_setenv("MONGOBP_MAX_BACKOFF_MS", "50");
    const char *err =
        fake_run_host(fake_linked, ACTIONS("linked:A", "run:A:ok", "fork", "run:A:462ro:re"),
            "A ok sends=1 reply=1\n"
            "child\n"
            "A failed sends=6\n"
            "parent, child ended with 0\n"
            "A failed sends=6\n");
    copy_delays(&err, 5, childs, sizeof childs);
    copy_delays(&err, 5, parents, sizeof parents);
    cr_expect_str_neq(childs, parents);
}

static void need_fork_beside_threads(void)
{
#ifdef __SANITIZE_ADDRESS__
    cr_skip("the sanitizer's own allocator may be locked by a thread that a child does not have");
#endif
}

/* Locks held by other threads at the moment of the fork are held for ever in
 * the child: any lock on our way would hang it. */
Test(fake_threads, fork_while_other_threads_run_commands)
{
    need_fork_beside_threads();
    fake_expect(fake_linked, ACTIONS("linked:A", "storm:A:4:200:462ro,ok"),
        "A forks=200 bad=0 others=ok\n");
    cr_expect_geq(fake_total(MBP_COUNT_operations), 200);
}

Test(fake_threads, fork_while_other_threads_run_commands_opened_local)
{
    need_fork_beside_threads();
    fake_expect(fake_dlopen, ACTIONS("open:A:local:@fake", "storm:A:4:200:462r,ok"),
        "A forks=200 bad=0 others=ok\n");
}

/* The very first command, with all its setting up, again and again. */
Test(fake_threads, fork_while_the_first_command_runs)
{
    need_fork_beside_threads();
    for (unsigned i = 0; i < 30; i++) {
        fake_expect(
            fake_linked, ACTIONS("linked:A", "storm:A:3:5:462r,ok"), "A forks=5 bad=0 others=ok\n");
    }
}
