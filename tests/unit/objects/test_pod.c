/* pod: identity, state, selectors and tolerations. Demand: test_demand.c. Annotations:
 * test_annotations.c. */
#include "objects/pod.h"

#include "fixture.h"
#include "shape_text.h"

static struct pod_facts read_pod(struct fixture *fixture, const char *text)
{
    struct pod_facts facts = {0};
    const json_t *json = fixture_json(fixture, text);
    if (pod_from_json(json, &fixture->policy, fixture->arena, &facts, &fixture->err) < 0)
        fail_msg("%s in %s", fixture->err.text, text);
    return facts;
}

static struct pod_facts read_spec(struct fixture *fixture, const char *spec)
{
    return read_pod(fixture, arena_printf(fixture->arena, "{'spec': {%s}}", spec));
}

static void test_a_running_pod_is_read(void **state)
{
    struct fixture *fixture = *state;
    struct pod_facts facts = read_pod(
        fixture,
        "{'metadata': {'name': 'train-0', 'namespace': 'ml', 'uid': '5b0f', 'generateName': 'x-',"
        "  'creationTimestamp': '2026-03-02T08:14:55Z', 'deletionTimestamp':"
        "  '2026-03-02T09:00:00Z'},"
        " 'spec': {'nodeName': 'gpu-1', 'priority': 1000000000, 'priorityClassName': 'high',"
        "  'containers': [{'name': 'main', 'resources': {'limits': {'nvidia.com/gpu': '2'}}}]},"
        " 'status': {'phase': 'Running', 'nominatedNodeName': 'gpu-2',"
        "  'startTime': '2026-03-02T08:15:00Z'}}");
    fixture_json(fixture, "{}"); /* no fact refers to the JSON */
    assert_string_equal(facts.uid, "5b0f");
    assert_string_equal(facts.namespace_, "ml");
    assert_string_equal(facts.name, "train-0");
    assert_string_equal(facts.node_name, "gpu-1");
    assert_string_equal(facts.nominated_node, "gpu-2");
    assert_string_equal(facts.priority_class, "high");
    assert_int_equal(facts.priority, 1000000000);
    assert_int_equal(facts.created_s, 1772439295);
    assert_int_equal(facts.started_s, 1772439300);
    assert_true(facts.terminating);
    assert_false(facts.finished);
    assert_false(facts.gated);
    assert_null(facts.refusal);
    assert_int_equal(shape_demand(&facts.shape, "nvidia.com/gpu"), 2);
    assert_int_equal(shape_demand(&facts.shape, "pods"), 1);
}

static void test_a_bare_pod_has_defaults(void **state)
{
    struct fixture *fixture = *state;
    struct pod_facts facts = read_pod(
        fixture,
        "{'metadata': {'creationTimestamp': null, 'deletionTimestamp': null}, 'spec': {}}");
    assert_string_equal(facts.uid, "default/");
    assert_string_equal(facts.namespace_, "default");
    assert_string_equal(facts.name, "");
    assert_string_equal(facts.node_name, "");
    assert_string_equal(facts.nominated_node, "");
    assert_string_equal(facts.priority_class, "");
    assert_int_equal(facts.created_s, 0);
    assert_int_equal(facts.started_s, 0);
    assert_false(facts.terminating);
    assert_int_equal(facts.shape.n_demand, 1);
    facts = read_pod(fixture, "{'metadata': {'generateName': 'x-', 'namespace': 'ml'}}");
    assert_string_equal(facts.name, "x-");
    assert_string_equal(facts.uid, "ml/x-");
}

static void test_succeeded_and_failed_pods_are_finished(void **state)
{
    struct fixture *fixture = *state;
    static const struct {
        const char *phase;
        bool finished;
    } ROWS[] = {{"Pending", false}, {"Running", false}, {"Succeeded", true},
                {"Failed", true},   {"Unknown", false}, {"", false}};
    for (size_t i = 0; i < sizeof ROWS / sizeof ROWS[0]; i++) {
        const char *text =
            arena_printf(fixture->arena, "{'status': {'phase': '%s'}}", ROWS[i].phase);
        assert_int_equal(read_pod(fixture, text).finished, ROWS[i].finished);
    }
}

