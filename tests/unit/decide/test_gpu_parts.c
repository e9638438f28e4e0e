/* gpu_parts: nodes with parts of GPUs, and the pods that may use them. */
#include "decide/fit.h"
#include "fixture_question.h"
#include "ledger/gpu_demand.h"
#include "unit.h"

#include <string.h>

#define N_OF(array) (sizeof(array) / sizeof *(array))
#define GPU "nvidia.com/gpu"

/* One node and one pod. NULL: one free GPU, and a pod that needs it. */
struct part_row {
    const char *amounts;
    const char *labels;
    const char *demand;
    const char *accept;
    enum allow_shared allow_shared;
    const char *reason; /* from both judges */
};

static void check_rows(struct fixture *fixture, const struct part_row *rows, size_t n)
{
    for (size_t i = 0; i < n; i++) {
        const struct part_row *row = &rows[i];
        fixture_put_node(fixture, "n1", row->amounts ? row->amounts : "cpu=8 pods=9 " GPU "=1",
                         row->labels);
        struct shape_facts facts =
            fixture_shape_facts(fixture, row->demand ? row->demand : "cpu=1 " GPU "=1");
        facts.wants.accept =
            fixture_models(fixture, row->accept ? row->accept : "", &facts.wants.n_accept);
        facts.allow_shared = row->allow_shared;
        struct fit_question question = fixture_question(fixture, &facts);
        const char *all = reason_name(fit_judge(fixture_find_node(fixture, "n1"), &question));
        question.scope = FIT_OURS;
        const char *ours = reason_name(fit_judge(fixture_find_node(fixture, "n1"), &question));
        if (strcmp(ours, row->reason) != 0 || strcmp(all, row->reason) != 0)
            fail_msg("row %zu: ours %s, all %s; should be %s", i, ours, all, row->reason);
    }
}

#define PRODUCT "nvidia.com/gpu.product="
#define REPLICAS ",nvidia.com/gpu.replicas="
#define STRATEGY ",nvidia.com/gpu.sharing-strategy="

static void test_shared_gpus_need_the_opt_in(void **state)
{
    static const struct part_row ROWS[] = {
        {.labels = PRODUCT "Tesla-T4-SHARED", .reason = "gpu_shared"},
        {.labels = PRODUCT "Tesla-T4" REPLICAS "2", .reason = "gpu_shared"},
        {.labels = PRODUCT "Tesla-T4" STRATEGY "mps", .reason = "gpu_shared"},
        {.labels = "zone=a" STRATEGY "time-slicing", .reason = "gpu_shared"},
        {.labels = PRODUCT "Tesla-T4" STRATEGY "none" REPLICAS "1", .reason = "fits"},
        {.labels = PRODUCT "Tesla-T4" REPLICAS "0", .reason = "fits"},
        {.labels = PRODUCT "Tesla-T4" REPLICAS "many", .reason = "fits"},
        /* the policy may read the model from another label */
        {.labels = "accelerator=L4-SHARED", .reason = "gpu_shared"},
        /* before the model, after the existence of GPUs */
        {.labels = PRODUCT "Tesla-T4-SHARED", .accept = "A100", .reason = "gpu_shared"},
        {.amounts = "pods=9",
         .labels = PRODUCT "Tesla-T4-SHARED",
         .demand = GPU "=1",
         .reason = "gpu_absent"},
        /* pods that allow it */
        {.labels = PRODUCT "Tesla-T4-SHARED", .allow_shared = ALLOW_SHARED_YES, .reason = "fits"},
        {.labels = PRODUCT "Tesla-T4-SHARED",
         .allow_shared = ALLOW_SHARED_NO,
         .reason = "gpu_shared"},
        {.labels = PRODUCT "Tesla-T4-SHARED", .accept = "T4", .reason = "gpu_shared"},
        {.labels = PRODUCT "Tesla-T4-SHARED", .accept = "A100, T4-SHARED", .reason = "fits"},
        {.labels = PRODUCT "Tesla-T4-SHARED",
         .accept = "T4-SHARED",
         .allow_shared = ALLOW_SHARED_NO,
         .reason = "gpu_shared"},
        {.labels = PRODUCT "Tesla-T4-SHARED", .accept = "L4-SHARED", .reason = "gpu_shared"},
        /* other resources */
        {.labels = PRODUCT "Tesla-T4-SHARED", .demand = "cpu=1", .reason = "fits"},
        {.amounts = "pods=9 amd.com/gpu=1",
         .labels = PRODUCT "Tesla-T4-SHARED",
         .demand = "amd.com/gpu=1",
         .reason = "fits"},
        {.amounts = "pods=9 nvidia.com/mig-1g.5gb=1 " GPU "=1",
         .labels = PRODUCT "A100-SHARED",
         .demand = "nvidia.com/mig-1g.5gb=1",
         .reason = "fits"},
    };
    check_rows(*state, ROWS, N_OF(ROWS));
}

