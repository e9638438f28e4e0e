/*
 * evict: which pods would kube-scheduler evict, so that this one fits?
 *
 * Follows the plugin DefaultPreemption (PROTOCOL 4.1 and 4.2) as far as the ledger
 * knows. On each node that only lacks room or quota, it removes all pods of lower priority. If the
 * pod then fits, it puts them back one by one, the most important first (by priority, then start),
 * as long as the pod still fits; the others are the victims. It chooses the node whose highest
 * victim has the lowest priority; then the smallest sum of priorities; then the fewest victims;
 * then the latest start of the highest victims; then the first name. It skips a node where a quota
 * would reject the pod even without the victims, as the verb preempt does (decide/preempt.h).
 *
 * It ignores PodDisruptionBudgets, everything outside decide/fit.h, and kube-scheduler's sampling
 * of nodes. It evicts nothing.
 */
#ifndef DECIDE_EVICT_H
#define DECIDE_EVICT_H

#include "decide/fit.h"

struct eviction {
    const struct node *node; /* of the cluster `room`; NULL: no eviction helps */
    const struct pod *
        *victims; /* of the ledger, the most important first; the array is in the arena */
    size_t n_victims;
    bool is_cut; /* not known: comparing with the pods' labels and terms would take too long */
};

/* Evicts for question->asker, by its priority. room: the cluster that the question was resolved
 * against, the ledger or a fork of it in which a dry run has placed pods. The pods are the
 * ledger's. */
struct eviction evict_for(const struct cluster *ledger, const struct cluster *room,
                          const struct fit_question *question, struct arena *arena);

#endif
