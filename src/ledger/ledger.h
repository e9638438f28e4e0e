/*
 * ledger: how the cluster is kept. Private to this folder.
 */
#ifndef LEDGER_LEDGER_H
#define LEDGER_LEDGER_H

#include "base/table.h"
#include "ledger/claims.h"
#include "ledger/cluster.h"
#include "ledger/gpu_demand.h"
#include "ledger/namespace_usage.h"
#include "ledger/node_hot.h"
#include "ledger/nominate.h"
#include "ledger/reservation.h"
#include "node_index.h"
#include "owners_priv.h"
#include "pod_names.h"
#include "shapes.h"
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
    char texts[];                        /* the strings that are its own; the others are interned */
};

struct reservation_entry {
    struct reservation reservation; /* it has the shape held */
    struct node *node;
    struct reservation_entry *prev, *next; /* of the node's reservations */
    UT_hash_handle hh;                     /* by uid, the oldest first */
};

struct claim_entry {
    struct claim claim; /* its namespace is interned */
    UT_hash_handle hh;  /* by uid, the oldest first */
    char text[];        /* the uid */
};

/* device_classes.c */
struct device_class;
struct claimed_resource;

/* A decision finds every node by its name, and reads its hot part: they lie side by side. */
struct node {
    struct node_hot hot;      /* first: node_hot.h */
    struct node *prev, *next; /* of the nodes that are there, or of those that are not */
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

/* Which of a node's two sums. */
enum use { USE_BY_PODS, USE_BY_RESERVATIONS };

/* The use of a node by a pod or a reservation. */
struct usage {
    enum use use;
    const char *namespace_;
    const struct pod_shape *shape;
    struct owner *owner; /* who counts it as a replica there; NULL: nobody */
};

struct gpu_demand_entry {
    struct gpu_demand demand;
    struct gpu_demand_entry *next;
};

/* A namespace that is there, or of which pods that have GPUs speak. Kept for the quotas. */
struct namespace_entry {
    struct namespace namespace_; /* name and labels are interned */
    bool there;
    uint64_t seen;
    struct label *labels;
    size_t *quotas; /* that cover it: places in the policy's list, ascending */
    size_t n_quotas;
    size_t n_users; /* pods and reservations that are counted */
    int64_t *used;  /* namespace_usage_n_cells() GPUs; NULL: nothing was ever used */
    UT_hash_handle hh;
};

struct priority_class {
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
    struct arena *fork_arena;   /* of its demands and nominations */
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
    struct priority_class *priority_classes;
    struct namespace_entry *namespaces;
    int64_t *quota_used; /* namespace_usage_n_cells() GPUs a quota; NULL where there is none */
    struct device_class *device_classes;
    struct claimed_resource *claimed_resources;
    size_t n_present_nodes;
    size_t n_present_namespaces;
    uint64_t relists[N_CLUSTER_KINDS];
    uint64_t version;
    uint64_t n_serials; /* of reservations, so far */
    struct gpu_demand_entry *demands;
    int64_t now_ms, nodes_changed_ms; /* cluster_set_now() */
    uint64_t nodes_version;           /* grows with every change of what a node is or has */
    uint64_t settled_nodes;           /* the one that the demands' classes were chosen by */
    bool settled;
};

/* node_table.c */
struct node *node_table_find_or_add(struct cluster *cluster, const char *name);
void node_table_release(struct cluster *cluster, struct node *node);
/* The node is there from now on, with these traits, or no longer (NULL); those it had are dropped.
 */
void node_table_set_traits(struct cluster *cluster, struct node *node, struct traits_entry *traits);
void node_table_free(struct cluster *cluster, struct node *node);
/* The self-check goes on with this node; sums that were begun are dropped. */
void node_table_walk_to(struct check_walk *walk, struct node *node);

/* node_rows.c */
/* Takes over what the node says it has. Whether anything changed. */
bool node_rows_advertise(struct cluster *cluster, struct node *node,
                         const struct node_facts *facts);
struct node_resource *node_rows_find(struct node *node, const struct resource *resource);
/* The node has so much more in use, or what was added before less. */
void node_rows_change(struct cluster *cluster, struct node *node, const struct usage *usage,
                      bool is_added);

/* changes.c */
/* What the node is (NULL: it is not there) and has from now on; its traits so far may stay. */
void changes_of_node(struct cluster *cluster, struct node *node, struct traits_entry *traits,
                     const struct node_facts *facts);
/* The pod is in the ledger's tables, or about to leave them. */
void changes_pod_added(struct cluster *cluster, struct pod_entry *entry);
void changes_pod_removed(struct cluster *cluster, struct pod_entry *entry);
/* The reservation is among the cluster's, or no longer. */
void changes_reservation_added(struct cluster *cluster, struct node *node,
                               struct reservation_entry *entry);
void changes_reservation_removed(struct cluster *cluster, struct reservation_entry *entry);
/* Whether its owner counts it as a replica on its node. */
bool pod_is_placed_replica(const struct pod *pod);

/* reservation.c */
/* Gives back what the pod's reservation holds, if it has one. */
void reservation_forget(struct cluster *cluster, const char *uid);
/* The ledger goes, and its nodes with it. */
void reservation_free_all(struct cluster *cluster);

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

/* gpu_demand.c */
/* The resource's demand, made if there was none. */
struct gpu_demand *gpu_demand_find_or_add(struct cluster *cluster, const struct resource *resource);
bool gpu_demand_counts(const struct pod *pod);
/* The pod is counted (n = 1), or no longer (n = -1), where it is live. */
void gpu_demand_count(struct cluster *cluster, const struct pod *pod, int64_t n);
void gpu_demand_fork_all(struct cluster *fork, const struct cluster *cluster);
void gpu_demand_free_all(struct cluster *cluster);

/* model_pool.c */
/* The node's GPUs are on offer, by what it is and has now; or no longer. Between the two its traits
 * and what it advertises may change. */
void model_pool_enter(struct cluster *cluster, struct node *node);
void model_pool_leave(struct node *node);
/* Around every change of what is used or reserved of a resource. */
void model_pool_take(struct node_resource *entry);
void model_pool_give(struct node_resource *entry);
bool model_pool_is_offered(const struct node *node, const struct node_resource *entry);

/* priority_classes.c */
void priority_classes_free_all(struct cluster *cluster);
void priority_classes_sweep(struct cluster *cluster);

/* namespace_usage.c */
/* So many pods of the shape more (n < 0: fewer) use GPUs on a node of these models. */
void namespace_usage_count(struct cluster *cluster, const char *namespace_,
                           const struct pod_shape *shape, uint64_t models, int64_t n);
/* The same for the cells alone. */
void namespace_usage_add(const struct policy *policy, int64_t *cells, const struct pod_shape *shape,
                         uint64_t models, int64_t n);
/* The node is of other models than before, or is gone, or has come. */
void namespace_usage_move(struct cluster *cluster, const struct node *node, uint64_t before);
/* NULL: it is not there, and nothing that quotas count is used of it. */
struct namespace_entry *namespace_usage_find(const struct cluster *cluster, const char *name);
struct namespace_entry *namespace_usage_find_or_add(struct cluster *cluster, const char *name);
/* Finds out again which quotas cover it. */
void namespace_usage_cover_anew(struct cluster *cluster, struct namespace_entry *entry);
void namespace_usage_drop_labels(struct cluster *cluster, struct namespace_entry *entry);
/* It goes, where it is not there and nothing is used. */
void namespace_usage_release(struct cluster *cluster, struct namespace_entry *entry);
void namespace_usage_fork(struct cluster *fork, const struct cluster *cluster);
void namespace_usage_free_all(struct cluster *cluster);

/* namespaces.c */
void namespaces_sweep(struct cluster *cluster);

/* device_classes.c */
void device_classes_free_all(struct cluster *cluster);
void device_classes_sweep(struct cluster *cluster);
void device_classes_fork(struct cluster *fork, const struct cluster *cluster);
/* Resources whose classes are counted wrongly. */
size_t device_classes_check(const struct cluster *cluster);
/* Whether a class maps the extended resource of that name. */
bool device_classes_map(const struct cluster *cluster, const char *resource);

/* node_traits.c */
/* before: the traits of the node of that name until now; NULL: there is none. */
struct traits_entry *node_traits_new(struct cluster *cluster, const struct node_facts *facts,
                                     const struct traits_entry *before);
void node_traits_ref(struct traits_entry *entry);
void node_traits_unref(struct cluster *cluster, struct traits_entry *entry);
bool node_traits_equal(const struct node_traits *a, const struct node_traits *b);
/* Whether shares_gpus and slices_gpus speak of this resource: NVIDIA's, but for those that say by
 * their own name that they are parts ("nvidia.com/mig-1g.5gb", "nvidia.com/gpu.shared"). */
bool node_traits_speak_of(const char *resource);

#endif
