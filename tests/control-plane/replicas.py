"""Several replicas of our service, and a cluster Service that leads to the one in its EndpointSlice.

The slice's address is not of this machine (the API server accepts no loopback address): the port identifies a replica.
"""

import collections
import contextlib
import os
import threading

import yaml
from identity import NAMESPACE as ACCOUNTS, attributes_of, wait_until_may
from plane import HOST, free_port
from proxy import Proxy
from service import Service

RBAC = os.path.join(os.path.dirname(__file__), "..", "..", "manifests", "base", "replica-rbac.yaml")
NAMESPACE, LEASE, SERVICE = "gpu-extender", "gpu-extender", "gpu-extender-verbs"
LEASES = f"/apis/coordination.k8s.io/v1/namespaces/{NAMESPACE}/leases"
SLICES = f"/apis/discovery.k8s.io/v1/namespaces/{NAMESPACE}/endpointslices"
ROLES = f"/apis/rbac.authorization.k8s.io/v1/namespaces/{NAMESPACE}"
ADDRESS = "192.0.2.7"
LEADS = "leading: answering kube-scheduler"
FIELDS = "?fieldManager=tests&force=true"
POLICY = os.path.join(os.path.dirname(__file__), "..", "..", "config", "scheduler-policy.yaml")


def shipped(section, key):
    """A default from config/scheduler-policy.yaml."""
    with open(POLICY, encoding="utf-8") as file:
        return yaml.safe_load(file)[section][key]


LEASE_S = shipped("leaderElection", "leaseDurationSeconds")
BIND_S = shipped("kubernetes", "bindTimeoutSeconds")

Times = collections.namedtuple("Times", "lease_s renew_s retry_s bind_s")
# Longer than the defaults: on a busy machine no leader renews too late.
# Outlasts every wait (api.LIMIT_S): another replica can lead only after the leader gave the Lease up.
GIVEN_UP = Times(lease_s=600, renew_s=10, retry_s=1, bind_s=BIND_S)
# Short enough to wait until the Lease has expired.
EXPIRES = Times(lease_s=20, renew_s=10, retry_s=1, bind_s=BIND_S)


def allow(api, accounts):
    """Grants the Role of manifests/base/replica-rbac.yaml to accounts of the tests."""
    with open(RBAC, encoding="utf-8") as file:
        role, binding = list(yaml.safe_load_all(file))[:2]
    binding["subjects"] = [{"kind": "ServiceAccount", "name": account, "namespace": ACCOUNTS} for account in accounts]
    space = {"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": NAMESPACE}}
    apply = "application/apply-patch+yaml"
    api.ask("PATCH", f"/api/v1/namespaces/{NAMESPACE}{FIELDS}", space, apply)
    api.ask("PATCH", f"{ROLES}/roles/{role['metadata']['name']}{FIELDS}", role, apply)
    api.ask("PATCH", f"{ROLES}/rolebindings/{binding['metadata']['name']}{FIELDS}", binding, apply)


def take_right(live, resource, verb):
    """Removes a right from the Role until it is granted again, for all its accounts, that of a LiveCluster included."""
    with open(RBAC, encoding="utf-8") as file:
        role = next(yaml.safe_load_all(file))
    account = {"kind": "ServiceAccount", "name": live.identity.account, "namespace": ACCOUNTS}
    taken = [{**rule, "verbs": [verb]} for rule in role["rules"] if rule["resources"] == [resource] and verb in rule["verbs"]]
    for rule in role["rules"]:
        if rule["resources"] == [resource]:
            rule["verbs"] = [each for each in rule["verbs"] if each != verb]
    live.api.ask("PATCH", f"{ROLES}/roles/{role['metadata']['name']}{FIELDS}", role, "application/apply-patch+yaml")
    for rule in taken:
        wait_until_may(live.api, account, attributes_of(rule, NAMESPACE), False)


class VerbsService:
    """A context manager: `address` leads to the port in the EndpointSlice, like kube-proxy."""

    def __init__(self, api):
        self.api = api
        self.proxy = Proxy(free_port())
        self.is_over = threading.Event()
        self.follower = threading.Thread(target=self._follow, daemon=True)

    def __enter__(self):
        self.proxy.__enter__()
        self.follower.start()
        return self

    def __exit__(self, *_):
        self.is_over.set()
        self.follower.join()
        self.proxy.__exit__()

    @property
    def address(self):
        return f"{HOST}:{self.proxy.port}"

    def _follow(self):
        while not self.is_over.is_set():
            with contextlib.suppress(AssertionError, OSError):
                for kind, item in self.api.watch(SLICES, f"metadata.name={SERVICE}", 1):
                    if kind in ("ADDED", "MODIFIED"):
                        self.proxy.target = item["ports"][0]["port"]


class Replicas:
    """Starts replicas that follow the cluster of a LiveCluster. They end with it.

    accounts: for replicas with accounts of their own.
    """

    def __init__(self, live, times=GIVEN_UP, accounts=(), silence_s=120):
        self.live = live
        self.number = 0
        allow(live.api, [live.identity.account, *accounts])
        policy = {
            "apiVersion": "gpu-extender.io/v1alpha1",
            "kind": "SchedulerPolicy",
            "kubernetes": {"watchSilenceSeconds": silence_s, "bindTimeoutSeconds": times.bind_s},
            "scheduler": {"httpTimeoutSeconds": times.bind_s + 1},
            "leaderElection": {
                "enabled": True,
                "leaseDurationSeconds": times.lease_s,
                "renewDeadlineSeconds": times.renew_s,
                "retryPeriodSeconds": times.retry_s,
            },
        }
        self.policy = live.plane.write(f"policy-{live.name}.yaml", yaml.safe_dump(policy))
        for path in (f"{LEASES}/{LEASE}", f"{SLICES}/{SERVICE}"):
            if live.api.status_of("GET", path) == 200:
                live.api.delete(path)
        # Without a Lease a replica waits as long as one lasts, because another could still lead.
        live.api.create(LEASES, {"metadata": {"name": LEASE}, "spec": {"holderIdentity": "", "leaseDurationSeconds": 1}})
        self.service = live.ends.enter_context(VerbsService(live.api))

    def start(self, kubeconfig=None):
        """Starts a replica and waits until it is ready."""
        self.number += 1
        env = {"POD_NAME": f"replica-{self.number}", "POD_NAMESPACE": NAMESPACE, "POD_IP": ADDRESS}
        replica = Service("--kubeconfig", kubeconfig or self.live.kubeconfig, "--config", self.policy, env=env)
        self.live.ends.callback(replica.stop)
        return replica

    def lease(self):
        return self.live.api.get(f"{LEASES}/{LEASE}")["spec"]


def leads_since(replica, after=0):
    """When it began to answer kube-scheduler, from its log: RFC 3339."""
    return replica.log.wait_for({"msg": LEADS}, after=after)["ts"]
