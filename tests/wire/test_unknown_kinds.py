"""Objects without a pod template: "holds no pods" is only said of kinds that are known, and what names a GPU does not pass as fine."""

import pytest
from kubectl_gpu import fit
from objects import node

NODE = node("a")
UNKNOWN = "kind unknown here, not judged"
LIMITS = {"resources": {"limits": {"nvidia.com/gpu": 1}}}


def of(version, kind, **members):
    return {"apiVersion": version, "kind": kind, "metadata": {"name": "x", "namespace": "ml"}, **members}


# An object, and the member that names a GPU.
NAMING = [
    (of("production-stack.vllm.ai/v1alpha1", "VLLMRuntime", spec={"deploymentConfig": {"resources": {"cpu": "10", "gpu": "1"}}}), "spec.deploymentConfig.resources.gpu"),
    (of("kaito.sh/v1beta1", "Workspace", resource={"instanceType": "Standard_NC24ads_A100_v4"}), "resource.instanceType"),
    (of("kubevirt.io/v1", "VirtualMachine", spec={"template": {"spec": {"domain": {"devices": {"gpus": [{"name": "gpu1", "deviceName": "nvidia.com/A100"}]}}}}}), "spec.template.spec.domain.devices.gpus"),
    (of("run.ai/v2alpha1", "TrainingWorkload", spec={"gpu": {"value": "0.5"}}), "spec.gpu"),
    (of("kubeai.org/v1", "Model", spec={"resourceProfile": "nvidia-gpu-l4:1"}), "spec.resourceProfile"),
    (of("kubeai.org/v1", "Model", spec={"resourceProfile": "h100:1"}), "spec.resourceProfile"),
    (of("example.org/v1", "Training", spec={"numGPUs": 8}), "spec.numGPUs"),
    (of("example.org/v1", "Training", spec={"workers": [{"acceleratorCount": 2}]}), "spec.workers[0].acceleratorCount"),
    (of("example.org/v1", "Training", spec={"device": {"resource": "nvidia.com/gpu"}}), "spec.device.resource"),
    (of("example.org/v1", "Training", spec={"amounts": {"amd.com/gpu": "1"}}), "spec.amounts.amd.com/gpu"),
    (of("example.org/v1", "Training", spec={"machineType": "a2-highgpu-1g"}), "spec.machineType"),
    (of("example.org/v1", "Training", spec={"device": "GPU"}), "spec.device"),
    (of("example.org/v1", "Project", spec={"deservedGpus": 4}), "spec.deservedGpus"),
    (of("example.org/v1", "Training", spec={"worker": {"type": "gpu-large"}}), "spec.worker.type"),
    (of("example.org/v1", "Training", spec={"machine_type": "gpu-large"}), "spec.machine_type"),
    (of("example.org/v1", "Training", spec={"amounts": {"aws.amazon.com/neuron": "1"}}), "spec.amounts.aws.amazon.com/neuron"),
    (of("example.org/v1", "Training", spec={"resources": {"limits": {"habana.ai/gaudi": 1}}}), "spec.resources.limits.habana.ai/gaudi"),
    (of("example.org/v1", "Training", spec={"device": {"name": "huawei.com/Ascend910"}}), "spec.device.name"),
    (of("example.org/v1", "Training", spec={"numTPUs": 4}), "spec.numTPUs"),
    (of("example.org/v1", "Training", spec={"tpuTopology": "2x4"}), "spec.tpuTopology"),
    (of("example.org/v1", "Training", spec={"env": {"NPU_COUNT": "4"}}), "spec.env.NPU_COUNT"),
]
# Kinds of which nobody here knows whether they make pods, and that name no GPU.
SILENT_UNKNOWN = [
    of("example.org/v1", "Thing", spec={"size": 3}),
    of("example.org/v1", "Pod", spec={"size": 3}),
    of("example.org/v1", "RayCluster", spec={"size": 3}),
    of("example.org/v1", "LeaderWorkerSet", spec={"size": 3}),
    of("example.org/v1", "Thing", spec={"gpu": 0}),
    of("example.org/v1", "Thing", spec={"input": "a", "outputs": ["b"], "INPUT_DIR": "c", "throughput": 5, "npus": 0, "type": "large", "device": "cpu"}),
    of("example.org/v1", "Thing", spec={"gpu": "0", "gpus": [], "useGpu": False, "accelerator": None, "gpuType": ""}),
    of("example.org/v1", "VirtualMachine", spec={"template": {}}),
    of("kubeai.org/v1", "Model", spec={"engine": "OLlama", "resourceProfile": "cpu:2"}),
    of("ollama.ayaka.io/v1", "Model", spec={"image": "phi"}),
    of("mlops.seldon.io/v1alpha1", "Model", spec={"requirements": ["sklearn"], "memory": "100Ki"}),
    of("serving.kserve.io/v1alpha1", "LocalModelCache", spec={"modelSize": "10Gi", "nodeGroups": ["workers"]}),
    of("argoproj.io/v1alpha1", "Application", spec={"source": {"path": "gpu"}}),
    of("example.org/v1", "Thing", metadata={"name": "gpu", "labels": {"gpu": "yes"}}),
]
# Kinds that make pods with GPUs, whatever the object says.
MAKERS = [
    of("kaito.sh/v1beta1", "Workspace", inference={"preset": {"name": "phi-4"}}),
    of("kubevirt.io/v1", "VirtualMachine", spec={"instancetype": {"name": "u1.medium"}}),
    of("production-stack.vllm.ai/v1alpha1", "VLLMRuntime", spec={"model": {"modelURL": "x"}}),
    of("run.ai/v2alpha1", "DistributedWorkload", spec={"image": {"value": "x"}}),
    of("trainer.kubeflow.org/v1alpha1", "TrainJob", spec={"runtimeRef": {"name": "torch"}, "trainer": {"numNodes": 4}}),
]
MAKERS += [
    of(version, kind, spec=spec)
    for version, kind, spec in [
        ("aim.eai.amd.com/v1alpha2", "AIMService", {"model": {"name": "qwen"}}),
        ("apps.nvidia.com/v1alpha1", "NIMPipeline", {"services": []}),
        ("arks.ai/v1", "ArksApplication", {"mode": "unified", "unified": {"replicas": 1}}),
        ("inference.llmaz.io/v1alpha1", "Playground", {"replicas": 1, "modelClaim": {"modelName": "opt"}}),
        ("inference.sagemaker.aws.amazon.com/v1", "JumpStartModel", {"server": {"instanceType": "ml.g5.8xlarge"}}),
        ("inference.sagemaker.aws.amazon.com/v1", "InferenceEndpointConfig", {"instanceType": "ml.g5.24xlarge", "replicas": 2}),
        ("kaito.sh/v1beta1", "RAGEngine", {"embedding": {"local": {"modelID": "x"}}}),
        ("llm-d.ai/v1alpha1", "ModelService", {"baseConfigMapRef": {"name": "basic"}, "decode": {"replicas": 1}}),
        ("nvidia.com/v1alpha1", "DynamoGraphDeployment", {"services": {"Worker": {"replicas": 2}}}),
        ("nvidia.com/v1beta1", "DynamoGraphDeploymentRequest", {"model": "Qwen/Qwen3-0.6B", "backend": "vllm"}),
        ("ome.io/v1beta1", "InferenceService", {"model": {"name": "llama"}, "engine": {"minReplicas": 1}}),
        ("workload.serving.volcano.sh/v1alpha1", "ModelBooster", {"backend": {"type": "vLLM", "workers": [{"type": "server", "pods": 1}]}}),
    ]
]
# An object of which the controller knows the GPUs of some pods, and the members that could say them.
UNSAID = [
    (of("apps.nvidia.com/v1alpha1", "NIMService", spec={"replicas": 2}), ["spec.resources"]),
    (of("apps.nvidia.com/v1alpha1", "NIMService", spec={"resources": {"limits": {"cpu": "2"}}}), ["spec.resources"]),
    (
        of("apps.nvidia.com/v1alpha1", "NIMPipeline", spec={"services": [{"name": "a", "spec": {}}, {"name": "b", "enabled": False, "spec": {}}, {"name": "c", "spec": LIMITS}]}),
        ["spec.services[a].spec.resources"],
    ),
    (of("serving.kserve.io/v1beta1", "InferenceService", spec={"predictor": {"model": LIMITS, "workerSpec": {"pipelineParallelSize": 2}}}), ["spec.predictor.workerSpec.containers"]),
    (
        of("serving.kserve.io/v1alpha1", "LLMInferenceService", spec={"parallelism": {"pipeline": 2}, "template": {"containers": [{"name": "main", **LIMITS}]}, "worker": {}}),
        ["spec.worker.containers"],
    ),
]
ELSEWHERE = [
    of("argoproj.io/v1alpha1", "Workflow", spec={"workflowTemplateRef": {"name": "x"}}),
    of("argoproj.io/v1alpha1", "Rollout", spec={"replicas": 3, "workloadRef": {"apiVersion": "apps/v1", "kind": "Deployment", "name": "x"}}),
    of("ray.io/v1", "RayJob", spec={"entrypoint": "x", "clusterSelector": {"ray.io/cluster": "x"}}),
]
SILENT = [
    of("llmaz.io/v1alpha1", "OpenModel", spec={"inferenceConfig": {"flavors": [{"name": "t4", "limits": {"nvidia.com/gpu": 1}}]}}),
    of("monitoring.coreos.com/v1", "ServiceMonitor", spec={"endpoints": [{"port": "gpu"}]}),
    of("monitoring.coreos.com/v1", "PrometheusRule", spec={"groups": [{"name": "gpu", "gpu": 1}]}),
    of("gateway.networking.k8s.io/v1", "HTTPRoute", spec={"rules": []}),
    of("inference.networking.x-k8s.io/v1alpha2", "InferencePool", spec={"accelerator": "gpu"}),
    of("kueue.x-k8s.io/v1beta1", "ClusterQueue", spec={"resourceGroups": [{"coveredResources": ["nvidia.com/gpu"]}]}),
    of("v1", "ResourceQuota", spec={"hard": {"requests.nvidia.com/gpu": 4, "nvidia.com/gpu": 4}}),
    of("apiextensions.k8s.io/v1", "CustomResourceDefinition", spec={"versions": [{"schema": {"gpu": {"type": "string"}}}]}),
    of("kyverno.io/v1", "ClusterPolicy", spec={"rules": [{"validate": {"pattern": {"nvidia.com/gpu": "<2"}}}]}),
    of("nvidia.com/v1", "ClusterPolicy", spec={"gpuFeatureDiscovery": {"enabled": True}}),
    of("resource.nvidia.com/v1beta1", "ComputeDomain", spec={"numNodes": 2}),
    of("karpenter.sh/v1", "NodePool", spec={"limits": {"nvidia.com/gpu": 8}}),
    of("karpenter.k8s.aws/v1", "EC2NodeClass", spec={"instanceType": "gpu"}),
    of("networking.istio.io/v1", "VirtualService", spec={"hosts": ["gpu"]}),
    of("cert-manager.io/v1", "Certificate", spec={"secretName": "gpu"}),
    of("keda.sh/v1alpha1", "ScaledObject", spec={"triggers": [{"gpu": 80}]}),
    of("autoscaling/v2", "HorizontalPodAutoscaler", spec={"metrics": [{"gpu": 1}]}),
    of("v1", "ConfigMap", data={"gpu": "1"}),
    of("amd.com/v1alpha1", "DeviceConfig", spec={"selector": {"feature.node.kubernetes.io/amd-gpu": "true"}}),
    of("run.ai/v2", "Project", spec={"deservedGpus": 4}),
    of("scheduling.koordinator.sh/v1alpha1", "Device", spec={"devices": [{"type": "gpu", "minor": 0}]}),
    of("kubeflow.org/v1", "Profile", spec={"resourceQuotaSpec": {"hard": {"requests.nvidia.com/gpu": "4"}}}),
    of("capsule.clastix.io/v1beta2", "Tenant", spec={"resourceQuotas": {"items": [{"hard": {"requests.nvidia.com/gpu": 4}}]}}),
    of("quota.openshift.io/v1", "ClusterResourceQuota", spec={"quota": {"hard": {"nvidia.com/gpu": "4"}}}),
    of("infrastructure.opendatahub.io/v1", "HardwareProfile", spec={"identifiers": [{"identifier": "nvidia.com/gpu"}]}),
    of("autoscaling.openshift.io/v1", "ClusterAutoscaler", spec={"resourceLimits": {"gpus": [{"type": "nvidia.com/gpu", "max": 16}]}}),
    of("infrastructure.cluster.x-k8s.io/v1beta1", "GCPMachineTemplate", spec={"template": {"spec": {"guestAccelerators": [{"type": "x"}]}}}),
    of("eks.services.k8s.aws/v1alpha1", "Nodegroup", spec={"amiType": "AL2_x86_64_GPU"}),
    of("eks.aws.upbound.io/v1beta1", "NodeGroup", spec={"forProvider": {"amiType": "AL2_x86_64_GPU"}}),
]


