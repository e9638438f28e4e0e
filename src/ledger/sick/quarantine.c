/* quarantine: see include/ledger/quarantine.h. */
#include "base/mem.h"
#include "ledger/sick/sick_priv.h"

#include <stdlib.h>
#include <string.h>

static void mark_node(struct cluster *cluster, struct node *node, const struct node_mark *mark)
{
    node->mark = mark;
    node_hot_renew(node);
    cluster->version++;
}

static void marked(void *context, const char *name, const struct node_mark *mark)
{
    struct cluster *cluster = context;
    struct node *node = node_index_find(&cluster->node_index, name);
    if (node)
        mark_node(cluster, node, mark);
}

void quarantine_begin(struct cluster *cluster)
{
    cluster->quarantine = MEM_NEW(struct quarantine);
    cluster->quarantine->sick = sick_nodes_new(cluster->policy, marked, cluster);
}

void quarantine_move(struct cluster *to, struct cluster *from)
{
    if (!from->quarantine)
        return;
    to->quarantine = from->quarantine;
    from->quarantine = NULL;
    sick_nodes_move(to->quarantine->sick, to->policy, to);
}

void quarantine_free(struct cluster *cluster)
{
    if (!cluster->quarantine)
        return;
    sick_nodes_free(cluster->quarantine->sick);
    free(cluster->quarantine);
    cluster->quarantine = NULL;
}

void quarantine_fork_node(struct cluster *fork, struct node *copy, const struct node *node)
{
    copy->mark =
        node->mark ? arena_copy(fork->fork_arena, node->mark, 1, sizeof *node->mark) : NULL;
}

void quarantine_copy_marks(struct cluster *copy, const struct cluster *from)
{
    for (const struct node *node = from->nodes; node; node = node->next) {
        struct node *mine = node->mark ? node_index_find(&copy->node_index, node->name) : NULL;
        if (!mine)
            continue;
        if (!copy->fork_arena)
            copy->fork_arena = arena_new();
        mark_node(copy, mine, arena_copy(copy->fork_arena, node->mark, 1, sizeof *node->mark));
    }
}

void quarantine_lift(struct cluster *copy, const char *node)
{
    struct node *mine = node_index_find(&copy->node_index, node);
    if (mine && mine->mark)
        mark_node(copy, mine, NULL);
}

/* Nodes. */

static uint64_t hash_gpus(const struct node *node, bool *ret_has_gpus)
{
    uint64_t hash = 0;
    *ret_has_gpus = false;
    for (size_t i = 0; i < node->n_gpu_resources; i++) {
        const struct node_resource *row = &node->resources[i];
        const uint64_t parts[] = {hash, (uint64_t)(uintptr_t)row->resource,
                                  (uint64_t)row->allocatable};
        if (!row->advertised)
            continue;
        hash = hash_bytes(parts, sizeof parts);
        *ret_has_gpus |= row->capacity > 0 || row->allocatable > 0;
    }
    return hash;
}

void quarantine_see_node(struct cluster *cluster, const struct node *node,
                         const struct node_facts *facts)
{
    struct sick_node_facts seen = {.name = node->name,
                                   .is_ready = facts->ready,
                                   .is_cordoned = facts->unschedulable,
                                   .boot_id = facts->boot_id,
                                   .lifted = facts->lifted};
    if (!cluster->quarantine)
        return;
    char model[128];
    seen.model = gpu_model_text(&node->traits->traits.gpus.model, model);
    seen.allocatable = hash_gpus(node, &seen.has_gpus);
    sick_nodes_node(cluster->quarantine->sick, &seen, cluster->now_ms);
}

void quarantine_lose_node(struct cluster *cluster, const char *name)
{
    if (cluster->quarantine)
        sick_nodes_node_gone(cluster->quarantine->sick, name);
}

/* Decisions. */

const struct node_mark *node_mark(const struct node *node)
{
    return node->mark;
}

const char *node_mark_word(const struct node_mark *mark)
{
    if (!mark || (mark->state == QUARANTINE_NONE && !mark->is_capped))
        return NULL;
    if (mark->state == QUARANTINE_NONE)
        return "sick";
    return mark->state == QUARANTINE_CLOSED ? "quarantine" : "probation";
}

bool node_mark_is_avoided(const struct node *node)
{
    const struct policy *policy = node->hot.cluster->policy;
    const struct node_mark *mark = node->mark;
    return mark &&
           ((mark->state != QUARANTINE_NONE && policy->quarantine.mode == AVOIDANCE_AVOID) ||
            (mark->n_traps > 0 && policy->shape_trap.mode == AVOIDANCE_AVOID));
}

static struct sick_shape shape_of(const struct pod_shape *shape, const struct asker *asker)
{
    const char *namespace_ = asker->namespace_ ? asker->namespace_ : "";
    const uint64_t names[] = {hash_text(namespace_),
                              hash_text(asker->controller ? asker->controller : "")};
    struct sick_shape found = {.owner = hash_bytes(names, sizeof names),
                               .namespace_ = names[0],
                               .qos = asker->qos,
                               .milli_cores = shape_demand(&shape->facts, "cpu"),
                               .memory_bytes = shape_demand(&shape->facts, "memory")};
    for (size_t i = 0; i < shape->n_gpu_needs; i++)
        found.gpus = amount_add(found.gpus, shape->needs[i].amount);
    return found;
}

static bool is_tolerated(const struct shape_facts *facts)
{
    static const struct taint QUARANTINE = {QUARANTINE_TOLERATION, "", TAINT_NO_SCHEDULE};
    return !taints_first_untolerated(&QUARANTINE, 1, facts->tolerations, facts->n_tolerations);
}

