"""A control plane that forwards v1alpha1.visibility.gpu-extender.io to replicas of our service: the shipped manifests are applied, and
the replicas run with their account and certificates. Checks nothing."""

import base64
import contextlib
import http.client
import json
import pathlib
import ssl

import identity
from api import wait_until
from certificates import Authority
from kustomize import Kubectl
from plane import HOST, Plane, free_port, is_since
from proxy import Proxy
from replicas import ADDRESS, LEADS, LEASE, LEASES
from service import Answer, Service

NAMESPACE = "gpu-extender"
GROUP = "visibility.gpu-extender.io"
BASE = f"/apis/{GROUP}/v1alpha1"
API_SERVICE = f"v1alpha1.{GROUP}"
API_SERVICES = "/apis/apiregistration.k8s.io/v1/apiservices"
SERVICE = f"/api/v1/namespaces/{NAMESPACE}/services/gpu-extender"
CONTROLLER = "kube-controller-manager"
USERS = ("viewer", "stranger", "tenant")
QUOTAS = [{"name": "team", "namespaces": ["default", "theirs"], "limits": [{"total": 60}]}]


class FrontedPlane(Plane):
    """A plane with a front proxy, controllers for deleted namespaces and aggregated roles, and users without rights."""

    def apiserver_options(self):
        front = Authority(pathlib.Path(self.path("front")))
        certificate, key = front.client("front-proxy-client")
        return (
            *super().apiserver_options(),
            f"--requestheader-client-ca-file={front.certificate}",
            "--requestheader-allowed-names=front-proxy-client",
            "--requestheader-username-headers=X-Remote-User",
            *(["--requestheader-uid-headers=X-Remote-Uid"] if is_since("1.32") else []),
            "--requestheader-group-headers=X-Remote-Group",
            "--requestheader-extra-headers-prefix=X-Remote-Extra-",
            f"--proxy-client-cert-file={certificate}",
            f"--proxy-client-key-file={key}",
        )

    def _make_keys(self):
        super()._make_keys()
        with open(self.path("tokens.csv"), "a", encoding="utf-8") as file:
            file.writelines(f"{user}-token,{user},{user}\n" for user in USERS)

    def start_controller(self):
        """Deletes what is in deleted namespaces, and fills in aggregated ClusterRoles."""
        controllers = "--controllers=namespace-controller,clusterrole-aggregation-controller"
        options = (f"--kubeconfig={self.kubeconfig()}", controllers, "--leader-elect=false", f"--bind-address={HOST}")
        controller = self.start(CONTROLLER, *options, f"--secure-port={free_port()}", f"--cert-dir={self.path(CONTROLLER)}")
        self.programs.callback(controller.kill)

    def user(self, name):
        """Options of kubectl for that user."""
        return "--kubeconfig", self.write_kubeconfig(f"kubeconfig-{name}", {"token": f"{name}-token"}, self.port)


class Fronted(Service):
    """A replica with the certificates of the overlay self-signed."""

    def __init__(self, plane, kubectl, name):
        self.certificates = kubectl.path("overlays/self-signed/certificates/")
        at = self.certificates
        policy = {
            "apiVersion": "gpu-extender.io/v1alpha1",
            "kind": "SchedulerPolicy",
            "listen": {"verbs": f"{HOST}:0", "people": f"{HOST}:0", "probes": "127.0.0.2:0"},
            "tls": {"certificateFile": f"{at}server.crt", "privateKeyFile": f"{at}server.key", "clientCAFile": f"{at}ca.crt"},
            "aggregatedAPI": {"enabled": True},
            "leaderElection": {"enabled": True},
            "quotas": QUOTAS,
        }
        policy["tls"]["verbClients"] = {"names": ["gpu-extender-client"]}
        token = identity.Token(plane.api, "gpu-extender", NAMESPACE).text
        kubeconfig = plane.write_kubeconfig(f"kubeconfig-{name}", {"token": token}, plane.port)
        env = {"POD_NAME": name, "POD_NAMESPACE": NAMESPACE, "POD_IP": ADDRESS}
        super().__init__("--kubeconfig", kubeconfig, "--config", plane.write("policy.json", json.dumps(policy)), listen=None, env=env)
        self.address = self.addresses["probes"]
        self.port = int(self.addresses["people"].rpartition(":")[2])

    def reach(self, path, headers, client=None, body=None, listener="people"):
        """A request to the replica itself, without the API server. client: (certificate, key); body: of a POST."""
        context = ssl._create_unverified_context()
        if client:
            context.load_cert_chain(*map(str, client))
        connection = http.client.HTTPSConnection(*self.addresses[listener].split(":"), context=context)
        with contextlib.closing(connection):
            connection.request("GET" if body is None else "POST", path, body=body and json.dumps(body), headers=headers)
            return Answer(connection.getresponse())

    def decide(self, pod):
        """Calls filter for a pod of the API server, as kube-scheduler does."""
        client = (f"{self.certificates}client.crt", f"{self.certificates}client.key")
        asked = {"Pod": pod, "NodeNames": ["node"]}
        return self.reach("/scheduler/filter", {"Content-Type": "application/json"}, client, asked, "verbs")


