/* policy_names: see include/inventory/inventory.h. */
#include "base/nearest.h"
#include "decide/quota.h"
#include "decide/topology.h"
#include "inventory/inventory.h"
#include "ledger/model_list.h"
#include "types/policy.h"

#include <string.h>

#define ALL_MODELS 0
/* Comparisons of a namespace that a quota names with one that exists. */
#define NAMESPACES_COMPARED ((size_t)20000)

struct missing_names {
    const struct cluster *cluster;
    const struct policy *policy;
    struct arena *arena;
    size_t n_nodes[QUOTA_MODELS_MAX]; /* of each model of the quotas */
    struct model_list models;
    size_t n_namespaces_left; /* comparisons */
    struct policy_name *names;
    size_t n_names;
};

/* quota: as in policy_name. */
static void add(struct missing_names *search, const struct quota *quota, const char *seen,
                const char *advice)
{
    search->names[search->n_names++] =
        (struct policy_name){seen, advice, quota ? quota->name : NULL};
}

static const char *did_you_mean(const struct missing_names *search, const char *name)
{
    return arena_printf(search->arena, "did you mean %s?", name);
}

/* "did you mean H100?"; NULL: none is near. */
static const char *near_model(struct missing_names *search, const char *name)
{
    struct gpu_model want;
    struct gpu_model meant;
    if (!gpu_model_parse(name, search->policy->aliases, search->policy->n_aliases, &want) ||
        model_list_has(&search->models, &want) ||
        !model_list_nearest(&search->models, &want, &meant))
        return NULL;
    return did_you_mean(search, gpu_model_name(&meant, search->arena));
}

static void check_model(struct missing_names *search, const struct quota *quota,
                        const struct quota_limit *limit)
{
    if (limit->column == ALL_MODELS || search->n_nodes[limit->column - 1] > 0)
        return;
    const char *near = near_model(search, limit->model);
    add(search, quota,
        arena_printf(search->arena, "quota %s: no node has the model %s: its limit has no effect",
                     quota->name, limit->model),
        near ? near : "write the model of a node (GET /v1/inventory)");
}

/* Returns whether a node has the resource. ret_near: else the nearest that one has, or NULL. */
static bool find_resource(const struct cluster *cluster, const char *pattern, const char **ret_near)
{
    const char *last = NULL;
    *ret_near = NULL;
    for (const struct node *node = NULL; (node = cluster_next_node(cluster, node));) {
        size_t n = 0;
        const struct node_resource *rows = node_resources(node, &n);
        for (size_t i = 0; i < n; i++) {
            const char *name = rows[i].resource->name;
            if (!rows[i].advertised || name == last)
                continue;
            last = name;
            if (policy_resource_matches(pattern, name))
                return true;
            if (!*ret_near && nearest_is_resource(pattern, name))
                *ret_near = name;
        }
    }
    return false;
}

static void check_resource(struct missing_names *search, const struct quota *quota,
                           const struct quota_limit *limit)
{
    const char *near = NULL;
    if (!limit->resource || find_resource(search->cluster, limit->resource, &near))
        return;
    add(search, quota,
        arena_printf(search->arena,
                     "quota %s: no node has the resource %s: its limit has no effect", quota->name,
                     limit->resource),
        near ? did_you_mean(search, near) : "write the name of a resource of a node");
}

/* Only if one is near: a team's namespace may come later. */
static void check_namespace(struct missing_names *search, const struct quota *quota,
                            const char *name)
{
    const struct namespace *one = NULL;
    if (cluster_has_namespace(search->cluster, name))
        return;
    while (search->n_namespaces_left > 0 && (one = cluster_next_namespace(search->cluster, one))) {
        search->n_namespaces_left--;
        if (!nearest_is_typo(name, one->name))
            continue;
        add(search, NULL,
            arena_printf(search->arena, "quota %s: there is no namespace %s", quota->name, name),
            did_you_mean(search, one->name));
        return;
    }
}

/* Limits of one resource stand together or not; a scope that was just checked is skipped. */
static void check_quota(struct missing_names *search, const struct quota *quota)
{
    for (size_t i = 0; i < quota->n_limits; i++) {
        if (i == 0 || quota->limits[i].scope != quota->limits[i - 1].scope)
            check_resource(search, quota, &quota->limits[i]);
        check_model(search, quota, &quota->limits[i]);
    }
    for (size_t i = 0; i < quota->n_namespaces; i++)
        check_namespace(search, quota, quota->namespaces[i]);
}

