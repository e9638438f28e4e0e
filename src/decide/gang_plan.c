/* gang_plan: see include/decide/gang_plan.h. */
#include "decide/gang_plan.h"
#include "base/mem.h"
#include "decide/fit.h"
#include "decide/quota.h"
#include "decide/what_if.h"
#include "ledger/admit.h"
#include "ledger/quarantine.h"
#include "ledger/shape_copy.h"
#include "types/quantity.h"

#include <stdlib.h>
#include <string.h>

/* ---- members ---- */

static int compare_age(const void *a, const void *b)
{
    const struct pod *left = *(const struct pod *const *)a;
    const struct pod *right = *(const struct pod *const *)b;
    if (left->created_s != right->created_s)
        return left->created_s < right->created_s ? -1 : 1;
    return strcmp(left->uid, right->uid);
}

/* Those that are alike are together. */
static int compare_need(const void *a, const void *b)
{
    const struct gang_member *left = a;
    const struct gang_member *right = b;
    if (left->gpus != right->gpus)
        return left->gpus > right->gpus ? -1 : 1;
    if (left->like != right->like)
        return (uintptr_t)left->like < (uintptr_t)right->like ? -1 : 1;
    return strcmp(left->uid, right->uid);
}

static int64_t gpus_of(const struct pod_shape *shape)
{
    int64_t gpus = 0;
    for (size_t i = 0; i < shape->n_gpu_needs; i++)
        gpus = amount_add(gpus, shape->needs[i].amount);
    return gpus;
}

static void copy_member(struct gang_member *member, const struct pod *pod, struct arena *arena)
{
    *member = (struct gang_member){
        .uid = arena_strdup(arena, pod->uid),
        .namespace_ = arena_strdup(arena, pod->namespace_),
        .like = pod->shape,
        .gpus = gpus_of(pod->shape),
        .claims = pod->claims ? arena_strdup(arena, pod->claims) : NULL,
    };
    struct shape_facts *shape = ARENA_NEW(arena, struct shape_facts);
    *shape = shape_copy(&pod->shape->facts, arena);
    member->shape = shape;
    member->asker =
        (struct asker){.uid = member->uid, .priority = pod->priority, .created_s = pod->created_s};
    member->peer.namespace_ = member->namespace_;
    if (pod->labels) {
        member->labels = peer_copy(pod->labels, arena);
        member->peer.labels = &member->labels;
    }
    if (pod->terms) {
        member->terms = peer_copy(pod->terms, arena);
        member->peer.terms = &member->terms;
    }
}

static struct gang find(const struct cluster *cluster, const char *key, struct arena *arena)
{
    const char *slash = strchr(key, '/');
    const char *namespace_ = arena_printf(arena, "%.*s", (int)(slash - key), key);
    return gangs_find(cluster, namespace_, slash + 1);
}

struct gang_plan gang_plan_members(const struct cluster *cluster, const char *key,
                                   struct arena *arena)
{
    const struct gang gang = find(cluster, key, arena);
    const struct pod **pods = ARENA_ARRAY(arena, const struct pod *, gang.n_unbound + 1);
    const size_t n_missing = gang_n_missing(&gang);
    struct gang_plan plan = {.key = arena_strdup(arena, key), .priority = INT64_MIN};
    size_t n = 0;
    for (const struct pod *pod = gangs_next_unbound(cluster, key, NULL); pod;
         pod = gangs_next_unbound(cluster, key, pod))
        pods[n++] = pod;
    qsort(pods, n, sizeof *pods, compare_age);
    plan.n = n < n_missing ? n : n_missing;
    plan.members = ARENA_ARRAY(arena, struct gang_member, plan.n + 1);
    for (size_t i = 0; i < plan.n; i++) {
        copy_member(&plan.members[i], pods[i], arena);
        plan.has_terms |= pods[i]->terms != NULL;
        plan.priority = pods[i]->priority > plan.priority ? pods[i]->priority : plan.priority;
    }
    qsort(plan.members, plan.n, sizeof *plan.members, compare_need);
    return plan;
}

/* ---- nodes ---- */

static struct fit_question question_of(struct cluster *fork, const struct gang_member *member,
                                       struct arena *arena)
{
    struct fit_question wanted = {
        .shape = cluster_resolve(fork, member->shape, arena),
        .scope = FIT_ALL,
        .asker = member->asker,
        .claims = member->claims,
        .peer = &member->peer,
    };
    wanted.peers = peer_rules_of(fork, &member->peer, wanted.shape, arena);
    return fit_question_of(fork, member->namespace_, &wanted, QUOTA_NO_CLAIMS, arena);
}

