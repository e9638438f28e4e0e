/*
 * gangs: groups of pods of which none is bound before there is room for all: those of the
 * annotations gpu-extender.io/gang and gpu-extender.io/gang-size, or of the policy's
 * gangs.conventions.
 *
 * A group's state is a function of what the ledger shows: members that are bound, members that can
 * be scheduled and are not, and the greatest size that a member names. A member has neither ended
 * nor is being deleted. It is bound once it is on a node or has a reservation.
 *
 * A plan keeps a place for a member: room on a node, as if the pod were nominated there
 * (ledger/nominate.h). It ends with the pod, and counts as use once the pod is bound.
 */
#ifndef LEDGER_GANGS_H
#define LEDGER_GANGS_H

#include "ledger/nominate.h"
#include "ledger/pod_groups.h"
#include "types/reason.h"

enum gang_state {
    GANG_FORMING, /* some members do not exist yet */
    GANG_WAITING, /* complete, without a plan */
    GANG_PLANNED,
    GANG_PARTIAL, /* some are bound, and the others exist */
    GANG_RUNNING, /* all are bound, or some have ended: each pod is on its own */
    N_GANG_STATES
};

/* How the verbs treat members that have no place. */
enum gang_treatment {
    GANG_BY_STATE, /* they wait */
    GANG_ORDINARY, /* as other pods: the group was incomplete for too long */
    GANG_BEYOND,   /* filter answers with an Error, so that kube-scheduler's queue stays small */
};

struct gang {
    size_t size;
    size_t n_bound, n_placed; /* of the bound ones, those that are on a node */
    size_t n_unbound;
    size_t n_planned; /* of the unbound ones, those that have a place */
    enum gang_treatment treatment;
};

enum gang_state gang_state_of(const struct gang *gang);
/* "forming" */
const char *gang_state_name(enum gang_state state);
/* So many places a plan needs. */
size_t gang_n_missing(const struct gang *gang);

/* Zeros: there is none. Always so in a fork. name NULL: no group. */
struct gang gangs_find(const struct cluster *cluster, const char *namespace_, const char *name);
/* Iterates over the groups by their keys, "namespace/name": NULL to NULL. */
const char *gangs_next(const struct cluster *cluster, const char *key, struct gang *ret_gang);
size_t gangs_count(const struct cluster *cluster);
/* Iterates over the members that can be scheduled and are not bound, in the order in which they
 * began to be: NULL to NULL. */
const struct pod *gangs_next_unbound(const struct cluster *cluster, const char *key,
                                     const struct pod *pod);

/* The node of a bound member; NULL: none is bound. */
const struct node *gangs_bound_node(const struct cluster *cluster, const char *key);

/* Keeps a place for the pod on the node; NULL: no more. Without such a member nothing happens.
 * kind: the pods of the group for which the place is as good, 1 and more; 0: none. */
void gangs_place(struct cluster *cluster, const char *uid, const char *node_name, size_t kind);
/* Gives up all places of the group. */
void gangs_drop(struct cluster *cluster, const char *key);
/* Whether the places of a group that requires one domain are in one, with its bound pods: the
 * labels of nodes may change. */
bool gangs_keep_to_domain(const struct cluster *cluster, const char *key);
void gangs_treat(struct cluster *cluster, const char *key, enum gang_treatment treatment);

/* The nodes that a group allows one of its pods, or the reason why none. */
struct gang_hold {
    enum reason reason;       /* REASON_FITS: the nodes below; else no node */
    const char *const *nodes; /* of its place, and of places of pods of its kind */
    size_t n_nodes;
    const void *group; /* as in struct nomination */
    bool is_beyond;    /* GANG_BEYOND */
    /* Of a group that runs and requires one domain: all nodes of the one of its bound pods, and
     * else the pod is as any other. 0: the nodes above. */
    domain_id domain;
    size_t level;
};
/* In the arena, with its texts. NULL: the pod is as any other. Only where groups
 * are planned (policy). uid: of a pod that the ledger may not know yet. */
const struct gang_hold *gangs_hold(const struct cluster *cluster, const char *namespace_,
                                   const char *gang, const char *uid, struct arena *arena);
/* Of a pod of the ledger that is not bound: the domain that its group's bound pods fix. In the
 * arena. NULL: none. */
const struct gang_hold *gangs_domain(const struct cluster *cluster, const struct pod *pod,
                                     struct arena *arena);
/* The pod is about to be bound there, by its hold: if that is the place of another pod of its kind,
 * they change places. */
void gangs_take_place(struct cluster *cluster, const char *uid, const char *node_name);
/* Whether the first binding of the group is under way, so that the others wait for its outcome. */
bool gangs_await_first(const struct cluster *cluster, const char *namespace_, const char *gang);
/* Of a pod with a reservation: whether it is the first of its group, and the others have lost
 * places since, so that it must not be bound. */
bool gangs_lost_plan(const struct cluster *cluster, const char *namespace_, const char *gang);

#endif
