/*
 * extender: the kube-scheduler extender protocol: filter, prioritize, preempt, bind.
 *
 * Source: PROTOCOL 1.1 to 2.7. Every handler decodes, decides under the inventory's
 * lock, and encodes after it. Filter may claim a pod's share of its quotas (ledger/claims.h) and
 * spends budgets; prioritize and preempt change nothing. kube-scheduler gets HTTP 200 wherever it
 * reads the body; docs/openapi.yaml lists the errors.
 */
#ifndef EXTENDER_EXTENDER_H
#define EXTENDER_EXTENDER_H

#include "base/buf.h"
#include "base/metrics.h"
#include "extender/binds.h"
#include "extender/budgets.h"
#include "extender/gang_plans.h"
#include "extender/waits.h"
#include "extender/wake.h"
#include "http/exchange.h"
#include "inventory/inventory.h"
#include "record/decisions.h"
#include "record/observed.h"
#include "types/policy.h"

/* The result of a call of a verb. */
enum verb_result {
    VERB_OK,        /* filter, preempt: a node is left; prioritize: scores; bind: bound */
    VERB_NONE,      /* no node is left; no scores; not bound */
    VERB_RETRY,     /* filter: retry, as the ledger is behind kube-scheduler */
    VERB_UNUSABLE,  /* the data allow no decision: inventory_usable() */
    VERB_MALFORMED, /* the request is invalid */
    N_VERB_RESULTS
};

/* Why filter returns an Error without a fault, so that kube-scheduler retries. A new value needs
 * rows in src/extender/filter/rules.c. */
enum retry {
    RETRY_NONE,    /* the verdicts are returned */
    RETRY_BEHIND,  /* kube-scheduler knows of free GPUs, the ledger does not */
    RETRY_KEPT,    /* free GPUs are kept for a pod whose nomination kube-scheduler does not know */
    RETRY_REPEAT,  /* the same question again: the ledger may be late */
    RETRY_CLAIMED, /* other pods have claimed the rest of the quota: ledger/claims.h */
    RETRY_GROUP, /* a quota leaves too little for a group, which a rejection brings back at once */
    RETRY_GANGS, /* too many pods of groups wait (ledger/gangs.h) */
    RETRY_NAMESPACE, /* quotas select by label, and the watch has not shown the pod's namespace */
    N_RETRIES
};

struct extender {
    struct inventory *inventory;         /* and the policy in force */
    struct binds *binds;                 /* NULL: over a file */
    struct waits *waits;                 /* NULL: no call waits, as over a file */
    struct budgets *budgets;             /* NULL: only RETRY_BEHIND and RETRY_NAMESPACE occur */
    struct gang_plans *gang_plans;       /* NULL: groups are not planned, as over a file */
    struct wake *wake;                   /* NULL: kube-scheduler is told nothing */
    struct decisions *decisions;         /* records answers; NULL: none are recorded */
    struct observed *observed;           /* records what observed pods are spared; NULL: nothing */
    struct counter n_retries[N_RETRIES]; /* filters answered so; none over a file */
    struct counter n_waits_helped, n_waits_in_vain;  /* filters that waited (waits.h) */
    struct counter n_preempt_kept, n_preempt_vetoed; /* candidate nodes */
    struct counter n_preempt_dropped;                /* of the vetoed ones: preempt_untouchable() */
    struct counter n_verdicts[N_REASONS];            /* of filter, one per node */
    struct counter n_results[N_DECISION_VERBS][N_VERB_RESULTS];
};

/* Which pods are only observed: nothing of ours keeps or delays them. By mode and enforceNamespaces
 * of the policy; verbs and gates read these two nowhere else. */
enum observing { OBSERVES_NONE, OBSERVES_ALL, OBSERVES_SOME };
enum observing extender_observing(const struct extender *extender);
/* Whether the pod of this call is: all are, or enforceNamespaces does not select its namespace, as
 * far as the watch has shown (also while the data are stale). NULL: unknown, as an unseen one. The
 * first answer holds for the whole call, so a reload cannot come between the gate and the verb.
 * From any thread; takes the inventory's lock if it needs the labels. */
bool extender_observes(const struct extender *extender, struct exchange *exchange,
                       const char *namespace_);
/* For a gate that knows the answer by extender_observing(). */
void extender_note_observed(struct exchange *exchange, bool is_observed);
/* The namespace of the pod that a verb's complete request is about, in the exchange's arena. NULL:
 * the request cannot be read. */
const char *extender_namespace_of(struct exchange *exchange);

/* Routes; context is the struct extender. Filter may answer later, on another thread: waits.h. */
void extender_filter(void *context, struct exchange *exchange);
void extender_prioritize(void *context, struct exchange *exchange);
/* Judges kube-scheduler's candidates: returns each node, with its victims unchanged, where the pod
 * would fit without them, and omits the others. */
void extender_preempt(void *context, struct exchange *exchange);
/* Answers when the outcome is known, on another thread. Over a file it returns an Error, as there
 * is no API server. */
void extender_bind(void *context, struct exchange *exchange);

/* Metrics of these routes, as Prometheus text; over a file only the results of calls. */
void extender_metrics(const struct extender *extender, struct buf *out);

#endif
