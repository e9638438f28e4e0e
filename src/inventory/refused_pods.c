/* refused_pods: see refused_pods.h. */
#include "refused_pods.h"
#include "base/mem.h"
#include "base/table.h"

#include <stdlib.h>
#include <string.h>

struct refusing_node {
    char *node;
    uint64_t n;
    UT_hash_handle hh;
};

struct refused_pods {
    struct refusing_node *entries; /* by node name */
};

struct refused_pods *refused_pods_new(void)
{
    return MEM_NEW(struct refused_pods);
}

static void forget(struct refused_pods *refused, struct refusing_node *entry)
{
    HASH_DEL(refused->entries, entry);
    free(entry->node);
    free(entry);
}

void refused_pods_free(struct refused_pods *refused)
{
    struct refusing_node *entry = NULL;
    struct refusing_node *next = NULL;
    HASH_ITER (hh, refused->entries, entry, next)
        forget(refused, entry);
    free(refused);
}

static void forget_gone(struct refused_pods *refused, const struct cluster *cluster)
{
    struct refusing_node *entry = NULL;
    struct refusing_node *next = NULL;
    HASH_ITER (hh, refused->entries, entry, next) {
        if (!cluster_find_node(cluster, entry->node))
            forget(refused, entry);
    }
}

static struct refusing_node *add_entry(struct refused_pods *refused, const struct cluster *cluster,
                                       const char *node)
{
    if (HASH_COUNT(refused->entries) >= cluster_n_nodes(cluster))
        forget_gone(refused, cluster);
    struct refusing_node *entry = MEM_NEW(struct refusing_node);
    entry->node = mem_strdup(node);
    HASH_ADD_KEYPTR(hh, refused->entries, entry->node, strlen(entry->node), entry);
    return entry;
}

void refused_pods_add(struct refused_pods *refused, const struct cluster *cluster, const char *node)
{
    struct refusing_node *entry = NULL;
    if (!cluster_find_node(cluster, node))
        return;
    HASH_FIND_STR(refused->entries, node, entry);
    if (!entry)
        entry = add_entry(refused, cluster, node);
    entry->n++;
}

size_t refused_pods_copy(const struct refused_pods *refused, const struct cluster *cluster,
                         struct arena *arena, struct refused_count **ret_counts)
{
    struct refused_count *counts =
        ARENA_ARRAY(arena, struct refused_count, HASH_COUNT(refused->entries));
    size_t n = 0;
    for (const struct refusing_node *entry = refused->entries; entry; entry = entry->hh.next) {
        if (cluster_find_node(cluster, entry->node))
            counts[n++] = (struct refused_count){arena_strdup(arena, entry->node), entry->n};
    }
    *ret_counts = counts;
    return n;
}
