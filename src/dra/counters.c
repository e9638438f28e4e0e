/*
 * counters: what devices that overlap share, such as a GPU and its partitions.
 *
 * A device in use takes its counters of the sets, whoever uses it and how often. As in
 * kube-scheduler (checkAvailableCounters() in allocator_incubating.go), one set with more in use
 * than there is blocks every device of its pool that consumes counters.
 */
#include "base/mem.h"
#include "devices_priv.h"

#include <stdlib.h>
#include <string.h>

struct set *counters_ref(struct devices *devices, struct pool *pool, const char *name)
{
    const struct pair key = {pool, string_table_intern(&devices->strings, name)};
    struct set *set = NULL;
    HASH_FIND(hh, devices->sets, &key, sizeof key, set);
    if (set) {
        string_table_unref(&devices->strings, key.second);
    } else {
        set = MEM_NEW(struct set);
        set->key = key;
        set->pool = pool;
        pool->refs++;
        HASH_ADD(hh, devices->sets, key, sizeof set->key, set);
    }
    set->refs++;
    return set;
}

void counters_unref(struct devices *devices, struct set *set)
{
    if (--set->refs > 0)
        return;
    HASH_DEL(devices->sets, set);
    string_table_unref(&devices->strings, set->key.second);
    pools_unref(devices, set->pool);
    free(set);
}

void counters_mark(struct devices *devices, struct set *set)
{
    if (set->is_dirty)
        return;
    set->is_dirty = true;
    set->refs++;
    LL_PREPEND2(devices->dirty_sets, set, next_dirty);
}

void counters_publish(struct devices *devices, struct publication *publication, bool is_current)
{
    if (publication->is_current == is_current)
        return;
    publication->is_current = is_current;
    if (is_current)
        LL_APPEND(publication->set->publications, publication);
    else
        LL_DELETE(publication->set->publications, publication);
    counters_mark(devices, publication->set);
}

void counters_consume(struct devices *devices, struct consumption *consumption, bool is_current)
{
    if (consumption->is_current == is_current)
        return;
    consumption->is_current = is_current;
    if (is_current)
        DL_APPEND(consumption->set->consumers, consumption);
    else
        DL_DELETE(consumption->set->consumers, consumption);
    counters_mark(devices, consumption->set);
}

/* The index of the counter from *at on, in which both are sorted; n: none. */
static size_t find_counter(const struct publication *publication, size_t at, const char *name)
{
    while (at < publication->n && publication->counters[at].name != name)
        at++;
    return at;
}

static bool lacks_counter(const struct publication *publication,
                          const struct consumption *consumption)
{
    size_t at = 0;
    for (size_t i = 0; publication && i < consumption->n; i++) {
        at = find_counter(publication, at, consumption->counters[i].name);
        if (at == publication->n)
            return true;
    }
    return !publication;
}

/* Takes the counters of a device in use. Returns false if fewer are left. */
static bool take(const struct publication *publication, const struct consumption *consumption)
{
    bool is_enough = true;
    size_t at = 0;
    for (size_t i = 0; i < consumption->n; i++) {
        at = find_counter(publication, at, consumption->counters[i].name);
        const int64_t amount = consumption->counters[i].amount;
        int64_t *left = &publication->left[at];
        is_enough = is_enough && *left >= amount;
        *left -= *left >= amount ? amount : *left;
    }
    return is_enough;
}

static size_t n_faults_of(const struct set *set)
{
    const struct publication *publication = NULL;
    struct consumption *consumption = NULL;
    size_t n = 0;
    LL_FOREACH (set->publications, publication) {
        n += publication != set->publications;
    }
    DL_FOREACH (set->consumers, consumption) {
        consumption->is_faulty = lacks_counter(set->publications, consumption);
        n += consumption->is_faulty;
    }
    return n;
}

static bool is_memory(const struct consumption *consumption, size_t i)
{
    const int64_t bytes = consumption->device->kind->key.memory_bytes;
    return bytes > 0 && consumption->counters[i].amount == bytes;
}

