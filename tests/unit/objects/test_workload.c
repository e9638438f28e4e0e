/*
 * workload: which objects create pods, and how many.
 *
 * Each row has an object and the expected lines, one per workload or skipped object. "KIND
 * NAMESPACE/NAME COUNT" has "?" if the count is unknown and "/node" for one pod per node; " !
 * PROBLEM"; "KIND NAME: WHY" if skipped.
 */
#include "objects/workload.h"

#include "fixture.h"
#include "shape_text.h"

struct row {
    const char *object;
    const char *lines;
};

static void write_workload(const struct workload *workload, struct buf *out)
{
    buf_printf(out, "%s %s/%s %lld%s%s", workload->kind, workload->namespace_, workload->name,
               (long long)workload->replicas, workload->replicas_known ? "" : "?",
               workload->per_node ? "/node" : "");
    if (workload->problem)
        buf_printf(out, " ! %s", workload->problem);
    buf_add_text(out, "\n");
}

static struct workload_list read_object(struct fixture *fixture, const char *text)
{
    struct workload_list list = {0};
    json_t *object = fixture_json(fixture, text);
    if (workload_from_json(object, &fixture->policy, fixture->arena, &list, &fixture->err) < 0)
        fail_msg("%s in %s", fixture->err.text, text);
    return list;
}

static const char *lines_of(struct fixture *fixture, const char *text)
{
    struct workload_list list = read_object(fixture, text);
    struct buf out;
    buf_init(&out, 100000);
    for (size_t i = 0; i < list.n; i++)
        write_workload(&list.items[i], &out);
    for (size_t i = 0; i < list.n_skipped; i++)
        buf_printf(&out, "%s %s: %s\n", list.skipped[i].kind, list.skipped[i].name,
                   list.skipped[i].why);
    const char *lines = arena_strdup(fixture->arena, buf_text(&out));
    buf_fini(&out);
    return lines;
}

static void check(struct fixture *fixture, const struct row *row)
{
    assert_string_equal(lines_of(fixture, row->object), fixture_quotes(fixture, row->lines));
}

#define CHECK_ALL(rows)                                                                            \
    for (size_t i = 0; i < sizeof(rows) / sizeof *(rows); i++)                                     \
    check(*state, &(rows)[i])

#define NAMED "'metadata': {'name': 'x', 'namespace': 'ml'}"
#define POD_SPEC "'spec': {'containers': [{'name': 'main'}]}"
#define TEMPLATE "'template': {" POD_SPEC "}"

static const struct row BUILT_IN[] = {
    {"{'kind': 'Pod', " NAMED ", " POD_SPEC "}", "Pod ml/x 1\n"},
    {"{'kind': 'pod', " POD_SPEC "}", "pod default/ 1\n"},
    {"{'kind': 'Pod', 'metadata': {'generateName': 'run-'}, " POD_SPEC "}", "Pod default/run- 1\n"},
    {"{'kind': 'Pod', " NAMED ", 'spec': {}}",
     "Pod ml/x 1 ! spec.containers: is missing, should be an array\n"},
    {"{'kind': 'Pod', " NAMED ", 'spec': {'containers': [{'resources': {'limits': "
     "{'cpu': 1.5}}}]}}",
     "Pod ml/x 1\n"},
    {"{'kind': 'Pod', " NAMED ", 'spec': {'containers': [{'resources': {'limits': "
     "{'cpu': true}}}]}}",
     "Pod ml/x 1 ! spec.containers[0].resources.limits['cpu']: is true or false, should be a "
     "quantity such as '4' or '16Gi'\n"},
    {"{'kind': 'PodTemplate', " NAMED ", " TEMPLATE "}", "PodTemplate ml/x 1\n"},
    {"{'kind': 'Deployment', " NAMED ", 'spec': {'replicas': 3, " TEMPLATE "}}",
     "Deployment ml/x 3\n"},
    {"{'kind': 'deployment', " NAMED ", 'spec': {" TEMPLATE "}}", "deployment ml/x 1\n"},
    {"{'kind': 'StatefulSet', " NAMED ", 'spec': {'replicas': 0, " TEMPLATE "}}",
     "StatefulSet ml/x 0\n"},
    {"{'kind': 'ReplicaSet', " NAMED ", 'spec': {'replicas': null, " TEMPLATE "}}",
     "ReplicaSet ml/x 1\n"},
    {"{'kind': 'ReplicationController', " NAMED ", 'spec': {'replicas': 2, " TEMPLATE "}}",
     "ReplicationController ml/x 2\n"},
    {"{'kind': 'DaemonSet', " NAMED ", 'spec': {" TEMPLATE "}}", "DaemonSet ml/x 1/node\n"},
    {"{'kind': 'Deployment', " NAMED ", 'spec': {'replicas': -1, " TEMPLATE "}}",
     "Deployment ml/x 1 ! spec.replicas: is -1, should be 0 or more\n"},
    {"{'kind': 'Deployment', " NAMED ", 'spec': {'replicas': '3', " TEMPLATE "}}",
     "Deployment ml/x 1 ! spec.replicas: is the string '3', should be a whole number\n"},
    {"{'kind': 'Deployment', " NAMED ", 'spec': {'replicas': 2.0, " TEMPLATE "}}",
     "Deployment ml/x 1 ! spec.replicas: is the number 2.0, should be a whole number\n"},
    {"{'kind': 'Deployment', " NAMED ", 'spec': {'replicas': 2, 'template': {'spec': {}}}}",
     "Deployment ml/x 1 ! no pod template: nothing under a key that ends in 'template' has "
     "spec.containers\n"},
    {"{'kind': 'Deployment', " NAMED ", 'spec': {'replicas': 2, 'template': {'spec': "
     "{'containers': [{'name': 7}]}}}}",
     "Deployment ml/x 2 ! spec.template.spec.containers[0].name: is the number 7, should be a "
     "string\n"},
};

