/* plain_reserve: see plain_reserve.h. */
#include "plain_reserve.h"

static const enum plain_resource GPUS[] = {AMD_GPU, NVIDIA_GPU, MIG};
#define N_GPUS (sizeof GPUS / sizeof *GPUS)

static bool has_free(const struct plain *plain, size_t node, size_t resource, int64_t demand,
                     int64_t kept)
{
    int64_t free = plain->nodes[node].allocatable[resource];
    bool too_low = __builtin_sub_overflow(free, plain_used(plain, node, resource), &free);
    too_low |= __builtin_sub_overflow(free, plain_reserved(plain, node, resource), &free);
    too_low |= __builtin_sub_overflow(free, kept, &free);
    return !too_low && free >= demand;
}

static enum reason judge_resource(const struct plain *plain, const struct plain_question *question,
                                  const struct plain_pod *pod, size_t resource)
{
    const size_t i = question->node;
    const struct plain_node *node = &plain->nodes[i];
    const int64_t demand = pod->shape.demand[resource];
    if (demand == 0)
        return REASON_FITS;
    if (node->capacity[resource] <= 0 && node->allocatable[resource] <= 0)
        return REASON_GPU_ABSENT;
    if (node->allocatable[resource] < demand)
        return REASON_GPU_TOTAL;
    if (!has_free(plain, i, resource, demand, 0))
        return REASON_GPU_FREE;
    const int64_t kept = plain_kept(plain, i, resource, question->pod, pod);
    return has_free(plain, i, resource, demand, kept) ? REASON_FITS : REASON_GPU_NOMINATED;
}

/* Judges only the GPUs of the model: kube-scheduler judges the rest. */
static enum reason judge(const struct plain *plain, const struct plain_question *question,
                         const struct plain_pod *pod)
{
    if (pod->refusal != 0)
        return REASON_POD_INVALID;
    if (!plain->node_there[question->node])
        return REASON_NODE_UNKNOWN;
    enum reason first = REASON_FITS;
    for (size_t g = 0; g < N_GPUS; g++) {
        const enum reason reason = judge_resource(plain, question, pod, GPUS[g]);
        if (reason != REASON_FITS && (first == REASON_FITS || reason < first))
            first = reason;
    }
    return first;
}

static struct plain_result of_pod(const struct plain_pod *pod, size_t node)
{
    struct plain_result result = {RESERVE_HELD, REASON_FITS, PLAIN_NOWHERE};
    if (pod->node == (int64_t)node) {
        result.verdict = RESERVE_BOUND_HERE;
    } else if (pod->node != PLAIN_NOWHERE) {
        result.verdict = RESERVE_BOUND_ELSEWHERE;
        result.node = pod->node;
    } else if (pod->finished || pod->terminating) {
        result.verdict = RESERVE_POD_GONE;
    }
    return result;
}

static struct plain_result hold(struct plain *plain, const struct plain_question *question,
                                const struct plain_pod *pod)
{
    struct plain_result result = {RESERVE_HELD, REASON_FITS, PLAIN_NOWHERE};
    result.reason = judge(plain, question, pod);
    if (result.reason != REASON_FITS) {
        result.verdict = RESERVE_REFUSED;
        return result;
    }
    plain->holds[question->pod] = (struct plain_hold){
        true, pod->shape, (int64_t)question->node, pod->name, question->now_ms, pod->owner};
    plain->n_changes++;
    return result;
}

struct plain_result plain_reserve(struct plain *plain, const struct plain_question *question)
{
    const struct plain_hold *held = &plain->holds[question->pod];
    const struct plain_pod *pod = question->facts;
    if (plain->pod_there[question->pod])
        pod = &plain->pods[question->pod];
    if (!pod)
        return (struct plain_result){RESERVE_POD_UNKNOWN, REASON_FITS, PLAIN_NOWHERE};
    struct plain_result result = of_pod(pod, question->node);
    if (result.verdict != RESERVE_HELD)
        return result;
    if (held->there && held->node != (int64_t)question->node)
        return (struct plain_result){RESERVE_HELD_ELSEWHERE, REASON_FITS, held->node};
    return held->there ? result : hold(plain, question, pod);
}
