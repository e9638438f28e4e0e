/*
 * shapes: the ledger's resource names and pod shapes, each kept once and counted by its users; and
 * its strings, since it is shared by a ledger and its forks.
 *
 * Private to ledger. What nobody uses any more is gone at once, so tenants can't make it grow by
 * what they had.
 */
#ifndef LEDGER_SHAPES_H
#define LEDGER_SHAPES_H

#include "base/arena.h"
#include "base/table.h"
#include "demand_index.h"
#include "ledger/pod_shape.h"
#include "shape_accounts.h"
#include "string_table.h"
#include "types/policy.h"

struct resource_entry {
    struct resource resource; /* of a ledger; CONTAINER_OF() finds the rest */
    size_t refs;
    size_t n_rows;             /* of these users, rows of nodes */
    uint64_t mark;             /* shapes_mark() */
    struct demand_index index; /* of GPUs */
    UT_hash_handle hh;
    char name[];
};

struct shape_entry {
    struct pod_shape shape;
    size_t refs;
    int64_t n_live; /* pods, of ledger/gpu_demand.h */
    struct arena *arena;
    size_t bytes; /* of all that is kept for it: shape_bytes(), the arena's own and the entry's */
    struct siphash128 digest; /* of the facts */
    uint64_t order;           /* of shapes that want as much: shape_order(), then the serial */
    uint64_t serial;
    UT_hash_handle hh;
};

struct shapes {
    const struct policy *policy;
    size_t refs; /* the ledger and its forks */
    uint64_t n_marks;
    struct resource_entry *resources;
    struct shape_entry *shapes;
    uint64_t n_serials;             /* of shapes, so far */
    struct shape_accounts accounts; /* of those that are not reduced to their demand */
    size_t limited_bytes;           /* of the same */
    size_t demand_bytes;            /* of those that are */
    struct string_table strings;    /* of the ledger's objects */
};

struct shapes *shapes_new(const struct policy *policy);
void shapes_ref(struct shapes *shapes);
/* The last one to let go must have dropped all it held. */
void shapes_unref(struct shapes *shapes);

/* The resource, made if it was not known, with one more user. */
const struct resource *shapes_intern_resource(struct shapes *shapes, const char *name);
const struct resource *shapes_find_resource(const struct shapes *shapes, const char *name);
void shapes_ref_resource(const struct resource *resource);
/* To go over resources and meet each once: a mark that none has, and whether the resource gets it
 * for the first time. */
uint64_t shapes_begin_marks(struct shapes *shapes);
bool shapes_mark(const struct resource *resource, uint64_t mark);
void shapes_unref_resource(struct shapes *shapes, const struct resource *resource);
/* The same for a node's row (struct node_resource). */
void shapes_ref_row(const struct resource *resource);
void shapes_unref_row(struct shapes *shapes, const struct resource *resource);

/* The shape with these facts, made if it was not known, with one more user in the namespace. Where
 * it is over policy->pod_shape_bytes, or the namespace may not keep as much more of
 * policy->pod_shapes_bytes: its demand alone (facts.demand_only), which always counts. Of that,
 * names that the policy does not name and no node has a row for are left out, but for
 * DEMAND_NEW_GPUS_MAX that a pattern of the policy calls GPUs. That other pods use a name is no
 * reason to keep it: tenants would decide how much is kept beyond both limits. */
const struct pod_shape *shapes_intern(struct shapes *shapes, const char *namespace_,
                                      const struct shape_facts *facts);
/* The same shape once more, for one more user; namespace_ NULL: of none. */
void shapes_ref_shape(struct shapes *shapes, const char *namespace_, const struct pod_shape *shape);
/* Of the namespace that held it. */
void shapes_unref_shape(struct shapes *shapes, const char *namespace_,
                        const struct pod_shape *shape);

/* Of shape_bytes(): what the ledger's table of resources needs for names that only tenants use.
 * Each shape is charged for all it names, also those that others name too. */
size_t shape_names_bytes(const struct shape_facts *facts, const struct policy *policy);

/* n more live pods have the shape (or fewer, n < 0). The first place that changed in the lists of
 * those who want its GPUs; SIZE_MAX where it wants none. */
size_t shapes_count_live(const struct pod_shape *shape, int64_t n);
const struct demand_index *shapes_demand_index(const struct resource *resource);

#endif
