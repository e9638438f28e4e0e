/*
 * plain: the ledger as plainly as can be, to hold the real one against. A few nodes, pods and
 * resources in arrays, every sum made anew from the pods and reservations whenever it is asked for.
 * It shares no code with src/.
 */
#ifndef DECIDE_PLAIN_H
#define DECIDE_PLAIN_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define PLAIN_NODES 12
#define PLAIN_PODS 40
#define PLAIN_ABSENT INT64_MIN /* an amount that is not there */
#define PLAIN_NOWHERE (-1)     /* the node of a pod that has none */

/* In the order of their names. */
enum plain_resource { AMD_GPU, CPU, FPGA, MEMORY, NVIDIA_GPU, MIG, PODS, N_PLAIN_RESOURCES };

extern const char *const PLAIN_RESOURCE_NAMES[N_PLAIN_RESOURCES];
/* Those that a node has a row for when only its pods ask for it. The policy names MIG by a '*'. */
extern const bool PLAIN_ALWAYS_KEPT[N_PLAIN_RESOURCES];

/* Every member has eight bytes, so that two values are equal when their bytes are. */
struct plain_node {
    int64_t capacity[N_PLAIN_RESOURCES];
    int64_t allocatable[N_PLAIN_RESOURCES];
    int64_t model; /* which label value; 0: no label */
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
    int64_t name; /* a number below PLAIN_PODS */
    int64_t nominated;
    int64_t refusal; /* 0: none */
    int64_t finished;
    int64_t terminating;
    int64_t gated;
    int64_t owner; /* 0: none */
    int64_t priority;
};

/* Room that is held for the pod of the same index. */
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

/* Allocatable without any amount defaults to capacity; capacity that an allocatable lacks is the
 * same amount. */
void plain_put_node(struct plain *plain, size_t i, const struct plain_node *node);
/* A pod of the same name is removed. What ends a reservation ends it. */
void plain_put_pod(struct plain *plain, size_t i, const struct plain_pod *pod);
void plain_remove_node(struct plain *plain, size_t i);
void plain_remove_pod(struct plain *plain, size_t i);
void plain_keep_node(struct plain *plain, size_t i);
void plain_keep_pod(struct plain *plain, size_t i);
void plain_begin_nodes(struct plain *plain);
void plain_end_nodes(struct plain *plain);
void plain_begin_pods(struct plain *plain);
void plain_end_pods(struct plain *plain);

/* Ends the reservation, if there is one. */
void plain_release(struct plain *plain, size_t pod);

bool plain_uses(const struct plain *plain, size_t pod, size_t node);
bool plain_holds(const struct plain *plain, size_t pod, size_t node);
/* At most INT64_MAX. */
int64_t plain_used(const struct plain *plain, size_t node, size_t resource);
int64_t plain_reserved(const struct plain *plain, size_t node, size_t resource);
/* Room that was promised to the pod there, and is neither used nor held by it yet. */
bool plain_is_promised(const struct plain *plain, size_t pod, size_t node);
/* What of the node is kept for others than a pod of that index (PLAIN_PODS: one that is not there);
 * at most INT64_MAX. */
int64_t plain_kept(const struct plain *plain, size_t node, size_t resource, size_t asker,
                   const struct plain_pod *pod);
size_t plain_n_users(const struct plain *plain, size_t node);
size_t plain_n_holders(const struct plain *plain, size_t node);
size_t plain_n_promised(const struct plain *plain, size_t node);
/* Replicas of the owner on the node: those that are being deleted do not count, held rooms do. */
size_t plain_n_replicas(const struct plain *plain, int64_t owner, size_t node);
size_t plain_n_shapes(const struct plain *plain);
/* How many resources a node has, a pod asks for, or is held. */
size_t plain_n_resources(const struct plain *plain);

#endif
