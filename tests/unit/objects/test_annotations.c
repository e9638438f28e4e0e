/* annotations: the legacy affinity, and wishes for GPU models. */
#include "objects/pod.h"

#include "fixture.h"
#include "shape_text.h"

/* A bound pod with 2 GPUs, one annotation and a preferred term. */
static struct pod_facts read_annotated(struct fixture *fixture, json_t *annotations)
{
    struct pod_facts facts = {0};
    json_t *pod = fixture_json(
        fixture,
        "{'metadata': {'name': 'p'}, 'spec': {'nodeName': 'n', 'containers': [{'resources': "
        "{'limits': {'nvidia.com/gpu': 2}}}], 'affinity': {'nodeAffinity': {"
        "'preferredDuringSchedulingIgnoredDuringExecution': [{'weight': 7, 'preference': "
        "{'matchExpressions': [{'key': 'a', 'operator': 'Exists'}]}}]}}}}");
    json_object_set_new(json_object_get(pod, "metadata"), "annotations", annotations);
    if (pod_from_json(pod, &fixture->policy, fixture->arena, &facts, &fixture->err) < 0)
        fail_msg("%s", fixture->err.text);
    /* Whatever a tenant writes, use stays the same. */
    assert_int_equal(shape_demand(&facts.shape, "nvidia.com/gpu"), 2);
    assert_string_equal(facts.node_name, "n");
    return facts;
}

static struct pod_facts read_one(struct fixture *fixture, const char *key, const char *value)
{
    return read_annotated(fixture, json_pack("{s: s}", key, fixture_quotes(fixture, value)));
}

#define REQUIRED "'requiredDuringSchedulingIgnoredDuringExecution': "
#define LEGACY "scheduler.alpha.kubernetes.io/affinity"
#define TERM(expression)                                                                           \
    "{'nodeAffinity': {" REQUIRED "{'nodeSelectorTerms': [{'matchExpressions': [{" expression      \
    "}]}]}}}"

static const struct {
    const char *annotation;
    const char *selector;
} LEGACY_ROWS[] = {
    {"", "none"},
    {"{}", "none"},
    {"{'nodeAffinity': null}", "none"},
    {"{'podAffinity': {}}", "none"},
    /* From a user's manifest: not a legal label value, so compared as models. */
    {TERM("'key': 'alpha.kubernetes.io/nvidia-gpu-name', 'operator': 'In', "
          "'values': ['Tesla K80', 'Tesla P100']"),
     "alpha.kubernetes.io/nvidia-gpu-name~ In (K80,P100)"},
    {TERM("'key': 'accelerator', 'operator': 'NotIn', 'values': ['nvidia-tesla-k80']"),
     "accelerator~ NotIn (K80)"},
    {TERM("'key': 'accelerator', 'operator': 'Exists'"), "accelerator Exists ()"},
    {TERM("'key': 'zone', 'operator': 'In', 'values': ['Tesla K80']"), "zone In (Tesla K80)"},
    {TERM("'key': 'accelerator', 'operator': 'In', 'values': ['nvidia']"),
     "accelerator In (nvidia)"},
    {TERM("'key': 'accelerator', 'operator': 'In', 'values': ['nvidia', 'Tesla V100']"),
     "accelerator~ In (nvidia,V100)"},
};

static void test_legacy_affinity(void **state)
{
    for (size_t i = 0; i < sizeof LEGACY_ROWS / sizeof LEGACY_ROWS[0]; i++) {
        struct pod_facts facts = read_one(*state, LEGACY, LEGACY_ROWS[i].annotation);
        ASSERT_SHAPE_TEXT(shape_text_selector, &facts.shape.legacy_affinity,
                          LEGACY_ROWS[i].selector);
        assert_null(facts.refusal);
        assert_false(facts.shape.affinity.present);
    }
}

