/*
 * shapes: the ledger's resource names, pod shapes and strings, each kept once and
 * reference-counted. Private to ledger.
 *
 * A ledger and its forks share it. An unreferenced entry is freed at once, so tenants cannot make
 * it grow with past objects.
 */
#ifndef LEDGER_SHAPES_SHAPES_H
#define LEDGER_SHAPES_SHAPES_H

#include "base/arena.h"
#include "base/hash.h"
#include "base/table.h"
#include "ledger/cluster.h"
#include "types/facts.h"
#include "types/policy.h"
#include "types/string_table.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* ---- demand index ---- */
/* Shapes whose live pods need a GPU resource. Shapes whose pods need most of it in sum come
 * first; ties follow shape_order(). */

struct shape_entry;

struct demand_index_item {
    struct shape_entry *shape;
    int64_t amount; /* per pod */
};

struct demand_index {
    struct demand_index_item *items;
    size_t n;
    size_t n_room;
};

/* Sorts by the shape's n_live, which must not change while the shape is listed. Returns the
 * index. */
size_t demand_index_add(struct demand_index *index, struct shape_entry *shape, int64_t amount);
/* The shape must be listed. Returns its former index. */
size_t demand_index_remove(struct demand_index *index, struct shape_entry *shape, int64_t amount);
void demand_index_fini(struct demand_index *index);

/* ---- shape accounts ---- */
/* Counts the bytes of shapes per namespace and limits them. A shape that pods of two namespaces
 * share is kept once and charged to both. A namespace may add a shape if its own total, with
 * that shape, does not exceed what then remains free. So one namespace gets at most half of the
 * sum, and n namespaces 1/(n + 1) each. As much always remains for later ones. Source: A. K.
 * Choudhury, E. L. Hahne: Dynamic queue length thresholds for shared-memory packet switches
 * (IEEE/ACM Transactions on Networking 6, 1998), alpha = 1. */

struct payer;
struct charge;
struct shape_entry;

struct shape_accounts {
    struct payer *payers;   /* namespaces with any shape */
    struct charge *charges; /* users per namespace and shape */
};

/* Whether the namespace already has the shape or may add it. total_bytes: of all shapes, this one
 * included, out of max_bytes. */
bool shape_accounts_may_have(const struct shape_accounts *accounts, const char *namespace_,
                             const struct shape_entry *shape, size_t total_bytes, size_t max_bytes);
/* The same for a new shape of that size. */
bool shape_accounts_may_add(const struct shape_accounts *accounts, const char *namespace_,
                            size_t bytes, size_t total_bytes, size_t max_bytes);
/* Adds or subtracts one user in the namespace. */
void shape_accounts_charge(struct shape_accounts *accounts, const char *namespace_,
                           const struct shape_entry *shape);
void shape_accounts_release(struct shape_accounts *accounts, const char *namespace_,
                            const struct shape_entry *shape);
/* Adds or subtracts bytes of one thing that only this namespace has. */
void shape_accounts_add(struct shape_accounts *accounts, const char *namespace_, size_t bytes);
void shape_accounts_subtract(struct shape_accounts *accounts, const char *namespace_, size_t bytes);
/* Bytes of the namespace's shapes. */
size_t shape_accounts_kept(const struct shape_accounts *accounts, const char *namespace_);

/* ---- peers ---- */
/* Pods' labels, and their terms of affinity between pods and of topology spread, each kept once
 * per namespace and reference-counted. Labels and terms are kept apart, as pods with labels of
 * their own (StatefulSets) share terms. Tenants choose both, so they are bounded like shapes:
 * one part by policy->pod_shape_bytes, all together by policy->pod_shapes_bytes or a share of
 * it, shared out between namespaces by shapes.h. */

/* One allocation, with all that its facts point to. */
struct peer_entry {
    struct peer_facts facts; /* only labels, or only terms; CONTAINER_OF() finds the rest */
    size_t refs;
    size_t bytes;
    struct siphash128 digest; /* of the namespace and the facts */
    UT_hash_handle hh;
};

struct peers {
    struct peer_entry *entries;
    struct shape_accounts accounts;
    size_t bytes; /* of all entries */
    size_t share; /* bytes <= policy->pod_shapes_bytes / share */
};

/* The terms and labels that are kept of one pod. */
struct kept_peers {
    const struct peer_facts *labels;    /* NULL: none, or not kept */
    const struct peer_facts *terms;     /* NULL: none, or not kept */
    bool lacks_any;                     /* there was no room for one of them */
    const struct peer_facts *own_terms; /* as in struct pod */
    bool lacks_own_terms;
};

