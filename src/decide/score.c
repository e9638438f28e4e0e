/* score: the table of placement policies, and what they share. See include/decide/score.h. */
#include "decide/score.h"
#include "replicas.h"
#include "score_policy.h"

static const struct score_policy *const POLICIES[N_PLACEMENT_POLICIES] = {
    [PLACEMENT_SLOT_PRICE] = &SCORE_SLOT_PRICE,
    [PLACEMENT_BINPACK] = &SCORE_BINPACK,
    [PLACEMENT_SPREAD] = &SCORE_SPREAD,
    [PLACEMENT_FGD] = &SCORE_FGD,
};

/* What the policy's classes lose by the score's pod on nodes of one supply that have one room. */
struct known_loss {
    const struct supply *supply; /* NULL: none is known here */
    struct room room;
    double loss;
};

/* A power of two. */
#define N_KNOWN_LOSSES ((size_t)1024)

struct score *score_begin(const struct cluster *cluster, const struct fit_question *question,
                          struct arena *arena)
{
    const struct pod_shape *shape = question->shape;
    struct score *score = ARENA_NEW(arena, struct score);
    score->cluster = cluster;
    score->shape = shape;
    score->replicas = replicas_begin(cluster, question, arena);
    score->policy = POLICIES[cluster_policy(cluster)->placement];
    score->milli_cores = shape_demand(&shape->facts, "cpu");
    score->memory_bytes = shape_demand(&shape->facts, "memory");
    score->wanted = ARENA_ARRAY(arena, struct wanted_gpus, shape->n_gpu_needs);
    for (size_t i = 0; i < shape->n_gpu_needs; i++) {
        struct wanted_gpus *wanted = &score->wanted[i];
        wanted->need = &shape->needs[i];
        wanted->market = cluster_market(cluster, wanted->need->resource);
        wanted->pressures =
            ARENA_ARRAY(arena, double, wanted->market ? wanted->market->n_supplies : 0);
    }
    score->known_losses = ARENA_ARRAY(arena, struct known_loss, N_KNOWN_LOSSES);
    score_reprice(score);
    return score;
}

const struct pod_shape *score_shape(const struct score *score)
{
    return score->shape;
}

bool score_goes_by_glance(const struct score *score)
{
    return !score->replicas && cluster_n_device_classes(score->cluster) == 0;
}

void score_reprice(struct score *score)
{
    if (score->policy->reprice)
        score->policy->reprice(score);
}

double score_price(const struct score *score, const struct node *node)
{
    return score->policy->price.reckon ? score->policy->price.reckon(score, node) : 0;
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

double cost_sum(const struct cost *cost)
{
    return cost->own + cost->price + cost->near;
}

struct cost score_cost(const struct score *score, const struct node *node)
{
    const struct replicas_near near = score_near(score, node);
    struct cost cost = {0, score_price(score, node), score_near_cost(score, &near)};
    for (const struct score_part *part = score->policy->own; part->reckon; part++)
        cost.own += part->reckon(score, node);
    return cost;
}

size_t score_terms(const struct score *score, const struct node *node,
                   struct score_term ret_terms[SCORE_TERMS_MAX])
{
    size_t n = 0;
    for (const struct score_part *part = score->policy->own; part->reckon; part++)
        ret_terms[n++] = (struct score_term){part->name, part->reckon(score, node)};
    if (score->policy->price.reckon)
        ret_terms[n++] = (struct score_term){score->policy->price.name, score_price(score, node)};
    const struct replicas_near near = score_near(score, node);
    if (score->replicas)
        ret_terms[n++] = (struct score_term){"replicasNear", score_near_cost(score, &near)};
    return n;
}

/* Rooms. */

/* What is left of the room with the score's pod there. */
static struct room room_left(const struct score *score, const struct resource *gpus,
                             const struct room *room)
{
    const struct room taken = {shape_need(score->shape, gpus), score->milli_cores,
                               score->memory_bytes};
    return room_less(room, &taken);
}

/* All that is summed is a whole number: it does not depend on the order of the classes. */
static double reckon_loss(const struct score *score, const struct market *market,
                          const struct supply *supply, const struct room *before, class_loss *loss)
{
    const struct room after = room_left(score, market->resource, before);
    double lost = 0;
    double n_live = 0;
    for (size_t i = 0; i < market->n_classes; i++) {
        const struct market_class *class = &market->classes[i];
        lost += (double)class->n_live * loss(class, before, &after, supply);
        n_live += (double)class->n_live;
    }
    return n_live > 0 ? lost / n_live : 0;
}

static bool is_known(const struct known_loss *known, const struct supply *supply,
                     const struct room *room)
{
    return known->supply == supply && known->room.gpus == room->gpus &&
           known->room.milli_cores == room->milli_cores &&
           known->room.memory_bytes == room->memory_bytes;
}

/* Where such a loss is kept; what was there gives way. */
static struct known_loss *find_place(const struct score *score, const struct supply *supply,
                                     const struct room *room)
{
    return &score->known_losses[room_hash(room, supply->index) & (N_KNOWN_LOSSES - 1)];
}

/* In a large cluster many nodes are alike, the empty ones first of all. */
static double loss_in(const struct score *score, const struct node *node,
                      const struct market *market, class_loss *loss)
{
    const struct gpu_offer offer = room_offer(node, market->resource);
    if (!offer.supply)
        return 0;
    const struct room room = room_on(node, offer.free);
    struct known_loss *known = find_place(score, offer.supply, &room);
    if (!is_known(known, offer.supply, &room))
        *known = (struct known_loss){offer.supply, room,
                                     reckon_loss(score, market, offer.supply, &room, loss)};
    return known->loss;
}

double score_typical_loss(const struct score *score, const struct node *node, class_loss *loss)
{
    double sum = 0;
    for (const struct market *market = cluster_next_market(score->cluster, NULL); market;
         market = cluster_next_market(score->cluster, market))
        sum += loss_in(score, node, market, loss);
    return sum;
}

double score_gpus_left(const struct score *score, const struct node *node)
{
    double sum = 0;
    for (size_t i = 0; i < score->shape->n_gpu_needs; i++) {
        const struct need *need = &score->shape->needs[i];
        const struct node_resource *has = node_find_resource(node, need->resource);
        sum += has ? (double)node_resource_free(has) - (double)need->amount : 0;
    }
    return sum;
}
