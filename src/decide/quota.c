/* quota: remaining quota of a pod. See include/decide/quota.h; namespace_usage.c keeps the sums. */
#include "decide/quota.h"
#include "base/mem.h"
#include "ledger/claim_usage.h"

#include <string.h>

/* A limit that the pod counts against. */
struct quota_row {
    size_t quota; /* index in the policy */
    const struct quota_limit *limit;
    int64_t need;    /* > 0 */
    int64_t left;    /* negative if use and nominations exceed the limit */
    int64_t claimed; /* part of left that other pods claimed */
};

/* Limits that leave too little. */
struct exhausted {
    bool all;        /* the limit for all models */
    uint64_t models; /* bits of models */
};

struct quota_view {
    const struct policy *policy;
    const struct pod_shape *shape;
    const size_t *quotas;
    size_t n_quotas;
    struct quota_row *rows; /* in policy order */
    size_t n_rows;
    bool waits_for_namespace; /* its covering quotas are unknown */
    struct exhausted exhausted;
    struct exhausted claimed; /* the same, counting claims */
};

static int64_t *cell_of(const struct cluster *cluster, size_t quota,
                        const struct quota_limit *limit)
{
    int64_t *cells = namespace_usage_quota_cells(cluster, quota);
    return namespace_usage_cell(cluster_policy(cluster), cells, limit->scope, limit->column);
}

static bool counts(const struct quota_limit *limit, uint64_t models)
{
    return limit->column == 0 || models >> (limit->column - 1) & 1;
}

static bool is_exhausted(const struct quota_row *row)
{
    return row->left < row->need;
}

static bool is_claimed(const struct quota_row *row)
{
    return is_exhausted(row) || row->left - row->need < row->claimed;
}

static void exhaust(struct exhausted *exhausted, const struct quota_limit *limit)
{
    exhausted->all |= limit->column == 0;
    exhausted->models |= limit->column > 0 ? UINT64_C(1) << (limit->column - 1) : 0;
}

static bool refuses(const struct exhausted *exhausted, const struct node *node)
{
    return exhausted->all || (exhausted->models & namespace_usage_models(node));
}

/* Saves most nodes a walk over the rows. */
static void sum_up(struct quota_view *view)
{
    view->exhausted = view->claimed = (struct exhausted){0};
    for (size_t i = 0; i < view->n_rows; i++) {
        if (is_exhausted(&view->rows[i]))
            exhaust(&view->exhausted, view->rows[i].limit);
        if (is_claimed(&view->rows[i]))
            exhaust(&view->claimed, view->rows[i].limit);
    }
}

static void add_rows(const struct cluster *cluster, struct quota_view *view, size_t quota)
{
    const struct quota *of = &cluster_policy(cluster)->quotas[quota];
    for (size_t i = 0; i < of->n_limits; i++) {
        const struct quota_limit *limit = &of->limits[i];
        const int64_t need = quota_need(view->shape, limit);
        if (need == 0)
            continue;
        const int64_t left = limit->gpus - *cell_of(cluster, quota, limit);
        view->rows[view->n_rows++] = (struct quota_row){quota, limit, need, left, 0};
    }
}

static size_t count_limits(const struct quota_view *view)
{
    size_t n = 0;
    for (size_t i = 0; i < view->n_quotas; i++)
        n += view->policy->quotas[view->quotas[i]].n_limits;
    return n;
}

static bool is_covered(const size_t *quotas, size_t n, size_t quota)
{
    for (size_t i = 0; i < n; i++) {
        if (quotas[i] == quota)
            return true;
    }
    return false;
}

/* Subtracts a pod of that namespace from a node of these models. */
static void give_back(struct quota_view *view, const struct cluster *cluster,
                      const char *namespace_, const struct pod_shape *shape, uint64_t models)
{
    size_t n = 0;
    const size_t *quotas = namespace_usage_covering(cluster, namespace_, &n);
    for (size_t i = 0; i < view->n_rows; i++) {
        struct quota_row *row = &view->rows[i];
        if (counts(row->limit, models) && is_covered(quotas, n, row->quota))
            row->left += quota_need(shape, row->limit);
    }
}

