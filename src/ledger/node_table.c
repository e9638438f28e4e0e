/*
 * node_table: nodes by name, what they have, what is used and what is reserved. A node that is not
 * there is kept as long as pods, reservations or nominations speak of it.
 */
#include "base/mem.h"
#include "exact_sum.h"
#include "ledger.h"

#include <stdlib.h>
#include <string.h>

/* Of all processors that this is likely to run on, or half of it. */
#define CACHE_LINE_BYTES 64

struct node *node_table_hold(struct cluster *cluster, const char *name)
{
    struct node *node = node_index_find(&cluster->node_index, name);
    if (!node) {
        const size_t size = strlen(name) + 1;
        node = mem_new_aligned(CACHE_LINE_BYTES, sizeof *node + size);
        memcpy(node->name, name, size);
        node->glance.cluster = cluster;
        DL_APPEND(cluster->missing_nodes, node);
        node_index_add(&cluster->node_index, node);
    }
    return node;
}

static void leave_list(struct cluster *cluster, struct node *node)
{
    check_walk_leave(cluster, node);
    if (node->traits)
        DL_DELETE(cluster->nodes, node);
    else
        DL_DELETE(cluster->missing_nodes, node);
    cluster->n_present_nodes -= node->traits != NULL;
}

static void enter_list(struct cluster *cluster, struct node *node)
{
    if (node->traits)
        DL_APPEND(cluster->nodes, node);
    else
        DL_APPEND(cluster->missing_nodes, node);
    cluster->n_present_nodes += node->traits != NULL;
}

/* Tenants can name any number of nodes that are not there, so those have a list of their own. */
void node_table_set_traits(struct cluster *cluster, struct node *node, struct traits_entry *traits)
{
    const bool moves = (node->traits != NULL) != (traits != NULL);
    if (moves)
        leave_list(cluster, node);
    traits_drop(cluster, node->traits);
    node->traits = traits;
    if (moves)
        enter_list(cluster, node);
}

void node_table_free(struct cluster *cluster, struct node *node)
{
    node_index_remove(&cluster->node_index, node);
    leave_list(cluster, node);
    for (size_t i = 0; i < node->n_resources; i++)
        shapes_drop_row(cluster->shapes, node->resources[i].resource);
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
    /* For a resource that is always kept, a missing row means that no pod used it. */
    *found =
        (struct node_resource){.resource = resource, .is_uncounted = !resource->is_always_kept};
    shapes_hold_row(resource);
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
    shapes_drop_row(cluster->shapes, resource);
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

/* Which of a node's two sums. */
enum use { USE_BY_PODS, USE_BY_RESERVATIONS };

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
        struct node_resource *entry = node_table_resource(node, need->resource);
        if (!entry || !entry->is_uncounted)
            continue;
        exact_sum_add(sum_of(entry, use), need->amount);
        if (need->resource->is_gpu)
            exact_sum_take(&node->unlisted_gpus, need->amount);
    }
}

/* Sums the new rows, all in one pass: what the node did not advertise until now was not counted. */
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

bool node_table_advertise(struct cluster *cluster, struct node *node,
                          const struct node_facts *facts)
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
        entry->supply = NULL;
        forget_unwanted(cluster, node, entry);
        changed = true;
    }
    node->n_changes += changed;
    return changed;
}

static void add_needs(struct node *node, const struct pod_shape *shape, enum use use)
{
    for (size_t i = 0; i < shape->n_needs; i++) {
        const struct need *need = &shape->needs[i];
        struct node_resource *entry = need->resource->is_always_kept && need->amount > 0
                                          ? resource_made(node, need->resource)
                                          : node_table_resource(node, need->resource);
        if (!entry) {
            if (need->resource->is_gpu)
                exact_sum_add(&node->unlisted_gpus, need->amount);
            continue;
        }
        supply_take(entry);
        exact_sum_add(sum_of(entry, use), need->amount);
        show(entry);
        supply_give(entry);
    }
    node->n_changes++;
    glance_renew(node);
}

static void take_needs(struct cluster *cluster, struct node *node, const struct pod_shape *shape,
                       enum use use)
{
    for (size_t i = 0; i < shape->n_needs; i++) {
        const struct need *need = &shape->needs[i];
        struct node_resource *entry = node_table_resource(node, need->resource);
        if (!entry) {
            if (need->resource->is_gpu)
                exact_sum_take(&node->unlisted_gpus, need->amount);
            continue;
        }
        supply_take(entry);
        exact_sum_take(sum_of(entry, use), need->amount);
        show(entry);
        supply_give(entry);
        forget_unwanted(cluster, node, entry);
    }
    node->n_changes++;
    glance_renew(node);
}

void node_table_add_pod(struct node *node, struct pod_entry *pod)
{
    DL_APPEND(node->pods, pod);
    node->n_pods++;
    pod->node = node;
    add_needs(node, pod->pod.shape, USE_BY_PODS);
}

void node_table_remove_pod(struct cluster *cluster, struct node *node, struct pod_entry *pod)
{
    DL_DELETE(node->pods, pod);
    node->n_pods--;
    pod->node = NULL;
    take_needs(cluster, node, pod->pod.shape, USE_BY_PODS);
}

void node_table_add_reservation(struct node *node, struct reservation_entry *reservation)
{
    DL_APPEND(node->reservations, reservation);
    reservation->node = node;
    add_needs(node, reservation->reservation.shape, USE_BY_RESERVATIONS);
}

void node_table_remove_reservation(struct cluster *cluster, struct node *node,
                                   struct reservation_entry *reservation)
{
    DL_DELETE(node->reservations, reservation);
    reservation->node = NULL;
    take_needs(cluster, node, reservation->reservation.shape, USE_BY_RESERVATIONS);
}

const char *node_name(const struct node *node)
{
    return node->name;
}

const struct node_traits *node_traits(const struct node *node)
{
    return &node->traits->traits;
}

const char *node_zone(const struct node *node)
{
    return node->traits ? node->traits->traits.zone : NULL;
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

int64_t node_unlisted_gpus(const struct node *node)
{
    return exact_sum_shown(&node->unlisted_gpus);
}

int64_t node_free_gpus(const struct node *node)
{
    int64_t sum = 0;
    if (node->glance.gpus)
        return node->glance.free_gpus > 0 ? node->glance.free_gpus : 0;
    for (size_t i = 0; i < node->n_gpu_resources; i++) {
        const int64_t free = node_resource_free(&node->resources[i]);
        if (free > 0)
            sum = amount_add(sum, free);
    }
    return sum;
}

const struct pod *node_next_pod(const struct node *node, const struct pod *pod)
{
    const struct pod_entry *next = node->pods;
    if (pod)
        next = CONTAINER_OF(pod, const struct pod_entry, pod)->next;
    return next ? &next->pod : NULL;
}
