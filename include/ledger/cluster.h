/*
 * cluster: the ledger: nodes, their resources, and the pods and reservations that use them.
 *
 * A pod uses its demand on its node until it is finished, also while it terminates, and whichever
 * scheduler placed it. No label or annotation of a tenant changes that. Pods without a node are
 * kept too and use nothing. Pods are keyed by UID. A pod may name a node that does not exist: it is
 * kept, and counts when the node appears. Arithmetic is signed: an overfull node has less than 0
 * free and fits nothing.
 *
 * Pure: no I/O, no clock, no lock. The owner (inventory/) holds its write lock for changes and its
 * read lock for reading; several threads may read a const cluster at once.
 */
#ifndef LEDGER_CLUSTER_H
#define LEDGER_CLUSTER_H

#include "base/arena.h"
#include "base/err.h"
#include "base/hash.h"
#include "types/facts.h"
#include "types/policy.h"
#include "types/selector.h"
#include "types/selector_texts.h"

/* ---- pod shape ---- */
/* The part of a pod that decides where it may go, resolved against one ledger.  A ledger keeps
 * each distinct shape once, reference-counted; shapes are the classes of statistics and the key
 * of caches. The pod of a request gets a shape of its own in the request's arena
 * (cluster_resolve()), which reads the same and lives as long as the arena. */

/* A resource name known to a ledger: interned, compared by address. */
struct resource {
    const char *name;
    bool is_gpu;           /* by the policy */
    bool is_unlisted;      /* accelerator_is_unlisted() */
    bool is_always_kept;   /* policy_is_common_resource() */
    uint64_t quota_scopes; /* bit set of the scopes that count it: policy_quota_scopes() */
};

struct need {
    const struct resource
        *resource; /* differs from every node's if the ledger does not know the name */
    int64_t amount;
};

struct pod_shape {
    struct shape_facts facts;
    /* facts.demand, GPU resources first. */
    const struct need *needs;
    size_t n_needs;
    size_t n_gpu_needs;
};

/* The amount of the resource; 0 without such a need. */
int64_t needs_find(const struct need *needs, size_t n, const struct resource *resource);
/* The amount of the resource that a pod needs; 0 without such a need. */
int64_t shape_need(const struct pod_shape *shape, const struct resource *resource);
/* Moves needs of GPU resources to the front, otherwise stable. Returns their number. */
size_t needs_put_gpus_first(struct need *needs, size_t n_needs);

/* ---- cluster ---- */

struct cluster;
struct node;
struct owner;       /* of replicas: ledger/owners.h */
struct model_pool;  /* ledger/gpu_demand.h */
struct devices;     /* dra/devices.h */
struct slice_facts; /* types/device_facts.h */
struct claim_facts;
struct device_taint_facts;
struct claim_template_facts;

/* n_over * 2^63 + low. See src/ledger/shapes/exact_sum.h. */
struct exact_sum {
    int64_t low; /* >= 0 */
    uint64_t n_over;
};

struct node_resource {
    const struct resource *resource;
    int64_t capacity;
    int64_t allocatable;
    int64_t used;            /* by the node's pods; at most INT64_MAX */
    int64_t reserved;        /* by bindings in progress (decide/reserve.h); at most INT64_MAX */
    bool advertised;         /* the node reports it; else only its pods name it */
    bool is_uncounted;       /* a new row, whose use by pods is not summed yet */
    struct model_pool *pool; /* of GPUs: the pool that counts the free ones; NULL: none */
    struct exact_sum used_sum,
        reserved_sum; /* exact values of used and reserved; not kept in forks */
};

/* GPUs on a node that come by dynamic resource allocation (DRA), of one driver and model. Pods
 * claim them, so they have no struct node_resource. */
