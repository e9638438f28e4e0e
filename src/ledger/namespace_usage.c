/*
 * namespace_usage: see include/ledger/namespace_usage.h.
 *
 * A quota's sums are those of the namespaces that it covers, kept with each change. So a namespace
 * whose labels change takes its sums from some quotas to others, without a look at its pods.
 */
#include "ledger/namespace_usage.h"
#include "base/mem.h"
#include "kept_labels.h"
#include "ledger.h"

#include <stdlib.h>
#include <string.h>

/* A pod counts for no more, so that no sum passes INT64_MAX; it is more than any limit. */
#define POD_GPUS_MAX (INT64_C(1) << 32)

static size_t n_columns(const struct policy *policy)
{
    return 1 + policy->n_quota_models + 1;
}

size_t tenants_n_cells(const struct policy *policy)
{
    return policy->n_quota_scopes * n_columns(policy);
}

int64_t *tenants_cell(const struct policy *policy, int64_t *cells, size_t scope, size_t column)
{
    return &cells[scope * n_columns(policy) + column];
}

int64_t *tenants_unknown_cell(const struct policy *policy, int64_t *cells, size_t scope)
{
    return tenants_cell(policy, cells, scope, 1 + policy->n_quota_models);
}

uint64_t tenants_models(const struct node *node)
{
    return node->traits ? node->traits->traits.quota_models : QUOTA_MODEL_UNKNOWN;
}

int64_t tenants_need_of(const struct need *needs, size_t n_needs, size_t scope)
{
    int64_t sum = 0;
    for (size_t i = 0; i < n_needs; i++) {
        if (needs[i].resource->quota_scopes >> scope & 1)
            sum = amount_add(sum, needs[i].amount);
    }
    return sum < POD_GPUS_MAX ? sum : POD_GPUS_MAX;
}

int64_t tenants_need(const struct pod_shape *shape, size_t scope)
{
    return tenants_need_of(shape->needs, shape->n_gpu_needs, scope);
}

static void add(int64_t *cell, int64_t more)
{
    if (__builtin_add_overflow(*cell, more, cell))
        *cell = INT64_MAX;
}

void tenants_add(const struct policy *policy, int64_t *cells, const struct pod_shape *shape,
                 uint64_t models, int64_t n)
{
    for (size_t scope = 0; scope < policy->n_quota_scopes; scope++) {
        int64_t gpus = 0;
        if (__builtin_mul_overflow(tenants_need(shape, scope), n, &gpus))
            gpus = INT64_MAX;
        add(tenants_cell(policy, cells, scope, 0), gpus);
        for (size_t i = 0; i < policy->n_quota_models; i++) {
            if (models >> i & 1)
                add(tenants_cell(policy, cells, scope, 1 + i), gpus);
        }
        if (models & QUOTA_MODEL_UNKNOWN)
            add(tenants_unknown_cell(policy, cells, scope), gpus);
    }
}

/* The quotas that cover a namespace. */

static size_t find_quotas(const struct policy *policy, const struct namespace *namespace_,
                          size_t *quotas)
{
    size_t n = 0;
    for (size_t i = 0; i < policy->n_quotas; i++) {
        if (quota_covers(&policy->quotas[i], namespace_->name, namespace_->labels,
                         namespace_->n_labels))
            quotas[n++] = i;
    }
    return n;
}

int64_t *tenants_quota_cells(const struct cluster *cluster, size_t quota)
{
    return &cluster->quota_used[quota * tenants_n_cells(cluster->policy)];
}

/* Gives what the tenant uses to the quotas that cover it (sign 1), or takes it from them. */
static void give_to_quotas(struct cluster *cluster, const struct tenant *tenant, int64_t sign)
{
    if (!tenant->used)
        return;
    for (size_t i = 0; i < tenant->n_quotas; i++) {
        int64_t *cells = tenants_quota_cells(cluster, tenant->quotas[i]);
        for (size_t c = 0; c < tenants_n_cells(cluster->policy); c++)
            cells[c] += sign * tenant->used[c];
    }
}

static void cover_anew(struct cluster *cluster, struct tenant *tenant)
{
    const size_t n_quotas = cluster->policy->n_quotas;
    give_to_quotas(cluster, tenant, -1);
    tenant->quotas = mem_grow(tenant->quotas, n_quotas, sizeof *tenant->quotas);
    tenant->n_quotas = find_quotas(cluster->policy, &tenant->namespace_, tenant->quotas);
    tenant->quotas = mem_grow(tenant->quotas, tenant->n_quotas, sizeof *tenant->quotas);
    give_to_quotas(cluster, tenant, 1);
}

