/* cluster_read: read access to the ledger's nodes, pods and reservations. */
#include "base/mem.h"
#include "ledger/ledger.h"
#include "ledger/peer.h"
#include "ledger/shape_limits.h"

#include <string.h>

size_t cluster_n_nodes(const struct cluster *cluster)
{
    return cluster->n_present_nodes;
}

size_t cluster_n_ordered(const struct cluster *cluster)
{
    return cluster->n_ordered;
}

size_t cluster_n_pods(const struct cluster *cluster)
{
    return HASH_COUNT(cluster->pods);
}

const struct node *cluster_find_node(const struct cluster *cluster, const char *name)
{
    const struct node *node = node_index_find(&cluster->node_index, name);
    return node && node->traits ? node : NULL;
}

void cluster_find_nodes(const struct cluster *cluster, const struct hashed_text *names, size_t n,
                        const struct node **ret_nodes)
{
    node_index_find_all(&cluster->node_index, names, n, ret_nodes);
}

const struct node *cluster_next_node(const struct cluster *cluster, const struct node *node)
{
    return node ? node->next : cluster->nodes;
}

const struct node *cluster_next_missing_node(const struct cluster *cluster, const struct node *node)
{
    return node ? node->next : cluster->missing_nodes;
}

const struct pod *cluster_find_pod(const struct cluster *cluster, const char *uid)
{
    struct pod_entry *entry = NULL;
    HASH_FIND_STR(cluster->pods, uid, entry);
    return entry ? &entry->pod : NULL;
}

const struct pod *cluster_find_pod_named(const struct cluster *cluster, const char *namespace_,
                                         const char *name)
{
    const struct pod_entry *entry = pod_names_find(&cluster->pod_names, namespace_, name);
    return entry ? &entry->pod : NULL;
}

const struct pod *cluster_next_pod(const struct cluster *cluster, const struct pod *pod)
{
    const struct pod_entry *next =
        pod ? CONTAINER_OF(pod, const struct pod_entry, pod)->hh.next : cluster->pods;
    return next ? &next->pod : NULL;
}

struct label_view cluster_pod_view(const struct pod *pod)
{
    return (struct label_view){.node_name = "",
                               .labels = pod->labels ? pod->labels->labels : NULL,
                               .n_labels = pod->labels ? pod->labels->n_labels : 0};
}

struct pod_facts cluster_pod_facts(const struct pod *pod)
{
    return (struct pod_facts){.uid = pod->uid,
                              .namespace_ = pod->namespace_,
                              .name = pod->name,
                              .node_name = pod->node_name,
                              .nominated_node = pod->nominated_node,
                              .priority_class = pod->priority_class,
                              .finished = pod->finished,
                              .terminating = pod->terminating,
                              .gated = pod->gated,
                              .ready = pod->ready,
                              .unstarted = pod->unstarted,
                              .qos = pod->qos,
                              .priority = pod->priority,
                              .created_s = pod->created_s,
                              .started_s = pod->started_s,
                              .refusal = pod->refusal,
                              .extended_claim = pod->extended_claim,
                              .claims = pod->claims,
                              .made_claims = pod->made_claims,
                              .unscheduled_reason = pod->unscheduled_reason,
                              .unscheduled_message = pod->unscheduled_message,
                              .controller = pod->controller,
                              .group = pod->group,
                              .gang = pod->gang,
                              .gang_size = pod->gang_size,
                              .domain = pod->domain,
                              .scheduler = pod->scheduler,
                              .not_evaluated = pod->not_evaluated,
                              .lacks_peers = pod->lacks_peers,
                              .lacks_own_terms = pod->lacks_own_terms};
}

static void add_amounts(const struct node *node, struct arena *arena, struct node_facts *facts)
{
    struct amount *capacity = ARENA_ARRAY(arena, struct amount, node->n_resources);
    struct amount *allocatable = ARENA_ARRAY(arena, struct amount, node->n_resources);
    size_t n = 0;
    for (size_t i = 0; i < node->n_resources; i++) {
        const struct node_resource *row = &node->resources[i];
        if (!row->advertised)
            continue;
        capacity[n] = (struct amount){row->resource->name, row->capacity};
        allocatable[n++] = (struct amount){row->resource->name, row->allocatable};
    }
    facts->capacity = capacity;
    facts->allocatable = allocatable;
    facts->n_capacity = facts->n_allocatable = n;
}

struct node_facts cluster_node_facts(const struct node *node, struct arena *arena)
{
    const struct node_traits *traits = &node->traits->traits;
    struct node_facts facts = {.name = node->name,
                               .uid = traits->uid,
                               .labels = traits->view.labels,
                               .n_labels = traits->view.n_labels,
                               .taints = traits->taints,
                               .n_taints = traits->n_taints,
                               .unschedulable = traits->unschedulable,
                               .ready = traits->ready,
                               .conditions = traits->conditions};
    add_amounts(node, arena, &facts);
    return facts;
}

