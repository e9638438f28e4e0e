/*
 * node_table: nodes by name, what they have, what is used and what is reserved. A node that is not
 * there is kept as long as pods, reservations or nominations speak of it.
 */
#include "base/mem.h"
#include "ledger.h"

#include <stdlib.h>
#include <string.h>

/* Of all processors that this is likely to run on, or half of it. */
#define CACHE_LINE_BYTES 64

int64_t ledger_add(int64_t a, int64_t b)
{
    int64_t sum = 0;
    return __builtin_add_overflow(a, b, &sum) ? INT64_MAX : sum;
}

struct node *node_table_hold(struct cluster *cluster, const char *name)
{
    struct node *node = node_index_find(&cluster->node_index, name);
    if (!node) {
        const size_t size = strlen(name) + 1;
        node = mem_new_aligned(CACHE_LINE_BYTES, sizeof *node + size);
        memcpy(node->name, name, size);
        node->glance.cluster = cluster;
        DL_APPEND(cluster->nodes, node);
        node_index_add(&cluster->node_index, node);
    }
    return node;
}

void node_table_free(struct cluster *cluster, struct node *node)
{
    node_index_remove(&cluster->node_index, node);
    DL_DELETE(cluster->nodes, node);
    for (size_t i = 0; i < node->n_resources; i++)
        shapes_drop_resource(cluster->shapes, node->resources[i].resource);
    traits_drop(cluster, node->traits);
    free(node->resources);
    free(node);
}

void node_table_release(struct cluster *cluster, struct node *node)
{
    if (!node->traits && !node->pods && !node->reservations && !node->nominations)
        node_table_free(cluster, node);
}

struct node_resource *node_table_resource(struct node *node, const struct resource *resource)
{
    for (size_t i = 0; i < node->n_resources; i++) {
        if (node->resources[i].resource == resource)
            return &node->resources[i];
    }
    return NULL;
}

static struct node_resource *resource_made(struct node *node, const struct resource *resource)
{
    struct node_resource *found = node_table_resource(node, resource);
    if (found)
        return found;
    node->resources = mem_grow(node->resources, node->n_resources + 1, sizeof *node->resources);
    found = &node->resources[node->n_resources++];
    if (resource->is_gpu) {
        *found = node->resources[node->n_gpu_resources];
        found = &node->resources[node->n_gpu_resources++];
    }
    *found = (struct node_resource){.resource = resource};
    shapes_hold_resource_again(resource);
    return found;
}

