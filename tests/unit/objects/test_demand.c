/*
 * demand: the arithmetic of requests, and the rules for GPUs.
 *
 * Each row: a pod's spec, its status ("": none), and the demand as "RESOURCE=AMOUNT ..." without
 * the "pods=1" of every pod, with " ! REFUSAL" if it is rejected.
 */
#include "objects/pod.h"

#include "base/table.h"
#include "compare_count.h"
#include "fixture.h"

#include <stdio.h>

struct row {
    const char *what;
    const char *spec;
    const char *status;
    const char *demand;
};

/* One container with these resources. */
#define ONE(resources) "{'containers': [{'name': 'main', 'resources': {" resources "}}]}"
#define LIMITS(text) ONE("'limits': {" text "}")
#define REQUESTS(text) ONE("'requests': {" text "}")

static const struct row SUMS[] = {
    {"nothing asked for", "{'containers': [{'name': 'main'}]}", "", ""},
    {"no containers at all", "{}", "", ""},
    {"a missing request equals its limit, resource by resource",
     ONE("'requests': {'cpu': '250m'}, 'limits': {'cpu': 1, 'memory': '1Ki', 'e.com/x': 3}"), "",
     "cpu=250 e.com/x=3 memory=1024"},
    {"units: cpu in thousandths, others rounded up",
     REQUESTS("'cpu': '0.0001', 'memory': '1500m', 'ephemeral-storage': '1k'"), "",
     "cpu=1 ephemeral-storage=1000 memory=2"},
    {"0 is none", LIMITS("'nvidia.com/gpu': 0, 'cpu': '0'"), "", ""},
    {"null is missing",
     ONE("'requests': {'cpu': null, 'memory': 1}, 'limits': {'cpu': 2, 'memory': null}"), "",
     "cpu=2000 memory=1"},
    {"two containers: 2 + 3 GPUs (first document of the users)",
     "{'containers': ["
     " {'name': 'a', 'resources': {'limits': {'alpha.kubernetes.io/nvidia-gpu': 2}}},"
     " {'name': 'b', 'resources': {'limits': {'alpha.kubernetes.io/nvidia-gpu': 3}}}]}",
     "", "alpha.kubernetes.io/nvidia-gpu=5"},
    {"a limit too large to count does not matter beside its request",
     ONE("'requests': {'cpu': 1, 'nvidia.com/gpu': 2},"
         " 'limits': {'cpu': '9E', 'nvidia.com/gpu': 2}"),
     "", "cpu=1000 nvidia.com/gpu=2"},

    {"init containers run one by one: the largest counts",
     "{'initContainers': ["
     " {'name': 'i', 'resources': {'requests': {'cpu': 3, 'nvidia.com/gpu': 1},"
     "  'limits': {'nvidia.com/gpu': 1}}},"
     " {'name': 'j', 'resources': {'requests': {'cpu': 2, 'memory': 10}}}],"
     " 'containers': [{'name': 'a', 'resources': {'requests': {'cpu': 1, 'memory': 4}}},"
     "  {'name': 'b', 'resources': {'requests': {'cpu': 1, 'memory': 4}}}]}",
     "", "cpu=3000 memory=10 nvidia.com/gpu=1"},
    {"a sidecar is there beside the containers",
     "{'initContainers': [{'name': 's', 'restartPolicy': 'Always',"
     "  'resources': {'requests': {'cpu': 1}}}],"
     " 'containers': [{'name': 'a', 'resources': {'requests': {'cpu': 2}}}]}",
     "", "cpu=3000"},
    {"KEP-753: init1 5, sidecar 2, init2 10, containers 1: the peak is 2 + 10",
     "{'initContainers': [{'name': 'i1', 'resources': {'requests': {'memory': 5}}},"
     " {'name': 's', 'restartPolicy': 'Always', 'resources': {'requests': {'memory': 2}}},"
     " {'name': 'i2', 'resources': {'requests': {'memory': 10}}}],"
     " 'containers': [{'name': 'a', 'resources': {'requests': {'memory': 1}}}]}",
     "", "memory=12"},
    {"a sidecar counts only for what starts after it",
     "{'initContainers': [{'name': 'i1', 'resources': {'requests': {'memory': 10}}},"
     " {'name': 's1', 'restartPolicy': 'Always', 'resources': {'requests': {'memory': 2}}},"
     " {'name': 'i2', 'resources': {'requests': {'memory': 7}}},"
     " {'name': 's2', 'restartPolicy': 'Always', 'resources': {'requests': {'memory': 4}}}],"
     " 'containers': [{'name': 'a', 'resources': {'requests': {'memory': 1}}}]}",
     "", "memory=10"},
    {"all sidecars and containers together outweigh the start-up",
     "{'initContainers': [{'name': 'i1', 'resources': {'requests': {'memory': 10}}},"
     " {'name': 's1', 'restartPolicy': 'Always', 'resources': {'requests': {'memory': 2}}},"
     " {'name': 'i2', 'resources': {'requests': {'memory': 7}}},"
     " {'name': 's2', 'restartPolicy': 'Always', 'resources': {'requests': {'memory': 4}}}],"
     " 'containers': [{'name': 'a', 'resources': {'requests': {'memory': 5}}}]}",
     "", "memory=11"},
    {"GPUs of a sidecar add up like any resource",
     "{'initContainers': [{'name': 's', 'restartPolicy': 'Always',"
     "  'resources': {'limits': {'nvidia.com/gpu': 1}}},"
     " {'name': 'i', 'resources': {'limits': {'nvidia.com/gpu': 4}}}],"
     " 'containers': [{'name': 'a', 'resources': {'limits': {'nvidia.com/gpu': 2}}}]}",
     "", "nvidia.com/gpu=5"},
    {"restartPolicy means nothing on a container",
     "{'containers': [{'name': 'a', 'restartPolicy': 'Always',"
     " 'resources': {'requests': {'cpu': 1}}}]}",
     "", "cpu=1000"},

    {"overhead is added after",
     "{'overhead': {'cpu': '250m', 'memory': 100},"
     " 'initContainers': [{'name': 'i', 'resources': {'requests': {'cpu': 3}}}],"
     " 'containers': [{'name': 'a', 'resources': {'requests': {'cpu': 1}}}]}",
     "", "cpu=3250 memory=100"},
    {"pod-level requests replace cpu, memory and hugepages; never GPUs",
     "{'resources': {'requests': {'cpu': 1, 'memory': 50, 'hugepages-2Mi': 4}},"
     " 'overhead': {'cpu': 1},"
     " 'containers': [{'name': 'a', 'resources':"
     "  {'requests': {'cpu': 7, 'memory': 7, 'hugepages-2Mi': 2, 'example.com/x': 3},"
     "   'limits': {'nvidia.com/gpu': 2}}}]}",
     "", "cpu=2000 example.com/x=3 hugepages-2Mi=4 memory=50 nvidia.com/gpu=2"},
    {"pod-level limits alone: what containers request stays; what they do not is the limit",
     "{'resources': {'limits': {'cpu': 9, 'memory': 90, 'hugepages-2Mi': 4}},"
     " 'containers': [{'name': 'a', 'resources':"
     "  {'requests': {'cpu': 7, 'hugepages-2Mi': 2}}}]}",
     "", "cpu=7000 hugepages-2Mi=4 memory=90"},
    {"a pod-level extended resource is no request",
     "{'resources': {'requests': {'example.com/x': 5}},"
     " 'containers': [{'name': 'a', 'resources': {'requests': {'example.com/x': 1}}}]}",
     "", "example.com/x=1"},
    {"sums stay where they can be counted, and are refused",
     "{'containers': [{'resources': {'requests': {'memory': '8E'}}},"
     " {'resources': {'requests': {'memory': '8E'}}}], 'overhead': {'memory': '8E'}}",
     "", "memory=9007199254740992 ! memory: the sum of the requests is too large"},
    {"so is a pod-level request", "{'resources': {'requests': {'memory': '8E'}}}", "",
     "memory=9007199254740992 ! memory: the sum of the requests is too large"},
    {"a request for pods does not change their number", REQUESTS("'pods': 5"), "", ""},
};

