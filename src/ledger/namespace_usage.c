/*
 * namespace_usage: see include/ledger/namespace_usage.h.
 *
 * A quota's sums are those of the namespaces that it covers, updated with each change. When labels
 * of a namespace change, its sums move between quotas without a pass over its pods.
 */
#include "ledger/namespace_usage.h"
#include "base/mem.h"
#include "ledger.h"
#include "ledger/admit.h"
#include "types/string_table.h"

#include <stdlib.h>
#include <string.h>

/* Most GPUs counted per pod: above any limit, and sums stay below INT64_MAX. */
#define POD_GPUS_MAX (INT64_C(1) << 32)

static size_t n_columns(const struct policy *policy)
{
    return 1 + policy->n_quota_models + 1;
}

static size_t n_cells_of_layer(const struct policy *policy)
{
    return policy->n_quota_scopes * n_columns(policy);
}

size_t namespace_usage_n_cells(const struct policy *policy)
{
    return (1 + policy->n_quota_priorities) * n_cells_of_layer(policy);
}

size_t namespace_usage_cell_index(const struct policy *policy, size_t scope, size_t column)
{
    return scope * n_columns(policy) + column;
}

int64_t *namespace_usage_cell(const struct policy *policy, int64_t *cells, size_t scope,
                              size_t column)
{
    return &cells[namespace_usage_cell_index(policy, scope, column)];
}

int64_t *namespace_usage_unknown_cell(const struct policy *policy, int64_t *cells, size_t scope)
{
    return namespace_usage_cell(policy, cells, scope, 1 + policy->n_quota_models);
}

bool namespace_usage_counts(const struct quota_limit *limit, enum quota_count count,
                            int64_t priority)
{
    const bool may_borrow = limit->borrow.is_set && priority <= limit->borrow.max_priority;
    return count == QUOTA_ALL || may_borrow == (count == QUOTA_BORROWED);
}

int64_t namespace_usage_of(const struct policy *policy, const int64_t *cells,
                           const struct quota_limit *limit, enum quota_count count)
{
    const size_t at = namespace_usage_cell_index(policy, limit->scope, limit->column);
    const int64_t borrowed =
        limit->borrow.is_set ? cells[limit->borrow.layer * n_cells_of_layer(policy) + at] : 0;
    if (count == QUOTA_BORROWED)
        return borrowed;
    return count == QUOTA_ALL ? cells[at] : cells[at] - borrowed;
}

const struct node_traits *namespace_usage_traits(const struct node *node)
{
    static const struct node_traits UNKNOWN = {.gpus = {.quota_models = QUOTA_MODEL_UNKNOWN}};
    return node->traits ? &node->traits->traits : &UNKNOWN;
}

uint64_t namespace_usage_models(const struct node *node, const struct pod_shape *shape)
{
    const struct node_traits *traits = namespace_usage_traits(node);
    uint64_t models = 0;
    for (const struct gpu_kind *kind = NULL; (kind = admit_next_kind(traits, shape, kind));)
        models |= kind->quota_models;
    return models;
}

/* Of the kind on the node; NULL: of all. Resources that are none of GPUs count for no scope. */
static int64_t sum_needs(const struct need *needs, size_t n_needs, size_t scope,
                         const struct node_traits *traits, const struct gpu_kind *kind)
{
    int64_t sum = 0;
    for (size_t i = 0; i < n_needs; i++) {
        const struct resource *resource = needs[i].resource;
        if (resource->quota_scopes >> scope & 1 &&
            (!kind || node_traits_gpus(traits, resource->name) == kind))
            sum = amount_add(sum, needs[i].amount);
    }
    return sum < POD_GPUS_MAX ? sum : POD_GPUS_MAX;
}

int64_t namespace_usage_need(const struct pod_shape *shape, size_t scope)
{
    return sum_needs(shape->needs, shape->n_gpu_needs, scope, NULL, NULL);
}

int64_t namespace_usage_need_on(const struct node *node, const struct need *needs, size_t n_needs,
                                const struct quota_limit *limit)
{
    const struct node_traits *traits = namespace_usage_traits(node);
    int64_t sum = 0;
    if (limit->column == 0)
        return sum_needs(needs, n_needs, limit->scope, NULL, NULL);
    for (const struct gpu_kind *kind = NULL; (kind = node_traits_next_kind(traits, kind));) {
        if (kind->quota_models >> (limit->column - 1) & 1)
            sum += sum_needs(needs, n_needs, limit->scope, traits, kind);
    }
    return sum;
}

