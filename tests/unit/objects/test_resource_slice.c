/* resource_slice: decoding of ResourceSlices, as drivers write them, in all versions of the API. */
#include "objects/claims.h"

#include "fixture.h"

static struct slice_facts read_slice(struct fixture *fixture, const char *text)
{
    struct slice_facts facts = {0};
    const json_t *json = fixture_json(fixture, text);
    if (resource_slice_from_json(json, &fixture->policy, fixture->arena, &facts, &fixture->err) < 0)
        fail_msg("%s in %s", fixture->err.text, text);
    return facts;
}

#define POOL "'pool': {'name': 'n1', 'generation': 3, 'resourceSliceCount': 1}"
#define SPEC(members)                                                                              \
    "{'metadata': {'name': 's'}, 'spec': {'driver': 'gpu.nvidia.com', " POOL members "}}"
#define ON_NODE(members) SPEC(", 'nodeName': 'n1'" members)
#define DEVICE(members) ON_NODE(", 'devices': [{'name': 'gpu-0'" members "}]")

static struct device_facts read_device(struct fixture *fixture, const char *text)
{
    struct slice_facts facts = read_slice(fixture, text);
    assert_int_equal(facts.n_devices, 1);
    return facts.devices[0];
}

/* A whole GPU as NVIDIA's driver writes it. */
#define GPU_CONTENT                                                                                \
    "'attributes': {'type': {'string': 'gpu'}, 'uuid': {'string': 'GPU-1'},"                       \
    " 'productName': {'string': 'NVIDIA H100 80GB HBM3'}, 'index': {'int': 0},"                    \
    " 'cudaComputeCapability': {'version': '9.0.0'},"                                              \
    " 'resource.kubernetes.io/pciBusID': {'string': '0000:0a:00.0'}},"                             \
    "'capacity': {'memory': {'value': '81559Mi'}}"

static void assert_is_gpu(const struct device_facts *device)
{
    assert_string_equal(device->name, "gpu-0");
    assert_string_equal(device->model, "NVIDIA H100 80GB HBM3");
    assert_string_equal(device->profile, "");
    assert_string_equal(device->physical, "0000:0a:00.0");
    assert_int_equal(device->memory_bytes, INT64_C(81559) << 20);
    assert_string_equal(device->node_name, "");
    assert_false(device->is_tainted || device->not_judged);
    assert_int_equal(device->n_consumes, 0);
}

static void test_a_slice_of_a_node(void **state)
{
    struct fixture *fixture = *state;
    struct slice_facts facts =
        read_slice(fixture, ON_NODE(", 'devices': [{'name': 'gpu-0', " GPU_CONTENT "}]"));
    fixture_json(fixture, "{}"); /* no fact refers to the JSON */
    assert_string_equal(facts.name, "s");
    assert_string_equal(facts.driver, "gpu.nvidia.com");
    assert_string_equal(facts.pool, "n1");
    assert_int_equal(facts.generation, 3);
    assert_int_equal(facts.n_slices, 1);
    assert_string_equal(facts.node_name, "n1");
    assert_false(facts.per_device);
    assert_int_equal(facts.n_devices, 1);
    assert_is_gpu(&facts.devices[0]);
}

static void test_v1beta1(void **state)
{
    const struct device_facts device = read_device(*state, DEVICE(", 'basic': {" GPU_CONTENT "}"));
    assert_is_gpu(&device);
}

static void test_names_with_the_domain_of_the_driver(void **state)
{
    const struct device_facts device = read_device(
        *state, DEVICE(", 'attributes': {'gpu.nvidia.com/productName': {'string': 'Tesla T4'},"
                       " 'gpu.nvidia.com/profile': {'string': '1g.5gb'},"
                       " 'gpu.nvidia.com/parentUUID': {'string': 'GPU-1'},"
                       " 'gpu.amd.com/productName': {'string': 'MI300X'}},"
                       "'capacity': {'gpu.nvidia.com/memory': {'value': '4864Mi'}}"));
    assert_string_equal(device.model, "Tesla T4");
    assert_string_equal(device.profile, "1g.5gb");
    assert_string_equal(device.physical, "GPU-1");
    assert_int_equal(device.memory_bytes, INT64_C(4864) << 20);
}

