"""Rights in the manifests for our account, and rights used according to the API server's audit log.

Each is (verb, resource), the resource with its group, and with a name if the right is for one name only.
"""

import json

from identity import manifests

LEASES, SLICES = "leases.coordination.k8s.io", "endpointslices.discovery.k8s.io"
WAKES = "csistoragecapacities.storage.k8s.io"
ROLE = next(item for item in manifests() if item["kind"] == "ClusterRole")
READ = [".".join(filter(None, (kind, rule["apiGroups"][0]))) for rule in ROLE["rules"] if "watch" in rule["verbs"] for kind in rule["resources"]]
ASKED = ("tokenreviews.authentication.k8s.io", "subjectaccessreviews.authorization.k8s.io")

EVERYWHERE = {(verb, kind) for kind in READ for verb in ("list", "watch")}
EVERYWHERE |= {("get", "pods"), ("create", "pods/binding")}
EVERYWHERE |= {("create", kind) for kind in ASKED}
# Additional rights in our own namespace.
AT_HOME = {("create", LEASES), ("create", SLICES)}
AT_HOME |= {(verb, f"{LEASES}/gpu-extender") for verb in ("get", "list", "watch", "update")}
AT_HOME |= {(verb, f"{SLICES}/gpu-extender-verbs") for verb in ("get", "list", "watch", "update", "delete")}
AT_HOME |= {("patch", f"{WAKES}/gpu-extender-wake")}

AUDIT = {
    "apiVersion": "audit.k8s.io/v1",
    "kind": "Policy",
    "omitStages": ["RequestReceived"],
    "rules": [{"level": "Metadata", "users": ["system:serviceaccount:gpu-extender:gpu-extender"]}],
}


def right_of(event):
    """The right that an event of the audit log used."""
    asked = event["objectRef"]
    resource = "/".join(filter(None, (asked["resource"], asked.get("subresource"))))
    kind = ".".join(filter(None, (resource, asked.get("apiGroup"))))
    if kind in (LEASES, SLICES, WAKES):
        assert asked["namespace"] == "gpu-extender"
        kind += f"/{asked['name']}" if event["verb"] != "create" else ""
    return event["verb"], kind


def used(log):
    """({right}, [forbidden requests]) from an audit log."""
    with open(log, encoding="utf-8") as file:
        # The last line may be incomplete.
        events = [json.loads(line) for line in file.read().split("\n")[:-1]]
    events = [event for event in events if "objectRef" in event]
    forbidden = [event["requestURI"] for event in events if event.get("responseStatus", {}).get("code") == 403]
    return {right_of(event) for event in events}, forbidden
