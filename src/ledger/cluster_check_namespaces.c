/*
 * cluster_check_namespaces: what namespaces and quotas count as used, made again from pods and
 * reservations: once over all of them, however many namespaces there are.
 */
#include "base/mem.h"
#include "cluster_check.h"

#include <stdlib.h>
#include <string.h>

/* What a namespace uses. */
struct uses {
    const char *namespace_;
    size_t n; /* pods and reservations */
    int64_t *cells;
    UT_hash_handle hh;
};

static void add_use(struct uses **table, const struct policy *policy, const char *namespace_,
                    const struct pod_shape *shape, uint64_t models)
{
    struct uses *uses = NULL;
    if (shape->n_gpu_needs == 0)
        return;
    HASH_FIND_STR(*table, namespace_, uses);
    if (!uses) {
        uses = MEM_NEW(struct uses);
        *uses = (struct uses){.namespace_ = namespace_,
                              .cells = MEM_ARRAY(int64_t, tenants_n_cells(policy))};
        HASH_ADD_KEYPTR(hh, *table, namespace_, strlen(namespace_), uses);
    }
    tenants_add(policy, uses->cells, shape, models, 1);
    uses->n++;
}

/* By namespace; none where there are no quotas. */
static struct uses *add_up(const struct cluster *cluster)
{
    const struct policy *policy = cluster->policy;
    struct uses *table = NULL;
    if (policy->n_quotas == 0)
        return NULL;
    for (const struct pod_entry *pod = cluster->pods; pod; pod = pod->hh.next) {
        if (pod->node)
            add_use(&table, policy, pod->pod.namespace_, pod->pod.shape, tenants_models(pod->node));
    }
    for (const struct reservation_entry *held = cluster->reservations; held; held = held->hh.next)
        add_use(&table, policy, held->reservation.namespace_, held->reservation.shape,
                tenants_models(held->node));
    return table;
}

static void free_uses(struct uses *table)
{
    struct uses *uses = NULL;
    struct uses *next = NULL;
    HASH_ITER (hh, table, uses, next) {
        HASH_DEL(table, uses);
        free(uses->cells);
        free(uses);
    }
}

static void check_cells(struct check *check, const char *where, const int64_t *is,
                        const int64_t *should_be, size_t n)
{
    for (size_t i = 0; i < n; i++) {
        if (is[i] != should_be[i])
            check_differs(check, where, "what quotas count", is[i], should_be[i]);
    }
}

/* uses NULL: nothing. */
static void check_uses(struct check *check, const struct tenant *tenant, const struct uses *uses,
                       size_t n_cells)
{
    const char *name = tenant->namespace_.name;
    const size_t n_users = uses ? uses->n : 0;
    if (tenant->n_users != n_users)
        check_differs(check, name, "users of GPUs", (int64_t)tenant->n_users, (int64_t)n_users);
    if (uses && !tenant->used)
        check_differs(check, name, "what quotas count", 0, 1);
    for (size_t i = 0; tenant->used && i < n_cells; i++) {
        const int64_t should_be = uses ? uses->cells[i] : 0;
        if (tenant->used[i] != should_be)
            check_differs(check, name, "what quotas count", tenant->used[i], should_be);
    }
    if (!tenant->there && n_users == 0)
        check_differs(check, name, "a namespace that is neither there nor used", 1, 0);
}

/* Adds what the namespace uses to the cells of the quotas that cover it. */
static void check_quotas_of(struct check *check, const struct policy *policy,
                            const struct tenant *tenant, const struct uses *uses,
                            int64_t *quota_cells)
{
    const struct namespace *is = &tenant->namespace_;
    const size_t n_cells = tenants_n_cells(policy);
    size_t n_quotas = 0;
    for (size_t q = 0; q < policy->n_quotas; q++) {
        if (!quota_covers(&policy->quotas[q], is->name, is->labels, is->n_labels))
            continue;
        if (n_quotas >= tenant->n_quotas || tenant->quotas[n_quotas++] != q)
            check_differs(check, is->name, "covered by a quota", 0, 1);
        for (size_t c = 0; uses && c < n_cells; c++)
            quota_cells[q * n_cells + c] += uses->cells[c];
    }
    if (n_quotas != tenant->n_quotas)
        check_differs(check, is->name, "quotas", (int64_t)tenant->n_quotas, (int64_t)n_quotas);
}

void check_tenants(struct check *check, const struct cluster *cluster)
{
    const struct policy *policy = cluster->policy;
    const size_t n_cells = tenants_n_cells(policy);
    int64_t *quota_cells = MEM_ARRAY(int64_t, policy->n_quotas * n_cells);
    struct uses *table = add_up(cluster);
    size_t n_there = 0;
    size_t n_using = 0;
    for (const struct tenant *tenant = cluster->tenants; tenant; tenant = tenant->hh.next) {
        struct uses *uses = NULL;
        HASH_FIND_STR(table, tenant->namespace_.name, uses);
        check_uses(check, tenant, uses, n_cells);
        check_quotas_of(check, policy, tenant, uses, quota_cells);
        n_there += tenant->there;
        n_using += uses != NULL;
    }
    check_cells(check, "quotas", cluster->quota_used, quota_cells, policy->n_quotas * n_cells);
    check_unless_same(check, "namespaces", cluster->n_present_namespaces, n_there);
    check_unless_same(check, "namespaces that use GPUs", n_using, HASH_COUNT(table));
    free_uses(table);
    free(quota_cells);
}