#define STATUS(requests, allocated)                                                                \
    "'containerStatuses': [{'name': 'main', 'resources': {'requests': {" requests                  \
    "}}, 'allocatedResources': {" allocated "}}]"
#define PENDING(reason) "'conditions': [{'type': 'PodResizePending', 'reason': '" reason "'}], "

static const struct row RESIZED[] = {
    {"the largest of spec, actual and allocated",
     REQUESTS("'cpu': 1, 'memory': 10, 'ephemeral-storage': 5"),
     "{" STATUS("'cpu': 3, 'memory': 5", "'cpu': 2, 'memory': 20") "}",
     "cpu=3000 ephemeral-storage=5 memory=20"},
    {"a deferred resize counts what is asked for", REQUESTS("'cpu': 8"),
     "{" PENDING("Deferred") STATUS("'cpu': 3", "'cpu': 2") "}", "cpu=8000"},
    {"an infeasible one does not", REQUESTS("'cpu': 8"),
     "{" PENDING("Infeasible") STATUS("'cpu': 3", "'cpu': 2") "}", "cpu=3000"},
    {"an infeasible resize hides no GPUs",
     LIMITS("'nvidia.com/gpu': 4, 'memory': 10, 'example.com/x': 1"),
     "{" PENDING("Infeasible") STATUS("'memory': 6", "'memory': 6") "}",
     "example.com/x=1 memory=6 nvidia.com/gpu=4"},
    {"the first condition of the type decides", REQUESTS("'cpu': 8"),
     "{'conditions': [{'type': 'PodResizePending', 'reason': 'Deferred'},"
     " {'type': 'PodResizePending', 'reason': 'Infeasible'}], " STATUS("'cpu': 3", "") "}",
     "cpu=8000"},
    {"a status without resources says nothing", REQUESTS("'cpu': 2"),
     "{" PENDING("Infeasible") "'containerStatuses': [{'name': 'main',"
                               " 'allocatedResources': {'cpu': 5}}]}",
     "cpu=2000"},
    {"the status of another container says nothing", REQUESTS("'cpu': 2"),
     "{'containerStatuses': [{'name': 'x', 'resources': {'requests': {'cpu': 7}}}]}", "cpu=2000"},
    {"sidecars are resized too, init containers are not",
     "{'initContainers': [{'name': 's', 'restartPolicy': 'Always',"
     "  'resources': {'requests': {'cpu': 1}}},"
     " {'name': 'i', 'resources': {'requests': {'cpu': 1}}}]}",
     "{'initContainerStatuses': ["
     " {'name': 's', 'resources': {'requests': {'cpu': 4}}},"
     " {'name': 'i', 'resources': {'requests': {'cpu': 9}}}]}",
     "cpu=5000"},
    {"pod-level requests are resized like a container's",
     "{'resources': {'requests': {'cpu': 2}}, 'containers': [{'name': 'main'}]}",
     "{'resources': {'requests': {'cpu': 4}}, 'allocatedResources': {'cpu': 3}}", "cpu=4000"},
    {"a resize to what no machine has is counted as far as counting goes, and refused",
     ONE("'requests': {'cpu': '9E', 'nvidia.com/gpu': 8}, 'limits': {'nvidia.com/gpu': 8}"),
     "{" PENDING("Deferred") STATUS("'cpu': 1", "") "}",
     "cpu=9007199254740992 nvidia.com/gpu=8 ! cpu: the sum of the requests is too large"},
};

