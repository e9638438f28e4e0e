/*
 * shape_limits: how many bytes the shape of a pod may cost to keep (policy limits.podShapeBytes).
 *
 * Tenants choose how long selectors, affinities and tolerations are. A shape over the limit loses
 * what kube-scheduler judges anyway. It keeps what filter and bind judge: demand, GPU models and
 * the legacy annotation, which have maximums of their own. All other callers report that such a pod
 * was not judged.
 */
#ifndef LEDGER_SHAPE_LIMITS_H
#define LEDGER_SHAPE_LIMITS_H

#include "types/facts.h"
#include "types/policy.h"

/* The bytes that a ledger would keep of the shape: its own copy (shape_copy(), and the needs), and
 * the names of resources that only tenants use. Counting stops once the sum exceeds max. */
size_t shape_bytes(const struct shape_facts *facts, const struct policy *policy, size_t max);
/* Reduces a shape over policy->pod_shape_bytes. */
void shape_limit(struct shape_facts *facts, const struct policy *policy);
/* Removes what kube-scheduler judges, and sets facts->over. */
void shape_reduce(struct shape_facts *facts, enum shape_limit over);
/* The shape's demand alone, over that limit; borrowed from facts. */
struct shape_facts shape_demand_only(const struct shape_facts *facts, enum shape_limit over);
/* "limits.podShapeBytes"; NULL of SHAPE_LIMIT_NONE. */
const char *shape_limit_name(enum shape_limit over);
/* "shape over limits.podShapeBytes", for people: why a pod was not judged. */
const char *shape_limit_text(enum shape_limit over);

#endif
