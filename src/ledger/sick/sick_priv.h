/*
 * sick_priv: the state of sick_nodes. Private to sick_nodes.c and sick_illness.c.
 */
#ifndef LEDGER_SICK_SICK_PRIV_H
#define LEDGER_SICK_SICK_PRIV_H

#include "base/table.h"
#include "ledger/ledger.h"
#include "ledger/quarantine.h"
#include "ledger/sick_nodes.h"

/* ---- sick arrivals ---- */
/* The pods that were bound lately and have not started. A pod may be gone from the API server
 * before its failure is seen, so it is kept for SICK_FAILS_MS after its binding; of more than
 * SICK_ARRIVALS_MAX the oldest are dropped. */

struct sick_node;

struct sick_bound {
    uint64_t uid; /* its hash */
    struct sick_node *node;
    struct sick_shape shape;
    bool was_waiting, had_room;
    uint64_t n_started; /* of the node, then */
    int64_t at_ms;
    UT_hash_handle hh; /* oldest first */
};

struct sick_arrivals {
    struct sick_bound *first;
};

/* The pod is not there yet. Takes a reference to the node. */
void sick_arrivals_add(struct sick_arrivals *arrivals, const struct sick_bound *bound);
/* NULL: it is not there. */
struct sick_bound *sick_arrivals_find(const struct sick_arrivals *arrivals, uint64_t uid);
void sick_arrivals_remove(struct sick_arrivals *arrivals, struct sick_bound *bound);
/* Drops those that were bound before since_ms. */
void sick_arrivals_forget(struct sick_arrivals *arrivals, int64_t since_ms);

/* sick_nodes.c: an arrival refers to the node, even if it is gone. */
void sick_node_ref(struct sick_node *node);
void sick_node_unref(struct sick_node *node);

/* ---- sick priv ---- */

/* The nodes with GPUs of one model. */
struct sick_model {
    size_t refs; /* nodes */
    size_t n_nodes;
    size_t n_kept;    /* in quarantine, or on probation */
    size_t n_spare;   /* Ready, not cordoned, and not n_kept */
    size_t n_trapped; /* with shape traps */
    UT_hash_handle hh;
    char name[];
};

struct sick_evidence {
    uint64_t owner, namespace_;
    int64_t at_ms;
};

/* Of a node with a mark, with evidence, or that has been in quarantine since a pod started there.
 */
struct illness {
    struct node_mark mark;
    struct sick_evidence evidence[SICK_EVIDENCE_MAX]; /* each owner once */
    size_t n_evidence;
    unsigned n_closings; /* since a pod with GPUs started */
    uint64_t trial;      /* of QUARANTINE_TRIED: the pod's UID, hashed */
    int64_t trial_ms;
    struct sick_node *node;
    struct illness *prev, *next;
};

struct sick_node {
    size_t refs; /* the table, and arrivals */
    bool has_gpus, is_ready, is_cordoned;
    uint64_t boot_id, allocatable, lifted;
    int64_t changed_ms;
    struct sick_model *model;
    struct illness *illness; /* NULL: none */
    uint64_t n_started;      /* pods with GPUs */
    uint64_t n_refused[N_REFUSALS];
    UT_hash_handle hh;
    char name[];
};

struct sick_nodes {
    const struct policy *policy;
    sick_nodes_marked *marked;
    void *context;
    struct sick_node *nodes;
    struct sick_model *models;
    struct illness *ill;
    struct sick_arrivals bound; /* that may be evidence */
    struct sick_arrivals other; /* that are only counted if they are rejected */
    int64_t due_ms;             /* of the next change by time alone */
    uint64_t n_marked[N_REFUSALS];
    uint64_t n_lifted;
};

/* The node's part in the sums of its model; call with -1 before and with 1 after any change of the
 * node or of its mark. */
void sick_node_count(const struct sick_node *node, int sign);

/* sick_illness.c. */
/* Tells the owner of the mark, and frees the illness if it is over. */
void illness_report(struct sick_nodes *sick, struct illness *illness);
/* The rest also report. */
void illness_free(struct sick_nodes *sick, struct illness *illness);
void illness_blame(struct sick_nodes *sick, struct sick_node *node, const struct sick_shape *shape,
                   enum refusal cause, int64_t now_ms);
void illness_trap(struct sick_nodes *sick, struct sick_node *node, const struct sick_shape *shape,
                  int64_t now_ms);
void illness_arrived(struct sick_nodes *sick, struct sick_node *node, uint64_t uid, int64_t now_ms);
void illness_started(struct sick_nodes *sick, struct sick_node *node);
/* Ends its shape traps. */
void illness_end_traps(struct sick_nodes *sick, struct sick_node *node);
/* Ends the quarantine, traps and evidence; forgives: the next quarantine is as short as the first.
 */
void illness_lift(struct sick_nodes *sick, struct sick_node *node, bool forgives);
/* A model has no node left that is Ready and not in quarantine: lifts the one that ends first. */
void illness_spare_last(struct sick_nodes *sick, const struct sick_model *model);

/* ---- tells sick_nodes of the ledger's changes.See include/ledger/quarantine.h ---- */

struct quarantine {
    struct sick_nodes *sick;
    uint64_t n_in_quarantine, n_in_trap; /* pods: quarantine_n_let_pass() */
};

void quarantine_free(struct cluster *cluster);
/* The node has become what the facts say. */
void quarantine_see_node(struct cluster *cluster, const struct node *node,
                         const struct node_facts *facts);
void quarantine_lose_node(struct cluster *cluster, const char *name);

/* A pod before a change. */
struct pod_stage {
    bool is_known, is_placed, has_started;
};
struct pod_stage quarantine_stage_of(const struct pod *pod); /* NULL: it is not known */
void quarantine_see_pod(struct cluster *cluster, struct pod_stage before, const struct pod *pod);
void quarantine_lose_pod(struct cluster *cluster, const struct pod *pod);

void quarantine_fork_node(struct cluster *fork, struct node *copy, const struct node *node);

#endif
