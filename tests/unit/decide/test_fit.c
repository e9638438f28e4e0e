/* fit: every reason, their order, both judges, and the number that fits. */
#include "decide/fit.h"
#include "fixture_question.h"
#include "fixture_random.h"
#include "ledger/admit.h"
#include "unit.h"

#include <ctype.h>
#include <string.h>

#define N_OF(array) (sizeof(array) / sizeof *(array))
#define GPU "nvidia.com/gpu"
#define ROOM "cpu=8000 memory=1000 pods=10 " GPU "=8"

/* A node and a pod, as differences from ones that fit. NULL: no difference. */
struct fit_row {
    const char *node_amounts; /* ROOM */
    const char *node_labels;  /* "accelerator=A100-80GB,zone=a" */
    const char *node_taints;
    const char *running; /* demand of the pod that runs there */
    const char *demand;  /* "cpu=1000 memory=100 nvidia.com/gpu=1" */
    const char *tolerations;
    const char *node_selector;
    const char *affinity;
    const char *legacy;
    const char *accept;
    const char *exclude;
    int64_t min_memory_gib;
    bool cordoned;
    const char *ours; /* the reason in FIT_OURS, then in FIT_ALL */
    const char *all;
};

static const char *text_or(const char *text, const char *otherwise)
{
    return text ? text : otherwise;
}

static void put_node(struct fixture *fixture, const struct fit_row *row)
{
    struct node_facts facts =
        fixture_node_facts(fixture, "n1", text_or(row->node_amounts, ROOM),
                           text_or(row->node_labels, "accelerator=A100-80GB,zone=a"));
    facts.taints = fixture_taints(fixture, text_or(row->node_taints, ""), &facts.n_taints);
    facts.unschedulable = row->cordoned;
    fixture_put_node_facts(fixture, &facts);
    if (row->running)
        fixture_put_pod(fixture, "running", "n1", row->running);
    else
        fixture_remove_pod(fixture, "running");
}

static struct shape_facts shape_of(struct fixture *fixture, const struct fit_row *row)
{
    struct shape_facts facts =
        fixture_shape_facts(fixture, text_or(row->demand, "cpu=1000 memory=100 " GPU "=1"));
    facts.tolerations =
        fixture_tolerations(fixture, text_or(row->tolerations, ""), &facts.n_tolerations);
    facts.node_selector = fixture_term(fixture, text_or(row->node_selector, ""));
    if (row->affinity)
        facts.affinity = fixture_selector(fixture, row->affinity);
    if (row->legacy)
        facts.legacy_affinity = fixture_legacy_selector(fixture, row->legacy);
    facts.wants.accept = fixture_models(fixture, text_or(row->accept, ""), &facts.wants.n_accept);
    facts.wants.exclude =
        fixture_models(fixture, text_or(row->exclude, ""), &facts.wants.n_exclude);
    facts.wants.min_memory_bytes = row->min_memory_gib << 30;
    return facts;
}

static void check_rows(struct fixture *fixture, const struct fit_row *rows, size_t n)
{
    for (size_t i = 0; i < n; i++) {
        put_node(fixture, &rows[i]);
        const struct shape_facts facts = shape_of(fixture, &rows[i]);
        struct fit_question question = fixture_question(fixture, &facts);
        const char *all = reason_name(fit_judge(fixture_find_node(fixture, "n1"), &question));
        question.scope = FIT_OURS;
        const char *ours = reason_name(fit_judge(fixture_find_node(fixture, "n1"), &question));
        if (strcmp(ours, rows[i].ours) != 0 || strcmp(all, rows[i].all) != 0)
            fail_msg("row %zu: ours %s, all %s; should be %s, %s", i, ours, all, rows[i].ours,
                     rows[i].all);
    }
}

