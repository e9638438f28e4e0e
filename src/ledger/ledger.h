/*
 * ledger: the state of a cluster. Private to this folder. The owner of the cluster holds the lock
 * (inventory/inventory_lock.h); nothing here locks.
 */
#ifndef LEDGER_LEDGER_H
#define LEDGER_LEDGER_H

#include "base/table.h"
#include "dra/devices.h"
#include "ledger/asked_claims.h"
#include "ledger/claim_usage.h"
#include "ledger/claims.h"
#include "ledger/cluster.h"
#include "ledger/gangs.h"
#include "ledger/gpu_demand.h"
#include "ledger/namespace_usage.h"
#include "ledger/node_hot.h"
#include "ledger/nodes/node_index.h"
#include "ledger/nominate.h"
#include "ledger/peer.h"
#include "ledger/pod_groups.h"
#include "ledger/reservation.h"
#include "ledger/shapes/shapes.h"
#include "pod_names.h"
#include "types/device_facts.h"
#include "types/quantity.h"
#include "types/string_table.h"

#include <stdalign.h>
#include <utlist.h>

/* An object of a kind that needs nothing but its facts: the first member of the kind's struct. */
struct kept {
    uint64_t seen;     /* number of the last list that named it */
    UT_hash_handle hh; /* by id: the name, or "namespace/name" */
};

struct kept_objects {
    struct kept *first;
    struct kept
        *swept_to; /* next one of cluster_relist_sweep(), if it has begun; NULL: the first */
    bool is_sweeping;
};

/* Nodes need their classes, and pods their nodes. */
enum copied {
    COPIED_FIRST,
    COPIED_BEFORE_NODES,
    COPIED_AS_NODES,
    COPIED_AFTER_NODES,
    COPIED_LAST,
    N_COPIED
};

/* The functions of the ledger for a kind. A member that is NULL: the kind is in a struct
 * kept_objects, or in dra/. */
struct ledger_kind {
    enum copied copied; /* when a copy of the ledger gets it */
    /* Inserts or replaces. facts: of the kind's type. NULL: only the names are kept. */
    void (*upsert)(struct cluster *cluster, const void *facts);
    void (*remove)(struct cluster *cluster, const char *id);
    void (*keep)(struct cluster *cluster, const char *id);
    size_t (*count)(const struct cluster *cluster);
    bool (*sweep)(struct cluster *cluster, size_t work);
    /* See cluster_next_object() and kinds_see(). */
    const void *(*next)(const struct cluster *cluster, const void *last, struct arena *arena,
                        const void **ret_facts);
    const void *(*see)(struct cluster *copy, const struct cluster *original, const void *object);
    /* Only of kinds in a struct kept_objects: the object's facts, in the arena. NULL: its name. */
    const void *(*facts)(const struct kept *object, struct arena *arena);
    /* Frees what the object has beside its struct. NULL: nothing. */
    void (*let_go)(struct cluster *cluster, struct kept *object);
    /* After a change of objects. NULL: it is a new version of the ledger. */
    void (*changed)(struct cluster *cluster);
};

struct traits_entry {
    struct node_traits traits;
    size_t refs; /* held by the cluster and its forks */
    struct label *labels;
    struct taint *taints;
};

struct nomination_entry {
    struct nomination nomination; /* its strings and needs belong to the pod */
    struct node *node;
    bool counts_for_quotas;                       /* it is in the cluster's list */
    struct nomination_entry *prev, *next;         /* in the node's list */
    struct nomination_entry *all_prev, *all_next; /* in the cluster's list */
};

struct pod_entry {
    struct pod pod;                      /* CONTAINER_OF() finds the rest */
    struct node *node;                   /* the node whose resources it uses; NULL: none */
    struct nomination_entry *nomination; /* NULL: none */
    struct extended_claim *extended;     /* claim_usage.c; NULL: its status names no claim */
    struct group_member *member;         /* pod_groups.c; NULL: it is in no group */
    struct gpu_time_entry *timed;        /* gpu_time.c; NULL: it has no GPUs */
    uint64_t seen;                       /* number of the last relist that upserted it */
    uint64_t order;                      /* grows along cluster.pods */
    struct pod_entry *prev, *next;       /* in the node's list */
    struct pod_entry *next_named;        /* pod_names.h */
    UT_hash_handle hh;                   /* by uid */
    char texts[];                        /* strings of this pod alone; the others are interned */
};

