/*
 * oracle: a simple model of the ledger, for comparison. A few nodes, pods and resources in
 * arrays; every sum is computed from pods and reservations on each call. It shares no code with
 * src/.
 */
#ifndef DECIDE_ORACLE_H
#define DECIDE_ORACLE_H

#include "oracle_devices.h"
#include "oracle_templates.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define ORACLE_NODES 12
#define ORACLE_PODS 40
#define ORACLE_ABSENT INT64_MIN /* an absent amount */
#define ORACLE_NOWHERE (-1)     /* node of a pod without one */

/* In the order of their names. */
enum oracle_resource { AMD_GPU, CPU, FPGA, MEMORY, NVIDIA_GPU, MIG, PODS, N_ORACLE_RESOURCES };

extern const char *const ORACLE_RESOURCE_NAMES[N_ORACLE_RESOURCES];
/* Resources that get a row when only pods request them. The policy names MIG by a '*'. */
extern const bool ORACLE_ALWAYS_KEPT[N_ORACLE_RESOURCES];

/* Every member has eight bytes, so that equal values have equal bytes. */
struct oracle_node {
    int64_t capacity[N_ORACLE_RESOURCES];
    int64_t allocatable[N_ORACLE_RESOURCES];
    int64_t model; /* index of the label value; 0: no label */
    int64_t zone;
    int64_t n_taints;
    int64_t unschedulable;
    int64_t ready;
};

struct oracle_shape {
    int64_t demand[N_ORACLE_RESOURCES];
    int64_t n_tolerations;
    int64_t zone; /* of the node selector; 0: none */
};

struct oracle_pod {
    struct oracle_shape shape;
    int64_t node; /* an index, or ORACLE_NOWHERE */
    int64_t name; /* below ORACLE_PODS */
    int64_t nominated;
    int64_t refusal; /* 0: none */
    int64_t finished;
    int64_t terminating;
    int64_t gated;
    int64_t owner; /* 0: none */
    int64_t priority;
    int64_t claim; /* 1 + the claim that its status names; 0: none */
};

/* The reservation of the pod with the same index. */
struct oracle_hold {
    bool there;
    struct oracle_shape shape;
    int64_t node;
    int64_t name;
    int64_t made_ms;
    int64_t owner;
};

struct oracle {
    struct oracle_node nodes[ORACLE_NODES];
    struct oracle_pod pods[ORACLE_PODS];
    bool node_there[ORACLE_NODES], node_seen[ORACLE_NODES];
    bool pod_there[ORACLE_PODS], pod_seen[ORACLE_PODS];
    struct oracle_hold holds[ORACLE_PODS];
    struct oracle_slice slices[ORACLE_NODES][N_ORACLE_DRIVERS];
    struct oracle_claim claims[ORACLE_CLAIMS];
    struct oracle_class classes[ORACLE_CLASSES];
    bool slice_seen[ORACLE_NODES][N_ORACLE_DRIVERS], claim_seen[ORACLE_CLAIMS];
    bool class_seen[ORACLE_CLASSES];
    struct oracle_template templates[ORACLE_TEMPLATES];
    bool template_seen[ORACLE_TEMPLATES];
    uint64_t n_changes;
};

/* Without any allocatable amount, allocatable defaults to capacity. An absent capacity defaults to
 * the resource's allocatable. */
void oracle_put_node(struct oracle *oracle, size_t i, const struct oracle_node *node);
/* Removes a pod of the same name. Ends the reservation where the ledger would. */
void oracle_put_pod(struct oracle *oracle, size_t i, const struct oracle_pod *pod);
void oracle_remove_node(struct oracle *oracle, size_t i);
void oracle_remove_pod(struct oracle *oracle, size_t i);
void oracle_keep_node(struct oracle *oracle, size_t i);
void oracle_keep_pod(struct oracle *oracle, size_t i);
void oracle_begin_nodes(struct oracle *oracle);
void oracle_end_nodes(struct oracle *oracle);
void oracle_begin_pods(struct oracle *oracle);
void oracle_end_pods(struct oracle *oracle);

/* Ends the reservation, if any. */
void oracle_release(struct oracle *oracle, size_t pod);

bool oracle_uses(const struct oracle *oracle, size_t pod, size_t node);
bool oracle_holds(const struct oracle *oracle, size_t pod, size_t node);
/* At most INT64_MAX. */
int64_t oracle_used(const struct oracle *oracle, size_t node, size_t resource);
int64_t oracle_reserved(const struct oracle *oracle, size_t node, size_t resource);
/* Whether the pod has a nomination there, and neither use nor reservation. */
bool oracle_is_promised(const struct oracle *oracle, size_t pod, size_t node);
/* The amount kept on the node from the pod of that index (ORACLE_PODS: an unknown pod); at most
 * INT64_MAX. */
int64_t oracle_kept(const struct oracle *oracle, size_t node, size_t resource, size_t asker,
                    const struct oracle_pod *pod);
size_t oracle_n_users(const struct oracle *oracle, size_t node);
size_t oracle_n_holders(const struct oracle *oracle, size_t node);
size_t oracle_n_promised(const struct oracle *oracle, size_t node);
/* Replicas of the owner on the node: reservations count, pods being deleted do not. */
size_t oracle_n_replicas(const struct oracle *oracle, int64_t owner, size_t node);
size_t oracle_n_shapes(const struct oracle *oracle);
/* GPUs of pods, reservations and claims, as quotas count them. */
int64_t oracle_gpus_in_use(const struct oracle *oracle);
/* Resources that a node has, a pod requests, a reservation holds or devices stand for. */
size_t oracle_n_resources(const struct oracle *oracle);

#endif
