/*
 * node_table: nodes by name. A node without a Node object is kept while pods, reservations or
 * nominations name it.
 */
#include "base/mem.h"
#include "ledger/ledger.h"

#include <stdalign.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

struct node *node_table_find_or_add(struct cluster *cluster, const char *name)
{
    struct node *node = node_index_find(&cluster->node_index, name);
    if (!node) {
        const size_t size = strlen(name) + 1;
        node = mem_new_aligned(alignof(struct node),
                               offsetof(struct node, name) + size + NODE_NAME_PADDING);
        memcpy(node->name, name, size);
        node->hot.cluster = cluster;
        DL_APPEND(cluster->missing_nodes, node);
        node_index_add(&cluster->node_index, node);
    }
    return node;
}

void node_table_walk_to(struct check_walk *walk, struct node *node)
{
    free(walk->used);
    *walk = (struct check_walk){.node = node};
}

static void leave_list(struct cluster *cluster, struct node *node)
{
    if (cluster->check_walk.node == node)
        node_table_walk_to(&cluster->check_walk, node->next);
    if (node->traits)
        DL_DELETE(cluster->nodes, node);
    else
        DL_DELETE(cluster->missing_nodes, node);
    cluster->n_present_nodes -= node->traits != NULL;
    node->order = 0;
}

static void enter_list(struct cluster *cluster, struct node *node)
{
    if (node->traits)
        DL_APPEND(cluster->nodes, node);
    else
        DL_APPEND(cluster->missing_nodes, node);
    cluster->n_present_nodes += node->traits != NULL;
    cluster->has_unordered |= node->traits != NULL;
}

/* Missing nodes have a list of their own, because tenants can name any number of them. */
void node_table_set_traits(struct cluster *cluster, struct node *node, struct traits_entry *traits)
{
    const bool moves = (node->traits != NULL) != (traits != NULL);
    if (moves)
        leave_list(cluster, node);
    node_traits_unref(cluster, node->traits);
    node->traits = traits;
    if (moves)
        enter_list(cluster, node);
}

static int compare_names(const void *a, const void *b)
{
    return strcmp((*(struct node *const *)a)->name, (*(struct node *const *)b)->name);
}

/* Merges the new nodes, sorted, into the order of the others. */
void node_table_order(struct cluster *cluster)
{
    if (!cluster->has_unordered)
        return;
    const size_t n_old = cluster->n_ordered;
    struct node **slots = MEM_ARRAY(struct node *, n_old + cluster->n_present_nodes + 1);
    size_t end = n_old;
    struct node *node = NULL;
    DL_FOREACH (cluster->nodes, node)
        slots[node->order > 0 ? node->order - 1 : end++] = node;
    qsort(&slots[n_old], end - n_old, sizeof(struct node *), compare_names);
    uint32_t order = 0;
    for (size_t old = 0, added = n_old; old < n_old || added < end;) {
        if (old < n_old && !slots[old])
            old++;
        else if (old < n_old && (added == end || compare_names(&slots[old], &slots[added]) < 0))
            slots[old++]->order = ++order;
        else
            slots[added++]->order = ++order;
    }
    free(slots);
    cluster->n_ordered = order;
    cluster->has_unordered = false;
}

void node_table_free(struct cluster *cluster, struct node *node)
{
    node_index_remove(&cluster->node_index, node);
    leave_list(cluster, node);
    node_rows_free(cluster, node);
    node_devices_free(cluster, node);
    node_traits_unref(cluster, node->traits);
    free(node);
}

void node_table_release(struct cluster *cluster, struct node *node)
{
    if (!node->traits && !node->pods && !node->reservations && !node->nominations)
        node_table_free(cluster, node);
}
