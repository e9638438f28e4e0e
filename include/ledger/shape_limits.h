/*
 * shape_limits: limits the bytes that the ledger keeps of a pod's shape (policy
 * limits.podShapeBytes).
 *
 * Tenants choose the length of selectors, affinities and tolerations. A shape over the limit loses
 * the parts that kube-scheduler judges anyway. It keeps the parts that filter and bind judge:
 * demand, GPU models and the legacy annotation, which have maximums of their own. All other callers
 * report such a pod as not judged.
 */
#ifndef LEDGER_SHAPE_LIMITS_H
#define LEDGER_SHAPE_LIMITS_H

#include "base/arena.h"
#include "base/hash.h"
#include "types/facts.h"
#include "types/policy.h"

/* The bytes that a ledger would keep: its copy (shape_copy() and the needs), and names of resources
 * that only tenants use. Counting stops once the sum exceeds max. */
size_t shape_bytes(const struct shape_facts *facts, const struct policy *policy, size_t max);
/* Reduces a shape that exceeds policy->pod_shape_bytes. */
void shape_limit(struct shape_facts *facts, const struct policy *policy);
/* Removes the parts that kube-scheduler judges, and sets facts->over. */
void shape_reduce(struct shape_facts *facts, enum shape_limit over);
/* Only the shape's demand, marked as over that limit; borrowed from facts. */
struct shape_facts shape_demand_only(const struct shape_facts *facts, enum shape_limit over);
/* "limits.podShapeBytes"; NULL for SHAPE_LIMIT_NONE. */
const char *shape_limit_name(enum shape_limit over);
/* "shape over limits.podShapeBytes": the reason why a pod was not judged. */
const char *shape_limit_text(enum shape_limit over);

/* ---- digests of shape facts for comparison, and copies that outlive the ledger's lock ---- */

/* Keyed with the process's secret: equal digests mean equal shapes, as no tenant can construct a
 * collision. The demand must be sorted by name. */
struct siphash128 shape_digest(const struct shape_facts *facts);
/* Independent of the key, to sort shapes in the same order in every run. Not a digest: a tenant can
 * construct two shapes with the same value. */
uint64_t shape_order(const struct shape_facts *facts);
/* All that the copy points to is in the arena. */
struct shape_facts shape_copy(const struct shape_facts *facts, struct arena *arena);

/* The same for parts of other facts. text may be NULL. */
void shape_digest_number(struct siphash *hash, int64_t number);
void shape_digest_text(struct siphash *hash, const char *text);
void shape_digest_term(struct siphash *hash, const struct selector_term *term);
struct selector_term shape_copy_term(const struct selector_term *term, struct arena *arena);
struct label *shape_copy_labels(const struct label *labels, size_t n, struct arena *arena);

#endif
