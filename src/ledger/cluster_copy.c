/* cluster_copy: see include/ledger/cluster_copy.h. */
#include "ledger/cluster_copy.h"
#include "base/mem.h"
#include "devices/devices.h"
#include "ledger.h"

#include <stdlib.h>
#include <string.h>

/* Classes before nodes and devices; nodes before the pods on them. */
enum stage {
    STAGE_NAMESPACES,
    STAGE_PRIORITY_CLASSES,
    STAGE_RUNTIME_CLASSES,
    STAGE_DEVICE_CLASSES,
    STAGE_NODES,
    STAGE_SLICES,
    STAGE_CLAIMS,
    STAGE_TAINTS,
    STAGE_CLAIM_TEMPLATES,
    STAGE_BUDGETS,
    STAGE_PODS,
    N_STAGES
};

struct cluster_copy {
    const struct cluster *from;
    struct cluster *to;
    enum stage stage;
    const void *last;     /* of the stage: what was copied last; NULL: nothing */
    uint64_t claims_done; /* version of the last claim that was copied; 0: none */
    /* For cluster_copy_some_anew(). */
    uint64_t edition;    /* of the cluster at the end of the last step */
    uint64_t last_order; /* of the last pod that was copied */
    size_t n_restarts;
};

/* A stage begins again if something has changed; after so many times the next step ends it. */
#define RESTARTS_MAX 16

struct cluster_copy *cluster_copy_new(const struct cluster *from, const struct policy *policy)
{
    struct cluster_copy *copy = MEM_NEW(struct cluster_copy);
    copy->from = from;
    copy->to = cluster_new(policy);
    memcpy(copy->to->relists, from->relists, sizeof from->relists);
    devices_continue_relists(copy->to->devices, from->devices);
    cluster_set_claims_known(copy->to, cluster_claims_known(from));
    cluster_set_claim_templates_known(copy->to, cluster_claim_templates_known(from));
    cluster_set_budgets_known(copy->to, cluster_budgets_known(from));
    copy->to->now_ms = from->now_ms;
    return copy;
}

/* Each copies the object after `last`, and when it was seen. Returns it; NULL: no more. */

static const void *next_namespace(struct cluster_copy *copy, const void *last)
{
    const struct namespace *next = cluster_next_namespace(copy->from, last);
    if (!next)
        return NULL;
    cluster_upsert_namespace(copy->to,
                             &(struct namespace_facts){next->name, next->labels, next->n_labels});
    namespace_usage_find(copy->to, next->name)->seen =
        CONTAINER_OF(next, const struct namespace_entry, namespace_)->seen;
    return next;
}

static const void *next_priority_class(struct cluster_copy *copy, const void *last)
{
    int64_t value = 0;
    bool is_default = false;
    const char *name = cluster_next_priority_class(copy->from, last, &value, &is_default);
    if (name)
        cluster_priority_classes_copy(copy->to, copy->from, name);
    return name;
}

static const void *next_runtime_class(struct cluster_copy *copy, const void *last)
{
    const char *name = cluster_next_runtime_class(copy->from, last);
    if (name)
        cluster_add_runtime_class(copy->to, name);
    return name;
}

static const void *next_device_class(struct cluster_copy *copy, const void *last)
{
    const char *resource = NULL;
    const char *name = cluster_next_device_class(copy->from, last, &resource);
    if (name)
        cluster_device_classes_copy(copy->to, copy->from, name);
    return name;
}

/* A node whose labels name no model now keeps the one that quotas counted. If they name one that
 * only the old policy understands, the new policy decides. */
static const struct traits_entry *last_known(const struct node *node)
{
    return node->traits->traits.gpus.model.chip[0] ? NULL : node->traits;
}

