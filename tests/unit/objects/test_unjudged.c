/* unjudged: the lines name all features of a pod that are not judged, and nothing else. */
#include "objects/pod.h"

#include "base/mem.h"
#include "fixture.h"

#include <stdlib.h>

/* The lines, joined. */
static const char *lines_of(struct fixture *fixture, const char *pod)
{
    struct text_list list =
        pod_not_evaluated(fixture_json(fixture, pod), &fixture->policy, fixture->arena);
    struct buf out;
    buf_init(&out, 100000);
    for (size_t i = 0; i < list.n; i++)
        buf_printf(&out, "%s\n", list.items[i]);
    const char *text = arena_strdup(fixture->arena, buf_text(&out));
    buf_fini(&out);
    return text;
}

static const char *lines_of_spec(struct fixture *fixture, const char *spec)
{
    return lines_of(fixture, arena_printf(fixture->arena, "{'spec': {%s}}", spec));
}

struct row {
    const char *spec;
    const char *lines;
};

#define REQUESTS "'resources': {'requests': {'cpu': 1}, 'limits': {'memory': 1}}"

static const struct row SPECS[] = {
    {"", ""},
    {"'topologySpreadConstraints': [{}], 'affinity': {'podAffinity': {'x': []},"
     " 'podAntiAffinity': {'y': []}, 'nodeAffinity': {'z': 1}}, 'workloadRef': {'name': 'w'}",
     "spec.workloadRef: the pod may have to wait for others\n"},
    {"'topologySpreadConstraints': [], 'affinity': {'podAffinity': {}}", ""},
    {"'volumes': [{'name': 'lib', 'hostPath': {}}, {'name': 'tmp', 'emptyDir': {}},"
     " {'name': 'data', 'persistentVolumeClaim': {'claimName': 'c'}},"
     " {'name': 'scratch', 'ephemeral': {'volumeClaimTemplate': {}}},"
     " {'name': 'conf', 'configMap': {}}, {'name': 'drv', 'csi': {'driver': 'd'}}]",
     "spec.volumes: data (persistentVolumeClaim)\nspec.volumes: scratch (ephemeral)\n"
     "spec.volumes: drv (csi)\n"},
    /* The older form under source, and that of resource.k8s.io/v1beta1 and later. */
    {"'resourceClaims': [{'name': 'gpu', 'source': {'resourceClaimName': 'exclusive-gpu-claim'}},"
     " {'name': 'b', 'source': {'resourceClaimTemplateName': 'old-template'}},"
     " {'name': 'c', 'resourceClaimName': 'claim'},"
     " {'name': 'd', 'resourceClaimTemplateName': 'template'}, {}],"
     " 'containers': [{'name': 'm', 'resources': {'requests': {'cpu': 1, 'memory': 1},"
     "  'claims': [{'name': 'gpu'}, {'name': 'nowhere'}]}}]",
     "resource claim gpu (exclusive-gpu-claim): Kubernetes 1.31 removed source and rejects the "
     "pod: write "
     "resourceClaimName or resourceClaimTemplateName beside the name; judged as if it were so\n"
     "resource claim b (old-template): Kubernetes 1.31 removed source and rejects the pod: write "
     "resourceClaimName or resourceClaimTemplateName beside the name; judged as if it were so\n"
     "container 'm': resource claim nowhere is not in spec.resourceClaims\n"},
    {"'containers': [{'name': 'm', " REQUESTS ", 'ports': [{'containerPort': 80},"
     " {'containerPort': 81, 'hostPort': 8081}]}]",
     "container 'm': host port 8081\n"},
    {"'hostNetwork': true, 'containers': [{'name': 'm', " REQUESTS
     ", 'ports': [{'containerPort': 80}]}]",
     "container 'm': host port 80\n"},
    {"'containers': [{'name': 'm', " REQUESTS "}, {'name': 'n', 'resources': {'limits': "
     "{'cpu': 1}}}, {'name': 'o'}], 'initContainers': [{'name': 'i', 'resources': {'requests': "
     "{'memory': 1}}}]",
     "container 'n': no request for memory; a LimitRange could add one\n"
     "container 'o': no request for cpu and memory; a LimitRange could add one\n"
     "container 'i': no request for cpu; a LimitRange could add one\n"},
    {"'resources': {'requests': {'cpu': 1, 'memory': 1}}, 'containers': [{'name': 'o'}]", ""},
    {"'tolerations': [{'operator': 'Exists'}, {'key': 'n', 'operator': 'Lt', 'value': '3'}]",
     "spec.tolerations[1]: operator 'Lt' is unknown and tolerates nothing, should be Exists "
     "or Equal\n"},
    {"'runtimeClassName': 'nvidia'",
     "spec.runtimeClassName nvidia: admission may add overhead, a node selector and "
     "tolerations\n"},
    {"'priorityClassName': 'high'", ""}, /* the ledger knows its value */
    {"'schedulingGates': [{'name': 'e.com/quota'}], 'nodeName': 'n1', 'schedulerName': 'volcano'",
     "scheduling gate e.com/quota: the pod waits until it is removed\n"
     "spec.nodeName n1: the pod goes there without being scheduled\n"
     "spec.schedulerName volcano: that scheduler's own rules are not judged\n"},
    {"'schedulerName': 'default-scheduler', 'nodeName': ''", ""},
};

