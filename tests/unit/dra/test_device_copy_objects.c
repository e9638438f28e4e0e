/* What objects say of devices, as the allocator gets it. JSON with ' for ". */
#include "base/buf.h"
#include "device_copy_fixture.h"
#include "dra/devices.h"
#include "formats/json_values.h"
#include "objects/claims.h"
#include "objects/device_details.h"

#include <string.h>

#define DRIVER "gpu.nvidia.com"

static int set_up(void **state)
{
    *state = device_copy_fixture_new(NULL, 0);
    return 0;
}

static json_t *parse(struct arena *arena, const char *text)
{
    json_error_t error;
    char *copy = arena_strdup(arena, text);
    for (char *at = copy; *at; at++)
        *at = *at == '\'' ? '"' : *at;
    json_t *json = json_loads(copy, 0, &error);
    if (!json)
        fail_msg("%s in %s", error.text, copy);
    return json;
}

/* spec: the members besides driver and pool; the pool has the slice's name, and one slice. */
static void add_slice_of(struct fixture *fixture, const char *driver, const char *name,
                         const char *spec)
{
    struct slice_facts facts;
    struct err err;
    json_auto_t *object =
        parse(fixture->arena,
              arena_printf(fixture->arena,
                           "{'metadata': {'name': '%s'}, 'spec': {'driver': '%s', "
                           "'pool': {'name': '%s', 'generation': 1, 'resourceSliceCount': 1}, "
                           "%s}}",
                           name, driver, name, spec));
    if (resource_slice_from_json(object, &fixture->policy, fixture->arena, &facts, &err) < 0)
        fail_msg("%s", err.text);
    cluster_upsert_slice(fixture->cluster, &facts);
}

static void add_slice(struct fixture *fixture, const char *name, const char *spec)
{
    add_slice_of(fixture, DRIVER, name, spec);
}

static void add_rule(struct fixture *fixture, const char *name, const char *spec)
{
    struct device_taint_facts facts;
    struct err err;
    bool taints = false;
    json_auto_t *object = parse(fixture->arena, arena_printf(fixture->arena,
                                                             "{'metadata': {'name': '%s'}, "
                                                             "'spec': {%s}}",
                                                             name, spec));
    if (device_taint_rule_from_json(object, fixture->arena, &facts, &taints, &err) < 0)
        fail_msg("%s", err.text);
    if (taints)
        cluster_upsert_device_taint(fixture->cluster, &facts);
}

static void read_all(struct fixture *fixture)
{
    bool is_done = false;
    while (!is_done) {
        device_copy_read_some(fixture->copy, cluster_devices(fixture->cluster),
                              cluster_knows(fixture->cluster, CLUSTER_CLAIMS));
        is_done = device_copy_end_step(fixture->copy);
    }
}

static struct device_copy_slices on_node(struct fixture *fixture, const char *name,
                                         const char *zone)
{
    struct label *labels = ARENA_ARRAY(fixture->arena, struct label, 2);
    labels[0] = (struct label){"kubernetes.io/hostname", name};
    labels[1] = (struct label){"zone", zone};
    const struct label_view node = {.node_name = name, .labels = labels, .n_labels = 2};
    return device_copy_on_node(fixture->copy, &node, fixture->arena);
}

/* "a/gpu-0 a/gpu-1": the devices that reach the node. */
static const char *devices_on(struct fixture *fixture, const char *node, const char *zone)
{
    const struct device_copy_slices slices = on_node(fixture, node, zone);
    const char *text = "";
    assert_null(slices.not_judged);
    for (size_t i = 0; i < slices.n; i++) {
        const struct allocate_slice *slice = &slices.slices[i];
        for (size_t j = 0; j < slice->n_devices; j++) {
            if (slice->devices_reach ? slice->devices_reach[j] : slice->reaches_node)
                text = arena_printf(fixture->arena, "%s%s%s/%s", text, text[0] ? " " : "",
                                    slice->name, slice->devices[j].name);
        }
    }
    return text;
}

