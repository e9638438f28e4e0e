/* cluster_copy: see include/ledger/cluster_copy.h. */
#include "ledger/cluster_copy.h"
#include "base/mem.h"
#include "ledger/gangs.h"
#include "ledger/ledger.h"

#include <stdlib.h>
#include <string.h>

struct cluster_copy {
    const struct cluster *from;
    struct cluster *to;
    size_t n_pods;        /* at the beginning */
    size_t stage;         /* kinds that are copied, in the order of enum copied */
    const void *last;     /* of the present kind: what was copied last; NULL: nothing */
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
    copy->n_pods = HASH_COUNT(from->pods);
    copy->to = cluster_new(policy);
    memcpy(copy->to->relists, from->relists, sizeof from->relists);
    devices_continue_relists(copy->to->devices, from->devices);
    memcpy(copy->to->is_unknown, from->is_unknown, sizeof from->is_unknown);
    copy->to->now_ms = from->now_ms;
    copy->to->minor = from->minor;
    return copy;
}

/* Each copies the object after `last`, and when it was seen. Returns it; NULL: no more. */

static const void *next_object(struct cluster_copy *copy, enum cluster_kind kind, const void *last)
{
    struct arena *arena CLEANUP(arena_free_ptr) = arena_new();
    const void *facts = NULL;
    const void *next = cluster_next_object(copy->from, kind, last, arena, &facts);
    if (!next)
        return NULL;
    cluster_upsert(copy->to, kind, facts);
    return kinds_see(copy->to, copy->from, kind, next);
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

static const void *next_of(struct cluster_copy *copy, enum cluster_kind kind, const void *last)
{
    if (kind == CLUSTER_NODES)
        return next_node(copy, last);
    return kind == CLUSTER_PODS ? next_pod(copy, last) : next_object(copy, kind, last);
}

static bool is_copying_pods(const struct cluster_copy *copy)
{
    return copy->stage == N_LEDGER_KINDS - 1;
}

void cluster_copy_make_room(struct cluster_copy *copy)
{
    struct pod_entry *pods = copy->to->pods;
    while (pods && pods->hh.tbl->num_buckets < copy->n_pods)
        HASH_EXPAND_BUCKETS(hh, pods->hh.tbl, );
}

bool cluster_copy_some(struct cluster_copy *copy, size_t n)
{
    for (; n > 0 && copy->stage < N_LEDGER_KINDS; n--) {
        copy->last = next_of(copy, cluster_kind_in_order(copy->stage), copy->last);
        if (!copy->last)
            copy->stage++;
    }
    return copy->stage == N_LEDGER_KINDS;
}

/* Of the copied pods that are still there. NULL: none. */
static const struct pod *last_pod(const struct cluster_copy *copy)
{
    struct pod_entry *pods = copy->to->pods;
    const struct pod_entry *copied = pods ? ELMT_FROM_HH(pods->hh.tbl, pods->hh.tbl->tail) : NULL;
    for (; copied; copied = copied->hh.prev) {
        const struct pod_entry *entry = find_pod(copy->from, copied->pod.uid);
        if (entry && entry->order <= copy->last_order)
            return &entry->pod;
    }
    return NULL;
}

static void find_again(struct cluster_copy *copy)
{
    if (copy->edition == cluster_edition(copy->from))
        return;
    copy->n_restarts += copy->stage < N_LEDGER_KINDS - 1 && copy->last;
    copy->last = is_copying_pods(copy) ? last_pod(copy) : NULL;
}

static void remember_place(struct cluster_copy *copy)
{
    copy->edition = cluster_edition(copy->from);
    if (is_copying_pods(copy) && copy->last)
        copy->last_order =
            CONTAINER_OF((const struct pod *)copy->last, const struct pod_entry, pod)->order;
}

bool cluster_copy_some_anew(struct cluster_copy *copy, size_t n)
{
    find_again(copy);
    while (copy->n_restarts > RESTARTS_MAX && copy->stage < N_LEDGER_KINDS - 1)
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

/* Groups that were incomplete for too long stay given up. */
static void copy_treatments(const struct cluster_copy *copy)
{
    struct gang gang = {0};
    for (const char *key = NULL; (key = gangs_next(copy->from, key, &gang));)
        gangs_treat(copy->to, key, gang.treatment);
}

struct cluster *cluster_copy_end(struct cluster_copy *copy)
{
    struct cluster *to = copy->to;
    copy_reservations(copy);
    copy_treatments(copy);
    claim_usage_copy_refused(to, copy->from);
    end_old_claims(copy);
    (void)cluster_copy_claims(copy, SIZE_MAX);
    continue_versions(copy);
    gpu_time_continue(to, copy->from);
    free(copy);
    return to;
}

bool cluster_has_forks(const struct cluster *cluster)
{
    return cluster->shapes->refs > 1;
}
