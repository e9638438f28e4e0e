"""A whole cluster on this machine: a stock control plane, and one real node with containerd, kubelet and kube-proxy.

It must run in the namespaces of tests/in-cluster/apart: addresses, files in /run and /var/lib, and remains of containers are private,
and vanish with the namespaces. Images come from this machine; there is no network.
"""

import contextlib
import json
import os
import pathlib
import secrets
import shutil
import subprocess
import tempfile

import yaml
from certificates import Authority
from plane import HOST, Plane, Program, free_port

NODE = "real"
NODE_ADDRESS = "10.77.0.1"
POD_ADDRESSES = "10.78.0.0/24"
SERVICE_ADDRESSES = "10.79.0.0/24"
FIRST_SERVICE_ADDRESS = "10.79.0.1"
SOCKET = "/run/containerd/containerd.sock"
BUSYBOX = "localhost/busybox:test"
GROUP = "ml-engineers"  # of a user known to the API server by a token

CONTAINERD = f"""
version = 2
[plugins."io.containerd.grpc.v1.cri"]
  sandbox_image = "{BUSYBOX}"
  restrict_oom_score_adj = true
[plugins."io.containerd.grpc.v1.cri".containerd]
  snapshotter = "native"  # overlays cannot be made everywhere
[plugins."io.containerd.grpc.v1.cri".containerd.runtimes.runc]
  runtime_type = "io.containerd.runc.v2"
[plugins."io.containerd.grpc.v1.cri".cni]
  bin_dir = "/usr/lib/cni"
  conf_dir = "%s"
"""
NETWORK = {
    "cniVersion": "0.4.0",
    "name": "pods",
    "plugins": [
        {
            # Each pod has a point-to-point link: on a bridge, answers could bypass kube-proxy.
            "type": "ptp",
            "ipam": {"type": "host-local", "ranges": [[{"subnet": POD_ADDRESSES}]], "routes": [{"dst": "0.0.0.0/0"}]},
        }
    ],
}
NOTHING_IS_FULL = {f"{what}.{of}": "0%" for what, of in (("memory", "available"), ("nodefs", "available"), ("imagefs", "available"))}


def run(*command, env=None):
    done = subprocess.run(command, capture_output=True, text=True, check=False, env={**os.environ, **(env or {})})
    assert done.returncode == 0, f"{' '.join(command)}: exit status {done.returncode}\n{done.stdout}{done.stderr}"
    return done.stdout


