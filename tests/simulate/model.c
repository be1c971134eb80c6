#include "model.h"

#include "budgets.h"
#include "draw.h"
#include "memory.h"
#include "service.h"

#include <string.h>

/* What only lives while the run does. */
struct world {
    struct sim_run *run;
    struct sim_service service;
    struct sim_budgets budgets;
    struct mbp_random service_random, wait_random;
    struct mbp_jitter service_draw;
    struct mbp_engine engine;
    uint32_t *senders;
    struct sim_request *answers;
    uint32_t under_way;
};

static void open_world(struct world *world, struct sim_run *run)
{
    const struct sim_options *options = &run->options;
    const uint32_t clients = (uint32_t)options->clients;
    *world = (struct world){
        .run = run,
        .service =
            {
                .places = (uint32_t)options->places,
                .service_steps = (uint32_t)options->service_steps,
                .reject_steps = (uint32_t)options->reject_steps,
                .overwhelmed_above = (uint32_t)options->overwhelmed_above,
                .progress = (uint32_t)options->progress,
            },
        .senders = sim_allocate(clients, sizeof *world->senders),
        .answers = sim_allocate(clients, sizeof *world->answers),
    };
    sim_draw_seed(&world->service_random, options->seed, SIM_SERVICE);
    sim_draw_seed(&world->wait_random, options->seed, SIM_WAITS);
    world->service_draw = mbp_random_jitter(&world->service_random);
    world->engine = (struct mbp_engine){
        .policy = &run->strategy.policy,
        .slot = &run->slot,
        .jitter = sim_strategy_jitter(&run->strategy, &world->wait_random),
    };
    sim_service_open(&world->service, clients);
    sim_budgets_open(&world->budgets, options, &run->strategy);
}

static void close_world(struct world *world)
{
    sim_service_close(&world->service);
    sim_budgets_close(&world->budgets);
    free(world->senders);
    free(world->answers);
}

static bool is_down(const struct sim_options *options, uint32_t step)
{
    return step >= options->outage_at && step - options->outage_at < options->outage_steps;
}

static void begin(struct world *world, struct sim_client *client, uint32_t now)
{
    client->operation = mbp_engine_begin(&world->engine, now * world->run->options.step_ms);
    client->state = SIM_UNDER_WAY;
    client->begun = now;
    client->requests = 0;
    world->under_way++;
    world->run->operations++;
    world->run->steps[now].first++;
}

static void send_requests(struct world *world, uint32_t now)
{
    struct sim_run *run = world->run;
    const bool down = is_down(&run->options, now);
    const uint32_t count =
        sim_clients_senders(&run->clients, now, &world->service_draw, world->senders);
    for (uint32_t i = 0; i < count; i++) {
        struct sim_client *client = &run->clients.all[world->senders[i]];
        if (client->state != SIM_UNDER_WAY) {
            begin(world, client, now);
        }
        client->requests++;
        sim_service_receive(&world->service, world->senders[i], down);
    }
    run->requests += count;
    run->steps[now].received = count;
    run->steps[now].queued = world->service.queued;
    run->steps[now].outstanding = world->service.count;
}

static void end(struct world *world, uint32_t number, enum sim_state state, uint32_t now)
{
    struct sim_run *run = world->run;
    struct sim_client *client = &run->clients.all[number];
    client->state = state;
    client->ended = now;
    world->under_way--;
    if (state == SIM_SUCCEEDED) {
        run->succeeded++;
        run->latencies[now - client->begun]++;
    } else {
        run->gave_up++;
    }
    if (run->options.think_steps) {
        sim_clients_send_at(&run->clients, number, now + run->options.think_steps);
    }
}

static void hear(struct world *world, const struct sim_request *answer, uint32_t now)
{
    struct sim_run *run = world->run;
    const struct mbp_attempt attempt = {
        .ok = answer->accepted,
        .labels = answer->accepted ? 0 : MBP_LABEL_RETRYABLE | MBP_LABEL_OVERLOADED,
        .now_ms = now * run->options.step_ms,
    };
    world->engine.bucket = sim_budgets_of(&world->budgets, answer->client);
    const struct mbp_verdict verdict =
        mbp_engine_settle(&world->engine, &run->clients.all[answer->client].operation, &attempt);
    if (verdict.retry) {
        sim_clients_send_at(
            &run->clients, answer->client, now + sim_wait_steps(&run->options, verdict.delay_ms));
    } else {
        end(world, answer->client, answer->accepted ? SIM_SUCCEEDED : SIM_GAVE_UP, now);
    }
}

static void run_step(struct world *world, uint32_t now)
{
    struct sim_step *step = &world->run->steps[now];
    send_requests(world, now);
    const uint32_t answered =
        sim_service_advance(&world->service, &world->service_draw, world->answers);
    for (uint32_t i = 0; i < answered; i++) {
        step->rejected += !world->answers[i].accepted;
        hear(world, &world->answers[i], now + 1);
    }
    step->under_way = world->under_way;
}

void sim_run(
    struct sim_run *run, const struct sim_options *options, const struct sim_strategy *strategy)
{
    const uint32_t steps = (uint32_t)options->steps;
    struct world world;
    struct mbp_random arrivals;
    memset(run, 0, sizeof *run);
    run->options = *options;
    run->strategy = *strategy;
    run->steps = sim_allocate(steps, sizeof *run->steps);
    run->latencies = sim_allocate(steps + 1, sizeof *run->latencies);
    sim_clients_open(&run->clients, (uint32_t)options->clients, steps);

    sim_draw_seed(&arrivals, options->seed, SIM_ARRIVALS);
    const struct mbp_jitter arrival_draw = mbp_random_jitter(&arrivals);
    sim_clients_arrive(&run->clients, options, &arrival_draw);

    open_world(&world, run);
    for (uint32_t now = 0; now < steps; now++) {
        run_step(&world, now);
    }
    close_world(&world);
    run->refused_budget = run->slot.counters[MBP_COUNT_refused_budget];
}

void sim_run_close(struct sim_run *run)
{
    free(run->steps);
    free(run->latencies);
    sim_clients_close(&run->clients);
}
