/*
 * allocate_search: the first devices, in the order of pools, slices and devices, that suit all
 * requests of all claims (allocateOne() and allocateDevice() upstream).
 *
 * Depth first, with full backtracking. Within a request only combinations are tried, in order; each
 * request begins with the first device again. The depth is bounded by requests_prepare().
 */
#include "allocate_priv.h"

/* A device that is needed. */
struct needed {
    size_t claim, request, want;
    size_t n_had; /* devices of the want that are taken already */
};

/* Where a search for devices begins. */
struct start {
    size_t pool, offer;
};
static const struct start first = {0, 0};

static enum attempt search(struct run *run, struct needed need, bool is_chosen, struct start start);

static struct want_state *want_of(struct run *run, struct needed need)
{
    return &run->claims[need.claim].requests[need.request][need.want];
}

static bool is_in_use(const struct want_state *want, const struct offer *offer)
{
    if (want->want->is_admin)
        return offer->claims >> want->claim & 1;
    return offer->device->is_allocated || offer->claims;
}

/* Another share of a device takes no more counters. */
static bool needs_counters(const struct offer *offer)
{
    const struct allocate_device *device = offer->device;
    bool is_begun = device->has_consumed_capacity || offer->n_shares;
    return device->n_consumes && !(device->facts->allows_multiple && is_begun);
}

/* All are wanted, so there is no way. */
static enum attempt fail_constraint(struct run *run, const struct want_state *want,
                                    const struct offer *offer)
{
    return allocate_fail(run,
                         "claim %s, request %s: cannot add device %s/%s/%s because a claim "
                         "constraint would not be satisfied",
                         allocate_claim_name(run, run->claims[want->claim].claim),
                         want->is_alternative ? want->want->name : want->request_name,
                         offer->pool->driver, offer->pool->name, offer->device->name);
}

/* Taints, constraints and capacity, in upstream's order. */
static enum attempt may_take(struct run *run, struct claim_search *claim,
                             const struct want_state *want, const struct offer *offer)
{
    enum attempt outcome = match_taints(run, want, offer->device);
    if (outcome != YES)
        return outcome;
    outcome = constraints_add(run, claim, want, offer->device);
    if (outcome == NO && want->want->wants_all)
        return fail_constraint(run, want, offer);
    if (outcome != YES)
        return outcome;
    outcome = capacity_suffices(run, want, offer);
    if (outcome == NO)
        constraints_remove(claim, want);
    return outcome;
}

static enum attempt may_take_with_counters(struct run *run, struct claim_search *claim,
                                           const struct want_state *want, const struct offer *offer)
{
    if (is_in_use(want, offer))
        return NO;
    if (!needs_counters(offer))
        return may_take(run, claim, want, offer);
    enum attempt outcome = allocate_counters_take(run, offer);
    if (outcome != YES)
        return outcome;
    outcome = may_take(run, claim, want, offer);
    if (outcome == NO)
        allocate_counters_give_back(offer);
    return outcome;
}

static enum attempt take(struct run *run, struct needed need, struct offer *offer)
{
    const struct want_state *want = want_of(run, need);
    struct claim_search *claim = &run->claims[need.claim];
    enum attempt outcome = may_take_with_counters(run, claim, want, offer);
    if (outcome != YES)
        return outcome;
    if (offer->device->facts->allows_multiple)
        capacity_take(run, want->want, offer);
    else
        offer->claims |= UINT64_C(1) << need.claim;
    claim->results.devices[claim->results.n++] = (struct allocate_result){
        .request = need.request, .want = need.want, .slice = offer->slice, .device = offer->device};
    return YES;
}

static void give_back(struct run *run, struct needed need, struct offer *offer)
{
    struct claim_search *claim = &run->claims[need.claim];
    const struct want_state *want = want_of(run, need);
    claim->results.n--;
    if (offer->device->facts->allows_multiple)
        capacity_give_back(want->want, offer);
    else
        offer->claims &= ~(UINT64_C(1) << need.claim);
    constraints_remove(claim, want);
    if (needs_counters(offer))
        allocate_counters_give_back(offer);
}

