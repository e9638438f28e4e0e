/* node: decoding of Nodes, and rejected Nodes. */
#include "objects/node.h"

#include "fixture.h"

static struct node_facts read_node(struct fixture *fixture, const char *text)
{
    struct node_facts facts = {0};
    const json_t *json = fixture_json(fixture, text);
    if (node_from_json(json, &fixture->policy, fixture->arena, &facts, &fixture->err) < 0)
        fail_msg("%s in %s", fixture->err.text, text);
    return facts;
}

static int64_t amount_of(const struct amount *amounts, size_t n, const char *resource)
{
    for (size_t i = 0; i < n; i++) {
        if (strcmp(amounts[i].resource, resource) == 0)
            return amounts[i].amount;
    }
    return -1;
}

static void test_a_node_is_read(void **state)
{
    struct fixture *fixture = *state;
    struct node_facts facts = read_node(
        fixture,
        "{'metadata': {'name': 'gpu-1', 'labels': {'zone': 'b', 'accelerator': 'nvidia-tesla-k80',"
        "  'empty': null}},"
        " 'spec': {'unschedulable': true, 'taints': ["
        "  {'key': 'gpu', 'value': 'yes', 'effect': 'NoSchedule'},"
        "  {'key': 'old', 'effect': 'PreferNoSchedule', 'timeAdded': '2026-01-01T00:00:00Z'},"
        "  {'key': 'bad', 'value': null, 'effect': 'NoExecute'}]},"
        " 'status': {'capacity': {'cpu': '8', 'memory': '131409476Ki', 'nvidia.com/gpu': '4'},"
        "  'allocatable': {'cpu': '7910m', 'memory': '128974848', 'nvidia.com/gpu': '2k',"
        "   'pods': 110, 'hugepages-1Gi': '0', 'example.com/x': '1500m'},"
        "  'conditions': [{'type': 'MemoryPressure', 'status': 'False'},"
        "   {'type': 'Ready', 'status': 'True'}]}}");
    /* No fact refers to the JSON. */
    fixture_json(fixture, "{}");
    assert_string_equal(facts.name, "gpu-1");
    assert_int_equal(facts.n_labels, 3);
    assert_string_equal(facts.labels[0].key, "accelerator");
    assert_string_equal(facts.labels[0].value, "nvidia-tesla-k80");
    assert_string_equal(facts.labels[1].value, "");
    assert_int_equal(facts.n_taints, 3);
    assert_string_equal(facts.taints[0].value, "yes");
    assert_int_equal(facts.taints[0].effect, TAINT_NO_SCHEDULE);
    assert_int_equal(facts.taints[1].effect, TAINT_PREFER_NO_SCHEDULE);
    assert_string_equal(facts.taints[1].value, "");
    assert_string_equal(facts.taints[2].value, "");
    assert_int_equal(facts.taints[2].effect, TAINT_NO_EXECUTE);
    assert_true(facts.unschedulable);
    assert_true(facts.ready);
    assert_int_equal(amount_of(facts.capacity, facts.n_capacity, "nvidia.com/gpu"), 4);
    const struct amount *has = facts.allocatable;
    assert_int_equal(facts.n_allocatable, 6);
    assert_int_equal(amount_of(has, 6, "cpu"), 7910);
    assert_int_equal(amount_of(has, 6, "memory"), 128974848);
    assert_int_equal(amount_of(has, 6, "nvidia.com/gpu"), 2000);
    assert_int_equal(amount_of(has, 6, "pods"), 110);
    assert_int_equal(amount_of(has, 6, "hugepages-1Gi"), 0);
    assert_int_equal(amount_of(has, 6, "example.com/x"), 2);
}