/* The first slice of the node. */
static const struct allocate_slice *slice_of(struct fixture *fixture, const char *node)
{
    const struct device_copy_slices slices = on_node(fixture, node, "");
    assert_null(slices.not_judged);
    assert_true(slices.n > 0);
    return &slices.slices[0];
}

/* ---- taints ---- */

static const char *taints_of(struct fixture *fixture, const struct allocate_device *device)
{
    const char *text = "";
    for (size_t i = 0; i < device->n_taints; i++)
        text =
            arena_printf(fixture->arena, "%s%s%s=%s:%s", text, text[0] ? " " : "",
                         device->taints[i].key, device->taints[i].value, device->taints[i].effect);
    return text;
}

static void assert_taints(struct fixture *fixture, const char *node, size_t device,
                          const char *wanted)
{
    const struct allocate_slice *slice = slice_of(fixture, node);
    assert_string_equal(taints_of(fixture, &slice->devices[device]), wanted);
}

static void test_taints_of_a_slice(void **state)
{
    struct fixture *fixture = *state;
    add_slice(fixture, "a",
              "'nodeName': 'a', 'devices': [{'name': 'd', 'taints': ["
              "{'key': 'k', 'value': 'v', 'effect': 'NoSchedule', 'timeAdded': "
              "'2026-03-02T08:14:55Z'}, {'key': 'n', 'effect': 'None'}, "
              "{'key': 'e', 'effect': 'NoExecute'}]}, {'name': 'e'}]");
    read_all(fixture);
    assert_taints(fixture, "a", 0, "k=v:NoSchedule e=:NoExecute");
    assert_taints(fixture, "a", 1, "");
}

static void test_taints_of_rules(void **state)
{
    struct fixture *fixture = *state;
    add_slice(fixture, "a",
              "'nodeName': 'a', 'devices': [{'name': 'd', 'taints': [{'key': 'own', 'effect': "
              "'NoSchedule'}]}, {'name': 'e'}]");
    add_slice(fixture, "b", "'nodeName': 'b', 'devices': [{'name': 'd'}]");
    add_rule(fixture, "by-name",
             "'deviceSelector': {'driver': '" DRIVER "', 'pool': 'a', 'device': 'd'}, "
             "'taint': {'key': 'name', 'value': '1', 'effect': 'NoExecute'}");
    add_rule(fixture, "by-pool",
             "'deviceSelector': {'pool': 'a'}, 'taint': {'key': 'pool', 'effect': 'NoSchedule'}");
    add_rule(fixture, "other-driver",
             "'deviceSelector': {'driver': 'x', 'pool': 'a'}, 'taint': {'key': 'x', 'effect': "
             "'NoSchedule'}");
    add_rule(fixture, "nothing", "'taint': {'key': 'no', 'effect': 'NoSchedule'}");
    read_all(fixture);
    assert_taints(fixture, "a", 0, "own=:NoSchedule pool=:NoSchedule name=1:NoExecute");
    assert_taints(fixture, "a", 1, "pool=:NoSchedule");
    assert_taints(fixture, "b", 0, "");
}

static void test_a_rule_for_all_devices(void **state)
{
    struct fixture *fixture = *state;
    add_slice(fixture, "a", "'nodeName': 'a', 'devices': [{'name': 'd'}]");
    add_rule(fixture, "all",
             "'deviceSelector': {}, 'taint': {'key': 'k', 'value': 'old', 'effect': "
             "'NoSchedule'}");
    add_rule(fixture, "all",
             "'deviceSelector': {}, 'taint': {'key': 'k', 'value': 'new', 'effect': "
             "'NoSchedule'}");
    read_all(fixture);
    assert_taints(fixture, "a", 0, "k=new:NoSchedule");
}

static void test_more_rules_than_a_step_reads(void **state)
{
    struct fixture *fixture = *state;
    add_slice(fixture, "a", "'nodeName': 'a', 'devices': [{'name': 'd'}]");
    for (size_t i = 0; i < 2500; i++)
        add_rule(fixture, arena_printf(fixture->arena, "r%zu", i),
                 "'deviceSelector': {}, 'taint': {'key': 'k', 'effect': 'NoSchedule'}");
    read_all(fixture);
    assert_int_equal(slice_of(fixture, "a")->devices[0].n_taints, 2500);
}