struct node_device_group {
    const char *driver; /* interned */
    const char *model;  /* canonical, interned; "": unknown */
    /* The extended resource that stands for them by the policy; NULL: none. */
    const struct resource *resource;
    int64_t total, allocated, free; /* as in struct device_group */
    /* A device plugin of the same vendor offers GPUs on the node: those count, and these nowhere
     * but in lists of devices. */
    bool is_shadowed;
    struct model_pool *pool; /* of the resource: the pool that counts the free ones; NULL: none */
};

/* The GPUs of one vendor on a node. */
struct gpu_kind {
    /* policy_quota_models() of the model that quotas count them under. If the labels name none now,
     * the last one that they named for the same node UID stays. */
    uint64_t quota_models;
    int64_t memory_bytes;           /* of a GPU by the labels, else by its name; 0: unknown */
    struct gpu_model model;         /* chip "" if unknown */
    const char *domain;             /* of their resources: "nvidia.com"; "": of all. Interned */
    const char *label;              /* that names the model: its key, or "" */
    const char *value;              /* of that label on the node, or "" */
    const char *driver;             /* of the devices that it comes from; "": by a label, or none */
    struct gpu_model counted_model; /* by quotas */
    int64_t counted_memory_bytes;
};

/* One unit of a GPU resource on a node, as the labels of the policy's models.units say. */
struct gpu_unit {
    const char *resource; /* interned */
    bool is_shared;       /* several pods may get one GPU */
    bool is_slice;        /* a slice (MIG) under the name of whole GPUs */
    bool is_part;         /* one of these, or a slice by its own name */
    char partition[24];   /* "1g.5gb", "cpx_nps4"; "": none, or in the resource's name */
    int64_t memory_bytes; /* of one unit; 0: unknown */
    bool has_own_memory;  /* by its labels or name; else that of the node's GPUs */
    /* More units than count_label counts, and nothing tells why: shares, or a second model. 0 and
     * "": not so. */
    int64_t n_offered, n_counted;
    const char *count_label;
    const char *memory_label; /* its value is impossible, so it does not count; "": none */
};

/* "gpu", "slice" or "share". NULL: a whole GPU. */
const char *gpu_unit_word(const struct gpu_unit *unit);

struct gpu_units {
    struct gpu_unit *items;
    size_t n;
};

/* A node without its resources: shared by a cluster and its forks, immutable. */
struct node_traits {
    /* Every decision reads these of each node, so they lie together at the start. */
    struct label_view view;
    const struct taint *taints;
    size_t n_taints;
    bool unschedulable;
    bool ready;
    bool has_parts;          /* units of one of its GPU resources are shares or slices */
    const char *zone;        /* interned, so the zone's nodes share it; NULL: none */
    size_t n_others;         /* mostly 0: GPUs of one vendor */
    struct gpu_kind gpus;    /* the vendor whose label comes first in the policy */
    struct gpu_kind *others; /* further vendors of the resources that it reports */
    const char *model_word;  /* interned string; equal address: same models and memory */
    const char *uid;         /* "" if unknown */
    const char *conditions;  /* as in node_facts; "" if none */
    struct gpu_units units;  /* of the GPU resources that it reports */
};

