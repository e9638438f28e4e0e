/*
 * claim_ranking: what the resource claims of a pod take on each offered node, for prioritize.
 * Within a budget that is counted and not timed. Private to extender.
 */
#ifndef EXTENDER_CLAIM_RANKING_H
#define EXTENDER_CLAIM_RANKING_H

#include "decide/claim_rules.h"
#include "extender/args.h"
#include "inventory/claim_lookup.h"

struct claim_ranking {
    struct claim_lookup *lookup;      /* NULL: the pod is not ranked by claims */
    struct claim_rules *rules;        /* for fit_question.devices */
    const struct claim_takes **takes; /* on each node; NULL: unknown, or not ranked */
    const char *outcome;              /* for the record, static; NULL: the pod has no claims */
    bool is_ranked;
};

/* Takes the inventory's lock, in short holds. In the arena. */
struct claim_ranking claim_ranking_of(struct inventory *inventory, const struct policy *policy,
                                      const struct args *args, struct arena *arena);
void claim_ranking_fini(struct claim_ranking *ranking);

#endif
