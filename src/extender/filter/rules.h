/*
 * rules: what filter answers when no node fits. Private to extender.
 *
 * A refusal is believed: kube-scheduler may evict pods for the pod, and asks again only after an
 * event, or after five minutes. By an Error it evicts nobody and tries again in seconds, but it
 * clears the pod's nomination (clearNominatedNode in pkg/scheduler/schedule_one.go), writes the
 * pod's status and counts an error. A call that waits holds up all scheduling. Which of the three
 * it is, is one table, in rules.c.
 */
#ifndef EXTENDER_FILTER_RULES_H
#define EXTENDER_FILTER_RULES_H

#include "decide/fit.h"
#include "extender/args.h"
#include "extender/extender.h"

/* Why no node fits: of all nodes that were judged, the strongest hint that our ledger, and not
 * kube-scheduler, is mistaken. The later ones are stronger. */
enum cause {
    CAUSE_OURS,    /* nothing that kube-scheduler knows */
    CAUSE_LAG,     /* what a late watch may explain: a quota, an unknown node, a node's model */
    CAUSE_KEPT,    /* gpu_nominated */
    CAUSE_CLAIMED, /* quota_claimed */
    CAUSE_FREE,    /* gpu_free */
    CAUSE_QUOTA_ENDING, /* on the pod's nominated node, the quota counts pods that end there */
    CAUSE_NAMESPACE,    /* the pod's namespace is unknown, and quotas select by label */
    CAUSE_FITS,         /* a node does */
    N_CAUSES
};

/* The pod's nomination: its node is the one that kube-scheduler evicted pods from for it. */
enum pod_state {
    POD_NONE,    /* the pod has none */
    POD_OPEN,    /* its node is offered, and lag may explain why we would reject it */
    POD_SHUT,    /* its node is offered, and rejected for another reason */
    POD_VICTIMS, /* its victims still end on its node, which cannot be had until then */
    POD_AWAY,    /* its node is not offered, and nothing ends there */
    N_POD_STATES
};

/* The findings about a call; strings in the arena or of the request. */
struct rule_case {
    enum cause cause;
    enum pod_state state;
    const char *watched;                /* the node to wait for; NULL: none */
    const char *nominee, *nominee_node; /* of CAUSE_KEPT: whose nomination keeps the GPUs */
};

/* What was judged: the nodes of the names, in their order, NULL where unknown. */
struct rule_input {
    const struct cluster *cluster;
    const struct args *args;
    const struct fit_question *question;
    const struct node *const *nodes;
    const enum reason *verdicts;
    int64_t now_ms;
};

/* Under the inventory's lock. */
struct rule_case rules_case_of(const struct rule_input *input, struct arena *arena);
/* Whether waiting for the node may still help; the case is that of the call. The same lock. */
bool rules_may_pass(const struct rule_case *found, const struct cluster *cluster,
                    const struct fit_question *question, struct arena *arena);

struct ruling {
    bool waits;       /* the call, if it may; error is what follows then, or at once */
    enum retry error; /* RETRY_NONE: what was judged */
};

/* Spends the budgets. ledger_version: the one that was judged by. */
struct ruling rules_apply(const struct extender *extender, const struct args *args,
                          const struct rule_case *found, uint64_t ledger_version, int64_t now_ms);
/* After the wait that `first` allowed, for what is found now. Spends nothing a second time. */
enum retry rules_apply_after_wait(const struct extender *extender, const struct args *args,
                                  const struct rule_case *first, const struct rule_case *found,
                                  int64_t now_ms);

/* The Error; in the arena, or it lives for ever. NULL of RETRY_NONE. */
const char *rules_text(enum retry retry, const struct decision *found, struct arena *arena);
/* How often each was answered. */
void rules_metrics(const struct extender *extender, struct buf *out);

#endif
