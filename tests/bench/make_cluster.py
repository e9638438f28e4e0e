#!/usr/bin/env python3
"""Writes a large cluster like `kubectl get nodes,pods,namespaces,priorityclasses -A --show-managed-fields`.

    make_cluster.py [--nodes N] [--pods N] [--format json|yaml] FILE

Nodes are named gpu-node-00000 and so on, with 8 GPUs each and models in rotation. A third of the pods use GPUs (about half of all),
the others are the small ones of every node. Objects have realistic sizes: labels, managedFields, conditions, a node's list of images.
The same arguments give the same bytes.
"""

import argparse
import json
import uuid

MODELS = ["NVIDIA-A100-SXM4-80GB", "NVIDIA-H100-80GB-HBM3", "Tesla-T4", "NVIDIA-L40S"]
TIME = "2026-11-01T08:00:00Z"
GPUS_OF_PODS = [1, 2, 4, 1]
N_GPUS_OF_NODE = 8
N_IMAGES = 8


def uid(name):
    return str(uuid.uuid5(uuid.NAMESPACE_DNS, name))


def fields(tree):
    """Members in the notation of managedFields: {"a": {"b": 1}} -> {"f:a": {"f:b": {}}}."""
    if not isinstance(tree, dict):
        return {}
    return {f"f:{key}": fields(value) for key, value in tree.items()}


def managed(manager, tree):
    return {
        "apiVersion": "v1",
        "fieldsType": "FieldsV1",
        "fieldsV1": fields(tree),
        "manager": manager,
        "operation": "Update",
        "time": TIME,
    }


def condition(kind, status, reason):
    return {
        "lastHeartbeatTime": TIME,
        "lastTransitionTime": TIME,
        "message": f"kubelet says of {kind} that this is how it is",
        "reason": reason,
        "status": status,
        "type": kind,
    }


def image(i):
    digest = uid(f"image-{i}").replace("-", "") * 2
    return {
        "names": [
            f"images.example.com/ml/trainer-{i:04}@sha256:{digest}",
            f"images.example.com/ml/trainer-{i:04}:v1.{i}",
        ],
        "sizeBytes": 1000000007 + i * 1000003,
    }


def node(i):
    name = f"gpu-node-{i:05}"
    model = MODELS[i % len(MODELS)]
    amounts = {
        "cpu": "128",
        "ephemeral-storage": "1843269236Ki",
        "hugepages-1Gi": "0",
        "hugepages-2Mi": "0",
        "memory": "1056270668Ki",
        "nvidia.com/gpu": str(N_GPUS_OF_NODE),
        "pods": "110",
    }
    labels = {
        "beta.kubernetes.io/arch": "amd64",
        "kubernetes.io/arch": "amd64",
        "kubernetes.io/hostname": name,
        "kubernetes.io/os": "linux",
        "nvidia.com/cuda.driver.major": "570",
        "nvidia.com/gpu.count": str(N_GPUS_OF_NODE),
        "nvidia.com/gpu.present": "true",
        "nvidia.com/gpu.product": model,
        "topology.kubernetes.io/zone": f"zone-{i % 3}",
    }
    annotations = {
        "node.alpha.kubernetes.io/ttl": "0",
        "volumes.kubernetes.io/controller-managed-attach-detach": "true",
    }
    conditions = [
        condition("MemoryPressure", "False", "KubeletHasSufficientMemory"),
        condition("DiskPressure", "False", "KubeletHasNoDiskPressure"),
        condition("PIDPressure", "False", "KubeletHasSufficientPID"),
        condition("Ready", "True", "KubeletReady"),
    ]
    return {
        "apiVersion": "v1",
        "kind": "Node",
        "metadata": {
            "annotations": annotations,
            "creationTimestamp": TIME,
            "labels": labels,
            "managedFields": [
                managed("kubelet", {"metadata": {"annotations": annotations, "labels": labels}}),
                managed("kubelet", {"status": {"allocatable": amounts, "capacity": amounts, "images": 0}}),
            ],
            "name": name,
            "resourceVersion": str(900000 + i),
            "uid": uid(name),
        },
        "spec": {"podCIDR": f"10.{i // 256}.{i % 256}.0/24", "podCIDRs": [f"10.{i // 256}.{i % 256}.0/24"]},
        "status": {
            "addresses": [
                {"address": f"10.200.{i // 256}.{i % 256}", "type": "InternalIP"},
                {"address": name, "type": "Hostname"},
            ],
            "allocatable": amounts,
            "capacity": amounts,
            "conditions": conditions,
            "daemonEndpoints": {"kubeletEndpoint": {"Port": 10250}},
            "images": [image((i + k) % 500) for k in range(N_IMAGES)],
            "nodeInfo": {
                "architecture": "amd64",
                "bootID": uid(name + "boot"),
                "containerRuntimeVersion": "containerd://2.1.4",
                "kernelVersion": "6.12.0-amd64",
                "kubeProxyVersion": "",
                "kubeletVersion": "v1.36.3",
                "machineID": uid(name + "machine").replace("-", ""),
                "operatingSystem": "linux",
                "osImage": "Debian GNU/Linux 13 (trixie)",
                "systemUUID": uid(name + "system"),
            },
        },
    }