/* Uses up all room there. */
static void avoid(struct cluster *fork, const struct node *node)
{
    size_t n = 0;
    const struct node_resource *rows = node_resources(node, &n);
    for (size_t i = 0; i < n; i++) {
        const struct need need = {rows[i].resource, node_resource_free(&rows[i])};
        const struct pod_shape rest = {.needs = &need, .n_needs = 1};
        if (need.amount > 0)
            cluster_place(fork, node, &rest, 1);
    }
}

/* How many such pods would have room if the cluster were empty; at most n. */
static size_t could_fit(const struct cluster *fork, const struct pod_shape *shape, size_t n)
{
    int64_t count = 0;
    for (const struct node *node = cluster_next_node(fork, NULL); node && count < (int64_t)n;
         node = cluster_next_node(fork, node)) {
        int64_t most = INT64_MAX;
        for (size_t i = 0; i < shape->n_needs; i++) {
            const struct node_resource *row = node_find_resource(node, shape->needs[i].resource);
            const int64_t fits = row ? row->allocatable / shape->needs[i].amount : 0;
            most = fits < most ? fits : most;
        }
        if (admit_node(node, shape) && admit_model(node, shape) == REASON_FITS)
            count = amount_add(count, most);
    }
    return count < (int64_t)n ? (size_t)count : n;
}

/* The GPUs that the node lacks for such a pod. */
static int64_t lack_of(const struct node *node, const struct fit_question *question)
{
    int64_t lack = 0;
    for (size_t i = 0; i < question->shape->n_gpu_needs; i++)
        lack = amount_add(lack, fit_lack(node, question, &question->shape->needs[i]));
    return lack;
}

/* What the next such pod lacks on the node that has most for it. */
static const char *lacks_text(const struct cluster *fork, const struct fit_question *question,
                              struct arena *arena)
{
    const struct node *best = NULL;
    int64_t least = INT64_MAX;
    for (const struct node *node = cluster_next_node(fork, NULL); node;
         node = cluster_next_node(fork, node)) {
        const bool is_admitted =
            admit_node(node, question->shape) && admit_model(node, question->shape) == REASON_FITS;
        const int64_t lack = is_admitted ? lack_of(node, question) : INT64_MAX;
        best = lack < least ? node : best;
        least = lack < least ? lack : least;
    }
    if (!best)
        return "finds no node that admits it";
    if (least == 0)
        return arena_printf(arena, "finds no node: %s",
                            fit_text(best, question, fit_judge(best, question)));
    const struct gpu_kind *kind = admit_next_kind(node_traits(best), question->shape, NULL);
    const bool is_known = kind && kind->model.chip[0];
    return arena_printf(arena, "lacks %lld %s", (long long)least,
                        is_known ? gpu_model_name(&kind->model, arena) : "GPUs");
}

static void explain_lack(const struct cluster *fork, const struct fit_question *question, size_t n,
                         struct gang_plan *plan, enum gang_choice *ret_choice, struct arena *arena)
{
    const size_t n_could = could_fit(fork, question->shape, n);
    *ret_choice = n_could == n ? GANG_NO_ROOM : GANG_NEVER_FITS;
    plan->lacks =
        n_could == n
            ? lacks_text(fork, question, arena)
            : arena_printf(arena, "an empty cluster has room for %zu of %zu such pods", n_could, n);
}

static bool are_alike(const struct gang_member *a, const struct gang_member *b)
{
    return a->like == b->like && a->asker.priority == b->asker.priority &&
           !a->peer.terms == !b->peer.terms && !a->claims && !b->claims;
}

/* Members that are alike are placed together. Returns how many. */
static size_t choose_some(struct cluster *fork, struct gang_plan *plan, size_t first,
                          struct arena *arena, enum gang_choice *ret_choice)
{
    struct gang_member *members = &plan->members[first];
    size_t n = 1;
    while (first + n < plan->n && are_alike(&members[0], &members[n]))
        n++;
    const struct fit_question question = question_of(fork, &members[0], arena);
    const struct node **nodes = ARENA_ARRAY(arena, const struct node *, n);
    const size_t n_placed = what_if_place(fork, &question, n, nodes);
    const bool is_whole = n_placed == n;
    plan->n_fit += n_placed;
    for (size_t i = 0; i < n && is_whole; i++)
        members[i].node = arena_strdup(arena, node_name(nodes[i]));
    if (!is_whole)
        explain_lack(fork, &question, n, plan, ret_choice, arena);
    return n;
}

