/* reserve: see include/core/reserve.h. */
#include "core/reserve.h"
#include "base/mem.h"
#include "core/claim.h"
#include "core/quota.h"
#include "ledger.h"

#include <stdlib.h>
#include <string.h>

static struct reservation_entry *find(const struct cluster *cluster, const char *uid)
{
    struct reservation_entry *entry = NULL;
    HASH_FIND_STR(cluster->reservations, uid, entry);
    return entry;
}

/* What the pod was promised ends with its reservation, or begins again after it. */
static void renew_nomination(struct cluster *cluster, const char *uid)
{
    struct pod_entry *pod = NULL;
    HASH_FIND_STR(cluster->pods, uid, pod);
    if (pod)
        nominate_renew(cluster, pod);
}

/* What is known of the pod: by the ledger, else by the facts. */
struct known {
    const char *namespace_;
    const char *name;
    const char *node_name;
    const char *refusal;
    const char *replica_of;
    bool gone;
    struct asker asker;
    const struct pod_shape *shape; /* NULL: that of the facts */
    bool needs_facts; /* the ledger keeps no more than the demand: the facts are judged */
};

static bool are_facts_of(const struct pod_facts *facts, const char *uid)
{
    return facts && strcmp(facts->uid, uid) == 0;
}

static bool find_known(const struct cluster *cluster, const struct reserve_question *question,
                       struct known *ret_known)
{
    const struct pod *pod = cluster_find_pod(cluster, question->uid);
    const struct pod_facts *facts = question->facts;
    if (pod)
        *ret_known = (struct known){pod->namespace_,
                                    pod->name,
                                    pod->node_name,
                                    pod->refusal,
                                    owner_uid(pod->owner),
                                    pod->finished || pod->terminating,
                                    asker_of(pod),
                                    pod->shape,
                                    pod->shape->facts.demand_only};
    else if (are_facts_of(facts, question->uid))
        *ret_known = (struct known){facts->namespace_,
                                    facts->name,
                                    facts->node_name,
                                    facts->refusal,
                                    facts->replica_of,
                                    facts->finished || facts->terminating,
                                    asker_of_facts(facts),
                                    NULL,
                                    false};
    else
        return false;
    return true;
}

/* The strings lie in one block, which begins with the uid. */
static void copy_strings(struct reservation *reservation, const struct known *known,
                         const char *uid)
{
    const size_t uid_size = strlen(uid) + 1;
    const size_t namespace_size = strlen(known->namespace_) + 1;
    const size_t name_size = strlen(known->name) + 1;
    char *at = mem_new(uid_size + namespace_size + name_size);
    reservation->uid = memcpy(at, uid, uid_size);
    reservation->namespace_ = memcpy(at + uid_size, known->namespace_, namespace_size);
    reservation->name = memcpy(at + uid_size + namespace_size, known->name, name_size);
}

/* The shape's hold goes to the reservation. */
static uint64_t hold(struct cluster *cluster, const struct reserve_question *question,
                     const struct known *known, struct node *node)
{
    struct reservation_entry *entry = MEM_NEW(struct reservation_entry);
    copy_strings(&entry->reservation, known, question->uid);
    entry->reservation.node_name = node->name;
    entry->reservation.shape = known->shape;
    entry->reservation.made_ms = question->now_ms;
    entry->reservation.serial = ++cluster->n_serials;
    const char *uid = entry->reservation.uid;
    HASH_ADD_KEYPTR(hh, cluster->reservations, uid, strlen(uid), entry);
    node_table_add_reservation(node, entry);
    cluster_end_claim(cluster, uid);
    renew_nomination(cluster, uid);
    tenants_count(cluster, known->namespace_, known->shape, tenants_models(node), 1);
    entry->reservation.owner = owners_hold(&cluster->owners, known->replica_of);
    owner_add(entry->reservation.owner, node);
    cluster->version++;
    return entry->reservation.serial;
}

static enum reserve_verdict hold_if_it_fits(struct cluster *cluster,
                                            const struct reserve_question *question,
                                            struct known *known, struct reserve_result *result)
{
    struct node *node = node_index_find(&cluster->node_index, question->node_name);
    if (known->shape)
        shapes_hold_again(cluster->shapes, known->namespace_, known->shape);
    else
        known->shape = shapes_hold(cluster->shapes, known->namespace_, &question->facts->shape);
    if (node && !node->traits)
        node = NULL;
    struct arena *arena CLEANUP(arena_free_ptr) = arena_new();
    const struct fit_question fit = {
        .shape = known->shape->facts.demand_only
                     ? cluster_resolve(cluster, &question->facts->shape, arena)
                     : known->shape,
        .refusal = known->refusal,
        .scope = FIT_OURS,
        .asker = known->asker,
        .quota = quota_begin(cluster, known->namespace_, known->shape, NULL, arena)};
    quota_promise(fit.quota, cluster, &known->asker, QUOTA_NO_CLAIMS, arena);
    result->reason = fit_judge(node, &fit);
    if (!node || result->reason != REASON_FITS) {
        result->why = fit_text(node, &fit, result->reason);
        shapes_drop(cluster->shapes, known->namespace_, known->shape);
        return RESERVE_REFUSED;
    }
    result->serial = hold(cluster, question, known, node);
    return RESERVE_HELD;
}