/* NVIDIA's device plugin with renameByDefault: the labels describe nvidia.com/gpu.shared, and the
 * product has no -SHARED. */
static void test_renamed_shared_gpus_are_recognised(void **state)
{
#define RENAMED PRODUCT "Tesla-T4" REPLICAS "4" STRATEGY "time-slicing"
    static const struct part_row ROWS[] = {
        {.amounts = "pods=9 nvidia.com/gpu.shared=4 " GPU "=1",
         .labels = RENAMED,
         .demand = GPU "=1",
         .reason = "fits"},
        {.amounts = "pods=9 nvidia.com/gpu.shared=4 " GPU "=1",
         .labels = RENAMED,
         .demand = "nvidia.com/gpu.shared=2",
         .reason = "fits"},
        {.amounts = "pods=9 nvidia.com/gpu.shared=4 " GPU "=0",
         .labels = RENAMED,
         .demand = GPU "=1",
         .reason = "gpu_absent"},
        /* left by a device plugin that no longer renames */
        {.amounts = "pods=9 nvidia.com/gpu.shared=0 " GPU "=4",
         .labels = PRODUCT "Tesla-T4" REPLICAS "4",
         .demand = GPU "=1",
         .reason = "gpu_shared"},
        {.amounts = "pods=9 nvidia.com/gpu.shared=4 " GPU "=4",
         .labels = PRODUCT "Tesla-T4-SHARED" REPLICAS "4",
         .demand = GPU "=1",
         .reason = "gpu_shared"},
        /* shared slices are not nvidia.com/gpu */
        {.amounts = "pods=9 nvidia.com/mig-1g.5gb.shared=4 " GPU "=4",
         .labels = PRODUCT "A100" REPLICAS "4",
         .demand = GPU "=1",
         .reason = "gpu_shared"},
    };
#undef RENAMED
    struct fixture *fixture = *state;
    char shared[] = "nvidia.com/gpu.shared";
    char plain[] = GPU;
    char *resources[] = {plain, shared};
    const struct policy kept = fixture->policy;
    fixture->policy.gpu_resources = resources;
    fixture->policy.n_gpu_resources = N_OF(resources);
    check_rows(fixture, ROWS, N_OF(ROWS));
    fixture->policy = kept;
}

static void test_sliced_gpus_need_the_opt_in(void **state)
{
#define SLICED PRODUCT "NVIDIA-A100-SXM4-40GB-MIG-1g.5gb"
    static const struct part_row ROWS[] = {
        {.labels = SLICED, .reason = "gpu_mig"},
        {.labels = "accelerator=A100," SLICED, .reason = "gpu_mig"},
        {.labels = PRODUCT "NVIDIA-A100-SXM4-40GB,nvidia.com/mig.strategy=single",
         .reason = "fits"},
        {.labels = SLICED, .allow_shared = ALLOW_SHARED_YES, .reason = "fits"},
        {.labels = SLICED, .allow_shared = ALLOW_SHARED_NO, .reason = "gpu_mig"},
        {.labels = SLICED, .accept = "A100", .reason = "gpu_mig"},
        {.labels = SLICED, .accept = "A100-MIG-1g.5gb", .reason = "fits"},
        {.labels = SLICED, .accept = "A100-MIG", .reason = "fits"},
        {.labels = SLICED, .accept = "A100-MIG-2g.10gb", .reason = "gpu_mig"},
        {.labels = SLICED "-SHARED", .reason = "gpu_shared"},
        {.labels = SLICED "-SHARED", .accept = "A100-MIG-1g.5gb", .reason = "gpu_shared"},
        {.labels = SLICED "-SHARED", .allow_shared = ALLOW_SHARED_YES, .reason = "fits"},
    };
#undef SLICED
    check_rows(*state, ROWS, N_OF(ROWS));
}

