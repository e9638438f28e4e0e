/*
 * owners: the ReplicaSets and StatefulSets whose replicas the ledger has, and how many of them are
 * on which node. Private to core.
 *
 * Counted are pods that use a node and are not being deleted, and reservations. An owner that
 * nobody names any more is gone.
 */
#ifndef CORE_OWNERS_H
#define CORE_OWNERS_H

#include "base/table.h"

#include <stddef.h>

struct node;

struct owner_node {
    const struct node *node;
    size_t n; /* > 0 */
};

struct owner {
    size_t refs;              /* pods and reservations that name it */
    struct owner_node *nodes; /* in the order of their addresses */
    size_t n_nodes;
    size_t n_room;
    UT_hash_handle hh;
    char uid[];
};

struct owners {
    struct owner *table;
};

/* With one more user, made if it was not known. NULL for "" and NULL: no owner. */
struct owner *owners_hold(struct owners *owners, const char *uid);
/* NULL: nothing happens, here and below. */
void owners_drop(struct owners *owners, struct owner *owner);
const struct owner *owners_find(const struct owners *owners, const char *uid);

void owner_add(struct owner *owner, const struct node *node);
/* One must be there. */
void owner_remove(struct owner *owner, const struct node *node);
size_t owner_n_on(const struct owner *owner, const struct node *node);

#endif
