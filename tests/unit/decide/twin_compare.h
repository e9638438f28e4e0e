/*
 * twin_compare: a ledger held against its plain model, in everything: numbers, facts, lists, and
 * what it keeps in memory. 0, or -EINVAL and the first difference.
 */
#ifndef DECIDE_TWIN_COMPARE_H
#define DECIDE_TWIN_COMPARE_H

#include "base/err.h"
#include "ledger/cluster.h"
#include "plain_reserve.h"

/* The ledger's self-check first. has_fork: a fork holds on to resources that it began with. */
int twin_compare_ledger(const struct cluster *cluster, const struct plain *plain, bool has_fork,
                        struct err *err);
/* A fork of the ledger that was like the model, after n_placed[node] pods of that shape were placed
 * on its nodes. */
int twin_compare_fork(const struct cluster *fork, const struct plain *plain,
                      const int64_t *n_placed, const struct plain_shape *placed, struct err *err);
/* node: the name that the result should have, or NULL. */
int twin_compare_verdict(enum reserve_verdict verdict, const struct reserve_result *result,
                         const struct plain_result *want, const char *node, struct err *err);
/* That the ledger keeps nothing at all: nothing is there any more, and no fork. */
int twin_compare_empty(const struct cluster *cluster, struct err *err);

#endif