static void test_specs(void **state)
{
    struct fixture *fixture = *state;
    for (size_t i = 0; i < sizeof SPECS / sizeof SPECS[0]; i++) {
        const char *lines = fixture_quotes(fixture, lines_of_spec(fixture, SPECS[i].spec));
        assert_string_equal(lines, fixture_quotes(fixture, SPECS[i].lines));
    }
}

static void test_schedulers_that_do_not_ask(void **state)
{
    static const struct {
        const char *spec, *lines;
    } NAMED[] = {
        {"'schedulerName': 'gpu-scheduler'", ""},
        {"'schedulerName': 'volcano'",
         "spec.schedulerName volcano: that scheduler's own rules are not judged\n"},
        {"'schedulerName': 'gpu-schduler'",
         "spec.schedulerName gpu-schduler does not ask gpu-extender; did you mean "
         "gpu-scheduler?\n"},
        {"'schedulerName': 'default-scheduler'",
         "spec.schedulerName default-scheduler: it does not ask gpu-extender; write "
         "gpu-scheduler\n"},
        {"'hostname': 'a'",
         "spec.schedulerName is not set: default-scheduler does not ask gpu-extender; write "
         "gpu-scheduler\n"},
    };
    struct fixture *fixture = *state;
    char **const names = fixture->policy.schedulers;
    free(names[0]);
    names[0] = mem_strdup(names[1]);
    for (size_t i = 0; i < sizeof NAMED / sizeof NAMED[0]; i++) {
        const json_t *pod =
            fixture_json(fixture, arena_printf(fixture->arena, "{'spec': {%s}}", NAMED[i].spec));
        const char *text = pod_not_evaluated_text(pod, &fixture->policy, fixture->arena);
        assert_string_equal(text ? text : "", NAMED[i].lines);
    }
}

static void test_annotations(void **state)
{
    struct fixture *fixture = *state;
    json_t *pod = json_pack(
        "{s: {s: {s: s, s: s, s: s, s: s, s: s, s: s, s: s, s: s, s: s, s: s}}}", "metadata",
        "annotations", "scheduler.alpha.kubernetes.io/affinity",
        "{\"nodeAffinity\": {}, \"podAffinity\": {}, \"podAntiAffinity\": {}}",
        "scheduler.alpha.kubernetes.io/tolerations", "[]", "gpu-extender.io/models", "A100",
        "gpu-extender.io/model", "A100", "gpu-extender.io/Models", "A100", "gpu-extender.io/colour",
        "red", "gpu-extender.io/allow-shared", "true", "gpu-extender.io/alow-shared", "true",
        "gpu-extender.io/bound-by", "1.0/h_1", "example.com/models", "A100");
    fixture->policy.all_pods = true;
    struct text_list list = pod_not_evaluated(pod, &fixture->policy, fixture->arena);
    static const char *const LINES[] = {
        "annotation scheduler.alpha.kubernetes.io/affinity: podAffinity",
        "annotation scheduler.alpha.kubernetes.io/affinity: podAntiAffinity",
        "annotation scheduler.alpha.kubernetes.io/tolerations",
        "annotation gpu-extender.io/model is unknown; did you mean gpu-extender.io/models?",
        "annotation gpu-extender.io/Models is unknown; did you mean gpu-extender.io/models?",
        "annotation gpu-extender.io/colour is unknown",
        ("annotation gpu-extender.io/alow-shared is unknown; did you mean "
         "gpu-extender.io/allow-shared?"),
    };
    assert_int_equal(list.n, sizeof LINES / sizeof LINES[0]);
    for (size_t i = 0; i < list.n; i++)
        assert_string_equal(list.items[i], LINES[i]);
    json_decref(pod);
}

