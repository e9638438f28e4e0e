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
#include "base/table.h"
#include "ledger/pod_shape.h"
#include "ledger/shapes/demand_index.h"
#include "ledger/shapes/peers.h"
#include "ledger/shapes/shape_accounts.h"
#include "types/policy.h"
#include "types/string_table.h"

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
