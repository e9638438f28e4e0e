/*
 * peer: the pods on nodes as affinity between pods and topology spread see them.
 *
 * A ledger keeps pods' labels and terms. A fork has the pods that count, as a flat list, so that
 * decide/peer_rules.h needs no lock. Pods that are being bound count as pods on their node. A dry
 * run adds the pods that it places.
 */
#ifndef LEDGER_PEER_H
#define LEDGER_PEER_H

#include "base/arena.h"
#include "ledger/cluster.h"

/* A pod on a node of the fork. */
struct peer {
    const struct node *node;
    const char *namespace_;
    const struct peer_facts *labels; /* NULL: it has none */
    const struct peer_facts *terms;  /* NULL: none that concern others */
    bool terminating;
    bool is_owned; /* private to ledger: the fork holds references */
};

/* A pod that is nominated to the peer's node. kube-scheduler counts it only where it judges this
 * node for pods of at most its priority (PROTOCOL 4.4). */
struct nominated_peer {
    struct peer peer;
    const char *uid;
    int64_t priority;
};

/* With PEERS_REPELLING the fork has only pods with required anti-affinity: enough for pods without
 * terms of their own. */
enum peers_wanted { PEERS_NONE, PEERS_REPELLING, PEERS_ALL };

/* cluster_fork(), with the peers that are wanted, in steps of n nodes or pods: others may take the
 * lock in between. Nodes and sums are those of the step that copied the last node. A pod that comes
 * or goes after it is in the list of peers or not; one that moves may be there twice. OUTDATED: a
 * node came, went or offers something else, or too many changed. Free it then, and begin again. */
enum fork_step { FORK_GOES_ON, FORK_IS_COMPLETE, FORK_IS_OUTDATED };
struct cluster *cluster_fork_begin(struct cluster *cluster, enum peers_wanted wanted);
/* Between the first two, without a lock: what takes long to allocate. Need not be called. */
void cluster_fork_make_room(struct cluster *fork);
enum fork_step cluster_fork_some(struct cluster *fork, struct cluster *cluster, size_t n);
/* All at once. */
struct cluster *cluster_fork_with(struct cluster *cluster, enum peers_wanted wanted);
/* False if the ledger was replaced since cluster_fork(): its pods may not be added. */
bool cluster_is_fork_of(const struct cluster *fork, const struct cluster *cluster);
/* Releases n references of the list, which must not be used any more; true: none is left.
 * cluster_fork_free() releases all at once. */
bool cluster_fork_peers_release(struct cluster *fork, size_t n);
/* In no order. wanted: at most what the fork has. */
const struct peer *cluster_peers(const struct cluster *fork, enum peers_wanted wanted,
                                 size_t *ret_n);
/* The nominated pods, in no order. */
const struct nominated_peer *cluster_nominated_peers(const struct cluster *fork, size_t *ret_n);
/* Adds n pods to a fork with PEERS_ALL; does nothing with PEERS_REPELLING unless the pod repels
 * others. The facts and the namespace must outlive the fork. */
void cluster_add_peers(struct cluster *fork, const struct peer *peer, int64_t n);
/* Pods whose labels or terms are unknown: not kept for lack of room, or being bound before the
 * watch shows them. */
size_t cluster_n_lacking_peers(const struct cluster *cluster);
/* The namespace's labels in a fork, sorted by key; 0 if it does not exist. */
size_t cluster_peer_namespace(const struct cluster *fork, const char *name,
                              const struct label **ret_labels);

/* Both parts of a pod in one; each may be NULL. Borrows. */
struct peer_facts peer_joined(const struct peer_facts *labels, const struct peer_facts *terms);
/* All that the copy points to is in the arena. */
struct peer_facts peer_copy(const struct peer_facts *facts, struct arena *arena);

#endif