/* A pod of the ledger, read-only. */
struct pod {
    const char *uid;
    const char *namespace_;
    const char *name;
    const char *node_name;
    const char *nominated_node;
    const char *planned_node; /* of its place: ledger/gangs.h; "": none */
    size_t planned_kind;      /* pods of one may exchange their places; 0: of none */
    const char *priority_class;
    const char *refusal;                                  /* NULL: none */
    const char *extended_claim;                           /* NULL: none */
    const char *claims;                                   /* as in pod_facts */
    uint32_t made_claims;                                 /* the same */
    const char *unscheduled_reason, *unscheduled_message; /* as in pod_facts */
    const char *controller;                               /* the same */
    const char *group;                                    /* the same */
    const char *gang;                                     /* the same */
    int64_t gang_size;                                    /* the same */
    const char *domain;                                   /* the same */
    const char *scheduler;                                /* the same */
    const char *not_evaluated;                            /* the same */
    bool finished, terminating, gated;
    bool ready, unstarted; /* as in pod_facts */
    enum pod_qos qos;      /* the same */
    int64_t priority;
    int64_t created_s;
    int64_t started_s; /* 0: not yet */
    const struct pod_shape *shape;
    struct owner *owner; /* NULL: no replica (replica_of in pod_facts) */
    /* Its labels, and its terms; of a pod with a node only required anti-affinity. NULL: none. */
    const struct peer_facts *labels, *terms;
    /* Affinity and topology spread of a pod with a node, which concern no other pod: for a what-if
     * that evicts it. NULL: none, or no room. */
    const struct peer_facts *own_terms;
    bool lacks_peers; /* as in pod_facts */
    bool lacks_own_terms;
    bool soft_preferences; /* as in pod_facts, like version */
    uint64_t version;
};

/* A namespace that exists, read-only. */
struct namespace
{
    const char *name;
    const struct label *labels; /* sorted by key; none in a fork */
    size_t n_labels;
    bool is_enforced; /* by NAMESPACE_ENFORCED_LABEL; also in a fork */
};

/* Selects the namespaces of manifests/overlays/admission, where pods cannot escape quotas. */
#define NAMESPACE_ENFORCED_LABEL "gpu-extender.io/quota"
#define NAMESPACE_ENFORCED "enforced"

/* A cluster and its forks hold the policy. */
struct cluster *cluster_new(const struct policy *policy);
void cluster_free(struct cluster *cluster);
const struct policy *cluster_policy(const struct cluster *cluster);

/* Insert or replace; the same facts again change nothing, not even the version. Facts are copied. A
 * pod with the namespace and name of another UID replaces that pod, which must have been deleted
 * and recreated. A finished, terminating or placed pod ends its reservation and claim. */
void cluster_upsert_node(struct cluster *cluster, const struct node_facts *facts);
void cluster_upsert_pod(struct cluster *cluster, const struct pod_facts *facts);
/* Without such an object nothing happens. Pods of a deleted node stay until they are deleted. A
 * pod's reservation and claim end with it. */
void cluster_delete_node(struct cluster *cluster, const char *name);
void cluster_delete_pod(struct cluster *cluster, const char *uid);

/* As cluster_keep(). */
void cluster_keep_node(struct cluster *cluster, const char *name);
void cluster_keep_pod(struct cluster *cluster, const char *uid);

/* The kinds of objects: those that an API server is asked for, and those of cluster files only. */
enum cluster_kind {
    CLUSTER_NODES,
    CLUSTER_PODS,
    CLUSTER_NAMESPACES,
    CLUSTER_PRIORITY_CLASSES,
    CLUSTER_DEVICE_CLASSES,
    CLUSTER_SLICES,
    CLUSTER_CLAIMS,
    CLUSTER_DEVICE_TAINTS,
    CLUSTER_CLAIM_TEMPLATES,
    CLUSTER_BUDGETS,
    CLUSTER_POD_GROUPS,
    N_CLUSTER_KINDS,
    CLUSTER_RUNTIME_CLASSES = N_CLUSTER_KINDS, /* only their names. None: they are unknown */
    N_LEDGER_KINDS
};

/* The functions for objects of any kind. id: the name, "namespace/name", or a pod's UID. */
/* facts: of the kind's type, struct node_facts for CLUSTER_NODES, and so on; struct name_facts of a
 * kind of which only names are kept. As the functions of that kind below. */
void cluster_upsert(struct cluster *cluster, enum cluster_kind kind, const void *facts);
/* Without such an object nothing happens. */
void cluster_delete(struct cluster *cluster, enum cluster_kind kind, const char *id);
/* Marks an object as present that could not be read: the ledger keeps what it knows. */
void cluster_keep(struct cluster *cluster, enum cluster_kind kind, const char *id);
size_t cluster_n_objects(const struct cluster *cluster, enum cluster_kind kind);
/* Both only of priority, runtime and device classes, claim templates, budgets and pod groups. The
 * second iterates in insertion order: NULL to NULL. */