def named(items):
    return [f"{item['kind']}-{i}" for i, item in enumerate(items)]


@pytest.mark.parametrize("item, path", NAMING, ids=named([row[0] for row in NAMING]))
def test_what_names_a_gpu_is_not_fine(item, path, write):
    status, answer = fit(write, [item], NODE)
    assert status == 2 and [one["path"] for one in answer["notUnderstood"]] == [path]
    assert f"not understood ({item['kind']} x: {path})" in answer["summary"]


@pytest.mark.parametrize("item", MAKERS, ids=named(MAKERS))
def test_a_kind_that_makes_pods_with_gpus_is_not_fine(item, write):
    status, answer = fit(write, [item], NODE)
    assert status == 2 and [one["path"] for one in answer["notUnderstood"]] == ["kind"]
    assert all(one["why"] != "holds no pods" for one in answer["skipped"])


@pytest.mark.parametrize("item, paths", UNSAID, ids=named([row[0] for row in UNSAID]))
def test_gpus_that_only_the_controller_knows_are_not_fine(item, paths, write):
    status, answer = fit(write, [item], NODE)
    assert status == 2 and [one["path"] for one in answer["notUnderstood"]] == paths


@pytest.mark.parametrize("item", ELSEWHERE, ids=named(ELSEWHERE))
def test_pods_of_another_object_are_not_denied(item, write):
    _, answer = fit(write, [item], NODE)
    why = "its pods are described in another object"
    assert [one["why"] for one in answer["skipped"]] == [f"{why}, not judged"]
    assert answer["summary"].startswith(f"1 part is not judged ({item['kind']} x: {why}); ")


