/* resource_claim, device_taint_rule: decoding of ResourceClaims and DeviceTaintRules. */
#include "objects/claims.h"

#include "fixture.h"
#include "objects/label_text.h"

static struct claim_facts read_claim(struct fixture *fixture, const char *text)
{
    struct claim_facts facts = {0};
    const json_t *json = fixture_json(fixture, text);
    if (resource_claim_from_json(json, fixture->arena, &facts, &fixture->err) < 0)
        fail_msg("%s in %s", fixture->err.text, text);
    return facts;
}

static void test_a_claim_in_use(void **state)
{
    struct fixture *fixture = *state;
    const struct claim_facts facts = read_claim(
        fixture,
        "{'metadata': {'namespace': 'ml', 'name': 'c', 'uid': 'u',"
        "  'ownerReferences': [{'kind': 'Pod', 'uid': 'p', 'controller': true}]},"
        " 'spec': {'devices': {'requests': [{'name': 'gpu', 'exactly': {"
        "  'deviceClassName': 'gpu.nvidia.com', 'allocationMode': 'ExactCount', 'count': 2}}],"
        "  'config': [{'opaque': {}}]}},"
        " 'status': {'allocation': {'devices': {'results': ["
        "   {'request': 'gpu', 'driver': 'gpu.nvidia.com', 'pool': 'n1', 'device': 'gpu-0'},"
        "   {'request': 'gpu', 'driver': 'gpu.nvidia.com', 'pool': 'n1', 'device': 'gpu-1',"
        "    'shareID': 's', 'consumedCapacity': {'memory': '1Gi'}},"
        "   {'request': 'all', 'driver': 'd', 'pool': 'p', 'device': 'x', 'adminAccess': true}]},"
        "   'nodeSelector': {}},"
        "  'reservedFor': [{'resource': 'pods', 'name': 'a', 'uid': '1'},"
        "   {'apiGroup': 'scheduling.k8s.io', 'resource': 'podgroups', 'name': 'g', 'uid': '2'},"
        "   {'resource': 'pods', 'name': 'b', 'uid': '3'}],"
        "  'devices': [{'conditions': []}]}}");
    fixture_json(fixture, "{}"); /* no fact refers to the JSON */
    assert_string_equal(facts.namespace_, "ml");
    assert_string_equal(facts.name, "c");
    assert_string_equal(facts.uid, "u");
    assert_int_equal(facts.n_devices, 2);
    assert_true(facts.is_allocated);
    assert_false(facts.wants_all || facts.has_alternatives || facts.terminating);
    assert_string_equal(facts.extended_for_uid, "");
    assert_int_equal(facts.n_results, 3);
    assert_string_equal(facts.results[0].driver, "gpu.nvidia.com");
    assert_string_equal(facts.results[0].pool, "n1");
    assert_string_equal(facts.results[0].device, "gpu-0");
    assert_false(facts.results[0].is_admin || facts.results[0].is_shared);
    assert_true(facts.results[1].is_shared);
    assert_true(facts.results[2].is_admin);
    assert_int_equal(facts.n_all_holders, 3);
    assert_int_equal(facts.n_holders, 2);
    assert_string_equal(facts.holders[0], "1");
    assert_string_equal(facts.holders[1], "3");
}

static const char *labels_of(struct fixture *fixture, const char *labels)
{
    return read_claim(fixture, arena_printf(fixture->arena,
                                            "{'metadata': {'name': 'c', 'labels': "
                                            "%s}, 'spec': {}}",
                                            labels))
        .labels;
}

/* A JSON object of n labels, each with a value of so many bytes. */
static const char *n_labels(struct fixture *fixture, size_t n, int bytes)
{
    const char *text = "";
    for (size_t i = 0; i < n; i++)
        text = arena_printf(fixture->arena, "%s%s'k%02zu': '%0*d'", text, i > 0 ? ", " : "", i,
                            bytes, 0);
    return arena_printf(fixture->arena, "{%s}", text);
}

