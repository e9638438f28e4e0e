/* fit: see include/core/fit.h. */
#include "core/fit.h"
#include "core/quota.h"
#include "core/reserve.h"
#include "glance.h"
#include "gpu_parts.h"

#include <string.h>

struct reason_row {
    const char *name;
    const char *message;
    const char *help;
};

#define PREFIX "gpu-extender: "

static const struct reason_row REASONS[N_REASONS] = {
    [REASON_FITS] = {"fits", PREFIX "the pod fits", ""},
    [REASON_POD_INVALID] = {"pod_invalid", PREFIX "the pod asks for what cannot be",
                            "correct what the message names, and make the pod again"},
    [REASON_NODE_UNKNOWN] = {"node_unknown", PREFIX "the node is not in the inventory",
                             "wait until the node has registered with the API server"},
    [REASON_NODE_NAME] = {"node_name", PREFIX "the pod's spec.nodeName is another node",
                          "leave spec.nodeName out, or name this node there"},
    [REASON_UNSCHEDULABLE] = {"unschedulable", PREFIX "the node is cordoned",
                              "uncordon the node (kubectl uncordon)"},
    [REASON_TAINT] = {"taint", PREFIX "the node has a taint that the pod does not tolerate",
                      "add a toleration to the pod, or take the taint off the node"},
    [REASON_NODE_SELECTOR] = {"node_selector",
                              PREFIX "the node's labels are not those of the pod's nodeSelector",
                              "correct the pod's nodeSelector, or label the node"},
    [REASON_NODE_AFFINITY] = {"node_affinity",
                              PREFIX "the node does not match the pod's required node affinity",
                              "correct the pod's node affinity, or label the node"},
    [REASON_LEGACY_AFFINITY] = {"legacy_affinity",
                                PREFIX "the node does not match the pod's annotation "
                                       "scheduler.alpha.kubernetes.io/affinity",
                                "correct the annotation, or label the node"},
    [REASON_GPU_ABSENT] = {"gpu_absent", PREFIX "the node has no GPUs of the requested resource",
                           "ask for a GPU resource that the node has, or see to its device plugin"},
    [REASON_GPU_SHARED] = {"gpu_shared", PREFIX "the node shares its GPUs among pods",
                           "where a share of a GPU will do, set the pod's annotation "
                           "gpu-extender.io/allow-shared to true"},
    [REASON_GPU_MIG] = {"gpu_mig", PREFIX "the node's GPUs are MIG slices, not whole ones",
                        "where a slice will do, set the pod's annotation "
                        "gpu-extender.io/allow-shared to true, or name the slice in its "
                        "gpu-extender.io/models"},
    [REASON_MODEL_UNKNOWN] = {"model_unknown", PREFIX "the node's GPU model is not known",
                              "label the node with its GPU model (policy models.labels)"},
    [REASON_MODEL_EXCLUDED] = {"model_excluded", PREFIX "the pod excludes the node's GPU model",
                               "take the model out of the pod's gpu-extender.io/exclude-models"},
    [REASON_MODEL_NOT_WANTED] = {"model_not_wanted",
                                 PREFIX "the node's GPU model is not one that the pod asks for",
                                 "add the model to the pod's gpu-extender.io/models"},
    [REASON_GPU_MEMORY] = {"gpu_memory",
                           PREFIX "the node's GPUs have less memory than the pod asks for",
                           "lower the pod's gpu-extender.io/min-gpu-memory"},
    [REASON_GPU_TOTAL] = {"gpu_total", PREFIX "the node has too few GPUs in total",
                          "ask for fewer GPUs a pod, and for more pods"},
    [REASON_NAMESPACE_UNKNOWN] =
        {"namespace_unknown",
         PREFIX "the pod's namespace is not known yet, and quotas select by label",
         "wait: the watch shows a new namespace within moments"},
    [REASON_QUOTA] = {"quota", PREFIX "a quota of the pod's namespace leaves too few GPUs",
                      "wait until pods of the namespaces that share the quota end, or raise the "
                      "quota"},
    [REASON_GPU_FREE] = {"gpu_free", PREFIX "the node has too few free GPUs now",
                         "wait until pods there end, or evict some"},
    [REASON_GPU_NOMINATED] = {"gpu_nominated",
                              PREFIX "the node's free GPUs are kept for a nominated pod",
                              "wait, or give the pod a higher priority than that of the "
                              "nominated one"},
    [REASON_QUOTA_CLAIMED] = {"quota_claimed",
                              PREFIX
                              "the rest of the quota is claimed by pods that are being bound",
                              "wait until these pods are bound, or have failed to be"},
    [REASON_CPU] = {"cpu", PREFIX "the node has too little free CPU",
                    "ask for less CPU, or wait until pods there end"},
    [REASON_MEMORY] = {"memory", PREFIX "the node has too little free memory",
                       "ask for less memory, or wait until pods there end"},
    [REASON_PODS] = {"pods", PREFIX "the node has no free pod slot",
                     "wait until pods there end, or raise the kubelet's maxPods"},
    [REASON_RESOURCE] = {"resource", PREFIX "the node has too little of another resource",
                         "ask for less of the resource, or wait until pods there end"},
};

