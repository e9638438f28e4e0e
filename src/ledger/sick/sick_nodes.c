/* sick_nodes: nodes, and the pods on them. See include/ledger/sick_nodes.h. */
#include "ledger/sick_nodes.h"
#include "base/mem.h"
#include "ledger/sick/sick_priv.h"

#include <stdlib.h>
#include <string.h>
#include <utlist.h>

struct sick_nodes *sick_nodes_new(const struct policy *policy, sick_nodes_marked *marked,
                                  void *context)
{
    struct sick_nodes *sick = MEM_NEW(struct sick_nodes);
    sick->policy = policy;
    sick->marked = marked;
    sick->context = context;
    sick->due_ms = INT64_MAX;
    return sick;
}

/* Models. */

static struct sick_model *model_ref(struct sick_nodes *sick, const char *name)
{
    struct sick_model *model = NULL;
    HASH_FIND_STR(sick->models, name, model);
    if (!model) {
        model = MEM_NEW_WITH_TEXT(struct sick_model, name, name);
        HASH_ADD_KEYPTR(hh, sick->models, model->name, strlen(model->name), model);
    }
    model->refs++;
    return model;
}

static void model_unref(struct sick_nodes *sick, struct sick_model *model)
{
    if (--model->refs > 0)
        return;
    HASH_DEL(sick->models, model);
    free(model);
}

void sick_node_count(const struct sick_node *node, int sign)
{
    struct sick_model *model = node->model;
    const size_t one = (size_t)sign;
    const bool is_kept = node->illness && node->illness->mark.state != QUARANTINE_NONE;
    if (!node->has_gpus)
        return;
    model->n_nodes += one;
    if (is_kept)
        model->n_kept += one;
    else if (node->is_ready && !node->is_cordoned)
        model->n_spare += one;
    if (node->illness && node->illness->mark.n_traps > 0)
        model->n_trapped += one;
}

/* Nodes. */

void sick_node_ref(struct sick_node *node)
{
    node->refs++;
}

void sick_node_unref(struct sick_node *node)
{
    if (--node->refs == 0)
        free(node);
}

static struct sick_node *find_node(const struct sick_nodes *sick, const char *name)
{
    struct sick_node *node = NULL;
    HASH_FIND_STR(sick->nodes, name, node);
    return node;
}

static void remove_node(struct sick_nodes *sick, struct sick_node *node)
{
    sick_node_count(node, -1);
    if (node->illness)
        illness_free(sick, node->illness);
    node->has_gpus = false;
    model_unref(sick, node->model);
    node->model = NULL;
    HASH_DEL(sick->nodes, node);
    sick_node_unref(node);
}

void sick_nodes_free(struct sick_nodes *sick)
{
    if (!sick)
        return;
    sick_arrivals_forget(&sick->bound, INT64_MAX);
    sick_arrivals_forget(&sick->other, INT64_MAX);
    while (sick->nodes)
        remove_node(sick, sick->nodes);
    free(sick);
}

static void put_facts(struct sick_nodes *sick, struct sick_node *node,
                      const struct sick_node_facts *facts)
{
    struct sick_model *before = node->model;
    if (before)
        sick_node_count(node, -1);
    node->model = model_ref(sick, facts->model);
    node->has_gpus = facts->has_gpus;
    node->is_ready = facts->is_ready;
    node->is_cordoned = facts->is_cordoned;
    node->boot_id = facts->boot_id;
    node->allocatable = facts->allocatable;
    node->lifted = facts->lifted;
    sick_node_count(node, 1);
    if (before)
        model_unref(sick, before);
}

static void add_node(struct sick_nodes *sick, const struct sick_node_facts *facts, int64_t now_ms)
{
    struct sick_node *node = MEM_NEW_WITH_TEXT(struct sick_node, name, facts->name);
    node->refs = 1;
    node->changed_ms = now_ms;
    HASH_ADD_KEYPTR(hh, sick->nodes, node->name, strlen(node->name), node);
    put_facts(sick, node, facts);
}