struct reservation_entry {
    struct reservation reservation; /* holds a reference to its shape */
    struct node *node;
    struct reservation_entry *prev, *next; /* in the node's list */
    UT_hash_handle hh;                     /* by UID, oldest first */
};

struct claim_entry {
    struct claim claim; /* its namespace and node are interned */
    UT_hash_handle hh;  /* by UID, oldest first */
    char text[];        /* the UID */
};

/* cluster_device_classes.c */
struct claimed_resource;

/* claim_usage.c */
struct claim_use;
struct extended_claim;
struct holding_pod;

/* quarantine.c */
struct node_mark;
struct quarantine;

/* gpu_time.c */
struct gpu_time_entry;

/* pod_groups.c */
struct group_member;
struct member_group;

/* One allocation holds the node and its name. A decision finds each node by its name, then reads
 * its hot part and its pointer to the traits. These three lie in two adjacent cache lines, unless
 * the name is long. */
struct node {
    struct node *prev, *next; /* in the cluster's nodes or missing_nodes */
    uint64_t seen;
    int64_t changed_ms;              /* cluster_set_now() */
    struct node_resource *resources; /* GPU resources first */
    size_t n_resources;
    size_t n_gpu_resources;
    struct pod_entry *pods;
    size_t n_pods;
    struct exact_sum unlisted_gpus; /* node_unlisted_gpus() */
    uint64_t n_changes;             /* changes of its rows, pods and reservations */
    struct reservation_entry *reservations;
    struct nomination_entry *nominations;
    const struct node_mark *mark;      /* ledger/quarantine.h; NULL: the node is healthy */
    struct node_device_group *devices; /* by driver and model */
    size_t n_devices;
    struct asked_models claim_models; /* of the node's own devices */
    alignas(64) struct node_hot hot;  /* at NODE_HOT_OFFSET */
    struct traits_entry *traits;      /* NULL: no such Node object */
    uint32_t order;                   /* node_order(); 0: none yet */
    char name[];
};

/* Selects one of a node's two sums. */
enum use { USE_BY_PODS, USE_BY_RESERVATIONS };

/* The use of a node by a pod or a reservation. */
struct usage {
    enum use use;
    const char *namespace_;
    struct quota_pod pod;
    struct owner *owner; /* owner that counts a replica here; NULL: none */
};

struct gpu_demand_entry {
    struct gpu_demand demand;
    struct gpu_demand_entry *next;
};

/* A namespace that exists, or that GPU pods use. Kept for quotas. */
struct namespace_entry {
    struct namespace namespace_; /* name and labels are interned */
    bool there;
    uint64_t seen;
    struct label *labels;
    size_t *quotas; /* quotas that cover it: indices in the policy, ascending */
    size_t n_quotas;
    size_t n_users; /* counted pods, reservations and claims */
    int64_t *used;  /* namespace_usage_n_cells() GPU counts; NULL: never used any */
    UT_hash_handle hh;
};

struct claim_template {
    struct kept kept;
    struct claim_template_facts facts; /* points into texts */
    struct claim_want wants[CLAIM_WANTS_MAX];
    char texts[]; /* first the key: "namespace/name" */
};

struct kept_budget {
    struct kept kept;
    struct budget_facts facts; /* names are in texts, the selector in the arena */
    struct arena *arena;       /* NULL: it has no selector, or is cut */
    size_t bytes;              /* its part of cluster.budget_bytes; 0: it is cut */
    struct siphash128 digest;  /* of the facts as they came */
    char texts[];              /* the key, "namespace/name"; then the namespace */
};

/* Position of cluster_check_some(). Sums of a node with many pods are kept between steps, and
 * started again if the node changed in between. */
