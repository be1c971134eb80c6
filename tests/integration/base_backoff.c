/*
 * An error may say itself how long to wait (baseBackoffMS): today's edition of
 * the specification listens to it, the original one does not know it.
 */
#include "behind_proxy.h"

#include <criterion/criterion.h>
#include <stdlib.h>

enum { ASKED_MS = 1, RETRIES = 2 };

static void with_the_usual_delays(void)
{
    fixture_settings();
    unsetenv("MONGOBP_BASE_BACKOFF_MS");
}

TestSuite(base_backoff, .init = with_the_usual_delays, .fini = behind_proxy_end);

/* The time waited before so many retries of inserts that the server rejects. */
static int64_t waited_ms(int inserted, int base_backoff_ms)
{
    behind_proxy_connect("");
    const struct counters before = counters_now();
    for (int i = 0; i < inserted; i++) {
        proxy_on(proxy, .command = "insert", .times = RETRIES, .base_backoff_ms = base_backoff_ms);
        cr_expect(inserts(i));
        proxy_forget_rules(proxy);
    }
    cr_expect_eq(counters_since(&before).retries, (int64_t)inserted * RETRIES);
    return counters_since(&before).backoff_ms;
}

/* At most 2 + 4 ms for each, where 200 + 400 ms would be usual. */
Test(base_backoff, current_profile)
{
    enum { INSERTED = 3 };
    setenv("MONGOBP_PROFILE", "current", 1);
    cr_expect_leq(waited_ms(INSERTED, ASKED_MS), INSERTED * (2 + 4) * ASKED_MS);
}

/* Up to 100 + 200 ms for each, by chance: that it is next to nothing three
 * times in turn happens once in millions of times. */
Test(base_backoff, original_profile)
{
    enum { INSERTED = 3 };
    cr_expect_gt(waited_ms(INSERTED, ASKED_MS), INSERTED * (2 + 4) * ASKED_MS);
}
