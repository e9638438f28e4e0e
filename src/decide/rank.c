/* rank: see include/decide/rank.h. */
#include "decide/rank.h"
#include "alike.h"
#include "base/mem.h"
#include "decide/claim_rules.h"
#include "ledger/admit.h"

#include <stdlib.h>
#include <string.h>

#define N_OTHER_SCORES 10 /* 0..9, for all but the first */

static size_t model_rank(const struct node_traits *traits, const struct pod_shape *shape)
{
    const struct model_wants *wants = &shape->facts.wants;
    size_t rank = 0;
    while (rank < wants->n_accept && !admit_gives_model(traits, shape, &wants->accept[rank]))
        rank++;
    return rank;
}

static bool is_for_gpus(const struct node *node)
{
    size_t n = 0;
    const struct node_resource *resources = node_resources(node, &n);
    for (size_t i = 0; i < n; i++) {
        if (resources[i].resource->is_gpu && resources[i].allocatable > 0)
            return true;
    }
    return node_hot(node)->has_devices || node_traits(node)->gpus.model.chip[0] != '\0';
}

static enum gpu_work gpu_work_of(const struct node *node, const struct pod_shape *shape)
{
    if (shape->n_gpu_needs > 0 || !is_for_gpus(node))
        return GPU_WORK_NONE;
    return node_traits(node)->unschedulable ? GPU_WORK_CORDONED : GPU_WORK_NOW;
}

bool rank_needs_hot_only(const struct score *score)
{
    const struct pod_shape *shape = score_shape(score);
    return shape->n_gpu_needs == 1 && shape->facts.n_preferred == 0 && score_needs_hot_only(score);
}

bool rank_needs_takes_only(const struct score *score)
{
    const struct pod_shape *shape = score_shape(score);
    return shape->n_gpu_needs == 0 && shape->facts.n_preferred == 0 && score_has_claims(score) &&
           !score_sees_replicas(score);
}

void rank_weigh(const struct score *score, struct ranked_node *ranked)
{
    const struct node *node = ranked->node;
    if (!node)
        return;
    const struct node_traits *traits = node_traits(node);
    const struct shape_facts *facts = &score_shape(score)->facts;
    const struct claim_takes *takes = ranked->takes ? ranked->takes : score_takes(score, node);
    ranked->takes = takes;
    ranked->claim_order = takes ? takes->order : score_has_claims(score) ? SIZE_MAX : 0;
    ranked->model_rank = model_rank(traits, score_shape(score));
    ranked->preferred = preferred_weight(facts->preferred, facts->n_preferred, &traits->view);
    ranked->unpreferred = 0;
    if (node_hot(node)->has_soft_taints)
        ranked->unpreferred = taints_unpreferred(traits->taints, traits->n_taints,
                                                 facts->tolerations, facts->n_tolerations);
    ranked->by_claim = score_knows_claims(score) && fit_by_claim(node, score_shape(score)) != NULL;
    ranked->gpu_work =
        score_has_claims(score) ? GPU_WORK_NONE : gpu_work_of(node, score_shape(score));
    ranked->cost = score_cost(score, node, takes);
    ranked->near = score_near(score, node);
    ranked->free_gpus = node_free_gpus(node);
}

#define COMPARE(a, b) (((a) > (b)) - ((a) < (b)))

/* Nodes that compare equal here form a tier: the pod's own preferences, known room before claims,
 * then the GPU work the pod would block. */
static int compare_tier(const struct ranked_node *a, const struct ranked_node *b)
{
    if (a->claim_order != b->claim_order)
        return COMPARE(a->claim_order, b->claim_order);
    if (a->model_rank != b->model_rank)
        return COMPARE(a->model_rank, b->model_rank);
    if (a->preferred != b->preferred)
        return COMPARE(b->preferred, a->preferred);
    if (a->unpreferred != b->unpreferred)
        return COMPARE(a->unpreferred, b->unpreferred);
    if (a->by_claim != b->by_claim)
        return COMPARE(a->by_claim, b->by_claim);
    return COMPARE(a->gpu_work, b->gpu_work);
}

int rank_compare_alike(const struct ranked_node *a, const struct ranked_node *b)
{
    int order = compare_tier(a, b);
    if (order == 0)
        order = COMPARE(cost_sum(&a->cost), cost_sum(&b->cost));
    return order != 0 ? order : COMPARE(a->free_gpus, b->free_gpus);
}

