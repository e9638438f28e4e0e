/* devices_to_json: written facts of dynamic resource allocation read back as equal facts. */
#include "base/buf.h"
#include "base/mem.h"
#include "facts_by_seed.h"
#include "objects/claims.h"
#include "objects/to_json.h"

static int64_t random_amount(struct dice *dice)
{
    return chance(dice) ? INT64_MAX : (int64_t)roll(dice, 1000);
}

static const struct counter_set *random_sets(struct dice *dice, size_t *ret_n)
{
    const size_t n = roll(dice, 3);
    struct counter_set *sets = ARENA_ARRAY(dice->arena, struct counter_set, n);
    for (size_t i = 0; i < n; i++) {
        struct device_counter *counters = ARENA_ARRAY(dice->arena, struct device_counter, 3);
        const size_t n_counters = roll(dice, 4);
        for (size_t j = 0; j < n_counters; j++)
            counters[j] = (struct device_counter){arena_printf(dice->arena, "%zu%s", j, word(dice)),
                                                  random_amount(dice)};
        sets[i] = (struct counter_set){word(dice), counters, n_counters};
    }
    *ret_n = n;
    return sets;
}

static struct slice_facts random_slice(struct dice *dice)
{
    struct slice_facts facts = {.name = word(dice),
                                .driver = chance(dice) ? "gpu.nvidia.com" : "gpu.intel.com",
                                .pool = word(dice),
                                .generation = random_amount(dice),
                                .n_slices = 1 + (int64_t)roll(dice, 9),
                                .per_device = chance(dice)};
    facts.node_name = facts.per_device ? "" : maybe(dice);
    facts.counter_sets = random_sets(dice, &facts.n_counter_sets);
    facts.n_devices = roll(dice, 4);
    struct device_facts *devices = ARENA_ARRAY(dice->arena, struct device_facts, facts.n_devices);
    for (size_t i = 0; i < facts.n_devices; i++) {
        devices[i] = (struct device_facts){.name = word(dice),
                                           .model = maybe(dice),
                                           .profile = maybe(dice),
                                           .physical = maybe(dice),
                                           .memory_bytes = random_amount(dice),
                                           .node_name = facts.per_device ? maybe(dice) : "",
                                           .is_tainted = chance(dice),
                                           .not_judged = chance(dice)};
        devices[i].consumes = random_sets(dice, &devices[i].n_consumes);
    }
    facts.devices = devices;
    return facts;
}

static void assert_sets_equal(const struct counter_set *a, size_t n_a, const struct counter_set *b,
                              size_t n_b)
{
    assert_int_equal(n_a, n_b);
    for (size_t i = 0; i < n_a; i++) {
        assert_string_equal(a[i].name, b[i].name);
        assert_int_equal(a[i].n_counters, b[i].n_counters);
        for (size_t j = 0; j < a[i].n_counters; j++) {
            assert_string_equal(a[i].counters[j].name, b[i].counters[j].name);
            assert_true(a[i].counters[j].amount == b[i].counters[j].amount);
        }
    }
}

static void assert_devices_equal(const struct device_facts *a, const struct device_facts *b)
{
    assert_string_equal(a->name, b->name);
    assert_string_equal(a->model, b->model);
    assert_string_equal(a->profile, b->profile);
    assert_string_equal(a->physical, b->physical);
    assert_true(a->memory_bytes == b->memory_bytes);
    assert_string_equal(a->node_name, b->node_name);
    assert_int_equal(a->is_tainted, b->is_tainted);
    assert_int_equal(a->not_judged, b->not_judged);
    assert_sets_equal(a->consumes, a->n_consumes, b->consumes, b->n_consumes);
}

static void assert_slices_equal(const struct slice_facts *a, const struct slice_facts *b)
{
    assert_string_equal(a->name, b->name);
    assert_string_equal(a->driver, b->driver);
    assert_string_equal(a->pool, b->pool);
    assert_true(a->generation == b->generation);
    assert_int_equal(a->n_slices, b->n_slices);
    assert_string_equal(a->node_name, b->node_name);
    assert_int_equal(a->per_device, b->per_device);
    assert_sets_equal(a->counter_sets, a->n_counter_sets, b->counter_sets, b->n_counter_sets);
    assert_int_equal(a->n_devices, b->n_devices);
    for (size_t i = 0; i < a->n_devices; i++)
        assert_devices_equal(&a->devices[i], &b->devices[i]);
}

