/*
 * fit: can this pod run on this node? Yes, or one reason from a closed list.
 *
 * "Does not fit" is a result, never an error. The messages are constant, as kube-scheduler wakes a
 * pod whose message changes (PROTOCOL 6.2).
 */
#ifndef DECIDE_FIT_H
#define DECIDE_FIT_H

#include "ledger/nominate.h"
#include "types/reason.h"

/* FIT_OURS: on the wire, only what this extender adds, as kube-scheduler's filters have judged the
 * rest with fresher data. FIT_ALL: for users, all that the ledger knows. */
enum fit_scope { FIT_OURS, FIT_ALL };

struct peer_pod;     /* decide/peer_rules.h */
struct peer_rules;   /* decide/peer_rules.h */
struct reservation;  /* ledger/reservation.h */
struct quota_view;   /* decide/quota.h */
struct asked_claims; /* ledger/asked_claims.h */
struct claim_rules;  /* decide/claim_rules.h */
struct gang_hold;    /* ledger/gangs.h */

struct fit_question {
    const struct pod_shape *shape;
    const char *refusal;   /* the pod is invalid and fits nowhere; NULL: valid */
    const char *node_name; /* spec.nodeName: allows no other node; NULL or "": any. FIT_ALL only */
    enum fit_scope scope;
    struct asker asker;               /* nominated pods keep room from it */
    const char *claims;               /* as in pod_facts: quotas count them, too */
    const struct asked_claims *asked; /* of these claims, for a fork: asked_claims_for_fork() */
    const char *group;                /* as in pod_facts */
    const char *gang;                 /* the same; NULL: no plan of a group restricts it */
    bool binds;                       /* the pod is about to be bound */
    /* fit_question_of(): its PodGroup is known, so kube-scheduler places it with others, on a state
     * that only it knows. */
    bool in_group;
    const struct gang_hold *hold; /* of the gang, by fit_question_of(); NULL: as any other pod */
    const char *replica_of;       /* as in pod_facts: its best node depends on the other replicas */
    /* The amounts that victims would free on the judged node (decide/preempt.h); each resource
     * once. */
    const struct need *freed;
    size_t n_freed;
    /* The pod's own reservation, whose room the pod may use; NULL: none. */
    const struct reservation *own;
    struct quota_view *quota; /* remaining quota of the pod; NULL: no quota limits it */
    /* The rules of the pods on nodes for this pod; NULL: they restrict nothing, or are not judged.
     * FIT_ALL only, as kube-scheduler has judged them. */
    struct peer_rules *peers;
    const struct peer_pod *peer; /* the pod as others see it, once placed; NULL: not counted */
    /* The devices of its claims; NULL: it has no claims, or they are not judged. FIT_ALL only. */
    struct claim_rules *devices;
    /* Only of decide/what_if.h, which places the pods in these domains: of a level, by id. NULL:
     * anywhere. */
    const bool *domains;
    size_t level;
};

/* Completes `wanted` with the remaining quota for the namespace, shape and own reservation, without
 * what is promised to others (now_ms: quota_promise()). In the arena; valid until the cluster
 * changes, except by quota_place(). */
struct fit_question fit_question_of(const struct cluster *cluster, const char *namespace_,
                                    const struct fit_question *wanted, int64_t now_ms,
                                    struct arena *arena);

/* node NULL: REASON_NODE_UNKNOWN, or REASON_POD_INVALID for an invalid pod. Of several reasons,
 * returns the first in the order of the enum. */
enum reason fit_judge(const struct node *node, const struct fit_question *question);

/* A node's GPUs of the one resource that the pod needs: none, fewer than needed, too few free ones,
 * or enough. */
enum gpu_room { GPU_ROOM_NONE, GPU_ROOM_SMALL, GPU_ROOM_TAKEN, GPU_ROOM_FREE, N_GPU_ROOMS };

/* The cached verdicts of a model, including quotas, which nearly all of its nodes share. */
struct known_model {
    const char *model_word; /* as in struct node_traits; NULL: an empty entry */
    enum reason verdicts[N_GPU_ROOMS];
    bool is_known[N_GPU_ROOMS];
};
#define N_KNOWN_MODELS 32

/* One question about many nodes, from one thread. Caches verdicts of models apart from the
 * question, which callers copy and change. Meanwhile the ledger, the question and the remaining
 * quota must not change. */
struct fit_round {
    const struct fit_question *question;
    const struct need *gpus; /* the only need for GPUs; NULL: a verdict depends on more than it */
    struct known_model known[N_KNOWN_MODELS];
};
struct node_hot;
struct fit_round fit_round_of(const struct fit_question *question);

/* Whether its verdict holds for all nodes whose hot parts are alike. */
bool fit_is_by_hot(const struct fit_round *round, const struct node_hot *hot);
/* Like fit_judge(), but faster for many nodes. */
enum reason fit_judge_next(struct fit_round *round, const struct node *node);

/* Returns the first need that the node satisfies by a resource claim (node_gives_by_claim()). Such
 * a need is not judged. NULL: none. */
const struct need *fit_by_claim(const struct node *node, const struct pod_shape *shape);

/* How many more such pods have room on the node now, if peers allow one; 0 if none, or if a need
 * comes by a claim, as free devices are unknown. FIT_ALL always has a bound, as every pod needs one
 * of "pods". FIT_OURS counts only GPUs: INT64_MAX for pods that need none. */
int64_t fit_count(const struct node *node, const struct fit_question *question);

/* The amount of the resource that the node has left for the asker, less use and nominations; may be
 * negative. INT64_MAX if it comes by a claim. */
int64_t fit_left(const struct node *node, const struct fit_question *question,
                 const struct resource *resource);

/* How much of the need the node lacks for the asker; 0 if nothing. If enough is free but part of it
 * is kept for others, the amount by which the rest falls short. */
int64_t fit_lack(const struct node *node, const struct fit_question *question,
                 const struct need *need);

/* The reason if too little of the resource is free. */
enum reason reason_of_lack(const struct resource *resource);
/* verdict: of fit_judge() for this question, as REASON_QUOTA names the rejecting quota. The strings
 * live as long as the policy. */
const char *fit_message(const struct node *node, const struct fit_question *question,
                        enum reason verdict);
const char *fit_text(const struct node *node, const struct fit_question *question,
                     enum reason verdict);

/* ---- near miss ---- */
/* Nodes that a pod would fit but for one reason.  Judges the question again without the cause of
 * that reason, so it always agrees with decide/fit.h. */

/* One question, in a variant for each reason. */
struct near_miss;

/* In the arena; borrows the question. */
struct near_miss *near_miss_of(const struct fit_question *question, struct arena *arena);
/* Whether the pod, rejected for that reason (fit_judge()), would fit the node without it. For lack
 * of room: with more of the missing resource. Always false for causes that cannot be changed:
 * another spec.nodeName, an invalid object. */
bool near_miss_is(const struct near_miss *near_miss, const struct node *node, enum reason reason);

#endif