int rank_compare(const struct ranked_node *a, const struct ranked_node *b)
{
    int order = a->node && b->node ? rank_compare_alike(a, b) : COMPARE(!a->node, !b->node);
    if (order == 0 && a->node)
        order = strcmp(node_name(a->node), node_name(b->node));
    return order != 0 ? order : COMPARE(a->position, b->position);
}

static size_t tier_end(struct ranked_node *const *kinds, size_t n_kinds, size_t begin)
{
    size_t end = begin + 1;
    while (end < n_kinds && compare_tier(kinds[begin], kinds[end]) == 0)
        end++;
    return end;
}

static size_t count_tiers(struct ranked_node *const *kinds, size_t n_kinds)
{
    size_t n = 0;
    for (size_t begin = 0; begin < n_kinds; begin = tier_end(kinds, n_kinds, begin))
        n++;
    return n;
}

/* Spreads the scores lowest..highest over the tier's costs, cheapest highest. Equal costs all get
 * the lowest. */
static void score_tier(struct ranked_node *const *kinds, size_t n_kinds, int lowest, int highest)
{
    double min = cost_sum(&kinds[0]->cost);
    double max = cost_sum(&kinds[n_kinds - 1]->cost);
    int n_scores = highest - lowest + 1;
    for (size_t i = 0; i < n_kinds; i++) {
        int step =
            max > min ? (int)(n_scores * (max - cost_sum(&kinds[i]->cost)) / (max - min)) : 0;
        kinds[i]->score = lowest + (step < n_scores ? step : n_scores - 1);
    }
}

static void score_all(struct ranked_node *const *kinds, size_t n_kinds)
{
    const int n_tiers = (int)count_tiers(kinds, n_kinds);
    int tier = 0;
    for (size_t begin = 0, end = 0; begin < n_kinds; begin = end, tier++) {
        end = tier_end(kinds, n_kinds, begin);
        int highest = N_OTHER_SCORES - 1 - tier;
        int lowest = highest;
        if (n_tiers <= N_OTHER_SCORES) {
            highest = N_OTHER_SCORES - 1 - N_OTHER_SCORES * tier / n_tiers;
            lowest = N_OTHER_SCORES - N_OTHER_SCORES * (tier + 1) / n_tiers;
        }
        score_tier(&kinds[begin], end - begin, lowest > 0 ? lowest : 0, highest > 0 ? highest : 0);
    }
}

bool rank_by_models(const struct pod_shape *shape, struct ranked_node *nodes, size_t n_nodes)
{
    struct arena *arena CLEANUP(arena_free_ptr) = arena_new();
    const struct model_wants *wants = &shape->facts.wants;
    bool *is_there = ARENA_ARRAY(arena, bool, wants->n_accept + 1);
    int *scores = ARENA_ARRAY(arena, int, wants->n_accept + 1);
    for (size_t i = 0; i < n_nodes; i++) {
        if (!nodes[i].node)
            continue;
        nodes[i].model_rank = model_rank(node_traits(nodes[i].node), shape);
        is_there[nodes[i].model_rank] = true;
    }
    int n_ranks = 0;
    for (size_t rank = 0; rank <= wants->n_accept; rank++) {
        scores[rank] = n_ranks < RANK_BEST_SCORE ? RANK_BEST_SCORE - n_ranks : 0;
        n_ranks += is_there[rank];
    }
    for (size_t i = 0; i < n_nodes; i++)
        nodes[i].score = nodes[i].node ? scores[nodes[i].model_rank] : 0;
    return n_ranks > 1;
}

/* ---- best ----
 *
 * Many nodes rank alike but for their names. So only one of each kind is weighed, compared with the
 * others, and scored. Nodes are put in order by their kinds' numbers and by the order of names that
 * the ledger knows, without comparing them. */

struct rank_kind {
    struct ranked_node ranked; /* of the first of its nodes */
    struct rank_kind *next;
    size_t n;      /* places */
    size_t number; /* among the sorted kinds: the same for those that rank alike */
};