static void test_the_policy_defines_model_labels_and_aliases(void **state)
{
    struct fixture *fixture = *state;
    struct gpu_model_alias alias = {"big-one", "H100-80GB"};
    char label[] = "example.com/gpu";
    char *labels[] = {label};
    struct policy policy = fixture->policy;
    policy.aliases = &alias;
    policy.n_aliases = 1;
    policy.model_labels = labels;
    policy.n_model_labels = 1;
    struct policy kept = fixture->policy;
    fixture->policy = policy;
    struct pod_facts facts = read_one(
        fixture, LEGACY, TERM("'key': 'example.com/gpu', 'operator': 'In', 'values': ['Big One']"));
    struct buf out;
    buf_init(&out, 1000);
    shape_text_selector(&out, &facts.shape.legacy_affinity);
    facts = read_one(fixture, "gpu-extender.io/models", "big_one");
    buf_add_text(&out, "; ");
    shape_text_wants(&out, &facts.shape.wants);
    fixture->policy = kept;
    assert_string_equal(buf_text(&out), "example.com/gpu~ In (H100-80GB); accept H100-80GB");
    buf_fini(&out);
}

static void test_preferences_of_the_spec_precede_legacy_ones(void **state)
{
    struct pod_facts facts = read_one(
        *state, LEGACY,
        "{'nodeAffinity': {'preferredDuringSchedulingIgnoredDuringExecution': [{'weight': 3, "
        "'preference': {'matchExpressions': [{'key': 'accelerator', 'operator': 'In', 'values': "
        "['Tesla K80']}]}}]}}");
    ASSERT_SHAPE_TEXT(shape_text_preferred, &facts.shape,
                      "+7 a Exists (); +3 accelerator~ In (K80)");
}

static const struct {
    const char *annotation;
    const char *refusal;
} BROKEN_LEGACY[] = {
    {"{\n  'nodeAffinity': {\n    'required", "3:"},
    {"not JSON", "1:"},
    {"   ", "1:"},
    {"{} {}", "1:4: "},
    {"null", "1:"},
    {"[]", "is an array, should be an object"},
    {"{'nodeAffinity': 3}", "nodeAffinity: is the number 3, should be an object"},
    {TERM("'key': 'a', 'operator': 'Is'"),
     "nodeAffinity.requiredDuringSchedulingIgnoredDuringExecution.nodeSelectorTerms[0]."
     "matchExpressions[0].operator: is 'Is', should be In, NotIn, Exists, DoesNotExist, Gt or Lt"},
};

static void test_a_broken_legacy_affinity_rejects_the_pod(void **state)
{
    struct fixture *fixture = *state;
    for (size_t i = 0; i < sizeof BROKEN_LEGACY / sizeof BROKEN_LEGACY[0]; i++) {
        struct pod_facts facts = read_one(fixture, LEGACY, BROKEN_LEGACY[i].annotation);
        const char *begins = arena_printf(fixture->arena, "annotation " LEGACY ": %s",
                                          fixture_quotes(fixture, BROKEN_LEGACY[i].refusal));
        if (!facts.refusal || strncmp(facts.refusal, begins, strlen(begins)) != 0)
            fail_msg("have %s\n  want %s", facts.refusal ? facts.refusal : "none", begins);
    }
}

static const struct {
    const char *key, *value;
    const char *wants;
    const char *refusal; /* NULL: none */
} WANTS[] = {
    {"models", "H100-80GB, A100-80GB", "accept H100-80GB,A100-80GB", NULL},
    {"models", " nvidia-tesla-v100 ", "accept V100", NULL},
    {"exclude-models", "K80,Tesla P100", " exclude K80,P100", NULL},
    {"min-gpu-memory", "40Gi", " memory 42949672960", NULL},
    {"models", "H100,, A100", "",
     "annotation gpu-extender.io/models: an item of the list is empty"},
    {"models", "H100,", "", "annotation gpu-extender.io/models: an item of the list is empty"},
    {"models", "", "", "annotation gpu-extender.io/models: an item of the list is empty"},
    {"models", "H100, NVIDIA", "",
     "annotation gpu-extender.io/models: 'NVIDIA' names no GPU model"},
    {"exclude-models", "tesla", "",
     "annotation gpu-extender.io/exclude-models: 'tesla' names no GPU model"},
    {"min-gpu-memory", "0", "",
     "annotation gpu-extender.io/min-gpu-memory: '0' is less than 1Mi, should be as in 40Gi"},
    {"min-gpu-memory", "40", "",
     "annotation gpu-extender.io/min-gpu-memory: '40' is less than 1Mi, should be as in 40Gi"},
    {"min-gpu-memory", "-1Gi", "",
     "annotation gpu-extender.io/min-gpu-memory: '-1Gi' is less than 1Mi, should be as in 40Gi"},
};

