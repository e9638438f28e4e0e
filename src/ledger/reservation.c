/* reservation: see include/ledger/reservation.h. */
#include "ledger/reservation.h"
#include "base/mem.h"
#include "ledger.h"

#include <stdlib.h>
#include <string.h>

static struct reservation_entry *find(const struct cluster *cluster, const char *uid)
{
    struct reservation_entry *entry = NULL;
    HASH_FIND_STR(cluster->reservations, uid, entry);
    return entry;
}

/* The three strings share one allocation, which starts with the UID. */
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
        shapes_ref_shape(cluster->shapes, draft->namespace_, draft->shape);
    else
        draft->shape = shapes_intern(cluster->shapes, draft->namespace_, facts);
}

void reservation_abort(struct cluster *cluster, const struct reservation_draft *draft)
{
    shapes_unref_shape(cluster->shapes, draft->namespace_, draft->shape);
}

uint64_t reservation_commit(struct cluster *cluster, const struct reservation_draft *draft)
{
    struct node *node = node_table_find_or_add(cluster, draft->node_name);
    struct reservation_entry *entry = MEM_NEW(struct reservation_entry);
    copy_strings(&entry->reservation, draft);
    entry->reservation.node_name = node->name;
    entry->reservation.shape = draft->shape;
    entry->reservation.priority = draft->priority;
    entry->reservation.owner = owners_ref(&cluster->owners, draft->replica_of);
    entry->reservation.made_ms = draft->made_ms;
    entry->reservation.serial = ++cluster->n_serials;
    const char *uid = entry->reservation.uid;
    HASH_ADD_KEYPTR(hh, cluster->reservations, uid, strlen(uid), entry);
    changes_reservation_added(cluster, node, entry);
    return entry->reservation.serial;
}

uint64_t reservation_renew(struct cluster *cluster, const char *uid)
{
    struct reservation_entry *entry = find(cluster, uid);
    entry->reservation.serial = ++cluster->n_serials;
    return entry->reservation.serial;
}

void reservation_restore(struct cluster *cluster, const struct pod_facts *facts,
                         const char *node_name, int64_t made_ms)
{
    const struct pod *pod = cluster_find_pod(cluster, facts->uid);
    if (find(cluster, facts->uid) || (pod && (pod->node_name[0] || pod->finished)))
        return;
    struct reservation_draft draft = {.uid = facts->uid,
                                      .namespace_ = facts->namespace_,
                                      .name = facts->name,
                                      .replica_of = facts->replica_of,
                                      .node_name = node_name,
                                      .priority = facts->priority,
                                      .made_ms = made_ms};
    reservation_begin(cluster, &draft, &facts->shape);
    (void)reservation_commit(cluster, &draft);
}

void reservation_copy(struct cluster *cluster, const struct reservation *reservation)
{
    struct reservation_draft draft = {.uid = reservation->uid,
                                      .namespace_ = reservation->namespace_,
                                      .name = reservation->name,
                                      .replica_of = owners_uid(reservation->owner),
                                      .node_name = reservation->node_name,
                                      .priority = reservation->priority,
                                      .made_ms = reservation->made_ms};
    reservation_begin(cluster, &draft, &reservation->shape->facts);
    (void)reservation_commit(cluster, &draft);
    find(cluster, reservation->uid)->reservation.serial = reservation->serial;
}

static void free_entry(struct cluster *cluster, struct reservation_entry *entry)
{
    shapes_unref_shape(cluster->shapes, entry->reservation.namespace_, entry->reservation.shape);
    owners_unref(&cluster->owners, entry->reservation.owner);
    free((void *)(uintptr_t)entry->reservation.uid);
    free(entry);
}

static void forget(struct cluster *cluster, struct reservation_entry *entry)
{
    HASH_DEL(cluster->reservations, entry);
    changes_reservation_removed(cluster, entry);
    free_entry(cluster, entry);
}

void reservation_forget(struct cluster *cluster, const char *uid)
{
    struct reservation_entry *entry = find(cluster, uid);
    if (entry)
        forget(cluster, entry);
}

void reservation_free_all(struct cluster *cluster)
{
    struct reservation_entry *entry = NULL;
    struct reservation_entry *next = NULL;
    HASH_ITER (hh, cluster->reservations, entry, next) {
        HASH_DEL(cluster->reservations, entry);
        free_entry(cluster, entry);
    }
}

void reservation_release(struct cluster *cluster, const char *uid, uint64_t serial)
{
    struct reservation_entry *entry = find(cluster, uid);
    if (entry && entry->reservation.serial == serial)
        forget(cluster, entry);
}

const struct reservation *reservation_next_on(const struct node *node,
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
