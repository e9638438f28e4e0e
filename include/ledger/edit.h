/*
 * edit: changes of a ledger of one's own, to ask what would be. Each is a change that events could
 * make, so all sums stay those of the objects.
 *
 * The ledger must be no fork and have none. Names that it does not have change nothing.
 */
#ifndef LEDGER_EDIT_H
#define LEDGER_EDIT_H

#include "ledger/cluster.h"

/* Whether a drain leaves the pod: of a DaemonSet, or a kubelet's own (its mirror). */
bool edit_stays(const struct pod *pod);
/* As kubectl cordon. */
void edit_cordon(struct cluster *cluster, const char *node);
/* The pod leaves its node and waits again, as its controller would make it anew. Of its resource
 * claims those that no other pod uses lose their devices. */
void edit_evict(struct cluster *cluster, const char *uid);
/* The same, and nothing makes it anew. */
void edit_remove(struct cluster *cluster, const char *uid);
/* The waiting pod gets the node. */
void edit_place(struct cluster *cluster, const char *uid, const char *node);
/* The node and its pods are gone; its slices stay. */
void edit_remove_node(struct cluster *cluster, const char *node);
/* Slices whose devices one node reaches, and no other. */
struct edit_slices {
    const struct slice_facts **items;
    size_t n, size;
    size_t n_devices;
};
/* The pods of an added node, and its size. */
struct edit_added {
    size_t n_pods;
    size_t bytes; /* about what it takes in the ledger, with its pods and slices */
};
/* Adds a node like an existing one, ready and not cordoned, with copies of the pods that
 * edit_stays() says of, and of the slices as pools of its own (NULL: without devices of resource
 * slices). The name must be new. */
struct edit_added edit_add_like(struct cluster *cluster, const char *like, const char *name,
                                const struct edit_slices *slices);

#endif