struct check_walk {
    struct node *node; /* NULL: a new round starts, unless at_devices */
    bool at_devices;   /* all nodes are checked: the cluster's devices follow */
    const struct pod_entry *pod;
    uint64_t n_changes;     /* of the node, when its sums were started */
    struct exact_sum *used; /* one per row; NULL: not started */
    size_t n_tries;
};

/* domains.c */
struct domain_entry;

struct domains {
    struct node_domain *items; /* by id; unused ones are a list by their member outer */
    domain_id end, n_room, first_unused;
    struct domain_entry *table; /* empty in a fork, whose nodes keep the names */
};

/* How many changes of nodes a fork may miss while it is copied. */
#define CLUSTER_RENEWED_MAX 512

struct fork_resource {
    const struct resource *resource;
    UT_hash_handle hh; /* by name */
};

struct forking;    /* cluster_fork.c */
struct fork_log;   /* fork_log.c */
struct fork_peers; /* cluster_peers.c */

struct cluster {
    const struct policy *policy;
    struct devices *devices; /* NULL in a fork */
    struct kept_objects kept[N_LEDGER_KINDS];
    bool is_unknown[N_LEDGER_KINDS]; /* cluster_set_known() */
    bool has_devices_of_several;     /* several nodes reach some devices */
    int minor;                       /* cluster_minor() */
    struct shapes *shapes;           /* shared with forks; use only under the origin's lock */
    bool is_fork;
    struct fork_resource *fork_resources; /* forks only: all that it knows */
    struct forking *forking;    /* cluster_fork.c; NULL but in a fork that is not complete */
    struct arena *fork_arena;   /* of a fork's demands and nominations; of a copy's marks */
    struct node *nodes;         /* that have a Node object */
    struct node *missing_nodes; /* named only by pods, reservations or nominations */
    struct node_index node_index;
    struct check_walk check_walk;
    struct pod_entry *pods;
    struct pod_entry *swept_to; /* as in struct kept_objects */
    struct pod_names pod_names;
    size_t n_pods_over[N_SHAPE_LIMITS]; /* pods whose shape exceeds each limit */
    size_t n_repelling;                 /* unfinished pods with required anti-affinity */
    size_t n_lacking_peers;             /* cluster_n_lacking_peers() */
    struct quarantine *quarantine;      /* NULL: not of an API server, or a fork */
    struct fork_peers *fork_peers;      /* cluster_peers.c; NULL but in a fork */
    struct fork_log *log;               /* fork_log.c; NULL: the fork is not marked */
    struct owners owners;               /* empty in a fork */
    struct domains domains;
    struct reservation_entry *reservations;
    struct claim_entry *claims;           /* empty in a fork */
    struct nomination_entry *nominations; /* of GPUs; empty without quotas */
    uint64_t claims_version;
    struct namespace_entry *namespaces;
    struct claim_use *claim_uses; /* empty in a fork, and without quotas */
    struct claim_use *floating;   /* of these: claim_usage_floats() */
    struct holding_pod *holding_pods;
    struct gpu_time_entry *gpu_times;   /* empty in a fork */
    struct member_group *member_groups; /* that have members; empty in a fork */
    struct member_group *gangs;         /* the same of gangs.h */
    int64_t *quota_used; /* namespace_usage_n_cells() GPU counts per quota; NULL: no quotas */
    size_t template_spec_bytes;            /* at most CLAIM_TEXTS_BYTES_MAX */
    struct shape_accounts budget_accounts; /* bytes of those that are not cut */
    size_t budget_bytes;                   /* the same, of all namespaces */
    struct claimed_resource *claimed_resources;
    size_t n_present_nodes;
    size_t n_ordered; /* node.order is at most that */
    bool has_unordered;
    size_t n_present_namespaces;
    uint64_t relists[N_LEDGER_KINDS];
    uint64_t version;
    uint64_t n_other_changes; /* that version does not count */
    uint64_t n_serials;       /* reservation serials issued */
    uint64_t n_pods_added;    /* pod_entry.order */
    struct gpu_demand_entry *demands;
    int64_t now_ms, nodes_changed_ms; /* cluster_set_now() */
    uint64_t nodes_version;           /* grows when a node's traits or resources change */
    uint64_t settled_nodes;           /* nodes_version at the last gpu_demand_settle() */
    bool settled;                     /* gpu_demand_is_settled() */
    uint64_t n_renewed;               /* calls of node_hot_renew() for present nodes */
    const struct node
        *renewed[CLUSTER_RENEWED_MAX]; /* of the last calls: n_renewed % MAX is next */
};

