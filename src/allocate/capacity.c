/*
 * capacity: how much of a device's capacities a request takes, and whether that is there
 * (consumable_capacity.go upstream).
 *
 * Of a device that one claim takes as a whole, a request for capacity is a least size. Devices that
 * allow multiple allocations are given as long as there is enough of each capacity.
 */
#include "allocate_priv.h"

#include <string.h>

static bool is_known(int64_t amount)
{
    return amount >= 0 && amount <= ALLOCATE_CAPACITY_MAX;
}

static const struct allocate_amount *find_amount(const struct allocate_want *want, const char *name)
{
    for (size_t i = 0; i < want->n_capacities; i++) {
        if (strcmp(want->capacities[i].name, name) == 0)
            return &want->capacities[i];
    }
    return NULL;
}

static bool has_capacity(const struct allocate_device *device, const char *name)
{
    for (size_t i = 0; i < device->n_capacities; i++) {
        if (strcmp(device->capacities[i].name, name) == 0)
            return true;
    }
    return false;
}

static bool has_all(const struct allocate_device *device, const struct allocate_want *want)
{
    for (size_t i = 0; i < want->n_capacities; i++) {
        if (!has_capacity(device, want->capacities[i].name))
            return false;
    }
    return true;
}

static bool is_optional(int64_t amount)
{
    return amount == ALLOCATE_UNSET || is_known(amount);
}

/* violatesPolicy(), but for the default. */
static bool obeys(const struct allocate_policy *policy, int64_t amount)
{
    if (policy->has_range)
        return (policy->max == ALLOCATE_UNSET || amount <= policy->max) &&
               (policy->step == ALLOCATE_UNSET || (amount - policy->min) % policy->step == 0);
    for (size_t i = 0; i < policy->n_values; i++) {
        if (policy->values[i] == amount)
            return true;
    }
    return policy->n_values == 0;
}

/* Whether its amounts are known, and the API server would accept it: then it does not matter that
 * upstream compares the default as it is written. */
static bool is_clear(const struct allocate_policy *policy)
{
    if (!is_optional(policy->fallback) || !is_optional(policy->max) || !is_optional(policy->step))
        return false;
    if (policy->has_range && (!is_known(policy->min) || policy->step == 0))
        return false;
    for (size_t i = 0; i < policy->n_values; i++) {
        if (!is_known(policy->values[i]))
            return false;
    }
    return policy->fallback == ALLOCATE_UNSET || obeys(policy, policy->fallback);
}

/* calculateConsumedCapacity() for an amount that is requested. */
static int64_t round_up(const struct allocate_policy *policy, int64_t amount)
{
    if (policy->has_range) {
        if (amount < policy->min)
            return policy->min;
        if (policy->step == ALLOCATE_UNSET)
            return amount;
        int64_t n = (amount - policy->min + policy->step - 1) / policy->step;
        return policy->min + n * policy->step;
    }
    for (size_t i = 0; i < policy->n_values; i++) {
        if (amount <= policy->values[i])
            return policy->values[i];
    }
    return amount;
}

int64_t allocate_amount_taken(const struct allocate_want *want,
                              const struct allocate_capacity *capacity)
{
    const struct allocate_amount *asked = find_amount(want, capacity->name);
    const struct allocate_policy *policy = capacity->policy;
    if ((asked && !is_known(asked->value)) || (policy && !is_clear(policy)))
        return ALLOCATE_UNKNOWN;
    if (!asked && policy && policy->fallback != ALLOCATE_UNSET)
        return policy->fallback;
    if (!asked)
        return is_known(capacity->value) ? capacity->value : ALLOCATE_UNKNOWN;
    return policy ? round_up(policy, asked->value) : asked->value;
}

static enum attempt suffices(struct run *run, const struct allocate_want *want,
                             const struct offer *offer, size_t i)
{
    const struct allocate_capacity *capacity = &offer->device->capacities[i];
    int64_t given = offer->given ? offer->given[i] : 0;
    /* Then all of it is taken, however much that is. */
    if (!capacity->policy && !find_amount(want, capacity->name) && !capacity->consumed && !given)
        return YES;
    int64_t taken = allocate_amount_taken(want, capacity);
    if (taken == ALLOCATE_UNKNOWN || !is_known(capacity->value) || !is_known(capacity->consumed))
        return allocate_do_not_judge(run, "device %s: the size of its capacity %s",
                                     offer->device->name, capacity->name);
    if (capacity->policy && !obeys(capacity->policy, taken))
        return NO;
    return capacity->consumed + given + taken <= capacity->value ? YES : NO;
}

enum attempt capacity_suffices(struct run *run, const struct want_state *want,
                               const struct offer *offer)
{
    const struct allocate_device *device = offer->device;
    if (want->want->not_judged)
        return allocate_do_not_judge(run, "request %s: %s", want->request_name,
                                     want->want->not_judged);
    if (!allocate_spend(run, device->n_capacities * (1 + want->want->n_capacities)))
        return STOPPED;
    if (!has_all(device, want->want))
        return NO;
    enum attempt all = YES;
    for (size_t i = 0; i < device->n_capacities; i++) {
        enum attempt outcome = suffices(run, want->want, offer, i);
        if (outcome == STOPPED)
            return STOPPED;
        if (outcome == NO)
            all = NO;
    }
    return all;
}

void capacity_take(struct run *run, const struct allocate_want *want, struct offer *offer)
{
    size_t n = offer->device->n_capacities;
    if (!offer->given)
        offer->given = ARENA_ARRAY(run->arena, int64_t, n + 1);
    for (size_t i = 0; i < n; i++)
        offer->given[i] += allocate_amount_taken(want, &offer->device->capacities[i]);
    offer->n_shares++;
}

void capacity_give_back(const struct allocate_want *want, struct offer *offer)
{
    for (size_t i = 0; i < offer->device->n_capacities; i++)
        offer->given[i] -= allocate_amount_taken(want, &offer->device->capacities[i]);
    offer->n_shares--;
}
