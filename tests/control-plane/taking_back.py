"""Tries of taking lent GPUs back, on a live cluster: each time all GPUs are in use, and a pod finds none of those that its quota guarantees."""

import time

from cluster import ABOVE, PODS, pod
from live import wait_until_it_binds

H100 = "NVIDIA-H100-80GB-HBM3"
OTHERS = "/api/v1/namespaces/default/pods"  # no quota covers it
GPUS = 4
POLICY = """
apiVersion: gpu-extender.io/v1alpha1
kind: SchedulerPolicy
quotas:
- name: team-a
  namespaces: [gpu]
  limits:
  - resource: nvidia.com/gpu
    models: {H100: {limit: 8, borrow: {limit: 8, maxPriority: 0}}}
"""


class TakingBack:
    """Two nodes full of borrowers with one GPU each. On a third, one pod outside of all quotas has all GPUs: for kube-scheduler alone it
    would be the cheapest victim."""

    def __init__(self, live):
        self.live = live
        self.n = 0
        live.add_nodes("h100", 3, H100, GPUS)
        live.ends.callback(live.api.delete_all, OTHERS)
        live.api.create(OTHERS, pod("other", GPUS, node_name="h100-2"))
        self.fill()
        live.start_service("--config", live.plane.write(f"policy-{live.name}.yaml", POLICY))
        wait_until_it_binds(live.service)
        live.start_scheduler()

    def there(self):
        items = self.live.api.get(PODS)["items"]
        return {item["metadata"]["name"]: item["spec"].get("nodeName") for item in items if "deletionTimestamp" not in item["metadata"]}

    def fill(self):
        """With borrowers, where some were evicted."""
        on = list(self.there().values())
        for node in ("h100-0", "h100-1"):
            for _ in range(GPUS - on.count(node)):
                self.n += 1
                self.live.add_running(f"borrower-{self.n}", node, 1)

    def run(self):
        """One try. Returns the seconds until the pod was nominated, and until it was bound; and the evicted pods."""
        live, name = self.live, f"guaranteed-{self.n}"
        live.wait_until_told()
        before = set(self.there())
        began = time.monotonic()
        live.create(name, GPUS, models="H100", priority_class=ABOVE)
        live.api.wait_for(PODS, f"metadata.name={name}", lambda seen: seen["status"].get("nominatedNodeName") or seen["spec"].get("nodeName"))
        nominated_s = time.monotonic() - began
        node = live.node_of(name)
        bound_s = time.monotonic() - began
        gone = before - set(self.there())
        assert node in ("h100-0", "h100-1") and len(live.api.get(OTHERS)["items"]) == 1, f"{node}: only borrowers may be evicted"
        live.api.delete(f"{PODS}/{name}")
        self.fill()
        return nominated_s, bound_s, gone
