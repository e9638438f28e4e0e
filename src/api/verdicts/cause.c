/* cause: see cause.h. */
#include "api/verdicts/cause.h"
#include "base/mem.h"
#include "decide/fit.h"
#include "ledger/admit.h"

#include <string.h>

const char *cause_name(enum verdict_cause cause)
{
    static const char *const NAMES[N_CAUSES] = {
        [CAUSE_NONE] = "",
        [CAUSE_REQUEST] = "request",
        [CAUSE_GATE] = "gate",
        [CAUSE_MISSING] = "missing",
        [CAUSE_NAME] = "name",
        [CAUSE_QUOTA] = "quota",
        [CAUSE_FREE_GPUS] = "freeGpus",
        [CAUSE_KEPT_GPUS] = "keptGpus",
        [CAUSE_RESOURCES] = "resources",
        [CAUSE_TOTAL] = "total",
        [CAUSE_CLOSED] = "closed",
        [CAUSE_TAINT] = "taint",
        [CAUSE_PODS] = "pods",
        [CAUSE_MODEL] = "model",
        [CAUSE_LABEL] = "label",
        [CAUSE_SHARED] = "shared",
        [CAUSE_CLAIMS] = "claims",
        [CAUSE_SCHEDULER] = "scheduler",
        [CAUSE_GROUP] = "group",
        [CAUSE_LIMIT] = "limit",
    };
    return NAMES[cause];
}

/* Whether an untolerated taint says that the node is closed, as Kubernetes itself sets it. */
static bool is_closed(const struct node *node, const struct shape_facts *facts)
{
    const struct node_traits *traits = node_traits(node);
    for (size_t i = 0; i < traits->n_taints; i++) {
        if (strncmp(traits->taints[i].key, "node.kubernetes.io/", 19) == 0 &&
            taints_first_untolerated(&traits->taints[i], 1, facts->tolerations,
                                     facts->n_tolerations))
            return true;
    }
    return false;
}

enum verdict_cause cause_of_reason(enum reason reason, const struct node *node,
                                   const struct shape_facts *facts)
{
    static const enum verdict_cause CAUSES[N_REASONS] = {
        [REASON_POD_INVALID] = CAUSE_REQUEST,       [REASON_NODE_UNKNOWN] = CAUSE_LABEL,
        [REASON_NODE_NAME] = CAUSE_LABEL,           [REASON_UNSCHEDULABLE] = CAUSE_CLOSED,
        [REASON_NODE_SELECTOR] = CAUSE_LABEL,       [REASON_NODE_AFFINITY] = CAUSE_LABEL,
        [REASON_LEGACY_AFFINITY] = CAUSE_LABEL,     [REASON_GPU_ABSENT] = CAUSE_TOTAL,
        [REASON_GPU_SHARED] = CAUSE_SHARED,         [REASON_GPU_MIG] = CAUSE_SHARED,
        [REASON_MODEL_UNKNOWN] = CAUSE_MODEL,       [REASON_MODEL_EXCLUDED] = CAUSE_MODEL,
        [REASON_MODEL_NOT_WANTED] = CAUSE_MODEL,    [REASON_GPU_MEMORY] = CAUSE_MODEL,
        [REASON_GPU_MEMORY_UNKNOWN] = CAUSE_MODEL,  [REASON_GPU_TOTAL] = CAUSE_TOTAL,
        [REASON_NAMESPACE_UNKNOWN] = CAUSE_MISSING, [REASON_QUOTA] = CAUSE_QUOTA,
        [REASON_QUOTA_CLAIMED] = CAUSE_QUOTA,       [REASON_GPU_FREE] = CAUSE_FREE_GPUS,
        [REASON_GPU_NOMINATED] = CAUSE_KEPT_GPUS,   [REASON_GPU_KEPT] = CAUSE_KEPT_GPUS,
        [REASON_GANG_FORMING] = CAUSE_PODS,         [REASON_GANG_WAITING] = CAUSE_PODS,
        [REASON_GANG_PLACE] = CAUSE_PODS,           [REASON_CPU] = CAUSE_RESOURCES,
        [REASON_MEMORY] = CAUSE_RESOURCES,          [REASON_PODS] = CAUSE_RESOURCES,
        [REASON_RESOURCE] = CAUSE_RESOURCES,        [REASON_CLAIM_MISSING] = CAUSE_MISSING,
        [REASON_CLAIM_CLASS] = CAUSE_MISSING,
    };
    if (reason == REASON_TAINT)
        return is_closed(node, facts) ? CAUSE_CLOSED : CAUSE_TAINT;
    if (reason_is_of_peers(reason))
        return CAUSE_PODS;
    if (CAUSES[reason] == CAUSE_NONE && reason_is_of_claims(reason))
        return CAUSE_CLAIMS;
    return CAUSES[reason];
}

