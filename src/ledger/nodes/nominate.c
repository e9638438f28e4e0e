/* nominate: see include/ledger/nominate.h. */
#include "ledger/nominate.h"
#include "base/mem.h"
#include "ledger/claims.h"
#include "ledger/ledger.h"

#include <stdlib.h>
#include <string.h>

const char *nominate_place(const struct pod *pod)
{
    return pod->planned_node[0] ? pod->planned_node : pod->nominated_node;
}

bool nominate_is_due(const struct cluster *cluster, const struct pod *pod)
{
    return nominate_place(pod)[0] && !pod->node_name[0] && !pod->finished && !pod->terminating &&
           !pod->gated && !pod->refusal && !cluster_find_reservation(cluster, pod->uid);
}

static void list_for_quotas(struct cluster *cluster, struct nomination_entry *entry)
{
    if (entry->counts_for_quotas)
        DL_APPEND2(cluster->nominations, entry, all_prev, all_next);
}

static void begin(struct cluster *cluster, struct pod_entry *entry)
{
    const struct pod *pod = &entry->pod;
    struct node *node = node_table_find_or_add(cluster, nominate_place(pod));
    entry->nomination = MEM_NEW(struct nomination_entry);
    *entry->nomination = (struct nomination_entry){
        .nomination = {pod->uid, pod->namespace_, pod->priority, pod->created_s, pod->shape->needs,
                       pod->shape->n_needs, pod->planned_node[0] ? gangs_group_of(entry) : NULL},
        .node = node,
        .counts_for_quotas = cluster->policy->n_quotas > 0 && pod->shape->n_gpu_needs > 0,
    };
    DL_APPEND(node->nominations, entry->nomination);
    list_for_quotas(cluster, entry->nomination);
    node_hot_renew(node);
    claims_nominated(cluster, pod->uid);
}

void nominate_end(struct cluster *cluster, struct pod_entry *entry)
{
    struct nomination_entry *nomination = entry->nomination;
    if (!nomination)
        return;
    struct node *node = nomination->node;
    DL_DELETE(node->nominations, nomination);
    if (nomination->counts_for_quotas)
        DL_DELETE2(cluster->nominations, nomination, all_prev, all_next);
    node_hot_renew(node);
    entry->nomination = NULL;
    free(nomination);
    node_table_release(cluster, node);
}

void nominate_renew(struct cluster *cluster, struct pod_entry *entry)
{
    const bool is_due = nominate_is_due(cluster, &entry->pod);
    if (is_due && !entry->nomination)
        begin(cluster, entry);
    if (!is_due)
        nominate_end(cluster, entry);
}

void nominate_fork_node(struct cluster *fork, struct node *copy, const struct node *node)
{
    const struct nomination_entry *entry = NULL;
    DL_FOREACH (node->nominations, entry) {
        struct nomination_entry *mine = ARENA_NEW(fork->fork_arena, struct nomination_entry);
        mine->nomination = entry->nomination;
        mine->nomination.uid = arena_strdup(fork->fork_arena, entry->nomination.uid);
        mine->nomination.namespace_ = arena_strdup(fork->fork_arena, entry->nomination.namespace_);
        mine->nomination.needs = arena_copy(fork->fork_arena, entry->nomination.needs,
                                            entry->nomination.n_needs, sizeof(struct need));
        mine->node = copy;
        mine->counts_for_quotas = entry->counts_for_quotas;
        DL_APPEND(copy->nominations, mine);
        list_for_quotas(fork, mine);
    }
}

void nominate_fork_drop(struct cluster *fork, struct node *copy)
{
    struct nomination_entry *entry = NULL;
    DL_FOREACH (copy->nominations, entry) {
        if (entry->counts_for_quotas)
            DL_DELETE2(fork->nominations, entry, all_prev, all_next);
    }
    copy->nominations = NULL;
}

const struct nomination *nomination_next_on(const struct node *node,
                                            const struct nomination *nomination)
{
    const struct nomination_entry *next = node->nominations;
    if (nomination)
        next = CONTAINER_OF(nomination, const struct nomination_entry, nomination)->next;
    return next ? &next->nomination : NULL;
}

const struct nomination *nomination_next(const struct cluster *cluster,
                                         const struct nomination *nomination)
{
    const struct nomination_entry *next = cluster->nominations;
    if (nomination)
        next = CONTAINER_OF(nomination, const struct nomination_entry, nomination)->all_next;
    return next ? &next->nomination : NULL;
}

const struct node *nomination_node(const struct nomination *nomination)
{
    return CONTAINER_OF(nomination, const struct nomination_entry, nomination)->node;
}

/* The pod that asks. */