static void test_times(void **state)
{
    struct fixture *fixture = *state;
    static const struct {
        const char *text;
        int64_t seconds;
    } ROWS[] = {
        {"1970-01-01T00:00:01Z", 1},
        {"2026-03-02T08:14:55.123456Z", 1772439295},
        {"2026-03-02T09:14:55+01:00", 1772439295},
        {"2026-03-02", 0},
        {"2026-03-02T08:14:55", 0},
        {"2026-03-02T08:14:55Zx", 0},
        {"yesterday", 0},
    };
    for (size_t i = 0; i < sizeof ROWS / sizeof ROWS[0]; i++) {
        const char *text =
            arena_printf(fixture->arena, "{'metadata': {'creationTimestamp': '%s'}}", ROWS[i].text);
        assert_int_equal(read_pod(fixture, text).created_s, ROWS[i].seconds);
    }
}

static void test_gates(void **state)
{
    assert_true(read_spec(*state, "'schedulingGates': [{'name': 'e.com/g'}]").gated);
    assert_false(read_spec(*state, "'schedulingGates': []").gated);
}

#define PENDING "'containers': []"
#define SAYS(status, message)                                                                      \
    "'conditions': [{'type': 'Ready', 'status': 'False', 'reason': 'R', 'message': 'not "          \
    "this'},"                                                                                      \
    " {'type': 'PodScheduled', 'status': '" status                                                 \
    "', 'reason': 'Unschedulable', 'message': '" message "'}]"

static void test_the_message_of_kube_scheduler_is_read(void **state)
{
    struct fixture *fixture = *state;
    struct pod_facts facts = read_pod(fixture, "{'spec': {" PENDING "}, 'status': {" SAYS(
                                                   "False", "0/1 nodes are available") "}}");
    fixture_json(fixture, "{}"); /* no fact refers to the JSON */
    assert_string_equal(facts.unscheduled_reason, "Unschedulable");
    assert_string_equal(facts.unscheduled_message, "0/1 nodes are available");
    facts = read_pod(fixture, "{'spec': {" PENDING "}, 'status': {'conditions': ["
                              "{'type': 'PodScheduled', 'status': 'False', 'message': 7}]}}");
    assert_string_equal(facts.unscheduled_reason, "");
    assert_string_equal(facts.unscheduled_message, "");
}

static void test_bound_finished_or_scheduled_pods_have_no_message(void **state)
{
    static const char *const PODS[] = {
        "{'spec': {" PENDING "}}",
        "{'spec': {" PENDING "}, 'status': {" SAYS("True", "") "}}",
        "{'spec': {" PENDING "}, 'status': {'phase': 'Failed', " SAYS("False", "m") "}}",
        "{'spec': {" PENDING ", 'nodeName': 'n'}, 'status': {" SAYS("False", "m") "}}",
    };
    for (size_t i = 0; i < sizeof PODS / sizeof *PODS; i++) {
        struct pod_facts facts = read_pod(*state, PODS[i]);
        if (facts.unscheduled_reason || facts.unscheduled_message)
            fail_msg("says something: %s", PODS[i]);
    }
}

/* After a one-byte letter, two-byte characters straddle the limit. */
static void check_cut(struct fixture *fixture, const char *before)
{
    struct buf text;
    buf_init(&text, 1 << 16);
    buf_add_text(&text, before);
    for (size_t i = 0; i < 3000; i++)
        buf_add_text(&text, "é");
    json_t *pod = json_pack("{s:{}, s:{s:[{s:s, s:s, s:s}]}}", "spec", "status", "conditions",
                            "type", "PodScheduled", "status", "False", "message", buf_text(&text));
    struct pod_facts facts;
    assert_int_equal(pod_from_json(pod, &fixture->policy, fixture->arena, &facts, &fixture->err),
                     0);
    const size_t len = strlen(facts.unscheduled_message);
    assert_in_range(len, 4094, 4096);
    assert_string_equal(facts.unscheduled_message + len - 5, "é…");
    assert_memory_equal(facts.unscheduled_message, buf_text(&text), len - 3);
    json_decref(pod);
    buf_fini(&text);
}

static void test_a_long_message_is_cut_between_characters(void **state)
{
    check_cut(*state, "");
    check_cut(*state, "x");
}

static void test_node_selector(void **state)
{
    struct pod_facts facts =
        read_spec(*state, "'nodeSelector': {'zone': 'b', 'accelerator': 'nvidia-tesla-p100',"
                          " 'empty': null}");
    ASSERT_SHAPE_TEXT(shape_text_term, &facts.shape.node_selector,
                      "accelerator In (nvidia-tesla-p100) & empty In () & zone In (b)");
}

