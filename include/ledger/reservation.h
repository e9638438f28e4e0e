/*
 * reservation: room that is held for a pod until the watch shows what became of its binding.
 *
 * It counts as used until the ledger sees the pod on a node (then it is usage), finished or
 * deleted, or until it is released. There is at most one for a pod's UID. Whether a pod may have
 * one is judged by decide/reserve.h; here they are records.
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
    struct owner *owner; /* as of a pod */
    int64_t made_ms;     /* when room was held first; later calls don't change it */
    uint64_t serial;
};

/* One that is to be made; nothing of it is copied before. */
struct reservation_draft {
    const char *uid;
    const char *namespace_;
    const char *name;
    const char *replica_of; /* as in pod_facts */
    const char *node_name;
    int64_t made_ms;
    const struct pod_shape *shape; /* of the ledger; NULL before reservation_begin(): none yet */
};

/* Keeps the draft's shape until one of the two below; where it has none, that of the facts. */
void reservation_begin(struct cluster *cluster, struct reservation_draft *draft,
                       const struct shape_facts *facts);
/* Holds the room, whether or not there is any, and whether or not the node is there. The pod must
 * have no reservation. The serial is new. */
uint64_t reservation_commit(struct cluster *cluster, const struct reservation_draft *draft);
void reservation_abort(struct cluster *cluster, const struct reservation_draft *draft);
/* The pod's reservation gets a new serial, which is returned. */
uint64_t reservation_renew(struct cluster *cluster, const char *uid);

/* Room that another ledger held, as its snapshot says (objects/snapshot.h): held here too, whether
 * or not it fits, and whether or not the node is there. Nothing happens where the pod has a node,
 * or room already. The facts are the pod's; of them its identity and shape are copied. */
void reservation_restore(struct cluster *cluster, const struct pod_facts *facts,
                         const char *node_name, int64_t made_ms);
/* Only that of the serial: one that was held again since is another's. */
void reservation_release(struct cluster *cluster, const char *uid, uint64_t serial);

size_t cluster_n_reservations(const struct cluster *cluster);
const struct reservation *cluster_find_reservation(const struct cluster *cluster, const char *uid);
/* All, from NULL to NULL, the oldest first. */
const struct reservation *cluster_next_reservation(const struct cluster *cluster,
                                                   const struct reservation *reservation);
/* Those that hold room on the node, from NULL to NULL. Empty in a fork. */
const struct reservation *reservation_next_on(const struct node *node,
                                              const struct reservation *reservation);
/* The node that it holds room on, which need not be there. */
const struct node *reservation_node(const struct reservation *reservation);

#endif