static void check_wants(struct fixture *fixture, const struct pod_facts *facts, const char *wants,
                        const char *refusal)
{
    ASSERT_SHAPE_TEXT(shape_text_wants, &facts->shape.wants, wants);
    if (refusal && facts->refusal)
        assert_string_equal(facts->refusal, fixture_quotes(fixture, refusal));
    assert_int_equal(!refusal, !facts->refusal);
}

static void test_model_wants(void **state)
{
    struct fixture *fixture = *state;
    for (size_t i = 0; i < sizeof WANTS / sizeof WANTS[0]; i++) {
        const char *key = arena_printf(fixture->arena, "gpu-extender.io/%s", WANTS[i].key);
        struct pod_facts facts = read_one(fixture, key, WANTS[i].value);
        check_wants(fixture, &facts, WANTS[i].wants, WANTS[i].refusal);
    }
}

static void test_a_minimum_must_be_a_quantity(void **state)
{
    struct pod_facts facts = read_one(*state, "gpu-extender.io/min-gpu-memory", "40GB");
    assert_non_null(facts.refusal);
    assert_non_null(strstr(facts.refusal, "annotation gpu-extender.io/min-gpu-memory: \"40GB\""));
}

static const struct {
    const char *accept, *exclude;
    const char *wants;
    const char *refusal;
} CONTRADICTIONS[] = {
    {"A100-80GB, H100", "A100", "",
     "annotation gpu-extender.io/models accepts A100-80GB, but annotation "
     "gpu-extender.io/exclude-models excludes A100"},
    {"Tesla K80", "nvidia-tesla-k80", "",
     "annotation gpu-extender.io/models accepts K80, but annotation "
     "gpu-extender.io/exclude-models excludes K80"},
    /* Other A100s remain. */
    {"A100", "A100-40GB", "accept A100 exclude A100-40GB", NULL},
    {"L40S", "L4, L40", "accept L40S exclude L4,L40", NULL},
};

static void test_a_model_both_accepted_and_excluded_is_refused(void **state)
{
    struct fixture *fixture = *state;
    for (size_t i = 0; i < sizeof CONTRADICTIONS / sizeof CONTRADICTIONS[0]; i++) {
        struct pod_facts facts = read_annotated(
            fixture, json_pack("{s: s, s: s}", "gpu-extender.io/models", CONTRADICTIONS[i].accept,
                               "gpu-extender.io/exclude-models", CONTRADICTIONS[i].exclude));
        check_wants(fixture, &facts, CONTRADICTIONS[i].wants, CONTRADICTIONS[i].refusal);
    }
}

static void test_allow_shared_is_true_or_false(void **state)
{
    static const struct {
        const char *text;
        enum allow_shared allow;
        bool refused;
    } ROWS[] = {{"true", ALLOW_SHARED_YES, false},       {"false", ALLOW_SHARED_NO, false},
                {"", ALLOW_SHARED_BY_POLICY, true},      {"True", ALLOW_SHARED_BY_POLICY, true},
                {"yes", ALLOW_SHARED_BY_POLICY, true},   {"1", ALLOW_SHARED_BY_POLICY, true},
                {" true", ALLOW_SHARED_BY_POLICY, true}, {"truer", ALLOW_SHARED_BY_POLICY, true}};
    struct fixture *fixture = *state;
    assert_int_equal(read_annotated(fixture, json_object()).shape.allow_shared,
                     ALLOW_SHARED_BY_POLICY);
    for (size_t i = 0; i < sizeof ROWS / sizeof *ROWS; i++) {
        struct pod_facts facts = read_one(fixture, "gpu-extender.io/allow-shared", ROWS[i].text);
        assert_int_equal(facts.shape.allow_shared, ROWS[i].allow);
        if (!ROWS[i].refused)
            assert_null(facts.refusal);
        else
            assert_string_equal(facts.refusal,
                                arena_printf(fixture->arena,
                                             "annotation gpu-extender.io/allow-shared: is \"%s\", "
                                             "should be \"true\" or \"false\"",
                                             ROWS[i].text));
    }
}