static void test_the_policy_may_allow_parts(void **state)
{
    static const struct part_row ROWS[] = {
        {.labels = PRODUCT "Tesla-T4-SHARED", .reason = "fits"},
        {.labels = PRODUCT "A100-MIG-1g.5gb", .reason = "fits"},
        {.labels = PRODUCT "Tesla-T4-SHARED",
         .allow_shared = ALLOW_SHARED_NO,
         .reason = "gpu_shared"},
        {.labels = PRODUCT "A100-MIG-1g.5gb", .allow_shared = ALLOW_SHARED_NO, .reason = "gpu_mig"},
    };
    struct fixture *fixture = *state;
    fixture->policy.allow_shared = true;
    check_rows(fixture, ROWS, N_OF(ROWS));
}

/* The labels stay, but their resource is gone. */
static void test_a_node_may_stop_renaming_its_resource(void **state)
{
    struct fixture *fixture = *state;
    const char *labels = PRODUCT "Tesla-T4" REPLICAS "4";
    fixture_put_node(fixture, "n1", "pods=9 nvidia.com/gpu.shared=4 " GPU "=4", labels);
    assert_string_equal(fixture_verdict(fixture, "n1", GPU "=1"), "fits");
    const uint64_t version = cluster_version(fixture->cluster);
    fixture_put_node(fixture, "n1", "pods=9 " GPU "=4", labels);
    assert_string_equal(fixture_verdict(fixture, "n1", GPU "=1"), "gpu_shared");
    assert_true(cluster_version(fixture->cluster) > version);
}

/* One A100 of each kind: a class that needs whole GPUs may use one of the three pools. */
static void test_parts_form_their_own_pool(void **state)
{
    struct fixture *fixture = *state;
    fixture_put_node(fixture, "whole", GPU "=8", PRODUCT "A100-SXM4-40GB");
    fixture_put_node(fixture, "slices", GPU "=7", PRODUCT "A100-SXM4-40GB-MIG-1g.5gb");
    fixture_put_node(fixture, "shares", GPU "=32", PRODUCT "A100-SXM4-40GB-SHARED");
    fixture_put_pod(fixture, "p", "", GPU "=1");
    gpu_demand_settle(fixture->cluster);
    const struct gpu_demand *demand =
        gpu_demand_find(fixture->cluster, cluster_find_resource(fixture->cluster, GPU));
    static const struct {
        const char *model;
        int64_t free;
        bool admitted;
    } ROWS[] = {{"A100-SXM4-40GB", 8, true},
                {"A100-SXM4-40GB-MIG-1g.5gb", 7, false},
                {"A100-SXM4-40GB-SHARED", 32, false}};
    assert_int_equal(demand->n_pools, N_OF(ROWS));
    assert_int_equal(demand->n_classes, 1);
    for (size_t i = 0; i < N_OF(ROWS); i++) {
        assert_string_equal(demand->pools[i]->model, ROWS[i].model);
        assert_int_equal(demand->pools[i]->free, ROWS[i].free);
        assert_int_equal(demand->classes[0].admitted[i], ROWS[i].admitted);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(test_shared_gpus_need_the_opt_in),
        TEST(test_renamed_shared_gpus_are_recognised),
        TEST(test_sliced_gpus_need_the_opt_in),
        TEST(test_the_policy_may_allow_parts),
        TEST(test_a_node_may_stop_renaming_its_resource),
        TEST(test_parts_form_their_own_pool),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
