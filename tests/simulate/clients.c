#include "clients.h"

#include "draw.h"
#include "memory.h"

#define NOBODY UINT32_MAX

void sim_clients_open(struct sim_clients *clients, uint32_t count, uint32_t steps)
{
    clients->all = sim_allocate(count, sizeof *clients->all);
    clients->count = count;
    clients->calendar = sim_allocate(steps, sizeof *clients->calendar);
    clients->steps = steps;
    for (uint32_t step = 0; step < steps; step++) {
        clients->calendar[step] = NOBODY;
    }
}

void sim_clients_close(struct sim_clients *clients)
{
    free(clients->all);
    free(clients->calendar);
}

void sim_clients_send_at(struct sim_clients *clients, uint32_t client, uint64_t step)
{
    if (step < clients->steps) {
        clients->all[client].next = clients->calendar[step];
        clients->calendar[step] = client;
    }
}

uint32_t sim_clients_senders(const struct sim_clients *clients, uint32_t step,
    const struct mbp_jitter *draw, uint32_t *senders)
{
    uint32_t count = 0;
    uint32_t client = clients->calendar[step];
    while (client != NOBODY) {
        /* Each goes to a random place among those before it. */
        const uint32_t place = sim_draw_below(draw, count + 1);
        senders[count++] = senders[place];
        senders[place] = client;
        client = clients->all[client].next;
    }
    return count;
}

void sim_clients_arrive(
    struct sim_clients *clients, const struct sim_options *options, const struct mbp_jitter *draw)
{
    const uint64_t round = options->think_steps + options->service_steps;
    const uint64_t spread = options->think_steps ? round : options->arrival_steps;
    uint32_t spike = (uint32_t)(clients->count * options->spike_percent / 100);
    for (uint32_t client = 0; client < clients->count; client++) {
        const uint32_t left = clients->count - client;
        const bool in_spike = sim_draw_below(draw, left) < spike;
        spike -= in_spike;
        sim_clients_send_at(clients, client,
            in_spike ? options->spike_at + sim_draw_below(draw, (uint32_t)options->spike_width)
                     : sim_draw_below(draw, (uint32_t)spread));
    }
}