/* node_table.c */
struct node *node_table_find_or_add(struct cluster *cluster, const char *name);
void node_table_release(struct cluster *cluster, struct node *node);
/* Renews node_order() of all present nodes. */
void node_table_order(struct cluster *cluster);
/* traits NULL: the node no longer exists. Takes over the reference; unrefs the old traits. */
void node_table_set_traits(struct cluster *cluster, struct node *node, struct traits_entry *traits);
void node_table_free(struct cluster *cluster, struct node *node);
/* Moves the self-check to this node and discards partial sums. */
void node_table_walk_to(struct check_walk *walk, struct node *node);

/* domains.c */
/* After a change of its labels; node_hot_renew() must follow. */
void domains_move(struct cluster *cluster, struct node *node);
/* Before its hot part becomes this one, with the same domain. */
void domains_recount(struct node *node, const struct node_hot *now);
void domains_fork(struct cluster *fork, const struct cluster *cluster);
void domains_free_all(struct cluster *cluster);
/* The number of nodes in a wrong domain, and of domains with wrong sums. */
size_t domains_check(const struct cluster *cluster);

/* node_rows.c */
/* Stores what the node advertises. Returns whether anything changed. */
bool node_rows_advertise(struct cluster *cluster, struct node *node,
                         const struct node_facts *facts);
void node_rows_free(struct cluster *cluster, struct node *node);
struct node_resource *node_rows_find(struct node *node, const struct resource *resource);
/* Adds the usage to the node's rows, or subtracts usage added before. */
void node_rows_change(struct cluster *cluster, struct node *node, const struct usage *usage,
                      bool is_added);

/* node_devices.c */
/* The one model of all GPUs of the kind that the node has as devices. driver NULL: several, none or
 * unknown. */
struct model_of_devices {
    const char *driver; /* of one of them */
    const char *name;
    const struct gpu_model *model;
    int64_t memory_bytes; /* 0: unknown */
};
struct model_of_devices node_devices_model(const struct cluster *cluster,
                                           const struct node_traits *traits,
                                           const struct gpu_kind *kind);
enum node_devices_change { DEVICES_SAME, DEVICES_IN_USE, DEVICES_OTHER };
/* Renews the node's groups, which must be in no pool: none if the node does not exist. IN_USE: only
 * allocated and free changed. */
enum node_devices_change node_devices_renew(struct cluster *cluster, struct node *node);
void node_devices_fork(struct cluster *fork, struct node *copy, const struct node *node);
/* In a fork: allocates so many of its free devices to pods that request the resource. Does nothing
 * if these pods get no devices on the node. */
void node_devices_place(struct node *node, const struct resource *resource, int64_t n);
void node_devices_put_back(struct node_device_group *group, int64_t free, int64_t allocated);
void node_devices_free(struct cluster *cluster, struct node *node);
/* Whether the groups equal those of the cluster's devices. */
bool node_devices_are_right(const struct cluster *cluster, const struct node *node);

/* cluster_fork.c */
/* The fork's pool for a pool of its origin; NULL for NULL. */
struct model_pool *cluster_fork_pool(const struct cluster *fork, const struct resource *resource,
                                     const struct model_pool *origin);

void cluster_fork_free_resources(struct cluster *fork);

/* fork_log.c */
/* Before a change of the fork, which it remembers if the fork is marked. */
void fork_log_row(struct cluster *fork, struct node *node, struct node_resource *row);
void fork_log_devices(struct cluster *fork, struct node *node);
void fork_log_peer(struct cluster *fork, bool repels);