static void test_any_slice_reads_back(void **state)
{
    (void)state;
    struct policy policy;
    policy_init(&policy);
    for (uint64_t seed = 0; seed < ROUNDS; seed++) {
        struct dice dice = {seed, arena_new()};
        const struct slice_facts facts = random_slice(&dice);
        struct slice_facts back;
        struct err err;
        json_auto_t *json = through_text(resource_slice_to_json(&facts, &policy));
        if (resource_slice_from_json(json, &policy, dice.arena, &back, &err) < 0)
            fail_msg("seed %d: %s", (int)seed, err.text);
        assert_slices_equal(&facts, &back);
        arena_free(dice.arena);
    }
    policy_fini(&policy);
}

/* Whatever their order is: two snapshots of one cluster are the same. */
static void test_counters_are_written_by_name(void **state)
{
    (void)state;
    static const struct device_counter COUNTERS[] = {{"slices", 7}, {"cores", 8}, {"memory", 1}};
    static const struct counter_set SET = {"gpu-0", COUNTERS, 3};
    const struct slice_facts facts = {.name = "a",
                                      .driver = "gpu.nvidia.com",
                                      .pool = "a",
                                      .node_name = "a",
                                      .counter_sets = &SET,
                                      .n_counter_sets = 1};
    struct policy policy;
    policy_init(&policy);
    json_auto_t *json = resource_slice_to_json(&facts, &policy);
    char *text = json_dumps(json, JSON_COMPACT);
    const char *cores = strstr(text, "\"cores\":{\"value\":\"8\"}");
    const char *memory = strstr(text, "\"memory\":{\"value\":\"1\"}");
    const char *slices = strstr(text, "\"slices\":{\"value\":\"7\"}");
    assert_true(cores && cores < memory && memory < slices);
    free(text);
    policy_fini(&policy);
}

static void assert_attributes(const struct device_facts *device, const char *wanted)
{
    struct buf got;
    buf_init(&got, BUF_UNBOUNDED);
    for (size_t i = 0; i < device->n_attributes; i++)
        buf_printf(&got, "%s%s=%s", i > 0 ? " " : "", device->attributes[i].name,
                   device->attributes[i].value);
    buf_printf(&got, "%s%s", device->lacks_attributes ? " lacks" : "",
               device->allows_multiple ? " multiple" : "");
    assert_string_equal(buf_text(&got), wanted);
    buf_fini(&got);
}

/* Read from JSON, written, and read again. */
static void assert_attributes_read_back(const char *device, const char *wanted)
{
    struct policy policy;
    struct err err;
    struct slice_facts facts;
    struct slice_facts back;
    policy_init(&policy);
    struct arena *arena CLEANUP(arena_free_ptr) = arena_new();
    json_auto_t *json =
        json_pack("{s:{s:s}, s:{s:s, s:{s:s, s:i, s:i}, s:s, s:[o]}}", "metadata", "name", "s",
                  "spec", "driver", "gpu.nvidia.com", "pool", "name", "p", "generation", 1,
                  "resourceSliceCount", 1, "nodeName", "n", "devices", json_loads(device, 0, NULL));
    assert_int_equal(resource_slice_from_json(json, &policy, arena, &facts, &err), 0);
    assert_attributes(&facts.devices[0], wanted);
    json_auto_t *again = through_text(resource_slice_to_json(&facts, &policy));
    assert_int_equal(resource_slice_from_json(again, &policy, arena, &back, &err), 0);
    assert_attributes(&back.devices[0], wanted);
    policy_fini(&policy);
}

