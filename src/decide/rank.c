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

/* ---- sorting ----
 *
 * Many nodes compare equal but for their names. So only one of each kind is weighed, compared with
 * the others, and scored. Then all nodes are sorted by numbers, byte by byte, the least significant
 * one first. */

enum { KEY_NAME, KEY_KIND, N_KEYS };

struct rank_place {
    const struct node *node;
    const struct ranked_node *kind; /* NULL: no node */
    size_t position;
    /* The name's bytes from the first one in which names differ; and the kind's rank. */
    uint64_t keys[N_KEYS];
};

/* Returns the number of kinds, which are in the order in which they are met. */
static size_t weigh_all(const struct score *score, const struct ranked_node *nodes, size_t n_nodes,
                        struct rank_place *places, struct ranked_node *kinds, struct arena *arena)
{
    const struct alikes alikes = alikes_begin(score, arena);
    size_t n_kinds = 0;
    for (size_t i = 0; i < n_nodes; i++) {
        const struct node *node = nodes[i].node;
        struct alike *alike = !node          ? NULL
                              : alikes.taken ? alikes_find_taken(&alikes, &nodes[i])
                                             : alikes_find(&alikes, node);
        places[i] = (struct rank_place){node, NULL, nodes[i].position, {0}};
        if (!node)
            continue;
        const bool is_new = !alike || alike->seen == 0;
        places[i].kind = &kinds[is_new ? n_kinds : alike->seen - 1];
        if (!is_new)
            continue;
        kinds[n_kinds] = nodes[i];
        alikes_weigh(&alikes, alike, &kinds[n_kinds++]);
        if (alike)
            alike->seen = n_kinds;
    }
    return n_kinds;
}

static int compare_kinds(const void *a, const void *b)
{
    return rank_compare_alike(*(const struct ranked_node *const *)a,
                              *(const struct ranked_node *const *)b);
}

/* Returns the kinds, sorted. Nodes that do not exist come last. */
static struct ranked_node **number_kinds(struct rank_place *places, size_t n_nodes,
                                         struct ranked_node *kinds, size_t n_kinds,
                                         struct arena *arena)
{
    size_t *numbers = ARENA_ARRAY_UNSET(arena, size_t, n_kinds + 1);
    struct ranked_node **sorted = ARENA_ARRAY_UNSET(arena, struct ranked_node *, n_kinds + 1);
    size_t number = 0;
    for (size_t i = 0; i < n_kinds; i++)
        sorted[i] = &kinds[i];
    if (n_kinds > 1)
        qsort(sorted, n_kinds, sizeof(struct ranked_node *), compare_kinds);
    for (size_t i = 0; i < n_kinds; i++) {
        number += i > 0 && rank_compare_alike(sorted[i - 1], sorted[i]) != 0;
        numbers[sorted[i] - kinds] = number;
    }
    for (size_t i = 0; i < n_nodes; i++)
        places[i].keys[KEY_KIND] = places[i].kind ? numbers[places[i].kind - kinds] : number + 1;
    return sorted;
}

/* Of a node's name: NODE_NAME_PADDING. */
static uint64_t first_bytes(const char *text)
{
    return __builtin_bswap64(siphash_bytes((const unsigned char *)text, sizeof(uint64_t)));
}

/* Names often differ only behind a long beginning. */
static void number_names(struct rank_place *places, size_t n_nodes)
{
    const char *beginning = NULL;
    size_t len = 0;
    for (size_t i = 0; i < n_nodes; i++) {
        const char *name = places[i].node ? node_name(places[i].node) : beginning;
        if (!beginning && name)
            len = strlen(beginning = name);
        while (len > 0 && strncmp(name, beginning, len) != 0)
            len--;
    }
    for (size_t i = 0; i < n_nodes; i++) {
        if (places[i].node)
            places[i].keys[KEY_NAME] = first_bytes(node_name(places[i].node) + len);
    }
}

static void sort_by_byte(const struct rank_place *from, struct rank_place *to, size_t n, int key,
                         unsigned shift)
{
    size_t begins[UINT8_MAX + 2] = {0};
    for (size_t i = 0; i < n; i++)
        begins[(from[i].keys[key] >> shift & UINT8_MAX) + 1]++;
    for (size_t byte = 0; byte < UINT8_MAX; byte++)
        begins[byte + 1] += begins[byte];
    for (size_t i = 0; i < n; i++)
        to[begins[from[i].keys[key] >> shift & UINT8_MAX]++] = from[i];
}

static int compare_places(const void *a, const void *b)
{
    const struct rank_place *places[] = {a, b};
    const int order =
        places[0]->node ? strcmp(node_name(places[0]->node), node_name(places[1]->node)) : 0;
    return order != 0 ? order : COMPARE(places[0]->position, places[1]->position);
}

static bool are_equal(const struct rank_place *a, const struct rank_place *b)
{
    return a->keys[KEY_NAME] == b->keys[KEY_NAME] && a->keys[KEY_KIND] == b->keys[KEY_KIND];
}

/* Nodes with equal keys: of the same kind, with names that differ only further behind. */
static void sort_equal(struct rank_place *places, size_t n)
{
    for (size_t begin = 0, end = 0; begin < n; begin = end) {
        while (end < n && are_equal(&places[begin], &places[end]))
            end++;
        if (end - begin > 1)
            qsort(&places[begin], end - begin, sizeof *places, compare_places);
    }
}

/* Returns places or spare, whichever has the result. */
static struct rank_place *sort_places(struct rank_place *places, struct rank_place *spare, size_t n)
{
    for (int key = 0; key < N_KEYS; key++) {
        uint64_t differ = 0;
        for (size_t i = 0; i < n; i++)
            differ |= places[i].keys[key] ^ places[0].keys[key];
        for (unsigned shift = 0; shift < 64; shift += 8) {
            struct rank_place *from = places;
            if ((differ >> shift & UINT8_MAX) == 0)
                continue;
            sort_by_byte(from, spare, n, key, shift);
            places = spare;
            spare = from;
        }
    }
    sort_equal(places, n);
    return places;
}

void rank_nodes(const struct cluster *cluster, const struct fit_question *question,
                struct ranked_node *nodes, size_t n_nodes)
{
    struct arena *arena CLEANUP(arena_free_ptr) = arena_new();
    struct rank_place *places = ARENA_ARRAY_UNSET(arena, struct rank_place, n_nodes);
    struct rank_place *spare = ARENA_ARRAY_UNSET(arena, struct rank_place, n_nodes);
    struct ranked_node *kinds = ARENA_ARRAY_UNSET(arena, struct ranked_node, n_nodes);
    const struct score *score = score_begin(cluster, question, arena);
    const size_t n_kinds = weigh_all(score, nodes, n_nodes, places, kinds, arena);
    struct ranked_node **sorted = number_kinds(places, n_nodes, kinds, n_kinds, arena);
    number_names(places, n_nodes);
    places = sort_places(places, spare, n_nodes);
    /* A best node alone in its tier leaves all scores of 0..9 to the others. */
    const bool is_alone = n_kinds > 0 && tier_end(sorted, n_kinds, 0) == 1 &&
                          (n_nodes == 1 || places[1].keys[KEY_KIND] > 0);
    score_all(&sorted[is_alone], n_kinds - is_alone);
    for (size_t i = 0; i < n_nodes; i++) {
        nodes[i] = places[i].kind ? *places[i].kind : (struct ranked_node){.node = NULL};
        nodes[i].node = places[i].node;
        nodes[i].position = places[i].position;
    }
    if (n_kinds > 0)
        nodes[0].score = RANK_BEST_SCORE;
}
