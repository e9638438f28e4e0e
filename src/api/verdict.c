/* verdict: see verdict.h. */
#include "verdict.h"

#include <inttypes.h>
#include <string.h>

/* For every GPU resource that is asked for: key = its name, operator Exists, effect NoSchedule. */
static const struct pod_shape *tolerant_shape(const struct pod_shape *shape, struct arena *arena)
{
    struct pod_shape *tolerant = ARENA_NEW(arena, struct pod_shape);
    size_t n = shape->facts.n_tolerations;
    struct toleration *tolerations = ARENA_ARRAY(arena, struct toleration, n + shape->n_gpu_needs);
    for (size_t i = 0; i < n; i++)
        tolerations[i] = shape->facts.tolerations[i];
    for (size_t i = 0; i < shape->n_gpu_needs; i++)
        tolerations[n++] = (struct toleration){.key = shape->needs[i].resource->name,
                                               .value = "",
                                               .op = TOLERATION_EXISTS,
                                               .effect = TAINT_NO_SCHEDULE};
    *tolerant = *shape;
    tolerant->facts.tolerations = tolerations;
    tolerant->facts.n_tolerations = n;
    return tolerant;
}

void asking_with_admission(struct asking *asking)
{
    asking->tolerant = asking->question;
    asking->tolerant.shape = tolerant_shape(asking->question.shape, asking->arena);
}

bool asking_admission_would_help(const struct asking *asking, const struct node *node)
{
    return asking->tolerant.shape && fit_judge(node, &asking->tolerant) == REASON_FITS;
}

const char *verdict_taint_text(const struct taint *taint, struct arena *arena)
{
    static const char *const EFFECTS[] = {[TAINT_NO_SCHEDULE] = "NoSchedule",
                                          [TAINT_PREFER_NO_SCHEDULE] = "PreferNoSchedule",
                                          [TAINT_NO_EXECUTE] = "NoExecute"};
    return arena_printf(arena, "%s%s%s:%s", taint->key, taint->value[0] ? "=" : "", taint->value,
                        EFFECTS[taint->effect]);
}

static const char *taint_message(const struct asking *asking, const struct node *node)
{
    const struct shape_facts *facts = &asking->question.shape->facts;
    const struct node_traits *traits = node_traits(node);
    const struct taint *taint = taints_first_untolerated(traits->taints, traits->n_taints,
                                                         facts->tolerations, facts->n_tolerations);
    const char *hint = "";
    if (asking_admission_would_help(asking, node))
        hint = "; only that is missing, and clusters that run the admission plugin "
               "ExtendedResourceToleration add it (policy admission.extendedResourceToleration)";
    return arena_printf(asking->arena, "%s: %s%s", reason_text(REASON_TAINT),
                        verdict_taint_text(taint, asking->arena), hint);
}

static int64_t total_of(const struct node *node, const struct need *need)
{
    const struct node_resource *there = node_find_resource(node, need->resource);
    return there ? there->allocatable : 0;
}

/* "...: 8 nvidia.com/gpu": what is there of the first that even an empty node has too few of. */
static const char *total_message(const struct asking *asking, const struct node *node)
{
    const struct pod_shape *shape = asking->question.shape;
    for (size_t i = 0; i < shape->n_gpu_needs; i++) {
        const struct need *need = &shape->needs[i];
        const int64_t total = total_of(node, need);
        if (total < need->amount)
            return arena_printf(asking->arena, "%s: %" PRId64 " %s", reason_text(REASON_GPU_TOTAL),
                                total, need->resource->name);
    }
    return reason_text(REASON_GPU_TOTAL);
}

