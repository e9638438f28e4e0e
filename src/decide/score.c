/* score: the table of placement policies and shared code. See include/decide/score.h. */
#include "decide/score.h"
#include "decide/claim_rules.h"
#include "ledger/owners.h"
#include "ledger/reservation.h"
#include "score_policy.h"

#include <stdint.h>
#include <string.h>

/* ---- locations of the other replicas of the pod's owner, for one decision ---- */

struct replicas;

/* A replica in the same zone counts as a quarter of one on the same node. */
#define ZONES_TO_A_NODE 4
#define N_BUCKETS 64

struct zone_replicas {
    const char *zone; /* interned: compared by address */
    int64_t n;
    struct zone_replicas *next;
};

struct replicas {
    struct arena *arena;
    const struct owner *owner; /* NULL: the ledger has no replica of it */
    const struct node *except; /* node of the pod's own reservation; NULL: none */
    double weight;
    int64_t n; /* replicas with a node */
    struct zone_replicas *zones[N_BUCKETS];
};

static struct zone_replicas *find_zone(struct replicas *replicas, const struct node *node)
{
    const char *zone = node_zone(node);
    if (!zone)
        return NULL;
    struct zone_replicas **bucket = &replicas->zones[((uintptr_t)zone >> 4) % N_BUCKETS];
    struct zone_replicas *found = *bucket;
    while (found && found->zone != zone)
        found = found->next;
    if (!found) {
        found = ARENA_NEW(replicas->arena, struct zone_replicas);
        *found = (struct zone_replicas){zone, 0, *bucket};
        *bucket = found;
    }
    return found;
}

static int64_t others_on(const struct replicas *replicas, const struct node *node, size_t n)
{
    return (int64_t)n - (node == replicas->except);
}

static void count(struct replicas *replicas)
{
    size_t n_nodes = 0;
    const struct owner_node *nodes = owners_nodes(replicas->owner, &n_nodes);
    for (size_t i = 0; i < n_nodes; i++) {
        const struct owner_node *on = &nodes[i];
        const int64_t n = others_on(replicas, on->node, on->n);
        struct zone_replicas *zone = find_zone(replicas, on->node);
        replicas->n += n;
        if (zone)
            zone->n += n;
    }
}

static const struct node *node_of_own(const struct cluster *cluster, const struct owner *owner,
                                      const struct reservation *own)
{
    return own && own->owner && own->owner == owner ? cluster_find_node(cluster, own->node_name)
                                                    : NULL;
}

/* NULL if the pod has no owner with replicas, or the policy gives the term no weight. A reservation
 * of the pod itself does not count. */
static struct replicas *replicas_begin(const struct cluster *cluster,
                                       const struct fit_question *question, struct arena *arena)
{
    const int64_t weight_milli = cluster_policy(cluster)->replica_spread_milli;
    if (weight_milli == 0 || !question->replica_of || !question->replica_of[0])
        return NULL;
    struct replicas *replicas = ARENA_NEW(arena, struct replicas);
    replicas->arena = arena;
    replicas->owner = owners_find(cluster, question->replica_of);
    replicas->except = node_of_own(cluster, replicas->owner, question->own);
    replicas->weight = (double)weight_milli / 1000;
    count(replicas);
    return replicas;
}

static struct replicas_near replicas_near(struct replicas *replicas, const struct node *node)
{
    return (struct replicas_near){others_on(replicas, node, owners_n_on(replicas->owner, node)),
                                  find_zone(replicas, node)};
}

static double replicas_cost(const struct replicas *replicas, const struct replicas_near *near)
{
    if (replicas->n == 0)
        return 0;
    const int64_t quarters = ZONES_TO_A_NODE * near->on_node + (near->zone ? near->zone->n : 0);
    return replicas->weight * (double)quarters / (double)(ZONES_TO_A_NODE * replicas->n);
}

/* Counts one more replica at this location. */
static void replicas_place(struct replicas *replicas, struct replicas_near *near)
{
    near->on_node++;
    if (near->zone)
        near->zone->n++;
    replicas->n++;
}

/* ---- score ---- */

static const struct score_policy *const POLICIES[N_PLACEMENT_POLICIES] = {
    [PLACEMENT_SLOT_PRICE] = &SCORE_SLOT_PRICE,
    [PLACEMENT_BINPACK] = &SCORE_BINPACK,
    [PLACEMENT_SPREAD] = &SCORE_SPREAD,
    [PLACEMENT_FGD] = &SCORE_FGD,
};