static void test_built_in_kinds(void **state)
{
    CHECK_ALL(BUILT_IN);
}

#define JOB(counts) "{'kind': 'Job', " NAMED ", 'spec': {" counts TEMPLATE "}}"

static const struct row JOBS[] = {
    {JOB(""), "Job ml/x 1\n"},
    {JOB("'parallelism': 4, "), "Job ml/x 4\n"},
    {JOB("'completions': 4, "), "Job ml/x 1\n"},
    {JOB("'parallelism': 4, 'completions': 2, "), "Job ml/x 2\n"},
    {JOB("'parallelism': 2, 'completions': 4, "), "Job ml/x 2\n"},
    {JOB("'parallelism': 0, "), "Job ml/x 0\n"},
    {JOB("'parallelism': -4, "), "Job ml/x 1 ! spec.parallelism: is -4, should be 0 or more\n"},
    {"{'kind': 'CronJob', " NAMED ", 'spec': {'schedule': '* * * * *', 'jobTemplate': {'spec': "
     "{'parallelism': 3, 'completions': 5, " TEMPLATE "}}}}",
     "CronJob ml/x 3\n"},
    {"{'kind': 'CronJob', " NAMED ", 'spec': {'jobTemplate': {'spec': {" TEMPLATE "}}}}",
     "CronJob ml/x 1\n"},
};

static void test_jobs(void **state)
{
    CHECK_ALL(JOBS);
}

static const struct row CUSTOM[] = {
    /* From a user's manifest. */
    {"{'kind': 'InferencePool', " NAMED ", 'spec': {'deployment': {'replicas': 3, " TEMPLATE "}}}",
     "InferencePool ml/x 3\n"},
    {"{'kind': 'Notebook', " NAMED ", 'spec': {'podTemplate': {" POD_SPEC "}}}",
     "Notebook ml/x 1\n"},
    {"{'kind': 'Notebook', " NAMED ", 'spec': {'pod': {" POD_SPEC "}, 'Template': {" POD_SPEC
     "}, 'emplate': {" POD_SPEC "}, 'xtemplate': {'spec': {'containers': {}}}}}",
     "Notebook ml/x 1\n"},
    {"{'kind': 'PyTorchJob', " NAMED ", 'spec': {'pytorchReplicaSpecs': {"
     "'Master': {'replicas': 1, " TEMPLATE "}, 'Worker': {'replicas': 3, " TEMPLATE "}}}}",
     "PyTorchJob ml/x/spec.pytorchReplicaSpecs.Master.template 1\n"
     "PyTorchJob ml/x/spec.pytorchReplicaSpecs.Worker.template 3\n"},
    {"{'kind': 'Nested', " NAMED ", 'spec': {'replicas': 2, 'groups': [{'replicas': 3, "
     "'parts': [[{'replicas': 5, " TEMPLATE "}]]}]}}",
     "Nested ml/x 30\n"},
    /* The path goes through "replicas", so it is no count. */
    {"{'kind': 'Old', " NAMED ", 'spec': {'replicas': {'worker': {" TEMPLATE "}}}}",
     "Old ml/x 1?\n"},
    {"{'kind': 'Huge', " NAMED
     ", 'spec': {'replicas': 9223372036854775807, 'a': {'replicas': 2, " TEMPLATE "}}}",
     "Huge ml/x 1? ! spec.a.replicas: makes more pods than can be counted\n"},
    /* The walk skips metadata, status and the inside of templates. */
    {"{'kind': 'Odd', 'metadata': {'name': 'x', " TEMPLATE "}, 'status': {" TEMPLATE "}}",
     "Odd x: holds no pods\n"},
    {"{'kind': 'Odd', 'metadata': {'name': 'x'}, 'spec': {'replicas': 2, 'template': {'spec': "
     "{'containers': [{" TEMPLATE "}]}}}}",
     "Odd default/x 2\n"},
};

