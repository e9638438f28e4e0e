/* plan: see plan.h. */
#include "plan.h"

/* Bindings of maximal duration, while their senders start and stop often: rare with all faults
 * together. */
static void focus(struct plan *plan, struct dice *dice)
{
    bool *const ends[] = {&plan->kills, &plan->stops, &plan->pauses, &plan->lease_loses};
    const unsigned end = dice_below(dice, sizeof ends / sizeof *ends);
    *plan = (struct plan){
        .n_replicas = end == 0 ? 1 : PLAN_REPLICAS_MAX - dice_below(dice, PLAN_REPLICAS_MAX - 1),
        .n_nodes = PLAN_NODES_MAX,
        .gpus = 8,
        .pod_every_ms = 100 + dice_below(dice, 400),
        .bookmarks = plan->bookmarks,
        .comparable = plan->comparable,
        .suspensions = true,
        .is_focused = true,
        .slow_api = true,
        .lingering = true,
        .delays = true,
        .losses = plan->losses,
        .cuts = plan->cuts,
    };
    *ends[end] = true;
}

struct plan plan_make(struct dice *dice)
{
    struct plan plan = {
        .n_replicas = dice_one_in(dice, 2) ? 1 : 2 + dice_below(dice, PLAN_REPLICAS_MAX - 1),
        .n_nodes = 1 + dice_below(dice, PLAN_NODES_MAX),
        .gpus = 1 + dice_below(dice, 8),
        .pod_every_ms = 200 + dice_below(dice, 4000),
        .is_new = dice_one_in(dice, 4),
        .bookmarks = !dice_one_in(dice, 4),
        .gone_events = dice_one_in(dice, 2),
        .comparable = dice_one_in(dice, 2),
    };
    bool *const faults[] = {
        &plan.others,      &plan.node_changes, &plan.deletions,   &plan.failovers,
        &plan.slow_binds,  &plan.double_calls, &plan.kills,       &plan.restarts,
        &plan.cuts,        &plan.compactions,  &plan.black_holes, &plan.losses,
        &plan.delays,      &plan.duplicates,   &plan.refusals,    &plan.slow_api,
        &plan.trusting,    &plan.sickness,     &plan.stops,       &plan.pauses,
        &plan.blindness,   &plan.lingering,    &plan.suspensions, &plan.lease_ends,
        &plan.lease_loses,
    };
    const unsigned one_in = 1 + dice_below(dice, 6);
    for (unsigned i = 0; i < sizeof faults / sizeof *faults; i++)
        *faults[i] = dice_one_in(dice, one_in);
    if (dice_one_in(dice, 4))
        focus(&plan, dice);
    return plan;
}

bool plan_has_groups(uint64_t seed)
{
    return seed % 10 == 6 || seed % 10 == 9;
}

void plan_groups(struct plan *plan, uint64_t seed)
{
    plan->groups = plan_has_groups(seed);
    plan->asks_seldom = seed % 10 == 9;
}

void plan_quotas(struct plan *plan, uint64_t seed)
{
    plan->quotas = seed % 10 == 3;
    plan->refusals = plan->refusals || plan->quotas;
}

void plan_flapping(struct plan *plan, uint64_t seed, struct dice *dice)
{
    if (seed < PLAN_FLAPPING_FROM)
        return;
    *plan = (struct plan){
        .n_replicas = dice_one_in(dice, 3) ? 2 : 1,
        .n_nodes = 1 + dice_below(dice, PLAN_NODES_MAX),
        .gpus = 8,
        .pod_every_ms = 1000 + dice_below(dice, 3000),
        .bookmarks = plan->bookmarks,
        .comparable = plan->comparable,
        .flapping = true,
        .asks_seldom = dice_one_in(dice, 2),
        .others = dice_one_in(dice, 2),
        .deletions = dice_one_in(dice, 4),
        .delays = dice_one_in(dice, 2),
        .kills = dice_one_in(dice, 4),
    };
}

int64_t plan_burst_ms(const struct plan *plan)
{
    return plan->flapping ? (int64_t)20 * PLAN_BURST_MS : PLAN_BURST_MS;
}

int64_t plan_quiet_ms(const struct plan *plan)
{
    return plan->flapping ? (int64_t)5 * PLAN_QUIET_MS : PLAN_QUIET_MS;
}

bool plan_is_in_time(const struct plan *plan)
{
    return !plan->restarts && !plan->cuts && !plan->black_holes && !plan->losses && !plan->delays &&
           !plan->refusals && !plan->slow_api && !plan->lingering && !plan->lease_loses &&
           !plan->sickness && !plan->pauses && !plan->compactions;
}