static void forget_unused(struct cluster *cluster, struct node *node, struct node_resource *entry)
{
    if (entry->advertised || entry->used != 0 || entry->reserved != 0)
        return;
    const struct resource *resource = entry->resource;
    if (resource->is_gpu) {
        struct node_resource *last_gpu = &node->resources[--node->n_gpu_resources];
        *entry = *last_gpu;
        entry = last_gpu;
    }
    *entry = node->resources[--node->n_resources];
    shapes_drop_resource(cluster->shapes, resource);
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

/* Allocatable as a whole defaults to capacity (Kubernetes API, NodeStatus); what a given one lacks
 * is 0. */
static int64_t allocatable_of(const struct node_facts *facts, const char *name)
{
    const struct amount *amount = find_amount(facts->allocatable, facts->n_allocatable, name);
    if (!amount && facts->n_allocatable == 0)
        amount = find_amount(facts->capacity, facts->n_capacity, name);
    return amount ? amount->amount : 0;
}

/* Sets what the node advertises of the resources in the list. Whether anything changed. */
static bool advertise(struct cluster *cluster, struct node *node, const struct amount *amounts,
                      size_t n, const struct node_facts *facts)
{
    bool changed = false;
    for (size_t i = 0; i < n; i++) {
        const char *name = amounts[i].resource;
        const struct amount *capacity = find_amount(facts->capacity, facts->n_capacity, name);
        const struct resource *resource = shapes_hold_resource(cluster->shapes, name);
        struct node_resource *entry = resource_made(node, resource);
        struct node_resource old = *entry;
        entry->advertised = true;
        entry->allocatable = allocatable_of(facts, name);
        entry->capacity = capacity ? capacity->amount : entry->allocatable;
        changed |= !old.advertised || old.capacity != entry->capacity ||
                   old.allocatable != entry->allocatable;
        shapes_drop_resource(cluster->shapes, resource);
    }
    return changed;
}

bool node_table_advertise(struct cluster *cluster, struct node *node,
                          const struct node_facts *facts)
{
    bool changed = advertise(cluster, node, facts->capacity, facts->n_capacity, facts);
    changed |= advertise(cluster, node, facts->allocatable, facts->n_allocatable, facts);
    for (size_t i = node->n_resources; i > 0; i--) {
        struct node_resource *entry = &node->resources[i - 1];
        const char *name = entry->resource->name;
        if (!entry->advertised || find_amount(facts->capacity, facts->n_capacity, name) ||
            find_amount(facts->allocatable, facts->n_allocatable, name))
            continue;
        *entry = (struct node_resource){
            .resource = entry->resource, .used = entry->used, .reserved = entry->reserved};
        forget_unused(cluster, node, entry);
        changed = true;
    }
    return changed;
}

void node_table_add_pod(struct node *node, struct pod_entry *pod)
{
    DL_APPEND(node->pods, pod);
    pod->node = node;
    for (size_t i = 0; i < pod->pod.shape->n_needs; i++) {
        const struct need *need = &pod->pod.shape->needs[i];
        struct node_resource *entry = resource_made(node, need->resource);
        supply_take(entry);
        entry->used = ledger_add(entry->used, need->amount);
        supply_give(entry);
    }
    glance_renew(node);
}

/* Sums that passed INT64_MAX were cut there, and must be made again from what is left. */
static int64_t sum_of_pods(const struct node *node, const struct resource *resource)
{
    int64_t sum = 0;
    for (const struct pod_entry *pod = node->pods; pod; pod = pod->next)
        sum = ledger_add(sum, shape_need(pod->pod.shape, resource));
    return sum;
}

void node_table_remove_pod(struct cluster *cluster, struct node *node, struct pod_entry *pod)
{
    DL_DELETE(node->pods, pod);
    pod->node = NULL;
    for (size_t i = 0; i < pod->pod.shape->n_needs; i++) {
        const struct need *need = &pod->pod.shape->needs[i];
        struct node_resource *entry = node_table_resource(node, need->resource);
        supply_take(entry);
        entry->used = entry->used == INT64_MAX ? sum_of_pods(node, need->resource)
                                               : entry->used - need->amount;
        supply_give(entry);
        forget_unused(cluster, node, entry);
    }
    glance_renew(node);
}

void node_table_add_reservation(struct node *node, struct reservation_entry *reservation)
{
    const struct pod_shape *shape = reservation->reservation.shape;
    DL_APPEND(node->reservations, reservation);
    reservation->node = node;
    for (size_t i = 0; i < shape->n_needs; i++) {
        struct node_resource *entry = resource_made(node, shape->needs[i].resource);
        supply_take(entry);
        entry->reserved = ledger_add(entry->reserved, shape->needs[i].amount);
        supply_give(entry);
    }
    glance_renew(node);
}

static int64_t sum_of_reservations(const struct node *node, const struct resource *resource)
{
    int64_t sum = 0;
    for (const struct reservation_entry *held = node->reservations; held; held = held->next)
        sum = ledger_add(sum, shape_need(held->reservation.shape, resource));
    return sum;
}

void node_table_remove_reservation(struct cluster *cluster, struct node *node,
                                   struct reservation_entry *reservation)
{
    const struct pod_shape *shape = reservation->reservation.shape;
    DL_DELETE(node->reservations, reservation);
    reservation->node = NULL;
    for (size_t i = 0; i < shape->n_needs; i++) {
        const struct need *need = &shape->needs[i];
        struct node_resource *entry = node_table_resource(node, need->resource);
        supply_take(entry);
        entry->reserved = entry->reserved == INT64_MAX ? sum_of_reservations(node, need->resource)
                                                       : entry->reserved - need->amount;
        supply_give(entry);
        forget_unused(cluster, node, entry);
    }
    glance_renew(node);
}

const char *node_name(const struct node *node)
{
    return node->name;
}

const struct node_traits *node_traits(const struct node *node)
{
    return &node->traits->traits;
}

const struct node_resource *node_resources(const struct node *node, size_t *ret_n)
{
    *ret_n = node->n_resources;
    return node->resources;
}

const struct node_resource *node_find_resource(const struct node *node,
                                               const struct resource *resource)
{
    for (size_t i = 0; i < node->n_resources; i++) {
        if (node->resources[i].resource == resource)
            return &node->resources[i];
    }
    return NULL;
}

int64_t node_resource_free(const struct node_resource *resource)
{
    int64_t free = 0;
    bool too_low = __builtin_sub_overflow(resource->allocatable, resource->used, &free) ||
                   __builtin_sub_overflow(free, resource->reserved, &free);
    return too_low ? INT64_MIN : free;
}

int64_t node_free_gpus(const struct node *node)
{
    int64_t sum = 0;
    if (node->glance.gpus)
        return node->glance.free_gpus > 0 ? node->glance.free_gpus : 0;
    for (size_t i = 0; i < node->n_gpu_resources; i++) {
        const int64_t free = node_resource_free(&node->resources[i]);
        if (free > 0)
            sum = ledger_add(sum, free);
    }
    return sum;
}

const struct pod *node_next_pod(const struct node *node, const struct pod *pod)
{
    const struct pod_entry *next = node->pods;
    if (pod)
        next = ((const struct pod_entry *)pod)->next;
    return next ? &next->pod : NULL;
}
