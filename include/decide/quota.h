/*
 * quota: how many GPUs the namespaces of a quota (types/policy.h) may use together.
 *
 * Use is the ledger's: by unfinished pods on a node, also terminating ones and those of other
 * schedulers, and by reservations. It counts under the node's model, or the last one known of it.
 * GPUs on a node that does not exist count only in totals. Allocated claims count, too
 * (ledger/claim_usage.h). If several quotas cover a namespace, all must hold. A quota that is
 * exceeded rejects new pods and evicts none.
 *
 * A limit with `borrow` is two limits: of the pods above borrow.max_priority and of the others.
 * Together they must hold, too, as pods may have got past them (a lowered limit, other schedulers).
 */
#ifndef DECIDE_QUOTA_H
#define DECIDE_QUOTA_H

#include "ledger/asked_claims.h"
#include "ledger/claims.h"
#include "ledger/namespace_usage.h"
#include "ledger/nominate.h"
#include "ledger/pod_groups.h"
#include "ledger/reservation.h"
#include "types/reason.h"

/* The remaining quota for one pod in one decision: made once, then used for many nodes. Valid until
 * the cluster changes, except by quota_place(). */
struct quota_view;

/* For such a pod of that namespace. own: its reservation, which it may use; NULL: none.
 * Returns NULL if no quota limits the pod; all functions below accept that. */
struct quota_view *quota_begin(const struct cluster *cluster, const char *namespace_,
                               struct quota_pod pod, const struct reservation *own,
                               struct arena *arena);
/* A pod that asks for quota, with its resource claims. */
struct quota_asked {
    const struct pod_shape *shape;
    const struct reservation *own; /* as for quota_begin() */
    struct claims_question claims;
    /* For a fork: asked_claims_for_fork(). NULL, or of another policy than the fork's: none. */
    const struct asked_claims *known;
    const char *group; /* as in pod_facts; NULL: none */
    int64_t now_ms;    /* as for quota_promise() */
    bool binds;        /* of the claims of other pods only firm ones count */
};
/* The same for a pod with its resource claims (ledger/asked_claims.h). A claim that is allocated is
 * refused only if the use with it exceeds a limit. Of floating claims that exceed a limit together,
 * the first in order is not refused. Others add at least what they ask for: to totals on all nodes,
 * and to a model where all devices of the node have it.
 *
 * A pod of a group asks for as many members together as the group lacks to its minimum
 * (pod_groups_others()), each under the models of its claim. One without a claim counts under those
 * of the judged node if it is like the asker, and else in totals only. */
struct quota_view *quota_begin_asked(const struct cluster *cluster, const struct quota_asked *asked,
                                     struct arena *arena);
/* A quota covers the pod, and the ledger does not show yet that each of its claims is allocated and
 * reserved for it. */
bool quota_waits_for_claims(const struct cluster *cluster, const struct claims_question *question);
/* quota_judge() depends on the devices of the node, not only on its model. */
bool quota_asks_by_claims(const struct quota_view *view);
/* Adds back what already counts of the asker's GPUs, by the claim that kube-scheduler made for its
 * extended resources. */
void quota_own_claim(struct quota_view *view, const struct cluster *cluster, const char *namespace_,
                     const struct asker *asker);
/* Subtracts from the view what is promised to other pods: nominations that outrank the asker
 * (nominate_outranks()), of which the QUOTA_NOMINATIONS_MAX oldest are considered, and claims
 * (ledger/claims.h) that have not expired at now_ms. now_ms QUOTA_NO_CLAIMS: claims do not count.
 * Claims of the group's other members that the view asks for do not count again. */
void quota_promise(struct quota_view *view, const struct cluster *cluster,
                   const struct asker *asker, int64_t now_ms, struct arena *arena);
#define QUOTA_NO_CLAIMS INT64_MAX
#define QUOTA_NOMINATIONS_MAX 1024
struct quota_view *quota_copy(const struct quota_view *view, struct arena *arena);
/* Adds back the use of such a pod of that namespace, or of its reservation, on the node, to judge
 * an eviction. cluster: the ledger, not a fork. */
void quota_give_back(struct quota_view *view, const struct cluster *cluster,
                     const struct node *node, const char *namespace_, struct quota_pod pod);