static void assert_attributes(const struct device_facts *device, const char *wanted)
{
    struct buf got;
    buf_init(&got, BUF_UNBOUNDED);
    for (size_t i = 0; i < device->n_attributes; i++)
        buf_printf(&got, "%s=%s ", device->attributes[i].name, device->attributes[i].value);
    assert_string_equal(buf_text(&got), wanted);
    buf_fini(&got);
}

/* Devices of a slice share the texts that are equal in the same place. */
static void test_each_device_has_its_own_attributes(void **state)
{
    static const struct {
        const char *json, *wanted;
    } DEVICES[] = {
        {"'a': {'string': '1'}, 'b': {'int': 2}", "gpu.nvidia.com/a=s1 gpu.nvidia.com/b=i2 "},
        {"'a': {'string': '1'}, 'b': {'int': 2}", "gpu.nvidia.com/a=s1 gpu.nvidia.com/b=i2 "},
        {"'a': {'version': '1'}, 'b': {'int': 3}", "gpu.nvidia.com/a=v1 gpu.nvidia.com/b=i3 "},
        {"'a': {'version': '11'}", "gpu.nvidia.com/a=v11 "},
        {"'gpu.nvidia.com/a': {'version': '1'}, 'b': {'bool': true}",
         "gpu.nvidia.com/a=v1 gpu.nvidia.com/b=btrue "},
        {"'gpu.nvidia.com/a': {'version': '1'}, 'gpu.nvidia.com/b': {'string': 'true'}",
         "gpu.nvidia.com/a=v1 gpu.nvidia.com/b=strue "},
        {"'gpu.nvidia.co/a': {'string': '1'}, 'bb': {'string': 'tru'}",
         "gpu.nvidia.co/a=s1 gpu.nvidia.com/bb=stru "},
        {"'a': {'string': ''}, 'b': {'other': 1}", "gpu.nvidia.com/a=s gpu.nvidia.com/b=? "},
        {"", ""},
        {"'a': {'string': '?'}, 'b': {'string': ''}", "gpu.nvidia.com/a=s? gpu.nvidia.com/b=s "},
    };
    enum { N = sizeof DEVICES / sizeof *DEVICES };
    struct fixture *fixture = *state;
    const char *list = "";
    for (size_t i = 0; i < N; i++)
        list = arena_printf(fixture->arena, "%s%s{'name': 'd%zu', 'attributes': {%s}}", list,
                            i > 0 ? ", " : "", i, DEVICES[i].json);
    const struct slice_facts facts =
        read_slice(fixture, arena_printf(fixture->arena, ON_NODE(", 'devices': [%s]"), list));
    assert_int_equal(facts.n_devices, N);
    for (size_t i = 0; i < N; i++)
        assert_attributes(&facts.devices[i], DEVICES[i].wanted);
}

static void test_which_gpu_a_device_is_of(void **state)
{
#define PARENT "'parentUUID': {'string': 'GPU-1'}"
#define UUID "'uuid': {'string': 'MIG-2'}"
#define PCI "'resource.kubernetes.io/pciBusID': {'string': '0000:0a:00.0'}"
    static const char *const CASES[][2] = {
        {DEVICE(", 'attributes': {" UUID ", " PARENT ", " PCI "}"), "0000:0a:00.0"},
        {DEVICE(", 'attributes': {" UUID ", " PARENT "}"), "GPU-1"},
        {DEVICE(", 'attributes': {" UUID "}"), "MIG-2"},
        {DEVICE(", 'attributes': {'uuid': {'int': 7}}"), ""},
        {DEVICE(""), ""},
    };
    for (size_t i = 0; i < sizeof CASES / sizeof *CASES; i++) {
        const struct device_facts device = read_device(*state, CASES[i][0]);
        assert_string_equal(device.physical, CASES[i][1]);
        assert_false(device.not_judged);
    }
}

