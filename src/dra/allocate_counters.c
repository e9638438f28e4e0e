/*
 * allocate_counters: whether a device has enough left: of what devices that overlap share, such as
 * a GPU and its partitions (checkAvailableCounters() upstream), and of capacities that claims
 * share.
 *
 * A device can be taken if then no counter of its pool is overdrawn, its own or not: as upstream.
 */
#include "allocate_priv.h"

#include <string.h>

/* Upstream remembers what is available by the name of the pool alone, for all nodes. */
static bool shares_name(const struct run *run, const struct source_pool *pool)
{
    for (size_t i = 0; i < run->question->n_slices; i++) {
        const struct allocate_slice *slice = &run->question->slices[i];
        if (slice->n_shared_counters && strcmp(slice->pool, pool->name) == 0 &&
            strcmp(slice->driver, pool->driver) != 0)
            return true;
    }
    return false;
}

/* So that no sum overflows: no more are added than there are steps. */
static bool is_known(const struct allocate_counter *counter)
{
    return counter->amount >= 0 && counter->amount <= ALLOCATE_COUNTER_MAX;
}

static void add_set(struct source_pool *pool, const struct allocate_counter_set *set,
                    bool *is_exact)
{
    for (size_t i = 0; i < set->n_counters; i++) {
        const struct allocate_counter *counter = &set->counters[i];
        *is_exact &= is_known(counter);
        pool->counters[pool->n_counters++] = (struct counter_left){
            .set = set->name, .name = counter->name, .available = counter->amount};
    }
}

static size_t count_counters(const struct source_pool *pool)
{
    size_t n = 0;
    for (size_t i = 0; i < pool->n_slices; i++) {
        for (size_t j = 0; j < pool->slices[i]->n_shared_counters; j++)
            n += pool->slices[i]->shared_counters[j].n_counters;
    }
    return n;
}

static struct counter_left *find(const struct source_pool *pool, const char *set, const char *name)
{
    for (size_t i = 0; i < pool->n_counters; i++) {
        struct counter_left *left = &pool->counters[i];
        if (strcmp(left->name, name) == 0 && strcmp(left->set, set) == 0)
            return left;
    }
    return NULL;
}

static void add_consumed(const struct source_pool *pool, const struct allocate_device *device,
                         int64_t sign)
{
    for (size_t i = 0; i < device->n_consumes; i++) {
        const struct allocate_counter_set *part = &device->consumes[i];
        for (size_t j = 0; j < part->n_counters; j++) {
            struct counter_left *left = find(pool, part->name, part->counters[j].name);
            if (left)
                left->consumed += sign * part->counters[j].amount;
        }
    }
}

static bool is_exact(const struct allocate_device *device)
{
    for (size_t i = 0; i < device->n_consumes; i++) {
        for (size_t j = 0; j < device->consumes[i].n_counters; j++) {
            if (!is_known(&device->consumes[i].counters[j]))
                return false;
        }
    }
    return true;
}

static uint64_t cost_of(const struct source_pool *pool, const struct allocate_device *device)
{
    uint64_t n = 1;
    for (size_t i = 0; i < device->n_consumes; i++)
        n += device->consumes[i].n_counters;
    return n * (1 + pool->n_counters);
}

/* Subtracts what allocated devices of all nodes consume. YES or STOPPED. */
static enum attempt subtract_allocated(struct run *run, struct source_pool *pool)
{
    for (size_t i = 0; i < pool->n_slices; i++) {
        for (size_t j = 0; j < pool->slices[i]->n_devices; j++) {
            const struct allocate_device *device = &pool->slices[i]->devices[j];
            if (!device->is_allocated && !device->is_shared)
                continue;
            if (!allocate_spend(run, cost_of(pool, device)))
                return STOPPED;
            if (!is_exact(device))
                return allocate_do_not_judge(run, "device %s: the size of its counters",
                                             device->name);
            add_consumed(pool, device, 1);
        }
    }
    for (size_t i = 0; i < pool->n_counters; i++) {
        pool->counters[i].available -= pool->counters[i].consumed;
        pool->counters[i].consumed = 0;
    }
    return YES;
}

static enum attempt prepare(struct run *run, struct source_pool *pool)
{
    if (!pool->sees_all)
        return allocate_do_not_judge(run, "pool %s/%s has more slices than it says", pool->driver,
                                     pool->name);
    if (!allocate_spend(run, run->question->n_slices))
        return STOPPED;
    if (shares_name(run, pool))
        return allocate_do_not_judge(run, "pools of several drivers are named %s and have counters",
                                     pool->name);
    bool is_known = true;
    pool->counters = ARENA_ARRAY(run->arena, struct counter_left, count_counters(pool) + 1);
    for (size_t i = 0; i < pool->n_slices; i++) {
        for (size_t j = 0; j < pool->slices[i]->n_shared_counters; j++)
            add_set(pool, &pool->slices[i]->shared_counters[j], &is_known);
    }
    if (!is_known)
        return allocate_do_not_judge(run, "pool %s/%s: the size of its counters", pool->driver,
                                     pool->name);
    return subtract_allocated(run, pool);
}

static bool is_overdrawn(const struct source_pool *pool)
{
    for (size_t i = 0; i < pool->n_counters; i++) {
        if (pool->counters[i].available < pool->counters[i].consumed)
            return true;
    }
    return false;
}

enum attempt allocate_counters_take(struct run *run, const struct offer *offer)
{
    struct source_pool *pool = offer->pool;
    if (!pool->counters && prepare(run, pool) == STOPPED)
        return STOPPED;
    if (!allocate_spend(run, cost_of(pool, offer->device)))
        return STOPPED;
    if (!is_exact(offer->device))
        return allocate_do_not_judge(run, "device %s: the size of its counters",
                                     offer->device->name);
    add_consumed(pool, offer->device, 1);
    if (!is_overdrawn(pool))
        return YES;
    add_consumed(pool, offer->device, -1);
    return NO;
}

void allocate_counters_give_back(const struct offer *offer)
{
    add_consumed(offer->pool, offer->device, -1);
}

/* How much of a device's capacities a request takes, and whether that is there
 * (consumable_capacity.go upstream).
 *
 * Of a device that one claim takes as a whole, a request for capacity is a least size. Devices
 * that allow multiple allocations are given as long as there is enough of each capacity. */

static bool is_known_amount(int64_t amount)
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
    return amount == ALLOCATE_UNSET || is_known_amount(amount);
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
    if (policy->has_range && (!is_known_amount(policy->min) || policy->step == 0))
        return false;
    for (size_t i = 0; i < policy->n_values; i++) {
        if (!is_known_amount(policy->values[i]))
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
    if ((asked && !is_known_amount(asked->value)) || (policy && !is_clear(policy)))
        return ALLOCATE_UNKNOWN;
    if (!asked && policy && policy->fallback != ALLOCATE_UNSET)
        return policy->fallback;
    if (!asked)
        return is_known_amount(capacity->value) ? capacity->value : ALLOCATE_UNKNOWN;
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
    if (taken == ALLOCATE_UNKNOWN || !is_known_amount(capacity->value) ||
        !is_known_amount(capacity->consumed))
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