@pytest.mark.parametrize("item", SILENT_UNKNOWN, ids=named(SILENT_UNKNOWN))
def test_an_unknown_kind_is_said_to_be_unknown(item, write):
    status, answer = fit(write, [item], NODE)
    assert [one["why"] for one in answer["skipped"]] == [UNKNOWN] and answer["notUnderstood"] == answer["warnings"] == []
    pods = of("v1", "Pod", spec={"containers": [{"name": "main", "image": "x", **LIMITS}]})
    status, answer = fit(write, [item, pods], NODE)
    assert status == 0 and [one["why"] for one in answer["skipped"]] == [UNKNOWN]
    assert answer["summary"].startswith(f"1 part is not judged ({item['kind']} {item['metadata']['name']}: kind unknown here); Pod ")


@pytest.mark.parametrize("item", SILENT, ids=named(SILENT))
def test_a_kind_that_is_known_to_hold_no_pods(item, write):
    _, answer = fit(write, [item], NODE)
    assert [one["why"] for one in answer["skipped"]] == ["holds no pods"] and answer["notUnderstood"] == answer["warnings"] == []
    assert "not judged" not in answer["summary"]


def test_a_template_tells_more_than_names(write):
    """As before: what stands beside it may be anything."""
    template = {"spec": {"containers": [{"name": "main", "image": "x", **LIMITS}]}}
    status, answer = fit(write, [of("example.org/v1", "Training", spec={"gpuMemoryUtilization": 0.9, "template": template})], NODE)
    assert (status, answer["notUnderstood"], answer["workloads"][0]["placed"]) == (0, [], 1)
