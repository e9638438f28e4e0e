/*
 * node_rows: capacity, allocatable and use of each resource of a node.
 */
#include "base/mem.h"
#include "ledger/ledger.h"
#include "ledger/shapes/exact_sum.h"

#include <string.h>

struct node_resource *node_rows_find(struct node *node, const struct resource *resource)
{
    for (size_t i = 0; i < node->n_resources; i++) {
        if (node->resources[i].resource == resource)
            return &node->resources[i];
    }
    return NULL;
}

void node_rows_free(struct cluster *cluster, struct node *node)
{
    for (size_t i = 0; i < node->n_resources; i++)
        shapes_unref_row(cluster->shapes, node->resources[i].resource);
    free(node->resources);
}

static struct node_resource *resource_made(struct node *node, const struct resource *resource)
{
    struct node_resource *found = node_rows_find(node, resource);
    if (found)
        return found;
    node->resources = mem_grow(node->resources, node->n_resources + 1, sizeof *node->resources);
    found = &node->resources[node->n_resources++];
    if (resource->is_gpu) {
        *found = node->resources[node->n_gpu_resources];
        found = &node->resources[node->n_gpu_resources++];
    }
    /* For a resource that is always kept, a missing row means that no pod used it. */
    *found =
        (struct node_resource){.resource = resource, .is_uncounted = !resource->is_always_kept};
    shapes_ref_row(resource);
    return found;
}

static bool is_wanted(const struct node_resource *entry)
{
    return entry->advertised ||
           (entry->resource->is_always_kept && (entry->used != 0 || entry->reserved != 0));
}

static void forget_unwanted(struct cluster *cluster, struct node *node, struct node_resource *entry)
{
    if (is_wanted(entry))
        return;
    const struct resource *resource = entry->resource;
    if (resource->is_gpu) {
        exact_sum_join(&node->unlisted_gpus, &entry->used_sum);
        exact_sum_join(&node->unlisted_gpus, &entry->reserved_sum);
        struct node_resource *last_gpu = &node->resources[--node->n_gpu_resources];
        *entry = *last_gpu;
        entry = last_gpu;
    }
    *entry = node->resources[--node->n_resources];
    shapes_unref_row(cluster->shapes, resource);
}

static const struct amount *find_amount(const struct amount *amounts, size_t n,
                                        const char *resource)
{
    for (size_t i = 0; i < n; i++) {
        if (strcmp(amounts[i].resource, resource) == 0)
            return &amounts[i];
    }
    return NULL;
}

/* An empty allocatable defaults to capacity (Kubernetes API, NodeStatus). A resource missing from a
 * given one is 0. */
static int64_t allocatable_of(const struct node_facts *facts, const char *name)
{
    const struct amount *amount = find_amount(facts->allocatable, facts->n_allocatable, name);
    if (!amount && facts->n_allocatable == 0)
        amount = find_amount(facts->capacity, facts->n_capacity, name);
    return amount ? amount->amount : 0;
}

/* Stores what the node advertises of the resources in the list. Returns whether anything
 * changed. */
static bool advertise(struct cluster *cluster, struct node *node, const struct amount *amounts,
                      size_t n, const struct node_facts *facts)
{
    bool changed = false;
    for (size_t i = 0; i < n; i++) {
        const char *name = amounts[i].resource;
        const struct amount *capacity = find_amount(facts->capacity, facts->n_capacity, name);
        const struct resource *resource = shapes_intern_resource(cluster->shapes, name);
        struct node_resource *entry = resource_made(node, resource);
        struct node_resource old = *entry;
        entry->advertised = true;
        entry->allocatable = allocatable_of(facts, name);
        entry->capacity = capacity ? capacity->amount : entry->allocatable;
        changed |= !old.advertised || old.capacity != entry->capacity ||
                   old.allocatable != entry->allocatable;
        shapes_unref_resource(cluster->shapes, resource);
    }
    return changed;
}

static void show(struct node_resource *entry)
{
    entry->used = exact_sum_shown(&entry->used_sum);
    entry->reserved = exact_sum_shown(&entry->reserved_sum);
}

static struct exact_sum *sum_of(struct node_resource *entry, enum use use)
{
    return use == USE_BY_PODS ? &entry->used_sum : &entry->reserved_sum;
}

static void count_uncounted(struct node *node, const struct pod_shape *shape, enum use use)
{
    for (size_t i = 0; i < shape->n_needs; i++) {
        const struct need *need = &shape->needs[i];
        struct node_resource *entry = node_rows_find(node, need->resource);
        if (!entry || !entry->is_uncounted)
            continue;
        exact_sum_add(sum_of(entry, use), need->amount);
        if (need->resource->is_gpu)
            exact_sum_take(&node->unlisted_gpus, need->amount);
    }
}

/* Sums all new rows in one pass. Resources that the node did not advertise were not counted. */
static void count_new_rows(struct node *node)
{
    bool is_any = false;
    for (size_t i = 0; i < node->n_resources; i++)
        is_any |= node->resources[i].is_uncounted;
    if (!is_any)
        return;
    for (const struct pod_entry *pod = node->pods; pod; pod = pod->next)
        count_uncounted(node, pod->pod.shape, USE_BY_PODS);
    for (const struct reservation_entry *held = node->reservations; held; held = held->next)
        count_uncounted(node, held->reservation.shape, USE_BY_RESERVATIONS);
    for (size_t i = 0; i < node->n_resources; i++) {
        node->resources[i].is_uncounted = false;
        show(&node->resources[i]);
    }
}

bool node_rows_advertise(struct cluster *cluster, struct node *node, const struct node_facts *facts)
{
    bool changed = advertise(cluster, node, facts->capacity, facts->n_capacity, facts);
    changed |= advertise(cluster, node, facts->allocatable, facts->n_allocatable, facts);
    count_new_rows(node);
    for (size_t i = node->n_resources; i > 0; i--) {
        struct node_resource *entry = &node->resources[i - 1];
        const char *name = entry->resource->name;
        if (!entry->advertised || find_amount(facts->capacity, facts->n_capacity, name) ||
            find_amount(facts->allocatable, facts->n_allocatable, name))
            continue;
        entry->advertised = false;
        entry->capacity = entry->allocatable = 0;
        entry->pool = NULL;
        forget_unwanted(cluster, node, entry);
        changed = true;
    }
    node->n_changes += changed;
    return changed;
}

static void change_sum(struct exact_sum *sum, int64_t amount, bool is_added)
{
    if (is_added)
        exact_sum_add(sum, amount);
    else
        exact_sum_take(sum, amount);
}

static void change_row(struct node_resource *row, const struct usage *usage, int64_t amount,
                       bool is_added)
{
    model_pool_take(row);
    change_sum(sum_of(row, usage->use), amount, is_added);
    show(row);
    model_pool_give(row);
}

void node_rows_change(struct cluster *cluster, struct node *node, const struct usage *usage,
                      bool is_added)
{
    for (size_t i = 0; i < usage->pod.shape->n_needs; i++) {
        const struct need *need = &usage->pod.shape->needs[i];
        struct node_resource *row = is_added && need->resource->is_always_kept && need->amount > 0
                                        ? resource_made(node, need->resource)
                                        : node_rows_find(node, need->resource);
        if (row) {
            change_row(row, usage, need->amount, is_added);
            forget_unwanted(cluster, node, row);
        } else if (need->resource->is_gpu) {
            change_sum(&node->unlisted_gpus, need->amount, is_added);
        }
    }
    node->n_changes++;
}
