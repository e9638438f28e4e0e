/*
 * met_budgets: the PodDisruptionBudgets that a drain would meet, and what the eviction API of
 * Kubernetes would say to it now. Private to api.
 *
 * Source: pkg/registry/core/pod/storage/eviction.go. A pending or terminating pod is evicted
 * without a look at budgets. A pod with several budgets is never evicted. One that is not ready is
 * evicted if its budget has the policy AlwaysAllow, or has as many healthy pods as it needs. Any
 * other pod uses one of status.disruptionsAllowed.
 */
#ifndef API_WHAT_IF_MET_BUDGETS_H
#define API_WHAT_IF_MET_BUDGETS_H

#include "base/arena.h"
#include "ledger/cluster.h"

#include <jansson.h>
#include <stdbool.h>

struct met_budgets;
struct budget_match;

struct met_eviction {
    const char *names;                /* of the budgets that the pod meets, as text; NULL: none */
    const struct budget_match *match; /* the rest is private */
    bool was_ready, is_judged;
};

/* Over the ledger's budgets, which must outlive the result and may not change. Release with
 * met_budgets_free(). */
struct met_budgets *met_budgets_new(const struct cluster *ledger, struct arena *arena);
void met_budgets_free(struct met_budgets *budgets);
/* A pod that is evicted from its node. */
struct met_eviction met_budgets_evict(struct met_budgets *budgets, const struct pod *pod);
/* The pod is not evicted after all. */
void met_budgets_spare(struct met_budgets *budgets, const struct met_eviction *eviction);
/* A budget, "namespace/name", that could not be read, and why. Texts are copied. */
void met_budgets_add_unread(struct met_budgets *budgets, const char *name, const char *why);
/* {checked, met: [MetBudget], omitted, notJudged: [{namespace, name, reason}]}; why: the ledger may
 * lack budgets; NULL: it has all. */
json_t *met_budgets_json(const struct met_budgets *budgets, const char *why);

#endif