static void test_custom_kinds(void **state)
{
    CHECK_ALL(CUSTOM);
}

#define LWS(counts, templates)                                                                     \
    "{'kind': 'LeaderWorkerSet', " NAMED ", 'spec': {" counts                                      \
    "'leaderWorkerTemplate': {" templates "}}}"
#define LEADER "'leaderTemplate': {" POD_SPEC "}"
#define WORKER "'workerTemplate': {" POD_SPEC "}"
#define LEADER_LINE "LeaderWorkerSet ml/x/spec.leaderWorkerTemplate.leaderTemplate "
#define WORKER_LINE "LeaderWorkerSet ml/x/spec.leaderWorkerTemplate.workerTemplate "

static const struct row GROUPS[] = {
    {LWS("'replicas': 2, ", "'size': 3, " LEADER ", " WORKER), LEADER_LINE "2\n" WORKER_LINE "4\n"},
    {LWS("'replicas': 2, ", "'size': 3, " WORKER), "LeaderWorkerSet ml/x 6\n"},
    {LWS("", WORKER), "LeaderWorkerSet ml/x 1\n"},
    {LWS("", LEADER ", " WORKER), LEADER_LINE "1\n" WORKER_LINE "0\n"},
    {LWS("", "'size': 'x', " WORKER),
     "LeaderWorkerSet ml/x 1 ! spec.leaderWorkerTemplate.size: is the string 'x', should be a "
     "whole number\n"},

    {"{'kind': 'RayCluster', " NAMED ", 'spec': {'headGroupSpec': {'replicas': 9, " TEMPLATE "},"
     " 'workerGroupSpecs': [{'groupName': 'a', 'replicas': 2, 'numOfHosts': 4, " TEMPLATE
     "}, {'replicas': 3, " TEMPLATE "}, {'numOfHosts': 2, " TEMPLATE
     "}, {'numOfHosts': 2, 'minReplicas': 3, " TEMPLATE "}]}}",
     "RayCluster ml/x/spec.headGroupSpec.template 1\n"
     "RayCluster ml/x/spec.workerGroupSpecs[0].template 8\n"
     "RayCluster ml/x/spec.workerGroupSpecs[1].template 3\n"
     "RayCluster ml/x/spec.workerGroupSpecs[2].template 0\n"
     "RayCluster ml/x/spec.workerGroupSpecs[3].template 6\n"},
    /* The operator keeps the number within the limits. */
    {"{'kind': 'RayService', " NAMED ", 'spec': {'rayClusterConfig': {'workerGroupSpecs': ["
     "{'replicas': 0, 'minReplicas': 3, 'maxReplicas': 4, " TEMPLATE
     "}, {'replicas': 9, 'minReplicas': 0, 'maxReplicas': 1, 'numOfHosts': 2, " TEMPLATE
     "}, {'replicas': 3, 'minReplicas': 1, 'maxReplicas': 5, " TEMPLATE
     "}, {'replicas': 3, 'minReplicas': 1, 'suspend': true, " TEMPLATE
     "}, {'replicas': 3, 'minReplicas': 1, 'suspend': false, " TEMPLATE
     "}, {'maxReplicas': -1, " TEMPLATE "}]}}}",
     "RayService ml/x/spec.rayClusterConfig.workerGroupSpecs[0].template 3\n"
     "RayService ml/x/spec.rayClusterConfig.workerGroupSpecs[1].template 2\n"
     "RayService ml/x/spec.rayClusterConfig.workerGroupSpecs[2].template 3\n"
     "RayService ml/x/spec.rayClusterConfig.workerGroupSpecs[3].template 0\n"
     "RayService ml/x/spec.rayClusterConfig.workerGroupSpecs[4].template 3\n"
     "RayService ml/x/spec.rayClusterConfig.workerGroupSpecs[5].template 1? ! "
     "spec.rayClusterConfig.workerGroupSpecs[5].maxReplicas: is -1, should be 0 or more\n"},
    {"{'kind': 'RayJob', " NAMED ", 'spec': {'rayClusterSpec': {'headGroupSpec': {" TEMPLATE
     "}}, 'submitterPodTemplate': {" POD_SPEC "}}}",
     "RayJob ml/x/spec.rayClusterSpec.headGroupSpec.template 1\n"
     "RayJob ml/x/spec.submitterPodTemplate 1?\n"},

    {"{'kind': 'JobSet', " NAMED ", 'spec': {'replicatedJobs': ["
     "{'name': 'driver', 'template': {'spec': {" TEMPLATE "}}},"
     "{'name': 'worker', 'replicas': 2, 'template': {'spec': {'parallelism': 4, 'completions': "
     "3, " TEMPLATE "}}}]}}",
     "JobSet ml/x/spec.replicatedJobs[driver].template.spec.template 1\n"
     "JobSet ml/x/spec.replicatedJobs[worker].template.spec.template 6\n"},
};

