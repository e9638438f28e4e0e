/* cluster_namespaces: existing namespaces and their labels. See include/ledger/cluster.h. */
#include "base/mem.h"
#include "ledger/ledger.h"
#include "ledger/shape_limits.h"

#include <string.h>

/* Returns whether the labels changed. */
static bool take_labels(struct cluster *cluster, struct namespace_entry *entry,
                        const struct namespace_facts *facts)
{
    struct label *labels =
        string_table_intern_labels(&cluster->shapes->strings, facts->labels, facts->n_labels);
    const bool same = string_table_equal_labels(entry->labels, entry->namespace_.n_labels, labels,
                                                facts->n_labels);
    namespace_usage_drop_labels(cluster, entry);
    entry->namespace_.labels = entry->labels = labels;
    entry->namespace_.n_labels = facts->n_labels;
    const char *enforced = labels_find(labels, facts->n_labels, NAMESPACE_ENFORCED_LABEL);
    entry->namespace_.is_enforced = enforced && strcmp(enforced, NAMESPACE_ENFORCED) == 0;
    return !same;
}

void cluster_upsert_namespace(struct cluster *cluster, const struct namespace_facts *facts)
{
    struct namespace_entry *entry = namespace_usage_find_or_add(cluster, facts->name);
    const bool is_new = !entry->there;
    const bool changed = take_labels(cluster, entry, facts);
    entry->seen = cluster->relists[CLUSTER_NAMESPACES];
    entry->there = true;
    cluster->n_present_namespaces += is_new;
    cluster->version += is_new || changed;
    if (changed)
        namespace_usage_cover_anew(cluster, entry);
}

static void remove_namespace(struct cluster *cluster, struct namespace_entry *entry)
{
    entry->there = false;
    cluster->n_present_namespaces--;
    cluster->version++;
    namespace_usage_drop_labels(cluster, entry);
    namespace_usage_cover_anew(cluster, entry);
    namespace_usage_release(cluster, entry);
}

void cluster_delete_namespace(struct cluster *cluster, const char *name)
{
    struct namespace_entry *entry = namespace_usage_find(cluster, name);
    if (entry && entry->there)
        remove_namespace(cluster, entry);
}

void cluster_namespaces_keep(struct cluster *cluster, const char *name)
{
    struct namespace_entry *entry = namespace_usage_find(cluster, name);
    if (entry)
        entry->seen = cluster->relists[CLUSTER_NAMESPACES];
}

bool cluster_namespaces_sweep(struct cluster *cluster, size_t work)
{
    struct namespace_entry *entry = NULL;
    struct namespace_entry *next = NULL;
    (void)work;
    HASH_ITER (hh, cluster->namespaces, entry, next) {
        if (entry->there && entry->seen != cluster->relists[CLUSTER_NAMESPACES])
            remove_namespace(cluster, entry);
    }
    return true;
}

const void *cluster_namespaces_next(const struct cluster *cluster, const void *last,
                                    struct arena *arena, const void **ret_facts)
{
    const struct namespace *next = cluster_next_namespace(cluster, last);
    struct namespace_facts *facts = ARENA_NEW(arena, struct namespace_facts);
    if (next)
        *facts = (struct namespace_facts){arena_strdup(arena, next->name),
                                          shape_copy_labels(next->labels, next->n_labels, arena),
                                          next->n_labels};
    *ret_facts = facts;
    return next;
}

const void *cluster_namespaces_see(struct cluster *copy, const struct cluster *original,
                                   const void *object)
{
    const struct namespace *namespace_ = object;
    (void)original;
    namespace_usage_find(copy, namespace_->name)->seen =
        CONTAINER_OF(namespace_, const struct namespace_entry, namespace_)->seen;
    return object;
}

const struct namespace *cluster_find_namespace(const struct cluster *cluster, const char *name)
{
    const struct namespace_entry *entry = namespace_usage_find(cluster, name);
    return entry && entry->there ? &entry->namespace_ : NULL;
}

bool cluster_has_namespace(const struct cluster *cluster, const char *name)
{
    return cluster_find_namespace(cluster, name) != NULL;
}

size_t cluster_n_namespaces(const struct cluster *cluster)
{
    return cluster->n_present_namespaces;
}

bool cluster_lists_namespaces(const struct cluster *cluster)
{
    return cluster->relists[CLUSTER_NAMESPACES] > 0;
}

const struct namespace *cluster_next_namespace(const struct cluster *cluster,
                                               const struct namespace *namespace_)
{
    const struct namespace_entry *next =
        namespace_ ? CONTAINER_OF(namespace_, const struct namespace_entry, namespace_)->hh.next
                   : cluster->namespaces;
    while (next && !next->there)
        next = next->hh.next;
    return next ? &next->namespace_ : NULL;
}