static const struct row GPU_RULES[] = {
    {"request and limit agree",
     ONE("'requests': {'nvidia.com/gpu': '2000m'}, 'limits': {'nvidia.com/gpu': 2}"), "",
     "nvidia.com/gpu=2"},
    {"a request that is not equal to its limit",
     ONE("'requests': {'nvidia.com/gpu': 1}, 'limits': {'nvidia.com/gpu': 2}"), "",
     "nvidia.com/gpu=1 ! container 'main': nvidia.com/gpu: request 1 is not equal to its limit 2"},
    {"a request of 0 beside a limit is not equal to its limit",
     ONE("'requests': {'nvidia.com/gpu': 0}, 'limits': {'nvidia.com/gpu': 2}"), "",
     " ! container 'main': nvidia.com/gpu: request 0 is not equal to its limit 2"},
    {"a request without a limit", REQUESTS("'nvidia.com/gpu': '3'"), "",
     "nvidia.com/gpu=3 ! container 'main': nvidia.com/gpu: request 3 has no limit; GPUs belong in "
     "limits"},
    {"no limit is needed for none", REQUESTS("'nvidia.com/gpu': '0'"), "", ""},
    {"a part of a GPU counts as one", LIMITS("'amd.com/gpu': '1.5'"), "",
     "amd.com/gpu=2 ! container 'main': amd.com/gpu: '1.5' is not whole: it must be a whole "
     "number, 0 or more"},
    {"half a GPU in milli", LIMITS("'nvidia.com/mig-1g.5gb': '500m'"), "",
     "nvidia.com/mig-1g.5gb=1 ! container 'main': nvidia.com/mig-1g.5gb: '500m' is not whole: it "
     "must be a whole number, 0 or more"},
    {"less than none counts as none", LIMITS("'nvidia.com/gpu': -1"), "",
     " ! container 'main': nvidia.com/gpu: '-1' is negative: it must be a whole number, 0 or more"},
    {"no number counts as none", LIMITS("'nvidia.com/gpu': 'all'"), "",
     " ! container 'main': nvidia.com/gpu: 'all' is not a quantity: it must begin with a number, "
     "as in '1', '500m' or '40Gi'"},
    {"more than can be counted", LIMITS("'nvidia.com/gpu': '9e40'"), "",
     "nvidia.com/gpu=9007199254740992 ! container 'main': nvidia.com/gpu: '9e40' is too large: it "
     "does not fit a signed 64-bit number"},
    {"the first container that breaks a rule is named; one without a name by its place",
     "{'containers': [{'resources': {'limits': {'nvidia.com/gpu': 1}}},"
     " {'resources': {'limits': {'nvidia.com/gpu': '0.5'}}},"
     " {'name': 'c', 'resources': {'limits': {'nvidia.com/gpu': '0.25'}}}]}",
     "",
     "nvidia.com/gpu=3 ! container 1: nvidia.com/gpu: '0.5' is not whole: it must be a whole "
     "number, 0 or more"},
    {"init containers are bound by the same rules",
     "{'initContainers': [{'name': 'warm-up', 'resources': {'limits': {'nvidia.com/gpu': "
     "'0.5'}}}]}",
     "",
     "nvidia.com/gpu=1 ! init container 'warm-up': nvidia.com/gpu: '0.5' is not whole: it must be "
     "a whole number, 0 or more"},
    {"GPUs of the pod as a whole", "{'resources': {'limits': {'nvidia.com/gpu': 2}}}", "",
     " ! spec.resources: nvidia.com/gpu: GPUs belong in the limits of a container"},
    {"other extended resources have no such rules",
     ONE("'requests': {'example.com/x': 1}, 'limits': {'example.com/x': 2}"), "",
     "example.com/x=1"},
};

