/*
 * node_devices: the GPUs of a node that come by dynamic resource allocation, as dra/ counts
 * them: a group per driver and model. A copy, so that forks have it too.
 */
#include "base/mem.h"
#include "dra/devices.h"
#include "ledger/ledger.h"

#include <stdlib.h>
#include <string.h>

const struct node_device_group *node_device_groups(const struct node *node, size_t *ret_n)
{
    *ret_n = node->n_devices;
    return node->devices;
}

const struct node_device_group *node_find_devices(const struct node *node,
                                                  const struct resource *resource)
{
    for (size_t i = 0; i < node->n_devices; i++) {
        if (node->devices[i].resource == resource && !node->devices[i].is_shadowed)
            return &node->devices[i];
    }
    return NULL;
}

bool node_publishes_twice(const struct node *node)
{
    for (size_t i = 0; i < node->n_devices; i++) {
        if (node->devices[i].is_shadowed)
            return true;
    }
    return false;
}

/* The domain of a resource: "nvidia.com" of "nvidia.com/gpu". */
static bool is_same_domain(const char *a, const char *b)
{
    const size_t len = strcspn(a, "/");
    return strncmp(a, b, len) == 0 && b[len] == '/';
}

/* Whether a device plugin offers GPUs under the domain of that resource ("": no): kube-scheduler
 * allocates an extended resource by a claim only on nodes that have none of it allocatable. */
static bool is_offered_by_plugin(const struct node *node, const char *resource)
{
    for (size_t i = 0; i < node->n_gpu_resources; i++) {
        if (node->resources[i].allocatable > 0 &&
            is_same_domain(resource, node->resources[i].resource->name))
            return true;
    }
    return false;
}

/* Partitions are parts of the GPUs. */
static bool counts(const struct device_model *model)
{
    return !model->is_partition && model->total > 0;
}

static size_t count_models(const struct device_group *drivers, size_t n_drivers)
{
    size_t n = 0;
    for (size_t i = 0; i < n_drivers; i++) {
        for (size_t j = 0; j < drivers[i].n_models; j++)
            n += counts(&drivers[i].models[j]);
    }
    return n;
}

static const struct device_group *drivers_on(const struct cluster *cluster, const struct node *node,
                                             size_t *ret_n)
{
    *ret_n = 0;
    return node->traits ? devices_on_node(cluster->devices, node->name, ret_n) : NULL;
}

/* Devices of other vendors than the device plugins' say nothing of those GPUs. */
static bool is_of_kind(const struct cluster *cluster, const char *driver,
                       const struct gpu_kind *kind)
{
    const char *resource = policy_device_driver(cluster->policy, driver)->resource;
    return !kind->domain[0] || is_same_domain(kind->domain, resource);
}

struct model_of_devices node_devices_model(const struct cluster *cluster,
                                           const struct node_traits *traits,
                                           const struct gpu_kind *kind)
{
    struct model_of_devices found = {.driver = NULL};
    size_t n = 0;
    const struct device_group *drivers =
        devices_on_node(cluster->devices, traits->view.node_name, &n);
    for (size_t i = 0; i < n; i++) {
        for (size_t j = 0; j < drivers[i].n_models; j++) {
            const struct device_model *model = &drivers[i].models[j];
            if (!counts(model) || !is_of_kind(cluster, drivers[i].driver, kind))
                continue;
            if (!model->model->chip[0] || (found.driver && strcmp(found.name, model->name) != 0))
                return (struct model_of_devices){.driver = NULL};
            if (!found.driver)
                found = (struct model_of_devices){drivers[i].driver, model->name, model->model,
                                                  model->memory_bytes};
        }
    }
    return found;
}

static const char *resource_of(const struct cluster *cluster, const char *driver)
{
    return policy_device_driver(cluster->policy, driver)->resource;
}

/* Any claim that is unknown may use them. */
static int64_t free_of(const struct cluster *cluster, const struct device_model *model)
{
    return cluster_knows(cluster, CLUSTER_CLAIMS) ? model->free : 0;
}

static struct node_device_group group_of(struct cluster *cluster, const struct node *node,
                                         const char *driver, const struct device_model *model)
{
    const char *resource = resource_of(cluster, driver);
    const bool stands = resource[0] != '\0';
    return (struct node_device_group){
        .driver = string_table_intern(&cluster->shapes->strings, driver),
        .model = string_table_intern(&cluster->shapes->strings, model->name),
        .resource = stands ? shapes_intern_resource(cluster->shapes, resource) : NULL,
        .total = model->total,
        .allocated = model->allocated,
        .free = free_of(cluster, model),
        .is_shadowed = is_offered_by_plugin(node, resource),
    };
}

static void add_models(const struct policy *policy, const struct device_group *group,
                       struct asked_models *models)
{
    for (size_t i = 0; i < group->n_models; i++) {
        const struct device_model *model = &group->models[i];
        const uint64_t bits = policy_quota_models(policy, model->model, model->memory_bytes);
        models->sure &= bits;
        models->possible |= bits;
    }
}

static struct asked_models models_of(const struct cluster *cluster, const struct node *node)
{
    struct asked_models models = {.sure = ~QUOTA_MODEL_UNKNOWN};
    size_t n = 0;
    const struct device_group *drivers = drivers_on(cluster, node, &n);
    for (size_t i = 0; i < n; i++)
        add_models(cluster->policy, &drivers[i], &models);
    return n > 0 ? models : (struct asked_models){0};
}

