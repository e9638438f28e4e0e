/*
 * remedies: what would let a whole workload fit. Each is tried before it is offered, and enough
 * alone. Private to api.
 */
#ifndef API_VERDICTS_REMEDIES_H
#define API_VERDICTS_REMEDIES_H

#include "api/verdicts/headline.h"
#include "api/verdicts/trial.h"
#include "inventory/inventory.h"

/* At most one of a kind, in this order: correct a name, accept more, ask for less, wait for named
 * pods, let an administrator act. */
#define REMEDIES_MAX ((size_t)3)

#define REMEDIES_FIRST_MAX ((size_t)3)

struct pod_copy; /* api/pods/pod_copy.h */

struct remedy_question {
    struct inventory *inventory; /* of the pods on nodes; no lock is held */
    struct cluster *fork;        /* marked, as it is before the workload */
    const struct trial_role *roles;
    size_t n_roles;
    struct domain_wish wish;         /* as in struct trials */
    size_t n_listed;                 /* the same */
    const struct headline *headline; /* why it does not fit */
    size_t i_failing;                /* the role that this is about */
    const struct candidates *candidates;
    const char *only; /* names no pods of other namespaces; NULL: all */
    /* Pods that kube-scheduler takes first, on the headline's node of the fork, the last of them
     * first. */
    const struct pod_copy *const *first;
    size_t n_first;
    const struct trial_role *before; /* as in struct trials */
    size_t n_before;
    bool are_more_before; /* than can be tried */
    size_t *answer_left;  /* of TRIAL_VERDICTS_OF_ANSWER */
    struct arena *arena;
};

/* Whether the cause is one that a remedy may concern. */
bool remedies_may_help(const struct headline *headline);
/* Adds `remedies` and `remediesTried` to the object. The fork is as before. */
void remedies_add(const struct remedy_question *question, json_t *json);
/* The same for a workload that fits, or whose remedies are not searched. */
void remedies_add_none(json_t *json);
/* Adds one that is known without a trial: n pods fit with it, the first on the node; or it lets
 * them be judged, node NULL. */
void remedies_add_one(json_t *json, const char *text, const struct node *node, int64_t n);
/* One of them in a sentence: "accept H100-80GB-HBM3 too (h100-1)" */
const char *remedies_short(const json_t *remedy, struct arena *arena);
/* Writes them under a heading; nothing if there is nothing to say. */
void remedies_write(const json_t *json, struct arena *arena, struct buf *out);

#endif
