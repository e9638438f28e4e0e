/*
 * oracle_compare: compares a ledger with its oracle in everything: numbers, facts, lists and
 * memory. Returns 0, or -EINVAL with the first difference.
 */
#ifndef DECIDE_ORACLE_COMPARE_H
#define DECIDE_ORACLE_COMPARE_H

#include "base/err.h"
#include "ledger/cluster.h"
#include "oracle_reserve.h"

/* Runs the ledger's self-check first. has_fork: a fork still references its initial resources. */
int oracle_compare_ledger(const struct cluster *cluster, const struct oracle *oracle, bool has_fork,
                          struct err *err);
/* Compares a fork of a ledger that equalled the model, after n_placed[node] pods of that shape were
 * placed. */
int oracle_compare_fork(const struct cluster *fork, const struct oracle *oracle,
                        const int64_t *n_placed, const struct oracle_shape *placed,
                        struct err *err);
/* node: expected name in the result, or NULL. */
int oracle_compare_verdict(enum reserve_verdict verdict, const struct reserve_result *result,
                           const struct oracle_result *want, const char *node, struct err *err);
/* Checks that the ledger is empty and has no fork. */
int oracle_compare_empty(const struct cluster *cluster, struct err *err);

#endif