static void test_groups(void **state)
{
    CHECK_ALL(GROUPS);
}

static const struct row LISTS[] = {
    {"{'kind': 'List', 'items': [{'kind': 'Pod', " NAMED ", " POD_SPEC
     "}, {'kind': 'Service', " NAMED "}, {'kind': 'Deployment', " NAMED
     ", 'spec': {'replicas': 2, " TEMPLATE "}}]}",
     "Pod ml/x 1\nDeployment ml/x 2\nService x: holds no pods\n"},
    {"{'kind': 'PodList', 'items': [{" NAMED ", " POD_SPEC "}]}", "Pod ml/x 1\n"},
    {"{'kind': 'List', 'items': []}", ""},
    {"{'kind': 'AllowList', " NAMED ", 'spec': {}}", "AllowList x: holds no pods\n"},
    {"{'kind': 'Gateway', " NAMED "}", "Gateway x: holds no pods\n"},
    {"{'kind': 'ResourceClaim', 'metadata': null}", "ResourceClaim : holds no pods\n"},
};

#define SAID "holds no pods; claims are judged as if it were applied\n"
#define REQUESTS "{'devices': {'requests': [{'name': 'r', 'exactly': {'deviceClassName': 'c'}}]}}"
#define TEMPLATE_OF_CLAIMS "{'kind': 'ResourceClaimTemplate', " NAMED ", 'spec': "
#define CLASS "{'kind': 'DeviceClass', 'metadata': {'name': 'x'}, 'spec': {}}"

/* The second of a name does not count, nor does an unreadable one. */
static const struct row FOR_CLAIMS[] = {
    {"{'kind': 'List', 'items': [" TEMPLATE_OF_CLAIMS "{'spec': " REQUESTS "}}, " TEMPLATE_OF_CLAIMS
     "{'spec': " REQUESTS "}}]}",
     "ResourceClaimTemplate x: " SAID "ResourceClaimTemplate x: holds no pods\n"},
    {TEMPLATE_OF_CLAIMS "[]}", "ResourceClaimTemplate x: holds no pods\n"},
    {"{'kind': 'ResourceClaim', " NAMED ", 'spec': " REQUESTS "}", "ResourceClaim x: " SAID},
    {"{'kind': 'List', 'items': [" CLASS ", " CLASS "]}",
     "DeviceClass x: " SAID "DeviceClass x: holds no pods\n"},
    {"{'kind': 'DeviceClass', 'spec': {}}", "DeviceClass : holds no pods\n"},
};

static void test_objects_that_claims_are_judged_by(void **state)
{
    CHECK_ALL(FOR_CLAIMS);
}

static void test_lists_and_kinds_without_pods(void **state)
{
    CHECK_ALL(LISTS);
}

