/*
 * The engine beside an independent model of the specification: its Python
 * pseudocode as a plain loop, and the numbered rules where the two disagree
 * (the delay's exponent starts with 0; a retry that fails without overload
 * gets its token back). Both live through the same random operations.
 */
#include "common/engine.h"

#include <criterion/criterion.h>
#include <math.h>
#include <stdlib.h>

#define MAX_ATTEMPTS 5
#define MOST_SENDS 10 /* more than either may make */

/* What would happen to the n-th send of an operation, if it is made. */
struct fate {
    bool ok;
    bool retryable, overloaded;
    double jitter;
    unsigned service_ms;
};

struct history {
    unsigned sends;
    uint64_t delays_ms[MOST_SENDS];
    uint64_t ended_ms;
    bool ok;
};

/* The balance in tenths of a token: the model shares not even the unit. */
struct model {
    int tenths, capacity;
    uint64_t timeout_ms;
};

static void model_deposit(struct model *model, int tenths)
{
    model->tenths += tenths;
    if (model->tenths > model->capacity) {
        model->tenths = model->capacity;
    }
}

static struct history run_model(struct model *model, const struct fate fates[], uint64_t now_ms)
{
    struct history history = {0};
    const uint64_t deadline_ms = now_ms + model->timeout_ms;
    int attempt = 0;
    while (true) {
        const struct fate *fate = &fates[history.sends++];
        now_ms += fate->service_ms;
        history.ended_ms = now_ms;
        if (fate->ok) {
            model_deposit(model, attempt > 0 ? 11 : 1);
            history.ok = true;
            return history;
        }
        if (attempt > 0 && !fate->overloaded) {
            model_deposit(model, 10);
        }
        attempt += 1;
        if (attempt > MAX_ATTEMPTS) {
            return history;
        }
        if (!fate->retryable) {
            return history;
        }
        double backoff_ms = 0;
        if (fate->overloaded) {
            /* Whole milliseconds: the one freedom the engine takes. */
            backoff_ms = floor(fate->jitter * fmin(10000, 100 * pow(2, attempt - 1)));
        }
        if (model->timeout_ms && (double)now_ms + backoff_ms > (double)deadline_ms) {
            return history;
        }
        if (model->tenths < 10) {
            return history;
        }
        model->tenths -= 10;
        now_ms += (uint64_t)backoff_ms;
        history.delays_ms[history.sends - 1] = (uint64_t)backoff_ms;
    }
}

static double draw_fate(void *state)
{
    return (*(const struct fate **)state)->jitter;
}

static struct history run_engine(
    struct mbp_engine *engine, const struct fate fates[], uint64_t now_ms)
{
    struct history history = {0};
    struct mbp_operation operation = mbp_engine_begin(engine, now_ms);
    struct mbp_verdict verdict;
    do {
        const struct fate *fate = &fates[history.sends++];
        now_ms += fate->service_ms;
        history.ended_ms = now_ms;
        history.ok = fate->ok;
        engine->jitter = (struct mbp_jitter){.next = draw_fate, .state = &fate};
        const struct mbp_attempt attempt = {
            .ok = fate->ok,
            .labels = (fate->retryable ? MBP_LABEL_RETRYABLE : 0u) |
                      (fate->overloaded ? MBP_LABEL_OVERLOADED : 0u),
            .now_ms = now_ms,
        };
        verdict = mbp_engine_settle(engine, &operation, &attempt);
        if (verdict.retry) {
            now_ms += verdict.delay_ms;
            history.delays_ms[history.sends - 1] = verdict.delay_ms;
        }
    } while (verdict.retry && history.sends < MOST_SENDS);
    engine->jitter = (struct mbp_jitter){0};
    return history;
}

/* A world: how likely what is, and how much there is to spend. */
struct world {
    const char *name;
    double ok, retryable, overloaded;
    int capacity_tokens;
    uint64_t timeout_ms;
};

