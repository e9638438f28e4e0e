/* recount: see recount.h. Puts everything into a second struct devices and compares. */
#include "recount.h"
#include "base/mem.h"
#include "devices_priv.h"

struct recount {
    size_t n_differences;
    struct err *err; /* set by the first difference */
};

static void differs(struct recount *recount, const char *node_name, const char *what)
{
    if (recount->n_differences++ == 0)
        (void)err_set(recount->err, EINVAL, "devices of node '%s': %s", node_name, what);
}

static void copy_slices(struct devices *copy, const struct devices *devices)
{
    struct arena *arena CLEANUP(arena_free_ptr) = arena_new();
    struct slice_facts facts;
    const char *name = NULL;
    while ((name = devices_next_slice(devices, name, arena, &facts)) != NULL)
        devices_upsert_slice(copy, &facts);
}

static void copy_claims(struct devices *copy, const struct devices *devices)
{
    const struct device_claim *claim = NULL;
    while ((claim = devices_next_claim(devices, claim)) != NULL) {
        struct arena *arena CLEANUP(arena_free_ptr) = arena_new();
        const struct claim_facts facts = devices_claim_facts(claim, arena);
        devices_upsert_claim(copy, &facts);
    }
}

static void copy_rules(struct devices *copy, const struct devices *devices)
{
    struct arena *arena CLEANUP(arena_free_ptr) = arena_new();
    struct device_taint_facts facts;
    const char *name = NULL;
    while ((name = devices_next_taint(devices, name, arena, &facts)) != NULL)
        devices_upsert_taint(copy, &facts);
}

/* In another order than the events came: rules and claims first. */
static struct devices *copy_of(const struct devices *devices)
{
    struct devices *copy = devices_new(devices->policy);
    copy_rules(copy, devices);
    copy_claims(copy, devices);
    copy_slices(copy, devices);
    while (devices_take_changed(copy)) {
    }
    return copy;
}

static void compare_places(struct recount *recount, const struct devices *devices,
                           const struct devices *copy)
{
    static const struct published NOTHING;
    for (const struct device_place *place = devices->places; place; place = place->hh.next) {
        const struct device_place *other = NULL;
        HASH_FIND_STR(copy->places, place->name, other);
        if (!places_equal(&place->published, other ? &other->published : &NOTHING))
            differs(recount, place->name, "the numbers differ from those of all slices and claims");
    }
    for (const struct device_place *place = copy->places; place; place = place->hh.next) {
        const struct device_place *other = NULL;
        HASH_FIND_STR(devices->places, place->name, other);
        if (!other)
            differs(recount, place->name, "the node has devices, but no numbers");
    }
}

static void compare_counts(struct recount *recount, const char *what, size_t is, size_t should_be)
{
    if (is != should_be && recount->n_differences++ == 0)
        (void)err_set(recount->err, EINVAL, "devices: there are %zu %s, should be %zu", is, what,
                      should_be);
}

size_t devices_recount(const struct devices *devices, struct err *err)
{
    struct recount recount = {0, err};
    struct devices *copy = copy_of(devices);
    compare_places(&recount, devices, copy);
    compare_counts(&recount, "pools", HASH_COUNT(devices->pools), HASH_COUNT(copy->pools));
    compare_counts(&recount, "pools on nodes", HASH_COUNT(devices->node_pools),
                   HASH_COUNT(copy->node_pools));
    compare_counts(&recount, "names of devices", HASH_COUNT(devices->names),
                   HASH_COUNT(copy->names));
    compare_counts(&recount, "counter sets", HASH_COUNT(devices->sets), HASH_COUNT(copy->sets));
    compare_counts(&recount, "GPUs", HASH_COUNT(devices->gpus), HASH_COUNT(copy->gpus));
    for (enum claim_state state = 0; state < N_CLAIM_STATES; state++)
        compare_counts(&recount, "claims", devices->n_claims[state], copy->n_claims[state]);
    compare_counts(&recount, "models", HASH_COUNT(devices->kinds), HASH_COUNT(copy->kinds));
    devices_free(copy);
    return recount.n_differences;
}
