/*
 * extender: the kube-scheduler extender protocol: filter, prioritize, preempt,
 * bind.
 *
 * Source: k8s.io/kube-scheduler/extender/v1. Every handler decodes, decides under the lock, and
 * encodes after it. Filter may claim a pod's share of its quotas (ledger/claims.h) and spends the
 * budgets of Errors and waits; prioritize and preempt change nothing. Answers to the scheduler are
 * always HTTP 200 where it reads the body; what is refused how is in docs/openapi.yaml.
 */
#ifndef EXTENDER_EXTENDER_H
#define EXTENDER_EXTENDER_H

#include "base/buf.h"
#include "base/metrics.h"
#include "extender/binds.h"
#include "extender/budgets.h"
#include "extender/waits.h"
#include "http/exchange.h"
#include "inventory/inventory.h"
#include "record/decisions.h"
#include "types/policy.h"

/* What became of a call of a verb. */
enum verb_result {
    VERB_OK,        /* filter, preempt: a node is left; prioritize: scores; bind: it is bound */
    VERB_NONE,      /* none is left; no scores; it is not bound */
    VERB_RETRY,     /* filter: to be asked again, as the ledger is behind kube-scheduler */
    VERB_UNUSABLE,  /* the data do not allow a decision: see inventory_usable() */
    VERB_MALFORMED, /* the request */
    N_VERB_RESULTS
};

/* Why filter has kube-scheduler ask again, by an Error, though there is no fault. A new one is its
 * rows in src/extender/filter/rules.c, too. */
enum retry {
    RETRY_NONE,      /* what was found is answered */
    RETRY_BEHIND,    /* kube-scheduler knows of GPUs that are free, and the ledger does not */
    RETRY_KEPT,      /* they are free, and kept for a pod of which kube-scheduler does not know */
    RETRY_REPEAT,    /* the same question again: the ledger may be late */
    RETRY_CLAIMED,   /* other pods are about to use the rest of the quota: ledger/claims.h */
    RETRY_NAMESPACE, /* the watch has not shown the pod's namespace, and quotas select by label */
    N_RETRIES
};

struct extender {
    const struct policy *policy;
    struct inventory *inventory;
    struct binds *binds;         /* NULL: over a file */
    struct waits *waits;         /* NULL: no call waits, as over a file */
    struct budgets *budgets;     /* NULL: none but RETRY_BEHIND is answered */
    struct decisions *decisions; /* where answers are put on record; NULL: nowhere */
    int64_t quota_claim_ms;      /* how long a claim on quotas lasts; 0: none is made */
    size_t shortlist;            /* nodes that filter hands on at the most; 0: all that fit */
    struct counter n_retries[N_RETRIES];             /* filters answered so; over a file none is */
    struct counter n_waits_helped, n_waits_in_vain;  /* filters that waited (waits.h) */
    struct counter n_preempt_kept, n_preempt_vetoed; /* candidates */
    struct counter n_verdicts[N_REASONS];            /* of filter, a node each */
    struct counter n_results[N_DECISION_VERBS][N_VERB_RESULTS];
};

/* Routes; context is the struct extender. Filter may answer later, from another thread: waits.h. */
void extender_filter(void *context, struct exchange *exchange);
void extender_prioritize(void *context, struct exchange *exchange);
/* A veto: each node where the pod would fit once kube-scheduler's victims are gone comes back with
 * them, unchanged; the others are left out. */
void extender_preempt(void *context, struct exchange *exchange);
/* Answers when it is known, from another thread. Over a file: an Error that says that there is no
 * API server to bind through. */
void extender_bind(void *context, struct exchange *exchange);

/* Prometheus text of what these routes count; over a file only what became of each call. */
void extender_metrics(const struct extender *extender, struct buf *out);

#endif
