/*
 * ledger: how the cluster is kept. Private to this folder.
 */
#ifndef LEDGER_LEDGER_H
#define LEDGER_LEDGER_H

#include "base/table.h"
#include "ledger/claim.h"
#include "ledger/cluster.h"
#include "ledger/glance.h"
#include "ledger/market.h"
#include "ledger/namespace_usage.h"
#include "ledger/nominate.h"
#include "ledger/reservation.h"
#include "node_index.h"
#include "owners_priv.h"
#include "pod_names.h"
#include "shapes.h"
#include "supply.h"
#include "types/amount.h"

#include <utlist.h>

struct traits_entry {
    struct node_traits traits;
    size_t refs; /* the cluster and its forks */
    struct label *labels;
    struct taint *taints;
};

struct nomination_entry {
    struct nomination nomination; /* its strings and needs are the pod's */
    struct node *node;
    bool counts_for_quotas;                       /* it is among the cluster's */
    struct nomination_entry *prev, *next;         /* of the node's nominations */
    struct nomination_entry *all_prev, *all_next; /* of the cluster's */
};

struct pod_entry {
    struct pod pod;                      /* CONTAINER_OF() finds the rest */
    struct node *node;                   /* whose resources it uses; NULL if none */
    struct nomination_entry *nomination; /* NULL: no room is promised to it */
    uint64_t seen;                       /* relist in which it was upserted last */
    struct pod_entry *prev, *next;       /* of the node's pods */
    struct pod_entry *next_named;        /* pod_names.h */
    UT_hash_handle hh;                   /* by uid */
    char texts[];                        /* the strings that are its own; the others are words */
};

struct reservation_entry {
    struct reservation reservation; /* it has the shape held */
    struct node *node;
    struct reservation_entry *prev, *next; /* of the node's reservations */
    UT_hash_handle hh;                     /* by uid, the oldest first */
};

struct claim_entry {
    struct claim claim; /* its namespace is a word */
    UT_hash_handle hh;  /* by uid, the oldest first */
    char text[];        /* the uid */
};

/* device_classes.c */
struct device_class;
struct claimed_resource;

/* A decision finds every node by its name, and reads the glance: they lie side by side. */
struct node {
    struct node_glance glance; /* first: glance.h */
    struct node *prev, *next;  /* of the nodes that are there, or of those that are not */
    uint64_t seen;
    int64_t changed_ms;              /* cluster_set_now() */
    struct node_resource *resources; /* GPUs first: they are asked for most */
    size_t n_resources;
    size_t n_gpu_resources;
    struct pod_entry *pods;
    size_t n_pods;
    struct exact_sum unlisted_gpus; /* node_unlisted_gpus() */
    uint64_t n_changes;             /* of its rows, pods and reservations */
    struct reservation_entry *reservations;
    struct nomination_entry *nominations;
    struct traits_entry *traits; /* NULL: not there, only pods speak of it; beside the name */
    char name[];
};

struct market_entry {
    struct market market;
    struct market_entry *next;
};

/* A namespace that is there, or of which pods that have GPUs speak. Kept for the quotas. */
struct tenant {
    struct namespace namespace_; /* name and labels are words */
    bool there;
    uint64_t seen;
    struct label *labels;
    size_t *quotas; /* that cover it: places in the policy's list, ascending */
    size_t n_quotas;
    size_t n_users; /* pods and reservations that are counted */
    int64_t *used;  /* tenants_n_cells() GPUs; NULL: nothing was ever used */
    UT_hash_handle hh;
};

struct named_entry {
    char *name;
    uint64_t seen;
    int64_t value;
    bool is_default, never_preempts;
    UT_hash_handle hh;
};

/* Where cluster_check_some() goes on. Of a node that has more pods than are checked at once, what
 * is summed so far; begun again where the node has changed since. */
struct check_walk {
    struct node *node; /* NULL: a new round */
    const struct pod_entry *pod;
    uint64_t n_changes;     /* of the node when its sums were begun */
    struct exact_sum *used; /* of each row; NULL: the node is not begun */
    size_t n_tries;
};

struct cluster {
    const struct policy *policy;
    struct shapes
        *shapes; /* a fork's is its origin's: to be touched under the origin's lock only */
    bool is_fork;
    const struct resource **fork_resources; /* of a fork: all names it knows */
    size_t n_fork_resources;
    struct arena *fork_arena;   /* of its markets and nominations */
    struct node *nodes;         /* that are there */
    struct node *missing_nodes; /* that only pods, reservations and nominations name */
    struct node_index node_index;
    struct check_walk check_walk;
    struct pod_entry *pods;
    struct pod_entry *swept_to; /* where cluster_relist_sweep_pods() goes on; NULL: at the first */
    bool is_sweeping;
    struct pod_names pod_names;
    size_t n_pods_over[N_SHAPE_LIMITS]; /* by the limit that their shapes are over */
    struct owners owners;               /* none in a fork */
    struct reservation_entry *reservations;
    struct claim_entry *claims;           /* none in a fork */
    struct nomination_entry *nominations; /* of GPUs; none where there are no quotas */
    uint64_t claims_version;
    struct named_entry *priority_classes;
    struct tenant *tenants;
    int64_t *quota_used; /* tenants_n_cells() GPUs a quota; NULL where there is none */
    struct device_class *device_classes;
    struct claimed_resource *claimed_resources;
    size_t n_present_nodes;
    size_t n_present_namespaces;
    uint64_t relists[N_CLUSTER_KINDS];
    uint64_t version;
    uint64_t n_serials; /* of reservations, so far */
    struct market_entry *markets;
    int64_t now_ms, nodes_changed_ms; /* cluster_set_now() */
    uint64_t nodes_version;           /* grows with every change of what a node is or has */
    uint64_t settled_nodes;           /* the one that the markets' classes were chosen by */
    bool settled;
};