/* What is a problem by its type, and that texts are cut and stay one line. */
static void test_conditions_that_tell_of_a_problem(void **state)
{
    static const struct {
        const char *condition, *line;
    } ROWS[] = {
        {"'type':'Ready','status':'False'", ""},
        {"'type':'KernelDeadlock','status':'False','reason':'Fine'", ""},
        {"'type':'KernelDeadlock','status':'Unknown'", ""},
        {"'type':'KernelDeadlock','status':'True','reason':'DockerHung','message':'a: b'",
         "KernelDeadlock=True DockerHung: a: b\n"},
        {"'type':'KubeletUnhealthy','status':'True'", "KubeletUnhealthy=True : \n"},
        {"'type':'GpuNotReady','status':'True','reason':'R'", "GpuNotReady=True R: \n"},
        {"'type':'GPUHealthy','status':'True'", ""},
        {"'type':'AcceleratedHardwareReady','status':'False','reason':'DCGMError'",
         "AcceleratedHardwareReady=False DCGMError: \n"},
        {"'type':'EtcdIsVoter','status':'True'", ""},
        {"'type':'a=b c\\n','status':'True','reason':'x y','message':'1\\n2\\t3'",
         "a_b_c_=True x_y: 1 2 3\n"},
        {"'type':'X','status':'True','reason':7,'message':{}", "X=True : \n"},
        {"'status':'True'", ""},
    };
    struct fixture *fixture = *state;
    for (size_t i = 0; i < sizeof ROWS / sizeof *ROWS; i++) {
        const char *text =
            arena_printf(fixture->arena, "{'metadata':{'name':'n'},'status':{'conditions':[{%s}]}}",
                         ROWS[i].condition);
        assert_string_equal(read_node(fixture, text).conditions, ROWS[i].line);
    }
}

static void test_conditions_are_bounded(void **state)
{
    struct fixture *fixture = *state;
    json_t *conditions = json_array();
    const char *euros = "";
    for (size_t i = 0; i < 100; i++)
        euros = arena_printf(fixture->arena, "%s\u20ac", euros);
    for (size_t i = 0; i < 1000; i++)
        (void)json_array_append_new(conditions,
                                    json_pack("{s:s, s:s, s:s, s:s}", "type", euros, "status",
                                              "True", "reason", euros, "message", euros));
    const char *lines = node_conditions_read(conditions, fixture->arena);
    json_t *list = node_conditions_list(lines);
    assert_int_equal(json_array_size(list), NODE_CONDITIONS_MAX);
    /* Whole characters of three bytes: 63, 63 and 159. */
    assert_int_equal(json_string_length(json_array_get(list, 0)), 63 + 6 + 63 + 2 + 159);
    json_decref(list);
    json_decref(conditions);
}

static void test_allocatable_defaults_to_capacity(void **state)
{
    struct fixture *fixture = *state;
    struct node_facts facts =
        read_node(fixture, "{'metadata': {'name': 'n'}, 'status': {'capacity': {'cpu': 2}}}");
    assert_int_equal(amount_of(facts.allocatable, facts.n_allocatable, "cpu"), 2000);
    assert_false(facts.ready);
    assert_false(facts.unschedulable);
}

static void test_only_a_true_ready_condition_is_ready(void **state)
{
    struct fixture *fixture = *state;
    assert_false(read_node(fixture, "{'metadata': {'name': 'n'}, 'status': {'conditions': "
                                    "[{'type': 'Ready', 'status': 'Unknown'}]}}")
                     .ready);
}

