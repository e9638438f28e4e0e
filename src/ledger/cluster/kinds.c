/* kinds: the row of each kind of object that the ledger keeps. See include/ledger/cluster.h. */
#include "base/mem.h"
#include "ledger/ledger.h"

#include <stdlib.h>
#include <string.h>

/* The objects of dra/, which has lists of its own. */

static bool is_of_devices(enum cluster_kind kind)
{
    return kind == CLUSTER_SLICES || kind == CLUSTER_CLAIMS || kind == CLUSTER_DEVICE_TAINTS;
}

static enum devices_kind kind_of(enum cluster_kind kind)
{
    if (kind == CLUSTER_SLICES)
        return DEVICES_SLICES;
    return kind == CLUSTER_CLAIMS ? DEVICES_CLAIMS : DEVICES_TAINTS;
}

static const void *next_slice(const struct cluster *cluster, const void *last, struct arena *arena,
                              const void **ret_facts)
{
    struct slice_facts *facts = ARENA_NEW(arena, struct slice_facts);
    *ret_facts = facts;
    return devices_next_slice(cluster->devices, last, arena, facts);
}

static const void *next_taint(const struct cluster *cluster, const void *last, struct arena *arena,
                              const void **ret_facts)
{
    struct device_taint_facts *facts = ARENA_NEW(arena, struct device_taint_facts);
    *ret_facts = facts;
    return devices_next_taint(cluster->devices, last, arena, facts);
}

static const void *next_claim(const struct cluster *cluster, const void *last, struct arena *arena,
                              const void **ret_facts)
{
    const struct device_claim *next = devices_next_claim(cluster->devices, last);
    struct claim_facts *facts = ARENA_NEW(arena, struct claim_facts);
    if (next)
        *facts = devices_claim_facts(next, arena);
    *ret_facts = facts;
    return next;
}

/* Names of slices and rules live in the original. */
static const void *see_slice(struct cluster *copy, const struct cluster *original, const void *name)
{
    return devices_continue_seen(copy->devices, original->devices, DEVICES_SLICES, name);
}

static const void *see_taint(struct cluster *copy, const struct cluster *original, const void *name)
{
    return devices_continue_seen(copy->devices, original->devices, DEVICES_TAINTS, name);
}

static const void *see_claim(struct cluster *copy, const struct cluster *original,
                             const void *claim)
{
    const struct device_claim *seen = claim;
    devices_continue_seen_claim(copy->devices, original->devices, seen->namespace_, seen->name);
    return claim;
}

/* id: "namespace/name". */
static void call_with_names(struct cluster *cluster, const char *id,
                            void (*function)(struct cluster *cluster, const char *namespace_,
                                             const char *name))
{
    const size_t len = strcspn(id, "/");
    char *namespace_ = mem_strndup(id, len);
    function(cluster, namespace_, &id[len] + (id[len] == '/'));
    free(namespace_);
}

static void delete_claim(struct cluster *cluster, const char *id)
{
    call_with_names(cluster, id, cluster_delete_resource_claim);
}

static void keep_claim(struct cluster *cluster, const char *id)
{
    call_with_names(cluster, id, cluster_keep_resource_claim);
}

/* Facts come as their type. */
#define UPSERTS(name, function)                                                                    \
    static void name(struct cluster *cluster, const void *facts)                                   \
    {                                                                                              \
        function(cluster, facts);                                                                  \
    }

UPSERTS(upsert_node, cluster_upsert_node)
UPSERTS(upsert_pod, cluster_upsert_pod)
UPSERTS(upsert_namespace, cluster_upsert_namespace)
UPSERTS(upsert_priority_class, cluster_upsert_priority_class)
UPSERTS(upsert_device_class, cluster_upsert_device_class)
UPSERTS(upsert_slice, cluster_upsert_slice)
UPSERTS(upsert_claim, cluster_upsert_resource_claim)
UPSERTS(upsert_template, cluster_upsert_claim_template)
UPSERTS(upsert_budget, cluster_upsert_budget)
UPSERTS(upsert_pod_group, pod_groups_upsert)

