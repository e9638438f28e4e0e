/*
 * cluster: the ledger. Which nodes there are, what they have, and who uses it.
 *
 * Who uses: every pod with a node name that is not finished, terminating ones included, whatever
 * scheduler placed it, times its demand. Nothing a tenant can write on a pod (label, annotation)
 * changes that. Pods without a node are kept too and use nothing. Everything about a pod is keyed
 * by its UID. A pod may name a node that is not there: it is kept, and counts when the node
 * appears. Arithmetic is signed: an over-full node has less than 0 free and fits nothing.
 *
 * Pure: no I/O, no clock, no lock. The owner (inventory/) serialises; a constant cluster may be
 * read by many.
 */
#ifndef LEDGER_CLUSTER_H
#define LEDGER_CLUSTER_H

#include "base/arena.h"
#include "base/err.h"
#include "ledger/pod_shape.h"
#include "types/facts.h"
#include "types/policy.h"
#include "types/selector.h"

struct cluster;
struct node;
struct owner;      /* of replicas: ledger/owners.h */
struct model_pool; /* ledger/gpu_demand.h */

/* n_over * 2^63 + low. See src/ledger/exact_sum.h. */
struct exact_sum {
    int64_t low; /* >= 0 */
    uint64_t n_over;
};

struct node_resource {
    const struct resource *resource;
    int64_t capacity;
    int64_t allocatable;
    int64_t used;            /* by pods of the ledger on the node; at most INT64_MAX */
    int64_t reserved;        /* by bindings on their way: decide/reserve.h; at most INT64_MAX */
    bool advertised;         /* the node itself names it; else only its pods do */
    bool is_uncounted;       /* the row is new, and what pods use of it is not summed yet */
    struct model_pool *pool; /* of GPUs: where those that are free are counted; NULL: nowhere */
    struct exact_sum used_sum, reserved_sum; /* behind used and reserved; not kept in forks */
};

/* What a node is, apart from what it has: shared by a cluster and its forks, never changed. */
struct node_traits {
    /* What every decision reads comes first: it is fetched from memory for each node. */
    struct label_view view;
    const struct taint *taints;
    size_t n_taints;
    bool unschedulable;
    bool ready;
    /* Its plain NVIDIA GPUs are no whole ones: several pods may get the same (time slicing, MPS);
     * each is a slice of one (MIG, single strategy). Both may be so. */
    bool shares_gpus;
    bool slices_gpus;
    const char *zone;         /* kept once for all nodes of it; NULL: none */
    int64_t gpu_memory_bytes; /* label nvidia.com/gpu.memory, else the name; 0 unknown */
    /* policy_quota_models() of the model that quotas count the node by: its own, or where its
     * labels name none now, the last one that they named of the same node, by its UID. */
    uint64_t quota_models;
    struct gpu_model model;  /* chip "" where unknown */
    const char *model_word;  /* the same for all nodes whose model and memory are: by address */
    const char *model_label; /* the key it was read from, "" */
    const char *model_value; /* the value as it stands on the node, "" */
    const char *uid;         /* "" where it is not known */
    struct gpu_model counted_model; /* by quotas */
    int64_t counted_memory_bytes;
};

/* A pod of the ledger. Read only. */
struct pod {
    const char *uid;
    const char *namespace_;
    const char *name;
    const char *node_name;
    const char *nominated_node;
    const char *priority_class;
    const char *refusal;                                  /* NULL: none */
    const char *unscheduled_reason, *unscheduled_message; /* as in pod_facts */
    const char *not_evaluated;                            /* the same */
    bool finished, terminating, gated;
    int64_t priority;
    int64_t created_s;
    const struct pod_shape *shape;
    struct owner *owner; /* NULL: it is nobody's replica */
};

/* A namespace that is there. Read only. */
struct namespace
{
    const char *name;
    const struct label *labels; /* sorted by key; none in a fork */
    size_t n_labels;
    bool is_enforced; /* NAMESPACE_ENFORCED_LABEL says so; in a fork too */
};

/* The admission policy of manifests/overlays/admission goes by it: pods there cannot escape quotas.
 */
#define NAMESPACE_ENFORCED_LABEL "gpu-extender.io/quota"
#define NAMESPACE_ENFORCED "enforced"

/* policy is borrowed for the cluster's life. */
struct cluster *cluster_new(const struct policy *policy);
void cluster_free(struct cluster *cluster);
const struct policy *cluster_policy(const struct cluster *cluster);

