/*
 * cluster_check: what its files share. Private to them: cluster_check*.c.
 */
#ifndef CORE_CLUSTER_CHECK_H
#define CORE_CLUSTER_CHECK_H

#include "ledger.h"

struct check {
    size_t n_differences;
    struct err *err; /* tells the first */
};

void check_differs(struct check *check, const char *where, const char *what, int64_t is,
                   int64_t should_be);
void check_unless_same(struct check *check, const char *what, size_t is, size_t should_be);

/* cluster_check_tenants.c */
/* What each namespace uses, and of these each quota. */
void check_tenants(struct check *check, const struct cluster *cluster);

#endif
