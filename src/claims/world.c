/* world: reads rules and slices from the ledger. See include/claims/world.h and world_priv.h. */
#include "base/mem.h"
#include "world_priv.h"

#include <string.h>

/* Devices and attributes in one hold of the ledger's lock: about a millisecond. */
#define STEP_WORK ((size_t)10000)
#define STEP_RULES ((size_t)1000)

static void on_slice(void *context, const struct slice_facts *facts,
                     const struct device_status *statuses)
{
    struct claims_world *world = context;
    struct read_slice *read = ARENA_NEW(world->walk.arena, struct read_slice);
    *read = (struct read_slice){.facts = *facts, .statuses = statuses, .next = world->read};
    world->read = read;
}

static void begin(struct claims_world *world, const struct cel_read *reads, size_t n_reads,
                  struct arena *arena)
{
    *world = (struct claims_world){.arena = arena,
                                   .reads = reads,
                                   .n_reads = n_reads,
                                   .n_questions = ARENA_NEW(arena, uint64_t)};
}

struct claims_world *claims_world_new(const struct cel_read *reads, size_t n_reads,
                                      struct arena *arena)
{
    struct claims_world *world = ARENA_NEW(arena, struct claims_world);
    begin(world, reads, n_reads, arena);
    return world;
}

static void clear(struct claims_world *world)
{
    HASH_CLEAR(hh, world->slices);
    HASH_CLEAR(hh, world->pools);
    HASH_CLEAR(hh, world->nodes);
    HASH_CLEAR(hh, world->hosts);
    world_facts_free(world);
    world_taints_free(world);
    if (world->walk.arena)
        arena_free(world->walk.arena);
    begin(world, world->reads, world->n_reads, world->arena);
}

void claims_world_free(struct claims_world *world)
{
    clear(world);
}

static void read_rules(struct claims_world *world, const struct devices *devices)
{
    world->read_rules = ARENA_ARRAY(world->walk.arena, struct device_taint_facts, STEP_RULES);
    world->n_read_rules = devices_some_taints(devices, &world->rules_at, world->walk.arena,
                                              world->read_rules, STEP_RULES);
    world->has_rules = world->n_read_rules < STEP_RULES;
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
    if (!world->has_rules)
        read_rules(world, cluster_devices(cluster));
    else
        world->is_done = devices_each_slice_some(cluster_devices(cluster), &world->walk);
}

bool claims_world_end_step(struct claims_world *world)
{
    for (size_t i = 0; i < world->n_read_rules; i++)
        world_add_rule(world, &world->read_rules[i]);
    for (const struct read_slice *read = world->read; read; read = read->next)
        world_add_slice(world, read);
    world->n_read_rules = 0;
    world->read = NULL;
    arena_free(world->walk.arena);
    world->walk.arena = NULL;
    if (world->is_done)
        world_finish_pools(world);
    return world->is_done;
}