/* The operator says which drivers have GPUs, and in which attribute their model is. */
static void test_the_policy_names_drivers(void **state)
{
    struct fixture *fixture = *state;
#define OTHER                                                                                      \
    "{'metadata': {'name': 's'}, 'spec': {'driver': 'gpu.example.com', " POOL                      \
    ", 'allNodes': true, 'devices': [{'name': 'd', 'attributes': {'card': {'string': 'A100'}}}]}}"
    struct slice_facts facts = read_slice(fixture, OTHER);
    assert_int_equal(facts.n_devices, 1);
    assert_string_equal(facts.devices[0].model, "");
    assert_string_equal(facts.devices[0].attributes[0].value, "sA100");
    assert_string_equal(facts.driver, "gpu.example.com");
    assert_string_equal(facts.pool, "n1");
    policy_add_device_driver(&fixture->policy, "gpu.example.com", "card", "");
    facts = read_slice(fixture, OTHER);
    assert_int_equal(facts.n_devices, 1);
    assert_string_equal(facts.devices[0].model, "A100");
}

/* Of a driver that has no GPUs, a fault is none: nothing counts its devices. */
static void test_other_drivers_may_have_faults(void **state)
{
    const struct slice_facts facts =
        read_slice(*state, "{'metadata': {'name': 's'}, 'spec': {'driver': 'nic.example.com', " POOL
                           ", 'allNodes': true, 'devices': [7]}}");
    assert_int_equal(facts.n_devices, 0);
    assert_true(facts.is_unreadable);
}

#define BY_NAME(name)                                                                              \
    "{'nodeSelectorTerms': [{'matchFields': [{'key': 'metadata.name', 'operator': 'In',"           \
    " 'values': [" name "]}]}]}"

static void test_which_node_reaches_a_slice(void **state)
{
#define AMONG(selector) SPEC(", 'nodeSelector': " selector ", 'devices': [{'name': 'd'}]")
    static const char *const CASES[][2] = {
        {AMONG(BY_NAME("'n1'")), "n1"},
        {AMONG(BY_NAME("'n1', 'n2'")), ""},
        {AMONG("{'nodeSelectorTerms': [{'matchExpressions': [{'key': 'kubernetes.io/hostname',"
               " 'operator': 'In', 'values': ['n1']}]}]}"),
         ""},
        {AMONG("{'nodeSelectorTerms': []}"), ""},
        {SPEC(", 'allNodes': true, 'devices': [{'name': 'd'}]"), ""},
    };
    for (size_t i = 0; i < sizeof CASES / sizeof *CASES; i++) {
        const struct slice_facts facts = read_slice(*state, CASES[i][0]);
        assert_string_equal(facts.node_name, CASES[i][1]);
        assert_false(facts.per_device);
        assert_false(facts.devices[0].not_judged);
    }
}

static void test_which_node_reaches_each_device(void **state)
{
    const struct slice_facts facts = read_slice(
        *state, SPEC(", 'perDeviceNodeSelection': true, 'devices': ["
                     "{'name': 'a', 'nodeName': 'n1'}, {'name': 'b', 'allNodes': true},"
                     "{'name': 'c', 'nodeSelector': " BY_NAME(
                         "'n2'") "},"
                                 "{'name': 'd', 'basic': {'nodeName': 'n3'}}, {'name': 'e'}]"));
    static const char *const NODES[] = {"n1", "", "n2", "n3", ""};
    assert_true(facts.per_device);
    assert_int_equal(facts.n_devices, 5);
    for (size_t i = 0; i < 5; i++) {
        assert_string_equal(facts.devices[i].node_name, NODES[i]);
        assert_int_equal(facts.devices[i].not_judged, i == 4);
    }
}

