/* gpu_label: see include/types/gpu_label.h. docs/MODELS.md has the source of each row. */
#include "types/gpu_label.h"

#include <ctype.h>
#include <string.h>
#include <strings.h>

#define N_OF(array) (sizeof(array) / sizeof *(array))

#define NVIDIA "nvidia.com/gpu"
#define AMD "amd.com/gpu"

#define COUNT(resource, label)                                                                     \
    {                                                                                              \
        resource, label, GPU_LABEL_COUNT, "", "", ""                                               \
    }
#define REPLICAS(resource, label)                                                                  \
    {                                                                                              \
        resource, label, GPU_LABEL_REPLICAS, "", "", ""                                            \
    }
#define STRATEGY(resource, label, replicas)                                                        \
    {                                                                                              \
        resource, label, GPU_LABEL_STRATEGY, "none", replicas, ""                                  \
    }
#define PARTITION(resource, label, whole)                                                          \
    {                                                                                              \
        resource, label, GPU_LABEL_PARTITION, whole, "", ""                                        \
    }
#define MEMORY(resource, label, unit)                                                              \
    {                                                                                              \
        resource, label, GPU_LABEL_MEMORY, "", "", unit                                            \
    }

const struct gpu_label GPU_LABELS[] = {
    COUNT("nvidia.com/*", "nvidia.com/gpu.count"),
    REPLICAS("nvidia.com/*", "nvidia.com/gpu.replicas"),
    STRATEGY("nvidia.com/*", "nvidia.com/gpu.sharing-strategy", ""),
    MEMORY("nvidia.com/*", "nvidia.com/gpu.memory", "Mi"),
    MEMORY("nvidia.com/mig-*", "nvidia.com/mig-*.memory", "Mi"),
    COUNT(NVIDIA, "cloud.google.com/gke-accelerator-count"),
    REPLICAS(NVIDIA, "cloud.google.com/gke-max-shared-clients-per-gpu"),
    STRATEGY(NVIDIA, "cloud.google.com/gke-gpu-sharing-strategy",
             "cloud.google.com/gke-max-shared-clients-per-gpu"),
    PARTITION(NVIDIA, "cloud.google.com/gke-gpu-partition-size", ""),
    COUNT(NVIDIA, "gpu.nvidia.com/count"),
    MEMORY(NVIDIA, "gpu.nvidia.com/vram", "Gi"),
    COUNT(NVIDIA, "karpenter.k8s.aws/instance-gpu-count"),
    COUNT(AMD, "karpenter.k8s.aws/instance-gpu-count"),
    MEMORY(NVIDIA, "karpenter.k8s.aws/instance-gpu-memory", "Mi"),
    MEMORY(AMD, "karpenter.k8s.aws/instance-gpu-memory", "Mi"),
    COUNT(NVIDIA, "eks.amazonaws.com/instance-gpu-count"),
    COUNT(AMD, "eks.amazonaws.com/instance-gpu-count"),
    MEMORY(NVIDIA, "eks.amazonaws.com/instance-gpu-memory", "Mi"),
    MEMORY(AMD, "eks.amazonaws.com/instance-gpu-memory", "Mi"),
    COUNT(NVIDIA, "karpenter.azure.com/sku-gpu-count"),
    COUNT(AMD, "karpenter.azure.com/sku-gpu-count"),
    COUNT(NVIDIA, "karpenter.k8s.gcp/instance-gpu-count"),
    MEMORY(NVIDIA, "karpenter.k8s.gcp/instance-gpu-memory", "Mi"),
    COUNT(NVIDIA, "karpenter.k8s.alibabacloud/instance-gpu-count"),
    MEMORY(NVIDIA, "karpenter.k8s.alibabacloud/instance-gpu-memory", "Mi"),
    COUNT(NVIDIA, "aliyun.accelerator/nvidia_count"),
    MEMORY(NVIDIA, "aliyun.accelerator/nvidia_mem", "Mi"),
    PARTITION(AMD, "amd.com/gpu.compute-memory-partition", "spx*"),
    PARTITION(AMD, "amd.com/compute-memory-partition", "spx*"),
    PARTITION(AMD, "beta.amd.com/gpu.compute-memory-partition", "spx*"),
    PARTITION(AMD, "beta.amd.com/compute-memory-partition", "spx*"),
    PARTITION(AMD, "amd.com/gpu.compute-partition", "spx*"),
    MEMORY(AMD, "amd.com/gpu.vram", "Gi"),
    MEMORY(AMD, "beta.amd.com/gpu.vram", "Gi"),
    MEMORY(AMD, "beta.amd.com/gpu.vram.*", "Gi"),
    COUNT("gpu.intel.com/*", "gpu.intel.com/device-id.*.count"),
    COUNT("gpu.intel.com/*", "gpu.intel.com/device.count"),
    COUNT("enflame.com/gcu", "enflame.com/gcu.count"),
    MEMORY("enflame.com/gcu", "enflame.com/gcu.memory", "Mi"),
    MEMORY("hygon.com/dcu", "hygon.com/dcu.vram", "Gi"),
    MEMORY("metax-tech.com/gpu", "metax-tech.com/gpu.memory", "Gi"),
};
const size_t N_GPU_LABELS = N_OF(GPU_LABELS);