struct pod_facts cluster_whole_pod_facts(const struct pod *pod)
{
    struct pod_facts facts = cluster_pod_facts(pod);
    facts.replica_of = owners_uid(pod->owner);
    facts.shape = pod->shape->facts;
    facts.peers = peer_joined(pod->labels, pod->terms);
    if (pod->own_terms) {
        facts.peers.affinity = pod->own_terms->affinity;
        facts.peers.n_affinity = pod->own_terms->n_affinity;
        facts.peers.spread = pod->own_terms->spread;
        facts.peers.n_spread = pod->own_terms->n_spread;
    }
    return facts;
}

static const char *copy_text(const char *text, struct arena *arena)
{
    return text ? arena_strdup(arena, text) : NULL;
}

struct pod cluster_copy_pod(const struct pod *pod, struct arena *arena)
{
    struct pod copy = *pod;
    copy.shape = NULL;
    copy.owner = NULL;
    copy.labels = copy.terms = copy.own_terms = NULL;
    copy.uid = arena_strdup(arena, pod->uid);
    copy.namespace_ = arena_strdup(arena, pod->namespace_);
    copy.name = arena_strdup(arena, pod->name);
    copy.node_name = arena_strdup(arena, pod->node_name);
    copy.nominated_node = arena_strdup(arena, pod->nominated_node);
    copy.planned_node = arena_strdup(arena, pod->planned_node);
    copy.priority_class = arena_strdup(arena, pod->priority_class);
    copy.refusal = copy_text(pod->refusal, arena);
    copy.extended_claim = copy_text(pod->extended_claim, arena);
    copy.claims = copy_text(pod->claims, arena);
    copy.unscheduled_reason = copy_text(pod->unscheduled_reason, arena);
    copy.unscheduled_message = copy_text(pod->unscheduled_message, arena);
    copy.controller = copy_text(pod->controller, arena);
    copy.group = copy_text(pod->group, arena);
    copy.gang = copy_text(pod->gang, arena);
    copy.domain = copy_text(pod->domain, arena);
    copy.scheduler = copy_text(pod->scheduler, arena);
    copy.not_evaluated = copy_text(pod->not_evaluated, arena);
    return copy;
}

bool cluster_know_pod(const struct cluster *cluster, const char *uid, uint64_t version,
                      struct arena *arena, struct pod_facts *ret_facts)
{
    const struct pod *pod = cluster_find_pod(cluster, uid);
    if (!pod || version == 0 || pod->version != version || pod->shape->facts.demand_only)
        return false;
    const struct pod copy = cluster_copy_pod(pod, arena);
    *ret_facts = cluster_pod_facts(&copy);
    ret_facts->replica_of = arena_strdup(arena, owners_uid(pod->owner));
    ret_facts->shape = shape_copy(&pod->shape->facts, arena);
    ret_facts->soft_preferences = pod->soft_preferences;
    return true;
}

size_t cluster_n_reservations(const struct cluster *cluster)
{
    return HASH_COUNT(cluster->reservations);
}

const struct reservation *cluster_find_reservation(const struct cluster *cluster, const char *uid)
{
    const struct reservation_entry *entry = NULL;
    HASH_FIND_STR(cluster->reservations, uid, entry);
    return entry ? &entry->reservation : NULL;
}

const struct reservation *cluster_next_reservation(const struct cluster *cluster,
                                                   const struct reservation *reservation)
{
    const struct reservation_entry *next = cluster->reservations;
    if (reservation)
        next = CONTAINER_OF(reservation, const struct reservation_entry, reservation)->hh.next;
    return next ? &next->reservation : NULL;
}

struct shape_use cluster_shape_use(const struct cluster *cluster)
{
    const struct shapes *shapes = cluster->shapes;
    struct shape_use use = {
        HASH_COUNT(shapes->shapes), shapes->limited_bytes + shapes->demand_bytes, {0}};
    memcpy(use.n_pods_over, cluster->n_pods_over, sizeof use.n_pods_over);
    return use;
}

const struct resource *cluster_find_resource(const struct cluster *cluster, const char *name)
{
    if (!cluster->is_fork)
        return shapes_find_resource(cluster->shapes, name);
    const struct fork_resource *known = NULL;
    HASH_FIND_STR(cluster->fork_resources, name, known);
    return known ? known->resource : NULL;
}

/* A resource that no node of this ledger has. Its address equals no other. */
static const struct resource *unknown_resource(const struct policy *policy, const char *name,
                                               struct arena *arena)
{
    struct resource *resource = ARENA_NEW(arena, struct resource);
    *resource = shapes_resource(policy, name);
    return resource;
}

const struct pod_shape *cluster_resolve(const struct cluster *cluster,
                                        const struct shape_facts *facts, struct arena *arena)
{
    struct pod_shape *shape = ARENA_NEW(arena, struct pod_shape);
    struct need *needs = ARENA_ARRAY(arena, struct need, facts->n_demand);
    for (size_t i = 0; i < facts->n_demand; i++) {
        const char *name = facts->demand[i].resource;
        const struct resource *resource = cluster_find_resource(cluster, name);
        if (!resource)
            resource = unknown_resource(cluster->policy, name, arena);
        needs[i] = (struct need){resource, facts->demand[i].amount};
    }
    shape->facts = *facts;
    shape->needs = needs;
    shape->n_needs = facts->n_demand;
    shape->n_gpu_needs = needs_put_gpus_first(needs, shape->n_needs);
    return shape;
}
