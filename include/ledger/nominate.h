/*
 * nominate: room that is promised to a pod which waits.
 *
 * kube-scheduler evicts pods for another, and writes where into that one's
 * status.nominatedNodeName. Until it is bound, the room that is made is not for whoever comes by
 * first: kube-scheduler counts a nominated pod as if it were there, against pods of no higher
 * priority (runtime.RunFilterPluginsWithNominatedPods), and so do we.
 *
 * A nomination ends when the field is cleared or changed, or when the pod is bound, reserved for,
 * finished or deleted: a pod counts once, as usage, else as a reservation, else as a nomination.
 * That of a pod which nothing will schedule now holds nothing: it is being deleted, has scheduling
 * gates, or asks for what cannot be. A node that is named and not there is kept, as for bound pods.
 */
#ifndef LEDGER_NOMINATE_H
#define LEDGER_NOMINATE_H

#include "ledger/cluster.h"

struct nomination {
    const char *uid;
    const char *namespace_;
    int64_t priority;
    int64_t created_s;
    const struct need *needs;
    size_t n_needs;
};

/* Those on the node, from NULL to NULL; a fork has them too. */
const struct nomination *node_next_nomination(const struct node *node,
                                              const struct nomination *nomination);

/* Those of GPUs, from NULL to NULL, the oldest first; none where there are no quotas. */
const struct nomination *cluster_next_nomination(const struct cluster *cluster,
                                                 const struct nomination *nomination);
/* Where the room is, which need not be there. */
const struct node *nomination_node(const struct nomination *nomination);

/* Who asks for room. */
struct asker {
    const char *uid; /* NULL: a pod that is not there yet */
    int64_t priority;
    int64_t created_s;
    const char *nominated_node; /* NULL or "": none */
};

struct asker asker_of(const struct pod *pod);
struct asker asker_of_facts(const struct pod_facts *facts);

/* How much of the resource is kept on the node for others than who asks; at most INT64_MAX.
 *
 * Kept is what pods of a higher priority were promised, and of the same: but of two that were
 * promised room on the same node, at the same priority, it is kept for the older (then for the
 * lower UID) only. Else each could keep the other out for ever, where there is room for one. */
int64_t nominate_kept(const struct node *node, const struct asker *asker,
                      const struct resource *resource);

/* In the order of nominate_kept(), on whatever node: whether what was promised to the nominated pod
 * is kept from the asker. Of two pods it never is so both ways. */
bool nominate_outranks(const struct nomination *nomination, const struct asker *asker);

/* Whether it is the node that was promised to who asks, and pods of lower priority are still ending
 * there that use GPUs of a resource which the shape needs: its room is being made. False in a fork,
 * which has no pods. */
bool nominate_is_being_made(const struct node *node, const struct asker *asker,
                            const struct pod_shape *shape);

/* Whether pods of a lower priority than the asker's are terminating on the node, whatever they use.
 * On the asker's nominated node kube-scheduler then keeps the nomination
 * (PodEligibleToPreemptOthers in plugins/defaultpreemption). False in a fork. */
bool nominate_has_victims(const struct node *node, const struct asker *asker);

/* The nomination that keeps GPUs of the shape on the node from the asker; of several, the one of
 * the lowest UID, so that the answer stays the same. NULL: there is none. */
const struct nomination *nominate_blocker(const struct node *node, const struct asker *asker,
                                          const struct pod_shape *shape);

#endif