bool namespace_usage_has_column(const struct policy *policy, uint64_t models, size_t column)
{
    if (column == 0)
        return true;
    return column <= policy->n_quota_models ? models >> (column - 1) & 1
                                            : (models & QUOTA_MODEL_UNKNOWN) != 0;
}

static void add(int64_t *cell, int64_t more)
{
    if (__builtin_add_overflow(*cell, more, cell))
        *cell = INT64_MAX;
}

static int64_t times(int64_t gpus, int64_t n)
{
    int64_t product = 0;
    return __builtin_mul_overflow(gpus, n, &product) ? INT64_MAX : product;
}

static void add_to_models(const struct policy *policy, int64_t *cells, size_t scope,
                          uint64_t models, int64_t gpus)
{
    for (size_t column = 1; column < n_columns(policy) && gpus != 0; column++) {
        if (namespace_usage_has_column(policy, models, column))
            add(namespace_usage_cell(policy, cells, scope, column), gpus);
    }
}

static void add_to_layer(const struct policy *policy, int64_t *cells, const struct pod_shape *shape,
                         const struct node_traits *traits, int64_t n)
{
    for (size_t scope = 0; scope < policy->n_quota_scopes; scope++) {
        add(namespace_usage_cell(policy, cells, scope, 0),
            times(namespace_usage_need(shape, scope), n));
        for (const struct gpu_kind *kind = NULL; (kind = node_traits_next_kind(traits, kind));)
            add_to_models(
                policy, cells, scope, kind->quota_models,
                times(sum_needs(shape->needs, shape->n_gpu_needs, scope, traits, kind), n));
    }
}

void namespace_usage_add(const struct policy *policy, int64_t *cells, struct quota_pod pod,
                         const struct node_traits *traits, int64_t n)
{
    add_to_layer(policy, cells, pod.shape, traits, n);
    for (size_t i = 0; i < policy->n_quota_priorities; i++) {
        if (pod.priority <= policy->quota_priorities[i])
            add_to_layer(policy, &cells[(1 + i) * n_cells_of_layer(policy)], pod.shape, traits, n);
    }
}

/* The quotas that cover a namespace. */

static size_t find_quotas(const struct policy *policy, const struct namespace *namespace_,
                          size_t *quotas)
{
    size_t n = 0;
    for (size_t i = 0; i < policy->n_quotas; i++) {
        if (policy_quota_covers(&policy->quotas[i], namespace_->name, namespace_->labels,
                                namespace_->n_labels))
            quotas[n++] = i;
    }
    return n;
}

int64_t *namespace_usage_quota_cells(const struct cluster *cluster, size_t quota)
{
    return &cluster->quota_used[quota * namespace_usage_n_cells(cluster->policy)];
}

/* Adds the namespace's use to the quotas that cover it (sign 1), or subtracts it (sign -1). */
static void give_to_quotas(struct cluster *cluster, const struct namespace_entry *entry,
                           int64_t sign)
{
    if (!entry->used)
        return;
    for (size_t i = 0; i < entry->n_quotas; i++) {
        int64_t *cells = namespace_usage_quota_cells(cluster, entry->quotas[i]);
        for (size_t c = 0; c < namespace_usage_n_cells(cluster->policy); c++)
            cells[c] += sign * entry->used[c];
    }
}

void namespace_usage_cover_anew(struct cluster *cluster, struct namespace_entry *entry)
{
    const size_t n_quotas = cluster->policy->n_quotas;
    give_to_quotas(cluster, entry, -1);
    entry->quotas = mem_grow(entry->quotas, n_quotas, sizeof *entry->quotas);
    entry->n_quotas = find_quotas(cluster->policy, &entry->namespace_, entry->quotas);
    entry->quotas = mem_grow(entry->quotas, entry->n_quotas, sizeof *entry->quotas);
    give_to_quotas(cluster, entry, 1);
}

/* The table. */

struct namespace_entry *namespace_usage_find(const struct cluster *cluster, const char *name)
{
    struct namespace_entry *entry = NULL;
    HASH_FIND_STR(cluster->namespaces, name, entry);
    return entry;
}

static struct namespace_entry *add_entry(struct cluster *cluster, const char *name)
{
    struct namespace_entry *entry = MEM_NEW(struct namespace_entry);
    entry->namespace_.name = string_table_intern(&cluster->shapes->strings, name);
    HASH_ADD_KEYPTR(hh, cluster->namespaces, entry->namespace_.name, strlen(name), entry);
    return entry;
}

struct namespace_entry *namespace_usage_find_or_add(struct cluster *cluster, const char *name)
{
    struct namespace_entry *entry = namespace_usage_find(cluster, name);
    if (!entry) {
        entry = add_entry(cluster, name);
        namespace_usage_cover_anew(cluster, entry);
    }
    return entry;
}