/* How far a node is from fitting. */
struct distance {
    int step; /* as in cause_find() */
    enum verdict_cause cause;
    int64_t in_total;   /* GPUs that even the empty node lacks, if that is the cause */
    int64_t gpu_memory; /* bytes that its GPUs lack, if their model is the cause */
    int64_t gpus, cpu, memory, others;
};

static void add(int64_t *sum, int64_t lack)
{
    if (__builtin_add_overflow(*sum, lack, sum))
        *sum = INT64_MAX;
}

static void add_lacks(struct distance *distance, const struct node *node,
                      const struct fit_question *question)
{
    const struct pod_shape *shape = question->shape;
    for (size_t i = 0; i < shape->n_needs; i++) {
        const struct need *need = &shape->needs[i];
        const struct node_resource *there = node_find_resource(node, need->resource);
        const int64_t total = there ? there->allocatable : 0;
        const bool is_gpu = i < shape->n_gpu_needs;
        int64_t *sum = is_gpu                                        ? &distance->gpus
                       : strcmp(need->resource->name, "cpu") == 0    ? &distance->cpu
                       : strcmp(need->resource->name, "memory") == 0 ? &distance->memory
                                                                     : &distance->others;
        add(sum, fit_lack(node, question, need));
        if (is_gpu && distance->cause == CAUSE_TOTAL && need->amount > total)
            add(&distance->in_total, need->amount - total);
    }
}

/* Of other models all that the pod asks for. */
static int64_t memory_lack(const struct node_verdict *candidate, const struct pod_shape *shape)
{
    const int64_t wanted = shape->facts.wants.min_memory_bytes;
    return candidate->verdict == REASON_GPU_MEMORY
               ? wanted - admit_memory_bytes(node_traits(candidate->node), shape)
               : wanted;
}

#define COMPARE(a, b) (((a) > (b)) - ((a) < (b)))

static int compare(const struct distance *a, const struct distance *b)
{
    if (a->step != b->step)
        return COMPARE(a->step, b->step);
    if (a->cause != b->cause)
        return COMPARE(a->cause, b->cause);
    if (a->in_total != b->in_total)
        return COMPARE(a->in_total, b->in_total);
    if (a->gpu_memory != b->gpu_memory)
        return COMPARE(a->gpu_memory, b->gpu_memory);
    if (a->gpus != b->gpus)
        return COMPARE(a->gpus, b->gpus);
    if (a->cpu != b->cpu)
        return COMPARE(a->cpu, b->cpu);
    if (a->memory != b->memory)
        return COMPARE(a->memory, b->memory);
    return COMPARE(a->others, b->others);
}

/* The variants of the question that tell the steps apart. */
struct variants {
    const struct fit_question *question;
    const struct near_miss *near_miss;
    struct pod_shape roomless;
    struct fit_question without_room;
};

struct fit_question cause_without_room(const struct fit_question *question,
                                       struct pod_shape *ret_shape)
{
    struct fit_question without = *question;
    *ret_shape = *question->shape;
    ret_shape->n_needs = ret_shape->n_gpu_needs = 0;
    without.shape = ret_shape;
    without.quota = NULL;
    return without;
}