/* Insert or replace; the same facts again change nothing (not even the version). Facts are copied.
 * A pod whose namespace and name another UID has takes that one's place: it was deleted and made
 * anew. */
void cluster_upsert_node(struct cluster *cluster, const struct node_facts *facts);
void cluster_upsert_pod(struct cluster *cluster, const struct pod_facts *facts);
/* Nothing happens where it is not there. Pods of a deleted node stay until they are deleted. */
void cluster_delete_node(struct cluster *cluster, const char *name);
void cluster_delete_pod(struct cluster *cluster, const char *uid);

/* An object that is still there but could not be read: what is known of it stays (a node's name, a
 * pod's UID). */
void cluster_keep_node(struct cluster *cluster, const char *name);
void cluster_keep_pod(struct cluster *cluster, const char *uid);

/* Replace all, piece by piece: begin, upsert what there is (the same facts again count as seen),
 * end deletes what was not upserted since the last begin. Until then the ledger over-counts, which
 * is safe. A list that broke off is begun again; without a begin, end deletes nothing. */
enum cluster_kind {
    CLUSTER_NODES,
    CLUSTER_PODS,
    CLUSTER_NAMESPACES,
    CLUSTER_PRIORITY_CLASSES,
    CLUSTER_DEVICE_CLASSES,
    N_CLUSTER_KINDS
};
void cluster_relist_begin(struct cluster *cluster, enum cluster_kind kind);
void cluster_relist_end(struct cluster *cluster, enum cluster_kind kind);
/* The same for pods, in pieces, so that other threads can take the ledger's lock in between. It
 * stops after `work`: looking at a pod costs 1, deleting one CLUSTER_SWEEP_DELETION. True: all pods
 * are done. */
#define CLUSTER_SWEEP_DELETION 20
bool cluster_relist_sweep_pods(struct cluster *cluster, size_t work);

/* Namespaces and priority classes: names, labels, and the classes' values. */
void cluster_upsert_namespace(struct cluster *cluster, const struct namespace_facts *facts);
void cluster_delete_namespace(struct cluster *cluster, const char *name);
bool cluster_has_namespace(const struct cluster *cluster, const char *name);
size_t cluster_n_namespaces(const struct cluster *cluster);
/* They are listed from an API server: one that is not there has only not been seen yet. A file may
 * have been saved without them, and a fork has those that are there. */
bool cluster_lists_namespaces(const struct cluster *cluster);
/* From NULL to NULL, in the order of their insertion. In a fork they have no labels. */
const struct namespace *cluster_next_namespace(const struct cluster *cluster,
                                               const struct namespace *namespace_);
void cluster_upsert_priority_class(struct cluster *cluster, const char *name, int64_t value,
                                   bool is_default, bool never_preempts);
void cluster_delete_priority_class(struct cluster *cluster, const char *name);
/* False where there is no such class. name "" asks for the global default (of several, the lowest).
 */
bool cluster_priority_of_class(const struct cluster *cluster, const char *name, int64_t *ret_value);
/* Whether pods of the class have nobody evicted for them; the name as above. */
bool cluster_class_never_preempts(const struct cluster *cluster, const char *name);
size_t cluster_n_priority_classes(const struct cluster *cluster);
/* All names, from NULL to NULL, in the order of their insertion. */
const char *cluster_next_priority_class(const struct cluster *cluster, const char *name,
                                        int64_t *ret_value, bool *ret_is_default);

/* Device classes (dynamic resource allocation): names, and the extended resource that each maps to
 * its devices; "": none but its implicit name. Since Kubernetes 1.36 kube-scheduler makes a claim
 * for a pod that asks for such a resource, on a node that has none of it to allocate. */
void cluster_upsert_device_class(struct cluster *cluster, const char *name, const char *resource);
void cluster_delete_device_class(struct cluster *cluster, const char *name);
size_t cluster_n_device_classes(const struct cluster *cluster);
/* All names, as of priority classes; the resource is "" where there is none. */
const char *cluster_next_device_class(const struct cluster *cluster, const char *name,
                                      const char **ret_resource);

/* Grows with every change that could change a decision. What kube-scheduler says of a pod changes
 * none. */
uint64_t cluster_version(const struct cluster *cluster);

/* The owner's time (milliseconds, any origin), noted with each later change of a node; 0 until it
 * is set. */
void cluster_set_now(struct cluster *cluster, int64_t now_ms);
/* When a node last came, went or changed (labels, taints, what it advertises), in the time of
 * cluster_set_now(). */
int64_t cluster_nodes_changed_ms(const struct cluster *cluster);
/* The same for one node. 0 in a fork. */
int64_t node_changed_ms(const struct node *node);

