/* device_copy_taints: the taints of devices, with those of DeviceTaintRules. */
#include "base/buf.h"
#include "device_copy_priv.h"

#include <string.h>

#define RULES_MAX ((size_t)10000)
/* Taints of all distinct combinations together. */
#define TAINTS_MAX ((size_t)1000000)
/* A rule names the driver or not, the pool or not, and the device or not. */
#define N_FORMS 8

struct copied_rule {
    UT_hash_handle hh; /* by its name */
    struct allocate_taint taint;
    struct copied_rule *next;
};

/* The rules of one form with the same driver, pool and device. */
struct copied_target {
    UT_hash_handle hh;
    struct copied_rule *rules;
    size_t n;
};

/* The taints of a device and of rules, as several devices have them. */
struct taint_set {
    UT_hash_handle hh;
    struct taint_set_key {
        const struct copied_details *details;
        const struct copied_target *targets[N_FORMS];
    } key;
    struct allocate_taint *taints;
    size_t n;
};

/* NULL: any. */
static void add_part(struct buf *key, const char *name)
{
    if (name)
        buf_add(key, name, strlen(name));
    buf_add(key, name ? "=" : "*", 2);
}

static void add_key(struct buf *key, const char *driver, const char *pool, const char *device)
{
    buf_clear(key);
    add_part(key, driver);
    add_part(key, pool);
    add_part(key, device);
}

static struct copied_target *target_of(struct device_copy *copy,
                                       const struct device_taint_facts *rule)
{
    struct copied_target *target = NULL;
    struct buf key;
    buf_init(&key, BUF_UNBOUNDED);
    add_key(&key, rule->driver, rule->pool, rule->device);
    HASH_FIND(hh, copy->targets, key.data, key.len, target);
    if (!target) {
        const char *kept = arena_copy(copy->arena, key.data, key.len, 1);
        target = ARENA_NEW(copy->arena, struct copied_target);
        HASH_ADD_KEYPTR(hh, copy->targets, kept, key.len, target);
    }
    buf_fini(&key);
    return target;
}

static const char *text_of(struct arena *arena, const char *text)
{
    return text ? arena_strdup(arena, text) : "";
}

/* If a rule is replaced between two holds of the lock, its first version stays. */
void device_copy_add_rule(struct device_copy *copy, const struct device_taint_facts *rule)
{
    struct arena *arena = copy->arena;
    struct copied_rule *kept = NULL;
    HASH_FIND_STR(copy->rules, rule->name, kept);
    if (kept || copy->named.not_judged)
        return;
    if (HASH_COUNT(copy->rules) == RULES_MAX) {
        copy->named.not_judged = "there are too many DeviceTaintRules";
        return;
    }
    struct copied_target *target = target_of(copy, rule);
    kept = ARENA_NEW(arena, struct copied_rule);
    kept->taint =
        (struct allocate_taint){text_of(arena, rule->key), text_of(arena, rule->value),
                                rule->effect ? arena_strdup(arena, rule->effect) : "NoSchedule"};
    kept->next = target->rules;
    target->rules = kept;
    target->n++;
    const char *name = arena_strdup(arena, rule->name);
    HASH_ADD_KEYPTR(hh, copy->rules, name, strlen(name), kept);
}

/* The rules that select the device. */
static size_t find_targets(const struct device_copy *copy, const struct slice_facts *slice,
                           const char *device, struct taint_set_key *ret_key)
{
    size_t n = 0;
    struct buf key;
    buf_init(&key, BUF_UNBOUNDED);
    for (unsigned form = 0; copy->rules && form < N_FORMS; form++) {
        const struct copied_target *target = NULL;
        add_key(&key, form & 1 ? slice->driver : NULL, form & 2 ? slice->pool : NULL,
                form & 4 ? device : NULL);
        HASH_FIND(hh, copy->targets, key.data, key.len, target);
        ret_key->targets[form] = target;
        n += target ? target->n : 0;
    }
    buf_fini(&key);
    return n;
}

static void fill(struct taint_set *set)
{
    const struct copied_details *details = set->key.details;
    for (size_t i = 0; details && i < details->details.n_taints; i++)
        set->taints[set->n++] = details->details.taints[i];
    for (size_t i = 0; i < N_FORMS; i++) {
        const struct copied_target *target = set->key.targets[i];
        const struct copied_rule *rule = target ? target->rules : NULL;
        for (; rule; rule = rule->next)
            set->taints[set->n++] = rule->taint;
    }
}

static const struct taint_set *taint_set_of(struct arena *arena, struct copied_drivers *drivers,
                                            const struct taint_set_key *key, size_t n)
{
    struct taint_set *set = NULL;
    HASH_FIND(hh, drivers->taint_sets, key, sizeof *key, set);
    if (set)
        return set;
    drivers->n_taints += n;
    if (drivers->n_taints > TAINTS_MAX) {
        drivers->not_judged = "there are too many taints";
        return NULL;
    }
    set = ARENA_NEW(arena, struct taint_set);
    set->key = *key;
    set->taints = ARENA_ARRAY(arena, struct allocate_taint, n);
    fill(set);
    HASH_ADD(hh, drivers->taint_sets, key, sizeof set->key, set);
    return set;
}

void device_copy_set_taints(struct device_copy *copy, struct copied_drivers *drivers,
                            const struct slice_facts *slice, const struct copied_details *details,
                            struct allocate_device *device)
{
    struct taint_set_key key = {.details = details};
    const size_t n = find_targets(copy, slice, device->name, &key);
    const size_t n_own = details ? details->details.n_taints : 0;
    if (n_own > 0) {
        device->taints = details->details.taints;
        device->n_taints = n_own;
    }
    const struct taint_set *set =
        n > 0 ? taint_set_of(copy->arena, drivers, &key, n_own + n) : NULL;
    if (set) {
        device->taints = set->taints;
        device->n_taints = set->n;
    }
}

void device_copy_taints_free(struct device_copy *copy)
{
    HASH_CLEAR(hh, copy->rules);
    HASH_CLEAR(hh, copy->targets);
    HASH_CLEAR(hh, copy->named.taint_sets);
    HASH_CLEAR(hh, copy->others.taint_sets);
}
