/* podless: see template_walk.h. */
#include "objects/templates/schema.h"
#include "objects/templates/template_walk.h"

#include <stddef.h>
#include <string.h>

/* Kinds of any group. */
static const char *const KINDS[] = {
    "AcceleratorProfile",
    "AppliedClusterResourceQuota",
    "ClusterPolicy", /* of the GPU operator, and of Kyverno */
    "ClusterQueue",
    "ClusterResourceQuota",
    "ClusterServingRuntime",
    "Cohort",
    "CustomResourceDefinition",
    "DeviceClass",
    "ElasticQuota",
    "FederatedResourceQuota",
    "HardwareProfile",
    "HierarchicalResourceQuota",
    "LimitRange",
    "LocalQueue",
    "NVIDIADriver",
    "Node",
    "NodeClaim",
    "NodePool",
    "OpenModel", /* of llmaz */
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
    "autoscaling.openshift.io",
    "capsule.clastix.io",
    "cert-manager.io",
    "cilium.io",
    "cloud.google.com",
    "cluster.x-k8s.io", /* Cluster API: machines */
    "containo.us",      /* Traefik */
    "deviceplugin.intel.com",
    "external-secrets.io",
    "gardener.cloud",
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
    "machine.openshift.io",
    "monitoring.coreos.com",
    "monitoring.googleapis.com",
    "networking.gke.io",
    "nfd.k8s-sigs.io",
    "projectcalico.org",
    "resource.nvidia.com",
    "scheduling.volcano.sh",
    "scheduling.x-k8s.io",
    "sealedsecrets.bitnami.com",
    "services.k8s.aws", /* AWS Controllers for Kubernetes: what is outside of the cluster */
    "traefik.io",
    "upbound.io", /* Crossplane's providers: the same */
};

struct group_kind {
    const char *group, *kind;
};

/* Kinds whose names others have, too. */
static const struct group_kind OF_GROUPS[] = {
    {"amd.com", "DeviceConfig"},  /* ROCm/gpu-operator, api/v1alpha1 */
    {"koordinator.sh", "Device"}, /* koordinator-sh/koordinator, apis/scheduling */
    {"kubeflow.org", "Profile"},  /* kubeflow/dashboard: a namespace and its quota */
    {"run.ai", "Department"},     /* Run:ai, docs: quotas */
    {"run.ai", "Project"},        /* the same */
};

static bool is_or_is_below(const char *group, size_t len, const char *of)
{
    const size_t n = strlen(of);
    return len >= n && strncmp(group + len - n, of, n) == 0 &&
           (len == n || group[len - n - 1] == '.');
}

static bool is_among(const struct group_kind *rows, size_t n, const char *kind,
                     const char *api_version)
{
    const size_t len = schema_group_len(api_version);
    for (size_t i = 0; i < n; i++) {
        if (strcmp(kind, rows[i].kind) == 0 && is_or_is_below(api_version, len, rows[i].group))
            return true;
    }
    return false;
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
    return is_among(OF_GROUPS, sizeof OF_GROUPS / sizeof *OF_GROUPS, kind, api_version);
}

bool podless_is_unknown(const char *kind, const char *api_version)
{
    const size_t len = schema_group_len(api_version);
    const bool is_own =
        schema_is_own_group(api_version) || is_or_is_below(api_version, len, "k8s.io");
    return len > 0 && !is_own && !podless_is(kind, api_version);
}

/* Kinds of which the controller knows the GPUs: from a preset, a profile, another object or the
 * name of a machine. */
static const struct group_kind MAKERS[] = {
    {"aim.eai.amd.com", "AIMService"},           /* AMD AIM Engine, AIMService */
    {"aim.silogen.ai", "AIMService"},            /* the same, by its former name */
    {"apps.nvidia.com", "NIMBuild"},             /* NVIDIA/k8s-nim-operator, nimbuild_types.go */
    {"apps.nvidia.com", "NIMPipeline"},          /* NVIDIA/k8s-nim-operator, nimpipeline_types.go */
    {"apps.nvidia.com", "NIMService"},           /* NVIDIA/k8s-nim-operator, addGPUResources() */
    {"arks.ai", "ArksApplication"},              /* arks-ai/arks, docs */
    {"arks.ai", "ArksDisaggregatedApplication"}, /* the same */
    {"inference.llmaz.io", "Playground"},        /* InftyAI/llmaz, the flavors of an OpenModel */
    {"inference.sagemaker.aws.amazon.com",
     "InferenceEndpointConfig"},                              /* SageMaker HyperPod, docs */
    {"inference.sagemaker.aws.amazon.com", "JumpStartModel"}, /* SageMaker HyperPod, docs */
    {"kaito.sh", "InferenceSet"},                        /* kaito-project/kaito, api/v1alpha1 */
    {"kaito.sh", "RAGEngine"},                           /* the same */
    {"kaito.sh", "Workspace"},                           /* the same */
    {"kubevirt.io", "VirtualMachine"},                   /* KubeVirt, instancetype */
    {"kubevirt.io", "VirtualMachineInstance"},           /* the same */
    {"kubevirt.io", "VirtualMachineInstanceReplicaSet"}, /* the same */
    {"kubevirt.io", "VirtualMachinePool"},               /* the same */
    {"llm-d.ai", "ModelService"},                /* llm-d/llm-d-model-service, baseConfigMapRef */
    {"nvidia.com", "DynamoComponentDeployment"}, /* ai-dynamo/dynamo, deploy/operator/api */
    {"nvidia.com", "DynamoGraphDeployment"},     /* the same */
    {"nvidia.com", "DynamoGraphDeploymentRequest"}, /* the same: profiles, then deploys */
    {"ome.io", "InferenceService"},                 /* sgl-project/ome, the runtime of a model */
    {"ome.io", "TrainingJob"},                      /* the same */
    {"production-stack.vllm.ai", "VLLMRuntime"},  /* vllm-project/production-stack, operator/api */
    {"run.ai", "DistributedInferenceWorkload"},   /* Run:ai, docs */
    {"run.ai", "DistributedWorkload"},            /* the same */
    {"run.ai", "InferenceWorkload"},              /* the same */
    {"run.ai", "InteractiveWorkload"},            /* the same */
    {"run.ai", "TrainingWorkload"},               /* the same */
    {"serving.kserve.io", "LLMInferenceService"}, /* KServe, baseRefs and its presets */
    {"trainer.kubeflow.org", "TrainJob"},         /* kubeflow/trainer, runtimeRef */
    {"workload.serving.volcano.sh", "ModelBooster"}, /* volcano-sh/kthena, docs */
};

bool podless_makes_gpu_pods(const char *kind, const char *api_version)
{
    return is_among(MAKERS, sizeof MAKERS / sizeof *MAKERS, kind, api_version);
}
