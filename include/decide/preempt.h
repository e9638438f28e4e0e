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

#endif