/* After a change of the nodes. */
static void judge_again(struct sick_nodes *sick)
{
    if (!sick->ill)
        return;
    sick->due_ms = 0;
    for (const struct sick_model *model = sick->models; model; model = model->hh.next) {
        if (model->n_spare == 0 && model->n_kept > 0)
            illness_spare_last(sick, model);
    }
}

void sick_nodes_node(struct sick_nodes *sick, const struct sick_node_facts *facts, int64_t now_ms)
{
    struct sick_node *node = find_node(sick, facts->name);
    if (!node) {
        add_node(sick, facts, now_ms);
        judge_again(sick);
        return;
    }
    const bool is_other =
        node->boot_id != facts->boot_id || node->allocatable != facts->allocatable;
    const bool is_lifted = facts->lifted != 0 && facts->lifted != node->lifted;
    const bool is_ready_now = node->is_ready != facts->is_ready;
    if (is_other || is_ready_now)
        node->changed_ms = now_ms;
    put_facts(sick, node, facts);
    if (is_other || is_lifted)
        illness_lift(sick, node, is_lifted);
    judge_again(sick);
}

void sick_nodes_node_gone(struct sick_nodes *sick, const char *name)
{
    struct sick_node *node = find_node(sick, name);
    if (!node)
        return;
    remove_node(sick, node);
    judge_again(sick);
}

/* The new ledger knows no marks. */
void sick_nodes_move(struct sick_nodes *sick, const struct policy *policy, void *context)
{
    sick->policy = policy;
    sick->context = context;
    sick->due_ms = 0;
    struct illness *illness = NULL;
    struct illness *next = NULL;
    DL_FOREACH_SAFE (sick->ill, illness, next) {
        struct sick_node *node = illness->node;
        if (policy->quarantine.mode == AVOIDANCE_OFF)
            illness_lift(sick, node, true);
        else if (policy->shape_trap.mode == AVOIDANCE_OFF)
            illness_end_traps(sick, node);
        if (node->illness)
            illness_report(sick, node->illness);
    }
}

/* Pods. */

static struct sick_arrivals *arrivals_of(struct sick_nodes *sick, uint64_t uid,
                                         struct sick_bound **ret_bound)
{
    *ret_bound = sick_arrivals_find(&sick->bound, uid);
    if (*ret_bound)
        return &sick->bound;
    *ret_bound = sick_arrivals_find(&sick->other, uid);
    return &sick->other;
}

void sick_nodes_arrived(struct sick_nodes *sick, const struct sick_arrival *arrival, int64_t now_ms)
{
    struct sick_bound bound = {.uid = hash_text(arrival->uid),
                               .node = find_node(sick, arrival->node),
                               .shape = arrival->shape,
                               .was_waiting = arrival->was_waiting,
                               .had_room = arrival->had_room,
                               .at_ms = now_ms};
    struct sick_arrivals *arrivals = bound.was_waiting ? &sick->bound : &sick->other;
    struct sick_bound *known = NULL;
    (void)arrivals_of(sick, bound.uid, &known);
    if (!bound.node || known)
        return;
    bound.n_started = bound.node->n_started;
    sick_arrivals_forget(arrivals, now_ms - SICK_FAILS_MS);
    sick_arrivals_add(arrivals, &bound);
    if (bound.was_waiting)
        illness_arrived(sick, bound.node, bound.uid, now_ms);
}

void sick_nodes_started(struct sick_nodes *sick, const char *uid, const char *node, bool uses_gpus)
{
    struct sick_bound *bound = NULL;
    struct sick_arrivals *arrivals = arrivals_of(sick, hash_text(uid), &bound);
    struct sick_node *on = find_node(sick, node);
    if (bound)
        sick_arrivals_remove(arrivals, bound);
    if (!on || !uses_gpus)
        return;
    on->n_started++;
    illness_started(sick, on);
}

