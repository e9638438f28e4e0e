/* world_taints: the taints of devices, with those of DeviceTaintRules. */
#include "base/buf.h"
#include "world_priv.h"

#include <string.h>

#define RULES_MAX ((size_t)10000)
/* Taints of all distinct combinations together. */
#define TAINTS_MAX ((size_t)1000000)
/* A rule names the driver or not, the pool or not, and the device or not. */
#define N_FORMS 8

struct world_rule {
    UT_hash_handle hh; /* by its name */
    struct allocate_taint taint;
    struct world_rule *next;
};

/* The rules of one form with the same driver, pool and device. */
struct world_target {
    UT_hash_handle hh;
    struct world_rule *rules;
    size_t n;
};

/* The taints of a device and of rules, as several devices have them. */
struct world_mix {
    UT_hash_handle hh;
    struct mix_key {
        const struct world_details *details;
        const struct world_target *targets[N_FORMS];
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

static struct world_target *target_of(struct claims_world *world,
                                      const struct device_taint_facts *rule)
{
    struct world_target *target = NULL;
    struct buf key;
    buf_init(&key, BUF_UNBOUNDED);
    add_key(&key, rule->driver, rule->pool, rule->device);
    HASH_FIND(hh, world->targets, key.data, key.len, target);
    if (!target) {
        const char *kept = arena_copy(world->arena, key.data, key.len, 1);
        target = ARENA_NEW(world->arena, struct world_target);
        HASH_ADD_KEYPTR(hh, world->targets, kept, key.len, target);
    }
    buf_fini(&key);
    return target;
}

static const char *text_of(struct arena *arena, const char *text)
{
    return text ? arena_strdup(arena, text) : "";
}

/* If a rule is replaced between two holds of the lock, its first version stays. */
void world_add_rule(struct claims_world *world, const struct device_taint_facts *rule)
{
    struct arena *arena = world->arena;
    struct world_rule *kept = NULL;
    HASH_FIND_STR(world->rules, rule->name, kept);
    if (kept || world->named.not_judged)
        return;
    if (HASH_COUNT(world->rules) == RULES_MAX) {
        world->named.not_judged = "there are too many DeviceTaintRules";
        return;
    }
    struct world_target *target = target_of(world, rule);
    kept = ARENA_NEW(arena, struct world_rule);
    kept->taint =
        (struct allocate_taint){text_of(arena, rule->key), text_of(arena, rule->value),
                                rule->effect ? arena_strdup(arena, rule->effect) : "NoSchedule"};
    kept->next = target->rules;
    target->rules = kept;
    target->n++;
    const char *name = arena_strdup(arena, rule->name);
    HASH_ADD_KEYPTR(hh, world->rules, name, strlen(name), kept);
}

/* The rules that select the device. */
static size_t find_targets(const struct claims_world *world, const struct slice_facts *slice,
                           const char *device, struct mix_key *ret_key)
{
    size_t n = 0;
    struct buf key;
    buf_init(&key, BUF_UNBOUNDED);
    for (unsigned form = 0; world->rules && form < N_FORMS; form++) {
        const struct world_target *target = NULL;
        add_key(&key, form & 1 ? slice->driver : NULL, form & 2 ? slice->pool : NULL,
                form & 4 ? device : NULL);
        HASH_FIND(hh, world->targets, key.data, key.len, target);
        ret_key->targets[form] = target;
        n += target ? target->n : 0;
    }
    buf_fini(&key);
    return n;
}

static void fill(struct world_mix *mix)
{
    const struct world_details *details = mix->key.details;
    for (size_t i = 0; details && i < details->details.n_taints; i++)
        mix->taints[mix->n++] = details->details.taints[i];
    for (size_t i = 0; i < N_FORMS; i++) {
        const struct world_target *target = mix->key.targets[i];
        const struct world_rule *rule = target ? target->rules : NULL;
        for (; rule; rule = rule->next)
            mix->taints[mix->n++] = rule->taint;
    }
}

static const struct world_mix *mix_of(struct arena *arena, struct world_side *side,
                                      const struct mix_key *key, size_t n)
{
    struct world_mix *mix = NULL;
    HASH_FIND(hh, side->mixes, key, sizeof *key, mix);
    if (mix)
        return mix;
    side->n_taints += n;
    if (side->n_taints > TAINTS_MAX) {
        side->not_judged = "there are too many taints";
        return NULL;
    }
    mix = ARENA_NEW(arena, struct world_mix);
    mix->key = *key;
    mix->taints = ARENA_ARRAY(arena, struct allocate_taint, n);
    fill(mix);
    HASH_ADD(hh, side->mixes, key, sizeof mix->key, mix);
    return mix;
}

void world_set_taints(struct claims_world *world, struct world_side *side,
                      const struct slice_facts *slice, const struct world_details *details,
                      struct allocate_device *device)
{
    struct mix_key key = {.details = details};
    const size_t n = find_targets(world, slice, device->name, &key);
    const size_t n_own = details ? details->details.n_taints : 0;
    if (n_own > 0) {
        device->taints = details->details.taints;
        device->n_taints = n_own;
    }
    const struct world_mix *mix = n > 0 ? mix_of(world->arena, side, &key, n_own + n) : NULL;
    if (mix) {
        device->taints = mix->taints;
        device->n_taints = mix->n;
    }
}

void world_taints_free(struct claims_world *world)
{
    HASH_CLEAR(hh, world->rules);
    HASH_CLEAR(hh, world->targets);
    HASH_CLEAR(hh, world->named.mixes);
    HASH_CLEAR(hh, world->others.mixes);
}