#define REQUIRED "'requiredDuringSchedulingIgnoredDuringExecution': "
#define PREFERRED "'preferredDuringSchedulingIgnoredDuringExecution': "
#define AFFINITY(text) "'affinity': {'nodeAffinity': {" text "}}"
#define TERMS(text) AFFINITY(REQUIRED "{'nodeSelectorTerms': [" text "]}")

static const struct {
    const char *spec;
    const char *selector;
} SELECTORS[] = {
    {"'affinity': null", "none"},
    {"'affinity': {'podAffinity': {}}", "none"},
    {AFFINITY(REQUIRED "null"), "none"},
    {AFFINITY(REQUIRED "{}"), ""}, /* present without terms: matches no node */
    {TERMS("{'matchExpressions': [{'key': 'zone', 'operator': 'In', 'values': ['b', 'c']},"
           " {'key': 'disk', 'operator': 'Exists'}]},"
           "{'matchExpressions': [{'key': 'gpus', 'operator': 'Gt', 'values': ['3']},"
           " {'key': 'age', 'operator': 'Lt', 'values': ['-2']},"
           " {'key': 'bad', 'operator': 'DoesNotExist', 'values': []},"
           " {'key': 'rack', 'operator': 'NotIn', 'values': ['1', null]}],"
           " 'matchFields': [{'key': 'metadata.name', 'operator': 'In', 'values': ['n1']}]}"),
     "zone In (b,c) & disk Exists () | gpus Gt (3) & age Lt (-2) & bad DoesNotExist () & "
     "rack NotIn (1,) & metadata.name! In (n1)"},
    {TERMS("{}, null, {'matchExpressions': [{'key': 'a', 'operator': 'Exists'}]}"),
     " |  | a Exists ()"},
    /* In the spec, values of a model label are text. */
    {TERMS("{'matchExpressions': [{'key': 'accelerator', 'operator': 'In', "
           "'values': ['nvidia-tesla-k80']}]}"),
     "accelerator In (nvidia-tesla-k80)"},
};

static void test_required_node_affinity(void **state)
{
    for (size_t i = 0; i < sizeof SELECTORS / sizeof SELECTORS[0]; i++) {
        struct pod_facts facts = read_spec(*state, SELECTORS[i].spec);
        ASSERT_SHAPE_TEXT(shape_text_selector, &facts.shape.affinity, SELECTORS[i].selector);
        assert_null(facts.refusal);
    }
}

#define NAMED(node)                                                                                \
    "'matchFields': [{'key': 'metadata.name', 'operator': 'In', 'values': ['" node "']}]"
#define ZONE_B "'matchExpressions': [{'key': 'zone', 'operator': 'In', 'values': ['b']}]"

/* For a pod with a node, so that a DaemonSet's pods share a shape. */
static const struct {
    const char *terms;
    const char *selector;
} BOUND[] = {
    {TERMS("{" NAMED("n1") "}"), "none"},
    {TERMS("{" NAMED("n1") ", " ZONE_B "}"), "zone In (b)"},
    {TERMS("{" ZONE_B "}, {" NAMED("n1") ", " ZONE_B "}"), "zone In (b) | zone In (b)"},
    {TERMS("{" ZONE_B "}, {" NAMED("n1") "}"), "none"}, /* one alternative: any node would do */
    {TERMS("{}"), ""},
    {TERMS("{}, {" ZONE_B "}"), " | zone In (b)"},
    {AFFINITY(REQUIRED "{}"), ""},
    {"'affinity': null", "none"},
};

static void test_the_target_node_of_a_daemon_pod_is_not_in_its_shape(void **state)
{
    for (size_t i = 0; i < sizeof BOUND / sizeof BOUND[0]; i++) {
        char spec[1000];
        (void)snprintf(spec, sizeof spec, "'nodeName': 'n1', %s", BOUND[i].terms);
        struct pod_facts facts = read_spec(*state, spec);
        ASSERT_SHAPE_TEXT(shape_text_selector, &facts.shape.affinity, BOUND[i].selector);
        assert_true(facts.shape.affinity.present == (strcmp(BOUND[i].selector, "none") != 0));
        assert_null(facts.refusal);
    }
}

