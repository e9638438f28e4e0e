/*
 * live_problems: objects of the API server that are unreadable at present. Private to inventory;
 * guarded by its lock.
 *
 * The list is bounded like problems.h. Beyond that only keys are kept, so that counts are exact.
 */
#ifndef INVENTORY_LIVE_LIVE_PROBLEMS_H
#define INVENTORY_LIVE_LIVE_PROBLEMS_H

#include "inventory/kinds.h"
#include "inventory/problems.h"

struct live_problems;

struct live_problems *live_problems_new(void);
void live_problems_free(struct live_problems *problems);

/* Adds an unreadable object; copies the strings. Returns whether to log it: the object or its
 * reason is new, and the list has room. */
bool live_problems_add(struct live_problems *problems, enum cluster_kind kind,
                       const struct kind_key *key, const char *what);
/* The object became readable or was deleted. */
void live_problems_resolve(struct live_problems *problems, enum cluster_kind kind, const char *id);
/* Like cluster_relist_begin() and cluster_relist_end(): the end removes the problems of objects
 * that were not added since the begin. */
void live_problems_relist_begin(struct live_problems *problems, enum cluster_kind kind);
void live_problems_relist_end(struct live_problems *problems, enum cluster_kind kind);

size_t live_problems_count(const struct live_problems *problems, enum cluster_kind kind);
size_t live_problems_count_all(const struct live_problems *problems);
/* Grows with every change of the list and the count. */
uint64_t live_problems_version(const struct live_problems *problems);
/* At most PROBLEMS_MAX, unordered. */
const struct inventory_problem *live_problems_list(const struct live_problems *problems,
                                                   size_t *ret_n);

#endif
