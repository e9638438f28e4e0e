/* quota: remaining quota of a pod. See include/decide/quota.h; namespace_usage.c keeps the sums. */
#include "decide/quota.h"
#include "base/mem.h"
#include "ledger/claim_usage.h"
#include "types/quantity.h"

#include <string.h>

/* A limit that the pod counts against. One with `borrow` has up to three rows: for the pods that it
 * guarantees GPUs, for those that borrow, and for all together. */
struct quota_row {
    size_t quota; /* index in the policy */
    const struct quota_limit *limit;
    enum quota_count count;
    int64_t most;      /* GPUs of those pods */
    int64_t need;      /* > 0, or 0 with one of the last three */
    int64_t left;      /* negative if use and nominations exceed the limit */
    int64_t nominated; /* subtracted from left */
    int64_t claimed;   /* part of left that other pods claimed */
    /* GPUs of the pod's resource claims: see struct asked_claims. `left` does not contain what they
     * use. */
    int64_t least, refused, used;
    int64_t each; /* the part of least that no other replica of the pod shares */
    /* What others of its group need: on the judged node, if the limit counts its model; and
     * wherever that is, which `left` does not contain. */
    int64_t here, elsewhere;
};

/* Limits that leave too little. */
struct exhausted {
    bool all;        /* the limit for all models */
    uint64_t models; /* bits of models */
};

struct quota_view {
    const struct policy *policy;
    const struct pod_shape *shape;
    int64_t priority; /* of the pod */
    const size_t *quotas;
    size_t n_quotas;
    struct quota_row *rows; /* in policy order */
    size_t n_rows;
    bool waits_for_namespace; /* its covering quotas are unknown */
    struct exhausted exhausted;
    struct exhausted claimed; /* the same, counting claims */
    bool asks_by_claims;      /* rows count the pod's resource claims; exhausted is not used */
    const char *namespace_, *claims; /* of the pod; NULL: it names no claims */
    struct group_others others;
    bool binds; /* as in quota_asked */
    const struct cluster *cluster;
};

static int64_t used_of(const struct cluster *cluster, size_t quota, const struct quota_limit *limit,
                       enum quota_count count)
{
    return namespace_usage_of(cluster_policy(cluster), namespace_usage_quota_cells(cluster, quota),
                              limit, count);
}

static bool counts_pod(const struct quota_row *row, int64_t priority)
{
    return namespace_usage_counts(row->limit, row->count, priority);
}

/* They have no priority, so they use up the guarantee. */
static bool counts_claims(const struct quota_row *row)
{
    return row->count != QUOTA_BORROWED;
}

static bool counts(const struct quota_limit *limit, uint64_t models)
{
    return limit->column == 0 || models >> (limit->column - 1) & 1;
}

static bool is_exhausted(const struct quota_row *row)
{
    return row->left < amount_add(row->need, row->here);
}

static bool is_claimed(const struct quota_row *row)
{
    return is_exhausted(row) || row->left - row->need - row->here < row->claimed;
}

/* For the others of the group: it cannot be bound as a whole, whichever the node. claims: as in
 * find_short(). */
static bool lacks_for_others(const struct quota_row *row, bool claims)
{
    return row->elsewhere > 0 && row->left < (claims ? row->claimed : 0);
}

static void exhaust(struct exhausted *exhausted, const struct quota_limit *limit)
{
    exhausted->all |= limit->column == 0;
    exhausted->models |= limit->column > 0 ? UINT64_C(1) << (limit->column - 1) : 0;
}

static bool refuses(const struct quota_view *view, const struct exhausted *exhausted,
                    const struct node *node)
{
    return exhausted->all ||
           (exhausted->models && (exhausted->models & namespace_usage_models(node, view->shape)));
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
        view->exhausted.all |= view->binds && lacks_for_others(&view->rows[i], false);
        view->claimed.all |= view->binds && lacks_for_others(&view->rows[i], true);
    }
}

