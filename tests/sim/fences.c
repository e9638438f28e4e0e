/* fences: see fences.h. */
#include "fences.h"

#include "world.h"

#include <string.h>

static bool is_self(const struct binder *binder, const struct service *service, unsigned life)
{
    return service == binder->service && life == binder->life;
}

static bool is_unknown(const struct cluster *cluster, const struct truth_state *state)
{
    const struct pod *pod = cluster_find_pod(cluster, state->uid);
    return !pod || strcmp(pod->node_name, state->node) != 0;
}

/* Or there is no holder: the Lease was deleted and others wait for its duration, or no Lease is
 * used. */
static bool holds_lease(const struct binder *binder)
{
    const struct world *world = binder->service->world;
    const struct server_lease *lease = &world->server.lease;
    return world->plan.n_replicas == 1 || !lease->object ||
           is_self(binder, lease->holder.service, lease->holder.life);
}

/* Others acquire the Lease after seeing it unchanged for its duration. */
static bool is_in_time(const struct binder *binder)
{
    const struct world *world = binder->service->world;
    const struct server_lease *lease = &world->server.lease;
    if (world->plan.n_replicas == 1 || !lease->object)
        return true;
    return holds_lease(binder) &&
           world_now(world) + times()->act_ms <= lease->renewed_ms + times()->lease_ms;
}

void fences_leaves(const struct binder *binder)
{
    struct service *service = binder->service;
    struct world *world = service->world;
    if (!is_in_time(binder))
        world_fail(world, "service %u binds, and another may lead before that is over",
                   service->number);
    const struct inventory_view view CLEANUP(inventory_done) = inventory_read(service->inventory);
    for (const struct truth_object *object = world->truth.objects; object; object = object->next) {
        const struct truth_state *state = truth_now(object);
        if (!state || state->finished || !state->binder.service ||
            is_self(binder, state->binder.service, state->binder.life))
            continue;
        if (is_unknown(view.cluster, state))
            world_fail(world, "service %u binds, and does not know of %s on %s", service->number,
                       state->uid, state->node);
    }
}

void fences_carried_out(const struct binder *binder)
{
    struct world *world = binder->service->world;
    if (!holds_lease(binder))
        world_fail(world, "life %u of service %u binds without the Lease", binder->life,
                   binder->service->number);
    for (unsigned i = 0; i < world->plan.n_replicas; i++) {
        struct service *service = &world->services[i];
        if (!is_self(binder, service, service->life) && service_may_bind(service))
            world_fail(world, "life %u of service %u binds while life %u of service %u may",
                       binder->life, binder->service->number, service->life, service->number);
    }
}

static bool holds_room(const struct cluster *cluster, const char *uid, const char *node)
{
    const struct reservation *reservation = cluster_find_reservation(cluster, uid);
    const struct pod *pod = cluster_find_pod(cluster, uid);
    return (reservation && strcmp(reservation->node_name, node) == 0) ||
           (pod && strcmp(pod->node_name, node) == 0);
}

void fences_took_effect(const struct binder *binder, const char *uid, const char *node)
{
    struct service *service = binder->service;
    fences_carried_out(binder);
    if (!service->is_alive || service->life != binder->life)
        return;
    const struct inventory_view view CLEANUP(inventory_done) = inventory_read(service->inventory);
    if (!holds_room(view.cluster, uid, node))
        world_fail(service->world, "%s is bound to %s, and service %u holds no room for it", uid,
                   node, service->number);
}
