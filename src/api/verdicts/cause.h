/*
 * cause: which of the many reasons on the nodes decides why a pod fits nowhere. Private to api.
 */
#ifndef API_VERDICTS_CAUSE_H
#define API_VERDICTS_CAUSE_H

#include "api/verdicts/candidates.h"

/* In the order in which they decide: amounts before rules, rules before the pod's own wishes. */
enum verdict_cause {
    CAUSE_NONE,
    CAUSE_REQUEST, /* the request itself is at fault */
    CAUSE_GATE,
    CAUSE_MISSING, /* there is no such namespace or claim */
    CAUSE_NAME,    /* of a resource, a model or a label that no node has */
    CAUSE_QUOTA,
    CAUSE_FREE_GPUS,
    CAUSE_KEPT_GPUS, /* for a nominated pod */
    CAUSE_RESOURCES, /* any but GPUs */
    CAUSE_TOTAL,
    CAUSE_CLOSED, /* the node is cordoned or not ready */
    CAUSE_TAINT,
    CAUSE_PODS, /* affinity between pods, topology spread */
    CAUSE_MODEL,
    CAUSE_LABEL,
    CAUSE_SHARED,
    CAUSE_CLAIMS,
    CAUSE_SCHEDULER, /* it fits, and waits for kube-scheduler */
    CAUSE_GROUP,     /* the pod's group decides: api/pods/group_text.h */
    CAUSE_LIMIT,     /* it is not judged */
    N_CAUSES
};

/* "freeGpus": for answers; "" for CAUSE_NONE. */
const char *cause_name(enum verdict_cause cause);
/* The cause on a node that rejects the pod for this reason. */
enum verdict_cause cause_of_reason(enum reason reason, const struct node *node,
                                   const struct shape_facts *facts);
struct decisive_cause {
    enum verdict_cause cause;
    enum reason reason;
    const struct node *node; /* the nearest; NULL: there are no nodes */
    bool is_alone;           /* the node would fit but for this cause */
    bool lacks_amounts;      /* it would fit but for several amounts */
    size_t n, n_of;          /* neither: so many of the nodes that have the resource */
};

/* The candidates are judged by the question, and none fits. The first of: a node that would fit but
 * for one thing, in the order of enum verdict_cause; a node that lacks amounts only; the cause on
 * most of the nodes that have the resource. Of several nodes, the one that lacks the least. */
struct decisive_cause cause_find(const struct candidates *candidates,
                                 const struct fit_question *question);
/* The question of a pod that needs nothing and that no quota limits: a node fits if it could, were
 * it empty and large enough. It points to *ret_shape. */
struct fit_question cause_without_room(const struct fit_question *question,
                                       struct pod_shape *ret_shape);

#endif