/* A text cut inside a character would be no JSON string, and the whole answer would be lost. */
/* Before a verb asks about a pod, the policy decides whether its annotations count. */
static void test_annotations_of_a_pod_that_never_comes_here(void **state)
{
    struct fixture *fixture = *state;
    json_t *pod = fixture_json(
        fixture, "{'metadata': {'annotations': {'gpu-extender.io/allow-shared': 'true',"
                 " 'gpu-extender.io/models': ','}}, 'spec': {'containers': [{'name': 'main'}]}}");
    struct pod_facts facts = {0};
    assert_int_equal(pod_from_json(pod, &fixture->policy, fixture->arena, &facts, &fixture->err),
                     0);
    assert_non_null(facts.refusal);
    assert_int_equal(
        pod_from_json_unasked(pod, &fixture->policy, fixture->arena, &facts, &fixture->err), 0);
    assert_null(facts.refusal);
    assert_int_equal(facts.shape.allow_shared, ALLOW_SHARED_BY_POLICY);
    fixture->policy.all_pods = true;
    assert_int_equal(
        pod_from_json_unasked(pod, &fixture->policy, fixture->arena, &facts, &fixture->err), 0);
    assert_non_null(facts.refusal);
}

static void test_a_cut_text_ends_on_a_character(void **state)
{
#define TEN "xxxxxxxxxx"
    struct fixture *fixture = *state;
    static const char *const TEXTS[] = {TEN TEN TEN "xxxxxxxxx\u00e9\u00e9\u00e9",
                                        TEN TEN TEN TEN TEN "xxxxxxxxx\u00e9\u00e9\u00e9"};
    for (size_t i = 0; i < sizeof TEXTS / sizeof *TEXTS; i++) {
        struct pod_facts facts = read_one(fixture, "gpu-extender.io/allow-shared", TEXTS[i]);
        assert_non_null(facts.refusal);
        json_t *json = json_string(facts.refusal);
        assert_non_null(json);
        json_decref(json);
    }
}

#define KUEUE(name, count)                                                                         \
    "{'labels': {'kueue.x-k8s.io/pod-group-name': '" name "'}, 'annotations': {"                   \
    "'kueue.x-k8s.io/pod-group-total-count': '" count "'"
#define LWS(more)                                                                                  \
    "{'namespace': 'serve', 'labels': {'leaderworkerset.sigs.k8s.io/name': 'llm', "                \
    "'leaderworkerset.sigs.k8s.io/group-index': '1'}, 'annotations': {"                            \
    "'leaderworkerset.sigs.k8s.io/size': '3'" more "}}"
#define KOORDINATOR(size) "{'annotations': {'gang.scheduling.koordinator.sh/name': 'k'" size "}}"
#define YUNIKORN(groups)                                                                           \
    "{'labels': {'yunikorn.apache.org/app-id': 'spark-1'}, 'annotations': {"                       \
    "'yunikorn.apache.org/task-group-name': 'workers', 'yunikorn.apache.org/task-groups': "        \
    "'" groups "'}}"
#define JOB(name)                                                                                  \
    "{'labels': {'batch.kubernetes.io/job-name': '" name "'}, 'annotations': {"                    \
    "'gpu-extender.io/gang': 'job', 'gpu-extender.io/gang-size': '4'}}"
#define OTHERS "kueue lws/serve koordinator yunikorn"

