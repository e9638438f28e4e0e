/* policy: built-in defaults, GPU resources and model labels. */
#include "types/policy.h"
#include "unit.h"

static int setup(void **state)
{
    static struct policy policy;
    policy_init(&policy);
    *state = &policy;
    return 0;
}

static int teardown(void **state)
{
    policy_fini(*state);
    return 0;
}

static void test_gpu_resources_of_all_vendors(void **state)
{
    static const char *const GPUS[] = {
        "nvidia.com/gpu",   "alpha.kubernetes.io/nvidia-gpu", "amd.com/gpu", "gpu.intel.com/i915",
        "gpu.intel.com/xe", "nvidia.com/mig-1g.5gb",
    };
    for (size_t i = 0; i < sizeof GPUS / sizeof *GPUS; i++)
        assert_true(policy_is_gpu_resource(*state, GPUS[i]));
}

static void test_names_that_resemble_gpus_do_not_match(void **state)
{
    static const char *const OTHERS[] = {
        "cpu",
        "memory",
        "nvidia.com/gpu.shared",
        "nvidia.com/gpus",
        "nvidia.com/g",
        "nvidia.com/mig",
        "requests.nvidia.com/gpu",
        "NVIDIA.com/gpu",
        "",
        "amd.com/gpu-x",
        "gpu.intel.com/i915_monitor",
    };
    for (size_t i = 0; i < sizeof OTHERS / sizeof *OTHERS; i++)
        assert_false(policy_is_gpu_resource(*state, OTHERS[i]));
}

/* The order is part of the contract: the first label whose value names a model decides. */
static void test_model_labels_in_order(void **state)
{
    static const char *const LABELS[] = {
        "nvidia.com/gpu.product",
        "alpha.kubernetes.io/nvidia-gpu-name",
        "accelerator",
        "cloud.google.com/gke-accelerator",
        "k8s.amazonaws.com/accelerator",
        "amd.com/gpu.product-name",
        "beta.amd.com/gpu.product-name",
        "gpu.intel.com/product",
        "gpu.nvidia.com/class",
        "karpenter.k8s.aws/instance-gpu-name",
        "karpenter.k8s.aws/instance-accelerator-name",
        "eks.amazonaws.com/instance-gpu-name",
        "eks.amazonaws.com/instance-accelerator-name",
        "karpenter.azure.com/sku-gpu-name",
        "karpenter.k8s.gcp/instance-gpu-name",
        "karpenter.k8s.alibabacloud/instance-gpu-name",
        "aliyun.accelerator/nvidia_name",
        "doks.digitalocean.com/gpu-model",
        "machine.cluster.vke.volcengine.com/gpu-name",
        "alibabacloud.com/gpu-model-series",
        "node.kubernetes.io/npu.chip.name",
        "enflame.com/gcu.model",
        "hygon.com/dcu.name",
        "metax-tech.com/gpu.product",
        "cloud.google.com/gke-tpu-accelerator",
    };
    const struct policy *policy = *state;
    assert_int_equal(policy->n_model_labels, sizeof LABELS / sizeof *LABELS);
    for (size_t i = 0; i < policy->n_model_labels; i++)
        assert_string_equal(policy->model_labels[i], LABELS[i]);
    assert_true(policy_is_model_label(policy, "accelerator"));
    assert_false(policy_is_model_label(policy, "accelerators"));
    assert_false(policy_is_model_label(policy, "nvidia.com/gpu"));
}

static void test_drivers_of_gpus(void **state)
{
    static const struct {
        const char *name, *model_attribute, *resource;
    } DRIVERS[] = {
        {"gpu.nvidia.com", "productName", "nvidia.com/gpu"},
        {"gpu.amd.com", "productName", "amd.com/gpu"},
        {"gpu.intel.com", "model", "gpu.intel.com/xe"},
    };
    const struct policy *policy = *state;
    assert_int_equal(policy->n_device_drivers, sizeof DRIVERS / sizeof *DRIVERS);
    for (size_t i = 0; i < policy->n_device_drivers; i++) {
        const struct device_driver *driver = policy_device_driver(policy, DRIVERS[i].name);
        assert_string_equal(driver->model_attribute, DRIVERS[i].model_attribute);
        assert_string_equal(driver->resource, DRIVERS[i].resource);
        assert_true(policy_is_gpu_resource(policy, driver->resource));
    }
    assert_null(policy_device_driver(policy, "compute-domain.nvidia.com"));
    assert_null(policy_device_driver(policy, ""));
}

static void test_other_defaults(void **state)
{
    const struct policy *policy = *state;
    assert_int_equal(policy->n_aliases, 0);
    assert_false(policy->extended_resource_toleration);
    assert_true(policy->default_toleration_seconds);
    assert_int_equal(policy->placement, PLACEMENT_SLOT_PRICE);
}

static void test_placement_names(void **state)
{
    (void)state;
    for (int i = 0; i < N_PLACEMENT_POLICIES; i++)
        assert_non_null(placement_policy_name((enum placement_policy)i));
    assert_string_equal(placement_policy_name(PLACEMENT_BINPACK), "binpack");
    assert_null(placement_policy_name(N_PLACEMENT_POLICIES));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(test_gpu_resources_of_all_vendors, setup, teardown),
        cmocka_unit_test_setup_teardown(test_names_that_resemble_gpus_do_not_match, setup,
                                        teardown),
        cmocka_unit_test_setup_teardown(test_model_labels_in_order, setup, teardown),
        cmocka_unit_test_setup_teardown(test_drivers_of_gpus, setup, teardown),
        cmocka_unit_test_setup_teardown(test_other_defaults, setup, teardown),
        cmocka_unit_test(test_placement_names),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
