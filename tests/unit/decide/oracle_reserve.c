/* oracle_reserve: see oracle_reserve.h. */
#include "oracle_reserve.h"

static const enum oracle_resource GPUS[] = {AMD_GPU, NVIDIA_GPU, MIG};
#define N_GPUS (sizeof GPUS / sizeof *GPUS)

static bool has_free(const struct oracle *oracle, size_t node, size_t resource, int64_t demand,
                     int64_t kept)
{
    int64_t free = oracle->nodes[node].allocatable[resource];
    bool too_low = __builtin_sub_overflow(free, oracle_used(oracle, node, resource), &free);
    too_low |= __builtin_sub_overflow(free, oracle_reserved(oracle, node, resource), &free);
    too_low |= __builtin_sub_overflow(free, kept, &free);
    return !too_low && free >= demand;
}

static enum reason judge_resource(const struct oracle *oracle,
                                  const struct oracle_question *question,
                                  const struct oracle_pod *pod, size_t resource)
{
    const size_t i = question->node;
    const struct oracle_node *node = &oracle->nodes[i];
    const int64_t demand = pod->shape.demand[resource];
    if (demand == 0 || oracle_gives_by_claim(oracle, i, resource))
        return REASON_FITS;
    if (node->capacity[resource] <= 0 && node->allocatable[resource] <= 0)
        return REASON_GPU_ABSENT;
    if (node->allocatable[resource] < demand)
        return REASON_GPU_TOTAL;
    if (!has_free(oracle, i, resource, demand, 0))
        return REASON_GPU_FREE;
    const int64_t kept = oracle_kept(oracle, i, resource, question->pod, pod);
    return has_free(oracle, i, resource, demand, kept) ? REASON_FITS : REASON_GPU_NOMINATED;
}

/* Judges only the GPUs of the model: kube-scheduler judges the rest. */
static enum reason judge(const struct oracle *oracle, const struct oracle_question *question,
                         const struct oracle_pod *pod)
{
    if (pod->refusal != 0)
        return REASON_POD_INVALID;
    if (!oracle->node_there[question->node])
        return REASON_NODE_UNKNOWN;
    enum reason first = REASON_FITS;
    for (size_t g = 0; g < N_GPUS; g++) {
        const enum reason reason = judge_resource(oracle, question, pod, GPUS[g]);
        if (reason != REASON_FITS && (first == REASON_FITS || reason < first))
            first = reason;
    }
    return first;
}

static struct oracle_result of_pod(const struct oracle_pod *pod, size_t node)
{
    struct oracle_result result = {RESERVE_HELD, REASON_FITS, ORACLE_NOWHERE};
    if (pod->node == (int64_t)node) {
        result.verdict = RESERVE_BOUND_HERE;
    } else if (pod->node != ORACLE_NOWHERE) {
        result.verdict = RESERVE_BOUND_ELSEWHERE;
        result.node = pod->node;
    } else if (pod->finished || pod->terminating) {
        result.verdict = RESERVE_POD_GONE;
    }
    return result;
}

static struct oracle_result hold(struct oracle *oracle, const struct oracle_question *question,
                                 const struct oracle_pod *pod)
{
    struct oracle_result result = {RESERVE_HELD, REASON_FITS, ORACLE_NOWHERE};
    result.reason = judge(oracle, question, pod);
    if (result.reason != REASON_FITS) {
        result.verdict = RESERVE_REFUSED;
        return result;
    }
    oracle->holds[question->pod] = (struct oracle_hold){
        true, pod->shape, (int64_t)question->node, pod->name, question->now_ms, pod->owner};
    oracle->n_changes++;
    return result;
}

struct oracle_result oracle_reserve(struct oracle *oracle, const struct oracle_question *question)
{
    const struct oracle_hold *held = &oracle->holds[question->pod];
    const struct oracle_pod *pod = question->facts;
    if (oracle->pod_there[question->pod])
        pod = &oracle->pods[question->pod];
    if (!pod)
        return (struct oracle_result){RESERVE_POD_UNKNOWN, REASON_FITS, ORACLE_NOWHERE};
    struct oracle_result result = of_pod(pod, question->node);
    if (result.verdict != RESERVE_HELD)
        return result;
    if (held->there && held->node != (int64_t)question->node)
        return (struct oracle_result){RESERVE_HELD_ELSEWHERE, REASON_FITS, held->node};
    return held->there ? result : hold(oracle, question, pod);
}