static void test_each_reason(void **state)
{
    static const struct fit_row ROWS[] = {
        {.ours = "fits", .all = "fits"},
        {.cordoned = true, .ours = "fits", .all = "unschedulable"},
        {.node_taints = "a=b:NoSchedule", .ours = "fits", .all = "taint"},
        {.node_taints = "a=b:NoExecute", .ours = "fits", .all = "taint"},
        {.node_taints = "a=b:PreferNoSchedule", .ours = "fits", .all = "fits"},
        {.node_taints = "a=b:NoSchedule", .tolerations = "a=b", .ours = "fits", .all = "fits"},
        {.node_selector = "zone In b", .ours = "fits", .all = "node_selector"},
        {.affinity = "zone In b", .ours = "fits", .all = "node_affinity"},
        {.affinity = "zone In b OR zone In a", .ours = "fits", .all = "fits"},
        {.legacy = "accelerator In Tesla K80", .ours = "legacy_affinity", .all = "legacy_affinity"},
        {.legacy = "accelerator In Tesla A100", .ours = "fits", .all = "fits"},
        {.node_amounts = "cpu=8000 memory=1000 pods=10", .ours = "gpu_absent", .all = "gpu_absent"},
        {.node_amounts = "cpu=8000 memory=1000 pods=10 " GPU "=0",
         .ours = "gpu_absent",
         .all = "gpu_absent"},
        {.demand = "amd.com/gpu=1", .ours = "gpu_absent", .all = "gpu_absent"},
        {.node_labels = "zone=a",
         .accept = "A100",
         .ours = "model_unknown",
         .all = "model_unknown"},
        {.node_labels = "zone=a",
         .exclude = "K80",
         .ours = "model_unknown",
         .all = "model_unknown"},
        {.exclude = "H100, A100", .ours = "model_excluded", .all = "model_excluded"},
        {.exclude = "A100-40GB", .ours = "fits", .all = "fits"},
        {.accept = "H100, A10", .ours = "model_not_wanted", .all = "model_not_wanted"},
        {.accept = "A100-40GB", .ours = "model_not_wanted", .all = "model_not_wanted"},
        {.accept = "H100, A100-80GB", .ours = "fits", .all = "fits"},
        {.min_memory_gib = 100, .ours = "gpu_memory", .all = "gpu_memory"},
        {.min_memory_gib = 80, .ours = "fits", .all = "fits"},
        {.node_labels = "zone=a",
         .min_memory_gib = 1,
         .ours = "gpu_memory_unknown",
         .all = "gpu_memory_unknown"},
        {.demand = GPU "=9", .ours = "gpu_total", .all = "gpu_total"},
        {.demand = GPU "=8", .ours = "fits", .all = "fits"},
        {.running = GPU "=1", .demand = GPU "=8", .ours = "gpu_free", .all = "gpu_free"},
        {.running = GPU "=9", .demand = GPU "=1", .ours = "gpu_free", .all = "gpu_free"},
        {.demand = "cpu=8001", .ours = "fits", .all = "cpu"},
        {.running = "cpu=7001", .ours = "fits", .all = "cpu"},
        {.demand = "memory=1001", .ours = "fits", .all = "memory"},
        {.node_amounts = "cpu=8000 memory=1000 pods=1 " GPU "=8",
         .running = "",
         .ours = "fits",
         .all = "pods"},
        {.demand = "example.com/fpga=1", .ours = "fits", .all = "resource"},
        {.demand = "ephemeral-storage=1", .ours = "fits", .all = "resource"},
    };
    check_rows(*state, ROWS, N_OF(ROWS));
}

/* The first reason in the enum's order is reported, so that answers stay the same while true. Each
 * row removes the reason of the row before. */