class RealCluster(Plane):
    """A context manager. `folder` has the logs of every program, and below pods/ those of every container."""

    def __init__(self, binaries, folder):
        super().__init__(binaries, folder)
        self.authority = Authority(pathlib.Path(folder, "certificates"))
        self.certificate = str(self.authority.certificate)
        self.scheduler_kubeconfig = self.kubeconfig_of("kube-scheduler", "/CN=system:kube-scheduler")
        self.scheduler, self.n_schedulers = None, 0
        self.person = secrets.token_hex(16)

    def __enter__(self):
        self._make_network()
        super().__enter__()
        with contextlib.ExitStack() as started:
            started.push(super().__exit__)
            self._start_controller_manager()
            self._start_containerd()
            self._start_kubelet()
            self._start_proxy()
            self.configure_scheduler({})
            self.api.wait_for("/api/v1/nodes", f"metadata.name={NODE}", is_ready)
            started.pop_all()
        return self

    def _make_network(self):
        """Sets the node's address, and a default route to nowhere: Service addresses need a route."""
        run("ip", "link", "add", "node0", "type", "bridge")
        run("ip", "address", "add", f"{NODE_ADDRESS}/24", "dev", "node0")
        run("ip", "link", "set", "node0", "up")
        run("ip", "route", "add", "default", "dev", "node0")

    # ---- identities ----

    def apiserver_options(self):
        """With stock admission."""
        names = ("kubernetes", "kubernetes.default", "kubernetes.default.svc", "localhost")
        addresses = (HOST, NODE_ADDRESS, FIRST_SERVICE_ADDRESS)
        alternatives = [f"DNS:{name}" for name in names] + [f"IP:{address}" for address in addresses]
        certificate, key = self.authority.sign("apiserver", "/CN=kube-apiserver", f"subjectAltName={','.join(alternatives)}")
        to_kubelets = self.authority.client("apiserver-kubelet-client", "/O=system:masters/CN=kube-apiserver-kubelet-client")
        return (
            f"--tls-cert-file={certificate}",
            f"--tls-private-key-file={key}",
            f"--client-ca-file={self.certificate}",
            f"--kubelet-client-certificate={to_kubelets[0]}",
            f"--kubelet-client-key={to_kubelets[1]}",
            "--kubelet-preferred-address-types=InternalIP",
            # Unused, but schedulers complain without it.
            f"--requestheader-client-ca-file={self.certificate}",
            "--requestheader-allowed-names=nobody",
            f"--advertise-address={NODE_ADDRESS}",
            f"--service-cluster-ip-range={SERVICE_ADDRESSES}",
            "--authorization-mode=Node,RBAC",
            "--enable-admission-plugins=NodeRestriction",
        )

    def _make_keys(self):
        super()._make_keys()
        with open(self.path("tokens.csv"), "a", encoding="utf-8") as file:
            file.write(f'{self.person},anna,anna,"{GROUP}"\n')

    def kubeconfig_of(self, name, subject):
        """For a client certificate with that subject."""
        certificate, key = self.authority.client(name, subject)
        user = {"client-certificate": str(certificate), "client-key": str(key)}
        return self.write_kubeconfig(f"{name}.kubeconfig", user, self.port)

    # ---- programs ----

    def _keep(self, program):
        self.programs.callback(program.kill)
        return program

    def _start_controller_manager(self):
        kubeconfig = self.kubeconfig_of("kube-controller-manager", "/CN=system:kube-controller-manager")
        self._keep(
            self.start(
                "kube-controller-manager",
                f"--kubeconfig={kubeconfig}",
                f"--bind-address={HOST}",
                f"--secure-port={free_port()}",
                f"--service-account-private-key-file={self.path('service-account.key')}",
                f"--root-ca-file={self.certificate}",
                "--use-service-account-credentials",
                "--leader-elect=false",
            )
        )

    def _start_containerd(self):
        os.makedirs(self.path("network"))
        self.write("network/pods.conflist", json.dumps(NETWORK))
        configuration = self.write("containerd.toml", CONTAINERD % self.path("network"))
        containerd = self._keep(Program(["containerd", f"--config={configuration}"], self.path("containerd.log")))
        containerd.wait_until(lambda: os.path.exists(SOCKET))
        self._make_busybox()

    def _start_kubelet(self):
        configuration = {
            "apiVersion": "kubelet.config.k8s.io/v1beta1",
            "kind": "KubeletConfiguration",
            "authentication": {"x509": {"clientCAFile": self.certificate}},
            "containerRuntimeEndpoint": f"unix://{SOCKET}",
            "cgroupDriver": "cgroupfs",
            "cgroupRoot": f"/{os.environ['CGROUP']}",
            "failCgroupV1": False,
            "failSwapOn": False,
            "enforceNodeAllocatable": [],
            "localStorageCapacityIsolation": False,
            "evictionHard": NOTHING_IS_FULL,
            "imageGCHighThresholdPercent": 100,
            "podLogsDir": self.path("pods"),
            # How soon pods see a changed Secret.
            "syncFrequency": "5s",
        }
        self._keep(
            self.start(
                "kubelet",
                # A file that begins with a brace would not be read as YAML.
                f"--config={self.write('kubelet.yaml', yaml.safe_dump(configuration))}",
                f"--kubeconfig={self.kubeconfig_of('kubelet', f'/O=system:nodes/CN=system:node:{NODE}')}",
                f"--hostname-override={NODE}",
                f"--node-ip={NODE_ADDRESS}",
            )
        )

    def _start_proxy(self):
        configuration = {
            "apiVersion": "kubeproxy.config.k8s.io/v1alpha1",
            "kind": "KubeProxyConfiguration",
            "mode": "iptables",
            "hostnameOverride": NODE,
            "clientConnection": {"kubeconfig": self.kubeconfig_of("kube-proxy", "/CN=system:kube-proxy")},
            "conntrack": {"maxPerCore": 0, "min": 0},
        }
        self._keep(self.start("kube-proxy", f"--config={self.write('kube-proxy.yaml', yaml.safe_dump(configuration))}"))

    def configure_scheduler(self, configuration):
        """Starts a kube-scheduler with this configuration in place of the previous one, and waits until it is ready."""
        if self.scheduler:
            self.scheduler.kill()
        self.n_schedulers += 1
        name = f"kube-scheduler-{self.n_schedulers}"
        self.scheduler = self._keep(self.start_scheduler(name, configuration, self.scheduler_kubeconfig))

    # ---- images ----

    def _make_busybox(self):
        with tempfile.TemporaryDirectory() as root:
            shutil.copy(shutil.which("busybox"), root)
            self.make_image(BUSYBOX, root, "COPY busybox /bin/", 'CMD ["/bin/busybox", "sleep", "1000000"]')

    def make_image(self, name, root, *lines):
        """An image with the contents of the folder `root`, from lines of a Containerfile, without a base image."""
        file = self.write("Containerfile", "\n".join(("FROM scratch", *lines, "")))
        with tempfile.TemporaryDirectory() as work:
            archive = os.path.join(work, "archive.tar")
            buildah = ["buildah", "--storage-driver=vfs", f"--root={work}/store", f"--runroot={work}/run"]
            for command in (["bud", "--isolation=chroot", f"--file={file}", f"--tag={name}", root], ["push", name, f"oci-archive:{archive}:{name}"]):
                run(*buildah, *command, env={"TMPDIR": work})
            self.load_image(archive)

    def load_image(self, archive):
        self.ctr("images", "import", archive)

    def ctr(self, *arguments):
        return run("ctr", f"--address={SOCKET}", "--namespace=k8s.io", *arguments)

    def kubectl(self, *arguments):
        return run(os.path.join(self.binaries, "kubectl"), f"--kubeconfig={self.kubeconfig()}", *arguments)


def is_ready(node):
    conditions = node["status"].get("conditions", [])
    return any(condition["type"] == "Ready" and condition["status"] == "True" for condition in conditions)