bool cluster_has_object(const struct cluster *cluster, enum cluster_kind kind, const char *id);
const char *cluster_next_id(const struct cluster *cluster, enum cluster_kind kind, const char *id);
/* Iterates in insertion order over all kinds but nodes and pods: NULL to NULL. The facts, of the
 * kind's type, are in the arena, with all that they point to. */
const void *cluster_next_object(const struct cluster *cluster, enum cluster_kind kind,
                                const void *last, struct arena *arena, const void **ret_facts);

/* The order in which a new ledger best gets them, i < N_LEDGER_KINDS: nodes need their classes, and
 * pods, the last, their nodes. */
enum cluster_kind cluster_kind_in_order(size_t i);

/* Replaces all objects of a kind step by step: begin, then upsert each (the same facts again
 * count), then end, which deletes every object without an upsert since the last begin. Until then
 * the ledger overcounts, which is safe. A list that broke off begins again; without a begin, end
 * deletes nothing. */
void cluster_relist_begin(struct cluster *cluster, enum cluster_kind kind);
void cluster_relist_end(struct cluster *cluster, enum cluster_kind kind);
/* Does the work of end in steps, so other threads can take the ledger's lock in between; of nodes
 * and namespaces at once. A step stops after `work`: a visit to an object costs 1, its deletion
 * CLUSTER_SWEEP_DELETION. Returns true once all objects are visited. */
#define CLUSTER_SWEEP_DELETION 20
bool cluster_relist_sweep(struct cluster *cluster, enum cluster_kind kind, size_t work);

/* While false, objects of the kind may exist that the ledger does not know. True at first. While
 * claims are unknown no device is published as free, since any claim may use it. */
void cluster_set_known(struct cluster *cluster, enum cluster_kind kind, bool known);
bool cluster_knows(const struct cluster *cluster, enum cluster_kind kind);

/* Namespaces with labels, and priority classes with values. */
void cluster_upsert_namespace(struct cluster *cluster, const struct namespace_facts *facts);
void cluster_delete_namespace(struct cluster *cluster, const char *name);
bool cluster_has_namespace(const struct cluster *cluster, const char *name);
/* NULL: there is none of the name. */
const struct namespace *cluster_find_namespace(const struct cluster *cluster, const char *name);
size_t cluster_n_namespaces(const struct cluster *cluster);
/* Namespaces are listed from an API server, so a missing one is only not seen yet. A file may lack
 * its namespaces; a fork has the existing ones. */
bool cluster_lists_namespaces(const struct cluster *cluster);
/* Iterates in insertion order: NULL to NULL. In a fork they have no labels. */
const struct namespace *cluster_next_namespace(const struct cluster *cluster,
                                               const struct namespace *namespace_);
void cluster_upsert_priority_class(struct cluster *cluster,
                                   const struct priority_class_facts *facts);
/* Returns false without such a class. name "": the global default (of several, the lowest). */
bool cluster_priority_of_class(const struct cluster *cluster, const char *name, int64_t *ret_value);
/* Whether the class has preemptionPolicy Never; name as above. */
bool cluster_class_never_preempts(const struct cluster *cluster, const char *name);

/* Device classes (dynamic resource allocation). */
void cluster_upsert_device_class(struct cluster *cluster, const struct device_class_facts *facts);
/* The driver of all its devices; "": not known, or no such class. */
const char *cluster_device_class_driver(const struct cluster *cluster, const char *name);
/* Valid until the next change of a class. NULL: no such class. A fork has no selectors. */
const struct selector_texts *cluster_device_class_selectors(const struct cluster *cluster,
                                                            const char *name);
