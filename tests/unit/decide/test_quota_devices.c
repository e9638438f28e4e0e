/* quota_devices: quotas count the GPUs of claims (dynamic resource allocation). */
#include "decide/quota.h"
#include "fixture_devices.h"
#include "fixture_question.h"
#include "unit.h"

#define GPU "nvidia.com/gpu"
#define AMD_GPU "amd.com/gpu"

static const char *const NAMES[] = {"default"};

enum { ALL, NVIDIA, NVIDIA_H100, ANY_L4, N_LIMITS };

static int setup(void **state)
{
    static const struct quota_limit LIMITS[N_LIMITS] = {
        [ALL] = {.gpus = 4},
        [NVIDIA] = {.resource = GPU, .gpus = 4},
        [NVIDIA_H100] = {.resource = GPU, .model = "H100", .gpus = 4},
        [ANY_L4] = {.model = "L4", .gpus = 4},
    };
    (void)fixture_setup(state);
    fixture_add_quota(*state, &(struct quota){.name = "team",
                                              .namespaces = NAMES,
                                              .n_namespaces = 1,
                                              .limits = LIMITS,
                                              .n_limits = N_LIMITS});
    return 0;
}

#define QUOTA_TEST(function) cmocka_unit_test_setup_teardown(function, setup, fixture_teardown)

static int64_t used(const struct fixture *fixture, int limit)
{
    const struct quota *quota = &fixture->policy.quotas[0];
    return quota_used(fixture->cluster, quota, &quota->limits[limit]);
}

static int64_t unknown(const struct fixture *fixture)
{
    const struct quota *quota = &fixture->policy.quotas[0];
    return quota_unknown(fixture->cluster, quota, &quota->limits[ALL]);
}

static void check_used(const struct fixture *fixture, int64_t all, int64_t nvidia, int64_t h100,
                       int64_t l4)
{
    assert_int_equal(used(fixture, ALL), all);
    assert_int_equal(used(fixture, NVIDIA), nvidia);
    assert_int_equal(used(fixture, NVIDIA_H100), h100);
    assert_int_equal(used(fixture, ANY_L4), l4);
}

/* No pod uses these claims. */
static void test_a_claim_counts_by_its_devices(void **state)
{
    struct fixture *fixture = *state;
    fixture_put_node(fixture, "n1", "cpu=8000", "");
    fixture_put_slice(fixture, "n1", NVIDIA_DRIVER, "H100, H100, L4");
    fixture_put_slice(fixture, "n1", AMD_DRIVER, "MI300X");
    fixture_put_claim(fixture, "c", "n1", NVIDIA_DRIVER, "gpu-0, gpu-2");
    check_used(fixture, 2, 2, 1, 1);
    fixture_put_claim(fixture, "d", "n1", AMD_DRIVER, "gpu-0");
    check_used(fixture, 3, 2, 1, 1);
    fixture_put_claim(fixture, "e", "n1", "nic.example.com", "eth-0");
    check_used(fixture, 3, 2, 1, 1);
    fixture_put_claim(fixture, "c", "n1", NVIDIA_DRIVER, "");
    check_used(fixture, 1, 0, 0, 0);
    fixture_remove_claim(fixture, "d");
    check_used(fixture, 0, 0, 0, 0);
}

static void test_a_device_counts_once_and_not_for_admin_access(void **state)
{
    struct fixture *fixture = *state;
    fixture_put_node(fixture, "n1", "cpu=8000", "");
    fixture_put_slice(fixture, "n1", NVIDIA_DRIVER, "H100, H100");
    fixture_put_claim(fixture, "c", "n1", NVIDIA_DRIVER, "gpu-0, gpu-0, gpu-1*");
    check_used(fixture, 1, 1, 1, 0);
}

/* The watches of slices and claims deliver in any order. A driver that restarts withdraws its
 * slices. */