static void test_the_first_reason_is_reported(void **state)
{
#define BAD_LABELS "zone=b,accelerator=Tesla-P100"
#define CRAMPED "cpu=1 memory=1 " GPU "=2"
#define BASE                                                                                       \
    .running = GPU "=1", .demand = "cpu=2 memory=2 x.y/z=1 " GPU "=3", .exclude = "P100",          \
    .accept = "A100", .min_memory_gib = 40
    static const struct fit_row ROWS[] = {
        {BASE, .node_amounts = "cpu=1 memory=1", .node_labels = "zone=b", .cordoned = true,
         .node_taints = "a=b:NoSchedule", .node_selector = "zone In a", .affinity = "zone In a",
         .legacy = "zone In a", .ours = "legacy_affinity", .all = "unschedulable"},
        {BASE, .node_amounts = "cpu=1 memory=1", .node_labels = "zone=b",
         .node_taints = "a=b:NoSchedule", .node_selector = "zone In a", .affinity = "zone In a",
         .legacy = "zone In a", .ours = "legacy_affinity", .all = "taint"},
        {BASE, .node_amounts = "cpu=1 memory=1", .node_labels = "zone=b",
         .node_selector = "zone In a", .affinity = "zone In a", .legacy = "zone In a",
         .ours = "legacy_affinity", .all = "node_selector"},
        {BASE, .node_amounts = "cpu=1 memory=1", .node_labels = "zone=b", .affinity = "zone In a",
         .legacy = "zone In a", .ours = "legacy_affinity", .all = "node_affinity"},
        {BASE, .node_amounts = "cpu=1 memory=1", .node_labels = "zone=b", .legacy = "zone In a",
         .ours = "legacy_affinity", .all = "legacy_affinity"},
        {BASE, .node_amounts = "cpu=1 memory=1", .node_labels = "zone=b", .ours = "gpu_absent",
         .all = "gpu_absent"},
        {BASE, .node_amounts = CRAMPED, .node_labels = "zone=b", .ours = "model_unknown",
         .all = "model_unknown"},
        {BASE, .node_amounts = CRAMPED, .node_labels = BAD_LABELS, .ours = "model_excluded",
         .all = "model_excluded"},
        {BASE, .node_amounts = CRAMPED, .node_labels = "accelerator=Tesla-K80",
         .ours = "model_not_wanted", .all = "model_not_wanted"},
        {BASE, .node_amounts = CRAMPED, .node_labels = "accelerator=A100",
         .ours = "gpu_memory_unknown", .all = "gpu_memory_unknown"},
        {BASE, .node_amounts = CRAMPED, .ours = "gpu_total", .all = "gpu_total"},
        {BASE, .node_amounts = "cpu=1 memory=1 " GPU "=3", .ours = "gpu_free", .all = "gpu_free"},
        {BASE, .node_amounts = "cpu=1 memory=1 " GPU "=4", .ours = "fits", .all = "cpu"},
        {BASE, .node_amounts = "cpu=2 memory=1 " GPU "=4", .ours = "fits", .all = "memory"},
        {BASE, .node_amounts = "cpu=2 memory=2 " GPU "=4", .ours = "fits", .all = "pods"},
        {BASE, .node_amounts = "cpu=2 memory=2 pods=2 " GPU "=4", .ours = "fits",
         .all = "resource"},
        {BASE, .node_amounts = "cpu=2 memory=2 pods=2 x.y/z=1 " GPU "=4", .ours = "fits",
         .all = "fits"},
    };
#undef BASE
#undef CRAMPED
#undef BAD_LABELS
    check_rows(*state, ROWS, N_OF(ROWS));
}

/* With several GPU resources, a too small total comes before GPUs in use. */
static void test_pods_with_several_gpu_resources(void **state)
{
    static const struct fit_row ROWS[] = {
        {.node_amounts = "pods=9 amd.com/gpu=2 " GPU "=2",
         .demand = "amd.com/gpu=2 " GPU "=2",
         .ours = "fits",
         .all = "fits"},
        {.node_amounts = "pods=9 amd.com/gpu=2",
         .demand = "amd.com/gpu=2 " GPU "=2",
         .ours = "gpu_absent",
         .all = "gpu_absent"},
        {.node_amounts = "pods=9 amd.com/gpu=2 " GPU "=2",
         .running = "amd.com/gpu=1",
         .demand = "amd.com/gpu=2 " GPU "=3",
         .ours = "gpu_total",
         .all = "gpu_total"},
        {.node_amounts = "pods=9 amd.com/gpu=2 " GPU "=2",
         .running = GPU "=1",
         .demand = "amd.com/gpu=2 " GPU "=2",
         .ours = "gpu_free",
         .all = "gpu_free"},
        {.node_amounts = "pods=9 nvidia.com/mig-1g.5gb=7",
         .demand = "nvidia.com/mig-1g.5gb=7",
         .ours = "fits",
         .all = "fits"},
        {.node_amounts = "pods=9 nvidia.com/mig-1g.5gb=7",
         .demand = "nvidia.com/mig-2g.10gb=1",
         .ours = "gpu_absent",
         .all = "gpu_absent"},
    };
    check_rows(*state, ROWS, N_OF(ROWS));
}

/* An over-full resource does not exclude pods that do not request it. */
static void test_an_over_full_node_fits_pods_of_other_resources(void **state)
{
    static const struct fit_row ROWS[] = {
        {.running = "cpu=9000 " GPU "=9", .demand = "memory=1", .ours = "fits", .all = "fits"},
        {.running = "cpu=9000", .demand = "cpu=1", .ours = "fits", .all = "cpu"},
        {.running = "cpu=max", .demand = "cpu=max", .ours = "fits", .all = "cpu"},
        {.node_amounts = "cpu=max pods=9", .demand = "cpu=max", .ours = "fits", .all = "fits"},
        {.node_amounts = "pods=9 " GPU "=max",
         .running = GPU "=1",
         .demand = GPU "=max",
         .ours = "gpu_free",
         .all = "gpu_free"},
    };
    check_rows(*state, ROWS, N_OF(ROWS));
}