static void test_too_many_rules_are_not_judged(void **state)
{
    struct fixture *fixture = *state;
    for (size_t i = 0; i < 10001; i++)
        add_rule(fixture, arena_printf(fixture->arena, "r%zu", i),
                 "'deviceSelector': {'pool': 'none'}, 'taint': {'key': 'k', 'effect': "
                 "'NoSchedule'}");
    read_all(fixture);
    assert_string_equal(on_node(fixture, "a", "").not_judged,
                        "there are too many DeviceTaintRules");
}

/* ---- nodes ---- */

#define SELECTOR(key, value)                                                                       \
    "'nodeSelector': {'nodeSelectorTerms': [{'matchExpressions': [{'key': '" key                   \
    "', 'operator': 'In', 'values': ['" value "']}]}]}"

static void test_slices_for_several_nodes(void **state)
{
    struct fixture *fixture = *state;
    add_slice(fixture, "one", "'nodeName': 'a', 'devices': [{'name': 'd'}]");
    add_slice(fixture, "all", "'allNodes': true, 'devices': [{'name': 'd'}]");
    add_slice(fixture, "zone", SELECTOR("zone", "z") ", 'devices': [{'name': 'd'}]");
    add_slice(fixture, "host",
              SELECTOR("kubernetes.io/hostname", "b") ", 'devices': [{'name': 'd'}]");
    read_all(fixture);
    assert_string_equal(devices_on(fixture, "a", "y"), "one/d all/d");
    assert_string_equal(devices_on(fixture, "b", "z"), "host/d zone/d all/d");
    assert_string_equal(devices_on(fixture, "c", ""), "all/d");
}

static void test_devices_for_several_nodes(void **state)
{
    struct fixture *fixture = *state;
    add_slice(fixture, "p",
              "'perDeviceNodeSelection': true, 'devices': [{'name': 'one', 'nodeName': 'a'}, "
              "{'name': 'all', 'allNodes': true}, {'name': 'zone', " SELECTOR(
                  "zone", "z") "}, "
                               "{'name': 'host', " SELECTOR("kubernetes.io/hostname", "b") "}]");
    read_all(fixture);
    assert_string_equal(devices_on(fixture, "a", "y"), "p/one p/all");
    assert_string_equal(devices_on(fixture, "b", "z"), "p/all p/zone p/host");
}

static void test_a_selector_that_is_not_understood(void **state)
{
    struct fixture *fixture = *state;
    add_slice(fixture, "p",
              "'nodeSelector': {'nodeSelectorTerms': [{'matchExpressions': [{'key': 'k', "
              "'operator': 'Like', 'values': ['v']}]}]}, 'devices': [{'name': 'd'}]");
    read_all(fixture);
    assert_string_equal(on_node(fixture, "a", "").not_judged,
                        "its node selector is not understood");
}

/* ---- counters ---- */

#define COUNTERS "'counters': {'memory': {'value': '40Gi'}, 'slices': {'value': '7'}}"

static void test_counters(void **state)
{
    struct fixture *fixture = *state;
    add_slice(fixture, "a",
              "'nodeName': 'a', 'sharedCounters': [{'name': 'gpu-0', " COUNTERS "}], 'devices': ["
              "{'name': 'd', 'consumesCounters': [{'counterSet': 'gpu-0', 'counters': "
              "{'slices': {'value': '1'}}}]}]");
    read_all(fixture);
    const struct allocate_slice *slice = slice_of(fixture, "a");
    assert_int_equal(slice->n_shared_counters, 1);
    assert_string_equal(slice->shared_counters[0].name, "gpu-0");
    assert_int_equal(slice->shared_counters[0].n_counters, 2);
    assert_int_equal(slice->devices[0].n_consumes, 1);
    assert_string_equal(slice->devices[0].consumes[0].counters[0].name, "slices");
    assert_int_equal(slice->devices[0].consumes[0].counters[0].amount, 1);
}