static void test_attributes_read_back(void **state)
{
    (void)state;
    assert_attributes_read_back(
        "{\"name\": \"d\", \"attributes\": {\"type\": {\"string\": \"gpu\"}, "
        "\"x.example/i\": {\"int\": -9223372036854775808}, \"b\": {\"bool\": true}, "
        "\"f\": {\"bool\": false}, \"v\": {\"version\": \"9.0.0\"}, "
        "\"l\": {\"strings\": [\"a\"]}}, "
        "\"capacity\": {\"memory\": {\"value\": \"40Gi\"}, \"n\": {\"value\": 7}}, "
        "\"allowMultipleAllocations\": true}",
        "gpu.nvidia.com/type=sgpu x.example/i=i-9223372036854775808 gpu.nvidia.com/b=btrue "
        "gpu.nvidia.com/f=bfalse gpu.nvidia.com/v=v9.0.0 gpu.nvidia.com/l=? "
        "gpu.nvidia.com/memory=q40Gi gpu.nvidia.com/n=q7 multiple");
}

static void test_that_attributes_are_left_out_reads_back(void **state)
{
    (void)state;
    char name[200];
    char device[400];
    memset(name, 'n', sizeof name - 1);
    name[sizeof name - 1] = '\0';
    (void)snprintf(device, sizeof device,
                   "{\"name\": \"d\", \"attributes\": {\"type\": {\"string\": \"gpu\"}, "
                   "\"%s\": {\"int\": 1}}}",
                   name);
    assert_attributes_read_back(device, "gpu.nvidia.com/type=sgpu lacks");
}

static void add_results(struct dice *dice, struct claim_facts *facts)
{
    struct claim_result *results = ARENA_ARRAY(dice->arena, struct claim_result, 3);
    facts->n_results = roll(dice, 4);
    for (size_t i = 0; i < facts->n_results; i++) {
        results[i] = (struct claim_result){word(dice),   word(dice),   word(dice),
                                           chance(dice), chance(dice), NULL};
        results[i].consumed =
            results[i].is_shared && chance(dice)
                ? arena_printf(dice->arena, "{\"memory\":\"%zuGi\"}", roll(dice, 9))
                : NULL;
    }
    facts->results = results;
}

static void add_wants(struct dice *dice, struct claim_facts *facts)
{
    static const char *const CLASSES[] = {"", "a", "b"};
    static const char *const DRIVERS[] = {"x", "", "y"};
    struct claim_want *wants = ARENA_ARRAY(dice->arena, struct claim_want, 3);
    for (size_t i = 0; i < 3; i++) {
        if (!chance(dice))
            continue;
        wants[facts->n_wants++] =
            (struct claim_want){CLASSES[i], DRIVERS[i], 1 + (int64_t)roll(dice, 3)};
        facts->n_devices = facts->n_devices == CLAIM_DEVICES_MAX
                               ? CLAIM_DEVICES_MAX
                               : facts->n_devices + wants[facts->n_wants - 1].n_devices;
    }
    facts->wants = wants;
}

static struct claim_facts random_claim(struct dice *dice)
{
    struct claim_facts facts = {.namespace_ = word(dice),
                                .name = word(dice),
                                .uid = maybe(dice),
                                .wants_all = chance(dice),
                                .has_alternatives = chance(dice),
                                .is_allocated = chance(dice),
                                .extended_for_uid = maybe(dice),
                                .terminating = chance(dice),
                                .labels = chance(dice) ? "" : "a=\nb.c/d=e-f\n"};
    const bool wants_any = facts.wants_all || facts.has_alternatives;
    facts.n_devices =
        roll(dice, 9) == 0 ? CLAIM_DEVICES_MAX : (int64_t)roll(dice, 3) + (wants_any ? 1 : 0);
    add_wants(dice, &facts);
    if (facts.is_allocated)
        add_results(dice, &facts);
    const char **holders = ARENA_ARRAY(dice->arena, const char *, 3);
    facts.n_holders = roll(dice, 4);
    for (size_t i = 0; i < facts.n_holders; i++)
        holders[i] = word(dice);
    facts.holders = holders;
    facts.n_all_holders = facts.n_holders + roll(dice, 3);
    return facts;
}

