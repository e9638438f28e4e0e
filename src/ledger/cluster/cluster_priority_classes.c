/* cluster_priority_classes: priority classes by name. See include/ledger/cluster.h. */
#include "base/mem.h"
#include "ledger/ledger.h"

struct priority_class {
    struct kept kept;
    struct priority_class_facts facts;
    char name[];
};

static const struct priority_class *class_of(const struct kept *object)
{
    return object ? CONTAINER_OF(object, const struct priority_class, kept) : NULL;
}

void cluster_upsert_priority_class(struct cluster *cluster,
                                   const struct priority_class_facts *facts)
{
    struct kept *object = kept_see(cluster, CLUSTER_PRIORITY_CLASSES, facts->name);
    struct priority_class *entry =
        object ? CONTAINER_OF(object, struct priority_class, kept)
               : MEM_NEW_WITH_TEXT(struct priority_class, name, facts->name);
    if (!object)
        kept_add(cluster, CLUSTER_PRIORITY_CLASSES, &entry->kept, entry->name);
    const bool same = object && entry->facts.value == facts->value &&
                      entry->facts.is_default == facts->is_default &&
                      entry->facts.never_preempts == facts->never_preempts;
    entry->facts = *facts;
    entry->facts.name = entry->name;
    cluster->version += !same;
}

const void *cluster_priority_classes_facts(const struct kept *object, struct arena *arena)
{
    struct priority_class_facts *facts =
        arena_copy(arena, &class_of(object)->facts, 1, sizeof *facts);
    facts->name = arena_strdup(arena, facts->name);
    return facts;
}

/* There should be one; of several, Kubernetes' admission takes the lowest. */
static const struct priority_class *default_class(const struct cluster *cluster)
{
    const struct priority_class *lowest = NULL;
    const struct kept *object = cluster->kept[CLUSTER_PRIORITY_CLASSES].first;
    for (; object; object = object->hh.next) {
        const struct priority_class *entry = class_of(object);
        if (entry->facts.is_default && (!lowest || entry->facts.value < lowest->facts.value))
            lowest = entry;
    }
    return lowest;
}

static const struct priority_class *find_class(const struct cluster *cluster, const char *name)
{
    return name[0] ? class_of(kept_find(cluster, CLUSTER_PRIORITY_CLASSES, name))
                   : default_class(cluster);
}

bool cluster_class_never_preempts(const struct cluster *cluster, const char *name)
{
    const struct priority_class *entry = find_class(cluster, name);
    return entry && entry->facts.never_preempts;
}

bool cluster_priority_of_class(const struct cluster *cluster, const char *name, int64_t *ret_value)
{
    const struct priority_class *entry = find_class(cluster, name);
    if (!entry)
        return false;
    *ret_value = entry->facts.value;
    return true;
}
