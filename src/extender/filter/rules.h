/*
 * rules: the answer of filter if no node fits. Private to extender.
 *
 * kube-scheduler acts on a rejection: it may evict pods for the pod, and retries only after an
 * event or five minutes (PROTOCOL 6.1). After an Error it evicts no pod and retries within seconds
 * (6.3). But it then clears the pod's nomination (6.4), writes the pod's status and counts an
 * error. A waiting call delays all scheduling (2.7). One table in rules.c selects among the three.
 */
#ifndef EXTENDER_FILTER_RULES_H
#define EXTENDER_FILTER_RULES_H

#include "decide/fit.h"
#include "extender/args.h"
#include "extender/extender.h"

/* Why no node fits: over all judged nodes, the strongest hint that our ledger is wrong rather than
 * kube-scheduler. Later ones are stronger. */
enum cause {
    CAUSE_OURS,         /* kube-scheduler does not know the reason */
    CAUSE_LAG,          /* a late watch may explain it: quota, unknown node, model */
    CAUSE_KEPT,         /* gpu_nominated */
    CAUSE_CLAIMED,      /* quota_claimed */
    CAUSE_FREE,         /* gpu_free */
    CAUSE_QUOTA_ENDING, /* on the pod's nominated node the quota counts terminating pods */
    CAUSE_NAMESPACE,    /* the namespace is unknown, and quotas select by label */
    CAUSE_FITS,         /* some node fits */
    N_CAUSES
};

/* State of the pod's nomination. kube-scheduler evicted pods for it on the nominated node. */
enum pod_state {
    POD_NONE,    /* no nomination */
    POD_OPEN,    /* node offered; lag may explain our rejection */
    POD_SHUT,    /* node offered; rejected for another reason */
    POD_VICTIMS, /* victims still terminate on the node; unusable until then */
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

/* The judged nodes in the order of their names; NULL where unknown. */
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
/* Whether waiting for the node may still help. Under the inventory's lock. */
bool rules_may_pass(const struct rule_case *found, const struct cluster *cluster,
                    const struct fit_question *question, struct arena *arena);

struct ruling {
    bool waits;       /* wait if possible; error applies afterwards, or at once */
    enum retry error; /* RETRY_NONE: answer the rejections */
};

/* Spends the budgets. ledger_version: of the judged ledger. */
struct ruling rules_apply(const struct extender *extender, const struct args *args,
                          const struct rule_case *found, uint64_t ledger_version, int64_t now_ms);
/* After the wait that `first` allowed; `found` is the new finding. Spends nothing twice. */
enum retry rules_apply_after_wait(const struct extender *extender, const struct args *args,
                                  const struct rule_case *first, const struct rule_case *found,
                                  int64_t now_ms);

/* Text of the Error, in the arena or static. NULL for RETRY_NONE. */
const char *rules_text(enum retry retry, const struct decision *found, struct arena *arena);
/* One counter per Error. */
void rules_metrics(const struct extender *extender, struct buf *out);

#endif
