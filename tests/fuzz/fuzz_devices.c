/*
 * Reads any text as a ResourceSlice, a ResourceClaim and a DeviceTaintRule. Nothing crashes, the
 * facts keep their limits, and they read back from the objects that a snapshot has.
 */
#include "objects/claims.h"
#include "objects/to_json.h"
#include "require.h"

#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void require_text(const char *text)
{
    json_t *string = json_string(text);
    require(string != NULL);
    json_decref(string);
}

/* Takes over both. */
static void require_equal(json_t *a, json_t *b)
{
    require(a && b && json_equal(a, b));
    json_decref(a);
    json_decref(b);
}

static void check_sets(const struct counter_set *sets, size_t n)
{
    for (size_t i = 0; i < n; i++) {
        for (size_t j = 0; j < sets[i].n_counters; j++) {
            require(sets[i].counters[j].amount >= 0);
            require(j == 0 || strcmp(sets[i].counters[j - 1].name, sets[i].counters[j].name) < 0);
        }
    }
}

static void check_slice(const struct slice_facts *facts)
{
    require(facts->driver[0] && facts->pool[0]);
    require(facts->generation >= 0 && facts->n_slices >= 1);
    require(facts->n_devices <= SLICE_DEVICES_MAX);
    check_sets(facts->counter_sets, facts->n_counter_sets);
    for (size_t i = 0; i < facts->n_devices; i++) {
        require(facts->devices[i].name[0] && facts->devices[i].memory_bytes >= 0);
        require(facts->per_device || !facts->devices[i].node_name[0]);
        check_sets(facts->devices[i].consumes, facts->devices[i].n_consumes);
    }
}

static void read_as_slice(const json_t *object, const struct policy *policy, struct arena *arena)
{
    struct slice_facts facts;
    struct slice_facts back;
    struct err err;
    if (resource_slice_from_json(object, policy, arena, &facts, &err) < 0) {
        require_text(err.text);
        return;
    }
    check_slice(&facts);
    json_t *json = resource_slice_to_json(&facts, policy);
    require(resource_slice_from_json(json, policy, arena, &back, &err) == 0);
    require_equal(json, resource_slice_to_json(&back, policy));
}

static void check_claim(const struct claim_facts *facts)
{
    require(facts->n_devices >= 0 && facts->n_devices <= CLAIM_DEVICES_MAX);
    require(facts->n_devices > 0 || !(facts->wants_all || facts->has_alternatives));
    require(facts->n_results <= CLAIM_RESULTS_MAX);
    require(facts->is_allocated || facts->n_results == 0);
    require(facts->n_holders <= CLAIM_HOLDERS_MAX && facts->n_holders <= facts->n_all_holders);
    for (size_t i = 0; i < facts->n_holders; i++)
        require(strlen(facts->holders[i]) <= CLAIM_HOLDER_BYTES_MAX);
}

static void read_as_claim(const json_t *object, struct arena *arena)
{
    struct claim_facts facts;
    struct claim_facts back;
    struct err err;
    if (resource_claim_from_json(object, arena, &facts, &err) < 0) {
        require_text(err.text);
        return;
    }
    check_claim(&facts);
    json_t *json = resource_claim_to_json(&facts);
    require(resource_claim_from_json(json, arena, &back, &err) == 0);
    require(facts.n_devices == back.n_devices && facts.n_all_holders == back.n_all_holders);
    require_equal(json, resource_claim_to_json(&back));
}

static void read_as_rule(const json_t *object, struct arena *arena)
{
    struct device_taint_facts facts;
    struct device_taint_facts back;
    struct err err;
    bool taints = false;
    if (device_taint_rule_from_json(object, arena, &facts, &taints, &err) < 0)
        require_text(err.text);
    if (!taints)
        return;
    json_t *json = device_taint_rule_to_json(&facts);
    require(device_taint_rule_from_json(json, arena, &back, &taints, &err) == 0 && taints);
    require_equal(json, device_taint_rule_to_json(&back));
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct policy policy;
    policy_init(&policy);
    struct arena *arena = arena_new();
    json_t *object = json_loadb((const char *)data, size, JSON_DECODE_ANY, NULL);
    if (object) {
        read_as_slice(object, &policy, arena);
        read_as_claim(object, arena);
        read_as_rule(object, arena);
    }
    json_decref(object);
    arena_free(arena);
    policy_fini(&policy);
    return 0;
}