void namespace_usage_drop_labels(struct cluster *cluster, struct namespace_entry *entry)
{
    string_table_unref_labels(&cluster->shapes->strings, entry->labels, entry->namespace_.n_labels);
    entry->namespace_.labels = entry->labels = NULL;
    entry->namespace_.n_labels = 0;
}

static void free_entry(struct cluster *cluster, struct namespace_entry *entry)
{
    HASH_DEL(cluster->namespaces, entry);
    namespace_usage_drop_labels(cluster, entry);
    string_table_unref(&cluster->shapes->strings, entry->namespace_.name);
    free(entry->quotas);
    free(entry->used);
    free(entry);
}

void namespace_usage_free_all(struct cluster *cluster)
{
    struct namespace_entry *entry = NULL;
    struct namespace_entry *next = NULL;
    HASH_ITER (hh, cluster->namespaces, entry, next) {
        free_entry(cluster, entry);
    }
    free(cluster->quota_used);
}

int64_t namespace_usage_in(const struct cluster *cluster, const char *namespace_,
                           const struct quota_limit *limit, enum quota_count count)
{
    const struct namespace_entry *entry = namespace_usage_find(cluster, namespace_);
    return entry && entry->used ? namespace_usage_of(cluster->policy, entry->used, limit, count)
                                : 0;
}

void namespace_usage_release(struct cluster *cluster, struct namespace_entry *entry)
{
    if (!entry->there && entry->n_users == 0)
        free_entry(cluster, entry);
}

const size_t *namespace_usage_covering(const struct cluster *cluster, const char *namespace_,
                                       size_t *ret_n)
{
    const struct namespace_entry *entry = namespace_usage_find(cluster, namespace_);
    *ret_n = entry ? entry->n_quotas : 0;
    return entry ? entry->quotas : NULL;
}

size_t namespace_usage_find_quotas(const struct cluster *cluster, const char *namespace_,
                                   struct arena *arena, const size_t **ret_quotas)
{
    size_t n = 0;
    *ret_quotas = namespace_usage_covering(cluster, namespace_, &n);
    if (*ret_quotas)
        return n;
    const struct namespace unknown = {.name = namespace_};
    size_t *quotas = ARENA_ARRAY(arena, size_t, cluster->policy->n_quotas);
    *ret_quotas = quotas;
    return find_quotas(cluster->policy, &unknown, quotas);
}

static void find_standing(const struct quota *quota, struct quota_pod pod, const struct node *node,
                          struct quota_standing *standing)
{
    for (size_t i = 0; i < quota->n_limits && !standing->borrows; i++) {
        const struct quota_limit *limit = &quota->limits[i];
        const int64_t need =
            node ? namespace_usage_need_on(node, pod.shape->needs, pod.shape->n_gpu_needs, limit)
                 : namespace_usage_need(pod.shape, limit->scope);
        const bool borrows = namespace_usage_counts(limit, QUOTA_BORROWED, pod.priority);
        if (need > 0 && (borrows || !standing->limit))
            *standing = (struct quota_standing){quota, limit, borrows};
    }
}

struct quota_standing namespace_usage_standing(const struct cluster *cluster,
                                               const char *namespace_, struct quota_pod pod,
                                               const struct node *node)
{
    struct arena *arena CLEANUP(arena_free_ptr) = arena_new();
    struct quota_standing standing = {0};
    const size_t *quotas = NULL;
    const size_t n = cluster->policy->n_quotas > 0
                         ? namespace_usage_find_quotas(cluster, namespace_, arena, &quotas)
                         : 0;
    for (size_t i = 0; i < n; i++)
        find_standing(&cluster->policy->quotas[quotas[i]], pod, node, &standing);
    return standing;
}

bool namespace_usage_next_user(const struct cluster *cluster, const char *before,
                               struct namespace_user *ret_user)
{
    const struct namespace_entry *entry =
        before ? namespace_usage_find(cluster, before)->hh.next : cluster->namespaces;
    while (entry && !entry->used)
        entry = entry->hh.next;
    if (entry)
        *ret_user = (struct namespace_user){entry->namespace_.name, entry->quotas, entry->n_quotas,
                                            entry->used};
    return entry != NULL;
}

void namespace_usage_place(struct cluster *fork, const size_t *quotas, size_t n_quotas,
                           struct quota_pod pod, const struct node *node, int64_t n)
{
    for (size_t i = 0; i < n_quotas; i++)
        namespace_usage_add(fork->policy, namespace_usage_quota_cells(fork, quotas[i]), pod,
                            namespace_usage_traits(node), n);
}