static void test_preferred_node_affinity(void **state)
{
    struct pod_facts facts = read_spec(
        *state, AFFINITY(PREFERRED "[{'weight': 100, 'preference': {'matchExpressions': ["
                                   "{'key': 'zone', 'operator': 'In', 'values': ['c']}]}},"
                                   "{'weight': 1, 'preference': {'matchFields': ["
                                   "{'key': 'metadata.name', 'operator': 'NotIn', 'values': "
                                   "['n']}]}}]"));
    ASSERT_SHAPE_TEXT(shape_text_preferred, &facts.shape,
                      "+100 zone In (c); +1 metadata.name! NotIn (n)");
}

#define TERM_OF_PODS "[{'weight': 1, 'podAffinityTerm': {'topologyKey': 'zone'}}]"

static const struct {
    const char *spec;
    bool is_soft;
} SOFT_PREFERENCES[] = {
    {"", false},
    {AFFINITY(PREFERRED "[]"), false},
    {AFFINITY(PREFERRED "[{'weight': 1, 'preference': {}}]"), true},
    {TERMS("{'matchExpressions': []}"), false},
    {"'affinity': {'podAffinity': {" PREFERRED TERM_OF_PODS "}}", true},
    {"'affinity': {'podAntiAffinity': {" PREFERRED TERM_OF_PODS "}}", true},
    {"'affinity': {'podAntiAffinity': {" REQUIRED "[{'topologyKey': 'zone'}]}}", false},
    {"'affinity': {'podAffinity': 3}", false},
    {"'topologySpreadConstraints': [{'whenUnsatisfiable': 'DoNotSchedule'}]", false},
    {"'topologySpreadConstraints': [{}, {'whenUnsatisfiable': 'ScheduleAnyway'}]", true},
    {"'topologySpreadConstraints': ['ScheduleAnyway', {'whenUnsatisfiable': 1}]", false},
    {"'resourceClaims': [{'name': 'gpu', 'resourceClaimName': 'one'}]", false},
    {"'resourceClaims': []", false},
};

static void test_soft_preferences(void **state)
{
    for (size_t i = 0; i < sizeof SOFT_PREFERENCES / sizeof *SOFT_PREFERENCES; i++) {
        const char *spec = SOFT_PREFERENCES[i].spec;
        if (read_spec(*state, spec).soft_preferences != SOFT_PREFERENCES[i].is_soft)
            fail_msg("%s: should be%s soft", spec, SOFT_PREFERENCES[i].is_soft ? "" : " not");
    }
}

static void test_tolerations(void **state)
{
    struct pod_facts facts =
        read_spec(*state, "'tolerations': [{'key': 'gpu', 'value': 'yes', 'effect': 'NoSchedule'},"
                          " {'key': 'a', 'operator': 'Equal', 'effect': ''},"
                          " {'key': 'b', 'operator': 'Exists', 'effect': 'NoExecute',"
                          "  'tolerationSeconds': 3},"
                          " {'operator': 'Exists'},"
                          " {'key': 'n', 'operator': 'Gt', 'value': '5'}]");
    ASSERT_SHAPE_TEXT(shape_text_tolerations, &facts.shape,
                      "gpu=yes:NoSchedule a=:* b:NoExecute *:*");
}

static void test_tolerations_of_admission_are_added(void **state)
{
    struct fixture *fixture = *state;
    const char *spec = "'tolerations': [{'key': 'a', 'operator': 'Exists'}], 'containers': [{"
                       "'resources': {'limits': {'nvidia.com/gpu': 1, 'cpu': 1, 'e.com/x': 1}}}]";
    assert_int_equal(read_spec(fixture, spec).shape.n_tolerations, 1);
    fixture->policy.extended_resource_toleration = true;
    struct pod_facts facts = read_spec(fixture, spec);
    ASSERT_SHAPE_TEXT(shape_text_tolerations, &facts.shape, "a:* nvidia.com/gpu:NoSchedule");
}

#define GPU "'containers': [{'resources': {'limits': {'nvidia.com/gpu': 8}}}], "
#define EXPRESSION(text) TERMS("{'matchExpressions': [{" text "}]}")
#define IN_EXPRESSION                                                                              \
    "spec.affinity.nodeAffinity.requiredDuringSchedulingIgnoredDuringExecution."                   \
    "nodeSelectorTerms[0].matchExpressions[0]."