const char *reason_name(enum reason reason)
{
    return REASONS[reason].name;
}

const char *reason_message(enum reason reason)
{
    return REASONS[reason].message;
}

const char *reason_text(enum reason reason)
{
    return REASONS[reason].message + strlen(PREFIX);
}

const char *reason_help(enum reason reason)
{
    return REASONS[reason].help;
}

const char *fit_message(const struct node *node, const struct fit_question *question,
                        enum reason verdict)
{
    return verdict == REASON_QUOTA ? quota_refusal(question->quota, node) : reason_message(verdict);
}

const char *fit_text(const struct node *node, const struct fit_question *question,
                     enum reason verdict)
{
    return fit_message(node, question, verdict) + strlen(PREFIX);
}

/* What is free on the node, to the pod that asks: what it holds itself too, and what others would
 * give back. Where a sum was cut at INT64_MAX, no share of it is known, and nothing of it is free.
 */
static int64_t free_to(const struct node *node, const struct fit_question *question,
                       const struct resource *resource)
{
    const struct node_resource *has = node_find_resource(node, resource);
    const struct reservation *own = question->own;
    if (!has)
        return 0;
    struct node_resource without = *has;
    if (own && has->reserved < INT64_MAX && strcmp(own->node_name, node_name(node)) == 0)
        without.reserved -= shape_need(own->shape, resource);
    if (has->used < INT64_MAX && has->reserved < INT64_MAX)
        without.used -= needs_find(question->freed, question->n_freed, resource);
    return node_resource_free(&without);
}

/* What is free, without what is kept for others. */
static int64_t less_kept(int64_t free, const struct node *node, const struct fit_question *question,
                         const struct resource *resource)
{
    int64_t left = 0;
    const int64_t kept = nominate_kept(node, &question->asker, resource);
    return __builtin_sub_overflow(free, kept, &left) ? INT64_MIN : left;
}

int64_t fit_left(const struct node *node, const struct fit_question *question,
                 const struct resource *resource)
{
    if (node_gives_by_claim(node, resource))
        return INT64_MAX;
    return less_kept(free_to(node, question, resource), node, question, resource);
}

static int64_t lack_of(int64_t amount, int64_t there)
{
    if (there >= amount)
        return 0;
    int64_t lack = 0;
    return __builtin_sub_overflow(amount, there, &lack) ? INT64_MAX : lack;
}

int64_t fit_lack(const struct node *node, const struct fit_question *question,
                 const struct need *need)
{
    if (node_gives_by_claim(node, need->resource))
        return 0;
    const int64_t lack = lack_of(need->amount, free_to(node, question, need->resource));
    return lack > 0 ? lack : lack_of(need->amount, fit_left(node, question, need->resource));
}

