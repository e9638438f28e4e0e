/*
 * fit: can this pod run on this node? Yes, or one reason from a closed list.
 *
 * "Does not fit" is a result, never an error. The messages are constant: kube-scheduler wakes a pod
 * whose message changes (PROTOCOL 6.2).
 */
#ifndef DECIDE_FIT_H
#define DECIDE_FIT_H

#include "ledger/nominate.h"
#include "types/reason.h"

/* Which judge asks: on the wire, only what is ours (kube-scheduler's own filters have judged the
 * rest with fresher eyes); for people, all that can be known here. */
enum fit_scope { FIT_OURS, FIT_ALL };

struct reservation; /* ledger/reservation.h */
struct quota_view;  /* decide/quota.h */

struct fit_question {
    const struct pod_shape *shape;
    const char *refusal;   /* of the pod: it fits nowhere; NULL: none */
    const char *node_name; /* spec.nodeName: it may be on no other node; NULL or "": any. FIT_ALL */
    enum fit_scope scope;
    struct asker asker;     /* against whom room is kept for nominated pods */
    const char *replica_of; /* as in pod_facts: what is best for it depends on the others */
    /* Victims would give this back on the node that is judged (decide/preempt.h); each resource
     * once. */
    const struct need *freed;
    size_t n_freed;
    /* The pod's own reservation: it holds no room against the pod itself; NULL: none. */
    const struct reservation *own;
    struct quota_view *quota; /* what quotas leave to the pod; NULL: none limits it */
};

/* The pod's question, with what quotas leave to a pod of that namespace, shape and own reservation,
 * and without what is promised to others (quota_promise(), which says what now_ms is). In the
 * arena; valid while the cluster does not change, but by quota_place(). */
struct fit_question fit_question_of(const struct cluster *cluster, const char *namespace_,
                                    const struct fit_question *wanted, int64_t now_ms,
                                    struct arena *arena);

/* node NULL: REASON_NODE_UNKNOWN (of a pod that is refused: REASON_POD_INVALID). Of several
 * reasons, the first in the order of the enum. */
enum reason fit_judge(const struct node *node, const struct fit_question *question);

/* A model that was judged, quotas included: many nodes have the same. */
struct known_model {
    const char *model_word; /* struct node_traits; NULL: none is known here */
    enum reason verdict;
};
#define N_KNOWN_MODELS 32

/* One question, asked about node after node by one thread. What is known of models is kept here,
 * and not in the question, which others copy and change. While it lasts, neither the ledger nor the
 * question changes, nor what quotas leave. */
struct fit_round {
    const struct fit_question *question;
    struct known_model known[N_KNOWN_MODELS]; /* zeros, at its beginning */
};

/* As fit_judge(), and faster where many nodes are asked about. */
enum reason fit_judge_next(struct fit_round *round, const struct node *node);

/* The first of the pod's needs that the node gives by a claim (node_gives_by_claim()): it is not
 * judged, and a node that fits fits by all else. NULL: none is. */
const struct need *fit_by_claim(const struct node *node, const struct pod_shape *shape);

/* How many more such pods fit on the node, all else being as it is; 0 where none does, or where
 * something comes by a claim: what nobody has counted is not promised. By FIT_ALL
 * there is always an end, as every pod needs one of "pods"; by FIT_OURS only GPUs are counted, and
 * of pods that need none there fit INT64_MAX. */
int64_t fit_count(const struct node *node, const struct fit_question *question);

/* How much of the resource the node has for the one who asks, without what is used, and what is
 * kept for others; may be negative. INT64_MAX where it comes by a claim. */
int64_t fit_left(const struct node *node, const struct fit_question *question,
                 const struct resource *resource);

/* How much of the need is missing on the node for the one who asks; 0 if nothing. If enough is
 * free but part of it is kept for others, by how much the rest falls short. */
int64_t fit_lack(const struct node *node, const struct fit_question *question,
                 const struct need *need);

/* What is said where too little of the resource is free. */
enum reason reason_of_lack(const struct resource *resource);
/* The verdict must be fit_judge()'s of this question, as both name the quota that refuses. The
 * strings live as long as the policy. */
const char *fit_message(const struct node *node, const struct fit_question *question,
                        enum reason verdict);
const char *fit_text(const struct node *node, const struct fit_question *question,
                     enum reason verdict);

#endif
