/*
 * sick_nodes: which nodes lose the pods that are bound to them, and which of these to avoid.
 *
 * A state machine: what happens to nodes and pods goes in, with the time, and the marks of nodes
 * come out. It has no clock and knows no ledger (that part is quarantine.h). The rules are those of
 * docs/PLACEMENT.md.
 *
 * A node is put in quarantine if its kubelet rejects pods of several owners in several namespaces,
 * one after another, and starts none in between. A shape trap keeps pods of one shape from a node
 * whose NUMA layout does not fit it now. Only pods that were seen before they had a node count: a
 * pod that names its node itself is no evidence.
 *
 * Memory is bounded: some 200 bytes per node and 2 KiB per node with evidence; and at most
 * SICK_ARRIVALS_MAX pods that were bound within SICK_FAILS_MS, twice.
 */
#ifndef LEDGER_SICK_NODES_H
#define LEDGER_SICK_NODES_H

#include "base/arena.h"
#include "types/facts.h"
#include "types/policy.h"

/* A pod that fails later than so long after its binding is no evidence. A pod on probation that has
 * neither started nor failed after this time makes room for another. */
#define SICK_FAILS_MS INT64_C(120000)
#define SICK_TRAP_MS INT64_C(600000)
#define SICK_ARRIVALS_MAX ((size_t)16384)
#define SICK_TRAPS_MAX 8
/* Owners with evidence about one node. Of more, the namespace with most of them loses its oldest,
 * so that no tenant can hide the evidence of others. */
#define SICK_EVIDENCE_MAX 32

enum quarantine_state {
    QUARANTINE_NONE,
    QUARANTINE_CLOSED,
    QUARANTINE_PROBATION, /* the next pod may try the node */
    QUARANTINE_TRIED      /* a pod is on the node: it decides */
};

/* Whose pods, and what they ask for. */
struct sick_shape {
    uint64_t owner, namespace_; /* hashes; a pod without a controller: its namespace is its owner */
    enum pod_qos qos;
    int64_t gpus, milli_cores, memory_bytes;
};

struct shape_trap {
    struct sick_shape shape;
    int64_t until_ms;
};

/* Of a node that is not healthy. */
struct node_mark {
    enum quarantine_state state;
    enum refusal cause;         /* of the quarantine */
    bool is_capped;             /* it should be in quarantine, but too many nodes are */
    int64_t since_ms, until_ms; /* of QUARANTINE_CLOSED */
    struct shape_trap traps[SICK_TRAPS_MAX];
    size_t n_traps;
};

/* Whether the node is avoided for pods of this shape: by the owner's own trap, or by those of two
 * namespaces. */
bool node_mark_traps(const struct node_mark *mark, const struct sick_shape *asked);

struct sick_nodes;

/* Called when a node gets a mark, whenever the mark changes, and with NULL when it has none any
 * more. The mark is valid until the next call. */
typedef void sick_nodes_marked(void *context, const char *node, const struct node_mark *mark);

/* Borrows the policy. */
struct sick_nodes *sick_nodes_new(const struct policy *policy, sick_nodes_marked *marked,
                                  void *context);
void sick_nodes_free(struct sick_nodes *sick);
/* Another policy is in force, and another ledger gets the marks: it is given all of them. */
void sick_nodes_move(struct sick_nodes *sick, const struct policy *policy, void *context);

struct sick_node_facts {
    const char *name;
    const char *model; /* "" if unknown */
    bool has_gpus;     /* else it counts for no cap */
    bool is_ready;
    bool is_cordoned;
    uint64_t boot_id, allocatable, lifted; /* hashes, of which only a change counts */
};

/* A node came or changed. */
void sick_nodes_node(struct sick_nodes *sick, const struct sick_node_facts *facts, int64_t now_ms);
void sick_nodes_node_gone(struct sick_nodes *sick, const char *name);

struct sick_arrival {
    const char *uid, *node;
    struct sick_shape shape;
    bool was_waiting; /* it was seen without a node, and requests GPUs */
    bool had_room;    /* the ledger had room for it on the node */
};

/* A pod that has not started is on the node. */
void sick_nodes_arrived(struct sick_nodes *sick, const struct sick_arrival *arrival,
                        int64_t now_ms);
/* A pod on the node has started; uses_gpus: it requests GPUs. */
void sick_nodes_started(struct sick_nodes *sick, const char *uid, const char *node, bool uses_gpus);
/* A pod with GPUs that had started has left the node. */
void sick_nodes_ended(struct sick_nodes *sick, const char *node);
/* A pod failed. */
void sick_nodes_failed(struct sick_nodes *sick, const struct failed_pod_facts *failed,
                       int64_t now_ms);
/* Time passes. Returns when to call next; INT64_MAX: after the next event. */
int64_t sick_nodes_tick(struct sick_nodes *sick, int64_t now_ms);

/* Times that a node was put in quarantine, by the cause of the last evidence; REFUSAL_TOPOLOGY:
 * that a shape trap was set. */
uint64_t sick_nodes_n_marked(const struct sick_nodes *sick, enum refusal cause);
/* Grows whenever pods may go where they might not. */
uint64_t sick_nodes_n_lifted(const struct sick_nodes *sick);
/* Nodes that should be in quarantine, but too many are. */
size_t sick_nodes_n_capped(const struct sick_nodes *sick);

/* The nodes whose kubelets have rejected pods, in the arena. Returns how many. */
struct sick_refused {
    const char *node;
    uint64_t n[N_REFUSALS];
};
size_t sick_nodes_refused(const struct sick_nodes *sick, struct arena *arena,
                          struct sick_refused **ret_nodes);
/* The models of nodes with GPUs, the same. */
struct sick_model_nodes {
    const char *model;      /* "" if unknown */
    size_t n_nodes, n_kept; /* of these in quarantine or on probation */
};
size_t sick_nodes_models(const struct sick_nodes *sick, struct arena *arena,
                         struct sick_model_nodes **ret_models);

#endif