static enum reserve_verdict hold_again(struct cluster *cluster, struct reservation_entry *entry,
                                       const char *node_name, struct reserve_result *result)
{
    if (strcmp(entry->reservation.node_name, node_name) != 0) {
        result->node_name = entry->reservation.node_name;
        return RESERVE_HELD_ELSEWHERE;
    }
    entry->reservation.serial = ++cluster->n_serials;
    result->serial = entry->reservation.serial;
    return RESERVE_HELD;
}

static enum reserve_verdict judge_bound(const struct known *known, const char *node_name,
                                        struct reserve_result *result)
{
    if (strcmp(known->node_name, node_name) == 0)
        return RESERVE_BOUND_HERE;
    result->node_name = known->node_name;
    return RESERVE_BOUND_ELSEWHERE;
}

enum reserve_verdict cluster_reserve(struct cluster *cluster,
                                     const struct reserve_question *question,
                                     struct reserve_result *ret_result)
{
    struct known known = {0};
    *ret_result = (struct reserve_result){0};
    if (!find_known(cluster, question, &known))
        return RESERVE_POD_UNKNOWN;
    if (known.node_name[0])
        return judge_bound(&known, question->node_name, ret_result);
    if (known.gone)
        return RESERVE_POD_GONE;
    struct reservation_entry *held = find(cluster, question->uid);
    if (held)
        return hold_again(cluster, held, question->node_name, ret_result);
    if (known.needs_facts && !are_facts_of(question->facts, question->uid))
        return RESERVE_POD_UNKNOWN;
    return hold_if_it_fits(cluster, question, &known, ret_result);
}

void cluster_hold(struct cluster *cluster, const struct pod_facts *facts, const char *node_name,
                  int64_t made_ms)
{
    const struct pod *pod = cluster_find_pod(cluster, facts->uid);
    if (find(cluster, facts->uid) || (pod && (pod->node_name[0] || pod->finished)))
        return;
    const struct reserve_question question = {
        .uid = facts->uid, .node_name = node_name, .now_ms = made_ms};
    const struct known known = {.namespace_ = facts->namespace_,
                                .name = facts->name,
                                .replica_of = facts->replica_of,
                                .shape =
                                    shapes_hold(cluster->shapes, facts->namespace_, &facts->shape)};
    (void)hold(cluster, &question, &known, node_table_hold(cluster, node_name));
}

static void free_entry(struct cluster *cluster, struct reservation_entry *entry)
{
    shapes_drop(cluster->shapes, entry->reservation.namespace_, entry->reservation.shape);
    owners_drop(&cluster->owners, entry->reservation.owner);
    free((void *)(uintptr_t)entry->reservation.uid);
    free(entry);
}

static void forget(struct cluster *cluster, struct reservation_entry *entry)
{
    struct node *node = entry->node;
    const struct reservation *held = &entry->reservation;
    tenants_count(cluster, held->namespace_, held->shape, tenants_models(node), -1);
    owner_remove(held->owner, node);
    node_table_remove_reservation(cluster, node, entry);
    node_table_release(cluster, node);
    HASH_DEL(cluster->reservations, entry);
    renew_nomination(cluster, entry->reservation.uid);
    free_entry(cluster, entry);
    cluster->version++;
}

void reserve_forget(struct cluster *cluster, const char *uid)
{
    struct reservation_entry *entry = find(cluster, uid);
    if (entry)
        forget(cluster, entry);
}

void reserve_free_all(struct cluster *cluster)
{
    struct reservation_entry *entry = NULL;
    struct reservation_entry *next = NULL;
    HASH_ITER (hh, cluster->reservations, entry, next) {
        HASH_DEL(cluster->reservations, entry);
        free_entry(cluster, entry);
    }
}

void cluster_release(struct cluster *cluster, const char *uid, uint64_t serial)
{
    struct reservation_entry *entry = find(cluster, uid);
    if (entry && entry->reservation.serial == serial)
        forget(cluster, entry);
}

size_t cluster_n_reservations(const struct cluster *cluster)
{
    return HASH_COUNT(cluster->reservations);
}

const struct reservation *cluster_find_reservation(const struct cluster *cluster, const char *uid)
{
    const struct reservation_entry *entry = find(cluster, uid);
    return entry ? &entry->reservation : NULL;
}

const struct reservation *cluster_next_reservation(const struct cluster *cluster,
                                                   const struct reservation *reservation)
{
    const struct reservation_entry *next = cluster->reservations;
    if (reservation)
        next = ((const struct reservation_entry *)reservation)->hh.next;
    return next ? &next->reservation : NULL;
}

const struct reservation *node_next_reservation(const struct node *node,
                                                const struct reservation *reservation)
{
    const struct reservation_entry *next = node->reservations;
    if (reservation)
        next = ((const struct reservation_entry *)reservation)->next;
    return next ? &next->reservation : NULL;
}