static const char *text_of(struct fixture *fixture, const struct demand *demand)
{
    struct buf out;
    buf_init(&out, 4096);
    for (size_t i = 0; i < demand->n_amounts; i++) {
        const struct amount *amount = &demand->amounts[i];
        if (i > 0)
            assert_true(strcmp(demand->amounts[i - 1].resource, amount->resource) < 0);
        if (strcmp(amount->resource, "pods") == 0)
            assert_int_equal(amount->amount, 1);
        else
            buf_printf(&out, "%s%s=%lld", out.len ? " " : "", amount->resource,
                       (long long)amount->amount);
    }
    if (demand->refusal)
        buf_printf(&out, " ! %s", demand->refusal);
    const char *text = arena_strdup(fixture->arena, buf_text(&out));
    buf_fini(&out);
    return text;
}

static void check(struct fixture *fixture, const struct row *row)
{
    struct demand demand = {0};
    const char *status = *row->status ? row->status : "null";
    const json_t *pod = fixture_json(
        fixture, arena_printf(fixture->arena, "{'spec': %s, 'status': %s}", row->spec, status));
    if (demand_from_json(json_member(pod, "spec"), json_member(pod, "status"), &fixture->policy,
                         fixture->arena, &demand, &fixture->err) < 0)
        fail_msg("%s: %s", row->what, fixture->err.text);
    const char *text = text_of(fixture, &demand);
    const char *expected = fixture_quotes(fixture, row->demand);
    if (strcmp(text, expected) != 0)
        fail_msg("%s:\n  have %s\n  want %s", row->what, text, expected);
    size_t n_pods = 0;
    for (size_t i = 0; i < demand.n_amounts; i++)
        n_pods += strcmp(demand.amounts[i].resource, "pods") == 0;
    assert_int_equal(n_pods, 1);
}