static const void *next_node(struct cluster_copy *copy, const void *last)
{
    const struct node *next = cluster_next_node(copy->from, last);
    if (!next)
        return NULL;
    struct arena *arena CLEANUP(arena_free_ptr) = arena_new();
    const struct node_facts facts = cluster_node_facts(next, arena);
    struct node *node = node_table_find_or_add(copy->to, next->name);
    changes_of_node(copy->to, node, node_traits_new(copy->to, &facts, last_known(next)), &facts);
    node->seen = next->seen;
    node->changed_ms = next->changed_ms;
    return next;
}

/* Names of slices and rules live in the old ledger. */
static const void *next_slice(struct cluster_copy *copy, const void *last)
{
    struct arena *arena CLEANUP(arena_free_ptr) = arena_new();
    struct slice_facts facts;
    if (!devices_next_slice(copy->from->devices, last, arena, &facts))
        return NULL;
    cluster_upsert_slice(copy->to, &facts);
    if (facts.is_unreadable)
        cluster_keep_slice(copy->to, facts.name);
    return devices_continue_seen(copy->to->devices, copy->from->devices, DEVICES_SLICES,
                                 facts.name);
}

static const void *next_claim(struct cluster_copy *copy, const void *last)
{
    const struct device_claim *next = devices_next_claim(copy->from->devices, last);
    if (!next)
        return NULL;
    struct arena *arena CLEANUP(arena_free_ptr) = arena_new();
    const struct claim_facts facts = devices_claim_facts(next, arena);
    cluster_upsert_resource_claim(copy->to, &facts);
    devices_continue_seen_claim(copy->to->devices, copy->from->devices, facts.namespace_,
                                facts.name);
    return next;
}

static const void *next_taint(struct cluster_copy *copy, const void *last)
{
    struct arena *arena CLEANUP(arena_free_ptr) = arena_new();
    struct device_taint_facts facts;
    if (!devices_next_taint(copy->from->devices, last, arena, &facts))
        return NULL;
    cluster_upsert_device_taint(copy->to, &facts);
    return devices_continue_seen(copy->to->devices, copy->from->devices, DEVICES_TAINTS,
                                 facts.name);
}

static const void *next_claim_template(struct cluster_copy *copy, const void *last)
{
    const struct claim_template_facts *next = cluster_next_claim_template(copy->from, last);
    if (next)
        cluster_claim_templates_copy(copy->to, next);
    return next;
}

static const void *next_budget(struct cluster_copy *copy, const void *last)
{
    const struct budget_facts *next = cluster_next_budget(copy->from, last);
    if (next)
        cluster_budgets_copy(copy->to, next);
    return next;
}

static struct pod_entry *find_pod(const struct cluster *cluster, const char *uid)
{
    struct pod_entry *entry = NULL;
    HASH_FIND_STR(cluster->pods, uid, entry);
    return entry;
}

static const void *next_pod(struct cluster_copy *copy, const void *last)
{
    const struct pod *next = cluster_next_pod(copy->from, last);
    if (!next)
        return NULL;
    const struct pod_facts facts = cluster_whole_pod_facts(next);
    cluster_upsert_pod(copy->to, &facts);
    find_pod(copy->to, next->uid)->seen = CONTAINER_OF(next, const struct pod_entry, pod)->seen;
    return next;
}

static const void *(*const NEXT[N_STAGES])(struct cluster_copy *copy, const void *last) = {
    [STAGE_NAMESPACES] = next_namespace,
    [STAGE_PRIORITY_CLASSES] = next_priority_class,
    [STAGE_RUNTIME_CLASSES] = next_runtime_class,
    [STAGE_DEVICE_CLASSES] = next_device_class,
    [STAGE_NODES] = next_node,
    [STAGE_SLICES] = next_slice,
    [STAGE_CLAIMS] = next_claim,
    [STAGE_TAINTS] = next_taint,
    [STAGE_CLAIM_TEMPLATES] = next_claim_template,
    [STAGE_BUDGETS] = next_budget,
    [STAGE_PODS] = next_pod,
};