static void test_the_list_grows_over_many_objects(void **state)
{
    struct fixture *fixture = *state;
    struct workload_list list = {0};
    for (int i = 0; i < 33; i++) {
        const char *text = arena_printf(fixture->arena,
                                        "{'kind': 'List', 'items': [{'kind': 'Pod', 'metadata': "
                                        "{'name': 'p%d'}, " POD_SPEC "}, {'kind': 'X'}]}",
                                        i);
        json_t *object = fixture_json(fixture, text);
        assert_int_equal(
            workload_from_json(object, &fixture->policy, fixture->arena, &list, &fixture->err), 0);
    }
    assert_int_equal(list.n, 33);
    assert_int_equal(list.n_skipped, 33);
    assert_string_equal(list.items[0].name, "p0");
    assert_string_equal(list.items[32].name, "p32");
}

static void test_a_template_has_the_names_of_its_object(void **state)
{
    struct fixture *fixture = *state;
    struct workload_list list = read_object(
        fixture,
        "{'kind': 'Deployment', " NAMED ", 'spec': {'replicas': 2, 'template': {'metadata': {"
        "'name': 'ignored', 'namespace': 'ignored', 'labels': {'a': 'b'}, 'annotations': {"
        "'gpu-extender.io/models': 'A100'}}, 'spec': {'runtimeClassName': 'nvidia', 'containers': "
        "[{'name': 'm', 'resources': {'limits': {'nvidia.com/gpu': 2, 'cpu': 1, 'memory': 1}}}]"
        "}}}}");
    const struct workload *workload = &list.items[0];
    assert_string_equal(workload->pod.name, "x");
    assert_string_equal(workload->pod.namespace_, "ml");
    assert_string_equal(workload->pod.uid, "ml/x");
    assert_int_equal(shape_demand(&workload->pod.shape, "nvidia.com/gpu"), 2);
    assert_int_equal(workload->pod.shape.wants.n_accept, 1);
    assert_int_equal(workload->pod.shape.n_tolerations, 2);
    assert_int_equal(workload->not_evaluated.n, 1);
    assert_non_null(strstr(workload->not_evaluated.items[0], "runtimeClassName"));
}

static void test_a_template_that_breaks_gpu_rules_is_rejected(void **state)
{
    struct workload_list list = read_object(
        *state, "{'kind': 'Pod', 'metadata': {'name': 'x'}, 'spec': {'containers': [{'name': "
                "'main', 'resources': {'limits': {'nvidia.com/gpu': '0.5'}}}]}}");
    assert_null(list.items[0].problem);
    assert_non_null(list.items[0].pod.refusal);
}

static void check_tolerations(struct fixture *fixture, const char *object, const char *expected)
{
    const struct workload_list list = read_object(fixture, object);
    ASSERT_SHAPE_TEXT(shape_text_tolerations, &list.items[0].pod.shape, expected);
}

static void check_daemon_tolerations(struct fixture *fixture, const char *spec,
                                     const char *expected)
{
    check_tolerations(fixture,
                      arena_printf(fixture->arena,
                                   "{'kind': 'DaemonSet', 'spec': {'template': {'spec': {%s"
                                   "'containers': []}}}}",
                                   spec),
                      expected);
}

#define DAEMON_TOLERATIONS                                                                         \
    "node.kubernetes.io/not-ready:NoExecute node.kubernetes.io/unreachable:NoExecute "             \
    "node.kubernetes.io/disk-pressure:NoSchedule node.kubernetes.io/memory-pressure:NoSchedule "   \
    "node.kubernetes.io/pid-pressure:NoSchedule node.kubernetes.io/unschedulable:NoSchedule"

static void test_a_daemon_set_gets_the_tolerations_of_its_controller(void **state)
{
    struct fixture *fixture = *state;
    check_daemon_tolerations(fixture, "", DAEMON_TOLERATIONS);
    check_daemon_tolerations(
        fixture, "'hostNetwork': true, 'tolerations': [{'key': 'a', 'operator': 'Exists'}], ",
        "a:* " DAEMON_TOLERATIONS " node.kubernetes.io/network-unavailable:NoSchedule");
}

/* For a pod whose manifest has tolerations of its own. */
static void check_pod_tolerations(struct fixture *fixture, const char *own, const char *expected)
{
    check_tolerations(fixture,
                      arena_printf(fixture->arena,
                                   "{'kind': 'Pod', 'spec': {'tolerations': [%s], "
                                   "'containers': []}}",
                                   own),
                      expected);
}

#define NOT_READY "node.kubernetes.io/not-ready"
#define UNREACHABLE "node.kubernetes.io/unreachable"

