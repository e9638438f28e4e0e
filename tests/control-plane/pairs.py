"""A kube-scheduler with leader election and our instance beside it, as in manifests/overlays/control-plane: one pair per machine.

All pairs of a test share kube-scheduler's one default Lease. Checks nothing.
"""

import os
import signal

import yaml
from cluster import configuration
from identity import NAMESPACE as ACCOUNTS, attributes_of, wait_until_may
from plane import HOST, free_port
from service import Service

OVERLAY = os.path.join(os.path.dirname(__file__), "..", "..", "manifests", "overlays", "control-plane")
LEASES = "/apis/coordination.k8s.io/v1/namespaces/kube-system/leases"
LEASE = "kube-scheduler"
# kube-scheduler's. The gap between the first two suffices for a binding and a second; each is so long that no kube-scheduler loses the
# Lease on a busy machine.
LEASE_S, RENEW_S, RETRY_S, BIND_S = 20, 16, 1, 2
ROLES = "/apis/rbac.authorization.k8s.io/v1/namespaces/kube-system"


def policy(**scheduler):
    with open(os.path.join(OVERLAY, "scheduler-policy.yaml"), encoding="utf-8") as file:
        shipped = yaml.safe_load(file)
    shipped["scheduler"].update({"leaseDurationSeconds": LEASE_S, "renewDeadlineSeconds": RENEW_S}, **scheduler)
    shipped["kubernetes"]["bindTimeoutSeconds"] = BIND_S
    return shipped


def allow(live):
    """Allows the account of a LiveCluster to read the Lease."""
    with open(os.path.join(OVERLAY, "rbac.yaml"), encoding="utf-8") as file:
        _, role, binding = yaml.safe_load_all(file)
    account = {"kind": "ServiceAccount", "name": live.identity.account, "namespace": ACCOUNTS}
    binding["subjects"] = [account]
    for kind, item in (("roles", role), ("rolebindings", binding)):
        path = f"{ROLES}/{kind}/{item['metadata']['name']}?fieldManager=tests&force=true"
        live.api.ask("PATCH", path, item, "application/apply-patch+yaml")
    wait_until_may(live.api, account, attributes_of(role["rules"][0], "kube-system"))


class Pair:
    """Starts a pair and waits until it is ready. It ends with the LiveCluster."""

    def __init__(self, live, number, config):
        self.live, self.config = live, config
        self.port = free_port()
        self.start_service()
        election = {"leaderElect": True, "leaseDuration": f"{LEASE_S}s", "renewDeadline": f"{RENEW_S}s", "retryPeriod": f"{RETRY_S}s"}
        asks = {**configuration(self.service.address, httpTimeout=f"{BIND_S + 1}s"), "leaderElection": election}
        self.scheduler = live.plane.start_scheduler(f"kube-scheduler-{live.name}-{number}", asks)
        live.ends.callback(self.scheduler.kill)

    def start_service(self):
        """Always at the same address."""
        self.service = Service("--kubeconfig", self.live.kubeconfig, "--config", self.config, listen=f"{HOST}:{self.port}")
        self.live.ends.callback(self.service.stop)

    def kill(self):
        self.scheduler.process.kill()
        self.service.kill()
        self.scheduler.process.wait()

    def freeze(self):
        self.scheduler.process.send_signal(signal.SIGSTOP)
        self.service.signal(signal.SIGSTOP)

    def thaw(self):
        """Our service continues first, to give it most time for mistakes."""
        self.service.signal(signal.SIGCONT)
        self.scheduler.process.send_signal(signal.SIGCONT)

    def pauses(self, ledger):
        """Number of pauses that ended, by what the ledger needed then."""
        self.live.service = self.service
        return self.live.metric("gpu_extender_beside_pauses_total", ledger=ledger)


class Pairs:
    """Starts pairs on the cluster of a LiveCluster."""

    def __init__(self, live):
        self.live, self.number = live, 0
        self.config = live.plane.write(f"policy-{live.name}.yaml", yaml.safe_dump(policy()))
        allow(live)
        if live.api.status_of("GET", f"{LEASES}/{LEASE}") == 200:
            live.api.delete(f"{LEASES}/{LEASE}")

    def start(self):
        self.number += 1
        return Pair(self.live, self.number, self.config)

    def holder(self):
        """The Lease's holder, once there is one; and the number of transitions."""
        held = self.live.api.wait_for(LEASES, f"metadata.name={LEASE}", lambda item: item["spec"].get("holderIdentity"))
        return held["spec"]["holderIdentity"], held["spec"].get("leaseTransitions", 0)

    def wait_for_another(self, holder):
        self.live.api.wait_for(LEASES, f"metadata.name={LEASE}", lambda item: item["spec"].get("holderIdentity") not in (None, "", holder))
