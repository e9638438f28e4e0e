/*
 * score_slot_price: the room that a pod takes from pods typical here, plus a price for models that
 * pods without a choice need. docs/PLACEMENT.md has the formulas and the evidence.
 */
#include "score_policy.h"

#define PRESSURE_MAX 3.0

static const struct slot_price_policy *parameters(const struct score *score)
{
    return &cluster_policy(score->cluster)->slot_price;
}

static double from_milli(int64_t milli)
{
    return (double)milli / 1000;
}

/* GPUs that pods of the class can use before the placement but not after it. */
static double gpus_lost(const struct demand_class *class, const struct room *before,
                        const struct room *after, const struct model_pool *pool)
{
    const int64_t slots = room_slots(before, class, pool);
    if (slots == 0)
        return 0;
    return (double)class->gpus * (double)(slots - room_slots(after, class, pool));
}

/* Emptier nodes cost more, so that they stay whole for pods that need a whole node. */
static double drain_of(const struct score *score, const struct wanted_gpus *wanted,
                       const struct node *node)
{
    const struct gpu_offer offer = room_offer(node, wanted->need->resource);
    if (!offer.there || !wanted->demand || wanted->demand->max_gpus == 0)
        return 0;
    const double free = (double)offer.free;
    const double left = free - (double)wanted->need->amount;
    return from_milli(parameters(score)->drain_weight_milli) * (free * free - left * left) /
           (double)wanted->demand->max_gpus;
}

static double slots_lost(const struct score *score, const struct node *node)
{
    return score_loss_typical(score, node, gpus_lost);
}

static double drain(const struct score *score, const struct node *node)
{
    double sum = 0;
    for (size_t i = 0; i < score->shape->n_gpu_needs; i++)
        sum += drain_of(score, &score->wanted[i], node);
    return sum;
}

static double all_free(const struct gpu_demand *demand)
{
    double sum = 0;
    for (size_t i = 0; i < demand->n_pools; i++)
        sum += (double)demand->pools[i]->free;
    return sum;
}

static double free_to(const struct gpu_demand *demand, const struct demand_class *class)
{
    double sum = 0;
    for (size_t i = 0; i < demand->n_pools; i++)
        sum += class->admitted[i] ? (double)demand->pools[i]->free : 0;
    return sum;
}

/* Share of demand confined to some models, divided by these models' share of the free GPUs. */
static double pressure(double share, double free_of_all, double free_of_them)
{
    return free_of_them > 0 ? share * free_of_all / free_of_them : PRESSURE_MAX;
}

static void add_pressure(const struct gpu_demand *demand, const struct demand_class *class,
                         double to_add, double *pressures)
{
    for (size_t i = 0; i < demand->n_pools; i++)
        pressures[i] += class->admitted[i] ? to_add : 0;
}

static void reprice_gpus(const struct slot_price_policy *policy, const struct gpu_demand *demand,
                         double *pressures)
{
    const double prior_gpus = from_milli(policy->prior_gpus_milli);
    const double free = all_free(demand);
    double wanted = prior_gpus;
    for (size_t i = 0; i < demand->n_classes; i++)
        wanted += (double)demand->classes[i].n_live * (double)demand->classes[i].gpus;
    const double share_of_prior =
        prior_gpus * from_milli(policy->prior_confined_milli) / (double)demand->n_pools / wanted;
    for (size_t i = 0; i < demand->n_pools; i++)
        pressures[i] = pressure(share_of_prior, free, (double)demand->pools[i]->free);
    for (size_t i = 0; i < demand->n_classes; i++) {
        const struct demand_class *class = &demand->classes[i];
        const double share = (double)class->n_live * (double)class->gpus / wanted;
        if (!class->unconfined)
            add_pressure(demand, class, pressure(share, free, free_to(demand, class)), pressures);
    }
    for (size_t i = 0; i < demand->n_pools; i++)
        pressures[i] = pressures[i] < PRESSURE_MAX ? pressures[i] : PRESSURE_MAX;
}

static void reprice(struct score *score)
{
    for (size_t i = 0; i < score->shape->n_gpu_needs; i++) {
        if (score->wanted[i].demand)
            reprice_gpus(parameters(score), score->wanted[i].demand, score->wanted[i].pressures);
    }
}

static double price(const struct score *score, const struct node *node)
{
    const double weight = from_milli(parameters(score)->pressure_weight_milli);
    double sum = 0;
    for (size_t i = 0; i < score->shape->n_gpu_needs; i++) {
        const struct wanted_gpus *wanted = &score->wanted[i];
        const struct model_pool *pool = room_offer(node, wanted->need->resource).pool;
        sum += weight * (double)wanted->need->amount *
               (pool ? wanted->pressures[pool->index] : PRESSURE_MAX);
    }
    return sum;
}

const struct score_policy SCORE_SLOT_PRICE = {
    .own = {{"slotsLost", slots_lost}, {"drain", drain}},
    .price = {"pressure", price},
    .reprice = reprice,
};