def pod(i, n_nodes):
    name = f"worker-{i:06}"
    gpus = GPUS_OF_PODS[i // 3 % len(GPUS_OF_PODS)] if i % 3 == 0 else 0
    amounts = {"cpu": "4" if gpus else "100m", "memory": "16Gi" if gpus else "128Mi"}
    if gpus:
        amounts["nvidia.com/gpu"] = str(gpus)
    container = {
        "env": [{"name": "POD_NAME", "valueFrom": {"fieldRef": {"apiVersion": "v1", "fieldPath": "metadata.name"}}}],
        "image": f"images.example.com/ml/trainer-{i % 500:04}:v1.{i % 500}",
        "imagePullPolicy": "IfNotPresent",
        "name": "main",
        "resources": {"limits": amounts, "requests": amounts},
        "terminationMessagePath": "/dev/termination-log",
        "terminationMessagePolicy": "File",
        "volumeMounts": [
            {
                "mountPath": "/var/run/secrets/kubernetes.io/serviceaccount",
                "name": "kube-api-access",
                "readOnly": True,
            }
        ],
    }
    labels = {"app": f"app-{i % 100}", "pod-template-hash": uid(name)[:8]}
    return {
        "apiVersion": "v1",
        "kind": "Pod",
        "metadata": {
            "creationTimestamp": TIME,
            "labels": labels,
            "managedFields": [
                managed("kube-controller-manager", {"metadata": {"labels": labels}, "spec": {"containers": container}})
            ],
            "name": name,
            "namespace": f"team-{i % 20}",
            "resourceVersion": str(1000000 + i),
            "uid": uid(name),
        },
        "spec": {
            "containers": [container],
            "dnsPolicy": "ClusterFirst",
            "enableServiceLinks": True,
            "nodeName": f"gpu-node-{(i * 7 + i // n_nodes) % n_nodes:05}",
            "preemptionPolicy": "PreemptLowerPriority",
            "priority": 0,
            "restartPolicy": "Always",
            "schedulerName": "default-scheduler",
            "serviceAccountName": "default",
            "terminationGracePeriodSeconds": 30,
            "tolerations": [
                {"effect": "NoExecute", "key": f"node.kubernetes.io/{what}", "operator": "Exists", "tolerationSeconds": 300}
                for what in ("not-ready", "unreachable")
            ],
        },
        "status": {
            "conditions": [
                {"lastProbeTime": None, "lastTransitionTime": TIME, "status": "True", "type": kind}
                for kind in ("Initialized", "Ready", "ContainersReady", "PodScheduled")
            ],
            "containerStatuses": [
                {
                    "containerID": "containerd://" + uid(name + "c").replace("-", "") * 2,
                    "image": container["image"],
                    "name": "main",
                    "ready": True,
                    "restartCount": 0,
                    "started": True,
                    "state": {"running": {"startedAt": TIME}},
                }
            ],
            "hostIP": "10.200.0.1",
            "phase": "Running",
            "podIP": "10.0.0.1",
            "qosClass": "Guaranteed",
            "startTime": TIME,
        },
    }


def objects(n_nodes, n_pods):
    yield from (node(i) for i in range(n_nodes))
    yield from (pod(i, n_nodes) for i in range(n_pods))
    for i in range(20):
        yield {"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": f"team-{i}"}}
    yield {
        "apiVersion": "scheduling.k8s.io/v1",
        "kind": "PriorityClass",
        "metadata": {"name": "high"},
        "value": 1000,
    }


def write_json(file, items):
    """Indents by four spaces, like kubectl."""
    file.write('{\n    "apiVersion": "v1",\n    "items": [')
    for i, item in enumerate(items):
        text = json.dumps(item, indent=4)
        file.write((",\n" if i else "\n") + "\n".join("        " + line for line in text.split("\n")))
    file.write('\n    ],\n    "kind": "List",\n    "metadata": {\n        "resourceVersion": ""\n    }\n}\n')


def scalar(value):
    """Quotes text that YAML would read as another type."""
    if value is None or isinstance(value, (bool, int)):
        return json.dumps(value)
    plain = value and value[0].isalpha() and value[-1] != ":" and ": " not in value and " #" not in value
    return value if plain and value.lower() not in ("true", "false", "null") else json.dumps(value)


def yaml_lines(value, indent):
    """Lists are in the column of their key, like kubectl's."""
    if isinstance(value, dict):
        for key, member in value.items():
            if isinstance(member, (dict, list)) and member:
                yield f"{indent}{scalar(key)}:"
                yield from yaml_lines(member, indent + ("" if isinstance(member, list) else "  "))
            else:
                yield f"{indent}{scalar(key)}: " + ("{}" if member == {} else scalar(member))
    elif isinstance(value, list):
        for member in value:
            lines = list(yaml_lines(member, indent + "  "))
            lines[0] = f"{indent}- {lines[0].lstrip()}"
            yield from lines
    else:
        yield indent + scalar(value)


def write_yaml(file, items):
    file.write("apiVersion: v1\nitems:\n")
    for item in items:
        file.write("\n".join(yaml_lines([item], "")) + "\n")
    file.write('kind: List\nmetadata:\n  resourceVersion: ""\n')


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n", maxsplit=1)[0])
    parser.add_argument("--nodes", type=int, default=5000)
    parser.add_argument("--pods", type=int, default=30000)
    parser.add_argument("--format", choices=("json", "yaml"), default="json")
    parser.add_argument("file")
    given = parser.parse_args()
    write = {"json": write_json, "yaml": write_yaml}[given.format]
    with open(given.file, "w", encoding="utf-8") as file:
        write(file, objects(given.nodes, given.pods))


if __name__ == "__main__":
    main()
