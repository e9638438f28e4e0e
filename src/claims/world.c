/* world: reads slices from the ledger. See include/claims/world.h and world_priv.h. */
#include "base/mem.h"
#include "world_priv.h"

#include <string.h>
#include <utlist.h>

/* Devices and attributes in one hold of the ledger's lock: about a millisecond. */
#define STEP_WORK ((size_t)10000)

static void on_slice(void *context, const struct slice_facts *facts,
                     const struct device_status *statuses)
{
    struct claims_world *world = context;
    struct read_slice *read = ARENA_NEW(world->walk.arena, struct read_slice);
    *read = (struct read_slice){.facts = *facts, .statuses = statuses, .next = world->read};
    world->read = read;
}

struct claims_world *claims_world_new(const struct cel_read *reads, size_t n_reads,
                                      struct arena *arena)
{
    struct claims_world *world = ARENA_NEW(arena, struct claims_world);
    world->arena = arena;
    world->reads = reads;
    world->n_reads = n_reads;
    return world;
}

static void clear(struct claims_world *world)
{
    HASH_CLEAR(hh, world->slices);
    HASH_CLEAR(hh, world->pools);
    HASH_CLEAR(hh, world->nodes);
    world_facts_free(world);
    if (world->walk.arena)
        arena_free(world->walk.arena);
    const struct claims_world empty = {
        .arena = world->arena, .reads = world->reads, .n_reads = world->n_reads};
    *world = empty;
}

void claims_world_free(struct claims_world *world)
{
    clear(world);
}

void claims_world_read_some(struct claims_world *world, const struct cluster *cluster)
{
    if (world->cluster != cluster)
        clear(world);
    world->cluster = cluster;
    if (!cluster_claims_known(cluster))
        world->not_judged = "the claims in the cluster are unknown";
    world->walk.arena = arena_new();
    world->walk.work = STEP_WORK;
    world->walk.visit = on_slice;
    world->walk.context = world;
    world->is_done = devices_each_slice_some(cluster_devices(cluster), &world->walk);
}

static const char *fault_of_device(const struct slice_facts *slice,
                                   const struct device_facts *device,
                                   const struct device_status *status)
{
    if (device->not_judged)
        return "a device has a member that is not understood";
    if (status->is_tainted)
        return "a device has taints";
    if (status->is_shared || device->allows_multiple)
        return "a device allows multiple allocations";
    if (device->n_consumes > 0)
        return "a device consumes shared counters";
    return slice->per_device && !device->node_name[0] ? "several nodes may reach a device" : NULL;
}

static const char *fault_of(const struct read_slice *read)
{
    const struct slice_facts *facts = &read->facts;
    if (facts->is_unreadable)
        return "a slice cannot be read";
    if (facts->n_counter_sets > 0)
        return "a slice has shared counters";
    if (!facts->per_device && !facts->node_name[0])
        return "several nodes may reach a slice";
    for (size_t i = 0; i < facts->n_devices; i++) {
        const char *fault = fault_of_device(facts, &facts->devices[i], &read->statuses[i]);
        if (fault)
            return fault;
    }
    return NULL;
}

static struct world_pool *pool_of(struct claims_world *world, const struct allocate_slice *slice)
{
    struct world_pool *pool = NULL;
    const char *key = arena_printf(world->arena, "%s/%s", slice->driver, slice->pool);
    HASH_FIND_STR(world->pools, key, pool);
    if (pool)
        return pool;
    pool = ARENA_NEW(world->arena, struct world_pool);
    HASH_ADD_KEYPTR(hh, world->pools, key, strlen(key), pool);
    return pool;
}

static void add_to_node(struct claims_world *world, const char *name, struct world_pool *pool)
{
    struct world_node *node = NULL;
    HASH_FIND_STR(world->nodes, name, node);
    if (!node) {
        node = ARENA_NEW(world->arena, struct world_node);
        HASH_ADD_KEYPTR(hh, world->nodes, name, strlen(name), node);
    }
    for (size_t i = 0; i < node->n; i++) {
        if (node->pools[i] == pool)
            return;
    }
    node->pools = arena_grow(world->arena, node->pools, node->n, &node->room, sizeof(void *));
    node->pools[node->n++] = pool;
}

