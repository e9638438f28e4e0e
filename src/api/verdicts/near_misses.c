/* near_misses: see trial.h. */
#include "api/text.h"
#include "api/verdicts/trial.h"
#include "api/verdicts/verdict.h"
#include "base/mem.h"
#include "base/table.h"
#include "decide/fit.h"
#include "ledger/admit.h"
#include "types/quantity.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

/* Nodes that would fit after the same change. */
struct miss {
    const char *key;
    enum reason reason;
    const char *change; /* follows "would fit" */
    const char *model;  /* if room is lacking: the model of those GPUs; else "" */
    int64_t gpus;       /* missing GPUs */
    size_t n;
    const struct node *nearest; /* lacks least */
    json_t *names;              /* the first few */
    UT_hash_handle hh;
};

struct misses {
    const struct pod_query *query;
    const struct near_miss *near_miss;
    struct miss *items;
};

static const char * and (const char *left, const char *right, struct arena *arena)
{
    return arena_printf(arena, "%s%s%s", left, left[0] && right[0] ? " and " : "", right);
}

/* The untolerated taints. Taints from Kubernetes itself describe the node's state, which should be
 * repaired, not tolerated. */
static const char *taint_change(const struct misses *misses, const struct node *node)
{
    const struct shape_facts *facts = &misses->query->question.shape->facts;
    const struct node_traits *traits = node_traits(node);
    struct arena *arena = misses->query->arena;
    const char *taints = "";
    size_t n = 0;
    bool is_state = false;
    for (size_t i = 0; i < traits->n_taints; i++) {
        const struct taint *taint = &traits->taints[i];
        if (!taints_first_untolerated(taint, 1, facts->tolerations, facts->n_tolerations))
            continue;
        n++;
        taints = and(taints, verdict_taint_text(taint, arena), arena);
        is_state = is_state || strncmp(taint->key, "node.kubernetes.io/", 19) == 0;
    }
    if (is_state)
        return arena_printf(arena, "without the taint%s %s", n == 1 ? "" : "s", taints);
    return arena_printf(arena, "if the pod tolerated %s", taints);
}

static const char *model_of(const struct misses *misses, const struct node *node)
{
    char text[2 * GPU_MODEL_TEXT_MAX];
    const struct gpu_kind *kind =
        admit_next_kind(node_traits(node), misses->query->question.shape, NULL);
    return arena_strdup(misses->query->arena, gpu_model_text(&kind->model, text));
}

static const char *memory_change(const struct misses *misses, const struct node *node)
{
    char text[32];
    const int64_t bytes = admit_memory_bytes(node_traits(node), misses->query->question.shape);
    if (bytes == 0)
        return "if the pod asked for no GPU memory";
    return arena_printf(misses->query->arena, "if the pod asked for at most %s of GPU memory",
                        quantity_bytes_text(bytes, text));
}

/* "if 2 more nvidia.com/gpu were free" */
static const char *gpu_change(const struct misses *misses, const struct node *node)
{
    const struct fit_question *question = &misses->query->question;
    const struct pod_shape *shape = question->shape;
    struct arena *arena = misses->query->arena;
    const char *gpus = "";
    for (size_t i = 0; i < shape->n_gpu_needs; i++) {
        const int64_t lack = fit_lack(node, question, &shape->needs[i]);
        if (lack > 0)
            gpus = and(
                gpus,
                arena_printf(arena, "%" PRId64 " more %s", lack, shape->needs[i].resource->name),
                arena);
    }
    return arena_printf(arena, "if %s were free", gpus);
}

/* The node's total is too small, but what is free there would satisfy a smaller request. NULL:
 * nothing is free. */
static const char *total_change(const struct misses *misses, const struct node *node)
{
    const struct fit_question *question = &misses->query->question;
    const struct pod_shape *shape = question->shape;
    struct arena *arena = misses->query->arena;
    const char *gpus = "";
    for (size_t i = 0; i < shape->n_gpu_needs; i++) {
        const struct need *need = &shape->needs[i];
        const int64_t lack = fit_lack(node, question, need);
        if (lack >= need->amount)
            return NULL;
        if (lack > 0)
            gpus = and(
                gpus,
                arena_printf(arena, "%" PRId64 " %s", need->amount - lack, need->resource->name),
                arena);
    }
    return arena_printf(arena, "if the pod asked for at most %s", gpus);
}