/* "...: nvidia.com/gpu": the first of the needs that the node lacks. */
static const char *resource_message(const struct asking *asking, const struct node *node,
                                    enum reason reason)
{
    const struct pod_shape *shape = asking->question.shape;
    const bool is_gpu = reason != REASON_RESOURCE;
    for (size_t i = 0; i < shape->n_needs; i++) {
        const struct need *need = &shape->needs[i];
        if (need->resource->is_gpu != is_gpu || fit_lack(node, &asking->question, need) == 0)
            continue;
        const char *name = need->resource->name;
        if (is_gpu ||
            (strcmp(name, "cpu") != 0 && strcmp(name, "memory") != 0 && strcmp(name, "pods") != 0))
            return arena_printf(asking->arena, "%s: %s", reason_text(reason), name);
    }
    return reason_text(reason);
}

static const char *fits_message(const struct asking *asking, const struct node *node)
{
    const struct need *need = fit_by_claim(node, asking->question.shape);
    if (!need)
        return reason_text(REASON_FITS);
    return arena_printf(asking->arena, "%s, claims not yet judged: %s would come by a device class",
                        reason_text(REASON_FITS), need->resource->name);
}

const char *verdict_message(const struct asking *asking, const struct node *node,
                            enum reason reason)
{
    if (reason == REASON_FITS)
        return fits_message(asking, node);
    if (reason == REASON_POD_INVALID)
        return asking->question.refusal;
    if (reason == REASON_TAINT)
        return taint_message(asking, node);
    if (reason == REASON_GPU_TOTAL)
        return total_message(asking, node);
    if (reason == REASON_GPU_ABSENT || reason == REASON_GPU_FREE ||
        reason == REASON_GPU_NOMINATED || reason == REASON_RESOURCE)
        return resource_message(asking, node, reason);
    return fit_text(node, &asking->question, reason);
}

int64_t verdict_lacking_gpus(const struct fit_question *question, const struct node *node)
{
    const struct pod_shape *shape = question->shape;
    int64_t sum = 0;
    for (size_t i = 0; i < shape->n_gpu_needs; i++) {
        int64_t lack = fit_lack(node, question, &shape->needs[i]);
        if (__builtin_add_overflow(sum, lack, &sum))
            return INT64_MAX;
    }
    return sum;
}

json_t *verdict_lacks(const struct fit_question *question, const struct node *node)
{
    const struct pod_shape *shape = question->shape;
    json_t *lacks = json_object();
    for (size_t i = 0; i < shape->n_needs; i++) {
        int64_t lack = fit_lack(node, question, &shape->needs[i]);
        if (lack > 0)
            (void)json_object_set_new(lacks, shape->needs[i].resource->name, json_integer(lack));
    }
    return lacks;
}

static json_t *candidate_json(const struct asking *asking, const struct candidate *candidate)
{
    const enum reason reason = candidate->verdict;
    const struct node *node = candidate->node;
    return json_pack("{s:s, s:b, s:o, s:s, s:s, s:s, s:o}", "node", node_name(node), "fits",
                     reason == REASON_FITS, "score",
                     reason == REASON_FITS ? json_integer(candidate->score) : json_null(), "reason",
                     reason_name(reason), "message", verdict_message(asking, node, reason), "help",
                     reason_help(reason), "lacks", verdict_lacks(&asking->question, node));
}

json_t *verdict_list(const struct asking *asking, const struct candidates *candidates)
{
    json_t *list = json_array();
    for (size_t i = 0; i < candidates->n; i++)
        (void)json_array_append_new(list, candidate_json(asking, &candidates->items[i]));
    return list;
}

const char *verdict_counts_text(const size_t counts[N_REASONS], size_t n_nodes, struct arena *arena)
{
    const char *text = "";
    for (enum reason reason = REASON_FITS + 1; reason < N_REASONS; reason++) {
        if (counts[reason] > 0)
            text = arena_printf(arena, "%s%s%zu × %s", text, text[0] ? "; " : "", counts[reason],
                                reason_text(reason));
    }
    return arena_printf(arena, "%zu of %zu nodes fit (%s)", counts[REASON_FITS], n_nodes, text);
}
