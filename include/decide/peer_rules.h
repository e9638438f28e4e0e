/*
 * peer_rules: which nodes affinity between pods and topology spread allow to a pod.
 *
 * Semantics of kube-scheduler's plugins InterPodAffinity and PodTopologySpread, for required terms
 * and DoNotSchedule (PROTOCOL 4.4). A rule counts pods per topology domain, the nodes with the same
 * value of a label. Placing a pod changes one count of each rule, so a dry run never counts the
 * pods again. A nominated pod counts only on its node, for pods of at most its priority, and the
 * node must be allowed without it, too.
 */
#ifndef DECIDE_PEER_RULES_H
#define DECIDE_PEER_RULES_H

#include "ledger/nominate.h"
#include "ledger/peer.h"
#include "types/reason.h"

struct peer_rules;

/* A pod as these rules see it. */
struct peer_pod {
    const char *namespace_;
    const struct peer_facts *labels; /* NULL: none */
    const struct peer_facts *terms;  /* NULL: none; may be the same as labels */
};

/* Counts the pods of the fork (cluster_fork_with(), with PEERS_ALL if the pod has terms). NULL if
 * nothing restricts the pod. shape: decides which nodes count for a spread constraint. In the
 * arena; borrows the pod and the fork. */
struct peer_rules *peer_rules_of(const struct cluster *fork, const struct peer_pod *pod,
                                 const struct pod_shape *shape, struct arena *arena);
/* Whether counting took more comparisons than are allowed: then not all pods are counted. */
bool peer_rules_are_cut(const struct peer_rules *rules);
/* Whether a spread constraint has an empty selector, and the version of Kubernetes is unknown: then
 * it counts no pod here (PROTOCOL 4.4). */
bool peer_rules_may_spread_over_all(const struct peer_rules *rules);

/* REASON_FITS, or one of the reasons from REASON_TOPOLOGY_SPREAD on. rules NULL: fits. One thread
 * at a time. */
enum reason peer_rules_judge(const struct peer_rules *rules, const struct node *node,
                             const struct asker *asker);
/* n more such pods run on the node. Returns whether a node that topology spread ruled out may be
 * allowed now. */
bool peer_rules_place(struct peer_rules *rules, const struct node *node, int64_t n);
/* Whether the verdicts of nodes depend on where more such pods are. */
bool peer_rules_depend_on_replicas(const struct peer_rules *rules);
/* Whether a node that is ruled out now may be allowed after more such pods are placed. */
bool peer_rules_may_allow_later(const struct peer_rules *rules);
struct peer_rules *peer_rules_copy(const struct peer_rules *rules, struct arena *arena);

/* For preemption: how much one pod on the node adds to the count of each rule there, and the
 * verdict if the counts of the node's domains change by `change`. Both have an item a rule.
 * comparisons_left: of a requirement or a value; lowered. At 0 or less the counts are too low. */
size_t peer_rules_n(const struct peer_rules *rules);
void peer_rules_weigh(const struct peer_rules *rules, const struct peer *other,
                      int64_t *comparisons_left, int64_t *ret_counts);
enum reason peer_rules_judge_changed(const struct peer_rules *rules, const struct node *node,
                                     const struct asker *asker, const int64_t *change);

#endif
