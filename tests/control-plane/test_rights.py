"""Each right in the manifests is used, and none is missing: the API server's audit log of a replica that leads, binds, serves users, finds its
EndpointSlice changed, and gets another policy while a pod waits."""

import http.client
import json
import signal
import ssl

import pytest
import yaml
from api import LIMIT_S, wait_until
from cluster import NODES, PODS, node, pod, prepare
from identity import Token, wait_until_given
from kustomize import Kubectl, one
from plane import Plane
from rights import AT_HOME, AUDIT, EVERYWHERE, used
from service import Service

HOME = "gpu-extender"
SLICES = f"/apis/discovery.k8s.io/v1/namespaces/{HOME}/endpointslices"
SLICE = {"apiVersion": "discovery.k8s.io/v1", "kind": "EndpointSlice", "metadata": {"name": "gpu-extender-verbs"}}
ENV = {"POD_NAME": "replica", "POD_NAMESPACE": HOME, "POD_IP": "192.0.2.7"}


class Audited(Plane):
    """A control plane that logs our account's requests. It serves device taint rules and pod groups, or they would never be watched."""

    @property
    def log(self):
        return self.path("audit.log")

    def apiserver_options(self):
        policy = self.write("audit.json", json.dumps(AUDIT))
        audit = (f"--audit-policy-file={policy}", f"--audit-log-path={self.log}", "--audit-log-mode=blocking")
        return (*super().apiserver_options(), *audit, "--runtime-config=resource.k8s.io/v1beta2=true,scheduling.k8s.io/v1alpha2=true", "--feature-gates=GenericWorkload=true")


class Replica:
    """Our service with the policy, certificates and accounts of the self-signed overlay; only its address is the test's."""

    def __init__(self, plane, kubectl):
        self.certificates = kubectl.path("overlays/self-signed/certificates/")
        (text,) = one(kubectl.rendered("self-signed"), "ConfigMap", "gpu-extender-policy")["data"].values()
        policy = yaml.safe_load(text)
        policy["listen"] = {"verbs": "127.0.0.1:0", "people": "127.0.0.3:0", "probes": "127.0.0.2:0"}
        files = {"certificateFile": "server.crt", "privateKeyFile": "server.key", "clientCAFile": "ca.crt"}
        policy["tls"].update({key: self.certificates + name for key, name in files.items()})
        kubeconfig = plane.write_kubeconfig("replica.kubeconfig", {"token": Token(plane.api, HOME, HOME).text}, plane.port)
        self.policy, self.path = policy, plane.write("replica.yaml", yaml.safe_dump(policy))
        self.service = Service("--kubeconfig", kubeconfig, "--config", self.path, listen=None, env=ENV)

    def ask(self, listener, method, path, body=None, token=None):
        """Returns status and body. With the client's certificate if there is no token."""
        context = ssl.create_default_context(cafile=f"{self.certificates}ca.crt")
        context.check_hostname = False
        if not token:
            context.load_cert_chain(f"{self.certificates}client.crt", f"{self.certificates}client.key")
        host, _, port = self.service.addresses[listener].rpartition(":")
        connection = http.client.HTTPSConnection(host, int(port), context=context, timeout=LIMIT_S)
        headers = {"Content-Type": "application/json", **({"Authorization": f"Bearer {token}"} if token else {})}
        connection.request(method, path, body and json.dumps(body), headers)
        answer = connection.getresponse()
        return answer.status, answer.read()

    def change_policy(self):
        with open(self.path, "w", encoding="utf-8") as file:
            yaml.safe_dump({**self.policy, "placement": {"policy": "spread"}}, file)
        self.service.signal(signal.SIGHUP)

    def bind(self, uid):
        body = {"PodName": "pod", "PodNamespace": "gpu", "PodUID": uid, "Node": "node"}
        status, said = self.ask("verbs", "POST", "/scheduler/bind", body)
        assert status == 200, said
        return json.loads(said)["Error"]


@pytest.fixture
def audited(programs, tmp_path):
    with Audited(programs, tmp_path) as running:
        prepare(running.api)
        yield running


@pytest.fixture
def replica(audited, programs, tmp_path):
    kubectl = Kubectl(programs, tmp_path, audited.kubeconfig())
    status, said = kubectl.apply("self-signed")
    assert status == 0, said
    for item in kubectl.rendered("self-signed"):
        if item["kind"].endswith("RoleBinding"):
            wait_until_given(audited.api, item)
    # Its addressType cannot be changed, so it is recreated.
    audited.api.create(SLICES, {**SLICE, "addressType": "FQDN", "endpoints": []})
    running = Replica(audited, kubectl)
    yield running
    running.service.stop()


@pytest.mark.since("1.36", "all kinds that are watched, device taint rules among them")
def test_granted_rights_equal_the_used_ones(audited, replica):
    api = audited.api
    api.wait_for(SLICES, "metadata.name=gpu-extender-verbs", lambda item: item["addressType"] == "IPv4")
    changed = {"ports": [{"name": "verbs", "protocol": "TCP", "port": 1}]}
    api.merge(f"{SLICES}/gpu-extender-verbs", changed)
    api.wait_for(SLICES, "metadata.name=gpu-extender-verbs", lambda item: item["ports"][0]["port"] != 1)

    api.create(NODES, node("node", "NVIDIA-H100-80GB-HBM3", 8))
    uid = api.create(PODS, pod("pod", 1))["metadata"]["uid"]
    wait_until(lambda: replica.ask("verbs", "POST", "/scheduler/bind", {})[0] != 503, replica.service.log.text)
    assert replica.bind("not-its-uid")
    wait_until(lambda: not replica.bind(uid), replica.service.log.text)
    waits = pod("waits", 1, models="T4")
    waits["metadata"].update({"namespace": "gpu", "uid": "waits"})
    status, said = replica.ask("verbs", "POST", "/scheduler/filter", {"Pod": waits, "NodeNames": ["node"]})
    assert (status, json.loads(said)["NodeNames"]) == (200, [])
    replica.change_policy()
    assert replica.ask("people", "GET", "/v1/inventory", token=Token(api, HOME, HOME).text)[0] == 403

    wanted = EVERYWHERE | AT_HOME
    wait_until(lambda: used(audited.log)[0] >= wanted, lambda: f"not used: {sorted(wanted - used(audited.log)[0])}")
    rights, forbidden = used(audited.log)
    assert (rights - wanted, forbidden) == (set(), [])
