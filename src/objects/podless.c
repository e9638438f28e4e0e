/* podless: see podless.h. */
#include "podless.h"
#include "schema.h"

#include <stddef.h>
#include <string.h>

/* Kinds of any group. */
static const char *const KINDS[] = {
    "ClusterPolicy", /* of the GPU operator, and of Kyverno */
    "ClusterQueue",
    "ClusterServingRuntime",
    "Cohort",
    "CustomResourceDefinition",
    "DeviceClass",
    "ElasticQuota",
    "LimitRange",
    "LocalQueue",
    "NVIDIADriver",
    "Node",
    "NodeClaim",
    "NodePool",
    "PriorityClass",
    "Provisioner",
    "Queue",
    "ResourceClaim",
    "ResourceClaimTemplate",
    "ResourceFlavor",
    "ResourceQuota",
    "ResourceSlice",
    "RuntimeClass",
    "ServingRuntime",
    "VerticalPodAutoscaler",
};

/* Groups, and all groups below them, of which no kind makes pods with GPUs: read in their projects'
 * documents of custom resources. */
static const char *const GROUPS[] = {
    "cert-manager.io",
    "cilium.io",
    "cloud.google.com",
    "containo.us", /* Traefik */
    "deviceplugin.intel.com",
    "external-secrets.io",
    "gatekeeper.sh",
    "gpu-extender.io",
    "inference.networking.x-k8s.io",
    "istio.io",
    "karpenter.azure.com",
    "karpenter.k8s.aws",
    "karpenter.sh",
    "keda.sh",
    "kueue.x-k8s.io",
    "kyverno.io",
    "monitoring.coreos.com",
    "monitoring.googleapis.com",
    "networking.gke.io",
    "nfd.k8s-sigs.io",
    "projectcalico.org",
    "resource.nvidia.com",
    "scheduling.volcano.sh",
    "scheduling.x-k8s.io",
    "sealedsecrets.bitnami.com",
    "traefik.io",
};

static bool is_or_is_below(const char *group, size_t len, const char *of)
{
    const size_t n = strlen(of);
    return len >= n && strncmp(group + len - n, of, n) == 0 &&
           (len == n || group[len - n - 1] == '.');
}

bool podless_is(const char *kind, const char *api_version)
{
    const size_t len = schema_group_len(api_version);
    for (size_t i = 0; i < sizeof KINDS / sizeof *KINDS; i++) {
        if (strcmp(kind, KINDS[i]) == 0)
            return true;
    }
    for (size_t i = 0; i < sizeof GROUPS / sizeof *GROUPS; i++) {
        if (is_or_is_below(api_version, len, GROUPS[i]))
            return true;
    }
    return false;
}

bool podless_is_unknown(const char *kind, const char *api_version)
{
    const size_t len = schema_group_len(api_version);
    const bool is_own =
        schema_is_own_group(api_version) || is_or_is_below(api_version, len, "k8s.io");
    return len > 0 && !is_own && !podless_is(kind, api_version);
}

bool podless_makes_gpu_pods(const char *kind, const char *api_version)
{
    static const struct {
        const char *group, *kind;
    } MAKERS[] = {
        {"kaito.sh", "InferenceSet"},
        {"kaito.sh", "RAGEngine"},
        {"kaito.sh", "Workspace"},
        {"kubevirt.io", "VirtualMachine"},
        {"kubevirt.io", "VirtualMachineInstance"},
        {"kubevirt.io", "VirtualMachineInstanceReplicaSet"},
        {"kubevirt.io", "VirtualMachinePool"},
        {"production-stack.vllm.ai", "VLLMRuntime"},
        {"run.ai", "DistributedInferenceWorkload"},
        {"run.ai", "DistributedWorkload"},
        {"run.ai", "InferenceWorkload"},
        {"run.ai", "InteractiveWorkload"},
        {"run.ai", "TrainingWorkload"},
        {"serving.kserve.io", "LLMInferenceService"},
        {"trainer.kubeflow.org", "TrainJob"},
    };
    const size_t len = schema_group_len(api_version);
    for (size_t i = 0; i < sizeof MAKERS / sizeof *MAKERS; i++) {
        if (strcmp(kind, MAKERS[i].kind) == 0 && is_or_is_below(api_version, len, MAKERS[i].group))
            return true;
    }
    return false;
}
