/*
 * preempt: would the pod fit the node if these pods were gone from it?
 *
 * kube-scheduler chooses victims by its own filters alone (PROTOCOL 4.1), which know neither GPU
 * models nor quotas. So each node is judged here before pods are evicted in vain. It knows no
 * borrowers either: a pod that takes back what its quota guarantees should evict these first.
 */
#ifndef DECIDE_PREEMPT_H
#define DECIDE_PREEMPT_H

#include "base/arena.h"
#include "decide/fit.h"

/* The result of fit_judge() with FIT_OURS, without the victims (UIDs, in any order, duplicates
 * ignored).
 *
 * A victim frees what the ledger counts for it on that node: its use or its reservation, also of
 * quotas. A victim that the ledger does not know there frees nothing, as nothing of it counts as
 * used. A victim's nomination frees nothing either: room is kept from the pod only for pods of a
 * priority that it may not evict. */
enum reason preempt_judge(const struct cluster *cluster, const struct node *node,
                          const struct fit_question *question, const char *const *victims,
                          size_t n_victims, struct arena *arena);

/* The first of these UIDs whose pod may not be evicted for one of this priority: the ledger knows
 * it with a priority that is not lower. NULL: none. kube-scheduler checks the answer of preempt for
 * that no more (PROTOCOL 4.2). */
const char *preempt_untouchable(const struct cluster *cluster, int64_t priority,
                                const char *const *victims, size_t n_victims);

/* Whether the ledger knows each of these pods on the node as one that borrows its GPUs. If a quota
 * guarantees the asking pod its GPUs (quota_takes_back()), such nodes come before the others. */
bool preempt_all_borrow(const struct cluster *cluster, const struct node *node,
                        const char *const *victims, size_t n_victims);

/* ---- evict ---- */
/* Which pods would kube-scheduler evict, so that this one fits?  Follows the plugin
 * DefaultPreemption (PROTOCOL 4.1 and 4.2) as far as the ledger knows. On each node that only
 * lacks room or quota, it removes all pods of lower priority. If the pod then fits, it puts them
 * back one by one, the most important first (by priority, then start), as long as the pod still
 * fits; the others are the victims. It chooses the node whose highest victim has the lowest
 * priority; then the smallest sum of priorities; then the fewest victims; then the latest start
 * of the highest victims; then the first name. It skips a node where a quota would reject the
 * pod even without the victims, as the verb preempt does (decide/preempt.h).  It ignores
 * PodDisruptionBudgets, everything outside decide/fit.h, and kube-scheduler's sampling of nodes.
 * It evicts nothing. */

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
