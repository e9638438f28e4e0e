/* cluster_priority_classes: priority classes by name. See include/ledger/cluster.h. */
#include "base/mem.h"
#include "ledger.h"

#include <stdlib.h>
#include <string.h>

static struct priority_class *find(struct priority_class *table, const char *name)
{
    struct priority_class *entry = NULL;
    HASH_FIND_STR(table, name, entry);
    return entry;
}

/* Returns whether anything changed. */
static bool put(struct priority_class **table, const char *name,
                const struct priority_class *values)
{
    struct priority_class *entry = find(*table, name);
    const bool is_new = !entry;
    if (is_new) {
        entry = MEM_NEW(struct priority_class);
        entry->name = mem_strdup(name);
        HASH_ADD_KEYPTR(hh, *table, entry->name, strlen(entry->name), entry);
    }
    const bool same = entry->value == values->value && entry->is_default == values->is_default &&
                      entry->never_preempts == values->never_preempts && !is_new;
    entry->value = values->value;
    entry->is_default = values->is_default;
    entry->never_preempts = values->never_preempts;
    entry->seen = values->seen;
    return !same;
}

static void remove_entry(struct priority_class **table, struct priority_class *entry)
{
    HASH_DEL(*table, entry);
    free(entry->name);
    free(entry);
}

static void remove_named(struct cluster *cluster, struct priority_class **table, const char *name)
{
    struct priority_class *entry = find(*table, name);
    if (!entry)
        return;
    remove_entry(table, entry);
    cluster->version++;
}

void cluster_priority_classes_free_all(struct cluster *cluster)
{
    struct priority_class *entry = NULL;
    struct priority_class *next = NULL;
    HASH_ITER (hh, cluster->priority_classes, entry, next) {
        remove_entry(&cluster->priority_classes, entry);
    }
}

void cluster_priority_classes_sweep(struct cluster *cluster)
{
    struct priority_class *entry = NULL;
    struct priority_class *next = NULL;
    HASH_ITER (hh, cluster->priority_classes, entry, next) {
        if (entry->seen == cluster->relists[CLUSTER_PRIORITY_CLASSES])
            continue;
        remove_entry(&cluster->priority_classes, entry);
        cluster->version++;
    }
}

void cluster_upsert_priority_class(struct cluster *cluster, const char *name, int64_t value,
                                   bool is_default, bool never_preempts)
{
    const struct priority_class values = {.value = value,
                                          .is_default = is_default,
                                          .never_preempts = never_preempts,
                                          .seen = cluster->relists[CLUSTER_PRIORITY_CLASSES]};
    cluster->version += put(&cluster->priority_classes, name, &values);
}

void cluster_priority_classes_copy(struct cluster *to, const struct cluster *from, const char *name)
{
    const struct priority_class *entry = find(from->priority_classes, name);
    if (entry)
        to->version += put(&to->priority_classes, name, entry);
}

void cluster_delete_priority_class(struct cluster *cluster, const char *name)
{
    remove_named(cluster, &cluster->priority_classes, name);
}

/* There should be one; of several, Kubernetes' admission takes the lowest. */
static const struct priority_class *default_class(const struct cluster *cluster)
{
    const struct priority_class *lowest = NULL;
    for (const struct priority_class *entry = cluster->priority_classes; entry;
         entry = entry->hh.next)
        if (entry->is_default && (!lowest || entry->value < lowest->value))
            lowest = entry;
    return lowest;
}

static const struct priority_class *find_class(const struct cluster *cluster, const char *name)
{
    return name[0] ? find(cluster->priority_classes, name) : default_class(cluster);
}

bool cluster_class_never_preempts(const struct cluster *cluster, const char *name)
{
    const struct priority_class *entry = find_class(cluster, name);
    return entry && entry->never_preempts;
}

bool cluster_priority_of_class(const struct cluster *cluster, const char *name, int64_t *ret_value)
{
    const struct priority_class *entry = find_class(cluster, name);
    if (!entry)
        return false;
    *ret_value = entry->value;
    return true;
}

size_t cluster_n_priority_classes(const struct cluster *cluster)
{
    return HASH_COUNT(cluster->priority_classes);
}

const char *cluster_next_priority_class(const struct cluster *cluster, const char *name,
                                        int64_t *ret_value, bool *ret_is_default)
{
    const struct priority_class *next = cluster->priority_classes;
    if (name)
        next = find(cluster->priority_classes, name)->hh.next;
    if (!next)
        return NULL;
    *ret_value = next->value;
    *ret_is_default = next->is_default;
    return next->name;
}