static void test_a_pool_with_counters_in_order_concerns_its_nodes_only(void **state)
{
    struct fixture *fixture = *state;
    add_slice(fixture, "a", "'nodeName': 'a', 'sharedCounters': [{'name': 'gpu-0', " COUNTERS "}]");
    add_slice(fixture, "b",
              "'nodeName': 'b', 'devices': [{'name': 'd', 'consumesCounters': [{'counterSet': "
              "'gpu-0', 'counters': {'slices': {'value': '1'}}}]}]");
    add_slice(fixture, "c",
              "'nodeName': 'c', 'sharedCounters': [{'name': 'x', 'counters': {}}, {'name': 'x', "
              "'counters': {}}]");
    read_all(fixture);
    assert_int_equal(on_node(fixture, "a", "").n, 2);
    assert_int_equal(on_node(fixture, "b", "").n, 2);
    assert_int_equal(on_node(fixture, "d", "").n, 1);
}

static void test_a_pool_whose_devices_consume_unknown_counters_concerns_all_nodes(void **state)
{
    struct fixture *fixture = *state;
    add_slice(fixture, "a",
              "'nodeName': 'a', 'sharedCounters': [{'name': 'gpu-0', " COUNTERS "}], 'devices': ["
              "{'name': 'd', 'consumesCounters': [{'counterSet': 'gpu-0', 'counters': "
              "{'cores': {'value': '1'}}}]}]");
    read_all(fixture);
    assert_int_equal(on_node(fixture, "b", "").n, 1);
}

static void test_counters_that_are_no_whole_numbers_are_not_judged(void **state)
{
    struct fixture *fixture = *state;
    add_slice(fixture, "a",
              "'nodeName': 'a', 'sharedCounters': [{'name': 'gpu-0', 'counters': {'m': {'value': "
              "'1500m'}}}]");
    read_all(fixture);
    assert_string_equal(on_node(fixture, "a", "").not_judged, "its counters are no whole numbers");
}

/* ---- attributes ---- */

static void test_facts_are_of_their_attributes_kinds(void **state)
{
    static const struct cel_read ALL[] = {{.is_capacity = false}, {.is_capacity = true}};
    static const struct {
        const char *name, *text;
        enum cel_fact_kind kind;
    } FACTS[] = {{"b", "true", CEL_BOOL},
                 {"i", "7", CEL_INT},
                 {"q", "4Gi", CEL_QUANTITY},
                 {"s", "vital", CEL_STRING},
                 {"v", "1.2.3", CEL_VERSION}};
    struct fixture *fixture = *state;
    fixture->copy = device_copy_new(ALL, 2, &DEVICE_DETAILS_READER, fixture->arena);
    add_slice(fixture, "a",
              "'nodeName': 'a', 'devices': [{'name': 'd', 'attributes': {'b': {'bool': true}, "
              "'i': {'int': 7}, 's': {'string': 'vital'}, 'v': {'version': '1.2.3'}}, "
              "'capacity': {'q': {'value': '4Gi'}}}]");
    read_all(fixture);
    const struct cel_device *device = slice_of(fixture, "a")->devices[0].facts;
    assert_int_equal(device->n_facts, 5);
    for (size_t i = 0; i < 5; i++) {
        size_t j = 0;
        while (strcmp(device->facts[j].name, FACTS[i].name) != 0)
            assert_true(++j < 5);
        assert_int_equal(device->facts[j].kind, FACTS[i].kind);
        assert_string_equal(device->facts[j].text, FACTS[i].text);
    }
}

static void test_equal_devices_of_two_drivers_keep_their_drivers(void **state)
{
    struct fixture *fixture = *state;
    add_slice_of(fixture, "gpu.example.co", "one", "'nodeName': 'a', 'devices': [{'name': 'd'}]");
    add_slice_of(fixture, "gpu.example.cv", "two", "'nodeName': 'a', 'devices': [{'name': 'd'}]");
    device_copy_name_drivers(fixture->copy, &fixture->policy, true);
    read_all(fixture);
    const struct device_copy_slices slices = on_node(fixture, "a", "");
    assert_int_equal(slices.n_with_others, 2);
    for (size_t i = 0; i < 2; i++)
        assert_string_equal(slices.slices[i].devices[0].facts->driver, slices.slices[i].driver);
}