static void test_labels(void **state)
{
    struct fixture *fixture = *state;
    struct label_set set;
    assert_string_equal(labels_of(fixture, "{}"), "");
    assert_string_equal(labels_of(fixture, "{'b': 'x=y', 'a.b/c': '', 'a': null}"),
                        "a=\na.b/c=\nb=x=y\n");
    label_text_split("a=\nb=x=y\n", &set);
    assert_int_equal(set.n, 2);
    assert_string_equal(set.labels[0].value, "");
    assert_string_equal(set.labels[1].key, "b");
    assert_string_equal(set.labels[1].value, "x=y");
    label_text_split(NULL, &set);
    assert_int_equal(set.n, 0);
    /* The claim stays readable whatever they are. */
    static const char *const NO_LABELS[] = {"{'a=b': 'c'}", "{'a\\nb': 'c'}", "{'a': 'b\\nc'}",
                                            "{'': 'c'}",    "{'a': 1}",       "[]"};
    for (size_t i = 0; i < sizeof NO_LABELS / sizeof *NO_LABELS; i++)
        assert_null(labels_of(fixture, NO_LABELS[i]));
    assert_non_null(labels_of(fixture, n_labels(fixture, LABEL_TEXT_LABELS_MAX, 1)));
    assert_null(labels_of(fixture, n_labels(fixture, LABEL_TEXT_LABELS_MAX + 1, 1)));
    const char *most = labels_of(fixture, n_labels(fixture, 2, LABEL_TEXT_BYTES_MAX / 2 - 5));
    assert_int_equal(strlen(most), LABEL_TEXT_BYTES_MAX);
    label_text_split(most, &set);
    assert_int_equal(set.n, 2);
    assert_null(labels_of(fixture, n_labels(fixture, 2, LABEL_TEXT_BYTES_MAX / 2 - 4)));
}

static void test_a_new_claim(void **state)
{
    const struct claim_facts facts = read_claim(*state, "{'metadata': {'name': 'c'}, 'spec': {}}");
    assert_string_equal(facts.namespace_, "default");
    assert_string_equal(facts.uid, "");
    assert_false(facts.is_allocated);
    assert_int_equal(facts.n_devices, 0);
    assert_int_equal(facts.n_results, 0);
    assert_int_equal(facts.n_all_holders, 0);
}

#define CLAIM(requests) "{'spec': {'devices': {'requests': [" requests "]}}}"
#define EXACTLY(members) "{'name': 'r', 'exactly': {" members "}}"
#define FIRST(items) "{'name': 'r', 'firstAvailable': [" items "]}"

static void test_how_many_devices_a_claim_wants(void **state)
{
    static const struct {
        const char *claim;
        int64_t n_devices;
        bool wants_all, has_alternatives;
    } CASES[] = {
        {CLAIM(EXACTLY("")), 1, false, false},
        {CLAIM(EXACTLY("'count': 3")), 3, false, false},
        {CLAIM(EXACTLY("'count': 3") ", " EXACTLY("'count': 4")), 7, false, false},
        {CLAIM("{'name': 'r', 'deviceClassName': 'c', 'count': 3}"), 3, false, false}, /* v1beta1 */
        {CLAIM(EXACTLY("'allocationMode': 'All'") ", " EXACTLY("")), 2, true, false},
        {CLAIM(EXACTLY("'allocationMode': 'Most'")), 1, true, false},
        {CLAIM(EXACTLY("'count': 9, 'adminAccess': true")), 0, false, false},
        {CLAIM(EXACTLY("'allocationMode': 'All', 'adminAccess': true")), 0, false, false},
        {CLAIM(FIRST("{'count': 4}, {'count': 2}, {'count': 8}")), 2, false, true},
        {CLAIM(FIRST("{'count': 4}")), 4, false, false},
        {CLAIM(FIRST("{'count': 4}, {'allocationMode': 'All'}") ", " EXACTLY("")), 2, true, true},
        {CLAIM(EXACTLY("'count': -3")), 1, false, false},
        {CLAIM(EXACTLY("'count': 9223372036854775807") ", " EXACTLY("")), INT64_C(1) << 32, false,
         false},
    };
    for (size_t i = 0; i < sizeof CASES / sizeof *CASES; i++) {
        const struct claim_facts facts = read_claim(*state, CASES[i].claim);
        if (facts.n_devices != CASES[i].n_devices || facts.wants_all != CASES[i].wants_all ||
            facts.has_alternatives != CASES[i].has_alternatives)
            fail_msg("%lld devices, %d, %d in %s", (long long)facts.n_devices, facts.wants_all,
                     facts.has_alternatives, CASES[i].claim);
    }
}

#define MARKED(value)                                                                              \
    "'annotations': {'resource.kubernetes.io/extended-resource-claim': '" value "'}"