/* The policy's quota_scopes that count devices of the class, as bits; 0: not known, or none. By
 * its driver, else by its extended resource. */
uint64_t cluster_device_class_scopes(const struct cluster *cluster, const char *name);
/* Devices of dynamic resource allocation, the claims that use them, and taint rules. Each change
 * renews the groups of the nodes that it concerns. The keep functions as cluster_keep(). */
void cluster_upsert_slice(struct cluster *cluster, const struct slice_facts *facts);
void cluster_delete_slice(struct cluster *cluster, const char *name);
void cluster_keep_slice(struct cluster *cluster, const char *name);
void cluster_upsert_resource_claim(struct cluster *cluster, const struct claim_facts *facts);
void cluster_delete_resource_claim(struct cluster *cluster, const char *namespace_,
                                   const char *name);
void cluster_keep_resource_claim(struct cluster *cluster, const char *namespace_, const char *name);
void cluster_upsert_device_taint(struct cluster *cluster, const struct device_taint_facts *facts);
void cluster_delete_device_taint(struct cluster *cluster, const char *name);
void cluster_keep_device_taint(struct cluster *cluster, const char *name);
/* NULL in a fork. */
const struct devices *cluster_devices(const struct cluster *cluster);

/* Templates of claims, which quotas count for pods whose claims are not made yet
 * (ledger/asked_claims.h). Facts are copied. */
void cluster_upsert_claim_template(struct cluster *cluster,
                                   const struct claim_template_facts *facts);
/* NULL: there is none. Valid until it changes. */
const struct claim_template_facts *cluster_find_claim_template(const struct cluster *cluster,
                                                               const char *namespace_,
                                                               const char *name);
/* Iterates in insertion order: NULL to NULL. */
const struct claim_template_facts *
cluster_next_claim_template(const struct cluster *cluster,
                            const struct claim_template_facts *facts);

/* PodDisruptionBudgets, which no decision reads. Facts are copied. One that takes more than
 * policy->pod_shape_bytes, or for which its namespace has no room in its part of
 * policy->pod_shapes_bytes / CLUSTER_BUDGETS_SHARE, is cut: its selector is left out. */
#define CLUSTER_BUDGETS_SHARE 8
void cluster_upsert_budget(struct cluster *cluster, const struct budget_facts *facts);
/* Iterates in insertion order: NULL to NULL. A fork has none. */
const struct budget_facts *cluster_next_budget(const struct cluster *cluster,
                                               const struct budget_facts *facts);

/* Grows with every change that may change a decision. A pod's conditions from kube-scheduler change
 * none. */
uint64_t cluster_version(const struct cluster *cluster);
/* Grows with every change of what the ledger keeps; also for some that change nothing. */
uint64_t cluster_edition(const struct cluster *cluster);

/* The minor version of the cluster's Kubernetes, 38 of 1.38; 0 until set: unknown. Rules of
 * kube-scheduler depend on it (PROTOCOL 4.4, 11.6). */
void cluster_set_minor(struct cluster *cluster, int minor);
int cluster_minor(const struct cluster *cluster);

/* The owner's time (milliseconds, any origin) for later changes of nodes; 0 until set. */
void cluster_set_now(struct cluster *cluster, int64_t now_ms);
/* When a node last appeared, disappeared or changed (labels, taints, resources), as
 * cluster_set_now() gave it. */
int64_t cluster_nodes_changed_ms(const struct cluster *cluster);
/* The same for one node; 0 in a fork. */
int64_t node_changed_ms(const struct node *node);

size_t cluster_n_nodes(const struct cluster *cluster);
size_t cluster_n_pods(const struct cluster *cluster);

/* Memory of the shapes of pods and reservations. */
struct shape_use {
    size_t n_shapes;
    size_t bytes;
    size_t n_pods_over[N_SHAPE_LIMITS]; /* pods, by the limit that their shapes exceed */
};
/* Not for a fork. */
struct shape_use cluster_shape_use(const struct cluster *cluster);

