/* device_copy: reads rules and slices from the ledger. See include/claims/device_copy.h. */
#include "base/mem.h"
#include "device_copy_priv.h"

#include <string.h>

/* Devices and attributes in one hold of the ledger's lock: about a millisecond. */
#define STEP_WORK ((size_t)10000)
#define STEP_RULES ((size_t)1000)
#define STEP_SLICES ((size_t)20)

static void on_slice(void *context, const struct slice_facts *facts,
                     const struct device_status *statuses)
{
    struct device_copy *copy = context;
    struct read_slice *read = ARENA_NEW(copy->walk.arena, struct read_slice);
    *read = (struct read_slice){.facts = *facts, .statuses = statuses, .next = copy->read};
    copy->read = read;
}

static void begin(struct device_copy *copy, const struct device_copy *as)
{
    *copy = (struct device_copy){.arena = as->arena,
                                 .reads = as->reads,
                                 .n_reads = as->n_reads,
                                 .given = as->given,
                                 .policy = as->policy,
                                 .has_others = as->has_others,
                                 .n_questions = ARENA_NEW(as->arena, uint64_t)};
}

struct device_copy *device_copy_new(const struct cel_read *reads, size_t n_reads,
                                    struct arena *arena)
{
    struct device_copy *copy = ARENA_NEW(arena, struct device_copy);
    const struct device_copy as = {.arena = arena, .reads = reads, .n_reads = n_reads};
    begin(copy, &as);
    return copy;
}

void device_copy_give(struct device_copy *copy, const struct given_devices *given)
{
    copy->given = given;
}

void device_copy_name_drivers(struct device_copy *copy, const struct policy *policy,
                              bool has_others)
{
    copy->policy = policy;
    copy->has_others = has_others;
}

static void clear(struct device_copy *copy)
{
    const struct device_copy as = *copy;
    HASH_CLEAR(hh, copy->slices);
    HASH_CLEAR(hh, copy->pools);
    HASH_CLEAR(hh, copy->nodes);
    HASH_CLEAR(hh, copy->hosts);
    device_copy_facts_free(copy);
    device_copy_taints_free(copy);
    if (copy->walk.arena)
        arena_free(copy->walk.arena);
    begin(copy, &as);
}

void device_copy_free(struct device_copy *copy)
{
    clear(copy);
}

/* They hide the ledger's: the first of a name stays. */
static void give_rules(struct device_copy *copy)
{
    for (size_t i = 0; copy->given && i < copy->given->n_rules; i++)
        device_copy_add_rule(copy, &copy->given->rules[i]);
}

static void read_rules(struct device_copy *copy, const struct devices *devices)
{
    copy->read_rules = ARENA_ARRAY(copy->walk.arena, struct device_taint_facts, STEP_RULES);
    copy->n_read_rules = devices_some_taints(devices, &copy->rules_at, copy->walk.arena,
                                             copy->read_rules, STEP_RULES);
    copy->has_rules = copy->n_read_rules < STEP_RULES;
}

/* The claims in the cluster may use their devices. */
static void read_given(struct device_copy *copy, const struct devices *devices)
{
    for (size_t n = 0; n < STEP_SLICES && copy->n_given < copy->given->n_slices; n++) {
        const struct slice_facts *facts = &copy->given->slices[copy->n_given++];
        struct device_status *statuses =
            ARENA_ARRAY(copy->walk.arena, struct device_status, facts->n_devices);
        size_t room = SLICE_CONSUMED_BYTES_MAX;
        for (size_t i = 0; i < facts->n_devices; i++)
            statuses[i] = devices_status(devices, facts->driver, facts->pool,
                                         facts->devices[i].name, copy->walk.arena, &room);
        on_slice(copy, facts, statuses);
    }
}

void device_copy_read_some(struct device_copy *copy, const struct cluster *cluster)
{
    if (copy->cluster != cluster) {
        clear(copy);
        give_rules(copy);
    }
    copy->cluster = cluster;
    if (!cluster_knows(cluster, CLUSTER_CLAIMS))
        copy->named.not_judged = "the claims in the cluster are unknown";
    copy->walk.arena = arena_new();
    copy->walk.work = STEP_WORK;
    copy->walk.has_others = copy->has_others;
    copy->walk.visit = on_slice;
    copy->walk.context = copy;
    if (!copy->has_rules) /* they taint the given slices, too */
        read_rules(copy, cluster_devices(cluster));
    else if (copy->given && copy->n_given < copy->given->n_slices)
        read_given(copy, cluster_devices(cluster));
    else
        copy->is_done = devices_each_slice_some(cluster_devices(cluster), &copy->walk);
}

bool device_copy_end_step(struct device_copy *copy)
{
    for (size_t i = 0; i < copy->n_read_rules; i++)
        device_copy_add_rule(copy, &copy->read_rules[i]);
    for (const struct read_slice *read = copy->read; read; read = read->next)
        device_copy_add_slice(copy, read);
    copy->n_read_rules = 0;
    copy->read = NULL;
    arena_free(copy->walk.arena);
    copy->walk.arena = NULL;
    if (copy->is_done)
        device_copy_finish_pools(copy);
    return copy->is_done;
}
