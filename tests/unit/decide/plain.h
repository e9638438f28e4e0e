/*
 * plain: the ledger as simply as possible, for comparison. A few nodes, pods and resources in
 * arrays; every sum is computed from pods and reservations on each call. It shares no code with
 * src/.
 */
#ifndef DECIDE_PLAIN_H
#define DECIDE_PLAIN_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define PLAIN_NODES 12
#define PLAIN_PODS 40
#define PLAIN_ABSENT INT64_MIN /* an absent amount */
#define PLAIN_NOWHERE (-1)     /* node of a pod without one */

/* In the order of their names. */
enum plain_resource { AMD_GPU, CPU, FPGA, MEMORY, NVIDIA_GPU, MIG, PODS, N_PLAIN_RESOURCES };

extern const char *const PLAIN_RESOURCE_NAMES[N_PLAIN_RESOURCES];
/* Resources that get a row when only pods request them. The policy names MIG by a '*'. */
extern const bool PLAIN_ALWAYS_KEPT[N_PLAIN_RESOURCES];

/* Every member has eight bytes, so that equal values have equal bytes. */
struct plain_node {
    int64_t capacity[N_PLAIN_RESOURCES];
    int64_t allocatable[N_PLAIN_RESOURCES];
    int64_t model; /* index of the label value; 0: no label */
    int64_t zone;
    int64_t n_taints;
    int64_t unschedulable;
    int64_t ready;
};

struct plain_shape {
    int64_t demand[N_PLAIN_RESOURCES];
    int64_t n_tolerations;
    int64_t zone; /* of the node selector; 0: none */
};

struct plain_pod {
    struct plain_shape shape;
    int64_t node; /* an index, or PLAIN_NOWHERE */
    int64_t name; /* below PLAIN_PODS */
    int64_t nominated;
    int64_t refusal; /* 0: none */
    int64_t finished;
    int64_t terminating;
    int64_t gated;
    int64_t owner; /* 0: none */
    int64_t priority;
};

/* The reservation of the pod with the same index. */
struct plain_hold {
    bool there;
    struct plain_shape shape;
    int64_t node;
    int64_t name;
    int64_t made_ms;
    int64_t owner;
};

struct plain {
    struct plain_node nodes[PLAIN_NODES];
    struct plain_pod pods[PLAIN_PODS];
    bool node_there[PLAIN_NODES], node_seen[PLAIN_NODES];
    bool pod_there[PLAIN_PODS], pod_seen[PLAIN_PODS];
    struct plain_hold holds[PLAIN_PODS];
    uint64_t n_changes;
};

/* Without any allocatable amount, allocatable defaults to capacity. An absent capacity defaults to
 * the resource's allocatable. */
void plain_put_node(struct plain *plain, size_t i, const struct plain_node *node);
/* Removes a pod of the same name. Ends the reservation where the ledger would. */
void plain_put_pod(struct plain *plain, size_t i, const struct plain_pod *pod);
void plain_remove_node(struct plain *plain, size_t i);
void plain_remove_pod(struct plain *plain, size_t i);
void plain_keep_node(struct plain *plain, size_t i);
void plain_keep_pod(struct plain *plain, size_t i);
void plain_begin_nodes(struct plain *plain);
void plain_end_nodes(struct plain *plain);
void plain_begin_pods(struct plain *plain);
void plain_end_pods(struct plain *plain);

/* Ends the reservation, if any. */
void plain_release(struct plain *plain, size_t pod);

bool plain_uses(const struct plain *plain, size_t pod, size_t node);
bool plain_holds(const struct plain *plain, size_t pod, size_t node);
/* At most INT64_MAX. */
int64_t plain_used(const struct plain *plain, size_t node, size_t resource);
int64_t plain_reserved(const struct plain *plain, size_t node, size_t resource);
/* Whether the pod has a nomination there, and neither use nor reservation. */
bool plain_is_promised(const struct plain *plain, size_t pod, size_t node);
/* The amount kept on the node from the pod of that index (PLAIN_PODS: an unknown pod); at most
 * INT64_MAX. */
int64_t plain_kept(const struct plain *plain, size_t node, size_t resource, size_t asker,
                   const struct plain_pod *pod);
size_t plain_n_users(const struct plain *plain, size_t node);
size_t plain_n_holders(const struct plain *plain, size_t node);
size_t plain_n_promised(const struct plain *plain, size_t node);
/* Replicas of the owner on the node: reservations count, pods being deleted do not. */
size_t plain_n_replicas(const struct plain *plain, int64_t owner, size_t node);
size_t plain_n_shapes(const struct plain *plain);
/* Resources that a node has, a pod requests or a reservation holds. */
size_t plain_n_resources(const struct plain *plain);

#endif
