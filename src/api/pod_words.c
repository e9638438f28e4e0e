/* pod_words: a pod of the ledger in one sentence. See pod_json.h. */
#include "core/shape_limits.h"
#include "pod_json.h"

#include <inttypes.h>

/* "5 nvidia.com/gpu" */
static const char *gpus_text(const struct telling *telling, const struct shape_facts *facts)
{
    const struct policy *policy = cluster_policy(telling->fork);
    const char *text = "";
    for (size_t i = 0; i < facts->n_demand; i++) {
        if (policy_is_gpu_resource(policy, facts->demand[i].resource))
            text = arena_printf(telling->arena, "%s%s%" PRId64 " %s", text, text[0] ? ", " : "",
                                facts->demand[i].amount, facts->demand[i].resource);
    }
    return text[0] ? text : "no GPUs";
}

static const char *bound_text(const struct telling *telling, const struct pod_copy *copy)
{
    const struct pod *pod = &copy->pod;
    const bool is_there = cluster_find_node(telling->fork, pod->node_name) != NULL;
    return arena_printf(telling->arena, "is on the node %s and uses %s there%s%s", pod->node_name,
                        gpus_text(telling, &copy->shape->facts),
                        pod->terminating ? " until it is gone: it is being deleted" : "",
                        is_there ? "" : "; that node is not in the inventory");
}

static const char *verdict_text(const struct telling *telling, const struct pod_copy *copy,
                                const struct judged *judged)
{
    struct arena *arena = telling->arena;
    if (copy->pod.refusal)
        return arena_printf(arena, "can run nowhere: %s", copy->pod.refusal);
    if (copy->reserved_node)
        return arena_printf(arena, "is being bound to %s, where room is held for it",
                            copy->reserved_node);
    if (copy->shape->facts.over)
        return arena_printf(arena, "was not judged: %s", shape_limit_text(copy->shape->facts.over));
    if (!judged)
        return "was not judged, as too many different pods are pending: ask about it alone";
    if (judged->n_nodes == 0)
        return "there are no nodes";
    if (judged->n_fits == 0)
        return judged->counts;
    return arena_printf(
        arena, "would fit on %zu of %zu nodes now%s, best on %s", judged->n_fits, judged->n_nodes,
        copy->pod.not_evaluated || judged->has_claims ? " by what is judged" : "", judged->best);
}

static const char *pending_text(const struct telling *telling, const struct pod_copy *copy,
                                const struct judged *judged)
{
    const struct pod *pod = &copy->pod;
    struct arena *arena = telling->arena;
    const char *text = verdict_text(telling, copy, judged);
    if (pod->nominated_node[0])
        text =
            arena_printf(arena, "%s; room is being made for it on %s", text, pod->nominated_node);
    if (pod->gated)
        text = arena_printf(arena, "waits until its scheduling gates are gone; %s", text);
    return pod->terminating ? arena_printf(arena, "is being deleted; %s", text) : text;
}

const char *pod_summary(const struct telling *telling, const struct pod_copy *copy,
                        const struct judged *judged)
{
    const struct pod *pod = &copy->pod;
    const char *text = "has ended and uses nothing";
    if (pod_is_pending(pod))
        text = pending_text(telling, copy, judged);
    else if (!pod->finished)
        text = bound_text(telling, copy);
    return arena_printf(telling->arena, "%s/%s: %s", pod->namespace_, pod->name, text);
}