static const struct {
    const char *json;
    const char *message;
} REFUSED[] = {
    {"3", "is a whole number, should be a Node object"},
    {"{}", "metadata.name: is missing"},
    {"{'metadata': []}", "metadata: is an array, should be an object"},
    {"{'metadata': {'name': 7}}", "metadata.name: is the number 7, should be a string"},
    {"{'metadata': {'name': 'n', 'labels': {'a b': true}}}",
     "metadata.labels['a b']: is true or false, should be a string"},
    {"{'metadata': {'name': 'n'}, 'spec': {'unschedulable': 'no'}}",
     "spec.unschedulable: is the string 'no', should be true or false"},
    {"{'metadata': {'name': 'n'}, 'spec': {'taints': ['x']}}",
     "spec.taints[0]: is a string, should be an object"},
    {"{'metadata': {'name': 'n'}, 'spec': {'taints': [{'key': 'k', 'effect': 'NoGo'}]}}",
     "spec.taints[0].effect: is 'NoGo', should be NoSchedule, PreferNoSchedule or NoExecute"},
    {"{'metadata': {'name': 'n'}, 'spec': {'taints': [{'effect': 'NoSchedule'}]}}",
     "spec.taints[0].key: is missing"},
    {"{'metadata': {'name': 'n'}, 'status': {'allocatable': {'nvidia.com/gpu': '1.5'}}}",
     "status.allocatable['nvidia.com/gpu']: '1.5' is not whole: it must be a whole number, 0 or "
     "more"},
    {"{'metadata': {'name': 'n'}, 'status': {'capacity': {'nvidia.com/mig-1g.5gb': '-1'}}}",
     "status.capacity['nvidia.com/mig-1g.5gb']: '-1' is negative: it must be a whole number, 0 or "
     "more"},
    {"{'metadata': {'name': 'n'}, 'status': {'allocatable': {'nvidia.com/gpu': 1.5}}}",
     "status.allocatable['nvidia.com/gpu']: '1.5' is not whole: it must be a whole number, 0 or "
     "more"},
    {"{'metadata': {'name': 'n'}, 'status': {'allocatable': {'memory': -5}}}",
     "status.allocatable['memory']: '-5' is negative"},
    {"{'metadata': {'name': 'n'}, 'status': {'allocatable': {'memory': '9e30'}}}",
     "status.allocatable['memory']: '9e30' is too large: it does not fit a signed 64-bit number"},
    {"{'metadata': {'name': 'n'}, 'status': {'allocatable': {'memory': {}}}}",
     "status.allocatable['memory']: is an object, should be a quantity such as '4' or '16Gi'"},
    {"{'metadata': {'name': 'n'}, 'status': {'allocatable': [1]}}",
     "status.allocatable: is an array, should be an object"},
    {"{'metadata': {'name': 'n'}, 'status': {'conditions': [{'type': 1}]}}",
     "status.conditions[0].type: is the number 1, should be a string"},
};

static void test_invalid_nodes_are_rejected(void **state)
{
    struct fixture *fixture = *state;
    for (size_t i = 0; i < sizeof REFUSED / sizeof REFUSED[0]; i++) {
        struct node_facts facts = {.name = "untouched"};
        const json_t *json = fixture_json(fixture, REFUSED[i].json);
        assert_int_equal(
            node_from_json(json, &fixture->policy, fixture->arena, &facts, &fixture->err), -EINVAL);
        assert_string_equal(fixture->err.text, fixture_quotes(fixture, REFUSED[i].message));
        assert_string_equal(facts.name, "untouched");
    }
}

static void test_a_long_name_is_refused(void **state)
{
    struct fixture *fixture = *state;
    char name[300] = {0};
    memset(name, 'n', 254);
    const char *text = arena_printf(fixture->arena, "{'metadata': {'name': '%s'}}", name);
    struct node_facts facts = {0};
    assert_int_equal(node_from_json(fixture_json(fixture, text), &fixture->policy, fixture->arena,
                                    &facts, &fixture->err),
                     -EINVAL);
    assert_string_equal(fixture->err.text,
                        "metadata.name: is 254 bytes long, should be at most 253");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        FIXTURE_TEST(test_a_node_is_read),
        FIXTURE_TEST(test_conditions_that_tell_of_a_problem),
        FIXTURE_TEST(test_conditions_are_bounded),
        FIXTURE_TEST(test_allocatable_defaults_to_capacity),
        FIXTURE_TEST(test_only_a_true_ready_condition_is_ready),
        FIXTURE_TEST(test_invalid_nodes_are_rejected),
        FIXTURE_TEST(test_a_long_name_is_refused),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