static const struct {
    const char *conventions, *metadata;
    const char *gang; /* "NAME SIZE"; NULL: none */
    const char *refusal;
} CONVENTIONS[] = {
    {"", KUEUE("train", "4") "}}", NULL, NULL},
    {"lws/serve", KUEUE("train", "4") "}}", NULL, NULL},
    {OTHERS, KUEUE("train", "4") "}}", "train 4", NULL},
    {OTHERS, KUEUE("", "4") "}}", NULL, NULL},
    {OTHERS, KUEUE("train", "") "}}", NULL, NULL},
    {OTHERS, KUEUE("train", "65") "}}", NULL,
     "annotation kueue.x-k8s.io/pod-group-total-count: is 65, should be at most 64 (the policy's "
     "gangs.maxSize)"},
    {OTHERS, KUEUE("train", "-1") "}}", NULL,
     "annotation kueue.x-k8s.io/pod-group-total-count: is \"-1\", should be the number of the "
     "group's pods"},
    {OTHERS, KUEUE("/", "4") "}}", NULL,
     "annotation kueue.x-k8s.io/pod-group-name: is \"/\", should have 1 to 63 letters, digits, "
     "'-', "
     "'_' or '.', and begin and end with a letter or digit"},
    {OTHERS, KUEUE("t", "4") ", 'kueue.x-k8s.io/pod-group-serving': 'true'}}", NULL, NULL},
    {OTHERS, KUEUE("t", "4") ", 'kueue.x-k8s.io/pod-group-fast-admission': 'true'}}", NULL, NULL},
    {OTHERS, KUEUE("t", "4") ", 'gpu-extender.io/gang': 'own', 'gpu-extender.io/gang-size': '2'}}",
     "own 2", NULL},
    {"lws/serve", LWS(""), "llm.1 3", NULL},
    {OTHERS, LWS(", 'kueue.x-k8s.io/pod-group-serving': 'true'"), "llm.1 3", NULL},
    {"lws/other", LWS(""), NULL, NULL},
    {"lws/serve", LWS(", 'leaderworkerset.sigs.k8s.io/exclusive-topology': 'rack'"), NULL, NULL},
    {OTHERS, KOORDINATOR(", 'gang.scheduling.koordinator.sh/min-available': '2'"), "k 2", NULL},
    {OTHERS, KOORDINATOR(""), NULL, NULL},
    {"yunikorn",
     YUNIKORN("[{\\'name\\': \\'driver\\', \\'minMember\\': 1}, "
              "{\\'name\\': \\'workers\\', \\'minMember\\': 6}]"),
     "spark-1.workers 6", NULL},
    {"yunikorn", YUNIKORN("[{\\'name\\': \\'driver\\', \\'minMember\\': 1}]"), NULL, NULL},
    {"yunikorn", YUNIKORN("{}"), NULL, NULL},
    {"yunikorn", YUNIKORN("[{\\'name\\': \\'workers\\', \\'minMember\\': \\'6\\'}]"), NULL,
     "annotation yunikorn.apache.org/task-groups: is \"0\", should be the number of the group's "
     "pods"},
    {"yunikorn", YUNIKORN("[[[["), NULL,
     "annotation yunikorn.apache.org/task-groups: is \"[[[[\", should be the number of the group's "
     "pods"},
    {"yunikorn kueue",
     "{'labels': {'yunikorn.apache.org/app-id': 'a', 'kueue.x-k8s.io/pod-group-name': 'b'}, "
     "'annotations': {'kueue.x-k8s.io/pod-group-total-count': '2'}}",
     "b 2", NULL},
    {"", JOB("train-x8k2p"), "train-x8k2p 4", NULL},
    {"", JOB(""), NULL,
     "annotation gpu-extender.io/gang: is job, and no Job made the pod: it lacks the label "
     "batch.kubernetes.io/job-name"},
    {"kueue", KUEUE("job", "4") "}}", "job 4", NULL},
    /* Ours are annotations only. */
    {OTHERS, "{'labels': {'gpu-extender.io/gang': 'a', 'gpu-extender.io/gang-size': '2'}}", NULL,
     NULL},
};

static struct pod_facts read_by(struct fixture *fixture, const char *conventions,
                                const char *metadata)
{
    char *names[GANG_CONVENTIONS_MAX];
    char *text = arena_strdup(fixture->arena, conventions);
    struct policy policy = fixture->policy;
    struct pod_facts facts = {0};
    policy.gangs.mode = GANGS_PLAN;
    policy.gangs.conventions = names;
    for (char *name = strtok(text, " "); name; name = strtok(NULL, " "))
        names[policy.gangs.n_conventions++] = name;
    json_t *pod =
        fixture_json(fixture, arena_printf(fixture->arena,
                                           "{'metadata': %s, 'spec': {'containers': [{'resources': "
                                           "{'limits': {'nvidia.com/gpu': 2}}}]}}",
                                           metadata));
    assert_int_equal(pod_from_json(pod, &policy, fixture->arena, &facts, &fixture->err), 0);
    return facts;
}

