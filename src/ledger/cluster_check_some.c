/*
 * cluster_check_some: the ledger's sums made again a little at a time, while it is in use.
 *
 * The caller bounds the work of a step, whatever tenants write.
 * A kubelet runs a few hundred pods; but any number may name one node. So the pods of a node that
 * has more than PODS_AT_ONCE are summed in several steps, which count only if the node did not
 * change in between. Its replicas and nominations are left out then.
 */
#include "cluster_check.h"

#include <stdlib.h>

#define PODS_AT_ONCE 512
/* A node that changes each time is left for the next round. */
#define TRIES 3

static void forget_sums(struct check_walk *walk)
{
    free(walk->used);
    walk->used = NULL;
}

static void go_to(struct check_walk *walk, struct node *node)
{
    forget_sums(walk);
    *walk = (struct check_walk){.node = node};
}

void check_walk_leave(struct cluster *cluster, const struct node *node)
{
    struct check_walk *walk = &cluster->check_walk;
    if (walk->node == node)
        go_to(walk, node->next);
}

static void begin_node(struct check_walk *walk)
{
    forget_sums(walk);
    walk->used = check_sums_new(walk->node);
    walk->pod = walk->node->pods;
    walk->n_changes = walk->node->n_changes;
    walk->n_tries++;
}

/* The work of it. */
static size_t check_part(struct check *check, struct check_walk *walk, size_t work)
{
    size_t n_visited = 1;
    if (!walk->used || walk->n_changes != walk->node->n_changes) {
        if (walk->n_tries == TRIES) {
            go_to(walk, walk->node->next);
            return n_visited;
        }
        begin_node(walk);
    }
    for (; walk->pod && n_visited < work; walk->pod = walk->pod->next)
        n_visited += check_pod(check, walk->node, walk->pod, walk->used);
    if (walk->pod)
        return n_visited;
    n_visited += check_rows(check, walk->node, walk->used);
    go_to(walk, walk->node->next);
    return n_visited;
}

static size_t check_next(struct check *check, struct check_walk *walk, size_t work)
{
    struct node *node = walk->node;
    if (node->n_pods > PODS_AT_ONCE)
        return check_part(check, walk, work);
    go_to(walk, node->next);
    return 1 + check_node(check, node);
}

bool cluster_check_some(struct cluster *cluster, size_t work, size_t *ret_n_differences,
                        struct err *err)
{
    struct check_walk *walk = &cluster->check_walk;
    struct check check = {.err = *ret_n_differences == 0 ? err : NULL};
    if (!walk->node)
        go_to(walk, cluster->nodes);
    for (size_t n_visited = 0; walk->node && n_visited < work;)
        n_visited += check_next(&check, walk, work - n_visited);
    const bool is_complete = !walk->node;
    if (is_complete)
        check_supplies(&check, cluster);
    *ret_n_differences += check.n_differences;
    return is_complete;
}