/* Takes a reference to each part. Does not set own_terms. */
struct kept_peers peers_intern(struct peers *peers, const struct policy *policy,
                               const char *namespace_, const struct peer_facts *facts);
/* part NULL: does nothing. */
void peers_ref(const struct peer_facts *part);
/* namespace_: the one that it was interned for. */
void peers_unref(struct peers *peers, const char *namespace_, const struct peer_facts *part);

/* ---- shapes ---- */

struct resource_entry {
    struct resource resource; /* of a ledger; CONTAINER_OF() finds the rest */
    size_t refs;
    size_t n_rows;             /* of these, references by rows of nodes */
    uint64_t mark;             /* shapes_mark() */
    struct demand_index index; /* of GPUs */
    UT_hash_handle hh;
    char name[];
};

struct shape_entry {
    struct pod_shape shape;
    size_t refs;
    int64_t n_live; /* live pods as in ledger/gpu_demand.h */
    struct arena *arena;
    size_t bytes;             /* shape_bytes(), the arena's own and the entry's */
    struct siphash128 digest; /* of the facts */
    uint64_t order;           /* breaks ties: shape_order(), then the serial */
    uint64_t serial;
    UT_hash_handle hh;
};

struct shapes {
    const struct policy *policy;
    size_t refs; /* held by the ledger and its forks */
    uint64_t n_marks;
    struct resource_entry *resources;
    struct shape_entry *shapes;
    uint64_t n_serials;             /* shape serials issued */
    struct shape_accounts accounts; /* of shapes that are not demand_only */
    size_t limited_bytes;           /* of the same shapes */
    size_t demand_bytes;            /* of shapes that are demand_only */
    struct string_table strings;    /* of the ledger's objects */
    struct peers peers;
    struct peers own_terms; /* of pods with a node, apart, so that they take no room of others */
};

struct shapes *shapes_new(const struct policy *policy);
void shapes_ref(struct shapes *shapes);
/* Before the last unref, the caller must have unreferenced all entries. */
void shapes_unref(struct shapes *shapes);

/* The policy's rules for it; the name is borrowed. */
struct resource shapes_resource(const struct policy *policy, const char *name);
/* Creates the resource if needed and takes a reference. */
const struct resource *shapes_intern_resource(struct shapes *shapes, const char *name);
const struct resource *shapes_find_resource(const struct shapes *shapes, const char *name);
void shapes_ref_resource(const struct resource *resource);
/* To visit resources once each: begin returns a fresh mark; shapes_mark() returns whether the
 * resource gets that mark for the first time. */
uint64_t shapes_begin_marks(struct shapes *shapes);
bool shapes_mark(const struct resource *resource, uint64_t mark);
void shapes_unref_resource(struct shapes *shapes, const struct resource *resource);
/* References held by a node's row (struct node_resource). */
void shapes_ref_row(const struct resource *resource);
void shapes_unref_row(struct shapes *shapes, const struct resource *resource);

/* Creates the shape if needed and takes a reference for the namespace. It keeps the demand alone
 * (facts.demand_only) if the shape exceeds policy->pod_shape_bytes, or the namespace would exceed
 * its share of policy->pod_shapes_bytes. Such a demand keeps resources that the policy names or a
 * node has a row for, and DEMAND_NEW_GPUS_MAX others that match a GPU pattern. Use by other pods
 * does not keep a name: tenants would decide how much is kept beyond both limits. */
const struct pod_shape *shapes_intern(struct shapes *shapes, const char *namespace_,
                                      const struct shape_facts *facts);
/* Takes one more reference; namespace_ NULL: charged to no namespace. */
void shapes_ref_shape(struct shapes *shapes, const char *namespace_, const struct pod_shape *shape);
/* namespace_ must be the one that took the reference. */
void shapes_unref_shape(struct shapes *shapes, const char *namespace_,
                        const struct pod_shape *shape);

/* Part of shape_bytes(): the table entries of names that only tenants use. A shape is charged for
 * all of its names, shared ones included. */
size_t shape_names_bytes(const struct shape_facts *facts, const struct policy *policy);

/* Adds n live pods (n < 0: subtracts). Returns the first changed index in the demand indexes of its
 * GPUs; SIZE_MAX if it needs none. */
size_t shapes_count_live(const struct pod_shape *shape, int64_t n);
const struct demand_index *shapes_demand_index(const struct resource *resource);

#endif
