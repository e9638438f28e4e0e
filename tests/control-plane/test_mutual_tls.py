"""The real kube-scheduler calls us with mutual TLS, on a non-loopback address.

tests/wire/test_tls.py covers rejected clients and changed files.
"""

import json
import re

import pytest
from certificates import Authority, mount
from cluster import ABOVE
from live import BOUND_BY
from plane import free_port
from secured import HEAD, ask_with, paths
from service import Service

A100 = "NVIDIA-A100-SXM4-80GB"
VERB = re.compile(r'^gpu_extender_http_requests_total\{route="(filter|prioritize|preempt|bind)",code="200"\} [1-9]', re.MULTILINE)


class Secured:
    """Our service with TLS, and the matching configuration of kube-scheduler."""

    def __init__(self, live, folder):
        self.live, self.authority = live, Authority(folder / "ca")
        self.files = mount(folder / "mounted", self.authority, *self.authority.server())
        self.port = free_port()
        listen = {"verbs": f"0.0.0.0:{self.port}", "people": "127.0.0.1:0", "probes": "127.0.0.2:0"}
        tls = {**paths(self.files), "verbClients": {"names": ["kube-scheduler"]}, "peopleClients": {"names": ["op"]}}
        policy = folder / "policy.yaml"
        policy.write_text(json.dumps({**HEAD, "listen": listen, "tls": tls}), encoding="utf-8")
        live.service = Service("--kubeconfig", live.kubeconfig, "--config", policy, listen=None)
        live.ends.callback(live.service.stop)

    def start_scheduler(self, name):
        self.certificate, self.key = self.authority.client(name)
        shown = {"certFile": str(self.certificate), "keyFile": str(self.key), "caFile": str(self.authority.certificate)}
        self.live.start_scheduler(f"127.0.0.1:{self.port}", scheme="https", enableHTTPS=True, tlsConfig=shown)

    def verbs_called(self):
        answer = ask_with(self.authority, self.authority.client("op"), self.live.service.addresses["people"], "GET", "/metrics")
        return set(VERB.findall(answer.text))


@pytest.fixture
def secured(live, tmp_path):
    return Secured(live, tmp_path)


def test_pods_are_bound_over_mutual_tls(live, secured):
    live.add_nodes("a", 2, A100, 2)
    secured.start_scheduler("kube-scheduler")
    live.create_all("low", 4, 1)
    pods = live.wait_until_bound(4)
    assert all(BOUND_BY in each["metadata"]["annotations"] for each in pods.values())

    seen = len(live.service.log.lines)
    mount(secured.files, secured.authority, *secured.authority.server("renewed"))
    assert live.service.log.wait_for({"mod": "tls"}, after=seen)["level"] == "info"
    live.create("high", 2, priority_class=ABOVE)  # evicts
    assert live.node_of("high") in ("a-0", "a-1")
    assert secured.verbs_called() == {"filter", "prioritize", "preempt", "bind"}


def test_unnamed_kube_scheduler_is_rejected(live, secured):
    """Until it gets another certificate, which it reloads by itself."""
    live.add_nodes("a", 2, A100, 2)
    secured.start_scheduler("somebody")
    live.create("waits", 1)
    assert "code 403" in live.event_of("waits", "FailedScheduling")
    line = live.service.log.wait_for({"mod": "gates"})
    assert (line["common_name"], line["path"]) == ("somebody", "/scheduler/filter")
    certificate, key = secured.authority.client("kube-scheduler")
    key.rename(secured.key)
    certificate.rename(secured.certificate)
    assert live.node_of("waits") in ("a-0", "a-1")