/* A rule without an effect taints nothing. */
static void upsert_taint(struct cluster *cluster, const void *facts)
{
    const struct device_taint_facts *rule = facts;
    if (rule->effect)
        cluster_upsert_device_taint(cluster, rule);
    else
        cluster_delete_device_taint(cluster, rule->name);
}

/* Of a kind without a row, only names are kept. */

struct kept_name {
    struct kept kept;
    char name[];
};

static void upsert_name(struct cluster *cluster, enum cluster_kind kind, const char *name)
{
    if (kept_see(cluster, kind, name))
        return;
    struct kept_name *object = MEM_NEW_WITH_TEXT(struct kept_name, name, name);
    kept_add(cluster, kind, &object->kept, object->name);
    kept_changed(cluster, kind);
}

static const void *name_of(const struct kept *object, struct arena *arena)
{
    struct name_facts *facts = ARENA_NEW(arena, struct name_facts);
    facts->name = arena_strdup(arena, object->hh.key);
    return facts;
}

const struct ledger_kind LEDGER_KINDS[N_LEDGER_KINDS] = {
    [CLUSTER_NODES] = {.copied = COPIED_AS_NODES,
                       .upsert = upsert_node,
                       .remove = cluster_delete_node,
                       .keep = cluster_keep_node,
                       .count = cluster_n_nodes,
                       .sweep = cluster_nodes_sweep},
    [CLUSTER_PODS] = {.copied = COPIED_LAST,
                      .upsert = upsert_pod,
                      .remove = cluster_delete_pod,
                      .keep = cluster_keep_pod,
                      .count = cluster_n_pods,
                      .sweep = cluster_pods_sweep},
    [CLUSTER_NAMESPACES] = {.upsert = upsert_namespace,
                            .remove = cluster_delete_namespace,
                            .keep = cluster_namespaces_keep,
                            .count = cluster_n_namespaces,
                            .sweep = cluster_namespaces_sweep,
                            .next = cluster_namespaces_next,
                            .see = cluster_namespaces_see},
    [CLUSTER_PRIORITY_CLASSES] = {.upsert = upsert_priority_class,
                                  .facts = cluster_priority_classes_facts},
    [CLUSTER_DEVICE_CLASSES] = {.copied = COPIED_BEFORE_NODES,
                                .upsert = upsert_device_class,
                                .facts = cluster_device_classes_facts,
                                .let_go = cluster_device_classes_let_go,
                                .changed = changes_of_device_classes},
    [CLUSTER_SLICES] = {.copied = COPIED_AFTER_NODES,
                        .upsert = upsert_slice,
                        .remove = cluster_delete_slice,
                        .keep = cluster_keep_slice,
                        .next = next_slice,
                        .see = see_slice},
    [CLUSTER_CLAIMS] = {.copied = COPIED_AFTER_NODES,
                        .upsert = upsert_claim,
                        .remove = delete_claim,
                        .keep = keep_claim,
                        .next = next_claim,
                        .see = see_claim},
    [CLUSTER_DEVICE_TAINTS] = {.copied = COPIED_AFTER_NODES,
                               .upsert = upsert_taint,
                               .remove = cluster_delete_device_taint,
                               .keep = cluster_keep_device_taint,
                               .next = next_taint,
                               .see = see_taint},
    [CLUSTER_CLAIM_TEMPLATES] = {.copied = COPIED_AFTER_NODES,
                                 .upsert = upsert_template,
                                 .facts = cluster_claim_templates_facts,
                                 .let_go = cluster_claim_templates_let_go},
    [CLUSTER_BUDGETS] = {.copied = COPIED_AFTER_NODES,
                         .upsert = upsert_budget,
                         .facts = cluster_budgets_facts,
                         .let_go = cluster_budgets_let_go,
                         .changed = cluster_budgets_changed},
    [CLUSTER_POD_GROUPS] = {.upsert = upsert_pod_group, .facts = pod_groups_facts},
};

void cluster_upsert(struct cluster *cluster, enum cluster_kind kind, const void *facts)
{
    if (LEDGER_KINDS[kind].upsert)
        LEDGER_KINDS[kind].upsert(cluster, facts);
    else
        upsert_name(cluster, kind, ((const struct name_facts *)facts)->name);
}