static int64_t cell_or_0(const struct policy *policy, int64_t *cells,
                         const struct quota_limit *limit)
{
    return cells ? *namespace_usage_cell(policy, cells, limit->scope, limit->column) : 0;
}

static void add_other(struct quota_row *row, const struct group_other *other)
{
    const struct quota_limit *limit = row->limit;
    const int64_t need =
        counts_pod(row, other->pod->priority) ? quota_need(other->pod->shape, limit) : 0;
    const bool is_placed = limit->column == 0 || other->claim;
    if (need == 0)
        return;
    if (is_placed && counts(limit, other->claim ? other->claim->models : 0)) {
        row->left -= need;
        row->elsewhere += need;
    } else if (!is_placed && other->is_alike) {
        row->here += need;
    }
}

static void add_others(const struct quota_view *view, struct quota_row *row)
{
    for (size_t i = 0; i < view->others.n; i++)
        add_other(row, &view->others.items[i]);
}

static void add_claims(const struct quota_view *view, const struct asked_claims *asked,
                       struct quota_row *row)
{
    const struct quota_limit *limit = row->limit;
    row->least = asked->least[limit->scope];
    row->each = asked->each[limit->scope];
    row->refused = cell_or_0(view->policy, asked->refused, limit);
    row->used = cell_or_0(view->policy, asked->used, limit);
}

static int64_t most_of(const struct quota_limit *limit, enum quota_count count)
{
    if (count == QUOTA_GUARANTEED)
        return limit->gpus;
    return count == QUOTA_BORROWED ? limit->borrow.gpus : limit->gpus + limit->borrow.gpus;
}

static void add_row(struct quota_view *view, struct quota_row row, const struct asked_claims *asked)
{
    if (counts_pod(&row, view->priority))
        row.need = quota_need(view->shape, row.limit);
    if (counts_claims(&row))
        add_claims(view, asked, &row);
    row.most = most_of(row.limit, row.count);
    row.left = row.most - used_of(view->cluster, row.quota, row.limit, row.count);
    const bool by_claims = row.least > 0 || row.refused > 0 || row.used > 0;
    add_others(view, &row);
    if (row.need == 0 && !by_claims && row.here + row.elsewhere == 0)
        return;
    view->asks_by_claims |= by_claims;
    view->rows[view->n_rows++] = row;
}

static void add_rows(struct quota_view *view, size_t quota, const struct asked_claims *asked)
{
    const struct quota *of = &view->policy->quotas[quota];
    for (size_t i = 0; i < of->n_limits; i++) {
        struct quota_row row = {.quota = quota, .limit = &of->limits[i]};
        for (row.count = row.limit->borrow.is_set ? QUOTA_GUARANTEED : QUOTA_ALL;
             row.count < N_QUOTA_COUNTS; row.count++)
            add_row(view, row, asked);
    }
}