static void widen(struct claims_world *world, struct world_pool *pool)
{
    if (pool->is_wide)
        return;
    pool->is_wide = true;
    world->wide =
        arena_grow(world->arena, world->wide, world->n_wide, &world->wide_room, sizeof(void *));
    world->wide[world->n_wide++] = pool;
}

static void add_to_index(struct claims_world *world, struct world_slice *slice)
{
    struct world_pool *pool = pool_of(world, &slice->shown);
    LL_PREPEND2(pool->slices, slice, next_of_pool);
    bool is_wide =
        slice->shown.n_shared_counters > 0 || (!slice->device_nodes && !slice->node_name[0]);
    if (slice->node_name[0])
        add_to_node(world, slice->node_name, pool);
    for (size_t i = 0; slice->device_nodes && i < slice->shown.n_devices; i++) {
        if (slice->device_nodes[i][0])
            add_to_node(world, slice->device_nodes[i], pool);
        else
            is_wide = true;
    }
    if (is_wide)
        widen(world, pool);
}

static void copy_devices(struct claims_world *world, struct world_slice *slice,
                         const struct read_slice *read)
{
    const struct slice_facts *facts = &read->facts;
    struct arena *arena = world->arena;
    slice->devices = ARENA_ARRAY(arena, struct allocate_device, facts->n_devices);
    if (facts->per_device)
        slice->device_nodes = ARENA_ARRAY(arena, const char *, facts->n_devices);
    for (size_t i = 0; i < facts->n_devices; i++) {
        const struct device_facts *device = &facts->devices[i];
        const struct world_group *group = world_facts_of(world, facts->driver, device);
        slice->devices[i] = (struct allocate_device){.name = arena_strdup(arena, device->name),
                                                     .facts = &group->facts,
                                                     .is_allocated = read->statuses[i].is_allocated,
                                                     .capacities = group->capacities,
                                                     .n_capacities = group->n_capacities,
                                                     .not_judged = group->not_judged};
        if (facts->per_device)
            slice->device_nodes[i] = arena_strdup(arena, device->node_name);
    }
    slice->shown.devices = slice->devices;
    slice->shown.n_devices = facts->n_devices;
}

/* Of a slice that was replaced meanwhile, the first version stays: its devices may be taken. */
static void add_slice(struct claims_world *world, const struct read_slice *read)
{
    const struct slice_facts *facts = &read->facts;
    struct arena *arena = world->arena;
    struct world_slice *slice = NULL;
    HASH_FIND_STR(world->slices, facts->name, slice);
    if (slice || world->not_judged)
        return;
    world->n_devices += facts->n_devices;
    if (world->n_devices > CLAIMS_WORLD_DEVICES_MAX) {
        world->not_judged = "there are too many devices";
        return;
    }
    slice = ARENA_NEW(arena, struct world_slice);
    slice->node_name = arena_strdup(arena, facts->node_name);
    slice->not_judged = fault_of(read);
    slice->shown = (struct allocate_slice){.name = arena_strdup(arena, facts->name),
                                           .driver = arena_strdup(arena, facts->driver),
                                           .pool = arena_strdup(arena, facts->pool),
                                           .generation = facts->generation,
                                           .n_slices = facts->n_slices};
    HASH_ADD_KEYPTR(hh, world->slices, slice->shown.name, strlen(slice->shown.name), slice);
    copy_devices(world, slice, read);
    add_to_index(world, slice);
    if (facts->n_counter_sets > 0)
        widen(world, pool_of(world, &slice->shown));
}

bool claims_world_end_step(struct claims_world *world)
{
    for (const struct read_slice *read = world->read; read; read = read->next)
        add_slice(world, read);
    world->read = NULL;
    arena_free(world->walk.arena);
    world->walk.arena = NULL;
    return world->is_done;
}
