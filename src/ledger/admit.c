/* admit: see include/ledger/admit.h. */
#include "ledger/admit.h"
#include "ledger.h"

/* Kubernetes' NodeUnschedulable plugin treats a cordon as this taint. */
static bool tolerates_cordon(const struct shape_facts *facts)
{
    static const struct taint CORDON = {"node.kubernetes.io/unschedulable", "", TAINT_NO_SCHEDULE};
    return !taints_first_untolerated(&CORDON, 1, facts->tolerations, facts->n_tolerations);
}

enum reason admit_by_labels(const struct node_traits *traits, const struct shape_facts *facts)
{
    if (traits->unschedulable && !tolerates_cordon(facts))
        return REASON_UNSCHEDULABLE;
    if (taints_first_untolerated(traits->taints, traits->n_taints, facts->tolerations,
                                 facts->n_tolerations))
        return REASON_TAINT;
    if (!selector_term_holds(&facts->node_selector, &traits->view))
        return REASON_NODE_SELECTOR;
    if (!node_selector_holds(&facts->affinity, &traits->view))
        return REASON_NODE_AFFINITY;
    return REASON_FITS;
}

const struct gpu_kind *admit_next_kind(const struct node_traits *traits,
                                       const struct pod_shape *shape, const struct gpu_kind *kind)
{
    if (traits->n_others == 0 || shape->n_gpu_needs == 0)
        return kind ? NULL : &traits->gpus;
    while ((kind = node_traits_next_kind(traits, kind))) {
        for (size_t i = 0; i < shape->n_gpu_needs; i++) {
            if (node_traits_gpus(traits, shape->needs[i].resource->name) == kind)
                return kind;
        }
    }
    return NULL;
}

bool admit_gives_model(const struct node_traits *traits, const struct pod_shape *shape,
                       const struct gpu_model *want)
{
    for (const struct gpu_kind *kind = NULL; (kind = admit_next_kind(traits, shape, kind));) {
        if (gpu_model_satisfies(&kind->model, kind->memory_bytes, want))
            return true;
    }
    return false;
}

static bool gives_one_of(const struct node_traits *traits, const struct pod_shape *shape,
                         const struct gpu_model *models, size_t n)
{
    for (size_t i = 0; i < n; i++) {
        if (admit_gives_model(traits, shape, &models[i]))
            return true;
    }
    return false;
}

static bool gives_known_model(const struct node_traits *traits, const struct pod_shape *shape)
{
    for (const struct gpu_kind *kind = NULL; (kind = admit_next_kind(traits, shape, kind));) {
        if (kind->model.chip[0])
            return true;
    }
    return false;
}

/* Of one unit of the resource; 0: unknown. */
static int64_t memory_of(const struct node_traits *traits, const struct need *need)
{
    const struct gpu_unit *unit = node_traits_unit(traits, need->resource->name);
    return unit ? unit->memory_bytes : node_traits_gpus(traits, need->resource->name)->memory_bytes;
}

int64_t admit_memory_bytes(const struct node_traits *traits, const struct pod_shape *shape)
{
    int64_t least = shape->n_gpu_needs > 0 ? INT64_MAX : traits->gpus.memory_bytes;
    for (size_t i = 0; i < shape->n_gpu_needs; i++) {
        const int64_t bytes = memory_of(traits, &shape->needs[i]);
        least = bytes < least ? bytes : least;
    }
    return least;
}

/* The memory of a whole GPU bounds that of a part of unknown size. */
static enum reason admit_memory(const struct node_traits *traits, const struct pod_shape *shape)
{
    const int64_t want = shape->facts.wants.min_memory_bytes;
    const int64_t least = want > 0 ? admit_memory_bytes(traits, shape) : 0;
    int64_t most = least;
    if (want == 0)
        return REASON_FITS;
    for (const struct gpu_kind *kind = NULL;
         least == 0 && (kind = admit_next_kind(traits, shape, kind));)
        most = kind->memory_bytes > most ? kind->memory_bytes : most;
    if (most > 0 && !gpu_memory_is_enough(most, want))
        return REASON_GPU_MEMORY;
    return least > 0 ? REASON_FITS : REASON_GPU_MEMORY_UNKNOWN;
}

enum reason admit_model(const struct node *node, const struct pod_shape *shape)
{
    const struct node_traits *traits = node_traits(node);
    const struct model_wants *wants = &shape->facts.wants;
    if (wants->n_accept + wants->n_exclude > 0 && !gives_known_model(traits, shape))
        return REASON_MODEL_UNKNOWN;
    if (gives_one_of(traits, shape, wants->exclude, wants->n_exclude))
        return REASON_MODEL_EXCLUDED;
    if (wants->n_accept > 0 && !gives_one_of(traits, shape, wants->accept, wants->n_accept))
        return REASON_MODEL_NOT_WANTED;
    return admit_memory(traits, shape);
}

/* The pod's annotation overrides the policy. A pod whose accepted models name this sharing wants
 * it; admit_model() judges the model. */
static bool allows(const struct node_traits *traits, const struct pod_shape *shape,
                   enum gpu_sharing sharing)
{
    const struct shape_facts *facts = &shape->facts;
    if (facts->allow_shared != ALLOW_SHARED_BY_POLICY)
        return facts->allow_shared == ALLOW_SHARED_YES;
    for (size_t i = 0; i < facts->wants.n_accept; i++) {
        if (facts->wants.accept[i].sharing == sharing &&
            admit_gives_model(traits, shape, &facts->wants.accept[i]))
            return true;
    }
    return traits->view.policy->allow_shared;
}

enum reason admit_wholeness(const struct node *node, const struct pod_shape *shape)
{
    const struct node_traits *traits = node_traits(node);
    bool shares = false;
    bool slices = false;
    for (size_t i = 0; i < shape->n_gpu_needs && traits->has_parts; i++) {
        const struct resource *resource = shape->needs[i].resource;
        const struct gpu_unit *unit = node_traits_unit(traits, resource->name);
        /* Labels do not describe GPUs that a resource claim provides. */
        if (!unit || node_gives_by_claim(node, resource))
            continue;
        shares |= unit->is_shared;
        slices |= unit->is_slice;
    }
    if (shares && !allows(traits, shape, GPU_TIME_SHARED))
        return REASON_GPU_SHARED;
    if (slices && !allows(traits, shape, GPU_MIG_SLICED))
        return REASON_GPU_MIG;
    return REASON_FITS;
}

bool admit_node(const struct node *node, const struct pod_shape *shape)
{
    const struct node_traits *traits = node_traits(node);
    return admit_by_labels(traits, &shape->facts) == REASON_FITS &&
           node_selector_holds(&shape->facts.legacy_affinity, &traits->view);
}

bool admit_gpus(const struct node *node, const struct pod_shape *shape)
{
    return admit_node(node, shape) && admit_wholeness(node, shape) == REASON_FITS &&
           admit_model(node, shape) == REASON_FITS;
}