/* The table. */

static struct tenant *find(const struct cluster *cluster, const char *name)
{
    struct tenant *tenant = NULL;
    HASH_FIND_STR(cluster->tenants, name, tenant);
    return tenant;
}

static struct tenant *add_tenant(struct cluster *cluster, const char *name)
{
    struct tenant *tenant = MEM_NEW(struct tenant);
    tenant->namespace_.name = words_hold(&cluster->shapes->words, name);
    HASH_ADD_KEYPTR(hh, cluster->tenants, tenant->namespace_.name, strlen(name), tenant);
    return tenant;
}

static struct tenant *find_or_add(struct cluster *cluster, const char *name)
{
    struct tenant *tenant = find(cluster, name);
    if (!tenant) {
        tenant = add_tenant(cluster, name);
        cover_anew(cluster, tenant);
    }
    return tenant;
}

static void drop_labels(struct cluster *cluster, struct tenant *tenant)
{
    kept_labels_free(&cluster->shapes->words, tenant->labels, tenant->namespace_.n_labels);
    tenant->namespace_.labels = tenant->labels = NULL;
    tenant->namespace_.n_labels = 0;
}

static void free_tenant(struct cluster *cluster, struct tenant *tenant)
{
    HASH_DEL(cluster->tenants, tenant);
    drop_labels(cluster, tenant);
    words_drop(&cluster->shapes->words, tenant->namespace_.name);
    free(tenant->quotas);
    free(tenant->used);
    free(tenant);
}

void tenants_free_all(struct cluster *cluster)
{
    struct tenant *tenant = NULL;
    struct tenant *next = NULL;
    HASH_ITER (hh, cluster->tenants, tenant, next) {
        free_tenant(cluster, tenant);
    }
    free(cluster->quota_used);
}

static void release(struct cluster *cluster, struct tenant *tenant)
{
    if (!tenant->there && tenant->n_users == 0)
        free_tenant(cluster, tenant);
}

const size_t *tenants_covering(const struct cluster *cluster, const char *namespace_, size_t *ret_n)
{
    const struct tenant *tenant = find(cluster, namespace_);
    *ret_n = tenant ? tenant->n_quotas : 0;
    return tenant ? tenant->quotas : NULL;
}

size_t quota_find(const struct cluster *cluster, const char *namespace_, struct arena *arena,
                  const size_t **ret_quotas)
{
    size_t n = 0;
    *ret_quotas = tenants_covering(cluster, namespace_, &n);
    if (*ret_quotas)
        return n;
    const struct namespace unknown = {.name = namespace_};
    size_t *quotas = ARENA_ARRAY(arena, size_t, cluster->policy->n_quotas);
    *ret_quotas = quotas;
    return find_quotas(cluster->policy, &unknown, quotas);
}

void tenants_place(struct cluster *fork, const size_t *quotas, size_t n_quotas,
                   const struct pod_shape *shape, const struct node *node, int64_t n)
{
    for (size_t i = 0; i < n_quotas; i++)
        tenants_add(fork->policy, tenants_quota_cells(fork, quotas[i]), shape, tenants_models(node),
                    n);
}

/* Pods and nodes. */

void tenants_count(struct cluster *cluster, const char *namespace_, const struct pod_shape *shape,
                   uint64_t models, int64_t n)
{
    const struct policy *policy = cluster->policy;
    if (policy->n_quotas == 0 || shape->n_gpu_needs == 0)
        return;
    struct tenant *tenant = find_or_add(cluster, namespace_);
    if (!tenant->used)
        tenant->used = MEM_ARRAY(int64_t, tenants_n_cells(policy));
    tenant->n_users += (size_t)n;
    tenants_add(policy, tenant->used, shape, models, n);
    for (size_t i = 0; i < tenant->n_quotas; i++)
        tenants_add(policy, tenants_quota_cells(cluster, tenant->quotas[i]), shape, models, n);
    release(cluster, tenant);
}

static void count_again(struct cluster *cluster, const char *namespace_,
                        const struct pod_shape *shape, const uint64_t models[2])
{
    tenants_count(cluster, namespace_, shape, models[1], 1);
    tenants_count(cluster, namespace_, shape, models[0], -1);
}

