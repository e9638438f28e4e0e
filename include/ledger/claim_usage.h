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

#endif