/* The watch has not shown the pod on probation yet. */
static bool is_being_tried(const struct node *node)
{
    for (size_t i = 0; i < node->n_gpu_resources; i++) {
        if (node->resources[i].reserved > 0)
            return true;
    }
    return false;
}

static bool is_closed(const struct node *node)
{
    const enum quarantine_state state = node->mark->state;
    if (state == QUARANTINE_PROBATION)
        return is_being_tried(node);
    return state != QUARANTINE_NONE;
}

bool node_mark_closes(const struct node *node)
{
    return node->mark && node->hot.cluster->policy->quarantine.mode == AVOIDANCE_AVOID &&
           is_closed(node);
}

/* Considers quarantines and traps whose mode is the given one. */
static enum reason find(const struct node *node, const struct pod_shape *shape,
                        const struct asker *asker, enum avoidance mode)
{
    const struct policy *policy = node->hot.cluster->policy;
    const bool is_nominated =
        asker->nominated_node && strcmp(asker->nominated_node, node->name) == 0;
    if (!node->mark || shape->n_gpu_needs == 0 || is_nominated || is_tolerated(&shape->facts))
        return REASON_FITS;
    if (policy->quarantine.mode == mode && is_closed(node))
        return REASON_QUARANTINE;
    const struct sick_shape asked = shape_of(shape, asker);
    return policy->shape_trap.mode == mode && node_mark_traps(node->mark, &asked)
               ? REASON_SHAPE_TRAP
               : REASON_FITS;
}

enum reason quarantine_judge(const struct node *node, const struct pod_shape *shape,
                             const struct asker *asker)
{
    return find(node, shape, asker, AVOIDANCE_AVOID);
}

/* Pods. */

static bool is_on_node(const struct pod *pod)
{
    return pod->node_name[0] && !pod->finished;
}

struct pod_stage quarantine_stage_of(const struct pod *pod)
{
    if (!pod)
        return (struct pod_stage){0};
    return (struct pod_stage){true, is_on_node(pod), is_on_node(pod) && !pod->unstarted};
}

/* The pod counts there already. */
static bool had_room(const struct node *node, const struct pod_shape *shape)
{
    for (size_t i = 0; i < shape->n_gpu_needs; i++) {
        const struct node_resource *row = node_find_resource(node, shape->needs[i].resource);
        if (!row || node_resource_free(row) < 0)
            return false;
    }
    return true;
}

static void count_let_pass(struct cluster *cluster, const struct node *node, const struct pod *pod)
{
    const struct asker asker = asker_from_pod(pod);
    const enum reason reason = find(node, pod->shape, &asker, AVOIDANCE_OBSERVE);
    cluster->quarantine->n_in_quarantine += reason == REASON_QUARANTINE;
    cluster->quarantine->n_in_trap += reason == REASON_SHAPE_TRAP;
}

static void arrive(struct cluster *cluster, const struct node *node, struct pod_stage before,
                   const struct pod *pod)
{
    const struct asker asker = asker_from_pod(pod);
    const bool was_waiting = before.is_known && pod->shape->n_gpu_needs > 0;
    if (was_waiting)
        count_let_pass(cluster, node, pod);
    sick_nodes_arrived(cluster->quarantine->sick,
                       &(struct sick_arrival){.uid = pod->uid,
                                              .node = pod->node_name,
                                              .shape = shape_of(pod->shape, &asker),
                                              .was_waiting = was_waiting,
                                              .had_room = had_room(node, pod->shape)},
                       cluster->now_ms);
}

void quarantine_see_pod(struct cluster *cluster, struct pod_stage before, const struct pod *pod)
{
    const struct pod_stage now = quarantine_stage_of(pod);
    const bool uses_gpus = pod->shape->n_gpu_needs > 0;
    if (!cluster->quarantine)
        return;
    const struct node *node = cluster_find_node(cluster, pod->node_name);
    if (node && now.is_placed && !before.is_placed && !now.has_started)
        arrive(cluster, node, before, pod);
    if (now.has_started && !before.has_started)
        sick_nodes_started(cluster->quarantine->sick, pod->uid, pod->node_name, uses_gpus);
    if (before.has_started && !now.has_started && uses_gpus)
        sick_nodes_ended(cluster->quarantine->sick, pod->node_name);
}

void quarantine_lose_pod(struct cluster *cluster, const struct pod *pod)
{
    if (cluster->quarantine && quarantine_stage_of(pod).has_started && pod->shape->n_gpu_needs > 0)
        sick_nodes_ended(cluster->quarantine->sick, pod->node_name);
}

void quarantine_see_failed(struct cluster *cluster, const struct failed_pod_facts *failed)
{
    if (cluster->quarantine)
        sick_nodes_failed(cluster->quarantine->sick, failed, cluster->now_ms);
}

int64_t quarantine_tick(struct cluster *cluster)
{
    return cluster->quarantine ? sick_nodes_tick(cluster->quarantine->sick, cluster->now_ms)
                               : INT64_MAX;
}

/* Numbers. */

const struct sick_nodes *quarantine_nodes(const struct cluster *cluster)
{
    return cluster->quarantine ? cluster->quarantine->sick : NULL;
}

uint64_t quarantine_n_let_pass(const struct cluster *cluster, enum reason reason)
{
    if (!cluster->quarantine)
        return 0;
    return reason == REASON_QUARANTINE ? cluster->quarantine->n_in_quarantine
                                       : cluster->quarantine->n_in_trap;
}