static void find_demands(struct score *score, const char *uid, struct arena *arena)
{
    const bool lacks = gpu_demand_lacks(score->cluster, uid);
    size_t n = 0;
    for (const struct gpu_demand *demand = gpu_demand_next(score->cluster, NULL); demand;
         demand = gpu_demand_next(score->cluster, demand))
        n++;
    score->demands = ARENA_ARRAY(arena, const struct gpu_demand *, n);
    for (const struct gpu_demand *demand = gpu_demand_next(score->cluster, NULL); demand;
         demand = gpu_demand_next(score->cluster, demand))
        score->demands[score->n_demands++] =
            lacks ? gpu_demand_with(score->cluster, demand, score->shape, arena) : demand;
}

/* NULL: no node offers any. */
static const struct gpu_demand *find_demand(const struct score *score,
                                            const struct resource *resource)
{
    for (size_t i = 0; i < score->n_demands; i++) {
        if (score->demands[i]->resource == resource)
            return score->demands[i];
    }
    return NULL;
}

static void reprice(struct score *score)
{
    if (score->policy->reprice)
        score->policy->reprice(score);
}

static struct score *begin(const struct cluster *cluster, const struct fit_question *question,
                           struct arena *arena)
{
    const struct pod_shape *shape = question->shape;
    struct score *score = ARENA_NEW(arena, struct score);
    score->cluster = cluster;
    score->shape = shape;
    find_demands(score, question->asker.uid, arena);
    score->replicas = replicas_begin(cluster, question, arena);
    score->policy = POLICIES[cluster_policy(cluster)->placement];
    score->milli_cores = shape_demand(&shape->facts, "cpu");
    score->memory_bytes = shape_demand(&shape->facts, "memory");
    score->wanted = ARENA_ARRAY(arena, struct wanted_gpus, shape->n_gpu_needs);
    for (size_t i = 0; i < shape->n_gpu_needs; i++) {
        struct wanted_gpus *wanted = &score->wanted[i];
        wanted->need = &shape->needs[i];
        wanted->demand = find_demand(score, wanted->need->resource);
        wanted->pressures =
            ARENA_ARRAY(arena, double, wanted->demand ? wanted->demand->n_pools : 0);
    }
    score->known_losses = score_loss_begin(arena);
    reprice(score);
    return score;
}

/* ---- resource claims ---- */

/* Further choices count as those of the last. */
#define CLAIMED_MAX 16

struct claimed_scores {
    struct fit_question question;
    struct arena *arena;
    struct score *items[CLAIMED_MAX];
    size_t n;
};

struct score *score_begin(const struct cluster *cluster, const struct fit_question *question,
                          struct arena *arena)
{
    struct score *score = begin(cluster, question, arena);
    if (!question->devices)
        return score;
    score->devices = question->devices;
    score->claimed = ARENA_NEW(arena, struct claimed_scores);
    score->claimed->question = *question;
    score->claimed->arena = arena;
    return score;
}

static void add_amount(struct shape_facts *facts, struct amount *demand,
                       const struct claim_take *take)
{
    size_t i = 0;
    while (i < facts->n_demand && strcmp(demand[i].resource, take->resource) < 0)
        i++;
    if (i < facts->n_demand && strcmp(demand[i].resource, take->resource) == 0) {
        demand[i].amount += take->gpus;
        return;
    }
    memmove(&demand[i + 1], &demand[i], (facts->n_demand - i) * sizeof *demand);
    facts->n_demand++;
    demand[i] = (struct amount){.resource = take->resource, .amount = take->gpus};
}

/* The pod's shape as if it requested the GPUs by name. */
static const struct pod_shape *shape_with(const struct score *score,
                                          const struct claim_takes *takes)
{
    struct arena *arena = score->claimed->arena;
    struct shape_facts *facts = arena_copy(arena, &score->shape->facts, 1, sizeof *facts);
    struct amount *demand = ARENA_ARRAY(arena, struct amount, facts->n_demand + takes->n);
    for (size_t i = 0; i < facts->n_demand; i++)
        demand[i] = facts->demand[i];
    for (size_t i = 0; i < takes->n; i++)
        add_amount(facts, demand, &takes->items[i]);
    facts->demand = demand;
    return cluster_resolve(score->cluster, facts, arena);
}