struct best {
    struct alikes alikes;
    const struct score *score;
    struct rank_kind *kinds;
    size_t n_kinds;
    size_t n_judged;
    struct rank_place *places; /* in the order in which they were added */
    size_t n, n_most;
    size_t n_ordered; /* cluster_n_ordered() */
    bool has_twins;   /* among the sorted places */
    struct rank_place **sorted;
    struct arena *arena;
};

// NOLINTNEXTLINE(readability-function-size): what it is about, how many, and the arena
struct best *best_begin(const struct cluster *cluster, const struct fit_question *question,
                        size_t n_most, size_t n_names, struct arena *arena)
{
    struct best *best = ARENA_NEW(arena, struct best);
    best->score = score_begin(cluster, question, arena);
    best->alikes = alikes_begin(best->score, arena);
    best->places = ARENA_ARRAY_UNSET(arena, struct rank_place, n_names);
    best->sorted = ARENA_ARRAY_UNSET(arena, struct rank_place *, n_names);
    best->n_most = n_most;
    best->n_ordered = cluster_n_ordered(cluster);
    best->arena = arena;
    return best;
}

static struct rank_kind *new_kind(struct best *best, const struct node *node,
                                  const struct claim_takes *takes)
{
    struct rank_kind *kind = ARENA_NEW(best->arena, struct rank_kind);
    kind->ranked.node = node;
    kind->ranked.takes = takes;
    rank_weigh(best->score, &kind->ranked);
    kind->next = best->kinds;
    best->kinds = kind;
    best->n_kinds++;
    return kind;
}

static struct alike *find_alike(const struct best *best, const struct node *node,
                                const struct claim_takes *takes)
{
    return best->alikes.taken ? alikes_find_taken(&best->alikes, node, takes)
                              : alikes_find(&best->alikes, node);
}

static void add(struct best *best, struct alike *alike, const struct node *node,
                const struct claim_takes *takes, size_t position)
{
    struct rank_kind *kind = alike ? alike->kind : NULL;
    if (!kind) {
        kind = new_kind(best, node, takes);
        if (alike)
            alike->kind = kind;
    }
    kind->n++;
    best->places[best->n++] = (struct rank_place){node, &kind->ranked, position, NULL};
}

void best_add(struct best *best, const struct node *node, const struct claim_takes *takes,
              size_t position)
{
    add(best, find_alike(best, node, takes), node, takes, position);
}

// NOLINTNEXTLINE(readability-function-size): what is asked about the nodes, and the answers
void best_judge(struct best *best, struct fit_round *round, const struct node *const *nodes,
                const struct claim_takes *const *takes, size_t n, enum reason *ret_verdicts)
{
    for (size_t i = 0; i < n; i++) {
        const struct claim_takes *its = takes ? takes[i] : NULL;
        struct alike *alike = nodes[i] ? find_alike(best, nodes[i], its) : NULL;
        const bool is_known = alike && alike->is_judged;
        const enum reason verdict = is_known ? alike->verdict : fit_judge_next(round, nodes[i]);
        if (alike && !is_known) {
            alike->is_judged = fit_is_by_hot(round, node_hot(nodes[i]));
            alike->verdict = verdict;
        }
        if (verdict == REASON_FITS)
            add(best, alike, nodes[i], its, best->n_judged + i);
        ret_verdicts[i] = verdict;
    }
    best->n_judged += n;
}

static int compare_kinds(const void *a, const void *b)
{
    return rank_compare_alike(*(const struct ranked_node *const *)a,
                              *(const struct ranked_node *const *)b);
}

static const struct rank_kind *kind_of(const struct ranked_node *ranked)
{
    return CONTAINER_OF(ranked, const struct rank_kind, ranked);
}

/* Returns the kinds, sorted. */
static struct ranked_node **number_kinds(const struct best *best)
{
    struct ranked_node **kinds =
        ARENA_ARRAY_UNSET(best->arena, struct ranked_node *, best->n_kinds + 1);
    size_t number = 0;
    size_t n = 0;
    for (struct rank_kind *kind = best->kinds; kind; kind = kind->next)
        kinds[n++] = &kind->ranked;
    if (n > 1)
        qsort(kinds, n, sizeof(struct ranked_node *), compare_kinds);
    for (size_t i = 0; i < n; i++) {
        number += i > 0 && rank_compare_alike(kinds[i - 1], kinds[i]) != 0;
        CONTAINER_OF(kinds[i], struct rank_kind, ranked)->number = number;
    }
    return kinds;
}