/* ---- capacities ---- */

static const struct allocate_capacity *capacity_of(const struct allocate_device *device,
                                                   const char *name)
{
    for (size_t i = 0; i < device->n_capacities; i++) {
        if (strcmp(device->capacities[i].name, name) == 0)
            return &device->capacities[i];
    }
    fail_msg("no capacity %s", name);
    return NULL;
}

static void test_capacities_and_their_policies(void **state)
{
    struct fixture *fixture = *state;
    add_slice(fixture, "a",
              "'nodeName': 'a', 'devices': [{'name': 'd', 'allowMultipleAllocations': true, "
              "'capacity': {'memory': {'value': '40Gi', 'requestPolicy': {'default': '1Gi', "
              "'validRange': {'min': '1Gi', 'max': '20Gi', 'step': '1Gi'}}}, "
              "'" DRIVER "/cores': {'value': '8', 'requestPolicy': {'default': '2', "
              "'validValues': ['2', '4']}}, 'x.example/plain': {'value': '500m'}}}]");
    read_all(fixture);
    const struct allocate_device *device = &slice_of(fixture, "a")->devices[0];
    assert_int_equal(device->n_capacities, 3);
    assert_true(device->facts->allows_multiple);
    const struct allocate_capacity *memory = capacity_of(device, "memory");
    assert_true(memory->value == INT64_C(40) << 30);
    assert_true(memory->policy->has_range);
    assert_true(memory->policy->min == INT64_C(1) << 30);
    assert_true(memory->policy->max == INT64_C(20) << 30);
    assert_true(memory->policy->fallback == INT64_C(1) << 30);
    const struct allocate_capacity *cores = capacity_of(device, DRIVER "/cores");
    assert_int_equal(cores->policy->n_values, 2);
    assert_int_equal(cores->policy->values[1], 4);
    assert_int_equal(cores->policy->max, ALLOCATE_UNSET);
    const struct allocate_capacity *plain = capacity_of(device, "x.example/plain");
    assert_int_equal(plain->value, ALLOCATE_UNKNOWN);
    assert_null(plain->policy);
}

static void test_equal_policies_share_their_capacities(void **state)
{
    struct fixture *fixture = *state;
    add_slice(fixture, "a",
              "'nodeName': 'a', 'devices': [{'name': 'd', 'capacity': {'memory': {'value': '1'}}}, "
              "{'name': 'e', 'capacity': {'memory': {'value': '1'}}}, "
              "{'name': 'f', 'capacity': {'memory': {'value': '2'}}}]");
    read_all(fixture);
    const struct allocate_device *devices = slice_of(fixture, "a")->devices;
    assert_ptr_equal(devices[0].capacities, devices[1].capacities);
    assert_ptr_not_equal(devices[0].capacities, devices[2].capacities);
}

/* ---- what is taken ---- */

static void take(struct fixture *fixture, const struct allocate_want *want,
                 const struct allocate_slice *slice, size_t device)
{
    const struct allocate_request request = {.name = "r", .wants = want, .n_wants = 1};
    const struct allocate_claim claim = {
        .namespace_ = "n", .name = "c", .requests = &request, .n_requests = 1};
    const struct allocate_results results = {
        .devices = {{.slice = slice, .device = &slice->devices[device]}}, .n = 1};
    device_copy_take(fixture->copy, &claim, &results);
}

static void test_a_share_of_a_device_is_taken_and_given_back(void **state)
{
    struct fixture *fixture = *state;
    add_slice(fixture, "a",
              "'nodeName': 'a', 'devices': [{'name': 'd', 'allowMultipleAllocations': true, "
              "'capacity': {'memory': {'value': '8', 'requestPolicy': {'default': '3'}}}}]");
    read_all(fixture);
    const struct allocate_want want = {.name = "", .n_devices = 1};
    const struct allocate_slice *slice = slice_of(fixture, "a");
    const struct allocate_device *device = &slice->devices[0];
    take(fixture, &want, slice, 0);
    take(fixture, &want, slice, 0);
    assert_int_equal(device->capacities[0].consumed, 6);
    assert_true(device->is_shared && !device->is_allocated && device->has_consumed_capacity);
    device_copy_give_back(fixture->copy, 1);
    assert_int_equal(device->capacities[0].consumed, 3);
    device_copy_give_back(fixture->copy, 0);
    assert_int_equal(device->capacities[0].consumed, 0);
    assert_false(device->is_shared || device->has_consumed_capacity);
}

