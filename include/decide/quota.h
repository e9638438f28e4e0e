/*
 * quota: how many GPUs the namespaces of a quota (types/policy.h) may use together.
 *
 * Used is what the ledger counts as used: by pods on a node that are not finished, terminating ones
 * and those of other schedulers too, and by reservations; by the model of the node, or the last one
 * that was known of it. On a node that is not there GPUs are of no model, and count in total only.
 * Of several quotas that cover a namespace all must hold. A quota that is used beyond its limits
 * lets nothing new in, and takes nothing away.
 */
#ifndef DECIDE_QUOTA_H
#define DECIDE_QUOTA_H

#include "ledger/claims.h"
#include "ledger/namespace_usage.h"
#include "ledger/nominate.h"
#include "ledger/reservation.h"
#include "types/reason.h"

/* What the quotas leave to one pod, for one decision: made once, then asked about many nodes. Valid
 * while the cluster does not change, but by quota_place(). */
struct quota_view;

/* For a pod of that namespace and shape. What its own reservation holds is left to it; NULL: it has
 * none. NULL where no quota limits it, which all below take for an answer. */
struct quota_view *quota_begin(const struct cluster *cluster, const char *namespace_,
                               const struct pod_shape *shape, const struct reservation *own,
                               struct arena *arena);
/* Subtracts from the view what is promised to other pods: to nominated pods that outrank the asker
 * (nominate_kept()), and by claims (ledger/claims.h) that have not lapsed at now_ms. now_ms
 * QUOTA_NO_CLAIMS: claims do not count, as for a binding. Only the QUOTA_NOMINATIONS_MAX oldest
 * nominations count. */
void quota_promise(struct quota_view *view, const struct cluster *cluster,
                   const struct asker *asker, int64_t now_ms, struct arena *arena);
#define QUOTA_NO_CLAIMS INT64_MAX
#define QUOTA_NOMINATIONS_MAX 1024
struct quota_view *quota_copy(const struct quota_view *view, struct arena *arena);
/* As if a pod of that namespace and shape, or what is reserved for it, were gone from the node: to
 * judge whether it would help to evict it. The cluster is the ledger, not a fork. */
void quota_give_back(struct quota_view *view, const struct cluster *cluster,
                     const struct node *node, const char *namespace_,
                     const struct pod_shape *shape);

/* REASON_FITS: the quotas leave enough for one more pod on the node. REASON_QUOTA: they do not.
 * REASON_QUOTA_CLAIMED: they would without the claims of other pods. REASON_NAMESPACE_UNKNOWN:
 * quotas select namespaces by label, and the pod's namespace is still unknown after the API
 * server's were listed. */
enum reason quota_judge(const struct quota_view *view, const struct node *node);
/* The message of REASON_QUOTA (decide/fit.h). It names the first quota in the policy's order that
 * leaves too little, and lives as long as the policy. */
const char *quota_refusal(const struct quota_view *view, const struct node *node);
/* How many more such pods the quotas let onto the node, INT64_MAX where none limits it. */
int64_t quota_count(const struct quota_view *view, const struct node *node);
/* The view knows of n pods more on the node. */
void quota_take(struct quota_view *view, const struct node *node, int64_t n);
/* The same, and so does the fork that the view was made of. Goes with cluster_place(). */
void quota_place(struct cluster *fork, struct quota_view *view, const struct node *node, int64_t n);

/* GPUs used of a limit of that quota. */
int64_t quota_used(const struct cluster *cluster, const struct quota *quota,
                   const struct quota_limit *limit);
/* GPUs that the quota's pods use of the limit's resource on nodes whose model is unknown: a total
 * counts them, a limit of a model cannot. */
int64_t quota_unknown(const struct cluster *cluster, const struct quota *quota,
                      const struct quota_limit *limit);
/* How many nodes quotas count under each of policy.quota_models. */
void quota_count_nodes(const struct cluster *cluster, size_t ret_counts[QUOTA_MODELS_MAX]);
/* How many of a limit's GPUs a pod of the shape needs where the limit counts it. */
int64_t quota_need(const struct pod_shape *shape, const struct quota_limit *limit);

/* Replaces the pod's claim, if it has one. False, and nothing is done: another pod has claimed
 * since the quotas were judged, so they are to be judged again. None is made for a pod that counts
 * otherwise, or that no quota covers, or on a node that is not there. */
bool quota_claim(struct cluster *cluster, const struct claim_question *question);

#endif