void sick_nodes_ended(struct sick_nodes *sick, const char *node)
{
    struct sick_node *on = find_node(sick, node);
    if (on)
        illness_end_traps(sick, on);
}

static int64_t settle_ms(const struct sick_nodes *sick)
{
    return (int64_t)sick->policy->quarantine.settle_s * 1000;
}

/* A failure may be seen late, as by a list: after the start of a pod that came later. */
static bool is_evidence(const struct sick_nodes *sick, const struct sick_bound *bound,
                        const struct failed_pod_facts *failed, int64_t now_ms)
{
    return bound->was_waiting && bound->had_room && failed->is_bound_by_us &&
           bound->n_started == bound->node->n_started && bound->node->has_gpus &&
           now_ms - bound->node->changed_ms >= settle_ms(sick);
}

static void judge_failure(struct sick_nodes *sick, const struct sick_bound *bound,
                          const struct failed_pod_facts *failed, int64_t now_ms)
{
    const enum refusal refusal = failed->refusal;
    if (!is_evidence(sick, bound, failed, now_ms))
        return;
    if (refusal == REFUSAL_TOPOLOGY && sick->policy->shape_trap.mode != AVOIDANCE_OFF)
        illness_trap(sick, bound->node, &bound->shape, now_ms);
    if ((refusal == REFUSAL_DEVICES || refusal == REFUSAL_GPUS) &&
        sick->policy->quarantine.mode != AVOIDANCE_OFF)
        illness_blame(sick, bound->node, &bound->shape, refusal, now_ms);
}

void sick_nodes_failed(struct sick_nodes *sick, const struct failed_pod_facts *failed,
                       int64_t now_ms)
{
    struct sick_bound *bound = NULL;
    struct sick_arrivals *arrivals = arrivals_of(sick, hash_text(failed->uid), &bound);
    if (!bound)
        return;
    if (!failed->has_run && now_ms - bound->at_ms <= SICK_FAILS_MS) {
        bound->node->n_refused[failed->refusal]++;
        judge_failure(sick, bound, failed, now_ms);
    }
    sick_arrivals_remove(arrivals, bound);
}

/* Numbers. */

uint64_t sick_nodes_n_marked(const struct sick_nodes *sick, enum refusal cause)
{
    return sick->n_marked[cause];
}

uint64_t sick_nodes_n_lifted(const struct sick_nodes *sick)
{
    return sick->n_lifted;
}

size_t sick_nodes_n_capped(const struct sick_nodes *sick)
{
    size_t n = 0;
    for (const struct illness *illness = sick->ill; illness; illness = illness->next)
        n += illness->mark.is_capped;
    return n;
}

size_t sick_nodes_refused(const struct sick_nodes *sick, struct arena *arena,
                          struct sick_refused **ret_nodes)
{
    static const uint64_t NONE[N_REFUSALS];
    struct sick_refused *nodes = ARENA_ARRAY(arena, struct sick_refused, HASH_COUNT(sick->nodes));
    size_t n = 0;
    for (const struct sick_node *node = sick->nodes; node; node = node->hh.next) {
        if (memcmp(node->n_refused, NONE, sizeof NONE) == 0)
            continue;
        nodes[n].node = arena_strdup(arena, node->name);
        memcpy(nodes[n++].n, node->n_refused, sizeof NONE);
    }
    *ret_nodes = nodes;
    return n;
}

size_t sick_nodes_models(const struct sick_nodes *sick, struct arena *arena,
                         struct sick_model_nodes **ret_models)
{
    struct sick_model_nodes *models =
        ARENA_ARRAY(arena, struct sick_model_nodes, HASH_COUNT(sick->models));
    size_t n = 0;
    for (const struct sick_model *model = sick->models; model; model = model->hh.next) {
        if (model->n_nodes > 0)
            models[n++] = (struct sick_model_nodes){arena_strdup(arena, model->name),
                                                    model->n_nodes, model->n_kept};
    }
    *ret_models = models;
    return n;
}
