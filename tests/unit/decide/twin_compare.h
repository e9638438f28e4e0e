/*
 * twin_compare: compares a ledger with its plain model in everything: numbers, facts, lists and
 * memory. Returns 0, or -EINVAL with the first difference.
 */
#ifndef DECIDE_TWIN_COMPARE_H
#define DECIDE_TWIN_COMPARE_H

#include "base/err.h"
#include "ledger/cluster.h"
#include "plain_reserve.h"

/* Runs the ledger's self-check first. has_fork: a fork still references its initial resources. */
int twin_compare_ledger(const struct cluster *cluster, const struct plain *plain, bool has_fork,
                        struct err *err);
/* Compares a fork of a ledger that equalled the model, after n_placed[node] pods of that shape were
 * placed. */
int twin_compare_fork(const struct cluster *fork, const struct plain *plain,
                      const int64_t *n_placed, const struct plain_shape *placed, struct err *err);
/* node: expected name in the result, or NULL. */
int twin_compare_verdict(enum reserve_verdict verdict, const struct reserve_result *result,
                         const struct plain_result *want, const char *node, struct err *err);
/* Checks that the ledger is empty and has no fork. */
int twin_compare_empty(const struct cluster *cluster, struct err *err);

#endif