void tenants_move(struct cluster *cluster, const struct node *node, uint64_t before)
{
    const uint64_t models[] = {before, tenants_models(node)};
    if (models[0] == models[1])
        return;
    for (const struct pod_entry *pod = node->pods; pod; pod = pod->next)
        count_again(cluster, pod->pod.namespace_, pod->pod.shape, models);
    for (const struct reservation_entry *held = node->reservations; held; held = held->next)
        count_again(cluster, held->reservation.namespace_, held->reservation.shape, models);
}

/* Namespaces. */

/* Whether they are others than before. */
static bool take_labels(struct cluster *cluster, struct tenant *tenant,
                        const struct namespace_facts *facts)
{
    struct label *labels = kept_labels_new(&cluster->shapes->words, facts->labels, facts->n_labels);
    const bool same =
        kept_labels_equal(tenant->labels, tenant->namespace_.n_labels, labels, facts->n_labels);
    drop_labels(cluster, tenant);
    tenant->namespace_.labels = tenant->labels = labels;
    tenant->namespace_.n_labels = facts->n_labels;
    const char *enforced = labels_find(labels, facts->n_labels, NAMESPACE_ENFORCED_LABEL);
    tenant->namespace_.is_enforced = enforced && strcmp(enforced, NAMESPACE_ENFORCED) == 0;
    return !same;
}

void cluster_upsert_namespace(struct cluster *cluster, const struct namespace_facts *facts)
{
    struct tenant *tenant = find_or_add(cluster, facts->name);
    const bool is_new = !tenant->there;
    const bool changed = take_labels(cluster, tenant, facts);
    tenant->seen = cluster->relists[CLUSTER_NAMESPACES];
    tenant->there = true;
    cluster->n_present_namespaces += is_new;
    cluster->version += is_new || changed;
    if (changed)
        cover_anew(cluster, tenant);
}

static void remove_namespace(struct cluster *cluster, struct tenant *tenant)
{
    tenant->there = false;
    cluster->n_present_namespaces--;
    cluster->version++;
    drop_labels(cluster, tenant);
    cover_anew(cluster, tenant);
    release(cluster, tenant);
}

void cluster_delete_namespace(struct cluster *cluster, const char *name)
{
    struct tenant *tenant = find(cluster, name);
    if (tenant && tenant->there)
        remove_namespace(cluster, tenant);
}

void tenants_sweep(struct cluster *cluster)
{
    struct tenant *tenant = NULL;
    struct tenant *next = NULL;
    HASH_ITER (hh, cluster->tenants, tenant, next) {
        if (tenant->there && tenant->seen != cluster->relists[CLUSTER_NAMESPACES])
            remove_namespace(cluster, tenant);
    }
}

bool cluster_has_namespace(const struct cluster *cluster, const char *name)
{
    const struct tenant *tenant = find(cluster, name);
    return tenant && tenant->there;
}

size_t cluster_n_namespaces(const struct cluster *cluster)
{
    return cluster->n_present_namespaces;
}

bool cluster_lists_namespaces(const struct cluster *cluster)
{
    return cluster->relists[CLUSTER_NAMESPACES] > 0;
}

const struct namespace *cluster_next_namespace(const struct cluster *cluster,
                                               const struct namespace *namespace_)
{
    const struct tenant *next =
        namespace_ ? CONTAINER_OF(namespace_, const struct tenant, namespace_)->hh.next
                   : cluster->tenants;
    while (next && !next->there)
        next = next->hh.next;
    return next ? &next->namespace_ : NULL;
}

/* Of those that are not there, which quotas cover them is found by their names. */
void tenants_fork(struct cluster *fork, const struct cluster *cluster)
{
    const size_t n_cells = tenants_n_cells(cluster->policy) * cluster->policy->n_quotas;
    fork->quota_used = MEM_ARRAY(int64_t, n_cells);
    memcpy(fork->quota_used, cluster->quota_used, n_cells * sizeof(int64_t));
    for (const struct tenant *tenant = cluster->tenants; tenant; tenant = tenant->hh.next) {
        if (!tenant->there)
            continue;
        struct tenant *copy = add_tenant(fork, tenant->namespace_.name);
        copy->there = true;
        copy->namespace_.is_enforced = tenant->namespace_.is_enforced;
        copy->n_quotas = tenant->n_quotas;
        copy->quotas = MEM_ARRAY(size_t, tenant->n_quotas);
        memcpy(copy->quotas, tenant->quotas, tenant->n_quotas * sizeof *copy->quotas);
    }
    fork->n_present_namespaces = cluster->n_present_namespaces;
}
