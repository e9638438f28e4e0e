/*
 * owners_priv: the table behind owners.h. Private to ledger.
 *
 * It counts reservations, and pods that use a node and are not being deleted. An owner is freed
 * with its last reference.
 */
#ifndef LEDGER_OWNERS_PRIV_H
#define LEDGER_OWNERS_PRIV_H

#include "base/table.h"
#include "ledger/owners.h"

struct owner {
    size_t refs;              /* by pods and reservations */
    struct owner_node *nodes; /* sorted by address */
    size_t n_nodes;
    size_t n_room;
    UT_hash_handle hh;
    char uid[];
};

struct owners {
    struct owner *table;
};

/* Creates the owner if needed and takes a reference. NULL for uid "" or NULL. */
struct owner *owners_ref(struct owners *owners, const char *uid);
/* These three do nothing if owner is NULL. */
void owners_unref(struct owners *owners, struct owner *owner);

void owners_add(struct owner *owner, const struct node *node);
/* A replica must be counted on the node. */
void owners_remove(struct owner *owner, const struct node *node);

#endif