/* NULL if no such node exists, even if pods name it. */
const struct node *cluster_find_node(const struct cluster *cluster, const char *name);
/* The same for n names, with memory prefetched. */
void cluster_find_nodes(const struct cluster *cluster, const struct hashed_text *names, size_t n,
                        const struct node **ret_nodes);
/* Iterates over the existing nodes in order of arrival: NULL to NULL. */
const struct node *cluster_next_node(const struct cluster *cluster, const struct node *node);
/* Iterates over nodes that do not exist, but that pods, reservations or nominations name. */
const struct node *cluster_next_missing_node(const struct cluster *cluster,
                                             const struct node *node);
const struct pod *cluster_find_pod(const struct cluster *cluster, const char *uid);
const struct pod *cluster_find_pod_named(const struct cluster *cluster, const char *namespace_,
                                         const char *name);
/* Iterates over all pods: NULL to NULL. */
const struct pod *cluster_next_pod(const struct cluster *cluster, const struct pod *pod);
/* The labels of a pod, for selectors; borrowed. */
struct label_view cluster_pod_view(const struct pod *pod);
/* The facts that the pod itself has: all that the ledger keeps but replica_of, shape and peers.
 * Borrows its texts. */
struct pod_facts cluster_pod_facts(const struct pod *pod);
/* All that the ledger keeps. */
struct pod_facts cluster_whole_pod_facts(const struct pod *pod);
/* A copy of the pod's texts in the arena. Its shape, owner, labels and terms are NULL. */
struct pod cluster_copy_pod(const struct pod *pod, struct arena *arena);
/* The facts that a verb would read from the object of this UID and version, in the arena. False:
 * there is none, or the ledger keeps less of it. */
bool cluster_know_pod(const struct cluster *cluster, const char *uid, uint64_t version,
                      struct arena *arena, struct pod_facts *ret_facts);
/* The facts that the ledger keeps of an existing node; lists of amounts are in the arena. Borrows
 * its texts. */
struct node_facts cluster_node_facts(const struct node *node, struct arena *arena);

/* So many NULs follow the one that ends it: it can be read by words of eight bytes. */
#define NODE_NAME_PADDING 7
const char *node_name(const struct node *node);
/* The place of an existing node among all of them by name, from 1 to cluster_n_ordered(); they may
 * have gaps. The cluster must be settled. */
size_t node_order(const struct node *node);
size_t cluster_n_ordered(const struct cluster *cluster);
const struct node_traits *node_traits(const struct node *node);
/* The GPUs that a pod gets by the resource, which the node need not report. */
const struct gpu_kind *node_traits_gpus(const struct node_traits *traits, const char *resource);
/* Iterates, with node_traits.gpus first: NULL to NULL. */
const struct gpu_kind *node_traits_next_kind(const struct node_traits *traits,
                                             const struct gpu_kind *kind);
/* Whether the node's label may be about these GPUs: it is of their vendor, or of a provider and
 * names no model of another vendor. */
bool gpu_kind_is_named_by(const struct node_traits *traits, const struct gpu_kind *kind,
                          const char *label);
/* NULL: the node does not report the resource, or it is none of GPUs. */
const struct gpu_unit *node_traits_unit(const struct node_traits *traits, const char *resource);
/* From its traits; NULL: no zone, or no such node. */
const char *node_zone(const struct node *node);
/* The resources that the node reports, and common ones that its pods or reservations use
 * (policy_is_common_resource()). */
const struct node_resource *node_resources(const struct node *node, size_t *ret_n);
/* NULL: no row, so the node has none of the resource, whatever pods request. */
const struct node_resource *node_find_resource(const struct node *node,
                                               const struct resource *resource);
