/*
 * sick_priv: the state of sick_nodes. Private to sick_nodes.c and sick_illness.c.
 */
#ifndef LEDGER_SICK_SICK_PRIV_H
#define LEDGER_SICK_SICK_PRIV_H

#include "ledger/sick/sick_arrivals.h"

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

#endif
