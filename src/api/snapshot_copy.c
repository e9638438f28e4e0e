/* snapshot_copy: see snapshot_copy.h. */
#include "snapshot_copy.h"
#include "core/reserve.h"
#include "core/shape_copy.h"

#include <stdlib.h>
#include <string.h>

static struct label *copy_labels(const struct label *labels, size_t n, struct arena *arena)
{
    struct label *copies = ARENA_ARRAY(arena, struct label, n);
    for (size_t i = 0; i < n; i++)
        copies[i] = (struct label){arena_strdup(arena, labels[i].key),
                                   arena_strdup(arena, labels[i].value)};
    return copies;
}

static struct taint *copy_taints(const struct node_traits *traits, struct arena *arena)
{
    struct taint *taints = ARENA_ARRAY(arena, struct taint, traits->n_taints);
    for (size_t i = 0; i < traits->n_taints; i++)
        taints[i] =
            (struct taint){arena_strdup(arena, traits->taints[i].key),
                           arena_strdup(arena, traits->taints[i].value), traits->taints[i].effect};
    return taints;
}

static int compare_amounts(const void *a, const void *b)
{
    return strcmp(((const struct amount *)a)->resource, ((const struct amount *)b)->resource);
}

/* What the node itself names; of what only its pods name they tell. By name: the ledger has them
 * as they became known, and it may have seen the pods first. */
static void copy_amounts(const struct node *node, struct arena *arena, struct node_facts *facts)
{
    size_t n_resources = 0;
    const struct node_resource *resources = node_resources(node, &n_resources);
    struct amount *capacity = ARENA_ARRAY(arena, struct amount, n_resources);
    struct amount *allocatable = ARENA_ARRAY(arena, struct amount, n_resources);
    size_t n = 0;
    for (size_t i = 0; i < n_resources; i++) {
        if (!resources[i].advertised)
            continue;
        const char *name = arena_strdup(arena, resources[i].resource->name);
        capacity[n] = (struct amount){name, resources[i].capacity};
        allocatable[n++] = (struct amount){name, resources[i].allocatable};
    }
    qsort(capacity, n, sizeof *capacity, compare_amounts);
    qsort(allocatable, n, sizeof *allocatable, compare_amounts);
    facts->capacity = capacity;
    facts->allocatable = allocatable;
    facts->n_capacity = facts->n_allocatable = n;
}

static struct node_facts copy_node(const struct node *node, struct arena *arena)
{
    const struct node_traits *traits = node_traits(node);
    struct node_facts facts = {
        .name = arena_strdup(arena, node_name(node)),
        .labels = copy_labels(traits->view.labels, traits->view.n_labels, arena),
        .n_labels = traits->view.n_labels,
        .taints = copy_taints(traits, arena),
        .n_taints = traits->n_taints,
        .unschedulable = traits->unschedulable,
        .ready = traits->ready,
    };
    copy_amounts(node, arena, &facts);
    return facts;
}

static void copy_nodes(const struct cluster *cluster, struct snapshot_copy *copy)
{
    copy->nodes = ARENA_ARRAY(copy->arena, struct node_facts, cluster_n_nodes(cluster));
    for (const struct node *node = cluster_next_node(cluster, NULL); node;
         node = cluster_next_node(cluster, node))
        copy->nodes[copy->n_nodes++] = copy_node(node, copy->arena);
}

static void copy_reservations(const struct cluster *cluster, struct snapshot_copy *copy)
{
    struct arena *arena = copy->arena;
    copy->reservations =
        ARENA_ARRAY(arena, struct snapshot_reservation, cluster_n_reservations(cluster));
    for (const struct reservation *held = cluster_next_reservation(cluster, NULL); held;
         held = cluster_next_reservation(cluster, held))
        copy->reservations[copy->n_reservations++] = (struct snapshot_reservation){
            .uid = arena_strdup(arena, held->uid),
            .namespace_ = arena_strdup(arena, held->namespace_),
            .name = arena_strdup(arena, held->name),
            .node_name = arena_strdup(arena, held->node_name),
            .replica_of = arena_strdup(arena, owner_uid(held->owner)),
            .shape = shape_copy(&held->shape->facts, arena),
            .made_ms = held->made_ms,
        };
}

static void copy_namespaces(const struct cluster *cluster, struct snapshot_copy *copy)
{
    struct arena *arena = copy->arena;
    copy->namespaces = ARENA_ARRAY(arena, struct namespace_facts, cluster_n_namespaces(cluster));
    for (const struct namespace *item = cluster_next_namespace(cluster, NULL); item;
         item = cluster_next_namespace(cluster, item))
        copy->namespaces[copy->n_namespaces++] = (struct namespace_facts){
            arena_strdup(arena, item->name), copy_labels(item->labels, item->n_labels, arena),
            item->n_labels};
}

static void copy_classes(const struct cluster *cluster, struct snapshot_copy *copy)
{
    struct arena *arena = copy->arena;
    const char *name = NULL;
    int64_t value = 0;
    bool is_default = false;
    copy->classes =
        ARENA_ARRAY(arena, struct priority_class_facts, cluster_n_priority_classes(cluster));
    while ((name = cluster_next_priority_class(cluster, name, &value, &is_default)))
        copy->classes[copy->n_classes++] = (struct priority_class_facts){
            .name = arena_strdup(arena, name),
            .value = value,
            .is_default = is_default,
            .never_preempts = cluster_class_never_preempts(cluster, name)};
}

static void copy_device_classes(const struct cluster *cluster, struct snapshot_copy *copy)
{
    struct arena *arena = copy->arena;
    const char *name = NULL;
    const char *resource = "";
    copy->device_classes =
        ARENA_ARRAY(arena, struct snapshot_device_class, cluster_n_device_classes(cluster));
    while ((name = cluster_next_device_class(cluster, name, &resource)))
        copy->device_classes[copy->n_device_classes++] = (struct snapshot_device_class){
            arena_strdup(arena, name), arena_strdup(arena, resource)};
}

static void copy_problems(const struct inventory_view *view, struct snapshot_copy *copy)
{
    struct arena *arena = copy->arena;
    copy->problems = ARENA_ARRAY(arena, struct snapshot_problem, view->n_problems);
    copy->n_problems = view->n_problems;
    copy->n_all_problems = view->n_all_problems;
    for (size_t i = 0; i < view->n_problems; i++)
        copy->problems[i] = (struct snapshot_problem){arena_strdup(arena, view->problems[i].kind),
                                                      arena_strdup(arena, view->problems[i].name),
                                                      arena_strdup(arena, view->problems[i].what)};
}

struct snapshot_copy snapshot_copy(struct inventory *inventory, struct arena *arena)
{
    struct snapshot_copy copy = {.arena = arena};
    const struct basis basis = basis_of(inventory, arena);
    const struct inventory_view view = inventory_read_settled(inventory);
    copy.pods = pod_copies_all(view.cluster, arena);
    copy_nodes(view.cluster, &copy);
    copy_reservations(view.cluster, &copy);
    copy_namespaces(view.cluster, &copy);
    copy_classes(view.cluster, &copy);
    copy_device_classes(view.cluster, &copy);
    copy_problems(&view, &copy);
    copy.reckoned = snapshot_reckon(view.cluster, arena);
    inventory_done(inventory);
    copy.pods.basis = basis;
    return copy;
}