static void test_a_withdrawn_device_keeps_its_model(void **state)
{
    struct fixture *fixture = *state;
    fixture_put_node(fixture, "n1", "cpu=8000", "");
    fixture_put_claim(fixture, "c", "n1", NVIDIA_DRIVER, "gpu-0");
    check_used(fixture, 1, 1, 0, 0);
    assert_int_equal(unknown(fixture), 1);
    fixture_put_slice(fixture, "n1", NVIDIA_DRIVER, "H100");
    check_used(fixture, 1, 1, 1, 0);
    assert_int_equal(unknown(fixture), 0);
    fixture_remove_slice(fixture, "n1", NVIDIA_DRIVER);
    fixture_put_claim(fixture, "c", "n1", NVIDIA_DRIVER, "gpu-0, gpu-1");
    check_used(fixture, 2, 2, 1, 0);
    fixture_put_slice(fixture, "n1", NVIDIA_DRIVER, "L4, L4");
    check_used(fixture, 2, 2, 0, 2);
}

static void test_a_list_without_the_claim_frees_it(void **state)
{
    struct fixture *fixture = *state;
    fixture_put_claim(fixture, "c", "n1", NVIDIA_DRIVER, "gpu-0");
    cluster_relist_begin(fixture->cluster, CLUSTER_CLAIMS);
    cluster_relist_end(fixture->cluster, CLUSTER_CLAIMS);
    fixture_check(fixture);
    check_used(fixture, 0, 0, 0, 0);
}

/* Extended resources. */

static void pod(struct fixture *fixture, const char *uid, const char *node, const char *demand,
                const char *claim)
{
    struct pod_facts facts = fixture_pod_facts(fixture, uid, node, demand);
    facts.extended_claim = claim;
    fixture_put_pod_facts(fixture, &facts);
}

static void test_a_claim_for_an_extended_resource_counts_once(void **state)
{
    struct fixture *fixture = *state;
    fixture_put_node(fixture, "n1", "cpu=8000 pods=9", "");
    fixture_put_slice(fixture, "n1", NVIDIA_DRIVER, "H100, H100, H100");
    fixture_put_claim_of(fixture, "c", "n1", NVIDIA_DRIVER, "gpu-0, gpu-1", "p");
    check_used(fixture, 2, 2, 2, 0);
    pod(fixture, "p", "n1", GPU "=2", "c");
    check_used(fixture, 2, 2, 2, 0);
    fixture_put_claim_of(fixture, "c", "n1", NVIDIA_DRIVER, "gpu-0, gpu-1, gpu-2", "p");
    check_used(fixture, 3, 3, 3, 0); /* more than the pod's request */
    fixture_remove_pod(fixture, "p");
    check_used(fixture, 3, 3, 3, 0);
}

/* The node's label names the model under which the pod counts. */
static void test_the_model_of_the_pod_follows_its_node(void **state)
{
    struct fixture *fixture = *state;
    fixture_put_node(fixture, "n1", "cpu=8000 pods=9", "");
    fixture_put_slice(fixture, "n1", NVIDIA_DRIVER, "H100, H100");
    pod(fixture, "p", "n1", GPU "=2", "c");
    fixture_put_claim_of(fixture, "c", "n1", NVIDIA_DRIVER, "gpu-0, gpu-1", "p");
    fixture_put_node(fixture, "n1", "cpu=8000 pods=9",
                     "nvidia.com/gpu.product=NVIDIA-H100-80GB-HBM3");
    check_used(fixture, 2, 2, 2, 0);
    fixture_put_node(fixture, "n1", "cpu=8000 pods=9", "nvidia.com/gpu.product=NVIDIA-L4");
    check_used(fixture, 2, 2, 2, 2);
}

/* Tenants write annotations and owners of claims, but no pod's status. */
static void test_a_forged_claim_counts(void **state)
{
    struct fixture *fixture = *state;
    fixture_put_node(fixture, "n1", "cpu=8000 pods=9", "");
    pod(fixture, "p", "n1", GPU "=2", NULL);
    fixture_put_claim_of(fixture, "forged", "n1", NVIDIA_DRIVER, "gpu-0, gpu-1", "p");
    assert_int_equal(used(fixture, ALL), 4);
    pod(fixture, "p", "n1", GPU "=2", "c");
    assert_int_equal(used(fixture, ALL), 4);
    fixture_put_claim_of(fixture, "c", "n1", NVIDIA_DRIVER, "gpu-2", "another");
    assert_int_equal(used(fixture, ALL), 5);
}