/* Kubernetes' NodeUnschedulable: a cordon is a taint
 * node.kubernetes.io/unschedulable:NoSchedule. */
static void test_a_cordon_can_be_tolerated(void **state)
{
#define CORDON "node.kubernetes.io/unschedulable"
    static const struct fit_row ROWS[] = {
        {.cordoned = true, .tolerations = CORDON ":NoSchedule", .ours = "fits", .all = "fits"},
        {.cordoned = true, .tolerations = CORDON, .ours = "fits", .all = "fits"},
        {.cordoned = true, .tolerations = "*", .ours = "fits", .all = "fits"},
        {.cordoned = true, .tolerations = CORDON "=", .ours = "fits", .all = "fits"},
        {.cordoned = true,
         .tolerations = CORDON ":NoExecute",
         .ours = "fits",
         .all = "unschedulable"},
        {.cordoned = true, .tolerations = "other", .ours = "fits", .all = "unschedulable"},
        {.cordoned = true,
         .node_taints = CORDON ":NoSchedule",
         .tolerations = CORDON,
         .ours = "fits",
         .all = "fits"},
    };
#undef CORDON
    check_rows(*state, ROWS, N_OF(ROWS));
}

/* An A100-40GB reports 39.6 GiB and satisfies "40Gi": 92 % is enough. */
static void test_gpu_memory_of_92_percent_is_enough(void **state)
{
#define REPORTS(mib) .node_labels = "accelerator=A100,nvidia.com/gpu.memory=" mib
    static const struct fit_row ROWS[] = {
        {REPORTS("40536"), .min_memory_gib = 40, .ours = "fits", .all = "fits"},
        {REPORTS("37684"), .min_memory_gib = 40, .ours = "fits", .all = "fits"},
        {REPORTS("37683"), .min_memory_gib = 40, .ours = "gpu_memory", .all = "gpu_memory"},
        /* the label provides the size missing in the name */
        {REPORTS("81559"), .accept = "A100-80GB", .ours = "fits", .all = "fits"},
        {REPORTS("40536"), .accept = "A100-80GB", .ours = "model_not_wanted",
         .all = "model_not_wanted"},
        {REPORTS("81559"), .exclude = "A100-80GB", .ours = "model_excluded",
         .all = "model_excluded"},
    };
#undef REPORTS
    check_rows(*state, ROWS, N_OF(ROWS));
}

static void test_invalid_pod_and_unknown_node_come_first(void **state)
{
    struct fixture *fixture = *state;
    const struct fit_row row = {.cordoned = true};
    put_node(fixture, &row);
    const struct shape_facts facts = shape_of(fixture, &row);
    struct fit_question question = fixture_question(fixture, &facts);
    question.refusal = "container \"main\": half a GPU";
    assert_int_equal(fit_judge(NULL, &question), REASON_POD_INVALID);
    assert_int_equal(fit_judge(fixture_find_node(fixture, "n1"), &question), REASON_POD_INVALID);
    question.scope = FIT_OURS;
    assert_int_equal(fit_judge(fixture_find_node(fixture, "n1"), &question), REASON_POD_INVALID);
    assert_int_equal(fit_count(fixture_find_node(fixture, "n1"), &question), 0);
    assert_int_equal(fit_count(NULL, &question), 0);
    question.refusal = NULL;
    assert_int_equal(fit_judge(NULL, &question), REASON_NODE_UNKNOWN);
}

/* spec.nodeName; on the wire kube-scheduler handles it. */
static void test_pod_with_node_name_fits_only_there(void **state)
{
    struct fixture *fixture = *state;
    const struct fit_row row = {0};
    put_node(fixture, &row);
    const struct shape_facts facts = shape_of(fixture, &row);
    struct fit_question question = fixture_question(fixture, &facts);
    question.node_name = "n2";
    assert_int_equal(fit_judge(fixture_find_node(fixture, "n1"), &question), REASON_NODE_NAME);
    question.node_name = "n1";
    assert_int_equal(fit_judge(fixture_find_node(fixture, "n1"), &question), REASON_FITS);
    question.node_name = "n2";
    question.scope = FIT_OURS;
    assert_int_equal(fit_judge(fixture_find_node(fixture, "n1"), &question), REASON_FITS);
}

