/*
 * cluster_copy: a ledger under another policy, made beside the one in use.
 *
 * All that a ledger derives from its objects depends on the policy: models, quotas, sums. So a
 * change of the policy copies the objects, a few at a time, and the copy derives everything anew.
 * At the end it takes over reservations, claims on quotas and refusals of claims by bind, which may
 * change meanwhile, and replaces the old ledger.
 *
 * Objects that the old policy read stay as it read them: GPU models in pods' annotations,
 * attributes of devices. Listing these objects again reads them by the new one.
 *
 * Pure, like the ledger. A step reads the old ledger and changes only the copy.
 */
#ifndef LEDGER_CLUSTER_COPY_H
#define LEDGER_CLUSTER_COPY_H

#include "ledger/cluster.h"

struct cluster_copy;

/* Borrows the cluster, no fork, until cluster_copy_end(). Until then only reservations, claims
 * on quotas and refusals by bind may change in it. */
struct cluster_copy *cluster_copy_new(const struct cluster *from, const struct policy *policy);
/* Copies n objects. Returns true once all are copied. */
bool cluster_copy_some(struct cluster_copy *copy, size_t n);
/* After that, so that cluster_copy_end() has less to do: copies n claims on quotas. Returns true
 * once all are copied. */
bool cluster_copy_claims(struct cluster_copy *copy, size_t n);
/* After the last step, and again after changes: settles the copy (ledger/gpu_demand.h). */
void cluster_copy_settle(struct cluster_copy *copy);
/* Takes over reservations, with their serials, claims on quotas, and refusals by bind. Returns the
 * new ledger, whose versions continue those of the old one, and frees the copy. The claim of a pod
 * that the old ledger has not seen yet is lost, which is harmless (claims.h). */
struct cluster *cluster_copy_end(struct cluster_copy *copy);

/* Whether forks of the cluster exist: they share parts with it. */
bool cluster_has_forks(const struct cluster *cluster);

#endif