bool cluster_copy_some(struct cluster_copy *copy, size_t n)
{
    for (; n > 0 && copy->stage < N_STAGES; n--) {
        copy->last = NEXT[copy->stage](copy, copy->last);
        if (!copy->last)
            copy->stage++;
    }
    return copy->stage == N_STAGES;
}

/* NULL: none. */
static const struct pod *last_pod_until(const struct cluster *cluster, uint64_t order)
{
    const struct pod_entry *last = NULL;
    for (const struct pod_entry *next = cluster->pods; next && next->order <= order;
         next = next->hh.next)
        last = next;
    return last ? &last->pod : NULL;
}

static void find_again(struct cluster_copy *copy)
{
    if (copy->edition == cluster_edition(copy->from))
        return;
    copy->n_restarts += copy->stage < STAGE_PODS && copy->last;
    copy->last = copy->stage == STAGE_PODS ? last_pod_until(copy->from, copy->last_order) : NULL;
}

static void remember_place(struct cluster_copy *copy)
{
    copy->edition = cluster_edition(copy->from);
    if (copy->stage == STAGE_PODS && copy->last)
        copy->last_order =
            CONTAINER_OF((const struct pod *)copy->last, const struct pod_entry, pod)->order;
}

bool cluster_copy_some_anew(struct cluster_copy *copy, size_t n)
{
    find_again(copy);
    while (copy->n_restarts > RESTARTS_MAX && copy->stage < STAGE_PODS)
        (void)cluster_copy_some(copy, 1);
    const bool is_complete = cluster_copy_some(copy, n);
    remember_place(copy);
    return is_complete;
}

void cluster_copy_abandon(struct cluster_copy *copy)
{
    cluster_free(copy->to);
    free(copy);
}

void cluster_copy_settle(struct cluster_copy *copy)
{
    gpu_demand_settle(copy->to);
}

static void copy_reservations(struct cluster_copy *copy)
{
    const struct reservation *held = NULL;
    while ((held = cluster_next_reservation(copy->from, held)))
        reservation_copy(copy->to, held);
}

static void copy_claim(struct cluster_copy *copy, const struct claim *claim)
{
    const struct pod_entry *entry = find_pod(copy->to, claim->uid);
    copy->claims_done = claim->version;
    if (!entry)
        return;
    const struct pod_facts facts = cluster_whole_pod_facts(&entry->pod);
    claims_copy(copy->to, claim, &facts, entry->pod.shape);
}

bool cluster_copy_claims(struct cluster_copy *copy, size_t n)
{
    const struct claim *claim = NULL;
    while ((claim = claims_next(copy->from, claim))) {
        if (claim->version <= copy->claims_done)
            continue;
        if (n-- == 0)
            return false;
        copy_claim(copy, claim);
    }
    return true;
}

/* First, as a new claim would replace an old one of a full table. */
static void end_old_claims(struct cluster_copy *copy)
{
    const struct claim *next = NULL;
    for (const struct claim *claim = claims_next(copy->to, NULL); claim; claim = next) {
        next = claims_next(copy->to, claim);
        if (!claims_has(copy->from, claim->uid))
            claims_end(copy->to, claim->uid);
    }
}

/* Readers who compare versions must see a change, and never an old number again. */
static void continue_versions(struct cluster_copy *copy)
{
    const struct cluster *from = copy->from;
    struct cluster *to = copy->to;
    to->version += from->version + 1;
    to->n_other_changes += from->n_other_changes;
    to->claims_version += from->claims_version + 1;
    to->n_serials = from->n_serials;
    to->nodes_changed_ms = from->nodes_changed_ms;
}

struct cluster *cluster_copy_end(struct cluster_copy *copy)
{
    struct cluster *to = copy->to;
    copy_reservations(copy);
    claim_usage_copy_refused(to, copy->from);
    end_old_claims(copy);
    (void)cluster_copy_claims(copy, SIZE_MAX);
    continue_versions(copy);
    free(copy);
    return to;
}

bool cluster_has_forks(const struct cluster *cluster)
{
    return cluster->shapes->refs > 1;
}