/* Like a DaemonSet's controller: selectors and taints count, room and GPUs do not. */
static void test_admission_ignores_room_and_gpus(void **state)
{
    static const struct {
        struct fit_row row;
        bool admits;
    } ROWS[] = {
        {{.running = "cpu=9000 " GPU "=9"}, true},
        {{.demand = "amd.com/gpu=1", .accept = "K80"}, true},
        {{.cordoned = true}, false},
        {{.node_taints = "a=b:NoExecute"}, false},
        {{.node_taints = "a=b:PreferNoSchedule"}, true},
        {{.node_selector = "zone In b"}, false},
        {{.affinity = "@metadata.name In n1"}, true},
        {{.affinity = "@metadata.name In n2"}, false},
        {{.legacy = "accelerator In Tesla K80"}, false},
    };
    struct fixture *fixture = *state;
    for (size_t i = 0; i < N_OF(ROWS); i++) {
        put_node(fixture, &ROWS[i].row);
        const struct shape_facts facts = shape_of(fixture, &ROWS[i].row);
        if (admit_node(fixture_find_node(fixture, "n1"), fixture_resolve(fixture, &facts)) !=
            ROWS[i].admits)
            fail_msg("row %zu should be %sadmitted", i, ROWS[i].admits ? "" : "not ");
    }
}

struct count_row {
    const char *node;
    const char *running;
    const char *demand;
    int64_t ours;
    int64_t all;
};

static void test_count_of_further_pods_is_correct(void **state)
{
    static const struct count_row ROWS[] = {
        {ROOM, NULL, GPU "=1", 8, 8},
        {ROOM, NULL, GPU "=3", 2, 2},
        {ROOM, GPU "=3", GPU "=1", 5, 5},
        {ROOM, "", "cpu=1 " GPU "=1", 8, 8},
        {"pods=3 " GPU "=8", "", GPU "=1", 8, 2},
        {ROOM, NULL, "cpu=3000 " GPU "=1", 8, 2},
        {ROOM, NULL, "memory=400 " GPU "=1", 8, 2},
        {ROOM, NULL, GPU "=9", 0, 0},
        {ROOM, "cpu=9000", "cpu=1 " GPU "=1", 8, 0},
        /* in FIT_OURS kube-scheduler judges everything but GPUs */
        {ROOM, NULL, "x.y/z=1 " GPU "=1", 8, 0},
        {ROOM, NULL, "cpu=1", INT64_MAX, 10},
        {"pods=max " GPU "=max", NULL, GPU "=1", INT64_MAX, INT64_MAX},
    };
    struct fixture *fixture = *state;
    for (size_t i = 0; i < N_OF(ROWS); i++) {
        put_node(fixture,
                 &(struct fit_row){.node_amounts = ROWS[i].node, .running = ROWS[i].running});
        const struct shape_facts facts = fixture_shape_facts(fixture, ROWS[i].demand);
        struct fit_question question = fixture_question(fixture, &facts);
        int64_t all = fit_count(fixture_find_node(fixture, "n1"), &question);
        question.scope = FIT_OURS;
        int64_t ours = fit_count(fixture_find_node(fixture, "n1"), &question);
        if (all != ROWS[i].all || ours != ROWS[i].ours)
            fail_msg("row %zu: all %lld, ours %lld", i, (long long)all, (long long)ours);
    }
}

static int64_t lack(struct fixture *fixture, const char *amounts, const char *running,
                    const char *resource, int64_t amount)
{
    put_node(fixture, &(struct fit_row){.node_amounts = amounts, .running = running});
    const struct amount demand = {resource, amount};
    const struct shape_facts facts = {.demand = &demand, .n_demand = 1};
    const struct fit_question question = fixture_question(fixture, &facts);
    return fit_lack(fixture_find_node(fixture, "n1"), &question, &question.shape->needs[0]);
}

static void test_lack_is_the_missing_amount(void **state)
{
    struct fixture *fixture = *state;
    assert_int_equal(lack(fixture, ROOM, NULL, GPU, 8), 0);
    assert_int_equal(lack(fixture, ROOM, NULL, GPU, 10), 2);
    assert_int_equal(lack(fixture, ROOM, GPU "=10", GPU, 1), 3);
    assert_int_equal(lack(fixture, ROOM, NULL, "unheard.of/thing", 4), 4);
    assert_int_equal(lack(fixture, ROOM, "cpu=max", "cpu", INT64_MAX), INT64_MAX);
}

