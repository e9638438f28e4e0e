/*
 * pod_names: the ledger's pods by namespace and name. Private to ledger.
 *
 * The chains run through the pods themselves. A second uthash handle would cost five times as much
 * memory per pod.
 */
#ifndef LEDGER_POD_NAMES_H
#define LEDGER_POD_NAMES_H

#include <stddef.h>

struct pod_entry;

struct pod_names {
    struct pod_entry **buckets;
    size_t n_buckets; /* a power of two, or 0 */
    size_t n;
};

/* Before the first pod: has that many buckets, so that it does not grow later. To grow beyond
 * 131,072 pods takes 40 ms. */
void pod_names_reserve(struct pod_names *names, size_t n_buckets);
void pod_names_free(struct pod_names *names);
/* No pod of that name may be listed. */
void pod_names_add(struct pod_names *names, struct pod_entry *pod);
/* The pod must be listed. */
void pod_names_remove(struct pod_names *names, struct pod_entry *pod);
struct pod_entry *pod_names_find(const struct pod_names *names, const char *namespace_,
                                 const char *name);

#endif
