/*
 * preempt: would the pod fit the node if these pods were gone from it?
 *
 * kube-scheduler chooses victims by its own filters alone, which know no GPU models and no quota.
 * So each node that it would evict from is judged here, before anybody is evicted for nothing.
 */
#ifndef DECIDE_PREEMPT_H
#define DECIDE_PREEMPT_H

#include "base/arena.h"
#include "decide/fit.h"

/* As fit_judge() would answer by FIT_OURS without the victims, given by their UIDs; in any order,
 * each counts once.
 *
 * A victim gives back what the ledger counts for it on that node: what it uses there, or what is
 * reserved for it, to its quotas, too. One that the ledger does not know there gives back nothing:
 * what it may have is not counted as used either. A nominated victim's kept room is not given
 * back either: room is kept from the pod only for pods of a priority that it may not evict. */
enum reason preempt_judge(const struct cluster *cluster, const struct node *node,
                          const struct fit_question *question, const char *const *victims,
                          size_t n_victims, struct arena *arena);

#endif
