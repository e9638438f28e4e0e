/*
 * gang_plans: plans places for groups of pods (ledger/gangs.h), so that none of their pods is bound
 * before there is room for all.
 *
 * src/extender/gangs/gang_turns.h decides whose turn it is and for how long a plan lasts; this file
 * carries that out: it looks at the ledger, chooses nodes on a fork, keeps the places in the
 * ledger, and has kube-scheduler told. Filter, bind and preempt read only the ledger.
 *
 * gang_plans_tick() runs on one thread. gang_plans_filtered() may be called from any thread; it
 * only notes what happened. With gang_plans NULL the functions do nothing.
 */
#ifndef EXTENDER_GANG_PLANS_H
#define EXTENDER_GANG_PLANS_H

#include "base/buf.h"
#include "base/hash.h"
#include "decide/fit.h"
#include "extender/wake.h"
#include "inventory/inventory.h"
#include "record/groups.h"

struct gang_plans;

struct gang_plans_settings {
    struct inventory *inventory; /* and the policy in force */
    struct wake *wake;           /* NULL: pods come by themselves */
    struct groups *groups;       /* for users */
    /* Whether this replica decides. On the thread of the tick. */
    bool (*may_plan)(void *context, int64_t now_ms);
    void *context;
    /* Measures the time that planning takes. NULL: none, so that a simulation is the same each
     * time. */
    int64_t (*clock_ms)(void);
    int64_t (*wall_ms)(void); /* for users */
};

struct gang_plans *gang_plans_new(const struct gang_plans_settings *settings);
void gang_plans_free(struct gang_plans *plans);

/* A kube_task: at most once a second it looks at all groups. */
int64_t gang_plans_tick(void *context, int64_t now_ms);

/* Filter judged a member by its hold, and handed nodes on, or none: then `names` are all that
 * kube-scheduler offered. */
struct gang_filtered {
    const char *namespace_, *gang, *uid;
    const struct gang_hold *hold; /* NULL: nothing is noted */
    const struct hashed_text *names;
    size_t n_names;
    bool is_handed_on;
};
void gang_plans_filtered(struct gang_plans *plans, const struct gang_filtered *filtered);

/* Prometheus text; with plans NULL zeros. */
void gang_plans_metrics(struct gang_plans *plans, struct buf *out);

#endif