/* Takes it, and what is needed after it. NO: neither is possible. */
static enum attempt try_offer(struct run *run, struct needed need, struct offer *offer,
                              struct start after)
{
    enum attempt outcome = take(run, need, offer);
    if (outcome != YES)
        return outcome;
    struct needed next = need;
    next.n_had++;
    outcome = search(run, next, true, after);
    if (outcome != YES)
        give_back(run, need, offer);
    return outcome;
}

/* isSelectable() and what is cheaper. */
static enum attempt suits(struct run *run, struct want_state *want, const struct offer *offer)
{
    if (!allocate_spend(run, 1))
        return STOPPED;
    if (is_in_use(want, offer))
        return NO;
    enum attempt outcome = match_device(run, want, offer);
    return outcome == YES ? capacity_suffices(run, want, offer) : outcome;
}

static enum attempt search_pool(struct run *run, struct needed need, struct start start)
{
    const struct source_pool *pool = &run->pools[start.pool];
    struct want_state *want = want_of(run, need);
    if (pool->state == POOL_UNORDERED)
        return allocate_do_not_judge(run, "slices of pool %s/%s disagree about resourceSliceCount",
                                     pool->driver, pool->name);
    for (size_t i = start.offer; i < pool->n_offers; i++) {
        enum attempt outcome = suits(run, want, &pool->offers[i]);
        if (outcome == YES)
            outcome = try_offer(run, need, &pool->offers[i], (struct start){start.pool, i + 1});
        if (outcome != NO)
            return outcome;
    }
    return NO;
}

static enum attempt search_pools(struct run *run, struct needed need, struct start start)
{
    for (; start.pool < run->n_pools; start.pool++, start.offer = 0) {
        enum attempt outcome = search_pool(run, need, start);
        if (outcome != NO)
            return outcome;
    }
    return NO;
}

static enum attempt search_alternatives(struct run *run, struct needed need)
{
    bool all_exceeded = true;
    size_t n_wants = run->claims[need.claim].claim->requests[need.request].n_wants;
    for (need.want = 0; need.want < n_wants; need.want++) {
        enum attempt outcome = search(run, need, true, first);
        if (outcome == YES || outcome == STOPPED)
            return outcome;
        all_exceeded &= outcome == EXCEEDED;
    }
    return all_exceeded ? EXCEEDED : NO;
}

/* The order does not matter among all devices: the next one can be taken, or there is no way. */
static enum attempt search_next_of_all(struct run *run, struct needed need)
{
    return try_offer(run, need, want_of(run, need)->all[need.n_had], first);
}

static enum attempt search_want(struct run *run, struct needed need, struct start start)
{
    const struct want_state *want = want_of(run, need);
    bool wants_all = want->want->wants_all;
    if (wants_all && !want->n_devices)
        return NO;
    if (need.n_had >= want->n_devices)
        return search(run, (struct needed){.claim = need.claim, .request = need.request + 1}, false,
                      first);
    if (run->claims[need.claim].results.n + want->n_devices - need.n_had > ALLOCATE_RESULTS_MAX)
        return EXCEEDED;
    return wants_all ? search_next_of_all(run, need) : search_pools(run, need, start);
}

/* Takes what is needed from there on. is_chosen: the alternative need.want is chosen. */
static enum attempt search(struct run *run, struct needed need, bool is_chosen, struct start start)
{
    if (!allocate_spend(run, 1))
        return STOPPED;
    if (need.claim >= run->n_claims)
        return YES;
    const struct allocate_claim *claim = run->claims[need.claim].claim;
    if (need.request >= claim->n_requests) {
        enum attempt outcome = search(run, (struct needed){.claim = need.claim + 1}, false, first);
        return outcome == EXCEEDED ? NO : outcome;
    }
    if (!is_chosen && claim->requests[need.request].has_alternatives)
        return search_alternatives(run, need);
    return search_want(run, need, start);
}

enum attempt search_all(struct run *run)
{
    enum attempt outcome = search(run, (struct needed){0}, false, first);
    return outcome == EXCEEDED ? NO : outcome;
}
