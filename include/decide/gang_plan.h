/*
 * gang_plan: a place for each member that a group (ledger/gangs.h) lacks: chosen on a fork, by the
 * rules of a dry run; then kept in the ledger, if all places are still there.
 */
#ifndef DECIDE_GANG_PLAN_H
#define DECIDE_GANG_PLAN_H

#include "decide/peer_rules.h"
#include "ledger/gangs.h"

struct gang_member {
    const char *uid, *namespace_;
    struct asker asker;
    const struct pod_shape *like; /* of the ledger, only to be compared */
    const struct shape_facts *shape;
    struct peer_pod peer;
    const struct peer_facts *terms_like; /* of the ledger, only to be compared */
    uint64_t labels_like;                /* a hash of the labels that selectors ask for */
    int64_t rank;                        /* by completion index, then by age */
    size_t kind;
    int64_t gpus;
    const char *node; /* its place; NULL: not chosen yet */
};

struct gang_plan {
    const char *key;
    int64_t priority; /* the highest of the members */
    struct gang_member *members;
    size_t n;
    bool has_terms;       /* the fork must have all peers */
    const char *obstacle; /* why it can never be planned; NULL: it can */
    const char *domain;   /* as in pod_facts: of the oldest member that has one, or the policy's */
    const char *bound_node; /* of a member that is bound; NULL: none is */
    /* Domains with room for each of its members that gang_plan_choose() has tried in vain: it may
     * be called again, with a new fork, at most GANG_TRIES_MAX times. */
    size_t n_tried;
    bool has_more;     /* it may help */
    size_t n_fit;      /* so many members have a place, and */
    const char *lacks; /* what the next one lacks: "lacks 8 H100"; of n_fit == n: all of them
                          together: "no rack has 72 free GPUs"; NULL: nothing */
    size_t n_avoided;
    const char *avoided; /* the first of them */
};
#define GANG_TRIES_MAX ((size_t)4)
/* Pods of one shape, priority and so on are judged together, once a node. Planning keeps bindings
 * waiting, so a group of more kinds is not planned. */
#define GANG_KINDS_MAX ((size_t)64)
/* Of an attempt: nodes that are judged for a kind, in all tries. So a large cluster allows fewer
 * kinds, and fewer tries. */
#define GANG_JUDGED_MAX ((size_t)400000)

/* The members that need a place: the unbound ones that are first by completion index, then the
 * oldest, as many as the group lacks; those that need most GPUs first. All in the arena. Under the
 * ledger's lock. */
struct gang_plan gang_plan_members(const struct cluster *cluster, const char *key,
                                   struct arena *arena);

enum gang_choice { GANG_CHOSEN, GANG_NO_ROOM, GANG_NEVER_FITS };
/* Chooses a node for each member, and uses the room on the fork: in one domain or in few, if the
 * group asks for that. avoids: nodes that must not be used. */
enum gang_choice gang_plan_choose(struct cluster *fork, struct gang_plan *plan,
                                  bool (*avoids)(const void *context, const char *node),
                                  const void *context, struct arena *arena);

struct gang_model {
    const char *model; /* as in struct node_traits */
    int64_t gpus;      /* of the plan's places */
    int64_t total;     /* of all nodes of the model */
};
/* By model. Returns their number. In the arena. */
size_t gang_plan_models(const struct cluster *fork, const struct gang_plan *plan,
                        struct arena *arena, struct gang_model **ret_models);

/* Keeps the places, if the group still needs them and each is still free, under quotas for all.
 * Else keeps none. Needs the write lock. */
bool gang_plan_keep(struct cluster *cluster, const struct gang_plan *plan, int64_t now_ms);
/* Whether all places that the group keeps still have room. */
bool gang_plan_holds(const struct cluster *cluster, const char *key, int64_t now_ms);

#endif
