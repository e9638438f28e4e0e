/*
 * claim_rules: which nodes have the devices that the resource claims of a pod ask for.
 *
 * As kube-scheduler's plugin DynamicResources, whose allocator allocate/ follows, over a copy of
 * the cluster's devices (claims/). Placed pods take devices there. kube-scheduler evicts nobody for
 * claims. Each search is bounded, and so are all searches of an answer together: beyond that, nodes
 * are not judged. It takes milliseconds a node: never call it with the ledger's lock.
 */
#ifndef DECIDE_CLAIM_RULES_H
#define DECIDE_CLAIM_RULES_H

#include "claims/world.h"
#include "types/reason.h"

struct claim_rules;

/* A claim that pods name, of all who name it; or the claims that are made from a template. */
struct pod_claim {
    struct allocate_claim asked; /* without is_allocated and reaches_node */
    bool is_template;            /* each pod gets its own claim */
    enum reason fault;           /* why no node is judged; REASON_FITS: none */
    const char *cause;           /* of the fault, for users */
    bool is_allocated;
    struct node_selector nodes; /* of an allocation in the cluster */
    const char *placed_on;      /* the only node that reaches it, by a placed pod; NULL: none */
    size_t n_holders;           /* pods that use it */
};

/* Pods that may use a claim: resourceapi.ResourceClaimReservedForMaxSize. */
#define CLAIM_RULES_HOLDERS_MAX ((size_t)256)
/* Steps of an answer: about a second. */
#define CLAIM_RULES_STEPS_MAX UINT64_C(200000000)

/* Of pods that name these claims, in this order. Borrows all. world NULL: all are allocated.
 * steps_left: of the answer; lowered. In the arena. */
struct claim_rules *claim_rules_of(struct claims_world *world, struct pod_claim *const *claims,
                                   size_t n, uint64_t *steps_left, struct arena *arena);

/* REASON_FITS, or one of the reasons from REASON_CLAIM_MISSING on. rules NULL: fits. Remembers the
 * verdict. One thread at a time. */
enum reason claim_rules_judge(struct claim_rules *rules, const struct node *node);
/* Judges each node, so that claim_rules_judge() only looks up. */
void claim_rules_judge_all(struct claim_rules *rules, const struct cluster *cluster);
/* The cause of the last verdict of the node, for users; "": its reason says all. */
const char *claim_rules_cause(const struct claim_rules *rules, const struct node *node);
/* The cause that keeps the pod off all nodes, for users; "": there is none. */
const char *claim_rules_fault(const struct claim_rules *rules);
/* A further such pod runs on the node, if its devices are free there. */
void claim_rules_place(struct claim_rules *rules, const struct node *node);
/* The verdict of the node is REASON_CLAIM_ERROR, and the pod passed all that kube-scheduler asks
 * before: it gives up the pod, so no node fits any more. */
void claim_rules_abort(struct claim_rules *rules, const struct node *node);
/* Whether a node was not judged because too much work was done. */
bool claim_rules_are_cut(const struct claim_rules *rules);

/* For a trial: a copy that pods are placed by, while the origin is not used. It spends at most a
 * quarter of the steps left. claim_rules_end_trial() gives back the devices. NULL: NULL. */
struct claim_rules *claim_rules_try(struct claim_rules *rules, struct arena *arena);
void claim_rules_end_trial(struct claim_rules *trial);

#endif