static void test_taints(void **state)
{
    static const struct {
        const char *slice;
        bool is_tainted, not_judged;
    } CASES[] = {
        {DEVICE(", 'taints': [{'key': 'k', 'effect': 'NoSchedule'}]"), true, false},
        {DEVICE(", 'taints': [{'key': 'k', 'effect': 'None'}, {'effect': 'NoExecute'}]"), true,
         false},
        {DEVICE(", 'taints': [{'key': 'k', 'effect': 'None'}]"), false, false},
        {DEVICE(", 'taints': [{'key': 'k', 'effect': 'PreferNoSchedule'}]"), false, true},
        {DEVICE(", 'taints': [{'key': 'k'}]"), false, true},
    };
    for (size_t i = 0; i < sizeof CASES / sizeof *CASES; i++) {
        const struct device_facts device = read_device(*state, CASES[i].slice);
        assert_int_equal(device.is_tainted, CASES[i].is_tainted);
        assert_int_equal(device.not_judged, CASES[i].not_judged);
    }
}

static void test_counters(void **state)
{
    const struct slice_facts facts = read_slice(
        *state,
        ON_NODE(", 'sharedCounters': [{'name': 'gpu-0', 'counters': {'slices': {'value': '7'},"
                " 'memory': {'value': '81559Mi'}, 'large': {'value': '100E'}}}],"
                "'devices': [{'name': 'mig', 'consumesCounters': [{'counterSet': 'gpu-0',"
                " 'counters': {'memory': {'value': 5099225088}, 'slices': {'value': '500m'}}}]}]"));
    assert_int_equal(facts.n_counter_sets, 1);
    const struct counter_set *set = &facts.counter_sets[0];
    assert_string_equal(set->name, "gpu-0");
    assert_int_equal(set->n_counters, 3);
    assert_string_equal(set->counters[0].name, "large");
    assert_true(set->counters[0].amount == INT64_MAX);
    assert_string_equal(set->counters[1].name, "memory");
    assert_int_equal(set->counters[1].amount, INT64_C(81559) << 20);
    assert_int_equal(set->counters[2].amount, 7);
    assert_int_equal(facts.devices[0].n_consumes, 1);
    const struct counter_set *part = &facts.devices[0].consumes[0];
    assert_string_equal(part->name, "gpu-0");
    assert_int_equal(part->counters[0].amount, 5099225088);
    assert_int_equal(part->counters[1].amount, 1);
    assert_false(facts.devices[0].not_judged);
}

/* Such a device is there, but nobody knows what it is, or what it takes from others. */
static void test_what_is_not_understood_is_not_judged(void **state)
{
    static const char *const SLICES[] = {
        DEVICE(", 'attributes': {'productName': {'strings': ['A100', 'H100']}}"),
        DEVICE(", 'attributes': {'productName': {'int': 100}}"),
        DEVICE(", 'attributes': {'profile': {'bool': true}}"),
        DEVICE(", 'capacity': {'memory': {'value': 'much'}}"),
        DEVICE(", 'capacity': {'memory': {'value': '-1'}}"),
        DEVICE(", 'capacity': {'memory': {}}"),
        DEVICE(", 'consumesCounters': [{'counterSet': 'c', 'counters': {'m': {'value': '-1'}}}]"),
        DEVICE(", 'consumesCounters': [{'counters': {'m': {'value': '1'}}}]"),
        DEVICE(", 'consumesCounters': {}"),
        SPEC(", 'nodesOfTheFuture': 'all', 'devices': [{'name': 'gpu-0'}]"),
    };
    for (size_t i = 0; i < sizeof SLICES / sizeof *SLICES; i++) {
        if (!read_device(*state, SLICES[i]).not_judged)
            fail_msg("is judged: %s", SLICES[i]);
    }
}