static void test_a_group_of_a_convention(void **state)
{
    struct fixture *fixture = *state;
    char kueue[] = "kueue";
    char *conventions[] = {kueue};
    struct policy policy = fixture->policy;
    json_t *pod = json_pack("{s: {s: {s: s}, s: {s: s}}}", "metadata", "labels",
                            "kueue.x-k8s.io/pod-group-name", "train", "annotations",
                            "kueue.x-k8s.io/pod-group-total-count", "2");
    policy.gangs.mode = GANGS_PLAN;
    struct text_list list = pod_not_evaluated(pod, &policy, fixture->arena);
    assert_int_equal(list.n, 1);
    assert_string_equal(list.items[0], "pod group train: nothing here holds its pods together");
    policy.gangs.conventions = conventions;
    policy.gangs.n_conventions = 1;
    assert_int_equal(pod_not_evaluated(pod, &policy, fixture->arena).n, 0);
    policy.gangs.mode = GANGS_OBSERVE;
    assert_int_equal(pod_not_evaluated(pod, &policy, fixture->arena).n, 1);
    json_decref(pod);
}

static void test_groups_of_a_leader_worker_set(void **state)
{
    struct fixture *fixture = *state;
    char serve[] = "lws/serve";
    char *conventions[] = {serve};
    struct policy policy = fixture->policy;
    json_t *set = fixture_json(fixture, "{'kind': 'LeaderWorkerSet', 'metadata': {'namespace': "
                                        "'serve'}, 'spec': {}}");
    policy.gangs.conventions = conventions;
    policy.gangs.n_conventions = 1;
    assert_int_equal(pod_not_evaluated_around(set, &policy, fixture->arena).n, 0);
    policy.gangs.mode = GANGS_PLAN;
    struct text_list list = pod_not_evaluated_around(set, &policy, fixture->arena);
    assert_int_equal(list.n, 1);
    assert_string_equal(list.items[0],
                        "LeaderWorkerSet: each of its groups is bound whole (gangs.conventions); "
                        "its pods are judged alone here");
    serve[4] = 'S';
    assert_int_equal(pod_not_evaluated_around(set, &policy, fixture->arena).n, 0);
    serve[4] = 's';
    set = fixture_json(fixture, "{'kind': 'LeaderWorkerSet', 'metadata': {'namespace': 'serve', "
                                "'annotations': {'leaderworkerset.sigs.k8s.io/exclusive-topology': "
                                "'rack'}}, 'spec': {}}");
    assert_int_equal(pod_not_evaluated_around(set, &policy, fixture->arena).n, 0);
}

static void test_annotations_of_groups(void **state)
{
    struct fixture *fixture = *state;
    json_t *pod = json_pack("{s: {s: {s: s, s: s, s: s}}}", "metadata", "annotations",
                            "gpu-extender.io/gang", "train", "gpu-extender.io/gang-size", "2",
                            "gpu-extender.io/quarantine-lifted", "now");
    fixture->policy.all_pods = true;
    struct text_list list = pod_not_evaluated(pod, &fixture->policy, fixture->arena);
    assert_int_equal(list.n, 2);
    assert_string_equal(list.items[0],
                        "annotation gpu-extender.io/gang has no effect: gangs.mode is off");
    assert_string_equal(list.items[1], "annotation gpu-extender.io/quarantine-lifted has no "
                                       "effect: it is an annotation of nodes");
    fixture->policy.gangs.mode = GANGS_OBSERVE;
    assert_int_equal(pod_not_evaluated(pod, &fixture->policy, fixture->arena).n, 1);
    fixture->policy.gangs.mode = GANGS_OFF;
    json_decref(pod);
}

#define ANNOTATED_POD(gpus)                                                                        \
    "{'metadata': {'annotations': {'gpu-extender.io/models': ',', 'gpu-extender.io/bound-by': "    \
    "'1.0/h_1', 'scheduler.alpha.kubernetes.io/affinity': '{}'}}, 'spec': {'containers': [{"       \
    "'resources': {'requests': {'cpu': 1, 'memory': 1" gpus "}}}]}}"
#define NO_EFFECT                                                                                  \
    " has no effect: kube-scheduler places pods that name no GPU resource alone "                  \
    "(scheduler.allPods is false)\n"

static void test_annotations_without_effect(void **state)
{
    struct fixture *fixture = *state;
    assert_string_equal(lines_of(fixture, ANNOTATED_POD("")),
                        "annotation scheduler.alpha.kubernetes.io/affinity" NO_EFFECT
                        "annotation gpu-extender.io/models" NO_EFFECT);
    assert_string_equal(lines_of(fixture, ANNOTATED_POD(", 'amd.com/gpu': '0'")), "");
    fixture->policy.all_pods = true;
    assert_string_equal(lines_of(fixture, ANNOTATED_POD("")), "");
}