struct asker asker_from_pod(const struct pod *pod)
{
    return (struct asker){.uid = pod->uid,
                          .priority = pod->priority,
                          .created_s = pod->created_s,
                          .nominated_node = nominate_place(pod),
                          .extended_claim = pod->extended_claim,
                          .namespace_ = pod->namespace_,
                          .controller = pod->controller,
                          .qos = pod->qos};
}

struct asker asker_from_facts(const struct pod_facts *facts)
{
    return (struct asker){.uid = facts->uid,
                          .priority = facts->priority,
                          .created_s = facts->created_s,
                          .nominated_node = facts->nominated_node,
                          .extended_claim = facts->extended_claim,
                          .namespace_ = facts->namespace_,
                          .controller = facts->controller,
                          .qos = facts->qos};
}

static bool was_promised(const struct node *node, const struct asker *asker)
{
    return asker->nominated_node && strcmp(asker->nominated_node, node_name(node)) == 0;
}

/* A pod that does not exist yet is the youngest. */
static bool is_older(const struct nomination *nomination, const struct asker *asker)
{
    if (!asker->uid)
        return true;
    if (nomination->created_s != asker->created_s)
        return nomination->created_s < asker->created_s;
    return strcmp(nomination->uid, asker->uid) < 0;
}

static bool is_kept_from(const struct node *node, const struct nomination *nomination,
                         const struct asker *asker)
{
    if (asker->uid && strcmp(nomination->uid, asker->uid) == 0)
        return false;
    if (nomination->group && nomination->group == asker->group)
        return false;
    if (nomination->priority != asker->priority)
        return nomination->priority > asker->priority;
    return !was_promised(node, asker) || is_older(nomination, asker);
}

bool nominate_outranks(const struct nomination *nomination, const struct asker *asker)
{
    const bool is_nominated = asker->nominated_node && asker->nominated_node[0];
    if (asker->uid && strcmp(nomination->uid, asker->uid) == 0)
        return false;
    if (nomination->priority != asker->priority)
        return nomination->priority > asker->priority;
    return !is_nominated || is_older(nomination, asker);
}

int64_t nominate_kept(const struct node *node, const struct asker *asker,
                      const struct resource *resource)
{
    int64_t kept = 0;
    for (const struct nomination *other = nomination_next_on(node, NULL); other;
         other = nomination_next_on(node, other)) {
        if (is_kept_from(node, other, asker))
            kept = amount_add(kept, needs_find(other->needs, other->n_needs, resource));
    }
    return kept;
}

bool nominate_is_kept_by_plans(const struct node *node, const struct asker *asker,
                               const struct resource *resource)
{
    for (const struct nomination *other = nomination_next_on(node, NULL); other;
         other = nomination_next_on(node, other)) {
        if (other->group && is_kept_from(node, other, asker) &&
            needs_find(other->needs, other->n_needs, resource) > 0)
            return true;
    }
    return false;
}

static bool needs_any(const struct pod_shape *shape, const struct nomination *other)
{
    for (size_t i = 0; i < shape->n_gpu_needs; i++) {
        if (needs_find(other->needs, other->n_needs, shape->needs[i].resource) > 0)
            return true;
    }
    return false;
}

const struct nomination *nominate_blocker(const struct node *node, const struct asker *asker,
                                          const struct pod_shape *shape)
{
    const struct nomination *blocker = NULL;
    for (const struct nomination *other = nomination_next_on(node, NULL); other;
         other = nomination_next_on(node, other)) {
        if (is_kept_from(node, other, asker) && needs_any(shape, other) &&
            (!blocker || strcmp(other->uid, blocker->uid) < 0))
            blocker = other;
    }
    return blocker;
}

static bool needs_some_of(const struct pod_shape *shape, const struct pod_shape *used)
{
    for (size_t i = 0; i < shape->n_gpu_needs; i++) {
        if (shape_need(used, shape->needs[i].resource) > 0)
            return true;
    }
    return false;
}

static bool is_victim(const struct pod *pod, const struct asker *asker)
{
    return pod->terminating && pod->priority < asker->priority;
}

bool nominate_has_victims(const struct node *node, const struct asker *asker)
{
    const struct pod *pod = node_next_pod(node, NULL);
    while (pod && !is_victim(pod, asker))
        pod = node_next_pod(node, pod);
    return pod;
}

bool nominate_is_being_made(const struct node *node, const struct asker *asker,
                            const struct pod_shape *shape)
{
    const struct pod *pod = was_promised(node, asker) ? node_next_pod(node, NULL) : NULL;
    for (; pod; pod = node_next_pod(node, pod)) {
        if (is_victim(pod, asker) && needs_some_of(shape, pod->shape))
            return true;
    }
    return false;
}
