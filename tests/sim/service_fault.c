/* service_fault: faults of a service in a quiet world. See service.h. */
#include "world.h"

#include <string.h>

static const char *pod_fault(struct service *service, const struct cluster *cluster,
                             const struct truth_object *object, size_t *n)
{
    struct arena *arena = service->world->arena;
    const struct truth_state *state = truth_now(object);
    if (!state || state->finished)
        return NULL;
    (*n)++;
    const struct pod *pod = cluster_find_pod(cluster, state->uid);
    if (!pod)
        return arena_printf(arena, "the ledger lacks pod %s (%s)", object->name, state->uid);
    if (strcmp(pod->node_name, state->node) != 0 || strcmp(pod->name, object->name) != 0 ||
        pod->terminating != state->terminating)
        return arena_printf(arena, "the ledger has pod %s on \"%s\", in truth %s is on \"%s\"",
                            pod->name, pod->node_name, object->name, state->node);
    return NULL;
}

static const char *node_fault(struct service *service, const struct cluster *cluster,
                              const struct truth_object *object, size_t *n)
{
    struct world *world = service->world;
    const struct truth_state *state = truth_now(object);
    if (!state)
        return NULL;
    (*n)++;
    const struct node *node = cluster_find_node(cluster, object->name);
    if (!node)
        return arena_printf(world->arena, "the ledger lacks node %s", object->name);
    size_t n_resources = 0;
    const struct node_resource *resources = node_resources(node, &n_resources);
    const unsigned used = truth_gpus_used(&world->truth, object->name, NULL);
    for (size_t i = 0; i < n_resources; i++) {
        if (resources[i].capacity == 110)
            continue;
        if (resources[i].allocatable != state->gpus || resources[i].used != used ||
            resources[i].reserved != 0)
            return arena_printf(world->arena,
                                "the ledger has %lld + %lld of %lld GPUs of %s used, in truth %u "
                                "of %u",
                                (long long)resources[i].used, (long long)resources[i].reserved,
                                (long long)resources[i].allocatable, object->name, used,
                                state->gpus);
    }
    if (node_traits(node)->unschedulable != state->cordoned)
        return arena_printf(world->arena, "the ledger is wrong about the cordon of %s",
                            object->name);
    return NULL;
}

static const char *ledger_fault(struct service *service, const struct cluster *cluster)
{
    struct world *world = service->world;
    size_t n[2] = {0, 0};
    const char *fault = NULL;
    for (const struct truth_object *object = world->truth.objects; object && !fault;
         object = object->next)
        fault = object->kind == TRUTH_PODS ? pod_fault(service, cluster, object, &n[TRUTH_PODS])
                                           : node_fault(service, cluster, object, &n[TRUTH_NODES]);
    if (fault)
        return fault;
    if (n[TRUTH_PODS] != cluster_n_pods(cluster) || n[TRUTH_NODES] != cluster_n_nodes(cluster))
        return arena_printf(
            world->arena, "the ledger has %zu pods and %zu nodes, in truth there are %zu and %zu",
            cluster_n_pods(cluster), cluster_n_nodes(cluster), n[TRUTH_PODS], n[TRUTH_NODES]);
    const struct reservation *reservation = cluster_next_reservation(cluster, NULL);
    if (reservation)
        return arena_printf(world->arena, "%s has a reservation on %s without a cause",
                            reservation->uid, reservation->node_name);
    return NULL;
}

static const char *binds_fault(struct service *service)
{
    static const char NONE_OPEN[] = "gpu_extender_bind_attempts_open 0\n";
    struct buf text;
    buf_init(&text, 1 << 16);
    binds_metrics(service->binds, &text);
    const bool fine = strstr(buf_text(&text), NONE_OPEN) != NULL;
    buf_fini(&text);
    return fine ? NULL : "an attempt to bind is still open";
}

const char *service_fault(struct service *service)
{
    struct err err = {""};
    if (!service->is_alive)
        return "the service is dead";
    if (!inventory_usable(service->inventory, &err))
        return arena_printf(service->world->arena, "the inventory is not usable: %s", err.text);
    const struct inventory_view view = inventory_read(service->inventory);
    const char *fault = ledger_fault(service, view.cluster);
    if (!fault && cluster_check_in_place(view.cluster, &err) > 0)
        fault = arena_printf(service->world->arena, "the ledger's sums are wrong: %s", err.text);
    inventory_done(&view);
    return fault ? fault : binds_fault(service);
}
