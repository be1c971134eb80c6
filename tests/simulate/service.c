#include "service.h"

#include "draw.h"
#include "memory.h"

void sim_service_open(struct sim_service *service, uint32_t clients)
{
    service->outstanding = sim_allocate(clients, sizeof *service->outstanding);
    service->count = 0;
    service->queued = 0;
}

void sim_service_close(struct sim_service *service)
{
    free(service->outstanding);
    service->outstanding = NULL;
}

void sim_service_receive(struct sim_service *service, uint32_t client, bool down)
{
    const bool accepted = !down && service->queued < service->places;
    service->outstanding[service->count++] = (struct sim_request){
        .client = client,
        .steps_left = accepted ? service->service_steps : service->reject_steps,
        .accepted = accepted,
    };
    service->queued += accepted;
}

bool sim_service_is_overwhelmed(const struct sim_service *service)
{
    return service->count > service->overwhelmed_above;
}

/* Brings a random choice of that many to the front. */
static void choose(struct sim_service *service, uint32_t many, const struct mbp_jitter *draw)
{
    struct sim_request *const all = service->outstanding;
    for (uint32_t i = 0; i < many; i++) {
        const uint32_t other = i + sim_draw_below(draw, service->count - i);
        const struct sim_request chosen = all[other];
        all[other] = all[i];
        all[i] = chosen;
    }
}

uint32_t sim_service_advance(
    struct sim_service *service, const struct mbp_jitter *draw, struct sim_request *answers)
{
    uint32_t moving = service->count;
    if (sim_service_is_overwhelmed(service) && service->progress < moving) {
        moving = service->progress;
        choose(service, moving, draw);
    }

    uint32_t answered = 0;
    /* Downwards: what takes an answered one's place comes from behind it, and
     * so has had its turn already or is not to have one. */
    for (uint32_t i = moving; i-- > 0;) {
        struct sim_request *request = &service->outstanding[i];
        if (--request->steps_left == 0) {
            service->queued -= request->accepted;
            answers[answered++] = *request;
            *request = service->outstanding[--service->count];
        }
    }
    return answered;
}
