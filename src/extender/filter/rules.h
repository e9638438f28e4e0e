/*
 * rules: the answer of filter if no node fits. Private to extender.
 *
 * Filter then rejects the pod, answers with an Error, or delays its answer. After a rejection,
 * kube-scheduler may evict other pods for this pod, and retries only after an event or five minutes
 * (PROTOCOL 6.1). After an Error it evicts no pod and retries within seconds (6.3), but it clears
 * the pod's nomination (6.4), writes the pod's status and counts an error. A delayed answer delays
 * all scheduling (2.7). One table in rules.c selects among these three.
 */
#ifndef EXTENDER_FILTER_RULES_H
#define EXTENDER_FILTER_RULES_H

#include "decide/fit.h"
#include "extender/args.h"
#include "extender/extender.h"

/* Why no node fits: the strongest cause among those of all judged nodes. A stronger cause hints
 * more clearly that our ledger is wrong and kube-scheduler is right. Later ones are stronger.
 * Exception: CAUSE_QUOTA_ENDING comes from the nominated node alone and replaces any other. */
enum cause {
    CAUSE_OURS,         /* kube-scheduler does not know the reason */
    CAUSE_LAG,          /* a late watch may explain it: quota, unknown or lately changed node */
    CAUSE_KEPT,         /* gpu_nominated */
    CAUSE_CLAIMED,      /* quota_claimed */
    CAUSE_FREE,         /* gpu_free */
    CAUSE_QUOTA_ENDING, /* on the pod's nominated node the quota counts terminating pods */
    CAUSE_GROUP,        /* a quota, for a pod of a group that a rejection brings back at once */
    CAUSE_GANGS,        /* too many pods of groups wait */
    CAUSE_NAMESPACE,    /* the namespace is unknown, and quotas select by label */
    CAUSE_FITS,         /* some node fits */
    N_CAUSES
};

/* State of the pod's nomination. "The node" is the nominated one, on which kube-scheduler evicted
 * pods (victims) for this pod. It is "offered" if the call names it. */
enum pod_state {
    POD_NONE,    /* no nomination */
    POD_OPEN,    /* node offered; lag may explain our rejection */
    POD_SHUT,    /* node offered; rejected for another reason */
    POD_VICTIMS, /* victims still terminate on the node; it is unusable until they end */
    POD_AWAY,    /* node not offered, and no victim terminates there */
    N_POD_STATES
};

/* Findings about one call; strings in the arena or of the request. */
struct rule_case {
    enum cause cause;
    enum pod_state state;
    const char *watched;                /* the node to wait for; NULL: none */
    const char *nominee, *nominee_node; /* of CAUSE_KEPT: the nomination that keeps the GPUs */
};

/* nodes and verdicts are in the order of args->names. A node is NULL if it is unknown. */
struct rule_input {
    const struct cluster *cluster;
    const struct args *args;
    const struct fit_question *question;
    const struct node *const *nodes;
    const enum reason *verdicts;
    int64_t now_ms;
    bool groups_loop; /* kube-scheduler asks again without a pause for a group that is rejected */
};

/* Under the inventory's lock. */
struct rule_case rules_case_of(const struct rule_input *input, struct arena *arena);
/* Whether waiting for the node may still help. Under the inventory's lock. */
bool rules_may_pass(const struct rule_case *found, const struct cluster *cluster,
                    const struct fit_question *question, struct arena *arena);

struct ruling {
    bool waits;       /* wait, then rules_apply_after_wait(); if no wait is possible, error */
    enum retry error; /* RETRY_NONE: answer the rejections */
};

/* Spends the budgets. ledger_version: of the judged ledger. */
struct ruling rules_apply(const struct extender *extender, const struct args *args,
                          const struct rule_case *found, uint64_t ledger_version, int64_t now_ms);
/* After the wait that `first` allowed; `found` is the new finding. Spends nothing twice. */
enum retry rules_apply_after_wait(const struct extender *extender, const struct args *args,
                                  const struct rule_case *first, const struct rule_case *found,
                                  int64_t now_ms);

/* Whether filter would retry or wait rather than reject, whatever the budgets allow. Not the first
 * time that lag is only possible. */
bool rules_would_retry(const struct rule_case *found);

/* Text of the Error, in the arena or static. NULL for RETRY_NONE. */
const char *rules_text(enum retry retry, const struct decision *found, struct arena *arena);
/* One counter per Error. */
void rules_metrics(const struct extender *extender, struct buf *out);

#endif
