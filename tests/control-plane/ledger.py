"""Compares our ledger with the API server: each node, each pod, and kube-scheduler's messages about waiting pods.

The expected state is computed from the API server's lists, for the tests' pods (whole GPUs, cpu in thousandths).
"""

from cluster import scheduled

GPU = "nvidia.com/gpu"
FINISHED = ("Succeeded", "Failed")


def milli(text):
    return int(text[:-1]) if text.endswith("m") else int(text) * 1000


def asked(pod, resource):
    return sum(int(each["resources"].get("requests", {}).get(resource, 0)) for each in pod["spec"]["containers"])


def cpu(pod):
    return sum(milli(each["resources"].get("requests", {}).get("cpu", "0")) for each in pod["spec"]["containers"])


def who(pod):
    return f"{pod['metadata']['namespace']}/{pod['metadata']['name']} {pod['metadata']['uid']}"


def truth(api):
    """{node: resources and use} from the API server's lists."""
    pods = [pod for pod in api.get("/api/v1/pods")["items"] if pod["status"].get("phase") not in FINISHED]
    shown = {}
    for node in api.get("/api/v1/nodes")["items"]:
        name, has = node["metadata"]["name"], node["status"].get("allocatable", {})
        here = [pod for pod in pods if pod["spec"].get("nodeName") == name]
        shown[name] = {
            "gpus": int(has.get(GPU, 0)),
            "used": sum(asked(pod, GPU) for pod in here),
            "reserved": 0,
            "cpu used": sum(map(cpu, here)),
            "pods": len(here),
            "holders": {who(pod): asked(pod, GPU) for pod in here if asked(pod, GPU)},
        }
    return shown


def told(service):
    """The same from GET /v1/inventory."""
    answer = service.get("/v1/inventory")
    assert answer.status == 200, answer
    shown = {}
    for node in answer.json()["nodes"]:
        resources = node["resources"]
        gpus = resources.get(GPU, {"allocatable": 0, "used": 0, "reserved": 0})
        shown[node["name"]] = {
            "gpus": gpus["allocatable"],
            "used": gpus["used"],
            "reserved": gpus["reserved"],
            "cpu used": resources["cpu"]["used"],
            "pods": resources["pods"]["used"],
            "holders": {
                f"{pod['namespace']}/{pod['pod']} {pod['uid']}": pod["gpus"][GPU] for pod in node["holders"] if GPU in pod["gpus"]
            },
        }
    return shown


def asks_for_gpus(pod):
    """Whether the pod asks for GPUs under any resource name."""
    return any(each["resources"].get("requests", {}).keys() - {"cpu", "memory"} for each in pod["spec"]["containers"])


def said_of(pod):
    condition = scheduled(pod)
    return {key: condition.get(key, "") for key in ("reason", "message")} if condition.get("status") == "False" else None


def waiting(api):
    """{unbound GPU pod: kube-scheduler's message} from the API server's list."""
    pods = [pod for pod in api.get("/api/v1/pods")["items"] if not pod["spec"].get("nodeName") and asks_for_gpus(pod)]
    return {who(pod): {"said": said_of(pod)} for pod in pods if pod["status"].get("phase") not in FINISHED}


def told_waiting(service):
    """The same from GET /v1/pending."""
    answer = service.get("/v1/pending")
    assert answer.status == 200, answer
    return {f"{pod['namespace']}/{pod['name']} {pod['uid']}": {"said": pod["schedulerSays"]} for pod in answer.json()["pods"]}


def differences(ours, theirs):
    return [
        f"{name}: {key}: ours {ours.get(name, {}).get(key)}, the API server's {theirs.get(name, {}).get(key)}"
        for name in sorted(ours.keys() | theirs.keys())
        for key in sorted(ours.get(name, {}).keys() | theirs.get(name, {}).keys())
        if ours.get(name, {}).get(key) != theirs.get(name, {}).get(key)
    ]


def overfull(theirs):
    """Nodes with more GPUs in use than they have."""
    return {name: node for name, node in theirs.items() if node["used"] > node["gpus"]}
