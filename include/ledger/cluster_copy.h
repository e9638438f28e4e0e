/*
 * cluster_copy: a ledger under another policy, made beside the one in use.
 *
 * Models, quotas and sums, which a ledger derives from its objects, depend on the policy. So a
 * change of the policy copies the objects, a few at a time, and the copy derives everything anew.
 * Reservations, claims on quotas and claims that bind rejected may change meanwhile. The copy takes
 * them over at the end, and then replaces the old ledger.
 *
 * Facts that the old policy read from an object stay unchanged: GPU models in pods' annotations,
 * attributes of devices. To read them by the new policy, list the objects again.
 *
 * Pure, like the ledger. Each step reads the old ledger and changes only the copy.
 */
#ifndef LEDGER_CLUSTER_COPY_H
#define LEDGER_CLUSTER_COPY_H

#include "ledger/cluster.h"

struct cluster_copy;

/* Borrows the cluster, which must not be a fork, until cluster_copy_end(). Until then, only its
 * reservations, claims on quotas and rejections by bind may change. */
struct cluster_copy *cluster_copy_new(const struct cluster *from, const struct policy *policy);
/* Call before each step, without the lock, to shorten it: 200,000 pods that move to other buckets
 * take 40 ms. Reads and changes only the copy. */
void cluster_copy_make_room(struct cluster_copy *copy);
/* Copies n objects. Returns true once all are copied. */
bool cluster_copy_some(struct cluster_copy *copy, size_t n);
/* The same if objects of the cluster may have changed since the last step. Those that come, go or
 * change meanwhile are copied as before or after. Under constant change one step may copy all but
 * the pods. */
bool cluster_copy_some_anew(struct cluster_copy *copy, size_t n);
/* Ends the copying without a result; the cluster may be gone. */
void cluster_copy_abandon(struct cluster_copy *copy);
/* Call once all objects are copied, to shorten cluster_copy_end(). Copies n claims on quotas.
 * Returns true once all are copied. */
bool cluster_copy_claims(struct cluster_copy *copy, size_t n);
/* Call after the last step, and again after changes. Settles the copy (ledger/gpu_demand.h). */
void cluster_copy_settle(struct cluster_copy *copy);
/* Takes over reservations (with their serials), claims on quotas, rejections by bind, and how
 * groups are treated. Returns the new ledger, whose versions continue those of the old one, and
 * frees the copy. A claim on quotas of a pod that the old ledger has not seen yet is lost, which is
 * harmless (claims.h). */
struct cluster *cluster_copy_end(struct cluster_copy *copy);

/* Whether forks of the cluster exist. They share parts with it. */
bool cluster_has_forks(const struct cluster *cluster);

#endif
