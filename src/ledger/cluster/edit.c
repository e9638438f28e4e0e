/* edit: see include/ledger/edit.h. */
#include "ledger/edit.h"
#include "base/mem.h"
#include "dra/devices.h"
#include "ledger/ledger.h"
#include "ledger/peer.h"
#include "types/device_facts.h"

#include <string.h>

static const char HOSTNAME_LABEL[] = "kubernetes.io/hostname";
/* Of these the control plane sets and removes taints by the node's state. */
static const char STATE_TAINTS[] = "node.kubernetes.io/";

static bool is_of_kind(const struct pod *pod, const char *kind)
{
    const size_t len = strlen(kind);
    return pod->controller && strncmp(pod->controller, kind, len) == 0 &&
           pod->controller[len] == '/';
}

bool edit_stays(const struct pod *pod)
{
    return is_of_kind(pod, "DaemonSet") || is_of_kind(pod, "Node");
}

void edit_cordon(struct cluster *cluster, const char *node)
{
    struct arena *arena CLEANUP(arena_free_ptr) = arena_new();
    const struct node *found = cluster_find_node(cluster, node);
    if (!found)
        return;
    struct node_facts facts = cluster_node_facts(found, arena);
    facts.unschedulable = true;
    cluster_upsert_node(cluster, &facts);
}

/* ---- pods ---- */

static const char *copy_text(const char *text, struct arena *arena)
{
    return text ? arena_strdup(arena, text) : NULL;
}

/* All that a change of the pod would free is in the arena. */
static struct pod_facts copy_facts(const struct pod *pod, struct arena *arena)
{
    struct pod_facts facts = cluster_whole_pod_facts(pod);
    facts.uid = arena_strdup(arena, facts.uid);
    facts.namespace_ = arena_strdup(arena, facts.namespace_);
    facts.name = arena_strdup(arena, facts.name);
    facts.priority_class = arena_strdup(arena, facts.priority_class);
    facts.replica_of = arena_strdup(arena, facts.replica_of);
    facts.refusal = copy_text(facts.refusal, arena);
    facts.claims = copy_text(facts.claims, arena);
    facts.controller = copy_text(facts.controller, arena);
    facts.group = copy_text(facts.group, arena);
    facts.gang = copy_text(facts.gang, arena);
    facts.node_name = facts.nominated_node = "";
    facts.extended_claim = facts.not_evaluated = NULL;
    facts.unscheduled_reason = facts.unscheduled_message = NULL;
    facts.started_s = 0;
    facts.ready = facts.unstarted = false;
    facts.lacks_peers |= facts.lacks_own_terms;
    return facts;
}

static void release_claim(struct cluster *cluster, const char *namespace_, const char *name,
                          const char *uid)
{
    struct arena *arena CLEANUP(arena_free_ptr) = arena_new();
    const struct device_claim *claim = devices_find_claim(cluster->devices, namespace_, name);
    if (!claim)
        return;
    struct claim_facts facts = devices_claim_facts(claim, arena);
    const char **holders = ARENA_ARRAY(arena, const char *, facts.n_holders);
    const char **names = ARENA_ARRAY(arena, const char *, facts.n_holders);
    size_t n = 0;
    for (size_t i = 0; i < facts.n_holders; i++) {
        holders[n] = facts.holders[i];
        names[n] = facts.holder_names[i];
        n += strcmp(facts.holders[i], uid) != 0;
    }
    facts.n_all_holders -= facts.n_holders - n;
    facts.holders = holders;
    facts.holder_names = names;
    facts.n_holders = n;
    if (facts.n_all_holders == 0) {
        facts.is_allocated = facts.is_unready = false;
        facts.n_results = 0;
        facts.nodes = NULL;
    }
    cluster_upsert_resource_claim(cluster, &facts);
}

static void release_claims(struct cluster *cluster, const struct pod *pod)
{
    struct arena *arena CLEANUP(arena_free_ptr) = arena_new();
    for (const char *at = pod->claims; at && *at;) {
        const size_t len = strcspn(at, "\n");
        release_claim(cluster, pod->namespace_, arena_printf(arena, "%.*s", (int)len, at),
                      pod->uid);
        at += len + (at[len] != '\0');
    }
    if (pod->extended_claim)
        cluster_delete_resource_claim(cluster, pod->namespace_, pod->extended_claim);
}

void edit_evict(struct cluster *cluster, const char *uid)
{
    struct arena *arena CLEANUP(arena_free_ptr) = arena_new();
    const struct pod *pod = cluster_find_pod(cluster, uid);
    if (!pod)
        return;
    const struct pod_facts facts = copy_facts(pod, arena);
    release_claims(cluster, pod);
    cluster_upsert_pod(cluster, &facts);
}

void edit_remove(struct cluster *cluster, const char *uid)
{
    const struct pod *pod = cluster_find_pod(cluster, uid);
    if (!pod)
        return;
    char *own_uid CLEANUP(mem_free_ptr) = mem_strdup(uid); /* may be the pod's */
    release_claims(cluster, pod);
    cluster_delete_pod(cluster, own_uid);
}