/* Kubernetes' validation rejects these. Such a pod never runs, but counts if it is bound. */
static const struct {
    const char *spec;
    const char *refusal;
} REFUSALS[] = {
    {EXPRESSION("'key': 'a', 'operator': 'Like', 'values': ['x']"),
     IN_EXPRESSION "operator: is 'Like', should be In, NotIn, Exists, DoesNotExist, Gt or Lt"},
    {EXPRESSION("'key': 'a', 'operator': 'In'"),
     IN_EXPRESSION "values: are 0, should be one or more"},
    {EXPRESSION("'key': 'a', 'operator': 'Exists', 'values': ['x']"),
     IN_EXPRESSION "values: are 1, should be none for operator Exists"},
    {EXPRESSION("'key': 'a', 'operator': 'Gt', 'values': ['1', '2']"),
     IN_EXPRESSION "values: are 2, should be one for operator Gt"},
    {EXPRESSION("'key': 'a', 'operator': 'Lt', 'values': ['1.5']"),
     IN_EXPRESSION "values[0]: is '1.5', should be a whole number"},
    {EXPRESSION("'operator': 'Exists'"), IN_EXPRESSION "key: is missing"},
    {TERMS("{'matchFields': [{'key': 'metadata.uid', 'operator': 'In', 'values': ['x']}]}"),
     "spec.affinity.nodeAffinity.requiredDuringSchedulingIgnoredDuringExecution."
     "nodeSelectorTerms[0].matchFields[0].key: is 'metadata.uid', should be metadata.name"},
    {TERMS("{'matchFields': [{'key': 'metadata.name', 'operator': 'Exists'}]}"),
     "spec.affinity.nodeAffinity.requiredDuringSchedulingIgnoredDuringExecution."
     "nodeSelectorTerms[0].matchFields[0].operator: is 'Exists', should be In or NotIn"},
    {TERMS("{'matchFields': [{'key': 'metadata.name', 'operator': 'In', 'values': ['a', 'b']}]}"),
     "spec.affinity.nodeAffinity.requiredDuringSchedulingIgnoredDuringExecution."
     "nodeSelectorTerms[0].matchFields[0].values: are 2, should be one"},
    {AFFINITY(PREFERRED "[{'weight': 0, 'preference': {}}]"),
     "spec.affinity.nodeAffinity.preferredDuringSchedulingIgnoredDuringExecution[0].weight: is 0, "
     "should be 1 to 100"},
    {"'tolerations': [{'key': 'a', 'effect': 'NoGo'}]",
     "spec.tolerations[0].effect: is 'NoGo', should be NoSchedule, PreferNoSchedule or NoExecute"},
    {"'tolerations': [{'value': 'x'}]",
     "spec.tolerations[0].operator: should be Exists if key is empty"},
};

static void test_an_invalid_pod_keeps_its_demand(void **state)
{
    struct fixture *fixture = *state;
    for (size_t i = 0; i < sizeof REFUSALS / sizeof REFUSALS[0]; i++) {
        const char *spec = arena_printf(fixture->arena, GPU "%s", REFUSALS[i].spec);
        struct pod_facts facts = read_spec(fixture, spec);
        assert_non_null(facts.refusal);
        assert_string_equal(facts.refusal, fixture_quotes(fixture, REFUSALS[i].refusal));
        assert_int_equal(shape_demand(&facts.shape, "nvidia.com/gpu"), 8);
    }
}

static void test_a_gpu_fault_is_reported_first(void **state)
{
    struct fixture *fixture = *state;
    struct pod_facts facts =
        read_spec(fixture, "'containers': [{'name': 'main', 'resources': {'limits': "
                           "{'nvidia.com/gpu': '1.5'}}}], 'tolerations': [{'value': 'x'}]");
    assert_string_equal(facts.refusal,
                        fixture_quotes(fixture, "container 'main': nvidia.com/gpu: '1.5' is not "
                                                "whole: it must be a whole number, 0 or more"));
}

