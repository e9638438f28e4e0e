/* claim_spec: what a claim asks for, as the allocator reads it. */
#include "objects/claim_spec.h"

#include "fixture.h"
#include "types/device_facts.h"
#include "types/selector.h"

static const struct allocate_class GPU = {.name = "gpu"};

static const struct allocate_class *find(void *context, const char *name)
{
    (void)context;
    return strcmp(name, GPU.name) == 0 ? &GPU : NULL;
}

static bool covers(void *context, const char *name, const char *driver)
{
    (void)context;
    return name[0] && strcmp(driver, "other.example.com") != 0;
}

static const struct claim_classes CLASSES = {find, covers, NULL};

static struct claim_spec read(struct fixture *fixture, const char *text)
{
    const struct claim_spec spec =
        claim_spec_from_json(fixture_json(fixture, text), &CLASSES, fixture->arena);
    fixture_json(fixture, "{}"); /* nothing refers to the JSON */
    return spec;
}

static struct allocate_want only_want(const struct claim_spec *spec)
{
    assert_int_equal(spec->n_requests, 1);
    assert_int_equal(spec->requests[0].n_wants, 1);
    return spec->requests[0].wants[0];
}

static void test_a_whole_request(void **state)
{
    struct fixture *fixture = *state;
    const struct claim_spec spec = read(
        fixture,
        "{'devices': {'requests': [{'name': 'a', 'exactly': {'deviceClassName': 'gpu', 'count': 2,"
        " 'allocationMode': 'ExactCount', 'adminAccess': true,"
        " 'selectors': [{'cel': {'expression': 'true'}}, {}],"
        " 'tolerations': [{'key': 'k', 'operator': 'Exists', 'effect': 'NoSchedule'}],"
        " 'capacity': {'requests': {'memory': '10Gi', 'slots': 3, 'bad': {}}}}}],"
        " 'config': [{'opaque': {}}]}}");
    const struct allocate_want want = only_want(&spec);
    assert_string_equal(spec.requests[0].name, "a");
    assert_false(spec.requests[0].has_alternatives);
    assert_ptr_equal(want.device_class, &GPU);
    assert_int_equal(want.n_devices, 2);
    assert_true(want.is_admin);
    assert_null(want.not_judged);
    assert_int_equal(want.selectors.n, 2);
    assert_int_equal(cel_verdict(want.selectors.programs[0]), CEL_VALID);
    assert_null(want.selectors.programs[1]);
    assert_int_equal(want.n_tolerations, 1);
    assert_string_equal(want.tolerations[0].key, "k");
    assert_string_equal(want.tolerations[0].value, "");
    assert_int_equal(want.n_capacities, 3);
    assert_int_equal(want.capacities[0].value, INT64_C(10) << 30);
    assert_int_equal(want.capacities[1].value, 3);
    assert_int_equal(want.capacities[2].value, ALLOCATE_UNKNOWN);
}

static void test_what_the_api_server_would_add(void **state)
{
    struct fixture *fixture = *state;
    const struct claim_spec one = read(
        fixture, "{'devices': {'requests': [{'name': 'a', 'exactly': {'deviceClassName': 'x'}}]}}");
    assert_int_equal(only_want(&one).n_devices, 1);
    assert_null(only_want(&one).unknown_mode);
    assert_null(only_want(&one).device_class);
    const struct claim_spec all =
        read(fixture, "{'devices': {'requests': [{'exactly': {'allocationMode': 'All'}}]}}");
    assert_true(only_want(&all).wants_all);
    const struct claim_spec other =
        read(fixture, "{'devices': {'requests': [{'exactly': {'allocationMode': 'Some'}}]}}");
    assert_string_equal(only_want(&other).unknown_mode, "Some");
}

static void test_a_request_of_v1beta1(void **state)
{
    const struct claim_spec spec = read(
        *state, "{'devices': {'requests': [{'name': 'a', 'deviceClassName': 'gpu', 'count': 3}]}}");
    assert_ptr_equal(only_want(&spec).device_class, &GPU);
    assert_int_equal(only_want(&spec).n_devices, 3);
    assert_null(only_want(&spec).not_judged);
}

static void test_alternatives_and_constraints(void **state)
{
    const struct claim_spec spec =
        read(*state, "{'devices': {'requests': [{'name': 'a', 'firstAvailable': ["
                     "  {'name': 'big', 'deviceClassName': 'gpu'}, {'name': 'small'}]}],"
                     " 'constraints': [{'requests': ['a/big'], 'matchAttribute': 'd/numa'},"
                     "  {'distinctAttribute': 'd/bus'}, {}]}}");
    assert_int_equal(spec.n_requests, 1);
    assert_true(spec.requests[0].has_alternatives);
    assert_int_equal(spec.requests[0].n_wants, 2);
    assert_string_equal(spec.requests[0].wants[1].name, "small");
    assert_int_equal(spec.n_constraints, 3);
    assert_int_equal(spec.constraints[0].kind, ALLOCATE_MATCH);
    assert_string_equal(spec.constraints[0].requests[0], "a/big");
    assert_int_equal(spec.constraints[1].kind, ALLOCATE_DISTINCT);
    assert_int_equal(spec.constraints[1].n_requests, 0);
    assert_int_equal(spec.constraints[2].kind, ALLOCATE_NO_CONSTRAINT);
}