/* For a pod in the cluster, admission is over. */
static void test_the_text_of_an_admitted_pod(void **state)
{
    struct fixture *fixture = *state;
    json_t *pod = fixture_json(
        fixture, "{'spec': {'runtimeClassName': 'nvidia', 'containers': [{'name': 'c', 'ports': "
                 "[{'hostPort': 80}]}], 'affinity': {'podAffinity': {'x': []}}, "
                 "'schedulingGates': [{'name': 'g'}], 'schedulerName': 'volcano'}}");
    assert_string_equal(
        fixture_quotes(fixture, pod_not_evaluated_text(pod, &fixture->policy, fixture->arena)),
        fixture_quotes(fixture, "container 'c': host port 80\n"
                                "scheduling gate g: the pod waits until it is removed\n"
                                "spec.schedulerName volcano: that scheduler's own rules are "
                                "not judged\n"));
    assert_null(pod_not_evaluated_text(fixture_json(fixture, "{'spec': {'containers': [{}]}}"),
                                       &fixture->policy, fixture->arena));
}

static void test_a_long_text_is_cut_between_lines(void **state)
{
    struct fixture *fixture = *state;
    json_t *claims = json_array();
    for (size_t i = 0; i < 90; i++)
        json_array_append_new(claims, json_pack("{s: {}}", "source"));
    json_t *pod = json_pack("{s: {s: o}}", "spec", "resourceClaims", claims);
    const char *text = pod_not_evaluated_text(pod, &fixture->policy, fixture->arena);
    static const char LINE[] =
        "resource claim  (): Kubernetes 1.31 removed source and rejects the pod: write "
        "resourceClaimName or resourceClaimTemplateName beside the name; judged as if it were so\n";
    size_t n = 0;
    while (strncmp(text + n * strlen(LINE), LINE, strlen(LINE)) == 0)
        n++;
    assert_in_range(strlen(text), 1850, 2048);
    assert_string_equal(text + n * strlen(LINE),
                        arena_printf(fixture->arena, "and %zu more\n", 90 - n));
    json_decref(pod);
}

/* The decoder rejects wrong types; here they add no line. */
static void test_malformed_members_are_skipped(void **state)
{
    struct fixture *fixture = *state;
    static const char *const PODS[] = {
        "3",
        "[]",
        "{'spec': 3, 'metadata': []}",
        "{'metadata': {'annotations': ['x']}}",
        "{'metadata': {'annotations': {'scheduler.alpha.kubernetes.io/affinity': '{'}}}",
        "{'spec': {'volumes': 'x', 'resourceClaims': {}, 'containers': 3, 'tolerations': [4]}}",
        "{'spec': {'nodeName': 3, 'schedulingGates': true, 'affinity': [], 'os': {}}}",
        "{'spec': {'runtimeClassName': {}, 'schedulerName': [], 'priorityClassName': 1}}",
    };
    fixture->policy.all_pods = true; /* else annotations would have no effect */
    for (size_t i = 0; i < sizeof PODS / sizeof PODS[0]; i++)
        assert_string_equal(lines_of(fixture, PODS[i]), "");
}

static void test_a_flood_of_lines_is_counted(void **state)
{
    struct fixture *fixture = *state;
    json_t *claims = json_array();
    for (size_t i = 0; i < 150; i++)
        json_array_append_new(claims, json_pack("{s: {}}", "source"));
    json_t *pod = json_pack("{s: {s: o}}", "spec", "resourceClaims", claims);
    struct text_list list = pod_not_evaluated(pod, &fixture->policy, fixture->arena);
    assert_int_equal(list.n, 100);
    assert_string_equal(list.items[99], "and 51 more");
    json_decref(pod);
}

static void test_long_names_are_cut(void **state)
{
    struct fixture *fixture = *state;
    char name[100] = {0};
    memset(name, 'x', 99);
    const char *lines = lines_of_spec(
        fixture, arena_printf(fixture->arena, "'schedulingGates': [{'name': '%s'}]", name));
    char shown[61] = {0};
    memset(shown, 'x', 60);
    assert_string_equal(
        lines, arena_printf(fixture->arena,
                            "scheduling gate %s...: the pod waits until it is removed\n", shown));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        FIXTURE_TEST(test_specs),
        FIXTURE_TEST(test_schedulers_that_do_not_ask),
        FIXTURE_TEST(test_annotations),
        FIXTURE_TEST(test_a_group_of_a_convention),
        FIXTURE_TEST(test_groups_of_a_leader_worker_set),
        FIXTURE_TEST(test_annotations_of_groups),
        FIXTURE_TEST(test_annotations_without_effect),
        FIXTURE_TEST(test_the_text_of_an_admitted_pod),
        FIXTURE_TEST(test_a_long_text_is_cut_between_lines),
        FIXTURE_TEST(test_malformed_members_are_skipped),
        FIXTURE_TEST(test_a_flood_of_lines_is_counted),
        FIXTURE_TEST(test_long_names_are_cut),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