#define OWNERS                                                                                     \
    "'ownerReferences': [{'uid': 'other'}, {'kind': 'Pod', 'name': 'p', 'uid': 'pod',"             \
    " 'controller': true}]"

static void test_claims_for_extended_resources(void **state)
{
    static const char *const CASES[][2] = {
        {"{'metadata': {" MARKED("true") ", " OWNERS "}}", "pod"},
        {"{'metadata': {" MARKED("false") ", " OWNERS "}}", ""},
        {"{'metadata': {" MARKED("true") "}}", ""},
        {"{'metadata': {" OWNERS "}}", ""},
    };
    for (size_t i = 0; i < sizeof CASES / sizeof *CASES; i++)
        assert_string_equal(read_claim(*state, CASES[i][0]).extended_for_uid, CASES[i][1]);
    assert_true(read_claim(*state, "{'metadata': {'deletionTimestamp': '2026-01-01T00:00:00Z'}}")
                    .terminating);
}

static void test_claims_whose_conditions_are_not_set(void **state)
{
#define STATUS(conditions)                                                                         \
    "{'status': {'allocation': {'devices': {'results': [{'driver': 'd', 'pool': 'p', 'device':"    \
    " 'e', 'bindingConditions': ['ready'], 'bindingFailureConditions': ['broken']}]}}, 'devices':" \
    " [{'driver': 'd', 'pool': 'p', 'device': 'f', 'conditions': [{'type': 'ready', 'status':"     \
    " 'True'}]}, {'driver': 'd', 'pool': 'p', 'device': 'e', 'conditions': [" conditions "]}]}}"
    static const struct {
        const char *claim;
        bool is_unready;
    } CASES[] = {
        {"{'status': {'allocation': {'devices': {'results': []}}}}", false},
        {STATUS(""), true},
        {STATUS("{'type': 'ready', 'status': 'True'}"), false},
        {STATUS("{'type': 'ready', 'status': 'False'}"), true},
        {STATUS("{'type': 'ready', 'status': 'True'}, {'type': 'broken', 'status': 'True'}"), true},
        {STATUS("1, {'type': 2}, {'type': 'ready', 'status': 3}"), true},
    };
    for (size_t i = 0; i < sizeof CASES / sizeof *CASES; i++)
        assert_int_equal(read_claim(*state, CASES[i].claim).is_unready, CASES[i].is_unready);
}

/* Nobody needs so many, and comparing all of them would take hours. */
static void test_more_conditions_than_are_compared(void **state)
{
    struct fixture *fixture = *state;
    const char *types = "'ready'";
    const char *conditions = "{'type': 'ready', 'status': 'True'}";
    for (size_t i = 0; i < 100; i++) {
        types = arena_printf(fixture->arena, "%s, 'ready'", types);
        conditions = arena_printf(fixture->arena, "{'type': 'other'}, %s", conditions);
    }
#define SET(member, conditions)                                                                    \
    arena_printf(fixture->arena,                                                                   \
                 "{'status': {'allocation': {'devices': {'results': [{'driver': 'd', 'pool': 'p'," \
                 " 'device': 'e', 'bindingConditions': ['ready'], %s}]}}, 'devices': [{'driver':"  \
                 " 'd', 'pool': 'p', 'device': 'e', 'conditions': [%s]}]}}",                       \
                 member, conditions)
    const char *all = arena_printf(fixture->arena, "'bindingConditions': [%s]", types);
    const char *failures = arena_printf(fixture->arena, "'bindingFailureConditions': [%s]", types);
    const char *is_ready = "{'type': 'ready', 'status': 'True'}";
    assert_true(read_claim(fixture, SET(all, is_ready)).is_unready);
    assert_true(read_claim(fixture, SET(failures, is_ready)).is_unready);
    assert_true(read_claim(fixture, SET("'request': 'r'", conditions)).is_unready);
    assert_false(read_claim(fixture, SET("'request': 'r'", is_ready)).is_unready);
#undef SET
}

