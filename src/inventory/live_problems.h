/*
 * live_problems: the objects of the API server that cannot be read, until they can or are gone.
 * Private to inventory; guarded by its lock.
 *
 * The list has an end, as problems.h has: of what is beyond it only the key is kept, so that the
 * number is right.
 */
#ifndef INVENTORY_LIVE_PROBLEMS_H
#define INVENTORY_LIVE_PROBLEMS_H

#include "kinds.h"
#include "problems.h"

struct live_problems;

struct live_problems *live_problems_new(void);
void live_problems_free(struct live_problems *problems);

/* The object cannot be read, and why; texts are copied. Whether that is news that should be told:
 * it was not known before, or for another reason, and there is room in the list. */
bool live_problems_add(struct live_problems *problems, enum cluster_kind kind,
                       const struct kind_key *key, const char *what);
/* It can be read, or is gone. */
void live_problems_resolve(struct live_problems *problems, enum cluster_kind kind, const char *id);
/* As cluster_relist_begin() and _end(): what was not added in between is gone. */
void live_problems_relist_begin(struct live_problems *problems, enum cluster_kind kind);
void live_problems_relist_end(struct live_problems *problems, enum cluster_kind kind);

size_t live_problems_count(const struct live_problems *problems, enum cluster_kind kind);
size_t live_problems_count_all(const struct live_problems *problems);
/* At most PROBLEMS_MAX, in no order. */
const struct inventory_problem *live_problems_list(const struct live_problems *problems,
                                                   size_t *ret_n);

#endif
