/*
 * kinds: what the ledger is made of, a row a kind: how an object is read, and how it gets in and
 * out. Private to inventory; both feeds go by it.
 */
#ifndef INVENTORY_KINDS_H
#define INVENTORY_KINDS_H

#include "ledger/cluster.h"
#include "objects/identity.h"
#include "objects/snapshot.h"

#include <jansson.h>

struct device_class_facts {
    const char *name;
    const char *resource; /* "": none */
};

/* An object that was read; the row says which of these it is. */
union kind_facts {
    struct node_facts node;
    struct pod_facts pod;
    struct namespace_facts namespace_;
    struct priority_class_facts priority_class;
    struct device_class_facts device_class;
    struct reservation_facts reservation;
};

struct kind_row {
    const char *kind;        /* "Pod" */
    const char *api_version; /* up to its length */
    bool is_pod;             /* what is known by a UID */
    bool has_amounts;        /* what there is or who uses it: of two that claim to be one, neither
                                can be believed */
    /* Everything the facts point to lives in the arena. */
    int (*decode)(const json_t *object, const struct policy *policy, struct arena *arena,
                  union kind_facts *ret_facts, struct err *err);
    void (*upsert)(struct cluster *cluster, const union kind_facts *facts);
    /* These take the id of kinds_key(). keep NULL: nothing but its name is known of it. */
    void (*remove)(struct cluster *cluster, const char *id);
    void (*keep)(struct cluster *cluster, const char *id);
    size_t (*count)(const struct cluster *cluster);
};

extern const struct kind_row KINDS[N_CLUSTER_KINDS];

/* Among these too, which only cluster files have: a snapshot's own. An empty api_version is every
 * one. NULL: it is not read. */
const struct kind_row *kinds_find(const char *kind, const char *api_version);

/* What tells an object of a kind from the others. */
struct kind_key {
    const char *name; /* for people: "namespace/name" or "name" */
    const char *id;   /* in the ledger: a pod's UID (as pod_from_json() makes one up where there is
                         none), of all others the name */
};
struct kind_key kinds_key(const struct kind_row *row, const struct identity *identity,
                          struct arena *arena);

#endif