/* The cordon is judged as the taint that Kubernetes' NodeUnschedulable plugin sees in it. */
static bool tolerates_cordon(const struct shape_facts *facts)
{
    static const struct taint CORDON = {"node.kubernetes.io/unschedulable", "", TAINT_NO_SCHEDULE};
    return !taints_first_untolerated(&CORDON, 1, facts->tolerations, facts->n_tolerations);
}

static enum reason judge_admission(const struct node_traits *traits,
                                   const struct shape_facts *facts)
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

static bool is_one_of(const struct node_traits *traits, const struct gpu_model *models, size_t n)
{
    for (size_t i = 0; i < n; i++) {
        if (gpu_model_satisfies(&traits->model, traits->gpu_memory_bytes, &models[i]))
            return true;
    }
    return false;
}

/* Then any model will do: judge_model(). */
static bool wants_no_model(const struct model_wants *wants)
{
    return wants->n_accept + wants->n_exclude == 0 && wants->min_memory_bytes == 0;
}

static enum reason judge_model(const struct node_traits *traits, const struct model_wants *wants)
{
    if (wants->n_accept + wants->n_exclude > 0 && !traits->model.chip[0])
        return REASON_MODEL_UNKNOWN;
    if (is_one_of(traits, wants->exclude, wants->n_exclude))
        return REASON_MODEL_EXCLUDED;
    if (wants->n_accept > 0 && !is_one_of(traits, wants->accept, wants->n_accept))
        return REASON_MODEL_NOT_WANTED;
    if (wants->min_memory_bytes > 0 &&
        !gpu_memory_is_enough(traits->gpu_memory_bytes, wants->min_memory_bytes))
        return REASON_GPU_MEMORY;
    return REASON_FITS;
}

/* What comes by a claim is no GPU that the labels speak of. */
static bool asks_for_whole_gpus(const struct node *node, const struct pod_shape *shape)
{
    for (size_t i = 0; i < shape->n_gpu_needs; i++) {
        const struct resource *resource = shape->needs[i].resource;
        if (gpu_parts_concern(resource->name) && !node_gives_by_claim(node, resource))
            return true;
    }
    return false;
}

/* The pod's own word counts for more than the policy's. Who names a way of sharing among the models
 * wants that one, and the model is judged later. */
static bool allows(const struct node_traits *traits, const struct shape_facts *facts,
                   enum gpu_sharing sharing)
{
    if (facts->allow_shared != ALLOW_SHARED_BY_POLICY)
        return facts->allow_shared == ALLOW_SHARED_YES;
    for (size_t i = 0; i < facts->wants.n_accept; i++) {
        if (facts->wants.accept[i].sharing == sharing &&
            is_one_of(traits, &facts->wants.accept[i], 1))
            return true;
    }
    return traits->view.policy->allow_shared;
}

static enum reason judge_wholeness(const struct node *node, const struct pod_shape *shape)
{
    const struct node_traits *traits = node_traits(node);
    if ((!traits->shares_gpus && !traits->slices_gpus) || !asks_for_whole_gpus(node, shape))
        return REASON_FITS;
    if (traits->shares_gpus && !allows(traits, &shape->facts, GPU_TIME_SHARED))
        return REASON_GPU_SHARED;
    if (traits->slices_gpus && !allows(traits, &shape->facts, GPU_MIG_SLICED))
        return REASON_GPU_MIG;
    return REASON_FITS;
}

static bool has_any(const struct node *node, const struct need *need)
{
    const struct node_resource *has = node_find_resource(node, need->resource);
    return has && (has->capacity > 0 || has->allocatable > 0);
}

static bool has_total(const struct node *node, const struct need *need)
{
    return node_gives_by_claim(node, need->resource) ||
           node_find_resource(node, need->resource)->allocatable >= need->amount;
}

