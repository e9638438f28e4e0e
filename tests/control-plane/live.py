"""The live cluster of one test: our service follows the API server as the restricted identity of manifests/rbac/rbac.yaml, and binds.

The test chooses the order of nodes and pods, start() of our service, and start_scheduler() with the shipped configuration.
"""

import ledger
from api import wait_until
from cluster import NODES, PODS, Cluster, configuration, node, pod, scheduled
from identity import Identity
from plane import HOST, free_port
from proxy import Proxy
from service import Service

BOUND_BY = "gpu-extender.io/bound-by"
RUN_BY_KWOK = {"kwok.x-k8s.io/node": "fake"}


def wait_until_it_binds(service):
    """After a start without a Lease it holds bindings, and mostly lists the pods again."""
    service.log.wait_for({"msg": "bindings are sent from now on"})


def node_name(item):
    return item["spec"].get("nodeName")


def bound(items):
    return [item for item in items.values() if node_name(item)]


class LiveCluster(Cluster):
    """Like Cluster. proxied: our service reaches the API server through `proxy`. The API server may be killed and restarted."""

    def __init__(self, plane, name, proxied=False):
        super().__init__(plane, name)
        self.proxied = proxied
        self.proxy = self.identity = self.scheduler = self.kubeconfig = None
        self.port = free_port()

    def __enter__(self):
        super().__enter__()
        if self.proxied:
            self.proxy = self.ends.enter_context(Proxy(self.plane.port))
        self.identity = Identity(self.plane, self.name)
        self.kubeconfig = self.identity.kubeconfig(self.proxy.port if self.proxy else None)
        return self

    # ---- objects ----

    def add_nodes(self, prefix, count, model, gpus, kwok=True):
        """Creates nodes PREFIX-0 and so on. kwok: whether KWOK keeps them ready and runs their pods."""
        nodes = [node(f"{prefix}-{number}", model, gpus) for number in range(count)]
        for each in nodes:
            each["metadata"]["annotations"] = RUN_BY_KWOK if kwok else {}
        self.api.create_all(NODES, nodes)

    def create_all(self, prefix, count, gpus, **more):
        return self.api.create_all(PODS, [pod(f"{prefix}-{number}", gpus, **more) for number in range(count)])

    def create_known(self, name, gpus, **more):
        """Creates a pod that kube-scheduler takes only once our service knows it: its binding then begins with the POST, not a GET."""
        self.create(name, gpus, schedulingGates=[{"name": "example.com/unknown"}], **more)
        self.wait_until_told()
        self.api.merge(f"{PODS}/{name}", {"spec": {"schedulingGates": None}})

    def wake(self, node_name):
        """Wakes all rejected pods as docs/OPERATIONS.md says. If our watch was late at the event that helped them, kube-scheduler had them
        rejected again, and they wait for another."""
        self.api.merge(f"{NODES}/{node_name}", {"metadata": {"annotations": {"gpu-extender.io/wake": "1"}}})

    # ---- programs ----

    def start(self, *options, **changes):
        """Starts our service and a kube-scheduler. changes: of the extender's configuration."""
        self.start_service(*options)
        self.start_scheduler(**changes)

    def start_service(self, *options):
        """Always at the same address, so that it can be restarted."""
        self.service = Service("--kubeconfig", self.kubeconfig, *options, listen=f"{HOST}:{self.port}")
        self.ends.callback(self.service.stop)

    def start_scheduler(self, address=None, **changes):
        """address: of the extender, if not our service."""
        shipped = configuration(address or f"{HOST}:{self.port}", **changes)
        self.scheduler = self.plane.start_scheduler(f"kube-scheduler-{self.name}", shipped)
        self.ends.callback(self.scheduler.kill)

    def end_scheduler(self):
        self.scheduler.kill()

    # ---- waiting and comparing ----

    def wait_until_scheduler_saw(self, node_name):
        """Waits until kube-scheduler has seen all changes of the node: creates a pod that needs a new label of it. Once per test."""
        self.api.merge(f"{NODES}/{node_name}", {"metadata": {"labels": {"seen": "yes"}}})
        self.create("looks", 0, nodeSelector={"seen": "yes"}, tolerations=[{"operator": "Exists"}])
        self.node_of("looks")
        self.api.delete(f"{PODS}/looks")

    def wait_until_bound(self, count, prefix=""):
        """All pods, once `count` of those named PREFIX... are bound."""

        def matching(items):
            return {key: item for key, item in items.items() if item["metadata"]["name"].startswith(prefix)}

        return self.api.wait_for_all(
            PODS, lambda items: len(bound(matching(items))) >= count, lambda items: self.shown(matching(items))
        )

    def shown(self, items):
        """For messages."""
        waiting = [item for item in items.values() if not node_name(item)]
        said = "".join(f"\n{item['metadata']['name']}: {scheduled(item).get('message')}" for item in waiting[:5])
        return f"{len(items) - len(waiting)} of {len(items)} are bound{said}\n{self.service.log.text()[-3000:]}"

    def wait_until_told(self):
        """Returns the nodes once our ledger and the API server's lists agree on nodes and waiting pods."""
        nodes, pods = [], []

        def equal():
            nodes[:] = ledger.told(self.service), ledger.truth(self.api)
            pods[:] = ledger.told_waiting(self.service), ledger.waiting(self.api)
            return nodes[0] == nodes[1] and pods[0] == pods[1]

        wait_until(equal, lambda: "\n".join(ledger.differences(*nodes) + ledger.differences(*pods)))
        assert self.metric("gpu_extender_self_check_differences_total") == 0, self.service.log.text()
        return nodes[1]

    def used(self):
        """{node: GPUs used} from the API server, once our ledger agrees; no node uses more than it has."""
        theirs = self.wait_until_told()
        assert not ledger.overfull(theirs), ledger.overfull(theirs)
        return {name: shown["used"] for name, shown in theirs.items()}

    def metric(self, name, **labels):
        """The sum of all samples of that name with these labels: 0 before the first event that has them."""
        samples = [line.rpartition(" ") for line in self.service.get("/metrics").text.splitlines()]
        values = [
            float(value)
            for sample, _, value in samples
            if sample.partition("{")[0] == name and all(f'{key}="{wanted}"' in sample for key, wanted in labels.items())
        ]
        assert values or labels, f"no metric {name}"
        return sum(values)

    def bound_by_others(self, pods):
        """Bound pods that our service did not bind."""
        return [key for key, item in pods.items() if node_name(item) and BOUND_BY not in item["metadata"].get("annotations", {})]
