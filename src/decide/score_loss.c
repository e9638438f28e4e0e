/* score_loss: what a pod on a node costs the pods that are typical here. See score_policy.h. */
#include "score_policy.h"

/* Cached loss of the policy's classes on nodes of one pool with equal room. */
struct known_loss {
    const struct model_pool *pool; /* NULL: the entry is empty */
    struct room room;
    double loss;
};

/* A power of two. */
#define N_KNOWN_LOSSES ((size_t)1024)

struct known_loss *score_loss_begin(struct arena *arena)
{
    struct known_loss *known = ARENA_ARRAY_UNSET(arena, struct known_loss, N_KNOWN_LOSSES);
    for (size_t i = 0; i < N_KNOWN_LOSSES; i++)
        known[i].pool = NULL;
    return known;
}

/* The room that remains with the score's pod there. */
static struct room room_left(const struct score *score, const struct resource *gpus,
                             const struct room *room)
{
    const struct room taken = {shape_need(score->shape, gpus), score->milli_cores,
                               score->memory_bytes};
    return room_less(room, &taken);
}

/* Sums whole numbers, so the order of classes does not matter. */
static double compute_loss(const struct score *score, const struct gpu_demand *demand,
                           const struct model_pool *pool, const struct room *before,
                           class_loss *loss)
{
    const struct room after = room_left(score, demand->resource, before);
    double lost = 0;
    double n_live = 0;
    for (size_t i = 0; i < demand->n_classes; i++) {
        const struct demand_class *class = &demand->classes[i];
        lost += (double)class->n_live * loss(class, before, &after, pool);
        n_live += (double)class->n_live;
    }
    return n_live > 0 ? lost / n_live : 0;
}

static bool is_known(const struct known_loss *known, const struct model_pool *pool,
                     const struct room *room)
{
    return known->pool == pool && known->room.gpus == room->gpus &&
           known->room.milli_cores == room->milli_cores &&
           known->room.memory_bytes == room->memory_bytes;
}

/* The cache entry for this loss; another one there is replaced. */
static struct known_loss *find_place(const struct score *score, const struct model_pool *pool,
                                     const struct room *room)
{
    return &score->known_losses[room_hash(room, pool->index) & (N_KNOWN_LOSSES - 1)];
}

/* Cached, because many nodes of a large cluster are alike, empty ones above all. */
static double loss_in(const struct score *score, const struct node *node,
                      const struct gpu_demand *demand, class_loss *loss)
{
    const struct gpu_offer offer = room_offer(node, demand->resource);
    if (!offer.pool)
        return 0;
    const struct room room = room_on(node, offer.free);
    struct known_loss *known = find_place(score, offer.pool, &room);
    if (!is_known(known, offer.pool, &room))
        *known = (struct known_loss){offer.pool, room,
                                     compute_loss(score, demand, offer.pool, &room, loss)};
    return known->loss;
}

double score_loss_typical(const struct score *score, const struct node *node, class_loss *loss)
{
    double sum = 0;
    for (size_t i = 0; i < score->n_demands; i++)
        sum += loss_in(score, node, score->demands[i], loss);
    return sum;
}

double score_loss_gpus_left(const struct score *score, const struct node *node)
{
    double sum = 0;
    for (size_t i = 0; i < score->shape->n_gpu_needs; i++) {
        const struct need *need = &score->shape->needs[i];
        const struct gpu_offer offer = room_offer(node, need->resource);
        sum += offer.there ? (double)offer.free - (double)need->amount : 0;
    }
    return sum;
}