static bool lacks_any_gpu_resource(const struct node *node, const struct pod_shape *shape)
{
    for (size_t i = 0; i < shape->n_gpu_needs; i++) {
        if (!has_any(node, &shape->needs[i]) &&
            !node_gives_by_claim(node, shape->needs[i].resource))
            return true;
    }
    return false;
}

static enum reason judge_room(const struct node *node, const struct fit_question *question)
{
    const struct pod_shape *shape = question->shape;
    enum reason reason = REASON_FITS;
    for (size_t i = 0; i < shape->n_gpu_needs; i++) {
        const struct need *need = &shape->needs[i];
        if (node_gives_by_claim(node, need->resource))
            continue;
        const int64_t free = free_to(node, question, need->resource);
        if (free < need->amount)
            return REASON_GPU_FREE;
        if (less_kept(free, node, question, need->resource) < need->amount)
            reason = REASON_GPU_NOMINATED;
    }
    return reason;
}

static enum reason judge_gpus(const struct node *node, const struct fit_question *question)
{
    const struct pod_shape *shape = question->shape;
    for (size_t i = 0; i < shape->n_gpu_needs; i++) {
        if (!has_total(node, &shape->needs[i]))
            return REASON_GPU_TOTAL;
    }
    const enum reason reason = quota_judge(question->quota, node);
    if (reason != REASON_FITS && reason != REASON_QUOTA_CLAIMED)
        return reason;
    const enum reason room = judge_room(node, question);
    return room == REASON_FITS ? reason : room;
}

enum reason reason_of_lack(const struct resource *resource)
{
    if (resource->is_gpu)
        return REASON_GPU_FREE;
    if (strcmp(resource->name, "cpu") == 0)
        return REASON_CPU;
    if (strcmp(resource->name, "memory") == 0)
        return REASON_MEMORY;
    return strcmp(resource->name, "pods") == 0 ? REASON_PODS : REASON_RESOURCE;
}

static enum reason judge_other_resources(const struct node *node,
                                         const struct fit_question *question)
{
    const struct pod_shape *shape = question->shape;
    enum reason first = REASON_FITS;
    for (size_t i = shape->n_gpu_needs; i < shape->n_needs; i++) {
        if (fit_lack(node, question, &shape->needs[i]) == 0)
            continue;
        enum reason reason = reason_of_lack(shape->needs[i].resource);
        if (first == REASON_FITS || reason < first)
            first = reason;
    }
    return first;
}

const struct need *fit_by_claim(const struct node *node, const struct pod_shape *shape)
{
    for (size_t i = 0; i < shape->n_needs; i++) {
        if (node_gives_by_claim(node, shape->needs[i].resource))
            return &shape->needs[i];
    }
    return NULL;
}

bool fit_admits(const struct node *node, const struct pod_shape *shape)
{
    const struct node_traits *traits = node_traits(node);
    return judge_admission(traits, &shape->facts) == REASON_FITS &&
           node_selector_holds(&shape->facts.legacy_affinity, &traits->view);
}

bool fit_admits_model(const struct node *node, const struct pod_shape *shape)
{
    return fit_admits(node, shape) && judge_wholeness(node, shape) == REASON_FITS &&
           judge_model(node_traits(node), &shape->facts.wants) == REASON_FITS;
}

/* What the model alone decides: whether the pod may have it, and whether a quota leaves any. */
static enum reason judge_model_and_quota(const struct node *node,
                                         const struct fit_question *question)
{
    const enum reason reason = judge_model(node_traits(node), &question->shape->facts.wants);
    if (reason != REASON_FITS)
        return reason;
    return quota_judge(question->quota, node);
}

