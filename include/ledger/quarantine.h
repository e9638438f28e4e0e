/*
 * quarantine: the marks of sick nodes in the ledger, and which pods they keep away.
 *
 * A ledger that follows an API server tells its sick_nodes of each change of a node or pod. Ledgers
 * of files have no marks. A fork or copy has copies of the marks of its origin. The state is of
 * this process: after a fail-over, what the new leader's own watch has shown counts.
 */
#ifndef LEDGER_QUARANTINE_H
#define LEDGER_QUARANTINE_H

#include "ledger/nominate.h"
#include "ledger/sick_nodes.h"
#include "types/reason.h"

#define QUARANTINE_TOLERATION "gpu-extender.io/quarantine"

/* Call once, for an empty ledger. */
void quarantine_begin(struct cluster *cluster);
/* `to` replaces `from` and has the same nodes: it takes over the state, and may have another
 * policy. */
void quarantine_move(struct cluster *to, struct cluster *from);
/* `copy` is a copy of `from`, of one's own: it gets copies of the marks, which nothing but
 * quarantine_lift() changes. */
void quarantine_copy_marks(struct cluster *copy, const struct cluster *from);
/* In a ledger of one's own. A node without a mark, or that it does not have: no change. */
void quarantine_lift(struct cluster *copy, const char *node);
/* A pod in phase Failed was seen. */
void quarantine_see_failed(struct cluster *cluster, const struct failed_pod_facts *failed);
/* To the owner's time (cluster_set_now()). Returns when to call again; INT64_MAX: after the next
 * change. */
int64_t quarantine_tick(struct cluster *cluster);

/* NULL: the node is healthy. */
const struct node_mark *node_mark(const struct node *node);
/* "quarantine", "probation", or "sick" for a node that the cap leaves open; NULL: none of these. */
const char *node_mark_word(const struct node_mark *mark);
/* Whether the policy avoids the node for some pods: its mode is not only to observe. */
bool node_mark_is_avoided(const struct node *node);
/* Whether all pods with GPUs are kept off that are not nominated there and do not tolerate it. */
bool node_mark_closes(const struct node *node);
/* Why the mark keeps the pod from the node: REASON_QUARANTINE, REASON_SHAPE_TRAP or REASON_FITS. By
 * the policy, only what it avoids. Pods without GPUs, with the toleration, and pods nominated there
 * pass. */
enum reason quarantine_judge(const struct node *node, const struct pod_shape *shape,
                             const struct asker *asker);

/* NULL: no ledger of an API server. */
const struct sick_nodes *quarantine_nodes(const struct cluster *cluster);
/* Pods that were bound to a node that they would have been kept from if the policy did not only
 * observe: REASON_QUARANTINE or REASON_SHAPE_TRAP. */
uint64_t quarantine_n_let_pass(const struct cluster *cluster, enum reason reason);

#endif