/* Of a limit with `borrow`, together with all others of the same kind: once for all of them. */
static void check_guarantee(struct missing_names *search, const struct quota_limit *limit)
{
    int64_t guaranteed = 0;
    const struct quota_limit *first = NULL;
    for (size_t i = 0; i < search->policy->n_quotas; i++) {
        const struct quota *quota = &search->policy->quotas[i];
        for (size_t k = 0; k < quota->n_limits; k++) {
            const struct quota_limit *other = &quota->limits[k];
            if (!other->borrow.is_set || other->scope != limit->scope ||
                other->column != limit->column)
                continue;
            first = first ? first : other;
            guaranteed += other->gpus;
        }
    }
    const int64_t there =
        first == limit ? quota_gpus_there(search->cluster, limit, false) : INT64_MAX;
    if (guaranteed > there)
        add(search, NULL,
            arena_printf(search->arena, "quotas guarantee %lld GPUs of %s, and the nodes have %lld",
                         (long long)guaranteed, limit->model ? limit->model : "all models",
                         (long long)there),
            "lower the limits that have borrow, or add nodes: some guarantees cannot be kept");
}

static void check_guarantees(struct missing_names *search, const struct quota *quota)
{
    for (size_t i = 0; i < quota->n_limits; i++) {
        if (quota->limits[i].borrow.is_set)
            check_guarantee(search, &quota->limits[i]);
    }
}

static void check_alias(struct missing_names *search, const struct gpu_model_alias *alias)
{
    const char *near = near_model(search, alias->to);
    if (near)
        add(search, NULL,
            arena_printf(search->arena, "alias %s: no node has the model %s", alias->from,
                         alias->to),
            near);
}

/* Equal names in several outer domains are several domains, which is right for numbers of racks. */
static void check_level(struct missing_names *search, size_t level)
{
    const char *const *keys = (const char *const *)search->policy->topology_levels;
    const struct topology_sums sums = topology_sums(search->cluster, level);
    if (sums.n_domains == 0)
        add(search, NULL,
            arena_printf(search->arena,
                         "topology.levels: no node has the label %s: the level has no effect",
                         keys[level]),
            "write the key of a label that names the nodes' racks, blocks or the like");
    if (sums.n_repeated == 0)
        return;
    add(search, NULL,
        arena_printf(search->arena,
                     "topology.levels: %s is not nested in %s: %zu of its values, such as %s, are "
                     "in several of these, and each counts as several domains",
                     keys[level], level > 0 ? keys[level - 1] : "", sums.n_repeated,
                     arena_strdup(search->arena, sums.repeated)),
        "write the levels outer to inner, or ignore it if these values are numbers that repeat");
}

/* No more names than this are missing. */
static size_t count_names(const struct policy *policy)
{
    size_t n = policy->n_aliases + 2 * policy->n_topology_levels;
    for (size_t i = 0; i < policy->n_quotas; i++)
        n += 3 * policy->quotas[i].n_limits + policy->quotas[i].n_namespaces;
    return n;
}

size_t policy_names_missing(const struct cluster *cluster, struct arena *arena,
                            struct policy_name **ret_names)
{
    const struct policy *policy = cluster_policy(cluster);
    struct missing_names *search = ARENA_NEW(arena, struct missing_names);
    *search = (struct missing_names){
        .cluster = cluster,
        .policy = policy,
        .arena = arena,
        .models = {.n_left = POLICY_NAMES_COMPARED},
        .n_namespaces_left = NAMESPACES_COMPARED,
        .names = ARENA_ARRAY(arena, struct policy_name, count_names(policy))};
    quota_count_nodes(cluster, search->n_nodes);
    for (const struct node *node = NULL; (node = cluster_next_node(cluster, node));)
        model_list_add(&search->models, node_traits(node), arena);
    model_list_seal(&search->models);
    for (size_t i = 0; i < policy->n_quotas; i++)
        check_quota(search, &policy->quotas[i]);
    for (size_t i = 0; i < policy->n_quotas; i++)
        check_guarantees(search, &policy->quotas[i]);
    for (size_t i = 0; i < policy->n_aliases; i++)
        check_alias(search, &policy->aliases[i]);
    for (size_t i = 0; i < policy->n_topology_levels && cluster_n_nodes(cluster) > 0; i++)
        check_level(search, i);
    *ret_names = search->names;
    return search->n_names;
}