/* The same, asked once in a round about all nodes that have the model. */
static enum reason judge_known_model(const struct node *node, const struct fit_question *question,
                                     struct fit_round *round)
{
    const char *word = node_glance(node)->model_word;
    if (wants_no_model(&question->shape->facts.wants) && !question->quota)
        return REASON_FITS;
    if (!round)
        return judge_model_and_quota(node, question);
    struct known_model *known = &round->known[((uintptr_t)word >> 4) % N_KNOWN_MODELS];
    if (known->model_word != word)
        *known = (struct known_model){word, judge_model_and_quota(node, question)};
    return known->verdict;
}

/* Most pods want whole GPUs of one resource, and most nodes that are asked of have them: then only
 * the model is open, and who else may have the GPUs. What the pod holds itself, or others would
 * give back, could only add to what is free. */
static bool has_gpus_at_a_glance(const struct node *node, const struct pod_shape *shape)
{
    const struct node_glance *glance = node_glance(node);
    return shape->n_gpu_needs == 1 && glance->gpus == shape->needs[0].resource &&
           glance->free_gpus >= shape->needs[0].amount && !glance->has_parts &&
           !shape->facts.legacy_affinity.present;
}

static enum reason judge_step_by_step(const struct node *node, const struct fit_question *question)
{
    const struct pod_shape *shape = question->shape;
    const struct node_traits *traits = node_traits(node);
    if (!node_selector_holds(&shape->facts.legacy_affinity, &traits->view))
        return REASON_LEGACY_AFFINITY;
    if (lacks_any_gpu_resource(node, shape))
        return REASON_GPU_ABSENT;
    enum reason reason = judge_wholeness(node, shape);
    if (reason == REASON_FITS)
        reason = judge_model(traits, &shape->facts.wants);
    return reason == REASON_FITS ? judge_gpus(node, question) : reason;
}

static enum reason judge_ours(const struct node *node, const struct fit_question *question,
                              struct fit_round *round)
{
    if (!has_gpus_at_a_glance(node, question->shape))
        return judge_step_by_step(node, question);
    const enum reason reason = judge_known_model(node, question, round);
    if ((reason != REASON_FITS && reason != REASON_QUOTA_CLAIMED) ||
        !node_glance(node)->has_nominations)
        return reason;
    const enum reason room = judge_room(node, question);
    return room == REASON_FITS ? reason : room;
}

static bool is_named_elsewhere(const struct node *node, const char *name)
{
    return name && name[0] && strcmp(name, node_name(node)) != 0;
}

/* round: of this question, or NULL. */
static enum reason judge(const struct node *node, const struct fit_question *question,
                         struct fit_round *round)
{
    const struct pod_shape *shape = question->shape;
    if (question->refusal)
        return REASON_POD_INVALID;
    if (!node)
        return REASON_NODE_UNKNOWN;
    if (question->scope == FIT_OURS)
        return judge_ours(node, question, round);
    if (is_named_elsewhere(node, question->node_name))
        return REASON_NODE_NAME;
    enum reason reason = judge_admission(node_traits(node), &shape->facts);
    if (reason == REASON_FITS)
        reason = judge_ours(node, question, round);
    return reason == REASON_FITS ? judge_other_resources(node, question) : reason;
}

enum reason fit_judge(const struct node *node, const struct fit_question *question)
{
    return judge(node, question, NULL);
}

enum reason fit_judge_next(struct fit_round *round, const struct node *node)
{
    return judge(node, round->question, round);
}

int64_t fit_count(const struct node *node, const struct fit_question *question)
{
    if (fit_judge(node, question) != REASON_FITS)
        return 0;
    const struct pod_shape *shape = question->shape;
    const size_t n_judged = question->scope == FIT_OURS ? shape->n_gpu_needs : shape->n_needs;
    int64_t count = quota_count(question->quota, node);
    for (size_t i = 0; i < n_judged; i++) {
        const struct need *need = &shape->needs[i];
        if (node_gives_by_claim(node, need->resource))
            return 0;
        int64_t more = fit_left(node, question, need->resource) / need->amount;
        count = more < count ? more : count;
    }
    return count;
}