#define CHECK_ALL(rows)                                                                            \
    for (size_t i = 0; i < sizeof(rows) / sizeof *(rows); i++)                                     \
    check(*state, &(rows)[i])

static void test_sums(void **state)
{
    CHECK_ALL(SUMS);
}

static void test_in_place_resize(void **state)
{
    CHECK_ALL(RESIZED);
}

static void test_gpu_rules(void **state)
{
    CHECK_ALL(GPU_RULES);
}

static const struct {
    const char *spec;
    const char *status;
    const char *message;
} ERRORS[] = {
    {REQUESTS("'cpu': 'fast'"), "null",
     "spec.containers[0].resources.requests['cpu']: 'fast' is not a quantity: it must begin with a "
     "number, as in '1', '500m' or '40Gi'"},
    {REQUESTS("'cpu': '-1'"), "null",
     "spec.containers[0].resources.requests['cpu']: '-1' is negative"},
    {REQUESTS("'memory': '-9e40'"), "null",
     "spec.containers[0].resources.requests['memory']: '-9e40' is negative"},
    {"{'containers': {}}", "null", "spec.containers: is an object, should be an array"},
    {"{'containers': [1]}", "null", "spec.containers[0]: is a whole number, should be an object"},
    {"{'containers': [{'name': 1}]}", "null",
     "spec.containers[0].name: is the number 1, should be a string"},
    {"{'initContainers': [{}, {'restartPolicy': true}]}", "null",
     "spec.initContainers[1].restartPolicy: is true, should be a string"},
    {"{'containers': [{'resources': []}]}", "null",
     "spec.containers[0].resources: is an array, should be an object"},
    {"{'containers': [{'resources': {'limits': 'x'}}]}", "null",
     "spec.containers[0].resources.limits: is the string 'x', should be an object"},
    {"{'overhead': {'cpu': 'x'}}", "null",
     "spec.overhead['cpu']: 'x' is not a quantity: it must begin with a number, as in '1', "
     "'500m' or '40Gi'"},
    {"{'overhead': 3}", "null", "spec.overhead: is the number 3, should be an object"},
    {"{'resources': {'requests': {'cpu': []}}}", "null",
     "spec.resources.requests['cpu']: is an array, should be a quantity such as '4' or '16Gi'"},
    {"{'containers': [{'name': 'main'}]}", "{" STATUS("'cpu': 'x'", "") "}",
     "spec.containers[0] (status): resources.requests['cpu']: 'x' is not a quantity: it must begin "
     "with a number, as in '1', '500m' or '40Gi'"},
    {"{}", "{'containerStatuses': [{'name': 3}]}",
     "status.containerStatuses[0].name: is the number 3, should be a string"},
    {"{}", "{'conditions': 3}", "status.conditions: is the number 3, should be an array"},
};