static const struct {
    const char *pod;
    const char *message;
} ERRORS[] = {
    {"[]", "is an array, should be a Pod object"},
    {"{'metadata': 1}", "metadata: is the number 1, should be an object"},
    {"{'spec': []}", "spec: is an array, should be an object"},
    {"{'status': 'x'}", "status: is the string 'x', should be an object"},
    {"{'metadata': {'uid': 7}}", "metadata.uid: is the number 7, should be a string"},
    {"{'metadata': {'deletionTimestamp': 7}}",
     "metadata.deletionTimestamp: is the number 7, should be a string"},
    {"{'metadata': {'annotations': {'a': 1}}}",
     "metadata.annotations['a']: is a whole number, should be a string"},
    {"{'spec': {'nodeName': {}}}", "spec.nodeName: is an object, should be a string"},
    {"{'spec': {'priority': 1.5}}", "spec.priority: is the number 1.5, should be a whole number"},
    {"{'spec': {'schedulingGates': {}}}", "spec.schedulingGates: is an object, should be an array"},
    {"{'spec': {'nodeSelector': {'a': 1}}}",
     "spec.nodeSelector['a']: is a whole number, should be a string"},
    {"{'spec': {'affinity': 'x'}}", "spec.affinity: is the string 'x', should be an object"},
    {"{'spec': {" AFFINITY(REQUIRED "[]") "}}",
     "spec.affinity.nodeAffinity.requiredDuringSchedulingIgnoredDuringExecution: is an array, "
     "should be an object"},
    {"{'spec': {" EXPRESSION("'key': 'a', 'operator': 'In', 'values': [1]") "}}",
     IN_EXPRESSION "values[0]: is a whole number, should be a string"},
    {"{'spec': {" AFFINITY(PREFERRED "[{'weight': '1'}]") "}}",
     "spec.affinity.nodeAffinity.preferredDuringSchedulingIgnoredDuringExecution[0].weight: is the "
     "string '1', should be a whole number"},
    {"{'spec': {'tolerations': [{'key': true}]}}",
     "spec.tolerations[0].key: is true, should be a string"},
    {"{'status': {'phase': 1}}", "status.phase: is the number 1, should be a string"},
};

static void test_errors(void **state)
{
    struct fixture *fixture = *state;
    for (size_t i = 0; i < sizeof ERRORS / sizeof ERRORS[0]; i++) {
        struct pod_facts facts = {.name = "untouched"};
        const json_t *json = fixture_json(fixture, ERRORS[i].pod);
        assert_int_equal(
            pod_from_json(json, &fixture->policy, fixture->arena, &facts, &fixture->err), -EINVAL);
        assert_string_equal(fixture->err.text, fixture_quotes(fixture, ERRORS[i].message));
        assert_string_equal(facts.name, "untouched");
    }
}

/* A newer Kubernetes may allow more; a pod of a manifest is judged by this one's rules. */
static void test_stored_pods_with_unknown_terms_are_kept(void **state)
{
    struct fixture *fixture = *state;
    static const char *const WITH_AND_WITHOUT_UID[] = {"'uid': 'u', ", ""};
    for (size_t i = 0; i < 2; i++) {
        struct pod_facts facts = {0};
        json_t *pod = fixture_json(
            fixture, arena_printf(fixture->arena,
                                  "{'metadata': {%s'name': 'p'}, 'spec': {'affinity': "
                                  "{'podAntiAffinity': {" REQUIRED
                                  "[{'topologyKey': 'zone', 'labelSelector': {'matchExpressions': "
                                  "[{'key': 'a', 'operator': 'Near'}]}}]}}}}",
                                  WITH_AND_WITHOUT_UID[i]));
        const int r =
            pod_from_json_unasked(pod, &fixture->policy, fixture->arena, &facts, &fixture->err);
        assert_int_equal(facts.lacks_peers, i == 0);
        assert_int_equal(r == 0 && !facts.refusal, i == 0);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        FIXTURE_TEST(test_a_running_pod_is_read),
        FIXTURE_TEST(test_a_bare_pod_has_defaults),
        FIXTURE_TEST(test_succeeded_and_failed_pods_are_finished),
        FIXTURE_TEST(test_times),
        FIXTURE_TEST(test_gates),
        FIXTURE_TEST(test_the_message_of_kube_scheduler_is_read),
        FIXTURE_TEST(test_bound_finished_or_scheduled_pods_have_no_message),
        FIXTURE_TEST(test_a_long_message_is_cut_between_characters),
        FIXTURE_TEST(test_node_selector),
        FIXTURE_TEST(test_required_node_affinity),
        FIXTURE_TEST(test_the_target_node_of_a_daemon_pod_is_not_in_its_shape),
        FIXTURE_TEST(test_preferred_node_affinity),
        FIXTURE_TEST(test_soft_preferences),
        FIXTURE_TEST(test_tolerations),
        FIXTURE_TEST(test_tolerations_of_admission_are_added),
        FIXTURE_TEST(test_an_invalid_pod_keeps_its_demand),
        FIXTURE_TEST(test_a_gpu_fault_is_reported_first),
        FIXTURE_TEST(test_errors),
        FIXTURE_TEST(test_stored_pods_with_unknown_terms_are_kept),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
