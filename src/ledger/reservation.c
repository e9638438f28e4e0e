/* reservation: see include/ledger/reservation.h. */
#include "ledger/reservation.h"
#include "base/mem.h"
#include "ledger.h"
#include "ledger/claim.h"

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

/* The strings lie in one block, which begins with the uid. */
static void copy_strings(struct reservation *reservation, const struct reservation_draft *draft)
{
    const size_t uid_size = strlen(draft->uid) + 1;
    const size_t namespace_size = strlen(draft->namespace_) + 1;
    const size_t name_size = strlen(draft->name) + 1;
    char *at = mem_new(uid_size + namespace_size + name_size);
    reservation->uid = memcpy(at, draft->uid, uid_size);
    reservation->namespace_ = memcpy(at + uid_size, draft->namespace_, namespace_size);
    reservation->name = memcpy(at + uid_size + namespace_size, draft->name, name_size);
}

void reservation_begin(struct cluster *cluster, struct reservation_draft *draft,
                       const struct shape_facts *facts)
{
    if (draft->shape)
        shapes_hold_again(cluster->shapes, draft->namespace_, draft->shape);
    else
        draft->shape = shapes_hold(cluster->shapes, draft->namespace_, facts);
}

void reservation_abort(struct cluster *cluster, const struct reservation_draft *draft)
{
    shapes_drop(cluster->shapes, draft->namespace_, draft->shape);
}

uint64_t reservation_commit(struct cluster *cluster, const struct reservation_draft *draft)
{
    struct node *node = node_table_hold(cluster, draft->node_name);
    struct reservation_entry *entry = MEM_NEW(struct reservation_entry);
    copy_strings(&entry->reservation, draft);
    entry->reservation.node_name = node->name;
    entry->reservation.shape = draft->shape;
    entry->reservation.made_ms = draft->made_ms;
    entry->reservation.serial = ++cluster->n_serials;
    const char *uid = entry->reservation.uid;
    HASH_ADD_KEYPTR(hh, cluster->reservations, uid, strlen(uid), entry);
    node_table_add_reservation(node, entry);
    cluster_end_claim(cluster, uid);
    renew_nomination(cluster, uid);
    tenants_count(cluster, draft->namespace_, draft->shape, tenants_models(node), 1);
    entry->reservation.owner = owners_hold(&cluster->owners, draft->replica_of);
    owner_add(entry->reservation.owner, node);
    cluster->version++;
    return entry->reservation.serial;
}

uint64_t reservation_renew(struct cluster *cluster, const char *uid)
{
    struct reservation_entry *entry = find(cluster, uid);
    entry->reservation.serial = ++cluster->n_serials;
    return entry->reservation.serial;
}

void cluster_hold(struct cluster *cluster, const struct pod_facts *facts, const char *node_name,
                  int64_t made_ms)
{
    const struct pod *pod = cluster_find_pod(cluster, facts->uid);
    if (find(cluster, facts->uid) || (pod && (pod->node_name[0] || pod->finished)))
        return;
    struct reservation_draft draft = {.uid = facts->uid,
                                      .namespace_ = facts->namespace_,
                                      .name = facts->name,
                                      .replica_of = facts->replica_of,
                                      .node_name = node_name,
                                      .made_ms = made_ms};
    reservation_begin(cluster, &draft, &facts->shape);
    (void)reservation_commit(cluster, &draft);
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
        next = CONTAINER_OF(reservation, const struct reservation_entry, reservation)->hh.next;
    return next ? &next->reservation : NULL;
}

const struct reservation *node_next_reservation(const struct node *node,
                                                const struct reservation *reservation)
{
    const struct reservation_entry *next = node->reservations;
    if (reservation)
        next = CONTAINER_OF(reservation, const struct reservation_entry, reservation)->next;
    return next ? &next->reservation : NULL;
}

const struct node *reservation_node(const struct reservation *reservation)
{
    return CONTAINER_OF(reservation, const struct reservation_entry, reservation)->node;
}