/* "if more cpu were free": without amounts, which differ between nodes. */
static const char *room_change(const struct misses *misses, const struct node *node)
{
    const struct fit_question *question = &misses->query->question;
    const struct pod_shape *shape = question->shape;
    struct arena *arena = misses->query->arena;
    const char *names = "";
    for (size_t i = shape->n_gpu_needs; i < shape->n_needs; i++) {
        if (fit_lack(node, question, &shape->needs[i]) > 0)
            names = and(names, shape->needs[i].resource->name, arena);
    }
    return arena_printf(arena, "if more %s were free", names);
}

/* NULL: no change worth reporting. */
static const char *change_of(const struct misses *misses, const struct node *node,
                             enum reason reason)
{
    static const char *const CHANGES[N_REASONS] = {
        [REASON_UNSCHEDULABLE] = "if uncordoned",
        [REASON_NODE_SELECTOR] = "if the pod's nodeSelector allowed that",
        [REASON_NODE_AFFINITY] = "if the pod's required node affinity allowed that",
        [REASON_LEGACY_AFFINITY] =
            "if the pod's annotation scheduler.alpha.kubernetes.io/affinity allowed that",
        [REASON_QUARANTINE] = "if its quarantine were lifted",
        [REASON_SHAPE_TRAP] = "if it had not just rejected such pods",
        [REASON_GPU_SHARED] = "if the pod allowed shared GPUs (gpu-extender.io/allow-shared)",
        [REASON_GPU_MIG] = "if the pod allowed slices of GPUs (gpu-extender.io/allow-shared)",
        [REASON_MODEL_UNKNOWN] = "if the pod did not choose GPU models",
        [REASON_GPU_NOMINATED] = "if its free GPUs were not kept for a nominated pod",
        [REASON_GPU_KEPT] = "if its free GPUs were not kept for a group",
        [REASON_QUOTA_CLAIMED] = "if the quota were not claimed by other pods",
        [REASON_PODS] = "with a free pod slot",
        [REASON_TOPOLOGY_SPREAD] = "if the pod's topology spread constraints allowed that",
        [REASON_POD_AFFINITY] = "if the pod's required pod affinity allowed that",
        [REASON_POD_ANTI_AFFINITY] = "if the pod's required pod anti-affinity allowed that",
        [REASON_POD_REPELLED] = "if the anti-affinity of the pods there allowed that",
    };
    struct arena *arena = misses->query->arena;
    if (CHANGES[reason])
        return CHANGES[reason];
    if (reason == REASON_TAINT)
        return taint_change(misses, node);
    if (reason == REASON_MODEL_EXCLUDED)
        return arena_printf(arena, "if the pod did not exclude %s", model_of(misses, node));
    if (reason == REASON_MODEL_NOT_WANTED)
        return arena_printf(arena, "if the pod accepted %s too", model_of(misses, node));
    if (reason == REASON_QUOTA)
        return arena_printf(arena, "if a quota allowed it (%s)",
                            fit_text(node, &misses->query->question, reason));
    if (reason == REASON_GPU_MEMORY || reason == REASON_GPU_MEMORY_UNKNOWN)
        return memory_change(misses, node);
    if (reason == REASON_GPU_TOTAL)
        return total_change(misses, node);
    if (reason == REASON_GPU_FREE)
        return gpu_change(misses, node);
    return room_change(misses, node);
}

/* The largest lack besides GPUs, for comparing nodes: mostly of one resource. */
static int64_t other_lack(const struct fit_question *question, const struct node *node)
{
    const struct pod_shape *shape = question->shape;
    int64_t most = 0;
    for (size_t i = shape->n_gpu_needs; i < shape->n_needs; i++) {
        const int64_t lack = fit_lack(node, question, &shape->needs[i]);
        most = lack > most ? lack : most;
    }
    return most;
}