/* cluster_peers.c */
/* Takes references for the pod's facts. Finished pods need none. */
struct kept_peers cluster_peers_keep(struct cluster *cluster, const struct pod_facts *facts);
void cluster_peers_unref(struct cluster *cluster, const char *namespace_,
                         const struct peer_facts *labels, const struct peer_facts *terms);
void cluster_peers_unref_own(struct cluster *cluster, const char *namespace_,
                             const struct peer_facts *own_terms);
/* Call after adding the pod to the ledger's tables, or before removing it. */
void cluster_peers_added(struct cluster *cluster, struct pod_entry *entry);
void cluster_peers_removed(struct cluster *cluster, struct pod_entry *entry);
/* Begins the list of peers of a fork that has all nodes, with the labels of all namespaces. Returns
 * true if the list is complete. */
bool cluster_peers_fork(struct cluster *fork, const struct cluster *cluster,
                        enum peers_wanted wanted);
/* Adds the pods of the next nodes, until it has visited n_pods of them. True: it is complete. */
bool cluster_peers_fork_some(struct cluster *fork, const struct cluster *cluster, size_t n_pods);
void cluster_peers_fork_free(struct cluster *fork);
/* The peer that cluster_add_peers() added last. */
void cluster_peers_drop_last(struct cluster *fork, bool repels);

/* kinds.c */
extern const struct ledger_kind LEDGER_KINDS[N_LEDGER_KINDS];
/* After a copy of the object, from cluster_next_object(): it was seen when the original was.
 * Returns the original, as cluster_next_object() goes on from it. */
const void *kinds_see(struct cluster *copy, const struct cluster *original, enum cluster_kind kind,
                      const void *object);

/* kept.c */
struct kept *kept_find(const struct cluster *cluster, enum cluster_kind kind, const char *id);
/* The same, and the present list names it. */
struct kept *kept_see(struct cluster *cluster, enum cluster_kind kind, const char *id);
/* The id is part of the object. */
void kept_add(struct cluster *cluster, enum cluster_kind kind, struct kept *object, const char *id);
/* Frees it. Counts no change. */
void kept_remove(struct cluster *cluster, enum cluster_kind kind, struct kept *object);
void kept_changed(struct cluster *cluster, enum cluster_kind kind);
void kept_delete(struct cluster *cluster, enum cluster_kind kind, const char *id);
bool kept_sweep(struct cluster *cluster, enum cluster_kind kind, size_t work);
void kept_free_all(struct cluster *cluster);

/* cluster.c: see struct ledger_kind. */
bool cluster_nodes_sweep(struct cluster *cluster, size_t work);
bool cluster_pods_sweep(struct cluster *cluster, size_t work);

/* cluster_devices.c */
bool cluster_devices_sweep(struct cluster *cluster, enum devices_kind kind, size_t work);
/* After a change of cluster_knows(). */
void cluster_devices_renew(struct cluster *cluster);

/* changes.c */
/* Sets traits (NULL: the node is deleted) and resources. traits may be the node's current ones. */
void changes_of_node(struct cluster *cluster, struct node *node, struct traits_entry *traits,
                     const struct node_facts *facts);
/* Call after the cluster's devices on the node changed. */
void changes_of_devices(struct cluster *cluster, struct node *node);
/* Call after a device class came, changed or went. */
void changes_of_device_classes(struct cluster *cluster);
/* Call after adding the pod to the ledger's tables, or before removing it. */
void changes_pod_added(struct cluster *cluster, struct pod_entry *entry);
void changes_pod_removed(struct cluster *cluster, struct pod_entry *entry);
/* Call after adding the reservation to the cluster's table, or before removing it. */
void changes_reservation_added(struct cluster *cluster, struct node *node,
                               struct reservation_entry *entry);
void changes_reservation_removed(struct cluster *cluster, struct reservation_entry *entry);
/* Whether the pod's owner counts it as a replica on its node. */
bool pod_is_placed_replica(const struct pod *pod);

/* reservation.c */
/* Holds the same room in another cluster, with the same serial. */
void reservation_copy(struct cluster *cluster, const struct reservation *reservation);
/* Deletes the pod's reservation, if any. */
void reservation_forget(struct cluster *cluster, const char *uid);
/* For cluster_free(): updates no sums. */
void reservation_free_all(struct cluster *cluster);