static void test_unknown_members_are_not_judged(void **state)
{
    struct fixture *fixture = *state;
    const struct claim_spec unknown = read(
        fixture, "{'devices': {'requests': [{'exactly': {'deviceClassName': 'gpu', 'new': 1}}]}}");
    assert_non_null(only_want(&unknown).not_judged);
    const struct claim_spec count =
        read(fixture, "{'devices': {'requests': [{'exactly': {'count': '1'}}]}}");
    assert_non_null(only_want(&count).not_judged);
}

static bool is_of_driver(void *context, const char *name, const char *driver)
{
    (void)context;
    (void)name;
    return strcmp(driver, "d") == 0;
}

static void test_driver_that_the_first_selector_demands(void **state)
{
    static const struct {
        const char *expression;
        bool is_covered;
    } CASES[] = {
        {"device.driver == \\\"d\\\"", true},
        {"device.driver == \\\"d\\\" && (a || b) && c[?\\\"k\\\"].?m && \\\"||?\\\" == x", true},
        {"device.driver == \\\"d\\\" && a || b", false},
        {"device.driver == \\\"d\\\" && a ? b : c", false},
        {"device.driver == \\\"d\\\" && (a)) || (b", false},
        {"device.driver == \\\"d\\\" && \\\"x || y", false},
        {"device.driver == \\\"d\\\" && \\\"\\\"\\\" || \\\"\\\"\\\" == x", true},
        {"device.driver == \\\"d\\\" && a // (\\n || b", false},
        {"device.driver == \\\"other\\\"", false},
        {"true", false},
    };
    static const struct claim_classes classes = {find, is_of_driver, NULL};
    struct fixture *fixture = *state;
    for (size_t i = 0; i < sizeof CASES / sizeof *CASES; i++) {
        const char *text = arena_printf(
            fixture->arena,
            "{'devices': {'requests': [{'exactly': {'selectors': [{'cel': {'expression': '%s'}},"
            " {'cel': {'expression': 'device.driver == \\\"d\\\"'}}]}}]}}",
            CASES[i].expression);
        const struct claim_spec spec =
            claim_spec_from_json(fixture_json(fixture, text), &classes, fixture->arena);
        if (spec.is_covered != CASES[i].is_covered)
            fail_msg("%s", CASES[i].expression);
    }
}

static void test_texts_read_back(void **state)
{
    struct fixture *fixture = *state;
    struct arena *arena = fixture->arena;
    const json_t *json =
        fixture_json(fixture, "{'devices': {'config': [{}], 'requests': [{'name': 'a', 'exactly':"
                              " {'deviceClassName': 'gpu', 'count': 4}}]}}");
    const char *text = claim_spec_text(json, arena);
    assert_null(strstr(text, "config"));
    const struct claim_spec spec = claim_spec_from_text(text, &CLASSES, arena);
    assert_int_equal(only_want(&spec).n_devices, 4);
    char *name = arena_alloc(arena, CLAIM_TEXT_BYTES_MAX + 1);
    memset(name, 'x', CLAIM_TEXT_BYTES_MAX);
    json_auto_t *longer = json_pack("{s: {s: [{s: s}]}}", "devices", "requests", "name", name);
    assert_null(claim_spec_text(longer, arena));
    assert_string_equal(claim_nodes_text(NULL, arena), "");
}

static void test_nodes_of_an_allocation(void **state)
{
    struct fixture *fixture = *state;
    struct node_selector nodes = {0};
    const json_t *json =
        fixture_json(fixture, "{'nodeSelectorTerms': [{'matchFields': [{'key': 'metadata.name',"
                              " 'operator': 'In', 'values': ['a']}]}]}");
    const char *text = claim_nodes_text(json, fixture->arena);
    assert_int_equal(claim_nodes_from_text(text, fixture->arena, &nodes, &fixture->err), 0);
    assert_true(node_selector_holds(&nodes, &(struct label_view){.node_name = "a"}));
    assert_false(node_selector_holds(&nodes, &(struct label_view){.node_name = "b"}));
    assert_true(claim_nodes_from_text("{\"nodeSelectorTerms\": 1}", fixture->arena, &nodes,
                                      &fixture->err) < 0);
}

static void test_other_types_count_as_absent(void **state)
{
    static const char *const TEXTS[] = {
        "{}", "{'devices': []}", "{'devices': {'requests': {}, 'constraints': 1}}",
        "{'devices': {'requests': [1, null, [], {'exactly': 2}, {'firstAvailable': 3},"
        "  {'firstAvailable': [4]}, {'exactly': {'selectors': [5], 'tolerations': [6, {'key': 7}],"
        "   'capacity': {'requests': [8]}, 'deviceClassName': 9, 'allocationMode': {}}}],"
        " 'constraints': [10, {'requests': [11], 'matchAttribute': 12}]}}"};
    for (size_t i = 0; i < sizeof TEXTS / sizeof *TEXTS; i++)
        (void)read(*state, TEXTS[i]);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        FIXTURE_TEST(test_a_whole_request),
        FIXTURE_TEST(test_what_the_api_server_would_add),
        FIXTURE_TEST(test_a_request_of_v1beta1),
        FIXTURE_TEST(test_alternatives_and_constraints),
        FIXTURE_TEST(test_unknown_members_are_not_judged),
        FIXTURE_TEST(test_driver_that_the_first_selector_demands),
        FIXTURE_TEST(test_texts_read_back),
        FIXTURE_TEST(test_nodes_of_an_allocation),
        FIXTURE_TEST(test_other_types_count_as_absent),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