static void test_unreadable_claims(void **state)
{
#define RESULT(members) "{'status': {'allocation': {'devices': {'results': [{" members "}]}}}}"
    static const char *const CASES[][2] = {
        {"7", "is a whole number, should be an object"},
        {"{'metadata': {'name': 7}}", "metadata.name: is the number 7, should be a string"},
        {CLAIM("7"), "spec.devices.requests[0]: is a whole number, should be an object"},
        {CLAIM(EXACTLY("'count': 'x'")),
         "spec.devices.requests[0].exactly.count: is the string \"x\", should be a whole number"},
        {CLAIM(FIRST("{'count': 1}, {'allocationMode': 1}")),
         "spec.devices.requests[0].firstAvailable[1].allocationMode: is the number 1, should be "
         "a "
         "string"},
        {RESULT("'driver': 'd', 'pool': 'p'"),
         "status.allocation.devices.results[0].driver, pool or device: is missing"},
        {"{'status': {'reservedFor': {}}}", "status.reservedFor: is an object, should be an array"},
    };
    struct fixture *fixture = *state;
    for (size_t i = 0; i < sizeof CASES / sizeof *CASES; i++) {
        struct claim_facts facts;
        const json_t *json = fixture_json(fixture, CASES[i][0]);
        assert_int_equal(resource_claim_from_json(json, fixture->arena, &facts, &fixture->err),
                         -EINVAL);
        assert_string_equal(fixture->err.text, CASES[i][1]);
    }
}

static json_t *repeated(const json_t *item, size_t n)
{
    json_t *list = json_array();
    for (size_t i = 0; i < n; i++)
        assert_int_equal(json_array_append(list, (json_t *)(uintptr_t)item), 0);
    return list;
}

static void test_limits_of_results(void **state)
{
    struct fixture *fixture = *state;
    struct claim_facts facts;
    json_auto_t *result = json_pack("{s:s, s:s, s:s}", "driver", "d", "pool", "p", "device", "x");
    for (size_t n = 32; n <= 33; n++) {
        json_auto_t *claim = json_pack("{s:{s:{s:{s:o}}}}", "status", "allocation", "devices",
                                       "results", repeated(result, n));
        int r = resource_claim_from_json(claim, fixture->arena, &facts, &fixture->err);
        assert_int_equal(r, n == 32 ? 0 : -EINVAL);
    }
    assert_string_equal(fixture->err.text,
                        "status.allocation.devices.results: are 33, should be at most 32");
}

/* Pods beyond the limit, or with an odd UID, are counted; so the claim is known to be in use. */
static void test_limits_of_holders(void **state)
{
    struct fixture *fixture = *state;
    struct claim_facts facts;
    char uid[CLAIM_HOLDER_BYTES_MAX + 2];
    memset(uid, 'u', sizeof uid);
    for (size_t len = CLAIM_HOLDER_BYTES_MAX; len <= CLAIM_HOLDER_BYTES_MAX + 1; len++) {
        uid[len] = '\0';
        json_auto_t *pod = json_pack("{s:s, s:s#}", "resource", "pods", "uid", uid, (int)len);
        json_auto_t *claim = json_pack("{s:{s:o}}", "status", "reservedFor", repeated(pod, 300));
        assert_int_equal(resource_claim_from_json(claim, fixture->arena, &facts, &fixture->err), 0);
        assert_int_equal(facts.n_all_holders, 300);
        assert_int_equal(facts.n_holders, len == CLAIM_HOLDER_BYTES_MAX ? 256 : 0);
        uid[len] = 'u';
    }
}

/* Taint rules. */

#define RULE(selector, effect)                                                                     \
    "{'metadata': {'name': 'r'}, 'spec': {" selector "'taint': {'key': 'k', 'effect': '" effect    \
    "'}}}"

static bool reads_as_taint(struct fixture *fixture, const char *text,
                           struct device_taint_facts *ret_facts)
{
    bool taints = false;
    const json_t *json = fixture_json(fixture, text);
    if (device_taint_rule_from_json(json, fixture->arena, ret_facts, &taints, &fixture->err) < 0)
        fail_msg("%s in %s", fixture->err.text, text);
    assert_string_equal(ret_facts->name, "r");
    return taints;
}

static void test_taint_rules(void **state)
{
    struct device_taint_facts facts;
    assert_true(reads_as_taint(
        *state,
        RULE("'deviceSelector': {'driver': 'd', 'pool': 'p', 'device': 'x'}, ", "NoExecute"),
        &facts));
    assert_string_equal(facts.driver, "d");
    assert_string_equal(facts.pool, "p");
    assert_string_equal(facts.device, "x");
    assert_true(reads_as_taint(*state, RULE("'deviceSelector': {}, ", "NoSchedule"), &facts));
    assert_null(facts.driver);
    assert_null(facts.pool);
    assert_null(facts.device);
    static const char *const NOTHING[] = {RULE("", "NoSchedule"),
                                          RULE("'deviceSelector': null, ", "NoSchedule"),
                                          RULE("'deviceSelector': {}, ", "None")};
    for (size_t i = 0; i < sizeof NOTHING / sizeof *NOTHING; i++) {
        assert_false(reads_as_taint(*state, NOTHING[i], &facts));
        assert_null(facts.effect); /* or the ledger taints all devices by it */
    }
}

