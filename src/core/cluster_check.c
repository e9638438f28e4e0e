/*
 * cluster_check: the ledger's sums, made again the slow way from its pods.
 */
#include "ledger.h"

#include <inttypes.h>
#include <string.h>

struct check {
    size_t n_differences;
    struct err *err;
};

static void differs(struct check *check, const char *where, const char *what, int64_t is,
                    int64_t should_be)
{
    if (check->n_differences++ == 0)
        (void)err_set(check->err, EINVAL, "%s: %s is %" PRId64 ", should be %" PRId64, where, what,
                      is, should_be);
}

static bool uses(const struct pod *pod, const char *node_name)
{
    return !pod->finished && pod->node_name[0] && strcmp(pod->node_name, node_name) == 0;
}

static int64_t sum_of(const struct node *node, const struct resource *resource)
{
    int64_t sum = 0;
    for (const struct pod_entry *pod = node->pods; pod; pod = pod->next)
        sum = ledger_add(sum, shape_demand(&pod->pod.shape->facts, resource->name));
    return sum;
}

static void check_node(struct check *check, const struct node *node)
{
    for (size_t i = 0; i < node->n_resources; i++) {
        const struct node_resource *resource = &node->resources[i];
        int64_t sum = sum_of(node, resource->resource);
        if (resource->used != sum)
            differs(check, node->name, resource->resource->name, resource->used, sum);
        if (!resource->advertised && resource->used == 0)
            differs(check, node->name, "an unused, unadvertised resource", 1, 0);
    }
    for (const struct pod_entry *pod = node->pods; pod; pod = pod->next) {
        if (!uses(&pod->pod, node->name) || pod->node != node)
            differs(check, node->name, pod->pod.uid, 1, 0);
        for (size_t i = 0; i < pod->pod.shape->n_needs; i++) {
            const struct resource *resource = pod->pod.shape->needs[i].resource;
            if (!node_find_resource(node, resource))
                differs(check, node->name, resource->name, 0, pod->pod.shape->needs[i].amount);
        }
    }
    if (!node->traits && !node->pods)
        differs(check, node->name, "a node that is neither there nor used", 1, 0);
}

size_t cluster_check(const struct cluster *cluster, struct err *err)
{
    struct check check = {.err = err};
    size_t n_present = 0;
    size_t n_using = 0;
    for (const struct node *node = cluster->nodes; node; node = node->hh.next) {
        n_present += node->traits != NULL;
        for (const struct pod_entry *pod = node->pods; pod; pod = pod->next)
            n_using++;
        check_node(&check, node);
    }
    if (n_present != cluster->n_present_nodes)
        differs(&check, "cluster", "nodes", (int64_t)cluster->n_present_nodes, (int64_t)n_present);
    size_t n_should_use = 0;
    for (const struct pod_entry *pod = cluster->pods; pod; pod = pod->hh.next)
        n_should_use += !pod->pod.finished && pod->pod.node_name[0] != '\0';
    if (n_using != n_should_use)
        differs(&check, "cluster", "pods that use a node", (int64_t)n_using, (int64_t)n_should_use);
    size_t n_shape_refs = 0;
    for (const struct shape_entry *shape = cluster->shapes->shapes; shape; shape = shape->hh.next)
        n_shape_refs += shape->refs;
    if (n_shape_refs != cluster_n_pods(cluster))
        differs(&check, "cluster", "pods that have a shape", (int64_t)n_shape_refs,
                (int64_t)cluster_n_pods(cluster));
    return check.n_differences;
}
