/*
 * pod_names: the ledger's pods by namespace and name. Private to ledger.
 *
 * The chains run through the pods themselves. A second uthash handle would cost five times as much
 * memory per pod. The table grows by one bucket per pod (linear hashing), so no addition takes long
 * under the ledger's lock.
 */
#ifndef LEDGER_POD_NAMES_H
#define LEDGER_POD_NAMES_H

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

#endif