struct quota_view *quota_begin(const struct cluster *cluster, const char *namespace_,
                               const struct pod_shape *shape, const struct reservation *own,
                               struct arena *arena)
{
    const struct policy *policy = cluster_policy(cluster);
    if (policy->n_quotas == 0 || shape->n_gpu_needs == 0)
        return NULL;
    struct quota_view *view = ARENA_NEW(arena, struct quota_view);
    view->policy = policy;
    view->shape = shape;
    view->waits_for_namespace = policy->quotas_select && cluster_lists_namespaces(cluster) &&
                                !cluster_has_namespace(cluster, namespace_);
    view->n_quotas = namespace_usage_find_quotas(cluster, namespace_, arena, &view->quotas);
    view->rows = ARENA_ARRAY(arena, struct quota_row, count_limits(view));
    for (size_t i = 0; i < view->n_quotas; i++)
        add_rows(cluster, view, view->quotas[i]);
    if (own)
        give_back(view, cluster, own->namespace_, own->shape,
                  namespace_usage_models(reservation_node(own)));
    sum_up(view);
    return view->n_rows > 0 || view->waits_for_namespace ? view : NULL;
}

void quota_own_claim(struct quota_view *view, const struct cluster *cluster, const char *namespace_,
                     const struct asker *asker)
{
    if (!view || !asker->extended_claim)
        return;
    for (size_t i = 0; i < view->n_rows; i++) {
        struct quota_row *row = &view->rows[i];
        const int64_t counted =
            claim_usage_for(cluster, namespace_, asker, row->limit->scope, row->limit->column);
        row->left += counted < row->need ? counted : row->need;
    }
    sum_up(view);
}

/* Cached coverage of the last promise's namespace, because promises come in bursts. */
struct coverage {
    const char *namespace_; /* compared by address */
    const size_t *quotas;
    size_t n;
};

static void find_coverage(struct coverage *last, const struct cluster *cluster,
                          const char *namespace_, struct arena *arena)
{
    if (last->namespace_ == namespace_)
        return;
    last->n = namespace_usage_find_quotas(cluster, namespace_, arena, &last->quotas);
    last->namespace_ = namespace_;
}

static bool is_promised(const struct quota_row *row, uint64_t models,
                        const struct coverage *coverage)
{
    return counts(row->limit, models) && is_covered(coverage->quotas, coverage->n, row->quota);
}

static void promise_nominated(struct quota_view *view, const struct nomination *nomination,
                              const struct coverage *coverage)
{
    const uint64_t models = namespace_usage_models(nomination_node(nomination));
    for (size_t i = 0; i < view->n_rows; i++) {
        struct quota_row *row = &view->rows[i];
        if (!is_promised(row, models, coverage))
            continue;
        const int64_t gpus =
            namespace_usage_need_of(nomination->needs, nomination->n_needs, row->limit->scope);
        if (__builtin_sub_overflow(row->left, gpus, &row->left))
            row->left = INT64_MIN;
    }
}

/* At most CLAIMS_MAX times 2^32 GPUs: the sum cannot overflow. */
static void promise_claimed(struct quota_view *view, const struct claim *claim,
                            const struct coverage *coverage)
{
    for (size_t i = 0; i < view->n_rows; i++) {
        struct quota_row *row = &view->rows[i];
        if (is_promised(row, claim->models, coverage))
            row->claimed += claim->gpus[row->limit->scope];
    }
}

void quota_promise(struct quota_view *view, const struct cluster *cluster,
                   const struct asker *asker, int64_t now_ms, struct arena *arena)
{
    struct coverage coverage = {0};
    const struct nomination *nomination = NULL;
    if (!view || view->n_rows == 0)
        return;
    for (size_t n = 0;
         n < QUOTA_NOMINATIONS_MAX && (nomination = nomination_next(cluster, nomination)); n++) {
        if (!nominate_outranks(nomination, asker))
            continue;
        find_coverage(&coverage, cluster, nomination->namespace_, arena);
        promise_nominated(view, nomination, &coverage);
    }
    const struct claim *claim = NULL;
    while (now_ms != QUOTA_NO_CLAIMS && (claim = claims_next(cluster, claim))) {
        if (claim->until_ms <= now_ms || (asker->uid && strcmp(claim->uid, asker->uid) == 0))
            continue;
        find_coverage(&coverage, cluster, claim->namespace_, arena);
        promise_claimed(view, claim, &coverage);
    }
    sum_up(view);
}

