/*
 * pod_names: the ledger's pods by namespace and name. Private to ledger.
 *
 * The chains run through the pods themselves. A second uthash handle would cost five times as much
 * memory per pod. The table grows by one bucket per pod (linear hashing), so no addition takes long
 * under the ledger's lock.
 */
#ifndef LEDGER_POD_NAMES_H
#define LEDGER_POD_NAMES_H

#include "base/table.h"
#include "ledger/owners.h"

#include <stddef.h>

struct pod_entry;

struct pod_names {
    struct pod_entry **buckets;
    size_t n_rooms;   /* of the array */
    size_t n_buckets; /* in use, the first of the array */
    size_t mask;      /* 2^k - 1, the least that is not below n_buckets - 1 */
    size_t n;
};

void pod_names_free(struct pod_names *names);
/* No pod of that name may be listed. */
void pod_names_add(struct pod_names *names, struct pod_entry *pod);
/* The pod must be listed. */
void pod_names_remove(struct pod_names *names, struct pod_entry *pod);
struct pod_entry *pod_names_find(const struct pod_names *names, const char *namespace_,
                                 const char *name);

/* ---- owners priv ---- */
/* The table behind owners.h. It counts reservations, and pods that use a node and are not being
 * deleted. An owner is freed with its last reference. */

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
