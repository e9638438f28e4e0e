/*
 * quarantine: tells sick_nodes of the ledger's changes. Private to ledger; each does nothing in a
 * ledger without sick_nodes. See include/ledger/quarantine.h.
 */
#ifndef LEDGER_SICK_QUARANTINE_PRIV_H
#define LEDGER_SICK_QUARANTINE_PRIV_H

#include "ledger/ledger.h"
#include "ledger/quarantine.h"

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
