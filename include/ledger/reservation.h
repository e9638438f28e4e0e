/*
 * reservation: room held for a pod until the watch shows the outcome of its binding.
 *
 * It counts as used until the ledger sees the pod on a node (then it is usage), finished,
 * terminating or deleted, or until it is released. A UID has at most one. decide/reserve.h judges
 * whether a pod may have one; this file keeps the records.
 */
#ifndef LEDGER_RESERVATION_H
#define LEDGER_RESERVATION_H

#include "ledger/cluster.h"

struct reservation {
    const char *uid;
    const char *namespace_;
    const char *name;
    const char *node_name;
    const struct pod_shape *shape;
    int64_t priority;
    struct owner *owner; /* as in struct pod */
    int64_t made_ms;     /* when the room was first held; renewal keeps it */
    uint64_t serial;
};

/* A reservation to be made; borrowed strings, which commit copies. */
struct reservation_draft {
    const char *uid;
    const char *namespace_;
    const char *name;
    const char *replica_of; /* as in pod_facts */
    const char *node_name;
    int64_t priority;
    int64_t made_ms;
    const struct pod_shape
        *shape; /* one of the ledger's; before reservation_begin() NULL: none yet */
};

/* Refs the draft's shape until commit or abort; if NULL, interns a shape of the facts first. */
void reservation_begin(struct cluster *cluster, struct reservation_draft *draft,
                       const struct shape_facts *facts);
/* Holds the room, even if there is none or the node does not exist. The pod must have no
 * reservation. Returns the new serial. */
uint64_t reservation_commit(struct cluster *cluster, const struct reservation_draft *draft);
void reservation_abort(struct cluster *cluster, const struct reservation_draft *draft);
/* Gives the pod's reservation a new serial and returns it. */
uint64_t reservation_renew(struct cluster *cluster, const char *uid);

/* Holds room that another ledger held, from its snapshot (objects/snapshot.h), even if it does not
 * fit or the node does not exist. Does nothing if the pod has a node, is finished, or has room
 * already. Copies identity and shape from the pod's facts. */
void reservation_restore(struct cluster *cluster, const struct pod_facts *facts,
                         const char *node_name, int64_t made_ms);
/* Ends the reservation only with that serial: a renewed one has another holder. */
void reservation_release(struct cluster *cluster, const char *uid, uint64_t serial);

size_t cluster_n_reservations(const struct cluster *cluster);
const struct reservation *cluster_find_reservation(const struct cluster *cluster, const char *uid);
/* Iterates over all, the oldest first: NULL to NULL. */
const struct reservation *cluster_next_reservation(const struct cluster *cluster,
                                                   const struct reservation *reservation);
/* Iterates over those on the node: NULL to NULL. Empty in a fork. */
const struct reservation *reservation_next_on(const struct node *node,
                                              const struct reservation *reservation);
/* The node with the held room; it may not exist. */
const struct node *reservation_node(const struct reservation *reservation);

#endif
