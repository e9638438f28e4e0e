/* near_miss: see include/decide/fit.h. */
#include "base/arena.h"
#include "decide/fit.h"
#include "ledger/quarantine.h"

struct near_miss {
    /* For each reason, the question without its cause; shape NULL: no change helps. */
    struct fit_question without[N_REASONS];
};

static void tolerate(struct shape_facts *facts, const struct toleration *toleration,
                     struct arena *arena)
{
    struct toleration *tolerations =
        ARENA_ARRAY(arena, struct toleration, facts->n_tolerations + 1);
    for (size_t i = 0; i < facts->n_tolerations; i++)
        tolerations[i] = facts->tolerations[i];
    tolerations[facts->n_tolerations++] = *toleration;
    facts->tolerations = tolerations;
}

/* Removes the fact that causes the reason. Returns false if no fact does. */
static bool drop_fact(struct shape_facts *facts, enum reason reason, struct arena *arena)
{
    static const struct toleration CORDON = {
        .key = "node.kubernetes.io/unschedulable", .op = TOLERATION_EXISTS, .any_effect = true};
    static const struct toleration QUARANTINE = {
        .key = QUARANTINE_TOLERATION, .op = TOLERATION_EXISTS, .any_effect = true};
    static const struct toleration ALL = {.op = TOLERATION_EXISTS, .any_effect = true};
    if (reason == REASON_UNSCHEDULABLE)
        tolerate(facts, &CORDON, arena);
    else if (reason == REASON_TAINT)
        tolerate(facts, &ALL, arena);
    else if (reason == REASON_NODE_SELECTOR)
        facts->node_selector.n_requirements = 0;
    else if (reason == REASON_NODE_AFFINITY)
        facts->affinity.present = false;
    else if (reason == REASON_LEGACY_AFFINITY)
        facts->legacy_affinity.present = false;
    else if (reason == REASON_QUARANTINE || reason == REASON_SHAPE_TRAP)
        tolerate(facts, &QUARANTINE, arena);
    else if (reason == REASON_GPU_SHARED || reason == REASON_GPU_MIG)
        facts->allow_shared = ALLOW_SHARED_YES;
    else if (reason == REASON_MODEL_UNKNOWN)
        facts->wants.n_accept = facts->wants.n_exclude = 0;
    else if (reason == REASON_MODEL_EXCLUDED)
        facts->wants.n_exclude = 0;
    else if (reason == REASON_MODEL_NOT_WANTED)
        facts->wants.n_accept = 0;
    else if (reason == REASON_GPU_MEMORY || reason == REASON_GPU_MEMORY_UNKNOWN)
        facts->wants.min_memory_bytes = 0;
    else
        return false;
    return true;
}

/* All earlier verdicts stay. Totals and kept GPUs count as room too. */
static void drop_needs(struct pod_shape *shape, enum reason reason, struct arena *arena)
{
    const bool is_of_gpus = reason <= REASON_QUOTA_CLAIMED;
    const enum reason lack = is_of_gpus ? REASON_GPU_FREE : reason;
    struct need *needs = ARENA_ARRAY(arena, struct need, shape->n_needs);
    size_t n = 0;
    for (size_t i = 0; i < shape->n_needs; i++) {
        if (reason_of_lack(shape->needs[i].resource) != lack)
            needs[n++] = shape->needs[i];
    }
    shape->n_gpu_needs = is_of_gpus ? 0 : shape->n_gpu_needs;
    shape->needs = needs;
    shape->n_needs = n;
}

static bool is_of_quota(enum reason reason)
{
    return reason == REASON_QUOTA || reason == REASON_NAMESPACE_UNKNOWN ||
           reason == REASON_QUOTA_CLAIMED;
}

static bool is_of_room(enum reason reason)
{
    return reason >= REASON_GPU_TOTAL && !reason_is_of_peers(reason);
}

static const struct pod_shape *shape_without(const struct pod_shape *shape, enum reason reason,
                                             struct arena *arena)
{
    struct pod_shape *without = ARENA_NEW(arena, struct pod_shape);
    *without = *shape;
    if (reason_is_of_claims(reason))
        return NULL;
    if (is_of_quota(reason) || reason_is_of_peers(reason))
        return shape;
    if (is_of_room(reason))
        drop_needs(without, reason, arena);
    else if (!drop_fact(&without->facts, reason, arena))
        return NULL;
    return without;
}

struct near_miss *near_miss_of(const struct fit_question *question, struct arena *arena)
{
    struct near_miss *near_miss = ARENA_NEW(arena, struct near_miss);
    for (enum reason reason = REASON_FITS + 1; reason < N_REASONS; reason++) {
        near_miss->without[reason] = *question;
        if (is_of_quota(reason))
            near_miss->without[reason].quota = NULL;
        if (reason_is_of_peers(reason))
            near_miss->without[reason].peers = NULL;
        near_miss->without[reason].shape = shape_without(question->shape, reason, arena);
    }
    return near_miss;
}

bool near_miss_is(const struct near_miss *near_miss, const struct node *node, enum reason reason)
{
    const struct fit_question *without = &near_miss->without[reason];
    return without->shape && fit_judge(node, without) == REASON_FITS;
}
