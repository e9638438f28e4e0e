/*
 * nominate: room that is promised to a waiting pod.
 *
 * kube-scheduler evicts pods for another pod, and writes the node into its
 * status.nominatedNodeName. Until the pod is bound, that room must not go to the next pod that
 * comes. kube-scheduler counts a nominated pod as present against pods of no higher priority
 * (runtime.RunFilterPluginsWithNominatedPods), and so does the ledger.
 *
 * A nomination ends when the field is cleared or changed, or when the pod is bound, reserved,
 * finished or deleted: a pod counts once, as usage, else as a reservation, else as a nomination. A
 * pod that cannot be scheduled now has no nomination: it is terminating, gated, or its request is
 * invalid. A nominated node may not exist; it is kept, as for bound pods.
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
    /* Of a place that a plan keeps (ledger/gangs.h): its group, only to be compared. NULL: of
     * kube-scheduler. */
    const void *group;
};

/* Iterates over those on the node: NULL to NULL. Works in a fork. */
const struct nomination *nomination_next_on(const struct node *node,
                                            const struct nomination *nomination);

/* Iterates over those that request GPUs, the oldest first: NULL to NULL. None without quotas. */
const struct nomination *nomination_next(const struct cluster *cluster,
                                         const struct nomination *nomination);
/* The nominated node, which may not exist. */
const struct node *nomination_node(const struct nomination *nomination);

/* The pod that requests room. */
struct asker {
    const char *uid; /* NULL: a pod that does not exist yet */
    int64_t priority;
    int64_t created_s;
    const char *nominated_node;          /* NULL or "": none */
    const char *extended_claim;          /* as in pod_facts */
    const char *namespace_, *controller; /* the same; NULL: unknown, or none */
    enum pod_qos qos;
    const void *group; /* places of this group are its own: gang_hold.group; NULL: none */
};

/* Where the pod is to go: its place by a plan, else status.nominatedNodeName; "": nowhere yet. */
const char *nominate_place(const struct pod *pod);

struct asker asker_from_pod(const struct pod *pod);
struct asker asker_from_facts(const struct pod_facts *facts);

/* The amount of the resource on the node that is kept for other pods than the asker; at most
 * INT64_MAX.
 *
 * Nominations of higher priority are kept, and of equal priority. But if the asker is nominated to
 * the same node at the same priority, only the older pod (then the lower UID) keeps its room.
 * Otherwise the two could block each other for ever where one of them fits. */
int64_t nominate_kept(const struct node *node, const struct asker *asker,
                      const struct resource *resource);

/* Whether plans of groups keep some of that. */
bool nominate_is_kept_by_plans(const struct node *node, const struct asker *asker,
                               const struct resource *resource);

/* The order of nominate_kept() on any node: whether the nomination is kept from the asker. Of two
 * pods at most one outranks the other. */
bool nominate_outranks(const struct nomination *nomination, const struct asker *asker);

/* Whether the node is the asker's nominated one, and pods of lower priority are still terminating
 * there that use GPUs of a resource the shape needs. False in a fork, which has no pods. */
bool nominate_is_being_made(const struct node *node, const struct asker *asker,
                            const struct pod_shape *shape);

/* Whether pods of lower priority than the asker are terminating on the node, whatever they use. On
 * the asker's nominated node kube-scheduler then keeps the nomination (PodEligibleToPreemptOthers
 * in plugins/defaultpreemption). False in a fork. */
bool nominate_has_victims(const struct node *node, const struct asker *asker);

/* The nomination that keeps GPUs of the shape on the node from the asker; of several, that of the
 * lowest UID, so repeated answers agree. NULL: none. */
const struct nomination *nominate_blocker(const struct node *node, const struct asker *asker,
                                          const struct pod_shape *shape);

#endif
