/* world_node: the slices that concern a node, and the devices that placed replicas use. */
#include "base/mem.h"
#include "world_priv.h"

#include <string.h>
#include <utlist.h>

static bool reaches(const char *reached, const struct label_view *node)
{
    return reached[0] && strcmp(reached, node->node_name) == 0;
}

static struct allocate_slice view_of(const struct world_slice *slice, const struct label_view *node,
                                     struct arena *arena)
{
    struct allocate_slice view = slice->shown;
    view.reaches_node = reaches(slice->node_name, node);
    if (slice->device_nodes) {
        bool *reach = ARENA_ARRAY(arena, bool, view.n_devices);
        for (size_t i = 0; i < view.n_devices; i++)
            reach[i] = reaches(slice->device_nodes[i], node);
        view.devices_reach = reach;
    }
    return view;
}

static size_t n_slices_of(struct world_pool *const *pools, size_t n)
{
    const struct world_slice *slice = NULL;
    size_t n_slices = 0;
    for (size_t i = 0; i < n; i++) {
        LL_FOREACH2(pools[i]->slices, slice, next_of_pool)
        {
            n_slices++;
        }
    }
    return n_slices;
}

struct claims_world_slices claims_world_on_node(const struct claims_world *world,
                                                const struct label_view *node, struct arena *arena)
{
    const struct world_node *here = NULL;
    const struct world_slice *slice = NULL;
    struct claims_world_slices answer = {.not_judged = world->not_judged};
    HASH_FIND_STR(world->nodes, node->node_name, here);
    for (size_t i = 0; !answer.not_judged && i < world->n_wide; i++) {
        LL_FOREACH2(world->wide[i]->slices, slice, next_of_pool)
        {
            if (slice->not_judged)
                answer.not_judged = slice->not_judged;
        }
    }
    if (answer.not_judged || !here)
        return answer;
    struct allocate_slice *slices =
        ARENA_ARRAY(arena, struct allocate_slice, n_slices_of(here->pools, here->n));
    for (size_t i = 0; i < here->n; i++) {
        LL_FOREACH2(here->pools[i]->slices, slice, next_of_pool)
        {
            slices[answer.n++] = view_of(slice, node, arena);
            if (slice->not_judged)
                answer.not_judged = slice->not_judged;
        }
    }
    answer.slices = slices;
    return answer;
}

void claims_world_take(struct claims_world *world, const struct allocate_claim *claim,
                       const struct allocate_results *results)
{
    for (size_t i = 0; i < results->n; i++) {
        const struct allocate_result *result = &results->devices[i];
        struct world_slice *slice = NULL;
        if (claim->requests[result->request].wants[result->want].is_admin)
            continue;
        HASH_FIND_STR(world->slices, result->slice->name, slice);
        if (!slice)
            continue;
        const size_t device = (size_t)(result->device - slice->shown.devices);
        slice->devices[device].is_allocated = true;
        world->taken = arena_grow(world->arena, world->taken, world->n_taken, &world->taken_room,
                                  sizeof *world->taken);
        world->taken[world->n_taken++] = (struct taken_device){slice, device};
    }
}

void claims_world_give_back(struct claims_world *world, size_t n)
{
    while (world->n_taken > n) {
        const struct taken_device *last = &world->taken[--world->n_taken];
        last->slice->devices[last->device].is_allocated = false;
    }
}

size_t claims_world_n_taken(const struct claims_world *world)
{
    return world->n_taken;
}

/* Without shared counters, a device matters only where it can be reached. */
bool claims_world_touches(const struct claims_world *world, size_t n, const char *node_name)
{
    for (size_t i = n; i < world->n_taken; i++) {
        const struct taken_device *taken = &world->taken[i];
        const char *where = taken->slice->device_nodes ? taken->slice->device_nodes[taken->device]
                                                       : taken->slice->node_name;
        if (strcmp(where, node_name) == 0)
            return true;
    }
    return false;
}