/* claims.c */
void claims_free_all(struct cluster *cluster);
/* Makes the claim of another cluster in this one, whose quotas may differ. shape: the pod's. */
void claims_copy(struct cluster *cluster, const struct claim *claim, const struct pod_facts *pod,
                 const struct pod_shape *shape);
/* The pod is nominated: its nomination counts instead of its claim, but for what it gets by
 * resource claims. */
void claims_nominated(struct cluster *cluster, const char *uid);
/* Whether resource claims will get GPUs for the pod. */
bool claims_has_by_claims(const struct cluster *cluster, const struct claim *claim);

/* nominate.c */
/* Whether the pod's nomination counts: it is unbound, schedulable and has no reservation. */
bool nominate_is_due(const struct cluster *cluster, const struct pod *pod);
/* Starts or ends the pod's nomination as needed. */
void nominate_renew(struct cluster *cluster, struct pod_entry *entry);
void nominate_end(struct cluster *cluster, struct pod_entry *entry);
/* Copies the node's nominations into the fork's arena. */
void nominate_fork_node(struct cluster *fork, struct node *copy, const struct node *node);
/* Takes them away again. */
void nominate_fork_drop(struct cluster *fork, struct node *copy);

/* gpu_demand.c */
/* Creates the demand if it does not exist. */
struct gpu_demand *gpu_demand_find_or_add(struct cluster *cluster, const struct resource *resource);
bool gpu_demand_counts(const struct pod *pod);
/* Adds (n = 1) or subtracts (n = -1) the pod if it is live. */
void gpu_demand_count(struct cluster *cluster, const struct pod *pod, int64_t n);
void gpu_demand_fork_all(struct cluster *fork, const struct cluster *cluster);
/* The sums and classes of the origin as they are now. Its nodes are the same as then, so that it
 * has the same pools, and both are settled. */
void gpu_demand_fork_again(struct cluster *fork, const struct cluster *cluster);
void gpu_demand_free_all(struct cluster *cluster);

/* model_pool.c */
/* Adds the node's GPUs to their pools, or removes them. Leave the pool before changing the node's
 * traits or what it advertises; enter it afterwards. */
void model_pool_enter(struct cluster *cluster, struct node *node);
void model_pool_leave(struct node *node);
/* Call take() before every change of used or reserved, and give() after it. */
void model_pool_take(struct node_resource *entry);
void model_pool_give(struct node_resource *entry);
bool model_pool_is_offered(const struct node *node, const struct node_resource *entry);
/* Whether the group should be in a pool. */
bool model_pool_has_devices(const struct node *node, const struct node_device_group *group);

/* cluster_priority_classes.c */
const void *cluster_priority_classes_facts(const struct kept *object, struct arena *arena);

/* namespace_usage.c */
/* The node's traits; without a Node object, some with GPUs of unknown model. */
const struct node_traits *namespace_usage_traits(const struct node *node);
/* Adds n such pods (n < 0: subtracts) on a node of these traits. */
void namespace_usage_count(struct cluster *cluster, const char *namespace_, struct quota_pod pod,
                           const struct node_traits *traits, int64_t n);
/* The same for the cells only. */
void namespace_usage_add(const struct policy *policy, int64_t *cells, struct quota_pod pod,
                         const struct node_traits *traits, int64_t n);
/* The same for cells of a user of another kind: n is 1 or -1. */
void namespace_usage_count_cells(struct cluster *cluster, const char *namespace_,
                                 const int64_t *cells, int64_t n);
/* Call after the node appeared, was deleted or changed its models. before: its former traits. */
void namespace_usage_move(struct cluster *cluster, const struct node *node,
                          const struct node_traits *before);
