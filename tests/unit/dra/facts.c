/* facts: see facts.h. */
#include "facts.h"

const char *facts_name(struct arena *arena, const char *kind, size_t i)
{
    return arena_printf(arena, "%s-%zu", kind, i);
}

static const struct counter_set *facts_of_sets(struct arena *arena, const struct oracle_set *sets,
                                               size_t n)
{
    struct counter_set *facts = ARENA_ARRAY(arena, struct counter_set, n);
    for (size_t i = 0; i < n; i++) {
        struct device_counter *counters =
            ARENA_ARRAY(arena, struct device_counter, ORACLE_COUNTERS);
        facts[i] = (struct counter_set){.name = ORACLE_SET[sets[i].name], .counters = counters};
        for (size_t c = 0; c < ORACLE_COUNTERS; c++) {
            if (sets[i].amounts[c] >= 0)
                counters[facts[i].n_counters++] =
                    (struct device_counter){ORACLE_COUNTER[c], sets[i].amounts[c]};
        }
    }
    return facts;
}

static struct device_facts facts_of_device(struct arena *arena, const struct oracle_device *device)
{
    return (struct device_facts){
        .name = ORACLE_NAME[device->name],
        .model = ORACLE_TEXT[device->model],
        .profile = ORACLE_PROFILE[device->profile],
        .physical = ORACLE_KEY[device->key],
        .memory_bytes = device->memory_bytes,
        .node_name = ORACLE_PLACE[device->place],
        .is_tainted = device->is_tainted,
        .not_judged = device->not_judged,
        .consumes = facts_of_sets(arena, device->consumes, device->n_consumes),
        .n_consumes = device->n_consumes,
    };
}

struct slice_facts facts_of_slice(struct arena *arena, const struct oracle_slice *slice, size_t i)
{
    struct device_facts *devices = ARENA_ARRAY(arena, struct device_facts, slice->n_devices);
    for (unsigned d = 0; d < slice->n_devices; d++)
        devices[d] = facts_of_device(arena, &slice->devices[d]);
    return (struct slice_facts){
        .name = facts_name(arena, "slice", i),
        .driver = ORACLE_DRIVER[slice->driver],
        .pool = ORACLE_POOL[slice->pool],
        .generation = slice->generation,
        .n_slices = slice->n_slices,
        .node_name = slice->per_device ? "" : ORACLE_PLACE[slice->place],
        .per_device = slice->per_device,
        .devices = devices,
        .n_devices = slice->n_devices,
        .counter_sets = facts_of_sets(arena, slice->sets, slice->n_sets),
        .n_counter_sets = slice->n_sets,
    };
}

struct claim_facts facts_of_claim(struct arena *arena, const struct oracle_claim *claim, size_t i)
{
    struct claim_result *results = ARENA_ARRAY(arena, struct claim_result, claim->n_results);
    for (unsigned r = 0; r < claim->n_results; r++) {
        results[r].driver = ORACLE_DRIVER[claim->results[r].driver];
        results[r].pool = ORACLE_POOL[claim->results[r].pool];
        results[r].device = ORACLE_NAME[claim->results[r].name];
        results[r].is_admin = claim->results[r].is_admin;
        results[r].is_shared = claim->results[r].is_shared;
        if (claim->results[r].amount > 0)
            results[r].consumed = arena_printf(arena, "%u", claim->results[r].amount);
    }
    return (struct claim_facts){
        .namespace_ = i % 2 == 0 ? "team-a" : "team-b",
        .name = facts_name(arena, "claim", i / 2),
        .uid = facts_name(arena, "uid", i),
        .is_allocated = claim->is_allocated,
        .results = results,
        .n_results = claim->n_results,
        .extended_for_uid = "",
    };
}

struct device_taint_facts facts_of_rule(struct arena *arena, const struct oracle_rule *rule,
                                        size_t i)
{
    return (struct device_taint_facts){
        .name = facts_name(arena, "rule", i),
        .driver = rule->driver == ORACLE_ANY ? NULL : ORACLE_DRIVER[rule->driver],
        .pool = rule->pool == ORACLE_ANY ? NULL : ORACLE_POOL[rule->pool],
        .device = rule->name == ORACLE_ANY ? NULL : ORACLE_NAME[rule->name],
    };
}