static void test_groups_of_other_conventions(void **state)
{
    struct fixture *fixture = *state;
    for (size_t i = 0; i < sizeof CONVENTIONS / sizeof *CONVENTIONS; i++) {
        const char *gang = CONVENTIONS[i].gang;
        const char *refusal = CONVENTIONS[i].refusal;
        const struct pod_facts facts =
            read_by(fixture, CONVENTIONS[i].conventions, CONVENTIONS[i].metadata);
        const char *found =
            facts.gang ? arena_printf(fixture->arena, "%s %d", facts.gang, (int)facts.gang_size)
                       : "none";
        assert_string_equal(found, gang ? gang : "none");
        assert_string_equal(facts.refusal ? facts.refusal : "none", refusal ? refusal : "none");
    }
}

/* No annotation affects use, whatever it contains. */
static void test_garbage_in_annotations_never_hides_usage(void **state)
{
    struct fixture *fixture = *state;
    static const char *const KEYS[] = {LEGACY,
                                       "scheduler.alpha.kubernetes.io/tolerations",
                                       "gpu-extender.io/models",
                                       "gpu-extender.io/exclude-models",
                                       "gpu-extender.io/min-gpu-memory",
                                       "gpu-extender.io/allow-shared",
                                       "nvidia.com/gpu"};
    for (size_t i = 0; i < sizeof KEYS / sizeof KEYS[0]; i++) {
        (void)read_one(fixture, KEYS[i], "\x01{[\\'0,,\\u0000 \xc3\xa9 -1 9e99");
        char *deep = arena_alloc(fixture->arena, 100001);
        memset(deep, '[', 100000);
        (void)read_one(fixture, KEYS[i], deep);
    }
}

/* Each scheduler call compares every node with every item, and items with each other. Tenants must
 * not control that cost. */
static void test_long_texts_are_refused(void **state)
{
    struct fixture *fixture = *state;
    static const struct {
        const char *key;
        int max;
    } ROWS[] = {{LEGACY, 8192},
                {"gpu-extender.io/models", 1024},
                {"gpu-extender.io/exclude-models", 1024},
                {"gpu-extender.io/min-gpu-memory", 1024},
                {"gpu-extender.io/allow-shared", 1024}};
    for (size_t i = 0; i < sizeof ROWS / sizeof ROWS[0]; i++) {
        char *text = arena_printf(fixture->arena, "%*s", ROWS[i].max, "A100");
        struct pod_facts facts = read_one(fixture, ROWS[i].key, text);
        assert_true(!facts.refusal || !strstr(facts.refusal, "bytes long"));
        facts = read_one(fixture, ROWS[i].key, arena_printf(fixture->arena, "%s ", text));
        assert_string_equal(facts.refusal,
                            arena_printf(fixture->arena,
                                         "annotation %s: is %d bytes long, should be at most %d",
                                         ROWS[i].key, ROWS[i].max + 1, ROWS[i].max));
        assert_int_equal(facts.shape.wants.n_accept + facts.shape.wants.n_exclude, 0);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        FIXTURE_TEST(test_legacy_affinity),
        FIXTURE_TEST(test_the_policy_defines_model_labels_and_aliases),
        FIXTURE_TEST(test_preferences_of_the_spec_precede_legacy_ones),
        FIXTURE_TEST(test_a_broken_legacy_affinity_rejects_the_pod),
        FIXTURE_TEST(test_model_wants),
        FIXTURE_TEST(test_a_minimum_must_be_a_quantity),
        FIXTURE_TEST(test_a_model_both_accepted_and_excluded_is_refused),
        FIXTURE_TEST(test_allow_shared_is_true_or_false),
        FIXTURE_TEST(test_annotations_of_a_pod_that_never_comes_here),
        FIXTURE_TEST(test_a_cut_text_ends_on_a_character),
        FIXTURE_TEST(test_long_texts_are_refused),
        FIXTURE_TEST(test_groups_of_other_conventions),
        FIXTURE_TEST(test_garbage_in_annotations_never_hides_usage),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