/* Sorts the places that may be among the n_most best. Returns how many they are. */
static size_t sort_places(struct best *best, struct ranked_node *const *kinds, size_t n_most)
{
    uint64_t *are_there = ARENA_ARRAY(best->arena, uint64_t, best->n_ordered / 64 + 1);
    struct rank_place **first =
        ARENA_ARRAY_UNSET(best->arena, struct rank_place *, best->n_ordered + 1);
    size_t *begins = ARENA_ARRAY_UNSET(best->arena, size_t, best->n_kinds + 1);
    size_t n_places = 0;
    for (size_t i = 0; i < best->n_kinds; i++) {
        const struct rank_kind *kind = kind_of(kinds[i]);
        if (i == 0 || kind->number != kind_of(kinds[i - 1])->number)
            begins[kind->number] = n_places;
        n_places += kind->n;
    }
    n_places = 0;
    for (struct rank_place *place = &best->places[best->n]; place-- > best->places;) {
        const size_t order = node_order(place->node);
        const uint64_t bit = UINT64_C(1) << order % 64;
        if (begins[kind_of(place->ranked)->number] >= n_most)
            continue;
        if (are_there[order / 64] & bit) {
            place->twin = first[order];
            best->has_twins = true;
        }
        first[order] = place;
        are_there[order / 64] |= bit;
        n_places++;
    }
    for (size_t word = 0; word <= best->n_ordered / 64; word++) {
        for (uint64_t bits = are_there[word]; bits; bits &= bits - 1) {
            struct rank_place *place = first[64 * word + (unsigned)__builtin_ctzll(bits)];
            for (; place; place = place->twin)
                best->sorted[begins[kind_of(place->ranked)->number]++] = place;
        }
    }
    return n_places;
}

/* The first n_most nodes of n places. */
static size_t cut(const struct best *best, size_t n)
{
    size_t n_nodes = 0;
    size_t i = 0;
    for (; i < n && best->n > best->n_most; i++) {
        n_nodes += i == 0 || best->sorted[i]->node != best->sorted[i - 1]->node;
        if (n_nodes > best->n_most)
            return i;
    }
    return n;
}

/* A best node alone in its tier leaves all scores of 0..9 to the others. */
static void score_kinds(const struct best *best, struct ranked_node *const *kinds)
{
    const bool is_alone =
        best->n_kinds > 0 && tier_end(kinds, best->n_kinds, 0) == 1 && kind_of(kinds[0])->n == 1;
    score_all(&kinds[is_alone], best->n_kinds - is_alone);
}

struct rank_place **best_end(struct best *best, size_t *ret_n)
{
    struct ranked_node **kinds = number_kinds(best);
    size_t n = sort_places(best, kinds, best->n_most);
    if (best->has_twins)
        n = sort_places(best, kinds, SIZE_MAX);
    score_kinds(best, kinds);
    if (n > 0) {
        struct rank_kind *first = ARENA_NEW(best->arena, struct rank_kind);
        *first = *kind_of(best->sorted[0]->ranked);
        first->ranked.score = RANK_BEST_SCORE;
        best->sorted[0]->ranked = &first->ranked;
    }
    *ret_n = cut(best, n);
    return best->sorted;
}

void rank_nodes(const struct cluster *cluster, const struct fit_question *question,
                struct ranked_node *nodes, size_t n_nodes)
{
    struct arena *arena CLEANUP(arena_free_ptr) = arena_new();
    struct best *best = best_begin(cluster, question, SIZE_MAX, n_nodes, arena);
    size_t *others = ARENA_ARRAY_UNSET(arena, size_t, n_nodes);
    size_t n_others = 0;
    size_t n = 0;
    for (size_t i = 0; i < n_nodes; i++) {
        if (nodes[i].node)
            best_add(best, nodes[i].node, nodes[i].takes, nodes[i].position);
        else
            others[n_others++] = nodes[i].position;
    }
    struct rank_place *const *places = best_end(best, &n);
    for (size_t i = 0; i < n; i++) {
        nodes[i] = *places[i]->ranked;
        nodes[i].node = places[i]->node;
        nodes[i].position = places[i]->position;
    }
    for (size_t i = 0; i < n_others; i++)
        nodes[n + i] = (struct ranked_node){.position = others[i]};
}
