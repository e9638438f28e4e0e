/*
 * evict: which pods would kube-scheduler evict, so that this one fits?
 *
 * As its plugin DefaultPreemption reckons it (pkg/scheduler/framework/preemption), by what is known
 * here: from each node that only lacks room, all pods of lower priority are taken away; if the pod
 * then fits, they are put back one by one, the most important first (by priority, then the older
 * one), as long as it still fits; the others are the victims. Of the nodes, it is the one whose
 * highest victim is lowest; then of the smallest sum of priorities; of the fewest victims; whose
 * highest victims began last; of the first name. A node where a quota would refuse the pod even
 * then is passed over, as it is when kube-scheduler asks (decide/preempt.h).
 *
 * It does not know PodDisruptionBudgets, what decide/fit.h does not judge, and which of many nodes
 * kube-scheduler looks at. It evicts nobody.
 */
#ifndef DECIDE_EVICT_H
#define DECIDE_EVICT_H

#include "decide/fit.h"

struct eviction {
    const struct node *node;    /* of the cluster that has the room; NULL: nothing would help */
    const struct pod **victims; /* of the ledger, the most important first; in the arena */
    size_t n_victims;
};

/* For who asks, by its priority. Room is reckoned on the cluster that the question was resolved
 * against: the ledger, or a fork of it, where a dry run has placed others; pods are the ledger's.
 */
struct eviction evict_for(const struct cluster *ledger, const struct cluster *room,
                          const struct fit_question *question, struct arena *arena);

#endif