static void test_unreadable_slices(void **state)
{
    static const char *const CASES[][2] = {
        {"[]", "is an array, should be an object"},
        {"{'spec': {" POOL "}}", "spec.driver: is missing"},
        {"{'spec': {'driver': 7}}", "spec.driver: is the number 7, should be a string"},
        {"{'spec': {'driver': 'gpu.amd.com', 'pool': {'resourceSliceCount': 1}}}",
         "spec.pool.name: is missing"},
        {"{'spec': {'driver': 'd', 'pool': {'name': 'p', 'generation': -1}}}",
         "spec.pool.generation: is -1, should be at least 0"},
        {"{'spec': {'driver': 'd', 'pool': {'name': 'p', 'generation': 1}}}",
         "spec.pool.resourceSliceCount: is 0, should be at least 1"},
        {ON_NODE(", 'devices': [{'name': 'a'}, {}]"), "spec.devices[1].name: is missing"},
        {ON_NODE(", 'devices': [7]"), "spec.devices[0]: is a whole number, should be an object"},
        {ON_NODE(", 'sharedCounters': [{'name': 'c', 'counters': {'m': {}}}]"),
         "spec.sharedCounters[0].counters[\"m\"].value: is nothing, should be a quantity such as "
         "\"4\" or \"16Gi\""},
    };
    struct fixture *fixture = *state;
    for (size_t i = 0; i < sizeof CASES / sizeof *CASES; i++) {
        struct slice_facts facts;
        const json_t *json = fixture_json(fixture, CASES[i][0]);
        assert_int_equal(
            resource_slice_from_json(json, &fixture->policy, fixture->arena, &facts, &fixture->err),
            -EINVAL);
        assert_string_equal(fixture->err.text, CASES[i][1]);
    }
}

/* Repeats the text, with commas between. */
static const char *repeated(struct fixture *fixture, const char *text, size_t n)
{
    const char *all = "";
    for (size_t i = 0; i < n; i++)
        all = arena_printf(fixture->arena, "%s%s%s", all, i > 0 ? ", " : "", text);
    return all;
}

static int read_result(struct fixture *fixture, const char *before, const char *text, size_t n)
{
    struct slice_facts facts;
    const char *whole = arena_printf(fixture->arena,
                                     "{'metadata': {'name': 's'}, 'spec': {'driver': "
                                     "'gpu.nvidia.com', " POOL ", 'allNodes': true, '%s': [%s]}}",
                                     before, repeated(fixture, text, n));
    return resource_slice_from_json(fixture_json(fixture, whole), &fixture->policy, fixture->arena,
                                    &facts, &fixture->err);
}

static void test_limits(void **state)
{
    struct fixture *fixture = *state;
    assert_int_equal(read_result(fixture, "devices", "{'name': 'd'}", 128), 0);
    assert_int_equal(read_result(fixture, "devices", "{'name': 'd'}", 129), -EINVAL);
    assert_string_equal(fixture->err.text, "spec.devices: are 129, should be at most 128");
    assert_int_equal(read_result(fixture, "sharedCounters", "{'name': 'c'}", 32), 0);
    assert_int_equal(read_result(fixture, "sharedCounters", "{'name': 'c'}", 33), -EINVAL);
    assert_string_equal(fixture->err.text,
                        "spec.sharedCounters: has 33 sets, should have at most 32");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        FIXTURE_TEST(test_a_slice_of_a_node),
        FIXTURE_TEST(test_v1beta1),
        FIXTURE_TEST(test_names_with_the_domain_of_the_driver),
        FIXTURE_TEST(test_each_device_has_its_own_attributes),
        FIXTURE_TEST(test_which_gpu_a_device_is_of),
        FIXTURE_TEST(test_the_policy_names_drivers),
        FIXTURE_TEST(test_other_drivers_may_have_faults),
        FIXTURE_TEST(test_which_node_reaches_a_slice),
        FIXTURE_TEST(test_which_node_reaches_each_device),
        FIXTURE_TEST(test_taints),
        FIXTURE_TEST(test_counters),
        FIXTURE_TEST(test_what_is_not_understood_is_not_judged),
        FIXTURE_TEST(test_unreadable_slices),
        FIXTURE_TEST(test_limits),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