static void assert_claims_equal(const struct claim_facts *a, const struct claim_facts *b)
{
    assert_string_equal(a->namespace_, b->namespace_);
    assert_string_equal(a->name, b->name);
    assert_string_equal(a->uid, b->uid);
    assert_true(a->n_devices == b->n_devices);
    assert_int_equal(a->wants_all, b->wants_all);
    assert_int_equal(a->has_alternatives, b->has_alternatives);
    assert_int_equal(a->n_wants, b->n_wants);
    for (size_t i = 0; i < a->n_wants; i++) {
        assert_string_equal(a->wants[i].class_name, b->wants[i].class_name);
        assert_string_equal(a->wants[i].driver, b->wants[i].driver);
        assert_true(a->wants[i].n_devices == b->wants[i].n_devices);
    }
    assert_int_equal(a->is_allocated, b->is_allocated);
    assert_int_equal(a->terminating, b->terminating);
    assert_string_equal(a->extended_for_uid, b->extended_for_uid);
    assert_string_equal(a->labels, b->labels);
    assert_int_equal(a->n_results, b->n_results);
    for (size_t i = 0; i < a->n_results; i++) {
        assert_string_equal(a->results[i].driver, b->results[i].driver);
        assert_string_equal(a->results[i].pool, b->results[i].pool);
        assert_string_equal(a->results[i].device, b->results[i].device);
        assert_int_equal(a->results[i].is_admin, b->results[i].is_admin);
        assert_int_equal(a->results[i].is_shared, b->results[i].is_shared);
        assert_int_equal(!a->results[i].consumed, !b->results[i].consumed);
        if (a->results[i].consumed)
            assert_string_equal(a->results[i].consumed, b->results[i].consumed);
    }
    assert_int_equal(a->n_all_holders, b->n_all_holders);
    assert_int_equal(a->n_holders, b->n_holders);
    for (size_t i = 0; i < a->n_holders; i++)
        assert_string_equal(a->holders[i], b->holders[i]);
}

static void test_any_claim_reads_back(void **state)
{
    (void)state;
    for (uint64_t seed = 0; seed < ROUNDS; seed++) {
        struct dice dice = {seed, arena_new()};
        const struct claim_facts facts = random_claim(&dice);
        struct claim_facts back;
        struct err err;
        json_auto_t *json = through_text(resource_claim_to_json(&facts));
        if (resource_claim_from_json(json, dice.arena, &back, &err) < 0)
            fail_msg("seed %d: %s", (int)seed, err.text);
        assert_claims_equal(&facts, &back);
        arena_free(dice.arena);
    }
}

static void assert_same(const char *a, const char *b)
{
    assert_string_equal(a ? a : "(any)", b ? b : "(any)");
}

static void test_any_taint_rule_reads_back(void **state)
{
    (void)state;
    for (uint64_t seed = 0; seed < ROUNDS; seed++) {
        struct dice dice = {seed, arena_new()};
        const struct device_taint_facts facts = {.name = word(&dice),
                                                 .driver = chance(&dice) ? word(&dice) : NULL,
                                                 .pool = chance(&dice) ? word(&dice) : NULL,
                                                 .device = chance(&dice) ? word(&dice) : NULL,
                                                 .key = word(&dice),
                                                 .value = word(&dice),
                                                 .effect =
                                                     chance(&dice) ? "NoSchedule" : "NoExecute"};
        struct device_taint_facts back;
        struct err err;
        bool taints = false;
        json_auto_t *json = through_text(device_taint_rule_to_json(&facts));
        if (device_taint_rule_from_json(json, dice.arena, &back, &taints, &err) < 0)
            fail_msg("seed %d: %s", (int)seed, err.text);
        assert_true(taints);
        assert_string_equal(facts.name, back.name);
        assert_same(facts.driver, back.driver);
        assert_same(facts.pool, back.pool);
        assert_same(facts.device, back.device);
        assert_string_equal(facts.key, back.key);
        assert_string_equal(facts.value, back.value);
        assert_string_equal(facts.effect, back.effect);
        arena_free(dice.arena);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_any_slice_reads_back),
        cmocka_unit_test(test_counters_are_written_by_name),
        cmocka_unit_test(test_attributes_read_back),
        cmocka_unit_test(test_that_attributes_are_left_out_reads_back),
        cmocka_unit_test(test_any_claim_reads_back),
        cmocka_unit_test(test_any_taint_rule_reads_back),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
