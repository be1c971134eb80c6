#include "draw.h"
#include "service.h"

#include <criterion/criterion.h>

/* Draws that are known beforehand: each of `list`, again and again. */
struct script {
    const double *list;
    size_t length, next;
};

static double scripted(void *state)
{
    struct script *script = state;
    return script->list[script->next++ % script->length];
}

static struct sim_service make_service(uint32_t overwhelmed_above, uint32_t progress)
{
    struct sim_service service = {
        .places = 1,
        .service_steps = 2,
        .reject_steps = 1,
        .overwhelmed_above = overwhelmed_above,
        .progress = progress,
    };
    sim_service_open(&service, 16);
    return service;
}

Test(simulate_service, takes_as_many_as_it_has_places)
{
    struct sim_service service = make_service(16, 16);
    sim_service_receive(&service, 0, false);
    sim_service_receive(&service, 1, false);
    cr_assert_eq(service.count, 2);
    cr_assert_eq(service.queued, 1);
    sim_service_close(&service);
}

Test(simulate_service, takes_nothing_when_down)
{
    struct sim_service service = make_service(16, 16);
    sim_service_receive(&service, 0, true);
    cr_assert_eq(service.count, 1);
    cr_assert_eq(service.queued, 0);
    sim_service_close(&service);
}

Test(simulate_service, rejects_after_one_step_and_answers_after_two)
{
    struct sim_service service = make_service(16, 16);
    struct sim_request answers[16];
    sim_service_receive(&service, 7, false);
    sim_service_receive(&service, 8, false);

    cr_assert_eq(sim_service_advance(&service, NULL, answers), 1);
    cr_assert_eq(answers[0].client, 8);
    cr_assert_not(answers[0].accepted);
    cr_assert_eq(sim_service_advance(&service, NULL, answers), 1);
    cr_assert_eq(answers[0].client, 7);
    cr_assert(answers[0].accepted);
    cr_assert_eq(service.count, 0);
    cr_assert_eq(service.queued, 0);
    sim_service_close(&service);
}

/* Three outstanding, overwhelmed above two, one moves: first the accepted one
 * (0.0: the first), then one that is to be rejected (0.99: the last). Then two
 * are left, which is not too many, and both move. */
Test(simulate_service, moves_only_some_when_overwhelmed)
{
    static const double draws[] = {0.0, 0.99};
    struct script script = {draws, 2, 0};
    const struct mbp_jitter draw = {scripted, &script};
    struct sim_service service = make_service(2, 1);
    struct sim_request answers[16];
    for (uint32_t client = 0; client < 3; client++) {
        sim_service_receive(&service, client, false);
    }
    cr_assert(sim_service_is_overwhelmed(&service));
    cr_assert_eq(sim_service_advance(&service, &draw, answers), 0);
    cr_assert_eq(sim_service_advance(&service, &draw, answers), 1);
    cr_assert_eq(answers[0].client, 2);
    cr_assert_not(sim_service_is_overwhelmed(&service));
    cr_assert_eq(sim_service_advance(&service, &draw, answers), 2);
    cr_assert_eq(service.count, 0);
    sim_service_close(&service);
}

/* Five outstanding, two move: each is answered first in two of five cases. */
Test(simulate_service, moves_each_equally_likely_when_overwhelmed)
{
    enum { ROUNDS = 20000, CLIENTS = 5 };
    struct mbp_random random;
    sim_draw_seed(&random, 1, SIM_SERVICE);
    const struct mbp_jitter draw = mbp_random_jitter(&random);
    unsigned answered[CLIENTS] = {0};
    for (int round = 0; round < ROUNDS; round++) {
        struct sim_service service = make_service(4, 2);
        struct sim_request answers[16];
        for (uint32_t client = 0; client < CLIENTS; client++) {
            sim_service_receive(&service, client, true);
        }
        cr_assert_eq(sim_service_advance(&service, &draw, answers), 2);
        answered[answers[0].client]++;
        answered[answers[1].client]++;
        sim_service_close(&service);
    }
    for (int client = 0; client < CLIENTS; client++) {
        /* 8000 expected; five standard deviations are 346. */
        cr_assert(answered[client] > 7650 && answered[client] < 8350, "client %d: %u", client,
            answered[client]);
    }
}
