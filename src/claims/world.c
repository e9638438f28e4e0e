/* world: reads rules and slices from the ledger. See include/claims/world.h and world_priv.h. */
#include "base/mem.h"
#include "world_priv.h"

#include <string.h>

/* Devices and attributes in one hold of the ledger's lock: about a millisecond. */
#define STEP_WORK ((size_t)10000)
#define STEP_RULES ((size_t)1000)
#define STEP_SLICES ((size_t)20)

static void on_slice(void *context, const struct slice_facts *facts,
                     const struct device_status *statuses)
{
    struct claims_world *world = context;
    struct read_slice *read = ARENA_NEW(world->walk.arena, struct read_slice);
    *read = (struct read_slice){.facts = *facts, .statuses = statuses, .next = world->read};
    world->read = read;
}

static void begin(struct claims_world *world, const struct claims_world *as)
{
    *world = (struct claims_world){.arena = as->arena,
                                   .reads = as->reads,
                                   .n_reads = as->n_reads,
                                   .given = as->given,
                                   .policy = as->policy,
                                   .has_others = as->has_others,
                                   .n_questions = ARENA_NEW(as->arena, uint64_t)};
}

struct claims_world *claims_world_new(const struct cel_read *reads, size_t n_reads,
                                      struct arena *arena)
{
    struct claims_world *world = ARENA_NEW(arena, struct claims_world);
    const struct claims_world as = {.arena = arena, .reads = reads, .n_reads = n_reads};
    begin(world, &as);
    return world;
}

void claims_world_give(struct claims_world *world, const struct given_devices *given)
{
    world->given = given;
}

void claims_world_name_drivers(struct claims_world *world, const struct policy *policy,
                               bool has_others)
{
    world->policy = policy;
    world->has_others = has_others;
}

static void clear(struct claims_world *world)
{
    const struct claims_world as = *world;
    HASH_CLEAR(hh, world->slices);
    HASH_CLEAR(hh, world->pools);
    HASH_CLEAR(hh, world->nodes);
    HASH_CLEAR(hh, world->hosts);
    world_facts_free(world);
    world_taints_free(world);
    if (world->walk.arena)
        arena_free(world->walk.arena);
    begin(world, &as);
}

void claims_world_free(struct claims_world *world)
{
    clear(world);
}

/* They hide the ledger's: the first of a name stays. */
static void give_rules(struct claims_world *world)
{
    for (size_t i = 0; world->given && i < world->given->n_rules; i++)
        world_add_rule(world, &world->given->rules[i]);
}

static void read_rules(struct claims_world *world, const struct devices *devices)
{
    world->read_rules = ARENA_ARRAY(world->walk.arena, struct device_taint_facts, STEP_RULES);
    world->n_read_rules = devices_some_taints(devices, &world->rules_at, world->walk.arena,
                                              world->read_rules, STEP_RULES);
    world->has_rules = world->n_read_rules < STEP_RULES;
}

/* The claims in the cluster may use their devices. */
static void read_given(struct claims_world *world, const struct devices *devices)
{
    for (size_t n = 0; n < STEP_SLICES && world->n_given < world->given->n_slices; n++) {
        const struct slice_facts *facts = &world->given->slices[world->n_given++];
        struct device_status *statuses =
            ARENA_ARRAY(world->walk.arena, struct device_status, facts->n_devices);
        size_t room = SLICE_CONSUMED_BYTES_MAX;
        for (size_t i = 0; i < facts->n_devices; i++)
            statuses[i] = devices_status(devices, facts->driver, facts->pool,
                                         facts->devices[i].name, world->walk.arena, &room);
        on_slice(world, facts, statuses);
    }
}

void claims_world_read_some(struct claims_world *world, const struct cluster *cluster)
{
    if (world->cluster != cluster) {
        clear(world);
        give_rules(world);
    }
    world->cluster = cluster;
    if (!cluster_claims_known(cluster))
        world->named.not_judged = "the claims in the cluster are unknown";
    world->walk.arena = arena_new();
    world->walk.work = STEP_WORK;
    world->walk.has_others = world->has_others;
    world->walk.visit = on_slice;
    world->walk.context = world;
    if (!world->has_rules) /* they taint the given slices, too */
        read_rules(world, cluster_devices(cluster));
    else if (world->given && world->n_given < world->given->n_slices)
        read_given(world, cluster_devices(cluster));
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