/* kube-scheduler allocates the claim before it binds the pod. */
static void test_a_binding_needs_nothing_besides_its_claim(void **state)
{
    struct fixture *fixture = *state;
    fixture_put_node(fixture, "n1", "cpu=8000 pods=9 " AMD_GPU "=8", "");
    fixture_put_claim_of(fixture, "c", "n1", NVIDIA_DRIVER, "gpu-0, gpu-1, gpu-2", "p");
    pod(fixture, "p", "", AMD_GPU "=3", "c");
    fixture_must_reserve(fixture, "p", "n1");
    assert_int_equal(used(fixture, ALL), 3);
    pod(fixture, "p", "n1", AMD_GPU "=3", "c");
    assert_int_equal(used(fixture, ALL), 3);
}

static enum reserve_verdict reserve_with_facts(struct fixture *fixture, const char *claim)
{
    struct pod_facts facts = fixture_pod_facts(fixture, "p", "", AMD_GPU "=3");
    facts.extended_claim = claim;
    const struct reserve_question question = {.uid = "p", .node_name = "n1", .facts = &facts};
    struct reserve_result result;
    const enum reserve_verdict verdict = reserve_room(fixture->cluster, &question, &result);
    if (verdict == RESERVE_REFUSED)
        assert_int_equal(result.reason, REASON_QUOTA);
    fixture_check(fixture);
    return verdict;
}

/* The watch of claims is ahead of that of pods: a GET of the pod tells whose claim it is. */
static void test_a_claim_that_the_pod_names_in_a_get_is_its_own(void **state)
{
    struct fixture *fixture = *state;
    fixture_put_node(fixture, "n1", "cpu=8000 pods=9 " AMD_GPU "=8", "");
    fixture_put_claim_of(fixture, "c", "n1", NVIDIA_DRIVER, "gpu-0, gpu-1, gpu-2", "p");
    pod(fixture, "p", "", AMD_GPU "=3", NULL);
    assert_int_equal(fixture_reserve(fixture, "p", "n1", NULL), RESERVE_POD_UNKNOWN);
    assert_int_equal(reserve_with_facts(fixture, NULL), RESERVE_REFUSED);
    assert_int_equal(reserve_with_facts(fixture, "d"), RESERVE_REFUSED);
    assert_int_equal(reserve_with_facts(fixture, "c"), RESERVE_HELD);
    pod(fixture, "p", "n1", AMD_GPU "=3", "c");
    assert_int_equal(used(fixture, ALL), 3);
}

static void test_a_binding_is_refused_if_claims_use_the_quota(void **state)
{
    struct fixture *fixture = *state;
    fixture_put_node(fixture, "n1", "cpu=8000 pods=9 " AMD_GPU "=8", "");
    fixture_put_claim(fixture, "c", "n1", NVIDIA_DRIVER, "gpu-0, gpu-1, gpu-2");
    pod(fixture, "p", "", AMD_GPU "=3", NULL);
    assert_int_equal(reserve_with_facts(fixture, NULL), RESERVE_REFUSED);
    fixture_remove_claim(fixture, "c");
    fixture_must_reserve(fixture, "p", "n1");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        QUOTA_TEST(test_a_claim_counts_by_its_devices),
        QUOTA_TEST(test_a_device_counts_once_and_not_for_admin_access),
        QUOTA_TEST(test_a_withdrawn_device_keeps_its_model),
        QUOTA_TEST(test_a_list_without_the_claim_frees_it),
        QUOTA_TEST(test_a_claim_for_an_extended_resource_counts_once),
        QUOTA_TEST(test_the_model_of_the_pod_follows_its_node),
        QUOTA_TEST(test_a_forged_claim_counts),
        QUOTA_TEST(test_a_binding_needs_nothing_besides_its_claim),
        QUOTA_TEST(test_a_claim_that_the_pod_names_in_a_get_is_its_own),
        QUOTA_TEST(test_a_binding_is_refused_if_claims_use_the_quota),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