/* node_table.c */
struct node *node_table_hold(struct cluster *cluster, const char *name);
void node_table_release(struct cluster *cluster, struct node *node);
/* The node is there from now on, with these traits, or no longer (NULL); those it had are dropped.
 */
void node_table_set_traits(struct cluster *cluster, struct node *node, struct traits_entry *traits);
/* Takes over what the node says it has. Whether anything changed. */
bool node_table_advertise(struct cluster *cluster, struct node *node,
                          const struct node_facts *facts);
struct node_resource *node_table_resource(struct node *node, const struct resource *resource);
/* Adds what the pod needs to what the node has in use, or takes it away. */
void node_table_add_pod(struct node *node, struct pod_entry *pod);
void node_table_remove_pod(struct cluster *cluster, struct node *node, struct pod_entry *pod);
void node_table_free(struct cluster *cluster, struct node *node);
/* The same, with what is reserved. */
void node_table_add_reservation(struct node *node, struct reservation_entry *reservation);
void node_table_remove_reservation(struct cluster *cluster, struct node *node,
                                   struct reservation_entry *reservation);

/* cluster.c */
/* Whether its owner counts it as a replica on its node. */
bool pod_is_placed_replica(const struct pod *pod);

/* reservation.c */
/* Gives back what the pod's reservation holds, if it has one. */
void reserve_forget(struct cluster *cluster, const char *uid);
/* The ledger goes, and its nodes with it. */
void reserve_free_all(struct cluster *cluster);

/* claims.c */
void claims_free_all(struct cluster *cluster);

/* nominate.c */
/* Whether room is to be promised to the pod, as all else is. */
bool nominate_is_due(const struct cluster *cluster, const struct pod *pod);
/* Begins the pod's nomination or ends it, as is due. */
void nominate_renew(struct cluster *cluster, struct pod_entry *entry);
void nominate_end(struct cluster *cluster, struct pod_entry *entry);
/* The copy of the node gets copies of its nominations, in the fork's arena. */
void nominate_fork_node(struct cluster *fork, struct node *copy, const struct node *node);

/* market.c */
/* The resource's market, made if there was none. */
struct market *market_hold(struct cluster *cluster, const struct resource *resource);
bool pod_is_live(const struct pod *pod);
/* The pod is counted (n = 1), or no longer (n = -1), where it is live. */
void market_count(struct cluster *cluster, const struct pod *pod, int64_t n);
void market_fork_all(struct cluster *fork, const struct cluster *cluster);
void market_free_all(struct cluster *cluster);

/* supply.c, beside supply.h */
bool supply_is_offered(const struct node *node, const struct node_resource *entry);

/* cluster_named.c */
void named_free_all(struct cluster *cluster);
void named_sweep(struct cluster *cluster);

/* namespace_usage.c */
/* So many pods of the shape more (n < 0: fewer) use GPUs on a node of these models. */
void tenants_count(struct cluster *cluster, const char *namespace_, const struct pod_shape *shape,
                   uint64_t models, int64_t n);
/* The same for the cells alone. */
void tenants_add(const struct policy *policy, int64_t *cells, const struct pod_shape *shape,
                 uint64_t models, int64_t n);
/* The node is of other models than before, or is gone, or has come. */
void tenants_move(struct cluster *cluster, const struct node *node, uint64_t before);
void tenants_sweep(struct cluster *cluster);
void tenants_fork(struct cluster *fork, const struct cluster *cluster);
void tenants_free_all(struct cluster *cluster);

/* cluster_check_some.c */
/* The node is about to go, or to leave its list. */
void check_walk_leave(struct cluster *cluster, const struct node *node);

/* device_classes.c */
void device_classes_free_all(struct cluster *cluster);
void device_classes_sweep(struct cluster *cluster);
void device_classes_fork(struct cluster *fork, const struct cluster *cluster);
/* Resources whose classes are counted wrongly. */
size_t device_classes_check(const struct cluster *cluster);

/* node_traits.c */
/* before: the traits of the node of that name until now; NULL: there is none. */
struct traits_entry *traits_new(struct cluster *cluster, const struct node_facts *facts,
                                const struct traits_entry *before);
void traits_hold(struct traits_entry *entry);
void traits_drop(struct cluster *cluster, struct traits_entry *entry);
bool traits_equal(const struct node_traits *a, const struct node_traits *b);

#endif