static struct node_device_group *groups_of(struct cluster *cluster, const struct node *node,
                                           size_t *ret_n)
{
    size_t n_drivers = 0;
    const struct device_group *drivers = drivers_on(cluster, node, &n_drivers);
    const size_t n_groups = count_models(drivers, n_drivers);
    *ret_n = n_groups;
    if (n_groups == 0)
        return NULL;
    struct node_device_group *groups = MEM_ARRAY(struct node_device_group, n_groups);
    size_t n = 0;
    for (size_t i = 0; i < n_drivers; i++) {
        for (size_t j = 0; j < drivers[i].n_models; j++) {
            if (counts(&drivers[i].models[j]))
                groups[n++] = group_of(cluster, node, drivers[i].driver, &drivers[i].models[j]);
        }
    }
    return groups;
}

/* Strings and resources are interned. */
static enum node_devices_change compare(const struct node_device_group *a,
                                        const struct node_device_group *b)
{
    if (a->driver != b->driver || a->model != b->model || a->resource != b->resource ||
        a->total != b->total || a->is_shadowed != b->is_shadowed)
        return DEVICES_OTHER;
    return a->allocated != b->allocated || a->free != b->free ? DEVICES_IN_USE : DEVICES_SAME;
}

enum node_devices_change node_devices_renew(struct cluster *cluster, struct node *node)
{
    size_t n = 0;
    struct node_device_group *groups = groups_of(cluster, node, &n);
    enum node_devices_change change = n == node->n_devices ? DEVICES_SAME : DEVICES_OTHER;
    for (size_t i = 0; i < n && change != DEVICES_OTHER; i++) {
        const enum node_devices_change of_group = compare(&node->devices[i], &groups[i]);
        change = of_group > change ? of_group : change;
    }
    node_devices_free(cluster, node);
    node->claim_models = models_of(cluster, node);
    node->devices = groups;
    node->n_devices = n;
    return change;
}

void node_devices_fork(struct cluster *fork, struct node *copy, const struct node *node)
{
    copy->claim_models = node->claim_models;
    if (node->n_devices == 0)
        return;
    copy->n_devices = node->n_devices;
    copy->devices = MEM_ARRAY(struct node_device_group, node->n_devices);
    for (size_t i = 0; i < node->n_devices; i++) {
        struct node_device_group *group = &copy->devices[i];
        *group = node->devices[i];
        group->driver = string_table_intern(&fork->shapes->strings, group->driver);
        group->model = string_table_intern(&fork->shapes->strings, group->model);
        if (group->resource)
            shapes_ref_resource(group->resource);
        group->pool = cluster_fork_pool(fork, group->resource, group->pool);
    }
}

static int64_t take(struct node_device_group *group, int64_t n)
{
    const int64_t n_taken = n < group->free ? n : group->free;
    if (group->pool)
        group->pool->free -= model_pool_offered(group->free);
    group->free -= n_taken;
    group->allocated += n_taken;
    if (group->pool)
        group->pool->free += model_pool_offered(group->free);
    return n_taken;
}

void node_devices_place(struct node *node, const struct resource *resource, int64_t n)
{
    if (!node_gives_by_claim(node, resource))
        return;
    for (size_t i = 0; i < node->n_devices; i++) {
        struct node_device_group *group = &node->devices[i];
        if (group->resource == resource && !group->is_shadowed)
            n -= take(group, n);
    }
}

void node_devices_put_back(struct node_device_group *group, int64_t free, int64_t allocated)
{
    if (group->pool)
        group->pool->free += model_pool_offered(free) - model_pool_offered(group->free);
    group->free = free;
    group->allocated = allocated;
}

void node_devices_free(struct cluster *cluster, struct node *node)
{
    for (size_t i = 0; i < node->n_devices; i++) {
        string_table_unref(&cluster->shapes->strings, node->devices[i].driver);
        string_table_unref(&cluster->shapes->strings, node->devices[i].model);
        if (node->devices[i].resource)
            shapes_unref_resource(cluster->shapes, node->devices[i].resource);
    }
    mem_free_ptr(&node->devices);
    node->n_devices = 0;
}

/* The check. */

static bool is_of(const struct node_device_group *group, const char *driver,
                  const struct device_model *model)
{
    return strcmp(group->driver, driver) == 0 && strcmp(group->model, model->name) == 0;
}

static bool is_right(const struct cluster *cluster, const struct node *node,
                     const struct node_device_group *group, const struct device_model *model)
{
    const char *resource = resource_of(cluster, group->driver);
    const char *has = group->resource ? group->resource->name : "";
    return strcmp(has, resource) == 0 && group->total == model->total &&
           group->allocated == model->allocated && group->free == free_of(cluster, model) &&
           group->is_shadowed == is_offered_by_plugin(node, resource);
}

bool node_devices_are_right(const struct cluster *cluster, const struct node *node)
{
    size_t n_drivers = 0;
    size_t n = 0;
    const struct device_group *drivers = drivers_on(cluster, node, &n_drivers);
    const struct asked_models models = models_of(cluster, node);
    if (node->n_devices != count_models(drivers, n_drivers) ||
        node->claim_models.sure != models.sure || node->claim_models.possible != models.possible)
        return false;
    for (size_t i = 0; i < n_drivers; i++) {
        for (size_t j = 0; j < drivers[i].n_models; j++) {
            const struct device_model *model = &drivers[i].models[j];
            if (!counts(model))
                continue;
            const struct node_device_group *group = &node->devices[n++];
            if (!is_of(group, drivers[i].driver, model) || !is_right(cluster, node, group, model))
                return false;
        }
    }
    return true;
}