/* REASON_FITS: the quotas leave enough for one more pod on the node. REASON_QUOTA: they do not.
 * REASON_QUOTA_CLAIMED: only the claims of other pods prevent it. REASON_NAMESPACE_UNKNOWN: quotas
 * select namespaces by label, and the list of namespaces lacks the pod's. */
enum reason quota_judge(const struct quota_view *view, const struct node *node);
/* The message for REASON_QUOTA (decide/fit.h). It names the first quota in policy order that leaves
 * too little. Lives as long as the policy. */
const char *quota_refusal(const struct quota_view *view, const struct node *node);
/* A limit that leaves too little for one more pod on a node. */
struct quota_short {
    const struct quota *quota;
    const struct quota_limit *limit;
    bool borrows; /* limit->borrow is short, not the guarantee */
    bool is_sum;  /* both together are, and raising either helps */
    int64_t most; /* GPUs of such pods */
    int64_t left; /* negative: it is exceeded */
    int64_t need;
    size_t next; /* private */
};
/* Iterates over all of them in policy order: start with {0}. False: no more, and *lack is
 * unchanged. */
bool quota_next_short(const struct quota_view *view, const struct node *node,
                      struct quota_short *lack);
/* The same over the limits that the fork exceeds, with what is promised to others; need is 0. */
bool quota_next_exceeded(const struct quota_view *view, const struct cluster *fork,
                         struct quota_short *lack);
/* From now on the quotas allow any number of pods. quota_place() still counts them. */
void quota_lift(struct quota_view *view);
/* Whether the pod's GPUs are guaranteed by a limit, and some quota lends: the pod may take them
 * back from pods that borrow. */
bool quota_takes_back(const struct quota_view *view);
/* How many more such pods the quotas allow on the node; INT64_MAX if none limits it. */
int64_t quota_count(const struct quota_view *view, const struct node *node);
/* Whether the pod counts against that limit of the policy. */
bool quota_counts(const struct quota_view *view, const struct quota_limit *limit);
/* Counts n more pods on the node, in the view. The first gets the claims that it names, and all
 * later ones share these. */
void quota_take(struct quota_view *view, const struct node *node, int64_t n);
/* The same, also in the fork that the view was made from. Call it with cluster_place(). */
void quota_place(struct cluster *fork, struct quota_view *view, const struct node *node, int64_t n);

/* GPUs used under a limit of that quota: with `borrow`, of its guarantee. */
int64_t quota_used(const struct cluster *cluster, const struct quota *quota,
                   const struct quota_limit *limit);
/* GPUs of its pods that count to the limit's `borrow`; 0 without. */
int64_t quota_borrowed(const struct cluster *cluster, const struct quota *quota,
                       const struct quota_limit *limit);
/* GPUs of the limit's resource that the quota's pods use on nodes of unknown model: totals count
 * them, limits of a model do not. */
int64_t quota_unknown(const struct cluster *cluster, const struct quota *quota,
                      const struct quota_limit *limit);
/* GPUs that the limit counts on all nodes: those that are free, or all. Of devices (DRA) only those
 * that a resource stands for; a limit of a model counts them by the model of the node. */
int64_t quota_gpus_there(const struct cluster *cluster, const struct quota_limit *limit,
                         bool only_free);
/* GPUs of the limit's kind that the other quota's pods borrow by any of its limits. */
int64_t quota_borrowed_of(const struct cluster *cluster, const struct quota_limit *limit,
                          const struct quota *borrower);
/* The number of nodes that quotas count under each of policy.quota_models. */
void quota_count_nodes(const struct cluster *cluster, size_t ret_counts[QUOTA_MODELS_MAX]);
/* GPUs that a pod of the shape adds to a limit that counts it. */
int64_t quota_need(const struct pod_shape *shape, const struct quota_limit *limit);

/* The pod got a reservation on the node: makes the claims of these others firm until then. */
void quota_hold(struct cluster *cluster, const struct group_others *others, const struct node *node,
                int64_t now_ms, int64_t firm_until_ms);

/* Replaces the pod's claim. Makes none for a pod that counts otherwise, that no quota covers, or on
 * a node that does not exist. Returns false and does nothing if another pod has claimed since the
 * quotas were judged: judge them again. */
bool quota_claim(struct cluster *cluster, const struct claim_question *question);

#endif
