/*
 * claim_usage: what claims of dynamic resource allocation (DRA) add to the cells of quotas
 * (ledger/namespace_usage.h).
 *
 * A claim counts in its namespace from its allocation to its deallocation, whether or not a pod
 * uses it: each GPU once, under its own model, in the scopes of its driver's resource. Admin access
 * does not count. If kube-scheduler made the claim for extended resources of a pod, the pod's
 * request counts, and of the claim what exceeds it, cell by cell.
 */
#ifndef LEDGER_CLAIM_USAGE_H
#define LEDGER_CLAIM_USAGE_H

#include "ledger/nominate.h"

/* The GPUs that the claim made for the asker's extended resources counts in the cell, before the
 * asker uses a node: the same GPUs that it requests. 0 without such a claim. */
int64_t claim_usage_for(const struct cluster *cluster, const char *namespace_,
                        const struct asker *asker, size_t scope, size_t column);
/* Whether any claim counts in any namespace. */
bool claim_usage_any(const struct cluster *cluster);

/* A claim that counts, or that counted when bind refused its pod. */
struct claim_use;
/* NULL: the claim does neither. */
const struct claim_use *claim_usage_find(const struct cluster *cluster, const char *namespace_,
                                         const char *name);
/* Iterates over all: NULL to NULL. */
const struct claim_use *claim_usage_next(const struct cluster *cluster,
                                         const struct claim_use *use);
const char *claim_usage_namespace(const struct claim_use *use);
const char *claim_usage_name(const struct claim_use *use);
/* Whether it uses GPUs. */
bool claim_usage_counts(const struct claim_use *use);
/* Adds what it counts to namespace_usage_n_cells() cells. */
void claim_usage_add(const struct policy *policy, int64_t *cells, const struct claim_use *use);
/* It uses GPUs, but no pod that it is reserved for has a node or a reservation. */
bool claim_usage_floats(const struct claim_use *use);
/* Iterates over those that float: NULL to NULL. */
const struct claim_use *claim_usage_next_floating(const struct cluster *cluster,
                                                  const struct claim_use *use);
/* Remembers what the claim counts now until the claim is deleted or created again. Without this, a
 * pod whose allocation is larger than its claim's spec says would be allocated and refused for
 * ever. */
void claim_usage_refuse(struct cluster *cluster, const char *namespace_, const char *name);
/* As remembered last; NULL: nothing. */
const int64_t *claim_usage_refused(const struct claim_use *use);

#endif