void edit_place(struct cluster *cluster, const char *uid, const char *node)
{
    struct arena *arena CLEANUP(arena_free_ptr) = arena_new();
    const struct pod *pod = cluster_find_pod(cluster, uid);
    if (!pod)
        return;
    struct pod_facts facts = copy_facts(pod, arena);
    facts.node_name = node;
    cluster_upsert_pod(cluster, &facts);
}

/* ---- nodes ---- */

void edit_remove_node(struct cluster *cluster, const char *node)
{
    const struct node *found = cluster_find_node(cluster, node);
    const struct pod *next = found ? node_next_pod(found, NULL) : NULL;
    for (const struct pod *pod = next; pod; pod = next) {
        next = node_next_pod(found, pod);
        edit_remove(cluster, pod->uid);
    }
    cluster_delete_node(cluster, node);
}

static const struct label *labels_of(const struct node_facts *facts, const char *name,
                                     struct arena *arena)
{
    struct label *labels = ARENA_ARRAY(arena, struct label, facts->n_labels);
    for (size_t i = 0; i < facts->n_labels; i++) {
        labels[i] = facts->labels[i];
        if (strcmp(labels[i].key, HOSTNAME_LABEL) == 0)
            labels[i].value = name;
    }
    return labels;
}

static void keep_own_taints(struct node_facts *facts, struct arena *arena)
{
    struct taint *taints = ARENA_ARRAY(arena, struct taint, facts->n_taints);
    size_t n = 0;
    for (size_t i = 0; i < facts->n_taints; i++) {
        if (strncmp(facts->taints[i].key, STATE_TAINTS, strlen(STATE_TAINTS)) != 0)
            taints[n++] = facts->taints[i];
    }
    facts->taints = taints;
    facts->n_taints = n;
}

/* Finished and terminating ones would not be there. */
static const struct pod *next_staying(const struct node *node, const struct pod *pod)
{
    do {
        pod = node_next_pod(node, pod);
    } while (pod && (!edit_stays(pod) || pod->terminating));
    return pod;
}

static size_t size_of_text(const char *text)
{
    return text ? strlen(text) + 1 : 0;
}

/* With its rows on the node. Texts that the ledger keeps once count each time. */
static size_t size_of_pod(const struct pod_facts *facts, const struct pod_shape *shape)
{
    return sizeof(struct pod_entry) + size_of_text(facts->uid) + size_of_text(facts->name) +
           size_of_text(facts->refusal) + size_of_text(facts->controller) +
           shape->n_needs * sizeof(struct node_resource);
}

static size_t size_of_node(const struct node_facts *facts)
{
    size_t size = sizeof(struct node) + sizeof(struct traits_entry) + size_of_text(facts->name) +
                  (facts->n_capacity + facts->n_allocatable) * sizeof(struct node_resource);
    for (size_t i = 0; i < facts->n_labels; i++)
        size += sizeof(struct label) + size_of_text(facts->labels[i].key) +
                size_of_text(facts->labels[i].value);
    for (size_t i = 0; i < facts->n_taints; i++)
        size += sizeof(struct taint) + size_of_text(facts->taints[i].key) +
                size_of_text(facts->taints[i].value);
    return size;
}

/* Returns its size. */
static size_t add_copy(struct cluster *cluster, const struct pod *pod, const char *node, size_t i)
{
    struct arena *arena CLEANUP(arena_free_ptr) = arena_new();
    struct pod_facts facts = copy_facts(pod, arena);
    facts.node_name = node;
    facts.uid = facts.name = arena_printf(arena, "%s/%zu", node, i); /* no name of an object */
    facts.claims = NULL;
    cluster_upsert_pod(cluster, &facts);
    return size_of_pod(&facts, pod->shape);
}

/* The names are no names of objects. Returns their size. */
static size_t add_slices(struct cluster *cluster, const char *node,
                         const struct edit_slices *slices)
{
    struct arena *arena CLEANUP(arena_free_ptr) = arena_new();
    size_t bytes = 0;
    for (size_t i = 0; i < slices->n; i++) {
        struct slice_facts facts = *slices->items[i];
        facts.name = arena_printf(arena, "%s/%zu", node, i);
        facts.pool = arena_printf(arena, "%s/%s", node, facts.pool);
        facts.node_name = node;
        cluster_upsert_slice(cluster, &facts);
        bytes += devices_slice_bytes(&facts);
    }
    return bytes;
}

struct edit_added edit_add_like(struct cluster *cluster, const char *like, const char *name,
                                const struct edit_slices *slices)
{
    struct arena *arena CLEANUP(arena_free_ptr) = arena_new();
    const struct node *model = cluster_find_node(cluster, like);
    if (!model)
        return (struct edit_added){0};
    struct node_facts facts = cluster_node_facts(model, arena);
    facts.labels = labels_of(&facts, name, arena);
    keep_own_taints(&facts, arena);
    facts.conditions = NULL;
    facts.name = name;
    facts.uid = "";
    facts.unschedulable = false;
    facts.ready = true;
    cluster_upsert_node(cluster, &facts);
    struct edit_added added = {.bytes = size_of_node(&facts)};
    if (slices)
        added.bytes += add_slices(cluster, name, slices);
    for (const struct pod *pod = next_staying(model, NULL); pod; pod = next_staying(model, pod))
        added.bytes += add_copy(cluster, pod, name, added.n_pods++);
    return added;
}