static int step_of(const struct variants *variants, const struct node_verdict *candidate)
{
    const enum reason reason = candidate->verdict;
    const enum verdict_cause cause =
        cause_of_reason(reason, candidate->node, &variants->question->shape->facts);
    if (near_miss_is(variants->near_miss, candidate->node, reason))
        return 3;
    const bool is_amount = cause >= CAUSE_QUOTA && cause <= CAUSE_TOTAL;
    return is_amount && reason != REASON_GPU_ABSENT &&
                   fit_judge(candidate->node, &variants->without_room) == REASON_FITS
               ? 4
               : 5;
}

/* Whatever else rejects the pod there. */
static bool lacks_resource(const struct node_verdict *candidate, const struct pod_shape *shape)
{
    const struct resource *resource = shape->n_gpu_needs > 0 ? shape->needs[0].resource : NULL;
    return candidate->verdict == REASON_GPU_ABSENT ||
           (resource && !node_find_resource(candidate->node, resource) &&
            !node_gives_by_claim(candidate->node, resource));
}

/* The cause on most of the nodes that have the resource. */
static void count(const struct candidates *candidates, const struct pod_shape *shape,
                  struct decisive_cause *found)
{
    size_t counts[N_CAUSES] = {0};
    for (size_t i = 0; i < candidates->n; i++) {
        const struct node_verdict *candidate = &candidates->items[i];
        if (lacks_resource(candidate, shape))
            continue;
        found->n_of++;
        counts[cause_of_reason(candidate->verdict, candidate->node, &shape->facts)]++;
    }
    for (enum verdict_cause cause = CAUSE_NONE; cause < N_CAUSES; cause++) {
        if (counts[cause] > found->n) {
            found->n = counts[cause];
            found->cause = cause;
        }
    }
}

/* Whether the candidate is nearer, which it then replaces. Most are too far even if all that they
 * lack is alone, which is found without judging them again. */
static bool is_nearer(const struct variants *variants, const struct node_verdict *candidate,
                      enum verdict_cause decided, struct distance *least)
{
    const struct shape_facts *facts = &variants->question->shape->facts;
    const enum verdict_cause cause = cause_of_reason(candidate->verdict, candidate->node, facts);
    struct distance distance = {.step = 3, .cause = cause};
    add_lacks(&distance, candidate->node, variants->question);
    if (cause == CAUSE_MODEL)
        distance.gpu_memory = memory_lack(candidate, variants->question->shape);
    if (least->step > 0 && compare(&distance, least) >= 0)
        return false;
    distance.step = step_of(variants, candidate);
    if (distance.step > 3)
        distance.cause = distance.in_total = 0;
    distance.step += distance.step == 5 && cause != decided;
    if (least->step > 0 && compare(&distance, least) >= 0)
        return false;
    *least = distance;
    return true;
}

struct decisive_cause cause_find(const struct candidates *candidates,
                                 const struct fit_question *question)
{
    struct arena *arena CLEANUP(arena_free_ptr) = arena_new();
    const struct shape_facts *facts = &question->shape->facts;
    struct variants variants = {.question = question, .near_miss = near_miss_of(question, arena)};
    struct decisive_cause found = {.cause = CAUSE_TOTAL};
    struct distance least = {0};
    variants.without_room = cause_without_room(question, &variants.roomless);
    count(candidates, question->shape, &found);
    const enum verdict_cause most = found.cause;
    for (size_t i = 0; i < candidates->n; i++) {
        const struct node_verdict *candidate = &candidates->items[i];
        if (!is_nearer(&variants, candidate, most, &least))
            continue;
        found.node = candidate->node;
        found.reason = candidate->verdict;
    }
    found.is_alone = least.step == 3;
    found.lacks_amounts = least.step == 4;
    if (found.is_alone || found.lacks_amounts)
        found.cause = cause_of_reason(found.reason, found.node, facts);
    return found;
}
