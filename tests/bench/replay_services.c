/* replay_services: see replay_services.h. */
#include "replay_services.h"
#include "base/mem.h"
#include "replay.h"

#include <stdio.h>
#include <stdlib.h>

void services_fini(struct services *services)
{
    free(services->items);
}

static size_t add_service(struct services *services)
{
    if (services->n == services->room) {
        services->room = 2 * services->room + 1024;
        services->items = mem_grow(services->items, services->room, sizeof *services->items);
    }
    services->items[services->n++] = (struct service){.n_placed = 0};
    return services->n;
}

/* A service has SERVICE_REPLICAS pods, so all but one of as many draws that would make one are
 * void. */
static struct coming draw(struct services *services, const struct trace *trace, uint64_t *random)
{
    for (;;) {
        const struct trace_pod *pod = &trace->pods[replay_random_below(random, trace->n_pods)];
        if (!services->wanted || pod->gpus == 0 || pod->gpus > SERVICE_GPUS_MAX ||
            replay_random(random) > SERVICE_SHARE)
            return (struct coming){.pod = pod};
        if (replay_random_below(random, SERVICE_REPLICAS) == 0)
            return (struct coming){.pod = pod, .service = add_service(services)};
    }
}

struct coming services_next(struct services *services, const struct trace *trace, uint64_t *random)
{
    const uint64_t id = services->last.id + 1;
    if (services->last.service > 0 && services->last.replica + 1 < SERVICE_REPLICAS)
        services->last.replica++;
    else
        services->last = draw(services, trace, random);
    services->last.id = id;
    return services->last;
}

void services_place(struct services *services, const struct coming *coming, const struct node *node)
{
    if (coming->service == 0)
        return;
    struct service *service = &services->items[coming->service - 1];
    service->nodes[service->n_placed++] = node;
}

static size_t count_nodes(const struct service *service)
{
    size_t n = 0;
    for (size_t i = 0; i < service->n_placed; i++) {
        size_t before = 0;
        while (before < i && service->nodes[before] != service->nodes[i])
            before++;
        n += before == i;
    }
    return n;
}

struct service_counts services_count(const struct services *services, size_t skipped)
{
    struct service_counts counts = {0};
    for (size_t i = skipped; i < services->n; i++) {
        const struct service *service = &services->items[i];
        if (service->n_placed < SERVICE_REPLICAS)
            continue;
        const size_t n_nodes = count_nodes(service);
        counts.n++;
        counts.n_on_one_node += n_nodes == 1;
        counts.n_nodes += n_nodes;
    }
    return counts;
}

void services_print(const struct service_counts *counts)
{
    (void)printf("\"services\":%zu,\"onOneNode\":%zu,\"serviceNodes\":%zu", counts->n,
                 counts->n_on_one_node, counts->n_nodes);
}