/* As the admission plugin DefaultTolerationSeconds adds them. */
static void test_a_pod_gets_the_default_tolerations_that_it_lacks(void **state)
{
    struct fixture *fixture = *state;
    static const struct {
        const char *own;
        const char *all;
    } ROWS[] = {
        {"", NOT_READY ":NoExecute " UNREACHABLE ":NoExecute"},
        {"{'operator': 'Exists'}", "*:*"},
        {"{'operator': 'Exists', 'effect': 'NoExecute'}", "*:NoExecute"},
        {"{'operator': 'Exists', 'effect': 'NoSchedule'}",
         "*:NoSchedule " NOT_READY ":NoExecute " UNREACHABLE ":NoExecute"},
        {"{'key': '" NOT_READY "', 'operator': 'Exists'}",
         NOT_READY ":* " UNREACHABLE ":NoExecute"},
        {"{'key': '" UNREACHABLE "', 'operator': 'Exists', 'effect': 'NoSchedule'}",
         UNREACHABLE ":NoSchedule " NOT_READY ":NoExecute " UNREACHABLE ":NoExecute"},
    };
    for (size_t i = 0; i < sizeof ROWS / sizeof ROWS[0]; i++)
        check_pod_tolerations(fixture, ROWS[i].own, ROWS[i].all);
    fixture->policy.default_toleration_seconds = false;
    check_pod_tolerations(fixture, "", "");
}

static const struct row ERRORS[] = {
    {"3", "is a whole number, should be an object"},
    {"{}", "kind: is missing"},
    {"{'kind': ''}", "kind: is missing"},
    {"{'kind': 7}", "kind: is the number 7, should be a string"},
    {"{'kind': 'Pod', 'metadata': 3}", "metadata: is the number 3, should be an object"},
    {"{'kind': 'Pod', 'metadata': {'name': 3}}",
     "metadata.name: is the number 3, should be a string"},
    {"{'kind': 'List', 'items': [{'kind': 'Service'}, []]}",
     "items[1]: is an array, should be an object"},
    {"{'kind': 'List', 'items': [{'spec': {}}]}", "items[0]: kind: is missing"},
    {"{'kind': 'List', 'items': [{'kind': 'List', 'items': [{'kind': 'List', 'items': ["
     "{'kind': 'List', 'items': [{'kind': 'List', 'items': []}]}]}]}]}",
     "items[0]: items[0]: items[0]: items[0]: items: lists in lists, more than 4 deep"},
};

static void test_errors(void **state)
{
    struct fixture *fixture = *state;
    for (size_t i = 0; i < sizeof ERRORS / sizeof ERRORS[0]; i++) {
        struct workload_list list = {0};
        json_t *object = fixture_json(fixture, ERRORS[i].object);
        assert_int_equal(
            workload_from_json(object, &fixture->policy, fixture->arena, &list, &fixture->err),
            -EINVAL);
        assert_string_equal(fixture->err.text, ERRORS[i].lines);
    }
}

/* Far deeper than any manifest: neither stack nor memory grows with it. */
static void test_the_search_ends_at_deep_nesting(void **state)
{
    struct fixture *fixture = *state;
    json_t *object = json_pack("{s: {s: [{}]}}", "spec", "containers");
    for (int i = 0; i < 1000; i++)
        object = json_pack("{s: o}", "template", object);
    json_object_set_new(object, "kind", json_string("Deep"));
    struct workload_list list = {0};
    assert_int_equal(
        workload_from_json(object, &fixture->policy, fixture->arena, &list, &fixture->err), 0);
    assert_int_equal(list.n, 0);
    assert_int_equal(list.n_skipped, 1);
    json_decref(object);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        FIXTURE_TEST(test_built_in_kinds),
        FIXTURE_TEST(test_jobs),
        FIXTURE_TEST(test_custom_kinds),
        FIXTURE_TEST(test_groups),
        FIXTURE_TEST(test_lists_and_kinds_without_pods),
        FIXTURE_TEST(test_objects_that_claims_are_judged_by),
        FIXTURE_TEST(test_the_list_grows_over_many_objects),
        FIXTURE_TEST(test_a_template_has_the_names_of_its_object),
        FIXTURE_TEST(test_a_template_that_breaks_gpu_rules_is_rejected),
        FIXTURE_TEST(test_a_daemon_set_gets_the_tolerations_of_its_controller),
        FIXTURE_TEST(test_a_pod_gets_the_default_tolerations_that_it_lacks),
        FIXTURE_TEST(test_errors),
        FIXTURE_TEST(test_the_search_ends_at_deep_nesting),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
