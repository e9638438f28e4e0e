/*
 * kinds: the one table of the kinds of Kubernetes objects that the ledger knows: where an API
 * server has them, how they are read and written, and what is done without them. What the ledger
 * does with them is in src/ledger/cluster/kinds.c.
 */
#ifndef INVENTORY_KINDS_H
#define INVENTORY_KINDS_H

#include "inventory/inventory.h"
#include "kube/reflector.h"
#include "ledger/cluster.h"
#include "objects/identity.h"

#include <jansson.h>

/* The use of a kind's data. */
struct kind_use {
    /* Without data of an essential kind no decision is made. Without those of another kind claims
     * are not counted. Without those of an optional kind only some answers are incomplete: about
     * pods whose claims do not exist yet, about drains, or about groups of pods. */
    bool is_essential, is_optional;
    const char *without; /* as in struct inventory_freshness */
    const char *lost;    /* what is lost without the right to list and watch it */
};
extern const struct kind_use KINDS_FOR_DECISIONS, KINDS_FOR_CLAIMS, KINDS_FOR_TEMPLATES,
    KINDS_FOR_BUDGETS, KINDS_FOR_GROUPS;

struct kind_row {
    const char *kind;        /* "Pod" */
    const char *api_version; /* compared over its length only */
    const struct kind_use *use;
    enum cluster_kind in_ledger; /* of a kind that only cluster files contain */
    bool is_namespaced;
    bool is_pod; /* objects are identified by UID */
    /* Drops all objects that share a name or UID, as their amounts are unknown. */
    bool drops_duplicates;
    struct reflector_kind listed; /* not of a kind that only cluster files contain */
    size_t facts_size;
    /* facts: facts_size bytes, of the type that cluster_upsert() takes. All that they point to is
     * in the arena. NULL: only the id is read, into struct name_facts. */
    int (*read)(const json_t *object, const struct policy *policy, struct arena *arena, void *facts,
                struct err *err);
    /* As a snapshot has it, or NULL if it leaves it out. NULL: snapshots write it otherwise. */
    json_t *(*to_json)(const void *facts, const struct policy *policy);
    /* Of a kind that is none of the ledger's; NULL: cluster_upsert() and so on. */
    void (*upsert)(struct cluster *cluster, const void *facts);
    void (*remove)(struct cluster *cluster, const char *id);
    size_t (*count)(const struct cluster *cluster);
};

/* The watched kinds. */
extern const struct kind_row INVENTORY_KINDS[N_CLUSTER_KINDS];

/* The row of a kind of the ledger. */
const struct kind_row *kinds_in_ledger(enum cluster_kind kind);

/* Also finds kinds that only cluster files contain: runtime classes, and a snapshot's own. An empty
 * api_version matches any. NULL: the kind is not read. */
const struct kind_row *kinds_find(const char *kind, const char *api_version);

/* Reads an object into new facts in the arena. */
int kinds_read(const struct kind_row *row, const json_t *object, const struct policy *policy,
               struct arena *arena, void **ret_facts, struct err *err);

/* These take objects of every row. id: from kinds_key(). */
void kinds_upsert(const struct kind_row *row, struct cluster *cluster, const void *facts);
void kinds_remove(const struct kind_row *row, struct cluster *cluster, const char *id);
size_t kinds_count(const struct kind_row *row, const struct cluster *cluster);

/* The largest number of objects of the kind, and the policy key that sets it. */
struct kind_limit {
    size_t n;
    const char *key;
};
struct kind_limit kinds_limit(enum cluster_kind kind, const struct inventory_limits *limits);

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