static void add_claim(struct fixture *fixture, size_t i, const char *result)
{
    struct claim_facts facts;
    struct err err;
    json_auto_t *object = parse(
        fixture->arena,
        arena_printf(fixture->arena,
                     "{'metadata': {'namespace': 'n', 'name': 'c%zu', 'uid': 'u%zu'}, 'status': "
                     "{'allocation': {'devices': {'results': [{'driver': '" DRIVER
                     "', 'pool': 'a', 'device': 'd'%s}]}}}}",
                     i, i, result));
    if (resource_claim_from_json(object, fixture->arena, &facts, &err) < 0)
        fail_msg("%s", err.text);
    cluster_upsert_resource_claim(fixture->cluster, &facts);
}

#define SHARED                                                                                     \
    "'nodeName': 'a', 'devices': [{'name': 'd', 'allowMultipleAllocations': true, 'capacity': "    \
    "{'memory': {'value': '40Gi'}, 'cores': {'value': '8'}}}]"

static void test_consumed_capacities_add_up(void **state)
{
    struct fixture *fixture = *state;
    add_slice(fixture, "a", SHARED);
    add_claim(fixture, 0, ", 'shareID': 's', 'consumedCapacity': {'memory': '1Gi', 'cores': '2'}");
    add_claim(fixture, 1, ", 'shareID': 't', 'consumedCapacity': {'memory': '1Gi', 'cores': '2'}");
    add_claim(fixture, 2, ", 'shareID': 'u', 'consumedCapacity': {'memory': '2Gi', 'x': '9'}");
    add_claim(fixture, 3, ", 'adminAccess': true");
    read_all(fixture);
    const struct allocate_device *device = &slice_of(fixture, "a")->devices[0];
    assert_true(device->is_shared && device->has_consumed_capacity && !device->is_allocated);
    assert_true(capacity_of(device, "memory")->consumed == INT64_C(4) << 30);
    assert_int_equal(capacity_of(device, "cores")->consumed, 4);
}

static void test_consumed_capacities_that_are_no_amounts(void **state)
{
    static const char *const CASES[] = {"{'memory': '500m'}", "{'memory': {}}", "7", "[]",
                                        "{'memory': '8Ei'}"};
    for (size_t i = 0; i < sizeof CASES / sizeof *CASES; i++) {
        struct fixture *fixture = *state;
        device_copy_free(fixture->copy);
        add_slice(fixture, "a", SHARED);
        add_claim(
            fixture, 0,
            arena_printf(fixture->arena, ", 'shareID': 's', 'consumedCapacity': %s", CASES[i]));
        read_all(fixture);
        const struct allocate_device *device = &slice_of(fixture, "a")->devices[0];
        assert_int_equal(capacity_of(device, "memory")->consumed, ALLOCATE_UNKNOWN);
    }
}

static void test_a_share_without_consumed_capacity(void **state)
{
    struct fixture *fixture = *state;
    add_slice(fixture, "a", SHARED);
    add_claim(fixture, 0, ", 'shareID': 's'");
    read_all(fixture);
    const struct allocate_device *device = &slice_of(fixture, "a")->devices[0];
    assert_true(device->is_shared && !device->has_consumed_capacity);
    assert_int_equal(capacity_of(device, "memory")->consumed, 0);
}

static void test_a_device_of_too_many_claims_is_not_judged(void **state)
{
    struct fixture *fixture = *state;
    add_slice(fixture, "a", SHARED);
    for (size_t i = 0; i < DEVICE_STATUS_USES_MAX; i++)
        add_claim(fixture, i, ", 'shareID': 's', 'consumedCapacity': {'cores': '1'}");
    read_all(fixture);
    assert_int_equal(capacity_of(&slice_of(fixture, "a")->devices[0], "cores")->consumed,
                     DEVICE_STATUS_USES_MAX);
    device_copy_free(fixture->copy);
    add_claim(fixture, DEVICE_STATUS_USES_MAX, ", 'shareID': 's'");
    read_all(fixture);
    assert_string_equal(on_node(fixture, "a", "").not_judged, "too many claims use a device");
}