class AnyReplica(Proxy):
    """Each connection goes to one of the replicas, in turn, like those of a Service without affinity."""

    def __init__(self):
        super().__init__(None)
        self.ports, self.turn, self.nobody = [], 0, free_port()

    async def _serve(self, client_reader, client_writer):
        self.turn += 1
        self.target = self.ports[self.turn % len(self.ports)] if self.ports else self.nobody
        await super()._serve(client_reader, client_writer)

    def lead_to(self, *ports):
        """New connections only: open ones are reset."""
        self.cut()
        self.ports = list(ports)
        self.mend()


class Aggregated:
    """A context manager: everything is applied, and the API server forwards."""

    def __init__(self, programs, folder):
        self.plane = FrontedPlane(programs, folder)
        self.programs, self.service, self.n_replicas = programs, None, 0
        self.any_replica = AnyReplica()
        self.ends = contextlib.ExitStack()

    def __enter__(self):
        with contextlib.ExitStack() as started:
            started.enter_context(self.plane)
            self.kubectl = Kubectl(self.programs, self.plane.folder, self.plane.kubeconfig())
            self.plane.start_controller()
            started.enter_context(self.any_replica)
            self._apply()
            self.start()
            started.callback(lambda: self.service.stop())
            self.wait_until_available()
            self.ends = started.pop_all()
        return self

    def __exit__(self, *failure):
        return self.ends.__exit__(*failure)

    def ask(self, *command):
        """kubectl's output; it must succeed."""
        status, said = self.kubectl.run(*command)
        assert status == 0, said
        return said

    def _apply(self):
        """Applies the overlay. There is no pod network, so the Service becomes an alias of localhost."""
        for overlay in ("self-signed", "aggregated-api"):
            status, said = self.kubectl.apply(overlay)
            assert status == 0, said
        alias = {"spec": {"type": "ExternalName", "externalName": "localhost", "clusterIP": None, "clusterIPs": None, "selector": None}}
        self.plane.api.merge(SERVICE, alias)
        # Without a Lease a replica waits as long as one lasts, because another could still lead.
        self.plane.api.create(LEASES, {"metadata": {"name": LEASE}, "spec": {"holderIdentity": "", "leaseDurationSeconds": 1}})
        self.register()

    def register(self):
        """Sets what only this machine knows in the APIService: the port, and the CA by the documented command."""
        self.plane.api.merge(f"{API_SERVICES}/{API_SERVICE}", {"spec": {"service": {"port": self.any_replica.port}}})
        authority = pathlib.Path(self.kubectl.path("overlays/self-signed/certificates/ca.crt")).read_bytes()
        bundle = base64.b64encode(authority).decode()
        self.plane.api.merge(f"{API_SERVICES}/{API_SERVICE}", {"spec": {"caBundle": bundle}})

    def replica(self):
        """Starts another replica that trusts the front proxy. The caller stops it."""
        self.n_replicas += 1
        made = Fronted(self.plane, self.kubectl, f"replica-{self.n_replicas}")
        made.log.wait_for({"mod": "front", "level": "info"})
        return made

    def start(self):
        """The one that the API server reaches, and that leads."""
        self.service = self.replica()
        self.service.log.wait_for({"msg": LEADS})
        self.any_replica.lead_to(self.service.port)

    def wait_until_available(self):
        def available():
            found = self.plane.api.get(f"{API_SERVICES}/{API_SERVICE}")
            return any(each["type"] == "Available" and each["status"] == "True" for each in found.get("status", {}).get("conditions", []))

        wait_until(available, lambda: self.plane.api.get(f"{API_SERVICES}/{API_SERVICE}"))
