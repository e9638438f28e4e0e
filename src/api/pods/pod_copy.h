/*
 * pod_copy: pods copied out of the ledger, to judge them and to tell of them without its lock.
 * Private to api.
 */
#ifndef API_PODS_POD_COPY_H
#define API_PODS_POD_COPY_H

#include "api/provenance.h"
#include "base/table.h"

/* No more pods are copied for one answer. */
#define POD_COPIES_MAX ((size_t)10000)

struct verdicts;

/* Both are the ledger's: a key, no more. */
struct kind_of_pod {
    const struct pod_shape *shape;
    const char *namespace_; /* NULL where no quota covers it */
};

/* What pods that are alike share. */
struct shared_shape {
    struct kind_of_pod origin;
    struct shape_facts facts;
    struct verdicts *verdicts; /* the caller's; NULL at first */
    int64_t judged_priority;   /* of the pods that it was judged for */
    UT_hash_handle hh;
};

struct pod_copy {
    struct pod pod; /* its shape and owner are NULL: the ledger's may be gone */
    struct shared_shape *shape;
    const char *replica_of;    /* as in pod_facts */
    const char *reserved_node; /* where room is held for it; NULL: nowhere */
    int64_t reserved_ms;       /* since when, by clock_ms() */
};

struct pod_copies {
    struct pod_copy *items;
    size_t n;
    size_t n_all; /* that there were */
    struct shared_shape *shapes;
    struct provenance provenance;
};

/* GPU pods without a node that are not finished; of too many, those that kube-scheduler would take
 * first: by priority, then by age. All in the arena. */
struct pod_copies pod_copy_pending(struct inventory *inventory, struct arena *arena);
/* One pod, or none. */
struct pod_copies pod_copy_named(struct inventory *inventory, const char *namespace_,
                                 const char *name, struct arena *arena);
/* All pods, in the ledger's order; under the inventory's lock. provenance is left to the caller. */
struct pod_copies pod_copy_all(const struct cluster *cluster, struct arena *arena);
void pod_copy_fini(struct pod_copies *copies);

#endif
