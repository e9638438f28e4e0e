/* accelerator: see include/types/policy.h. */
#include "types/policy.h"

#include <string.h>

#define N_OF(array) (sizeof(array) / sizeof *(array))
#define SHARES ".shared"

/* As in gpuResources. */
static const char *const KNOWN[] = {
    "nvidia.com/gpu",
    "nvidia.com/mig-*",
    "amd.com/gpu",
    "amd.com/spx_*",
    "amd.com/dpx_*",
    "amd.com/tpx_*",
    "amd.com/qpx_*",
    "amd.com/cpx_*",
    "gpu.intel.com/i915",
    "gpu.intel.com/xe",
    "npu.intel.com/accel",
    "habana.ai/gaudi*",
    "habana.ai/goya",
    "aws.amazon.com/neuron",
    "aws.amazon.com/neuroncore",
    "aws.amazon.com/neurondevice",
    "google.com/tpu",
    "cloud-tpus.google.com/*",
    "huawei.com/Ascend*",
    "huawei.com/ascend-*",
    "huawei.com/npu",
    "cambricon.com/mlu",
    "cambricon.com/mlu1*",
    "cambricon.com/mlu2*",
    "cambricon.com/mlu3*",
    "cambricon.com/mlu5*",
    "cambricon.com/vmlu",
    "metax-tech.com/gpu",
    "metax-tech.com/sgpu",
    "mthreads.com/gpu",
    "mthreads.com/vgpu",
    "iluvatar.ai/gpu",
    "iluvatar.ai/vgpu",
    "iluvatar.com/gpu",
    "birentech.com/gpu",
    "birentech.com/1-2-gpu",
    "birentech.com/1-4-gpu",
    "enflame.com/gcu",
    "enflame.com/vgcu",
    "enflame.com/drs-gcu",
    "enflame.com/shared-gcu",
    "hygon.com/dcu",
    "hygon.com/dcunum",
    "hygon.com/dcu-share*",
    "hygon.com/dcu-mig-*",
    "kunlunxin.com/xpu",
    "kunlunxin.com/vxpu",
    "baidu.com/xpu",
    "alibabacloud.com/ppu",
    "vastaitech.com/va",
    "qualcomm.com/qaic",
    "graphcore.ai/ipu",
    "furiosa.ai/npu",
    "furiosa.ai/rngd",
    "furiosa.ai/warboy",
    "rebellions.ai/ATOM",
};

static bool is_known(const char *resource)
{
    for (size_t i = 0; i < N_OF(KNOWN); i++) {
        if (policy_resource_matches(KNOWN[i], resource))
            return true;
    }
    return false;
}

/* "huawei.com/Ascend310P-memory", "cambricon.com/mlu370.smlu.vcore": no number of accelerators. */
static bool is_amount(const char *resource)
{
    return strstr(resource, "memory") || strstr(resource, "vcore");
}

/* Of "nvidia.com/gpu.shared": the resource that a device plugin shares under a name of its own. */
static bool is_share(const struct policy *policy, const char *resource)
{
    char name[256];
    const size_t len = strlen(resource);
    const size_t end = strlen(SHARES);
    if (len <= end || len - end >= sizeof name || strcmp(resource + len - end, SHARES) != 0)
        return false;
    memcpy(name, resource, len - end);
    name[len - end] = '\0';
    return is_known(name) || policy_is_gpu_resource(policy, name);
}

bool accelerator_is_unlisted(const struct policy *policy, const char *resource)
{
    return !policy_is_gpu_resource(policy, resource) && !is_amount(resource) &&
           (is_known(resource) || is_share(policy, resource));
}
