/* failed_pod: which rejections of a kubelet are about its GPUs, by the kubelet's own words. */
#include "objects/pod.h"

#include "fixture.h"

/* Messages of kubelets from 1.31 to 1.36, and of NVIDIA's device plugin. */
static const struct {
    const char *reason, *message;
    enum refusal refusal;
} REJECTED[] = {
    {"UnexpectedAdmissionError",
     "Pod was rejected: Allocate failed due to requested number of devices unavailable for "
     "nvidia.com/gpu. Requested: 1, Available: 0, which is unexpected",
     REFUSAL_DEVICES},
    {"UnexpectedAdmissionError",
     "Pod was rejected: Allocate failed due to no healthy devices present; cannot allocate "
     "unhealthy devices nvidia.com/gpu, which is unexpected",
     REFUSAL_DEVICES},
    {"UnexpectedAdmissionError",
     "Allocate failed due to device plugin GetPreferredAllocation rpc failed with err: rpc error: "
     "code = Unknown desc = error creating nvml.Device 1: nvml: GPU is lost, which is unexpected",
     REFUSAL_DEVICES},
    {"UnexpectedAdmissionError",
     "Pod was rejected: Allocate failed due to not enough cpus available to satisfy request: "
     "requested=4, available=2, which is unexpected",
     REFUSAL_OTHER},
    {"UnexpectedAdmissionError",
     "Pod was rejected: Allocate failed due to [memorymanager] failed to get the default NUMA "
     "affinity, no NUMA nodes with enough memory is available, which is unexpected",
     REFUSAL_OTHER},
    {"UnexpectedAdmissionError",
     "Pod was rejected: Unexpected error while attempting to recover from admission failure: "
     "preemption: error finding a set of pods to preempt",
     REFUSAL_OTHER},
    {"OutOfnvidia.com/gpu", "Pod was rejected: Node didn't have enough resource: nvidia.com/gpu",
     REFUSAL_GPUS},
    {"OutOfexample.com/gpu", "Pod was rejected: Node didn't have enough resource", REFUSAL_OTHER},
    {"OutOfcpu", "Pod was rejected: Node didn't have enough resource: cpu", REFUSAL_OTHER},
    {"TopologyAffinityError",
     "Pod was rejected: Resources cannot be allocated with Topology locality", REFUSAL_TOPOLOGY},
    {"SMTAlignmentError", "Pod was rejected: SMT Alignment Error", REFUSAL_OTHER},
    {"NodeAffinity", "Pod was rejected: Predicate NodeAffinity failed", REFUSAL_OTHER},
    {"Evicted", "The node was low on resource: memory.", REFUSAL_OTHER},
    {"", "", REFUSAL_OTHER},
};

static struct failed_pod_facts read(struct fixture *fixture, const char *metadata,
                                    const char *status)
{
    struct failed_pod_facts facts = {0};
    const char *text = arena_printf(fixture->arena, "{'metadata': {'uid': 'u'%s}, 'status': {%s}}",
                                    metadata, status);
    if (failed_pod_from_json(fixture_json(fixture, text), &fixture->policy, fixture->arena, &facts,
                             &fixture->err) < 0)
        fail_msg("%s", fixture->err.text);
    fixture_json(fixture, "{}"); /* nothing refers to the JSON */
    assert_string_equal(facts.uid, "u");
    return facts;
}

static void test_reasons(void **state)
{
    struct fixture *fixture = *state;
    for (size_t i = 0; i < sizeof REJECTED / sizeof *REJECTED; i++) {
        struct arena *arena = fixture->arena;
        json_auto_t *status =
            json_pack("{s:s,s:s}", "reason", REJECTED[i].reason, "message", REJECTED[i].message);
        json_auto_t *pod = json_pack("{s:{s:s},s:O}", "metadata", "uid", "u", "status", status);
        struct failed_pod_facts facts = {0};
        assert_int_equal(failed_pod_from_json(pod, &fixture->policy, arena, &facts, &fixture->err),
                         0);
        if (facts.refusal != REJECTED[i].refusal)
            fail_msg("%s: %s: is %d", REJECTED[i].reason, REJECTED[i].message, facts.refusal);
        assert_false(facts.has_run);
        assert_false(facts.is_bound_by_us);
    }
}

static void test_what_had_run(void **state)
{
    assert_true(read(*state, "", "'containerStatuses': [{'name': 'c'}]").has_run);
    assert_true(read(*state, "", "'initContainerStatuses': [{'name': 'c'}]").has_run);
    assert_false(read(*state, "", "'containerStatuses': []").has_run);
    assert_false(read(*state, "", "'containerStatuses': 7, 'reason': 7, 'message': []").has_run);
}

static void test_our_bindings(void **state)
{
    const char *ours = ", 'annotations': {'gpu-extender.io/bound-by': '0.1.0/x'}";
    assert_true(read(*state, ours, "").is_bound_by_us);
    assert_false(
        read(*state, ", 'annotations': {'gpu-extender.io/bound-by': ''}", "").is_bound_by_us);
    assert_false(read(*state, ", 'annotations': {}", "").is_bound_by_us);
}

static void test_without_a_uid(void **state)
{
    struct fixture *fixture = *state;
    struct failed_pod_facts facts = {.uid = "unchanged"};
    static const char *const PODS[] = {"[]", "{}", "{'metadata': {'uid': 7}}"};
    for (size_t i = 0; i < sizeof PODS / sizeof *PODS; i++)
        assert_int_equal(failed_pod_from_json(fixture_json(fixture, PODS[i]), &fixture->policy,
                                              fixture->arena, &facts, &fixture->err),
                         -EINVAL);
    assert_string_equal(facts.uid, "unchanged");
}

int main(void)
{
    static const struct CMUnitTest TESTS[] = {
        FIXTURE_TEST(test_reasons),
        FIXTURE_TEST(test_what_had_run),
        FIXTURE_TEST(test_our_bindings),
        FIXTURE_TEST(test_without_a_uid),
    };
    return cmocka_run_group_tests(TESTS, NULL, NULL);
}