static void check_round(struct fixture *fixture, const struct shape_facts *facts)
{
    struct fit_question question = fixture_question(fixture, facts);
    question.scope = FIT_OURS;
    struct fit_round round = fit_round_of(&question);
    for (const struct node *node = cluster_next_node(fixture->cluster, NULL); node;
         node = cluster_next_node(fixture->cluster, node))
        assert_string_equal(reason_name(fit_judge_next(&round, node)),
                            reason_name(fit_judge(node, &question)));
}

static void check_known(struct fixture *fixture, struct dice *dice)
{
    for (unsigned i = 0; i < 30; i++)
        fixture_random_node(fixture, dice, arena_printf(fixture->arena, "n%u", i));
    const struct shape_facts facts = fixture_random_shape(fixture, dice);
    check_round(fixture, &facts);
}

/* More models than the cache holds, so that some are evicted. */
static void test_models_evicted_from_the_cache_are_judged_again(void **state)
{
    struct fixture *fixture = *state;
    struct shape_facts facts = fixture_shape_facts(fixture, GPU "=1");
    for (unsigned i = 0; i < 4 * N_KNOWN_MODELS; i++)
        fixture_put_node(
            fixture, arena_printf(fixture->arena, "n%u", i), "pods=9 " GPU "=8",
            arena_printf(fixture->arena, "accelerator=Tesla-%c%u", i % 2 ? 'X' : 'Y', i));
    facts.wants.accept = fixture_models(fixture, "X1, X3, X5, X77, Y2", &facts.wants.n_accept);
    check_round(fixture, &facts);
}

static void test_a_cached_model_is_judged_as_before(void **state)
{
    struct fixture *fixture = *state;
    struct dice dice = {20261122};
    for (size_t round = 0; round < 100; round++) {
        struct fixture other = {.policy = fixture->policy, .arena = arena_new()};
        other.cluster = cluster_new(&other.policy);
        check_known(&other, &dice);
        cluster_free(other.cluster);
        arena_free(other.arena);
    }
}

/* A changed message wakes the pod in kube-scheduler (PROTOCOL 6.2); users distinguish reasons by
 * messages. */
static void test_names_and_messages(void **state)
{
    static const char PREFIX[] = "gpu-extender: ";
    (void)state;
    for (int i = 0; i < N_REASONS; i++) {
        const enum reason reason = (enum reason)i;
        assert_non_null(reason_name(reason));
        assert_non_null(reason_message(reason));
        assert_int_equal(strncmp(reason_message(reason), PREFIX, strlen(PREFIX)), 0);
        assert_string_equal(reason_text(reason), reason_message(reason) + strlen(PREFIX));
        assert_int_equal(reason_help(reason)[0] == '\0', reason == REASON_FITS);
        assert_true(strlen(reason_text(reason)) > 0);
        assert_ptr_equal(reason_message(reason), reason_message(reason));
        for (const char *at = reason_name(reason); *at; at++)
            assert_true(islower((unsigned char)*at) || *at == '_');
        for (const char *at = reason_message(reason); *at; at++)
            assert_true(isprint((unsigned char)*at) && !isdigit((unsigned char)*at) && *at != '%');
        for (int j = 0; j < i; j++) {
            assert_string_not_equal(reason_name(reason), reason_name((enum reason)j));
            assert_string_not_equal(reason_message(reason), reason_message((enum reason)j));
        }
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(test_each_reason),
        TEST(test_a_cached_model_is_judged_as_before),
        TEST(test_models_evicted_from_the_cache_are_judged_again),
        TEST(test_the_first_reason_is_reported),
        TEST(test_pods_with_several_gpu_resources),
        TEST(test_an_over_full_node_fits_pods_of_other_resources),
        TEST(test_a_cordon_can_be_tolerated),
        TEST(test_gpu_memory_of_92_percent_is_enough),
        TEST(test_invalid_pod_and_unknown_node_come_first),
        TEST(test_pod_with_node_name_fits_only_there),
        TEST(test_admission_ignores_room_and_gpus),
        TEST(test_count_of_further_pods_is_correct),
        TEST(test_lack_is_the_missing_amount),
        TEST(test_names_and_messages),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