/* 250 claims with 1,000 bytes each, of two devices. */
static void test_too_much_text_of_consumed_capacities_is_not_judged(void **state)
{
    struct fixture *fixture = *state;
    char text[1000];
    memset(text, 'x', sizeof text);
    text[sizeof text - 1] = '\0';
    add_slice(fixture, "a", "'nodeName': 'a', 'devices': [{'name': 'd'}, {'name': 'e'}]");
    for (size_t i = 0; i < 250; i++) {
        add_claim(fixture, i,
                  arena_printf(fixture->arena,
                               ", 'shareID': 's', 'consumedCapacity': {'%zu%s': '1'}}, {'driver': "
                               "'" DRIVER "', 'pool': 'a', 'device': 'e', 'shareID': 's', "
                               "'consumedCapacity': {'%zu%s': '2'}",
                               i, text, i, text));
    }
    read_all(fixture);
    assert_string_equal(on_node(fixture, "a", "").not_judged, "too many claims use a device");
}

static void test_which_nodes_a_taken_device_touches(void **state)
{
    struct fixture *fixture = *state;
    add_slice(fixture, "a",
              "'nodeName': 'a', 'sharedCounters': [{'name': 'gpu-0', " COUNTERS "}], 'devices': ["
              "{'name': 'd', 'consumesCounters': [{'counterSet': 'gpu-0', 'counters': "
              "{'slices': {'value': '1'}}}]}]");
    add_slice(fixture, "all", "'allNodes': true, 'devices': [{'name': 'd'}]");
    read_all(fixture);
    const struct allocate_want want = {.name = "", .n_devices = 1};
    const struct device_copy_slices slices = on_node(fixture, "a", "");
    take(fixture, &want, &slices.slices[0], 0);
    assert_true(device_copy_touches(fixture->copy, 0, "a"));
    assert_false(device_copy_touches(fixture->copy, 0, "b"));
    take(fixture, &want, &slices.slices[1], 0);
    assert_true(device_copy_touches(fixture->copy, 0, "b"));
}

/* Any node may have the label. */
static void test_a_taken_device_of_a_host_touches_all_nodes(void **state)
{
    struct fixture *fixture = *state;
    add_slice(fixture, "host",
              SELECTOR("kubernetes.io/hostname", "b") ", 'devices': [{'name': 'd'}]");
    read_all(fixture);
    const struct allocate_want want = {.name = "", .n_devices = 1};
    take(fixture, &want, slice_of(fixture, "b"), 0);
    assert_true(device_copy_touches(fixture->copy, 0, "a"));
}

static void test_devices_of_one_name_are_taken_together(void **state)
{
    struct fixture *fixture = *state;
    add_slice(fixture, "a", "'nodeName': 'a', 'devices': [{'name': 'd'}, {'name': 'd'}]");
    read_all(fixture);
    const struct allocate_want want = {.name = "", .n_devices = 1};
    const struct allocate_slice *slice = slice_of(fixture, "a");
    take(fixture, &want, slice, 0);
    assert_true(slice->devices[0].is_allocated && slice->devices[1].is_allocated);
    device_copy_give_back(fixture->copy, 0);
    assert_false(slice->devices[0].is_allocated || slice->devices[1].is_allocated);
}

/* ---- what is not judged ---- */