/* At most so many. */
static size_t count_rows(const struct quota_view *view)
{
    size_t n = 0;
    for (size_t i = 0; i < view->n_quotas; i++)
        n += N_QUOTA_COUNTS * view->policy->quotas[view->quotas[i]].n_limits;
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

static int64_t need_of_pod(const struct quota_row *row, struct quota_pod pod,
                           const struct node *node)
{
    return counts_pod(row, pod.priority)
               ? namespace_usage_need_on(node, pod.shape->needs, pod.shape->n_gpu_needs, row->limit)
               : 0;
}

/* Of the pod that asks. */
static int64_t need_of_shape(const struct quota_view *view, const struct quota_row *row,
                             const struct node *node)
{
    return need_of_pod(row, (struct quota_pod){view->shape, view->priority}, node);
}

/* Subtracts a pod of that namespace from the node. */
static void give_back(struct quota_view *view, const struct cluster *cluster,
                      const char *namespace_, struct quota_pod pod, const struct node *node)
{
    size_t n = 0;
    const size_t *quotas = namespace_usage_covering(cluster, namespace_, &n);
    for (size_t i = 0; i < view->n_rows; i++) {
        struct quota_row *row = &view->rows[i];
        if (is_covered(quotas, n, row->quota))
            row->left += need_of_pod(row, pod, node);
    }
}

/* others: of its group; NULL: none. */
static struct quota_view *begin(const struct cluster *cluster, const char *namespace_,
                                struct quota_pod pod, const struct asked_claims *asked,
                                const struct group_others *others, struct arena *arena)
{
    const struct policy *policy = cluster_policy(cluster);
    struct quota_view *view = ARENA_NEW(arena, struct quota_view);
    if (others)
        view->others = *others;
    view->policy = policy;
    view->shape = pod.shape;
    view->priority = pod.priority;
    view->cluster = cluster;
    view->waits_for_namespace = policy->quotas_select && cluster_lists_namespaces(cluster) &&
                                !cluster_has_namespace(cluster, namespace_);
    view->n_quotas = namespace_usage_find_quotas(cluster, namespace_, arena, &view->quotas);
    view->rows = ARENA_ARRAY(arena, struct quota_row, count_rows(view));
    for (size_t i = 0; i < view->n_quotas; i++)
        add_rows(view, view->quotas[i], asked);
    return view->n_rows > 0 || view->waits_for_namespace ? view : NULL;
}

static struct quota_view *begin_with(struct quota_view *view, const struct cluster *cluster,
                                     const struct reservation *own)
{
    if (view && own)
        give_back(view, cluster, own->namespace_, (struct quota_pod){own->shape, own->priority},
                  reservation_node(own));
    if (view)
        sum_up(view);
    return view;
}

struct quota_view *quota_begin(const struct cluster *cluster, const char *namespace_,
                               struct quota_pod pod, const struct reservation *own,
                               struct arena *arena)
{
    const struct asked_claims none = {0};
    if (cluster_policy(cluster)->n_quotas == 0 || pod.shape->n_gpu_needs == 0)
        return NULL;
    return begin_with(begin(cluster, namespace_, pod, &none, NULL, arena), cluster, own);
}

/* ---- the pod's resource claims ---- */

/* Two pods whose claims exceed a quota together must not keep each other out for ever: both claims
 * stay allocated. So the first in order does not count the floating claims of the second. */
static void disregard(struct quota_view *view, const int64_t *yielding)
{
    const size_t n_cells = namespace_usage_n_cells(view->policy);
    for (size_t i = 0; yielding && i < view->n_rows; i++) {
        struct quota_row *row = &view->rows[i];
        if (counts_claims(row))
            row->left += namespace_usage_of(view->policy, &yielding[row->quota * n_cells],
                                            row->limit, QUOTA_ALL);
    }
}

static int64_t need_by_claims(const struct quota_row *row)
{
    return row->least > row->refused ? row->least : row->refused;
}

/* Some of the pod's claims are allocated, and too little is left for the others or the pod. */
static bool lacks_for_claims(const struct quota_view *view)
{
    for (size_t i = 0; i < view->n_rows; i++) {
        const struct quota_row *row = &view->rows[i];
        if (row->used > 0 && row->left < amount_add(row->need, need_by_claims(row)))
            return true;
    }
    return false;
}

/* Not those whose nomination is kept from the asker: it counts by itself (quota_promise()). */
static struct group_others others_of(const struct cluster *cluster, const struct quota_asked *asked,
                                     struct arena *arena)
{
    const struct asker *asker = asked->claims.asker;
    const struct group_question question = {.namespace_ = asked->claims.namespace_,
                                            .group = asker->uid ? asked->group : NULL,
                                            .uid = asker->uid,
                                            .now_ms = asked->now_ms};
    struct group_others others = pod_groups_others(cluster, &question, arena);
    size_t n = 0;
    for (size_t i = 0; i < others.n; i++) {
        const struct nomination *nomination = others.items[i].nomination;
        if (!nomination || !nominate_outranks(nomination, asker))
            others.items[n++] = others.items[i];
    }
    others.n = n;
    return others;
}

struct quota_view *quota_begin_asked(const struct cluster *cluster, const struct quota_asked *asked,
                                     struct arena *arena)
{
    const struct claims_question *question = &asked->claims;
    const bool is_known = asked->known && asked->known->policy == cluster_policy(cluster);
    const struct asked_claims claims =
        is_known ? *asked->known : asked_claims_of(cluster, question, arena);
    const bool counts_claims = asked_claims_count(cluster, &claims);
    if (cluster_policy(cluster)->n_quotas == 0)
        return NULL;
    const struct group_others others = others_of(cluster, asked, arena);
    if (asked->shape->n_gpu_needs == 0 && !counts_claims && others.n == 0)
        return NULL;
    struct quota_view *view =
        begin(cluster, question->namespace_,
              (struct quota_pod){asked->shape, question->asker->priority}, &claims, &others, arena);
    if (view && lacks_for_claims(view))
        disregard(view, is_known ? claims.yielding
                                 : asked_claims_yielding(cluster, question, &claims, arena));
    if (view) {
        view->namespace_ = question->namespace_;
        view->claims = question->claims;
        view->binds = asked->binds;
    }
    return begin_with(view, cluster, asked->own);
}

bool quota_waits_for_claims(const struct cluster *cluster, const struct claims_question *question)
{
    struct arena *arena CLEANUP(arena_free_ptr) = arena_new();
    const size_t *quotas = NULL;
    return question->claims && cluster_policy(cluster)->n_quotas > 0 &&
           namespace_usage_find_quotas(cluster, question->namespace_, arena, &quotas) > 0 &&
           !asked_claims_of(cluster, question, arena).are_ready;
}

/* GPUs that the pod adds to the limit on the node, of_shape of them by its own requests. Negative:
 * the limit does not count it there. */
static int64_t need_on(const struct quota_row *row, int64_t of_shape,
                       const struct asked_models *devices)
{
    const int64_t least = counts(row->limit, devices->sure) ? row->least : 0;
    const int64_t refused = counts(row->limit, devices->possible) ? row->refused : 0;
    const int64_t need = amount_add(of_shape, least > refused ? least : refused);
    const bool is_of_all = row->elsewhere > 0 && row->limit->column == 0;
    return need > 0 || row->used > 0 || is_of_all ? need : -1;
}

/* The first that leaves too little; NULL: none. claims: what other pods claimed is not left. */
static const struct quota_row *find_short(const struct quota_view *view, const struct node *node,
                                          bool claims)
{
    const struct asked_models devices = asked_claims_models(view->cluster, node);
    const uint64_t models = namespace_usage_models(node, view->shape);
    for (size_t i = 0; i < view->n_rows; i++) {
        const struct quota_row *row = &view->rows[i];
        const int64_t need = need_on(row, need_of_shape(view, row, node), &devices);
        const int64_t here = counts(row->limit, models) ? row->here : 0;
        const int64_t more = amount_add(here, need > 0 && claims ? row->claimed : 0);
        const int64_t left = need > 0 ? row->left : amount_add(row->left, row->nominated);
        if ((need >= 0 && left < amount_add(need, more)) ||
            (view->binds && lacks_for_others(row, claims)))
            return row;
    }
    return NULL;
}

bool quota_asks_by_claims(const struct quota_view *view)
{
    return view && view->asks_by_claims;
}

void quota_own_claim(struct quota_view *view, const struct cluster *cluster, const char *namespace_,
                     const struct asker *asker)
{
    if (!view || !asker->extended_claim)
        return;
    for (size_t i = 0; i < view->n_rows; i++) {
        struct quota_row *row = &view->rows[i];
        if (!counts_claims(row))
            continue;
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

static void promise_nominated(struct quota_view *view, const struct nomination *nomination,
                              const struct coverage *coverage)
{
    for (size_t i = 0; i < view->n_rows; i++) {
        struct quota_row *row = &view->rows[i];
        if (!is_covered(coverage->quotas, coverage->n, row->quota) ||
            !counts_pod(row, nomination->priority))
            continue;
        const int64_t gpus = namespace_usage_need_on(nomination_node(nomination), nomination->needs,
                                                     nomination->n_needs, row->limit);
        if (__builtin_sub_overflow(row->left, gpus, &row->left))
            row->left = INT64_MIN;
        row->nominated = amount_add(row->nominated, gpus);
    }
}

/* At most CLAIMS_MAX times 2^32 GPUs: the sum cannot overflow. */
static int64_t claimed_of(const struct quota_row *row, const struct claim *claim)
{
    return counts_pod(row, claim->priority) ? claim->gpus[row->limit->scope] : 0;
}

static void promise_claimed(struct quota_view *view, const struct claim *claim,
                            const int64_t by_claims[QUOTA_SCOPES_MAX],
                            const struct coverage *coverage)
{
    for (size_t i = 0; i < view->n_rows; i++) {
        struct quota_row *row = &view->rows[i];
        if (counts(row->limit, claim->models) &&
            is_covered(coverage->quotas, coverage->n, row->quota))
            row->claimed +=
                claimed_of(row, claim) + (counts_claims(row) ? by_claims[row->limit->scope] : 0);
    }
}

/* Resource claims that are allocated count themselves, and those that the view's pod names, too,
 * count for that pod. */
static void promise_claim(struct quota_view *view, const struct cluster *cluster,
                          const struct claim *claim, const struct coverage *coverage,
                          struct arena *arena)
{
    const struct pod *pod = claim->names_claims ? cluster_find_pod(cluster, claim->uid) : NULL;
    if (!pod || !pod->claims) {
        promise_claimed(view, claim, claim->by_claims, coverage);
        return;
    }
    const struct asker asker = asker_from_pod(pod);
    const bool may_share = view->claims && strcmp(view->namespace_, pod->namespace_) == 0;
    const struct claims_question question = {.namespace_ = pod->namespace_,
                                             .claims = pod->claims,
                                             .asker = &asker,
                                             .except = may_share ? view->claims : NULL};
    const struct asked_claims asked = asked_claims_of(cluster, &question, arena);
    promise_claimed(view, claim, asked.least, coverage);
}

static bool is_in_force(const struct quota_view *view, const struct claim *claim, int64_t now_ms)
{
    return (view->binds ? claim->firm_until_ms : claim->until_ms) > now_ms;
}

/* Of the others of the group, for whom the rows ask already. They are in the same namespace. */
static void give_back_claims(struct quota_view *view, int64_t now_ms)
{
    for (size_t n = 0; n < view->others.n * view->n_rows; n++) {
        const struct claim *claim = view->others.items[n / view->n_rows].claim;
        struct quota_row *row = &view->rows[n % view->n_rows];
        if (claim && is_in_force(view, claim, now_ms) && counts(row->limit, claim->models))
            row->claimed -= claimed_of(row, claim);
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
        if (!is_in_force(view, claim, now_ms) ||
            (asker->uid && strcmp(claim->uid, asker->uid) == 0))
            continue;
        find_coverage(&coverage, cluster, claim->namespace_, arena);
        promise_claim(view, cluster, claim, &coverage, arena);
    }
    give_back_claims(view, now_ms);
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
                     const struct node *node, const char *namespace_, struct quota_pod pod)
{
    if (!view)
        return;
    give_back(view, cluster, namespace_, pod, node);
    sum_up(view);
}

/* The models of the node do not tell which of the pod's GPUs is of which, or its claims count. */
static bool goes_by_rows(const struct quota_view *view, const struct node *node)
{
    return view->asks_by_claims ||
           (view->shape->n_gpu_needs > 1 && node_traits(node)->n_others > 0);
}

enum reason quota_judge(const struct quota_view *view, const struct node *node)
{
    if (!view)
        return REASON_FITS;
    if (view->waits_for_namespace)
        return REASON_NAMESPACE_UNKNOWN;
    if (goes_by_rows(view, node)) {
        if (find_short(view, node, false))
            return REASON_QUOTA;
        return find_short(view, node, true) ? REASON_QUOTA_CLAIMED : REASON_FITS;
    }
    if (refuses(view, &view->exhausted, node))
        return REASON_QUOTA;
    return refuses(view, &view->claimed, node) ? REASON_QUOTA_CLAIMED : REASON_FITS;
}

static const struct quota_row *find_exhausted(const struct quota_view *view,
                                              const struct node *node)
{
    const uint64_t models = namespace_usage_models(node, view->shape);
    const struct quota_row *row = view->rows;
    while (!(is_exhausted(row) && counts(row->limit, models)) &&
           !(view->binds && lacks_for_others(row, false)))
        row++;
    return row;
}

/* The short amount may be one that its claims, or others of its group, count to. */
static bool is_to_borrow(const struct quota_view *view, const struct quota_row *row)
{
    return row->count == QUOTA_ALL
               ? namespace_usage_counts(row->limit, QUOTA_BORROWED, view->priority)
               : row->count == QUOTA_BORROWED;
}

const char *quota_refusal(const struct quota_view *view, const struct node *node)
{
    const struct quota_row *row =
        goes_by_rows(view, node) ? find_short(view, node, false) : find_exhausted(view, node);
    const struct quota *quota = &view->policy->quotas[row->quota];
    const bool borrows = is_to_borrow(view, row);
    return row->limit->column == 0 ? quota->refusal_in_total[borrows]
                                   : quota->refusal_of_model[borrows];
}

static struct quota_short short_of(const struct quota_view *view, size_t i, int64_t left)
{
    const struct quota_limit *limit = view->rows[i].limit;
    const bool borrows = is_to_borrow(view, &view->rows[i]);
    return (struct quota_short){.quota = &view->policy->quotas[view->rows[i].quota],
                                .limit = limit,
                                .borrows = borrows,
                                .is_sum = limit->borrow.is_set && view->rows[i].count == QUOTA_ALL,
                                .most = borrows ? limit->borrow.gpus : limit->gpus,
                                .left = left,
                                .next = i + 1};
}

bool quota_next_short(const struct quota_view *view, const struct node *node,
                      struct quota_short *lack)
{
    for (size_t i = lack->next; view && i < view->n_rows; i++) {
        const struct quota_row *row = &view->rows[i];
        const struct asked_models devices = asked_claims_models(view->cluster, node);
        const int64_t need = need_on(row, need_of_shape(view, row, node), &devices);
        const int64_t left = row->left - row->claimed;
        if (need <= 0 || left >= need || lack->limit == row->limit)
            continue;
        *lack = short_of(view, i, left);
        lack->need = need;
        return true;
    }
    return false;
}

bool quota_next_exceeded(const struct quota_view *view, const struct cluster *fork,
                         struct quota_short *lack)
{
    for (size_t i = lack->next; view && i < view->n_rows; i++) {
        const struct quota_row *row = &view->rows[i];
        const int64_t promised = amount_add(row->nominated, row->claimed);
        const int64_t used =
            amount_add(used_of(fork, row->quota, row->limit, row->count), promised);
        if (used <= row->most)
            continue;
        *lack = short_of(view, i, row->most - used);
        return true;
    }
    return false;
}

void quota_lift(struct quota_view *view)
{
    for (size_t i = 0; view && i < view->n_rows; i++)
        view->rows[i].left = INT64_MAX / 2;
    if (view)
        sum_up(view);
}

bool quota_takes_back(const struct quota_view *view)
{
    bool is_limited = false;
    for (size_t i = 0; view && i < view->n_rows; i++) {
        const struct quota_row *row = &view->rows[i];
        if (row->need > 0 && row->count == QUOTA_BORROWED)
            return false;
        is_limited |= row->need > 0;
    }
    return is_limited && view->policy->n_quota_priorities > 0;
}

/* The GPUs that each pod after the first adds to the limit on the node. */
static int64_t next_need_on(const struct quota_row *row, int64_t of_shape,
                            const struct asked_models *devices)
{
    return amount_add(of_shape, counts(row->limit, devices->sure) ? row->each : 0);
}

static int64_t count_of(const struct quota_row *row, int64_t first, int64_t next)
{
    if (first <= 0)
        return INT64_MAX;
    if (row->left < first || row->left - first < row->claimed)
        return 0;
    return next > 0 ? 1 + (row->left - row->claimed - first) / next : INT64_MAX;
}

int64_t quota_count(const struct quota_view *view, const struct node *node)
{
    int64_t count = INT64_MAX;
    if (!view)
        return count;
    const struct asked_models devices = asked_claims_models(view->cluster, node);
    for (size_t i = 0; i < view->n_rows; i++) {
        const struct quota_row *row = &view->rows[i];
        const int64_t of_shape = need_of_shape(view, row, node);
        const int64_t more =
            count_of(row, need_on(row, of_shape, &devices), next_need_on(row, of_shape, &devices));
        count = more < count ? more : count;
    }
    return count;
}

bool quota_counts(const struct quota_view *view, const struct quota_limit *limit)
{
    for (size_t i = 0; view && i < view->n_rows; i++) {
        if (view->rows[i].limit == limit)
            return true;
    }
    return false;
}

/* The GPUs that n pods add by their claims. */
static int64_t taken_by_claims(const struct quota_row *row, const struct asked_models *devices,
                               int64_t n)
{
    const int64_t least = counts(row->limit, devices->sure) ? row->least : 0;
    const int64_t refused = counts(row->limit, devices->possible) ? row->refused : 0;
    const int64_t each = counts(row->limit, devices->sure) ? row->each : 0;
    return amount_add(least > refused ? least : refused, each * (n - 1));
}

/* fork: counts what the claims take there; NULL: only in the view. */
static void take(struct quota_view *view, struct cluster *fork, const struct node *node, int64_t n)
{
    const struct asked_models devices = asked_claims_models(view->cluster, node);
    for (size_t i = 0; i < view->n_rows; i++) {
        struct quota_row *row = &view->rows[i];
        const int64_t by_claims = taken_by_claims(row, &devices, n);
        row->left -= need_of_shape(view, row, node) * n;
        row->left -= by_claims;
        row->least = row->each;
        row->refused = 0;
        if (fork && row->count == QUOTA_ALL)
            *namespace_usage_cell(view->policy, namespace_usage_quota_cells(fork, row->quota),
                                  row->limit->scope, row->limit->column) += by_claims;
    }
    sum_up(view);
}

void quota_take(struct quota_view *view, const struct node *node, int64_t n)
{
    if (view && n > 0)
        take(view, NULL, node, n);
}

void quota_place(struct cluster *fork, struct quota_view *view, const struct node *node, int64_t n)
{
    if (!view || n == 0)
        return;
    namespace_usage_place(fork, view->quotas, view->n_quotas,
                          (struct quota_pod){view->shape, view->priority}, node, n);
    take(view, fork, node, n);
}

void quota_hold(struct cluster *cluster, const struct group_others *others, const struct node *node,
                int64_t now_ms, int64_t firm_until_ms)
{
    for (size_t i = 0; i < others->n; i++) {
        const struct group_other *other = &others->items[i];
        claims_hold(cluster, other->pod, other->is_alike ? node : NULL, now_ms, firm_until_ms);
    }
}

bool quota_claim(struct cluster *cluster, const struct claim_question *question)
{
    const struct pod_facts *pod = question->pod;
    if (question->claims_version != claims_version(cluster))
        return false;
    struct arena *arena CLEANUP(arena_free_ptr) = arena_new();
    const struct pod_shape *shape = cluster_resolve(cluster, &pod->shape, arena);
    const struct asker asker = asker_from_facts(pod);
    const struct quota_asked asked = {
        .shape = shape,
        .claims = {.namespace_ = pod->namespace_, .claims = pod->claims, .asker = &asker}};
    const bool is_covered = quota_begin_asked(cluster, &asked, arena);
    claims_renew(cluster, question, is_covered ? shape : NULL);
    return true;
}
