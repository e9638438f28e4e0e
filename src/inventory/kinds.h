/*
 * kinds: one row per Kubernetes kind in the ledger: how to decode an object, add it and remove it.
 * Private to inventory; both feeds use it.
 */
#ifndef INVENTORY_KINDS_H
#define INVENTORY_KINDS_H

#include "inventory/inventory.h"
#include "ledger/cluster.h"
#include "objects/identity.h"
#include "objects/snapshot.h"
#include "types/device_facts.h"

#include <jansson.h>

struct device_class_facts {
    const char *name;
    const char *resource; /* "": none */
    const char *driver;   /* of all its devices; "": unknown */
    struct selector_texts selectors;
};

/* Facts of one decoded object; the row determines the valid member. */
union kind_facts {
    struct node_facts node;
    struct pod_facts pod;
    struct namespace_facts namespace_;
    struct priority_class_facts priority_class;
    const char *runtime_class; /* its name */
    struct device_class_facts device_class;
    struct slice_facts slice;
    struct claim_facts claim;
    struct {
        struct device_taint_facts facts;
        bool taints; /* else the rule is ignored */
    } device_taint;
    struct claim_template_facts claim_template;
    struct budget_facts budget;
    struct reservation_facts reservation;
};

struct kind_row {
    const char *kind;        /* "Pod" */
    const char *api_version; /* compared over its length only */
    /* Without data of an essential kind no decision is made. Without those of another kind claims
     * are not counted. Without those of an optional kind only some answers are incomplete: about
     * pods whose claims do not exist yet, or about drains. */
    bool is_essential, is_optional;
    bool is_namespaced;
    bool is_pod; /* objects are identified by UID */
    /* Drops all objects that share a name or UID, as their amounts are unknown. */
    bool drops_duplicates;
    /* Everything that the facts point to lives in the arena. */
    int (*decode)(const json_t *object, const struct policy *policy, struct arena *arena,
                  union kind_facts *ret_facts, struct err *err);
    void (*upsert)(struct cluster *cluster, const union kind_facts *facts);
    /* id: from kinds_key(). keep may be NULL: then the ledger keeps only the name. */
    void (*remove)(struct cluster *cluster, const char *id);
    void (*keep)(struct cluster *cluster, const char *id);
    size_t (*count)(const struct cluster *cluster);
};

extern const struct kind_row KINDS[N_CLUSTER_KINDS];

/* The largest number of objects of the kind, and the policy key that sets it. */
struct kind_limit {
    size_t n;
    const char *key;
};
struct kind_limit kinds_limit(enum cluster_kind kind, const struct inventory_limits *limits);

/* Also finds kinds that only cluster files contain: runtime classes, and a snapshot's own. An empty
 * api_version matches any. NULL: the kind is not read. */
const struct kind_row *kinds_find(const char *kind, const char *api_version);

/* After an upsert. Fails with the reason if the ledger had no room for all of the object. */
int kinds_check_room(const struct kind_row *row, const struct cluster *cluster, const char *id,
                     struct err *err);

/* The identity of an object within its kind. */
struct kind_key {
    const char *name; /* for messages: "namespace/name" or "name" */
    /* In the ledger: a pod's UID (see pod_from_json() for pods without), else the name. */
    const char *id;
};
struct kind_key kinds_key(const struct kind_row *row, const struct identity *identity,
                          struct arena *arena);

#endif