static void test_what_is_not_understood_is_not_judged(void **state)
{
    struct fixture *fixture = *state;
    add_slice(fixture, "a", "'nodeName': 'a', 'devices': [{'name': 'd', 'novel': 1}]");
    add_slice(fixture, "b", "'nodeName': 'b', 'novel': {}, 'devices': [{'name': 'd'}]");
    add_slice(fixture, "c",
              "'nodeName': 'c', 'devices': [{'name': 'd', 'capacity': {'m': {'value': '1', "
              "'requestPolicy': {'novel': 1}}}}]");
    add_slice(fixture, "d", "'nodeName': 'd', 'devices': [{'name': 'd', 'novel': null}]");
    read_all(fixture);
    assert_string_equal(on_node(fixture, "a", "").not_judged,
                        "it has a member that is not understood: novel");
    assert_string_equal(on_node(fixture, "b", "").not_judged,
                        "it has a member that is not understood: novel");
    assert_string_equal(on_node(fixture, "c", "").not_judged,
                        "a policy of its capacities is not understood");
    assert_null(on_node(fixture, "d", "").not_judged);
}

static void test_details_that_are_too_long_are_not_judged(void **state)
{
    struct fixture *fixture = *state;
    char text[20000];
    memset(text, 'x', sizeof text);
    text[sizeof text - 1] = '\0';
    add_slice(fixture, "a",
              arena_printf(fixture->arena,
                           "'nodeName': 'a', 'devices': [{'name': 'd', 'taints': [{'key': '%s', "
                           "'effect': 'NoSchedule'}]}]",
                           text));
    read_all(fixture);
    assert_string_equal(on_node(fixture, "a", "").not_judged, "not all of it is kept");
}

#define LONG "a-condition-with-a-long-name"

/* The text for users is bounded: each verdict has it. */
static void test_binding_conditions(void **state)
{
    struct fixture *fixture = *state;
    add_slice(
        fixture, "a",
        "'nodeName': 'a', 'devices': [{'name': 'd', 'bindsToNode': true, "
        "'bindingConditions': ['ready', 'attached'], 'bindingFailureConditions': ['broken']}, "
        "{'name': 'e'}, {'name': 'f', 'bindingConditions': ['a', 'b', 'c', 'd', 'e', 1]}, "
        "{'name': 'g', 'bindingConditions': ['" LONG LONG LONG LONG "']}]");
    read_all(fixture);
    const struct allocate_slice *slice = slice_of(fixture, "a");
    assert_string_equal(slice->devices[0].binding_conditions, "ready, attached");
    assert_true(slice->devices[0].binds_to_node);
    assert_null(slice->devices[1].binding_conditions);
    assert_false(slice->devices[1].binds_to_node);
    assert_string_equal(slice->devices[2].binding_conditions, "a, b, c, d and 2 more");
    assert_string_equal(slice->devices[3].binding_conditions, "gpu-extender.io/left-out");
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, set_up, device_copy_fixture_teardown)

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(test_taints_of_a_slice),
        TEST(test_taints_of_rules),
        TEST(test_a_rule_for_all_devices),
        TEST(test_more_rules_than_a_step_reads),
        TEST(test_too_many_rules_are_not_judged),
        TEST(test_slices_for_several_nodes),
        TEST(test_devices_for_several_nodes),
        TEST(test_a_selector_that_is_not_understood),
        TEST(test_counters),
        TEST(test_a_pool_with_counters_in_order_concerns_its_nodes_only),
        TEST(test_a_pool_whose_devices_consume_unknown_counters_concerns_all_nodes),
        TEST(test_counters_that_are_no_whole_numbers_are_not_judged),
        TEST(test_facts_are_of_their_attributes_kinds),
        TEST(test_equal_devices_of_two_drivers_keep_their_drivers),
        TEST(test_capacities_and_their_policies),
        TEST(test_equal_policies_share_their_capacities),
        TEST(test_a_share_of_a_device_is_taken_and_given_back),
        TEST(test_consumed_capacities_add_up),
        TEST(test_consumed_capacities_that_are_no_amounts),
        TEST(test_a_share_without_consumed_capacity),
        TEST(test_a_device_of_too_many_claims_is_not_judged),
        TEST(test_too_much_text_of_consumed_capacities_is_not_judged),
        TEST(test_which_nodes_a_taken_device_touches),
        TEST(test_a_taken_device_of_a_host_touches_all_nodes),
        TEST(test_devices_of_one_name_are_taken_together),
        TEST(test_what_is_not_understood_is_not_judged),
        TEST(test_details_that_are_too_long_are_not_judged),
        TEST(test_binding_conditions),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