struct quota_view *quota_copy(const struct quota_view *view, struct arena *arena)
{
    if (!view)
        return NULL;
    struct quota_view *copy = arena_copy(arena, view, 1, sizeof *view);
    copy->rows = arena_copy(arena, view->rows, view->n_rows, sizeof *view->rows);
    return copy;
}

void quota_give_back(struct quota_view *view, const struct cluster *cluster,
                     const struct node *node, const char *namespace_, const struct pod_shape *shape)
{
    if (!view)
        return;
    give_back(view, cluster, namespace_, shape, namespace_usage_models(node));
    sum_up(view);
}

enum reason quota_judge(const struct quota_view *view, const struct node *node)
{
    if (!view)
        return REASON_FITS;
    if (view->waits_for_namespace)
        return REASON_NAMESPACE_UNKNOWN;
    if (refuses(&view->exhausted, node))
        return REASON_QUOTA;
    return refuses(&view->claimed, node) ? REASON_QUOTA_CLAIMED : REASON_FITS;
}

const char *quota_refusal(const struct quota_view *view, const struct node *node)
{
    const uint64_t models = namespace_usage_models(node);
    const struct quota_row *row = view->rows;
    while (!is_exhausted(row) || !counts(row->limit, models))
        row++;
    const struct quota *quota = &view->policy->quotas[row->quota];
    return row->limit->column == 0 ? quota->refusal_in_total : quota->refusal_of_model;
}

int64_t quota_count(const struct quota_view *view, const struct node *node)
{
    int64_t count = INT64_MAX;
    for (size_t i = 0; view && i < view->n_rows; i++) {
        const struct quota_row *row = &view->rows[i];
        if (!counts(row->limit, namespace_usage_models(node)))
            continue;
        const int64_t more = is_claimed(row) ? 0 : (row->left - row->claimed) / row->need;
        count = more < count ? more : count;
    }
    return count;
}

void quota_take(struct quota_view *view, const struct node *node, int64_t n)
{
    for (size_t i = 0; view && i < view->n_rows; i++) {
        struct quota_row *row = &view->rows[i];
        if (counts(row->limit, namespace_usage_models(node)))
            row->left -= row->need * n;
    }
    if (view)
        sum_up(view);
}

void quota_place(struct cluster *fork, struct quota_view *view, const struct node *node, int64_t n)
{
    if (!view)
        return;
    namespace_usage_place(fork, view->quotas, view->n_quotas, view->shape, node, n);
    quota_take(view, node, n);
}

int64_t quota_used(const struct cluster *cluster, const struct quota *quota,
                   const struct quota_limit *limit)
{
    return *cell_of(cluster, (size_t)(quota - cluster_policy(cluster)->quotas), limit);
}

int64_t quota_need(const struct pod_shape *shape, const struct quota_limit *limit)
{
    return namespace_usage_need(shape, limit->scope);
}

int64_t quota_unknown(const struct cluster *cluster, const struct quota *quota,
                      const struct quota_limit *limit)
{
    int64_t *cells =
        namespace_usage_quota_cells(cluster, (size_t)(quota - cluster_policy(cluster)->quotas));
    return *namespace_usage_unknown_cell(cluster_policy(cluster), cells, limit->scope);
}

void quota_count_nodes(const struct cluster *cluster, size_t ret_counts[QUOTA_MODELS_MAX])
{
    memset(ret_counts, 0, QUOTA_MODELS_MAX * sizeof *ret_counts);
    for (const struct node *node = cluster_next_node(cluster, NULL); node;
         node = cluster_next_node(cluster, node)) {
        for (size_t i = 0; i < cluster_policy(cluster)->n_quota_models; i++)
            ret_counts[i] += namespace_usage_models(node) >> i & 1;
    }
}

bool quota_claim(struct cluster *cluster, const struct claim_question *question)
{
    const struct pod_facts *pod = question->pod;
    if (question->claims_version != claims_version(cluster))
        return false;
    struct arena *arena CLEANUP(arena_free_ptr) = arena_new();
    const struct pod_shape *shape = cluster_resolve(cluster, &pod->shape, arena);
    const bool is_covered = quota_begin(cluster, pod->namespace_, shape, NULL, arena);
    claims_renew(cluster, question, is_covered ? shape : NULL);
    return true;
}