/* NULL: the namespace does not exist and uses nothing that quotas count. */
struct namespace_entry *namespace_usage_find(const struct cluster *cluster, const char *name);
struct namespace_entry *namespace_usage_find_or_add(struct cluster *cluster, const char *name);
/* Recomputes the quotas that cover the namespace. */
void namespace_usage_cover_anew(struct cluster *cluster, struct namespace_entry *entry);
void namespace_usage_drop_labels(struct cluster *cluster, struct namespace_entry *entry);
/* Frees the entry if the namespace does not exist and uses nothing. */
void namespace_usage_release(struct cluster *cluster, struct namespace_entry *entry);
/* For the sums of all quotas; its memory is touched. */
int64_t *namespace_usage_room(const struct policy *policy);
void namespace_usage_fork(struct cluster *fork, const struct cluster *cluster);
void namespace_usage_free_all(struct cluster *cluster);

/* claim_usage.c */
/* The quota_scopes that count devices of the driver, as bits. */
uint64_t claim_usage_scopes(const struct policy *policy, const char *driver);
/* Counts the claim as the cluster's devices have it now; call it after each change of it. */
void claim_usage_renew(struct cluster *cluster, const char *namespace_, const char *name);
/* Call after adding the pod to the ledger's tables, and before removing it. */
void claim_usage_add_pod(struct cluster *cluster, struct pod_entry *pod);
void claim_usage_remove_pod(struct cluster *cluster, struct pod_entry *pod);
/* Call after a change of what the pod or its reservation counts. NULL: no pod. */
void claim_usage_renew_pod(struct cluster *cluster, const struct pod_entry *pod);
/* Copies what bind refused, for claims that both have. One that is allocated counts by the new
 * policy; another only if the quotas of both policies name the same models and resources, and is
 * forgotten otherwise. */
void claim_usage_copy_refused(struct cluster *to, const struct cluster *from);
/* Returns the number of claims whose GPUs or pods differ from those of the cluster. */
size_t claim_usage_check(const struct cluster *cluster);
void claim_usage_free_all(struct cluster *cluster);

/* claim_floating.c */
/* Call after the pod got or lost its node or reservation. */
void claim_floating_moved(struct cluster *cluster, const char *uid);

/* cluster_namespaces.c */
void cluster_namespaces_keep(struct cluster *cluster, const char *name);
bool cluster_namespaces_sweep(struct cluster *cluster, size_t work);
const void *cluster_namespaces_next(const struct cluster *cluster, const void *last,
                                    struct arena *arena, const void **ret_facts);
const void *cluster_namespaces_see(struct cluster *copy, const struct cluster *original,
                                   const void *object);

/* cluster_device_classes.c */
const void *cluster_device_classes_facts(const struct kept *object, struct arena *arena);
void cluster_device_classes_let_go(struct cluster *cluster, struct kept *object);
void cluster_device_classes_fork(struct cluster *fork, const struct cluster *cluster);
/* Returns the number of resources with a wrong count of classes. */
size_t cluster_device_classes_check(const struct cluster *cluster);
/* Whether a device class maps this extended resource. */
bool cluster_device_classes_map(const struct cluster *cluster, const char *resource);

/* cluster_budgets.c */
const void *cluster_budgets_facts(const struct kept *object, struct arena *arena);
void cluster_budgets_let_go(struct cluster *cluster, struct kept *object);
void cluster_budgets_changed(struct cluster *cluster);

/* pod_groups.c */
void pod_groups_upsert(struct cluster *cluster, const struct pod_group_facts *facts);
const void *pod_groups_facts(const struct kept *object, struct arena *arena);
/* Call after adding the pod to the ledger's tables, and before removing it. */
void pod_groups_add_pod(struct cluster *cluster, struct pod_entry *entry);
void pod_groups_remove_pod(struct cluster *cluster, struct pod_entry *entry);
/* Call after the pod got or lost its reservation. */
void pod_groups_renew_pod(const struct cluster *cluster, struct pod_entry *entry);
/* Of a member: the node of its place, "" for none; interned, and taken over. */
void pod_groups_move_pod(const struct cluster *cluster, struct pod_entry *entry,
                         const char *planned_node);
/* When a claim ends that the pod makes now and that would last until until_ms; not later than
 * now_ms: it may make none. entry NULL: a pod that the ledger does not have. */