size_t cluster_n_nodes(const struct cluster *cluster);
size_t cluster_n_pods(const struct cluster *cluster);

/* What the shapes of the ledger's pods and reservations cost to keep. */
struct shape_use {
    size_t n_shapes;
    size_t bytes;
    size_t n_pods_over[N_SHAPE_LIMITS]; /* pods, by the limit that their shapes are over */
};
/* Not of a fork. */
struct shape_use cluster_shape_use(const struct cluster *cluster);

/* NULL where the node is not there (also where only pods speak of it). */
const struct node *cluster_find_node(const struct cluster *cluster, const char *name);
/* The same for each of many names: what memory takes long to give is asked for ahead. */
void cluster_find_nodes(const struct cluster *cluster, const char *const *names, size_t n,
                        const struct node **ret_nodes);
/* Nodes that are there, one after another from NULL to NULL, in the order in which they came. */
const struct node *cluster_next_node(const struct cluster *cluster, const struct node *node);
/* Nodes that do not exist, but that pods, reservations or nominations name; from NULL to NULL. */
const struct node *cluster_next_missing_node(const struct cluster *cluster,
                                             const struct node *node);
const struct pod *cluster_find_pod(const struct cluster *cluster, const char *uid);
const struct pod *cluster_find_pod_named(const struct cluster *cluster, const char *namespace_,
                                         const char *name);
/* All pods, from NULL to NULL. */
const struct pod *cluster_next_pod(const struct cluster *cluster, const struct pod *pod);

const char *node_name(const struct node *node);
const struct node_traits *node_traits(const struct node *node);
/* Of its traits; NULL: it has none, or the node is not there. */
const char *node_zone(const struct node *node);
/* The resources that the node advertises, and those always kept that its pods or reservations use
 * (policy_is_common_resource()). */
const struct node_resource *node_resources(const struct node *node, size_t *ret_n);
/* NULL: the node has no row for the resource, so it has none of it, whatever pods ask for. */
const struct node_resource *node_find_resource(const struct node *node,
                                               const struct resource *resource);
/* The sum of GPUs that its pods and reservations ask for, of resources for which the node has no
 * row; at most INT64_MAX. */
int64_t node_unlisted_gpus(const struct node *node);
/* The node has none of the resource to allocate, but a device class maps it: a pod would get it
 * there by a claim. Whether there are devices, and free ones, nothing of the ledger tells. */
bool node_gives_by_claim(const struct node *node, const struct resource *resource);
/* allocatable - used - reserved; may be negative, and stops at INT64_MIN. */
int64_t node_resource_free(const struct node_resource *resource);
/* Of all GPU resources together; over-full ones count as full. At most INT64_MAX. */
int64_t node_free_gpus(const struct node *node);
/* As pod_facts' replica_of; "" for NULL. */
const char *owners_uid(const struct owner *owner);
/* The pods that use the node, from NULL to NULL. Empty in a fork. */
const struct pod *node_next_pod(const struct node *node, const struct pod *pod);

/* NULL where nothing of the ledger has or asks for it. */
const struct resource *cluster_find_resource(const struct cluster *cluster, const char *name);
/* A shape for a decision, in the arena; facts are borrowed. Valid while the cluster does not
 * change. */
const struct pod_shape *cluster_resolve(const struct cluster *cluster,
                                        const struct shape_facts *facts, struct arena *arena);

/* A copy to think on: nodes, what is used and what is promised, without the pods. It shares what
 * never changes with its origin: make and free it under the origin's lock, use it without.
 * cluster_place() and reading are all that a fork is for. */
struct cluster *cluster_fork(struct cluster *cluster);
void cluster_fork_free(struct cluster *fork);
/* Uses n times the shape's needs on that node of a fork. The shape must have been resolved against
 * the fork. */
void cluster_place(struct cluster *fork, const struct node *node, const struct pod_shape *shape,
                   int64_t n);

/* Recomputes all sums from the pods and reservations. The number of differences (0 is right); the
 * first is told in err. */
size_t cluster_check(const struct cluster *cluster, struct err *err);
/* Recomputes the sums of some nodes, and of what is free of each GPU model, in rounds over all of
 * them: it stops after so much work (a pod, or one of its needs, is 1) and goes on there with the
 * next call, even in the middle of a node's pods. Adds to *ret_n_differences; the first is told in
 * err. True when a round is complete. */
bool cluster_check_some(struct cluster *cluster, size_t work, size_t *ret_n_differences,
                        struct err *err);

#endif