static struct miss *find_miss(struct misses *misses, const struct miss *wanted)
{
    struct miss *miss = NULL;
    HASH_FIND_STR(misses->items, wanted->key, miss);
    if (!miss) {
        miss = ARENA_NEW(misses->query->arena, struct miss);
        *miss = *wanted;
        miss->names = json_array();
        HASH_ADD_KEYPTR(hh, misses->items, miss->key, strlen(miss->key), miss);
    }
    return miss;
}

static void add_node(struct misses *misses, const struct node *node)
{
    const struct fit_question *question = &misses->query->question;
    const enum reason reason = fit_judge(node, question);
    if (reason == REASON_FITS || !near_miss_is(misses->near_miss, node, reason))
        return;
    const bool lacks_gpus = reason == REASON_GPU_FREE || reason == REASON_GPU_TOTAL;
    struct miss wanted = {
        .reason = reason,
        .change = change_of(misses, node, reason),
        .model = lacks_gpus ? model_of(misses, node) : "",
        .gpus = lacks_gpus ? verdict_lacking_gpus(question, node) : 0,
        .nearest = node,
    };
    if (!wanted.change)
        return;
    wanted.key = arena_printf(misses->query->arena, "%s %s", wanted.model, wanted.change);
    struct miss *miss = find_miss(misses, &wanted);
    if (other_lack(question, node) < other_lack(question, miss->nearest))
        miss->nearest = node;
    if (miss->n++ < TEXT_NAMES_SHOWN)
        (void)json_array_append_new(miss->names, json_string(node_name(node)));
}

#define COMPARE(a, b) (((a) > (b)) - ((a) < (b)))

static int compare(const struct miss *a, const struct miss *b)
{
    if (a->gpus != b->gpus)
        return COMPARE(a->gpus, b->gpus);
    if (a->n != b->n)
        return COMPARE(b->n, a->n);
    return strcmp(a->key, b->key);
}

/* "3 T4 nodes would fit if 1 more nvidia.com/gpu were free" */
static const char *sentence(const struct misses *misses, const struct miss *miss,
                            const json_t *lacks)
{
    struct arena *arena = misses->query->arena;
    const char *text =
        arena_printf(arena, "%zu %s%snode%s would fit %s", miss->n, miss->model,
                     miss->model[0] ? " " : "", miss->n == 1 ? "" : "s", miss->change);
    if (miss->reason < REASON_CPU || reason_is_of_peers(miss->reason))
        return text;
    return arena_printf(arena, "%s (%s lacks the least: %s)", text, node_name(miss->nearest),
                        verdict_amounts_text(lacks, arena));
}

static json_t *miss_json(const struct misses *misses, const struct miss *miss)
{
    json_t *lacks = verdict_lacks(&misses->query->question, miss->nearest);
    return json_pack("{s:s, s:s, s:I, s:O, s:s, s:o}", "summary", sentence(misses, miss, lacks),
                     "reason", reason_name(miss->reason), "nodes", (json_int_t)miss->n, "names",
                     miss->names, "nearest", node_name(miss->nearest), "lacks", lacks);
}

json_t *near_misses_json(const struct pod_query *query, const struct candidates *candidates)
{
    struct arena *texts CLEANUP(arena_free_ptr) = arena_new(); /* for each node */
    struct pod_query own = *query;
    struct misses misses = {&own, near_miss_of(&query->question, texts), NULL};
    json_t *list = json_array();
    own.arena = texts;
    for (size_t i = 0; i < candidates->n; i++)
        add_node(&misses, candidates->items[i].node);
    HASH_SORT(misses.items, compare);
    for (struct miss *miss = misses.items; miss; miss = miss->hh.next) {
        if (json_array_size(list) < TEXT_NAMES_SHOWN)
            (void)json_array_append_new(list, miss_json(&misses, miss));
        json_decref(miss->names);
    }
    HASH_CLEAR(hh, misses.items);
    return list;
}