static void draw_fates(struct fate fates[], const struct world *world, unsigned short random[3])
{
    for (int i = 0; i < MOST_SENDS; i++) {
        fates[i] = (struct fate){
            .ok = erand48(random) < world->ok,
            .retryable = erand48(random) < world->retryable,
            .overloaded = erand48(random) < world->overloaded,
            .jitter = erand48(random),
            .service_ms = (unsigned)nrand48(random) % 20,
        };
    }
}

static void compare(const struct world *world)
{
    enum { OPERATIONS = 5000 };
    unsigned short random[3] = {1, 2, 3};
    const struct mbp_policy policy = {
        .numbers = mbp_profiles[0],
        .timeout_ms = world->timeout_ms,
    };
    struct model model = {
        .tenths = world->capacity_tokens * 10,
        .capacity = world->capacity_tokens * 10,
        .timeout_ms = world->timeout_ms,
    };
    struct mbp_slot slot = {0};
    struct mbp_bucket bucket = {0};
    struct mbp_engine engine = {.policy = &policy, .bucket = &bucket, .slot = &slot};
    mbp_bucket_init_once(&bucket, (mbp_millitokens)world->capacity_tokens * MBP_TOKEN);

    uint64_t now_ms = 1000;
    uint64_t retries = 0;
    for (int i = 0; i < OPERATIONS; i++) {
        struct fate fates[MOST_SENDS];
        draw_fates(fates, world, random);
        const struct history expected = run_model(&model, fates, now_ms);
        const struct history actual = run_engine(&engine, fates, now_ms);
        cr_assert_eq(actual.sends, expected.sends, "%s, operation %d: %u sends, not %u",
            world->name, i, actual.sends, expected.sends);
        cr_assert_eq(actual.ok, expected.ok, "%s, operation %d", world->name, i);
        cr_assert_eq(actual.ended_ms, expected.ended_ms, "%s, operation %d", world->name, i);
        cr_assert_arr_eq(actual.delays_ms, expected.delays_ms, sizeof actual.delays_ms,
            "%s, operation %d: other delays", world->name, i);
        cr_assert_eq(mbp_bucket_balance(&bucket), (mbp_millitokens)model.tenths * 100,
            "%s, operation %d: %u thousandths, not %d", world->name, i, mbp_bucket_balance(&bucket),
            model.tenths * 100);
        now_ms = actual.ended_ms + 1;
        retries += actual.sends - 1;
    }
    cr_expect_eq(slot.counters[MBP_COUNT_operations], OPERATIONS, "%s", world->name);
    cr_expect_eq(slot.counters[MBP_COUNT_retries], retries, "%s", world->name);
    cr_expect_gt(retries, 0, "%s shows nothing", world->name);
}

Test(model, engine_does_what_the_specification_does)
{
    static const struct world worlds[] = {
        {"calm", .ok = 0.95, .retryable = 0.9, .overloaded = 0.9, .capacity_tokens = 1000},
        {"busy", .ok = 0.5, .retryable = 0.9, .overloaded = 0.8, .capacity_tokens = 1000},
        {"mixed errors", .ok = 0.3, .retryable = 0.7, .overloaded = 0.4, .capacity_tokens = 20},
        {"poor", .ok = 0.6, .retryable = 0.95, .overloaded = 0.9, .capacity_tokens = 3},
        {"hopeless", .ok = 0.02, .retryable = 1, .overloaded = 1, .capacity_tokens = 1000},
        {"hurried", .ok = 0.4, .retryable = 0.95, .overloaded = 0.8, .capacity_tokens = 1000,
            .timeout_ms = 300},
        {"hurried and poor", .ok = 0.5, .retryable = 0.9, .overloaded = 0.7, .capacity_tokens = 2,
            .timeout_ms = 40},
    };
    for (unsigned i = 0; i < sizeof worlds / sizeof worlds[0]; i++) {
        compare(&worlds[i]);
    }
}