static const struct score *add_claimed(const struct score *score, const struct claim_takes *takes)
{
    struct claimed_scores *claimed = score->claimed;
    struct fit_question question = claimed->question;
    if (claimed->n == CLAIMED_MAX)
        return claimed->items[CLAIMED_MAX - 1];
    question.shape = shape_with(score, takes);
    struct score *own = begin(score->cluster, &question, claimed->arena);
    own->takes = takes;
    claimed->items[claimed->n++] = own;
    return own;
}

/* The score for what the claims take. */
static const struct score *score_with(const struct score *score, const struct claim_takes *takes)
{
    if (!takes)
        return score;
    for (size_t i = 0; i < score->claimed->n; i++) {
        if (claim_takes_are_alike(score->claimed->items[i]->takes, takes))
            return score->claimed->items[i];
    }
    return add_claimed(score, takes);
}

const struct claim_takes *score_takes(const struct score *score, const struct node *node)
{
    return score->devices ? claim_rules_takes(score->devices, node) : NULL;
}

bool score_has_claims(const struct score *score)
{
    return score->devices != NULL;
}

/* Memory that the pod may not need: 0.2 GPUs for 128 GiB. */
#define MEMORY_WEIGHT 0.2
#define MEMORY_BYTES ((double)(INT64_C(128) << 30))

static double memory_taken(const struct score *score)
{
    return score->takes ? MEMORY_WEIGHT * (double)score->takes->memory_bytes / MEMORY_BYTES : 0;
}

const struct pod_shape *score_shape(const struct score *score)
{
    return score->shape;
}

bool score_knows_claims(const struct score *score)
{
    return cluster_n_objects(score->cluster, CLUSTER_DEVICE_CLASSES) > 0;
}

bool score_needs_hot_only(const struct score *score)
{
    return !score->replicas && !score->devices && !score_knows_claims(score);
}

bool score_sees_replicas(const struct score *score)
{
    return score->replicas != NULL;
}

void score_reprice(struct score *score)
{
    reprice(score);
    for (size_t i = 0; score->claimed && i < score->claimed->n; i++)
        reprice(score->claimed->items[i]);
}

static double price_of(const struct score *own, const struct node *node)
{
    return own->policy->price.compute ? own->policy->price.compute(own, node) : 0;
}

double score_price(const struct score *score, const struct node *node)
{
    return price_of(score_with(score, score_takes(score, node)), node);
}

/* By claims a node's price depends on what it has left. */
uint64_t score_price_key(const struct score *score, const struct node *node)
{
    uint64_t key = score->devices ? (uint64_t)(uintptr_t)node : 0;
    for (size_t i = 0; i < score->shape->n_gpu_needs && !score->devices; i++) {
        const struct wanted_gpus *wanted = &score->wanted[i];
        const struct model_pool *pool = room_offer(node, wanted->need->resource).pool;
        key =
            key * (wanted->demand ? wanted->demand->n_pools + 1 : 1) + (pool ? pool->index + 1 : 0);
    }
    return key;
}

struct replicas_near score_near(const struct score *score, const struct node *node)
{
    return score->replicas ? replicas_near(score->replicas, node) : (struct replicas_near){0};
}

double score_near_cost(const struct score *score, const struct replicas_near *near)
{
    return score->replicas ? replicas_cost(score->replicas, near) : 0;
}

void score_place(struct score *score, struct replicas_near *near)
{
    if (score->replicas)
        replicas_place(score->replicas, near);
}

struct cost score_cost(const struct score *score, const struct node *node,
                       const struct claim_takes *takes)
{
    const struct replicas_near near = score_near(score, node);
    const struct score *own = score_with(score, takes);
    struct cost cost = {memory_taken(own), price_of(own, node), score_near_cost(score, &near)};
    for (const struct score_part *part = own->policy->own; part->compute; part++)
        cost.own += part->compute(own, node);
    return cost;
}

size_t score_terms(const struct score *score, const struct node *node,
                   struct score_term ret_terms[SCORE_TERMS_MAX])
{
    size_t n = 0;
    const struct score *own = score_with(score, score_takes(score, node));
    for (const struct score_part *part = own->policy->own; part->compute; part++)
        ret_terms[n++] = (struct score_term){part->name, part->compute(own, node)};
    if (own->takes)
        ret_terms[n++] = (struct score_term){"memoryTaken", memory_taken(own)};
    if (own->policy->price.compute)
        ret_terms[n++] =
            (struct score_term){own->policy->price.name, own->policy->price.compute(own, node)};
    const struct replicas_near near = score_near(score, node);
    if (score->replicas)
        ret_terms[n++] = (struct score_term){"replicasNear", score_near_cost(score, &near)};
    return n;
}