void cluster_delete(struct cluster *cluster, enum cluster_kind kind, const char *id)
{
    if (LEDGER_KINDS[kind].remove)
        LEDGER_KINDS[kind].remove(cluster, id);
    else
        kept_delete(cluster, kind, id);
}

void cluster_keep(struct cluster *cluster, enum cluster_kind kind, const char *id)
{
    if (LEDGER_KINDS[kind].keep)
        LEDGER_KINDS[kind].keep(cluster, id);
    else
        (void)kept_see(cluster, kind, id);
}

size_t cluster_n_objects(const struct cluster *cluster, enum cluster_kind kind)
{
    if (is_of_devices(kind))
        return devices_count(cluster->devices, kind_of(kind));
    if (LEDGER_KINDS[kind].count)
        return LEDGER_KINDS[kind].count(cluster);
    return HASH_COUNT(cluster->kept[kind].first);
}

bool cluster_has_object(const struct cluster *cluster, enum cluster_kind kind, const char *id)
{
    return kept_find(cluster, kind, id) != NULL;
}

const char *cluster_next_id(const struct cluster *cluster, enum cluster_kind kind, const char *id)
{
    const struct kept *next =
        id ? kept_find(cluster, kind, id)->hh.next : cluster->kept[kind].first;
    return next ? next->hh.key : NULL;
}

const void *cluster_next_object(const struct cluster *cluster, enum cluster_kind kind,
                                const void *last, struct arena *arena, const void **ret_facts)
{
    const struct ledger_kind *row = &LEDGER_KINDS[kind];
    const struct kept *object = last;
    if (row->next)
        return row->next(cluster, last, arena, ret_facts);
    object = object ? object->hh.next : cluster->kept[kind].first;
    if (object)
        *ret_facts = row->facts ? row->facts(object, arena) : name_of(object, arena);
    return object;
}

const void *kinds_see(struct cluster *copy, const struct cluster *original, enum cluster_kind kind,
                      const void *object)
{
    if (LEDGER_KINDS[kind].see)
        return LEDGER_KINDS[kind].see(copy, original, object);
    const struct kept *kept = object;
    kept_find(copy, kind, kept->hh.key)->seen = kept->seen;
    return object;
}

void cluster_relist_begin(struct cluster *cluster, enum cluster_kind kind)
{
    cluster->relists[kind]++;
    cluster->kept[kind].is_sweeping = false; /* left by an interrupted list */
    if (is_of_devices(kind))
        devices_relist_begin(cluster->devices, kind_of(kind));
}

/* Upserts during the sweep mark objects as seen, so the sweep may or may not reach them. */
bool cluster_relist_sweep(struct cluster *cluster, enum cluster_kind kind, size_t work)
{
    if (is_of_devices(kind))
        return cluster_devices_sweep(cluster, kind_of(kind), work);
    if (LEDGER_KINDS[kind].sweep)
        return LEDGER_KINDS[kind].sweep(cluster, work);
    return kept_sweep(cluster, kind, work);
}

void cluster_relist_end(struct cluster *cluster, enum cluster_kind kind)
{
    (void)cluster_relist_sweep(cluster, kind, SIZE_MAX);
}

void cluster_set_known(struct cluster *cluster, enum cluster_kind kind, bool known)
{
    if (cluster->is_unknown[kind] == !known)
        return;
    cluster->is_unknown[kind] = !known;
    cluster->n_other_changes++;
    if (kind == CLUSTER_CLAIMS)
        cluster_devices_renew(cluster);
}

bool cluster_knows(const struct cluster *cluster, enum cluster_kind kind)
{
    return !cluster->is_unknown[kind];
}

enum cluster_kind cluster_kind_in_order(size_t i)
{
    size_t n = 0;
    for (int copied = 0; copied < N_COPIED; copied++) {
        for (int kind = 0; kind < N_LEDGER_KINDS; kind++) {
            if ((int)LEDGER_KINDS[kind].copied == copied && n++ == i)
                return (enum cluster_kind)kind;
        }
    }
    return N_LEDGER_KINDS;
}
