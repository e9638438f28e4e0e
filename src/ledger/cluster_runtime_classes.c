/* cluster_runtime_classes: names of runtime classes. See include/ledger/cluster.h. */
#include "base/mem.h"
#include "ledger.h"

#include <stdlib.h>
#include <string.h>

static struct runtime_class *find(const struct cluster *cluster, const char *name)
{
    struct runtime_class *entry = NULL;
    HASH_FIND_STR(cluster->runtime_classes, name, entry);
    return entry;
}

void cluster_add_runtime_class(struct cluster *cluster, const char *name)
{
    if (find(cluster, name))
        return;
    struct runtime_class *entry = MEM_NEW(struct runtime_class);
    entry->name = mem_strdup(name);
    HASH_ADD_KEYPTR(hh, cluster->runtime_classes, entry->name, strlen(entry->name), entry);
    cluster->version++;
}

static void remove_entry(struct cluster *cluster, struct runtime_class *entry)
{
    HASH_DEL(cluster->runtime_classes, entry);
    free(entry->name);
    free(entry);
}

void cluster_delete_runtime_class(struct cluster *cluster, const char *name)
{
    struct runtime_class *entry = find(cluster, name);
    if (!entry)
        return;
    remove_entry(cluster, entry);
    cluster->version++;
}

void cluster_runtime_classes_free_all(struct cluster *cluster)
{
    struct runtime_class *entry = NULL;
    struct runtime_class *next = NULL;
    HASH_ITER (hh, cluster->runtime_classes, entry, next) {
        remove_entry(cluster, entry);
    }
}

bool cluster_has_runtime_class(const struct cluster *cluster, const char *name)
{
    return find(cluster, name) != NULL;
}

size_t cluster_n_runtime_classes(const struct cluster *cluster)
{
    return HASH_COUNT(cluster->runtime_classes);
}

const char *cluster_next_runtime_class(const struct cluster *cluster, const char *name)
{
    const struct runtime_class *next =
        name ? find(cluster, name)->hh.next : cluster->runtime_classes;
    return next ? next->name : NULL;
}
