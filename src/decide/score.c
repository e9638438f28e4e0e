/* score: the table of placement policies and shared code. See include/decide/score.h. */
#include "decide/score.h"
#include "ledger/domains.h"
#include "replicas.h"
#include "score_policy.h"

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

struct score *score_begin(const struct cluster *cluster, const struct fit_question *question,
                          struct arena *arena)
{
    const struct pod_shape *shape = question->shape;
    struct score *score = ARENA_NEW(arena, struct score);
    score->cluster = cluster;
    score->shape = shape;
    find_demands(score, question->asker.uid, arena);
    score->replicas = replicas_begin(cluster, question, arena);
    score->policy = POLICIES[cluster_policy(cluster)->placement];
    score->has_domains = score->policy->domains.compute && cluster_end_of_domains(cluster) > 0;
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
    score_reprice(score);
    return score;
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
    return !score->replicas && !score_knows_claims(score);
}

void score_reprice(struct score *score)
{
    if (score->policy->reprice)
        score->policy->reprice(score);
}

double score_price(const struct score *score, const struct node *node)
{
    const double price =
        score->policy->price.compute ? score->policy->price.compute(score, node) : 0;
    return score->has_domains ? price + score->policy->domains.compute(score, node) : price;
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

struct cost score_cost(const struct score *score, const struct node *node)
{
    const struct replicas_near near = score_near(score, node);
    struct cost cost = {0, score_price(score, node), score_near_cost(score, &near)};
    for (const struct score_part *part = score->policy->own; part->compute; part++)
        cost.own += part->compute(score, node);
    return cost;
}

size_t score_terms(const struct score *score, const struct node *node,
                   struct score_term ret_terms[SCORE_TERMS_MAX])
{
    size_t n = 0;
    for (const struct score_part *part = score->policy->own; part->compute; part++)
        ret_terms[n++] = (struct score_term){part->name, part->compute(score, node)};
    if (score->policy->price.compute)
        ret_terms[n++] = (struct score_term){score->policy->price.name,
                                             score->policy->price.compute(score, node)};
    if (score->has_domains)
        ret_terms[n++] = (struct score_term){score->policy->domains.name,
                                             score->policy->domains.compute(score, node)};
    const struct replicas_near near = score_near(score, node);
    if (score->replicas)
        ret_terms[n++] = (struct score_term){"replicasNear", score_near_cost(score, &near)};
    return n;
}