/* A member that narrows the rule would otherwise be missed, and the rule taint everything. */
static void test_taint_rules_that_are_not_understood(void **state)
{
    static const char *const CASES[][2] = {
        {RULE("'deviceSelector': {'deviceClassName': 'c'}, ", "NoSchedule"),
         "spec.deviceSelector.deviceClassName: is unknown, should be driver, pool or device"},
        {RULE("'deviceSelector': {'pool': 7}, ", "NoSchedule"),
         "spec.deviceSelector.pool: is the number 7, should be a string"},
        {RULE("'deviceSelector': {}, ", "PreferNoSchedule"),
         "spec.taint.effect: is \"PreferNoSchedule\", should be None, NoSchedule or NoExecute"},
    };
    struct fixture *fixture = *state;
    for (size_t i = 0; i < sizeof CASES / sizeof *CASES; i++) {
        struct device_taint_facts facts;
        bool taints = false;
        const json_t *json = fixture_json(fixture, CASES[i][0]);
        assert_int_equal(
            device_taint_rule_from_json(json, fixture->arena, &facts, &taints, &fixture->err),
            -EINVAL);
        assert_string_equal(fixture->err.text, CASES[i][1]);
    }
}

static void test_a_template(void **state)
{
    struct fixture *fixture = *state;
    struct claim_template_facts facts = {0};
    const json_t *json = fixture_json(
        fixture,
        "{'metadata': {'namespace': 'ml', 'name': 't'}, 'spec': {'metadata': {'labels': 7},"
        " 'spec': {'devices': {'requests': [{'name': 'gpu', 'exactly': {"
        "  'deviceClassName': 'gpu.nvidia.com', 'count': 2}}]}}}}");
    assert_int_equal(claim_template_from_json(json, fixture->arena, &facts, &fixture->err), 0);
    fixture_json(fixture, "{}"); /* no fact refers to the JSON */
    assert_string_equal(facts.namespace_, "ml");
    assert_string_equal(facts.name, "t");
    assert_int_equal(facts.n_wants, 1);
    assert_string_equal(facts.wants[0].class_name, "gpu.nvidia.com");
    assert_int_equal(facts.wants[0].n_devices, 2);
}

static void test_a_template_that_cannot_be_read(void **state)
{
    static const struct {
        const char *text, *why;
    } CASES[] = {
        {"{'metadata': {'name': 't'}, 'spec': {'spec': 7}}",
         "spec.spec: is the number 7, should be an object"},
        {"{'metadata': {'name': 't'}, 'spec': {'spec': {'devices': {'requests': 7}}}}",
         "spec.spec.devices.requests: is the number 7, should be an array"},
    };
    struct fixture *fixture = *state;
    struct claim_template_facts facts = {0};
    for (size_t i = 0; i < sizeof CASES / sizeof *CASES; i++) {
        const json_t *json = fixture_json(fixture, CASES[i].text);
        assert_int_equal(claim_template_from_json(json, fixture->arena, &facts, &fixture->err),
                         -EINVAL);
        assert_string_equal(fixture->err.text, CASES[i].why);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        FIXTURE_TEST(test_a_template_that_cannot_be_read),
        FIXTURE_TEST(test_a_template),
        FIXTURE_TEST(test_a_claim_in_use),
        FIXTURE_TEST(test_labels),
        FIXTURE_TEST(test_a_new_claim),
        FIXTURE_TEST(test_how_many_devices_a_claim_wants),
        FIXTURE_TEST(test_claims_for_extended_resources),
        FIXTURE_TEST(test_claims_whose_conditions_are_not_set),
        FIXTURE_TEST(test_more_conditions_than_are_compared),
        FIXTURE_TEST(test_unreadable_claims),
        FIXTURE_TEST(test_limits_of_results),
        FIXTURE_TEST(test_limits_of_holders),
        FIXTURE_TEST(test_taint_rules),
        FIXTURE_TEST(test_taint_rules_that_are_not_understood),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