/* Pods and nodes. */

void namespace_usage_count(struct cluster *cluster, const char *namespace_, struct quota_pod pod,
                           const struct node_traits *traits, int64_t n)
{
    const struct policy *policy = cluster->policy;
    if (policy->n_quotas == 0 || pod.shape->n_gpu_needs == 0)
        return;
    struct namespace_entry *entry = namespace_usage_find_or_add(cluster, namespace_);
    if (!entry->used)
        entry->used = MEM_ARRAY(int64_t, namespace_usage_n_cells(policy));
    entry->n_users += (size_t)n;
    namespace_usage_add(policy, entry->used, pod, traits, n);
    for (size_t i = 0; i < entry->n_quotas; i++)
        namespace_usage_add(policy, namespace_usage_quota_cells(cluster, entry->quotas[i]), pod,
                            traits, n);
    namespace_usage_release(cluster, entry);
}

void namespace_usage_count_cells(struct cluster *cluster, const char *namespace_,
                                 const int64_t *cells, int64_t n)
{
    const size_t n_cells = namespace_usage_n_cells(cluster->policy);
    struct namespace_entry *entry = namespace_usage_find_or_add(cluster, namespace_);
    if (!entry->used)
        entry->used = MEM_ARRAY(int64_t, n_cells);
    entry->n_users += (size_t)n;
    for (size_t c = 0; c < n_cells; c++) {
        add(&entry->used[c], n * cells[c]);
        for (size_t i = 0; i < entry->n_quotas && cells[c] != 0; i++)
            add(&namespace_usage_quota_cells(cluster, entry->quotas[i])[c], n * cells[c]);
    }
    namespace_usage_release(cluster, entry);
}

static const struct pod_entry *find_pod(const struct cluster *cluster, const char *uid)
{
    const struct pod_entry *pod = NULL;
    HASH_FIND_STR(cluster->pods, uid, pod);
    return pod;
}

static bool have_same_models(const struct node_traits *a, const struct node_traits *b)
{
    return a == b ||
           (a->n_others + b->n_others == 0 && a->gpus.quota_models == b->gpus.quota_models);
}

void namespace_usage_move(struct cluster *cluster, const struct node *node,
                          const struct node_traits *before)
{
    const struct node_traits *now = namespace_usage_traits(node);
    if (have_same_models(before, now))
        return;
    for (const struct pod_entry *pod = node->pods; pod; pod = pod->next) {
        const struct quota_pod counted = {pod->pod.shape, pod->pod.priority};
        namespace_usage_count(cluster, pod->pod.namespace_, counted, now, 1);
        namespace_usage_count(cluster, pod->pod.namespace_, counted, before, -1);
        claim_usage_renew_pod(cluster, pod);
    }
    for (const struct reservation_entry *held = node->reservations; held; held = held->next) {
        const struct reservation *reservation = &held->reservation;
        const struct quota_pod counted = {reservation->shape, reservation->priority};
        namespace_usage_count(cluster, reservation->namespace_, counted, now, 1);
        namespace_usage_count(cluster, reservation->namespace_, counted, before, -1);
        claim_usage_renew_pod(cluster, find_pod(cluster, reservation->uid));
    }
}

int64_t *namespace_usage_room(const struct policy *policy)
{
    const size_t n_cells = namespace_usage_n_cells(policy) * policy->n_quotas;
    return mem_new_aligned(alignof(int64_t), n_cells * sizeof(int64_t));
}

/* A fork finds the quotas of namespaces that do not exist by their names. */
void namespace_usage_fork(struct cluster *fork, const struct cluster *cluster)
{
    const size_t n_cells = namespace_usage_n_cells(cluster->policy) * cluster->policy->n_quotas;
    if (!fork->quota_used)
        fork->quota_used = namespace_usage_room(fork->policy);
    memcpy(fork->quota_used, cluster->quota_used, n_cells * sizeof(int64_t));
    for (const struct namespace_entry *entry = cluster->namespaces; entry; entry = entry->hh.next) {
        if (!entry->there)
            continue;
        struct namespace_entry *copy = add_entry(fork, entry->namespace_.name);
        copy->there = true;
        copy->namespace_.is_enforced = entry->namespace_.is_enforced;
        copy->n_quotas = entry->n_quotas;
        copy->quotas = MEM_ARRAY(size_t, entry->n_quotas);
        memcpy(copy->quotas, entry->quotas, entry->n_quotas * sizeof *copy->quotas);
    }
    fork->n_present_namespaces = cluster->n_present_namespaces;
}