/* Whether one of the counters may be the device's memory. */
static bool has_memory(const struct consumption *consumption)
{
    bool any = false;
    for (size_t i = 0; i < consumption->n; i++)
        any = any || is_memory(consumption, i);
    return any;
}

/* Whether the devices are of two PCI addresses, so of two GPUs. */
static bool are_apart(const char *physical, const char *address)
{
    return address && physical != address && strchr(physical, ':');
}

/* Memory is that of one GPU, unlike the power that GPUs share. */
static bool is_gpu(const struct set *set)
{
    const struct consumption *consumption = NULL;
    const char *address = NULL; /* interned */
    bool is_one = set->n_faults == 0;
    DL_FOREACH (set->consumers, consumption) {
        const char *physical = consumption->device->physical;
        is_one = is_one && has_memory(consumption) && !are_apart(physical, address);
        if (strchr(physical, ':'))
            address = physical;
    }
    return is_one;
}

const struct set *counters_gpu_of(const struct device *device)
{
    const struct consumption *first = device->n_consumptions > 0 ? device->consumptions : NULL;
    return first && first->is_current && first->set->is_gpu ? first->set : NULL;
}

/* Also before counters_recount() knows of a change. */
bool counters_is_fraction(const struct device *device)
{
    const struct set *set = counters_gpu_of(device);
    const struct publication *publication = set ? set->publications : NULL;
    const struct consumption *consumption = device->consumptions;
    bool has_all = !publication;
    size_t at = 0;
    for (size_t i = 0; !has_all && i < consumption->n; i++) {
        at = find_counter(publication, at, consumption->counters[i].name);
        has_all = at == publication->n ||
                  (is_memory(consumption, i) &&
                   publication->counters[at].amount <= consumption->counters[i].amount);
    }
    return !has_all;
}

/* Computes the rest of each counter. Returns whether more is in use than exists. */
static bool draw(const struct set *set)
{
    const struct publication *publication = set->publications;
    const struct consumption *consumption = NULL;
    bool is_overdrawn = false;
    for (size_t i = 0; publication && i < publication->n; i++)
        publication->left[i] = publication->counters[i].amount;
    DL_FOREACH (set->consumers, consumption) {
        if (!consumption->is_faulty && consumption->device->named->n_uses > 0 &&
            !take(publication, consumption))
            is_overdrawn = true;
    }
    return is_overdrawn;
}

void counters_recount(struct devices *devices)
{
    struct set *set = NULL;
    LL_FOREACH2(devices->dirty_sets, set, next_dirty)
    {
        const size_t n_faults = n_faults_of(set);
        const bool is_overdrawn = draw(set);
        set->pool->n_faults += n_faults - set->n_faults;
        set->pool->n_overdrawn += (size_t)is_overdrawn - (size_t)set->is_overdrawn;
        set->n_faults = n_faults;
        set->is_gpu = is_gpu(set);
        set->is_overdrawn = is_overdrawn;
        pools_mark(devices, set->pool);
    }
}

void counters_settle(struct devices *devices)
{
    while (devices->dirty_sets) {
        struct set *set = devices->dirty_sets;
        const struct consumption *consumption = NULL;
        LL_DELETE2(devices->dirty_sets, set, next_dirty);
        set->is_dirty = false;
        DL_FOREACH (set->consumers, consumption) {
            gpus_refresh(devices, consumption->device);
        }
        counters_unref(devices, set);
    }
}

static bool has_left(const struct consumption *consumption)
{
    const struct publication *publication = consumption->set->publications;
    size_t at = 0;
    if (!consumption->is_current || consumption->is_faulty)
        return false;
    for (size_t i = 0; i < consumption->n; i++) {
        at = find_counter(publication, at, consumption->counters[i].name);
        if (publication->left[at] < consumption->counters[i].amount)
            return false;
    }
    return true;
}

bool counters_suffice(const struct device *device)
{
    if (device->n_consumptions > 0 && device->named->pool->n_overdrawn > 0)
        return false;
    for (size_t i = 0; i < device->n_consumptions; i++) {
        if (!has_left(&device->consumptions[i]))
            return false;
    }
    return true;
}