int64_t pod_groups_claim_until(const struct cluster *cluster, const struct pod_entry *entry,
                               int64_t now_ms, int64_t until_ms);

/* gpu_time.c */
/* Call after adding the pod to the ledger's tables, and before removing it. */
void gpu_time_add_pod(struct cluster *cluster, struct pod_entry *pod);
void gpu_time_remove_pod(const struct cluster *cluster, struct pod_entry *pod);
/* Call after a change of the node's traits. */
void gpu_time_renew_node(struct cluster *cluster, const struct node *node);
/* Gives the sums to a copy of the ledger, up to the present time. */
void gpu_time_continue(struct cluster *to, const struct cluster *from);
bool gpu_time_is_right(const struct cluster *cluster);
void gpu_time_free_all(struct cluster *cluster);

/* gangs.c */
const void *gangs_group_of(const struct pod_entry *entry);
/* A change of a pod removes it and adds it again: in between its place is kept apart, interned. */
const char *gangs_take_planned(struct pod_entry *entry);
void gangs_return_planned(struct cluster *cluster, const char *uid, const char *planned_node);

/* cluster_claim_templates.c */
const void *cluster_claim_templates_facts(const struct kept *object, struct arena *arena);
void cluster_claim_templates_let_go(struct cluster *cluster, struct kept *object);

/* node_traits.c */
/* before: current traits of the node of that name; NULL: none. */
struct traits_entry *node_traits_new(struct cluster *cluster, const struct node_facts *facts,
                                     const struct traits_entry *before);
/* The same traits with the models that the node's devices have now; NULL: they are the same. */
struct traits_entry *node_traits_by_devices(struct cluster *cluster,
                                            const struct traits_entry *before);
/* Whether that is so: each model is a label's, or that of the devices. */
bool node_traits_has_model(const struct cluster *cluster, const struct node_traits *traits);
void node_traits_ref(struct traits_entry *entry);
void node_traits_unref(struct cluster *cluster, struct traits_entry *entry);
bool node_traits_equal(const struct node_traits *a, const struct node_traits *b);

/* ---- gpu kinds ---- */
/* Which vendors' GPUs a node has, and which of its labels are about which of them: struct
 * gpu_kind in include/ledger/cluster.h. */

/* Whether the key is of the vendor's domain: "beta.amd.com/gpu.vram" of "amd.com". */
bool gpu_kinds_is_of_vendor(const char *key, const char *domain);
/* Sets gpus and others, with the models that labels name. The view must be set. */
void gpu_kinds_find(struct string_table *strings, const struct node_facts *facts,
                    struct node_traits *traits);
/* Makes the kinds of a shallow copy its own. */
void gpu_kinds_copy(struct string_table *strings, struct node_traits *copy);
void gpu_kinds_free(struct string_table *strings, struct node_traits *traits);
/* Of the same labels. */
bool gpu_kinds_equal(const struct node_traits *a, const struct node_traits *b);
/* The GPUs of that domain, also if the traits do not tell vendors apart; NULL: none. */
const struct gpu_kind *gpu_kinds_of_domain(const struct node_traits *traits, const char *domain);

/* ---- the pods of groups, which pod_groups and gangs count ---- */

struct member_group {
    bool is_gang;
    size_t n_members, n_bound, n_placed, n_waiting, n_planned; /* as in struct gang */
    int64_t claims_from_ms;       /* the first claim since a member was bound; 0: none */
    struct group_member *members; /* all of them */
    struct group_member *waiting; /* may be scheduled now; in the order in which they began to */
    enum gang_treatment treatment;
    UT_hash_handle hh;
    char key[]; /* "namespace/name" */
};

struct group_member {
    struct pod_entry *pod;
    struct member_group *group;
    bool is_bound, waits;
    struct group_member *prev, *next;         /* in waiting */
    struct group_member *all_prev, *all_next; /* in members */
};

/* NULL: it has none. */
struct member_group *pod_groups_members(const struct cluster *cluster, bool is_gang,
                                        const char *namespace_, const char *name);

#endif