static const char *const SAYS_NAMES[N_GPU_LABEL_SAYS] = {
    [GPU_LABEL_COUNT] = "count",       [GPU_LABEL_REPLICAS] = "replicas",
    [GPU_LABEL_STRATEGY] = "strategy", [GPU_LABEL_PARTITION] = "partition",
    [GPU_LABEL_MEMORY] = "memory",
};

const char *gpu_label_says_name(enum gpu_label_says says)
{
    return says < N_GPU_LABEL_SAYS ? SAYS_NAMES[says] : NULL;
}

int64_t gpu_label_unit_bytes(const char *unit)
{
    static const char LETTERS[] = "KMGT";
    const char *letter = *unit ? strchr(LETTERS, toupper((unsigned char)*unit)) : NULL;
    const char *rest = letter ? unit + 1 : unit;
    if (strcasecmp(rest, "") != 0 && strcasecmp(rest, "B") != 0 &&
        !(letter && (strcasecmp(rest, "i") == 0 || strcasecmp(rest, "iB") == 0)))
        return 0;
    return letter ? INT64_C(1) << (10 * (letter - LETTERS + 1)) : 1;
}

bool gpu_label_has_key(const struct gpu_label *row, const char *resource, const char *key)
{
    const char *star = strchr(row->label, '*');
    const char *of_resource = strchr(row->resource, '*');
    if (!star)
        return strcmp(row->label, key) == 0;
    const size_t head = (size_t)(star - row->label);
    const size_t tail = strlen(star + 1);
    const size_t len = strlen(key);
    if (len <= head + tail || strncmp(key, row->label, head) != 0 ||
        strcmp(key + len - tail, star + 1) != 0)
        return false;
    /* "nvidia.com/mig-*" and "nvidia.com/mig-*.memory" */
    const size_t n_same = of_resource ? (size_t)(of_resource - row->resource) : 0;
    if (n_same != head || strncmp(row->resource, row->label, head) != 0)
        return true;
    return strlen(resource) == len - tail && strncmp(resource, key, len - tail) == 0;
}

const char *gpu_label_value(const struct gpu_label *row, const char *key, const char *value)
{
    const char *star = strchr(row->label, '*');
    return star && !star[1] ? key + (star - row->label) : value;
}

bool gpu_label_is_whole(const struct gpu_label *row, const char *value)
{
    const size_t len = strlen(row->whole);
    if (!*value || strcasecmp(row->whole, value) == 0)
        return true;
    return len > 0 && row->whole[len - 1] == '*' && strncasecmp(row->whole, value, len - 1) == 0;
}