enum gang_choice gang_plan_choose(struct cluster *fork, struct gang_plan *plan,
                                  bool (*avoids)(const void *context, const char *node),
                                  const void *context, struct arena *arena)
{
    enum gang_choice choice = GANG_CHOSEN;
    for (const struct node *node = cluster_next_node(fork, NULL); node;
         node = cluster_next_node(fork, node)) {
        if (avoids(context, node_name(node)))
            avoid(fork, node);
    }
    for (size_t i = 0; i < plan->n && choice == GANG_CHOSEN;)
        i += choose_some(fork, plan, i, arena, &choice);
    return choice;
}

static int64_t total_of(const struct cluster *fork, const char *model)
{
    int64_t total = 0;
    for (const struct node *node = cluster_next_node(fork, NULL); node;
         node = cluster_next_node(fork, node)) {
        size_t n = 0;
        const struct node_resource *rows = node_resources(node, &n);
        for (size_t i = 0; i < n && node_traits(node)->model_word == model; i++) {
            if (rows[i].resource->is_gpu)
                total = amount_add(total, rows[i].allocatable);
        }
    }
    return total;
}

size_t gang_plan_models(const struct cluster *fork, const struct gang_plan *plan,
                        struct arena *arena, struct gang_model **ret_models)
{
    struct gang_model *models = ARENA_ARRAY(arena, struct gang_model, plan->n + 1);
    size_t n = 0;
    for (size_t i = 0; i < plan->n; i++) {
        const struct gang_member *member = &plan->members[i];
        const char *model = node_traits(cluster_find_node(fork, member->node))->model_word;
        size_t at = 0;
        while (at < n && models[at].model != model)
            at++;
        if (at == n)
            models[n++] = (struct gang_model){.model = model, .total = total_of(fork, model)};
        models[at].gpus = amount_add(models[at].gpus, member->gpus);
    }
    *ret_models = models;
    return n;
}

/* ---- in the ledger ---- */

/* As any nominated pod: places of the group's other members are kept from it, so that all together
 * must have room. */
static bool has_room(const struct cluster *cluster, const struct pod *pod, int64_t now_ms,
                     struct arena *arena)
{
    const struct fit_question wanted = {.shape = pod->shape,
                                        .refusal = pod->refusal,
                                        .scope = FIT_OURS,
                                        .asker = asker_from_pod(pod),
                                        .claims = pod->claims};
    const struct fit_question question =
        fit_question_of(cluster, pod->namespace_, &wanted, now_ms, arena);
    const struct node *node = cluster_find_node(cluster, pod->planned_node);
    struct asker unplanned = question.asker;
    unplanned.nominated_node = pod->nominated_node; /* the plan is no reason to go to a sick node */
    return fit_judge(node, &question) == REASON_FITS &&
           (!node || quarantine_judge(node, pod->shape, &unplanned) == REASON_FITS);
}

bool gang_plan_holds(const struct cluster *cluster, const char *key, int64_t now_ms)
{
    struct arena *arena CLEANUP(arena_free_ptr) = arena_new();
    bool holds = true;
    for (const struct pod *pod = gangs_next_unbound(cluster, key, NULL); pod && holds;
         pod = gangs_next_unbound(cluster, key, pod))
        holds = !pod->planned_node[0] || has_room(cluster, pod, now_ms, arena);
    return holds;
}

bool gang_plan_keep(struct cluster *cluster, const struct gang_plan *plan, int64_t now_ms)
{
    struct arena *arena CLEANUP(arena_free_ptr) = arena_new();
    for (size_t i = 0; i < plan->n; i++)
        gangs_place(cluster, plan->members[i].uid, plan->members[i].node);
    const struct gang gang = find(cluster, plan->key, arena);
    const bool is_whole = gang.n_planned == plan->n && gang_n_missing(&gang) == plan->n;
    if (is_whole && gang_plan_holds(cluster, plan->key, now_ms))
        return true;
    gangs_drop(cluster, plan->key);
    return false;
}