static void test_errors(void **state)
{
    struct fixture *fixture = *state;
    for (size_t i = 0; i < sizeof ERRORS / sizeof ERRORS[0]; i++) {
        const struct demand before = {.refusal = "untouched"};
        struct demand demand = before;
        const json_t *pod =
            fixture_json(fixture, arena_printf(fixture->arena, "{'spec': %s, 'status': %s}",
                                               ERRORS[i].spec, ERRORS[i].status));
        assert_int_equal(demand_from_json(json_member(pod, "spec"), json_member(pod, "status"),
                                          &fixture->policy, fixture->arena, &demand, &fixture->err),
                         -EINVAL);
        assert_string_equal(fixture->err.text, fixture_quotes(fixture, ERRORS[i].message));
        assert_string_equal(demand.refusal, "untouched");
    }
}

#define N_INVENTED 5000

/* Names that share a bucket under uthash's own, unkeyed hash function. */
static const char *invented_name(size_t *serial, struct arena *arena)
{
    char name[64];
    for (;;) {
        unsigned hash = 0;
        const int len = snprintf(name, sizeof name, "example.com/%zu", (*serial)++);
        HASH_JEN(name, (size_t)len, hash);
        if (hash % 256 == 0)
            return arena_strdup(arena, name);
    }
}

/* spec: one container with n invented names in its limits, followed by a GPU. */
static json_t *spec_of_inventor(size_t n, const char *quantity, struct arena *arena)
{
    json_t *limits = json_object();
    size_t serial = 0;
    for (size_t i = 0; i < n; i++)
        (void)json_object_set_new(limits, invented_name(&serial, arena), json_string(quantity));
    (void)json_object_set_new(limits, "nvidia.com/gpu", json_string("8"));
    return json_pack("{s:[{s:{s:o}}]}", "containers", "resources", "limits", limits);
}

/* A pod with thousands of colliding names: rejected, but its GPUs count. */
static void test_invented_names_cost_little(void **state)
{
    struct fixture *fixture = *state;
    static const char *const QUANTITIES[] = {"0", "1"};
    for (size_t i = 0; i < 2; i++) {
        struct demand demand = {0};
        json_auto_t *spec = spec_of_inventor(N_INVENTED, QUANTITIES[i], fixture->arena);
        const size_t n_before = compare_count();
        assert_int_equal(
            demand_from_json(spec, NULL, &fixture->policy, fixture->arena, &demand, &fixture->err),
            0);
        assert_in_range(compare_count() - n_before, 1, 30 * N_INVENTED);
        assert_string_equal(demand.refusal, "asks for more than 256 resources");
        assert_in_range(demand.n_amounts, 2, 256);
        const struct shape_facts shape = {.demand = demand.amounts, .n_demand = demand.n_amounts};
        assert_int_equal(shape_demand(&shape, "nvidia.com/gpu"), 8);
        assert_int_equal(shape_demand(&shape, "pods"), 1);
    }
}

/* Names with amount 0 displace no other names. */
static void test_zero_requests_do_not_hide_others(void **state)
{
    struct fixture *fixture = *state;
    struct demand demand = {0};
    json_auto_t *limits = json_object();
    for (size_t i = 0; i < 300; i++)
        (void)json_object_set_new(limits, arena_printf(fixture->arena, "nvidia.com/mig-%zu", i),
                                  json_string("0"));
    (void)json_object_set_new(limits, "nvidia.com/mig-1g.5gb", json_string("2"));
    json_auto_t *spec = json_pack("{s:[{s:{s:O}}]}", "containers", "resources", "limits", limits);
    assert_int_equal(
        demand_from_json(spec, NULL, &fixture->policy, fixture->arena, &demand, &fixture->err), 0);
    const struct shape_facts shape = {.demand = demand.amounts, .n_demand = demand.n_amounts};
    assert_int_equal(demand.n_amounts, 2);
    assert_int_equal(shape_demand(&shape, "nvidia.com/mig-1g.5gb"), 2);
    assert_string_equal(demand.refusal, "asks for more than 256 resources");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        FIXTURE_TEST(test_sums),
        FIXTURE_TEST(test_in_place_resize),
        FIXTURE_TEST(test_gpu_rules),
        FIXTURE_TEST(test_errors),
        FIXTURE_TEST(test_invented_names_cost_little),
        FIXTURE_TEST(test_zero_requests_do_not_hide_others),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
