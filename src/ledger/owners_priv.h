/*
 * owners_priv: how owners.h is kept. Private to ledger.
 *
 * Counted are pods that use a node and are not being deleted, and reservations. An owner that
 * nobody names any more is gone.
 */
#ifndef LEDGER_OWNERS_PRIV_H
#define LEDGER_OWNERS_PRIV_H

#include "base/table.h"
#include "ledger/owners.h"

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
struct owner *owners_ref(struct owners *owners, const char *uid);
/* NULL: nothing happens, here and below. */
void owners_unref(struct owners *owners, struct owner *owner);

void owners_add(struct owner *owner, const struct node *node);
/* One must be there. */
void owners_remove(struct owner *owner, const struct node *node);

#endif