/* Sorted by driver and model; also in a fork. */
const struct node_device_group *node_device_groups(const struct node *node, size_t *ret_n);
/* The first of its groups that stands for the resource and is not shadowed; NULL: none. */
const struct node_device_group *node_find_devices(const struct node *node,
                                                  const struct resource *resource);
/* One of its groups is shadowed. */
bool node_publishes_twice(const struct node *node);
/* Sum of GPUs that its pods and reservations request of resources without a row; at most
 * INT64_MAX. */
int64_t node_unlisted_gpus(const struct node *node);
/* The node has none of the resource allocatable, but a device class maps it: a pod would get it
 * through a claim. The ledger does not know whether devices exist or are free. */
bool node_gives_by_claim(const struct node *node, const struct resource *resource);
/* allocatable - used - reserved; may be negative, at least INT64_MIN. */
int64_t node_resource_free(const struct node_resource *resource);
/* Sum over all GPU resources and device groups; overfull ones count as 0. At most INT64_MAX. */
int64_t node_free_gpus(const struct node *node);
/* Like replica_of in pod_facts; "" for NULL. */
const char *owners_uid(const struct owner *owner);
/* Iterates over the pods that use the node: NULL to NULL. Empty in a fork. */
const struct pod *node_next_pod(const struct node *node, const struct pod *pod);

/* NULL if nothing in the ledger has or requests it. */
const struct resource *cluster_find_resource(const struct cluster *cluster, const char *name);
/* Makes a shape for a decision, in the arena; borrows facts. Valid until the cluster changes. */
const struct pod_shape *cluster_resolve(const struct cluster *cluster,
                                        const struct shape_facts *facts, struct arena *arena);

/* A copy for simulated placements: nodes, use, nominations and quotas, without pods. It shares
 * immutable parts with its origin: make and free it under the origin's write lock, use it without a
 * lock. Only cluster_place(), the functions for forks and reading are allowed. */
struct cluster *cluster_fork(struct cluster *cluster);
void cluster_fork_free(struct cluster *fork);
/* Frees n nodes, to shorten cluster_fork_free(). Returns true once it has none. */
bool cluster_fork_free_some(struct cluster *fork, size_t n);
/* Uses n times the shape's needs on that node of a fork. The shape must be resolved against the
 * fork. */
void cluster_place(struct cluster *fork, const struct node *node, const struct pod_shape *shape,
                   int64_t n);
/* The same for n GPUs by resource claims, of the extended resource that stands for them. */
void cluster_place_devices(struct cluster *fork, const struct node *node, const char *resource,
                           int64_t n);

/* Takes these amounts back on a node of a fork, as if pods there had ended. */
void cluster_vacate(struct cluster *fork, const struct node *node, const struct need *needs,
                    size_t n_needs);
/* Marks the present state of a fork. cluster_fork_rewind() returns to it, any number of times:
 * takes back what the two functions above, quota_place() and cluster_add_peers() did since.
 * cluster_fork_keep() forgets the mark; one that was set before it is in force again. */
void cluster_fork_mark(struct cluster *fork);
void cluster_fork_rewind(struct cluster *fork);
void cluster_fork_keep(struct cluster *fork);

/* Recomputes all sums from pods and reservations. Returns the number of differences (0: correct)
 * and describes the first in err. */
size_t cluster_check(const struct cluster *cluster, struct err *err);
/* The same, and the numbers of devices again from these, as devices_check_some(). Not for two
 * threads at once. */
size_t cluster_check_in_place(const struct cluster *cluster, struct err *err);
/* Recomputes the sums of some nodes, then some devices, and the free GPUs of each model, in rounds.
 * It stops after `work` (a pod, one of its needs or a device costs 1), even within a node's pods,
 * and continues there in the next call. Adds to *ret_n_differences and describes the first in err.
 * Returns true once a round is complete. */
bool cluster_check_some(struct cluster *cluster, size_t work, size_t *ret_n_differences,
                        struct err *err);

#endif
