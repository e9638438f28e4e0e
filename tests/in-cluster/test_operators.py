"""The commands of docs/INSTALL.md and docs/OPERATIONS.md that change an installation, run as written, with their effects. ours.py runs those of the
installation; test_changes.py tests new certificates."""

import os
import pathlib
import shutil

import gpus
import marked
import pytest
import yaml
from api import wait_until
from callers import Asking
from certificates import Authority
from cluster import PODS, is_undecided, scheduled
from live import BOUND_BY
from ours import APPLY, NAME, OVERLAY, gave_up
from real import GROUP, is_ready
from replicas import LEASE_S

KUBEADMS = "/etc/kubernetes"
# cert-manager is not installed in this cluster.
SHIPPED = "overlays/cert-manager"


def wait_until_bound_by(ours):
    """Waits for the only pod."""
    (item,) = gpus.wait_until_bound(ours.api, 1).values()
    assert BOUND_BY in item["metadata"]["annotations"]


# ---- another version or policy ----


@pytest.fixture
def own(ours):
    """The documented kustomization, with its image on the node, and its policy."""
    folder, text = ours.cluster.folder, marked.block("docs/INSTALL.md", "own-kustomization")
    (image,) = yaml.safe_load(text)["images"]
    ours.cluster.ctr("images", "tag", f"docker.io/library/{NAME}:{image['newTag']}", f"{image['newName']}:{image['newTag']}")
    shipped = f"../gpu-extender/manifests/{SHIPPED}"
    assert shipped in text
    ours.cluster.write("kustomization.yaml", text.replace(shipped, f"manifests/{OVERLAY}") + f"replicas: [{{name: {NAME}, count: 3}}]\n")
    policy = pathlib.Path(ours.manifests, "base/scheduler-policy.yaml").read_text(encoding="utf-8")
    section = "leaderElection:\n"
    assert section in policy
    ours.cluster.write("scheduler-policy.yaml", policy.replace(section, section + "  leaseDurationSeconds: 20\n"))
    yield f"{image['newName']}:{image['newTag']}"
    os.remove(os.path.join(folder, "kustomization.yaml"))


def running(ours):
    """The replicas' images, and the Lease's duration."""
    assert all(map(is_ready, ours.replicas()))
    lease_s = ours.lease()["spec"]["leaseDurationSeconds"]
    return [replica["spec"]["containers"][0]["image"] for replica in ours.replicas()], lease_s


def test_upgrade_and_rollback_of_version_and_policy(ours, make, own, record_property):
    """This also holds with more replicas. kube-scheduler gets answers all the time, except during hand-over: each leader releases the Lease."""
    before, lease = running(ours), ours.lease()
    leaders = [ours.leader()]
    with Asking(ours.verbs(patience_s=1)) as asking:
        ours.shell(marked.block("docs/OPERATIONS.md", "apply-own"))
        ours.wait_until_rolled_out()
        # The next leader may not have written the Lease yet.
        wait_until(lambda: running(ours) == ([own] * 3, 20), lambda: running(ours))
        make([0])
        wait_until_bound_by(ours)
        leaders.append(ours.leader())
        ours.apply()
        ours.wait_until_rolled_out()
    assert before[1] == LEASE_S
    wait_until(lambda: running(ours) == before, lambda: running(ours))
    silence = asking.longest_silence(0)
    record_property("hand-over: another version and back", f"no answer for {silence.seconds:.1f} s")
    assert {leader["metadata"]["name"] for leader in leaders} <= gave_up(ours.leases(lease)), silence


def test_manual_scaling_conflicts_with_the_kustomization(ours):
    def scale(replicas):
        ours.shell(f"kubectl --namespace {NAME} scale deployment/{NAME} --replicas {replicas}")

    applied = f"{APPLY} --dry-run=server"
    ours.shell(applied)
    scale(3)
    with pytest.raises(AssertionError, match="conflict.*replicas"):
        ours.shell(applied)
    scale(2)
    ours.wait_until_rolled_out()
    ours.shell(applied)


# ---- access ----


def test_a_group_of_users_is_admitted(ours):
    """An answer of the API server is cached for a while."""
    asks = ours.people(ours.cluster.person)
    commands = marked.block("docs/INSTALL.md", "admit-people")
    assert asks.get("/v1/inventory").status == 403 and f"--group {GROUP}\n" in commands
    ours.shell(f"kubectl create namespace ml-tools\n{commands}")
    wait_until(lambda: asks.get("/v1/inventory").status == 200, lambda: "people of the group are answered")


# ---- kubeadm's kube-scheduler ----


@pytest.fixture
def copied(ours, tmp_path):
    """Files from the commands for kubeadm's kube-scheduler, and the command that copies certificates again; here for another folder."""
    (tmp_path / "kubernetes").mkdir()
    shutil.copy(ours.cluster.kubeconfig(), tmp_path / "kubernetes/admin.conf")
    commands = marked.block("docs/INSTALL.md", "kubeadm-files").replace(KUBEADMS, str(tmp_path / "kubernetes"))
    ours.shell(commands)
    loop, _, _ = commands.partition("\ndone\n")
    yield tmp_path / f"kubernetes/{NAME}", f"{loop}\ndone\n"
    ours.configure_scheduler()


def test_kube_scheduler_loads_a_recopied_certificate(ours, make, copied, tmp_path):
    """With an invalid certificate it is rejected; it continues with the new one by itself."""
    folder, copy = copied
    worthless = Authority(tmp_path / "others").client(f"{NAME}-client")
    for source, name in zip(worthless, ("tls.crt", "tls.key")):
        shutil.copy(source, folder / name)
    configuration = yaml.safe_load((folder / "kube-scheduler-config.yaml").read_text(encoding="utf-8"))
    assert configuration.pop("clientConnection") == {"kubeconfig": f"{KUBEADMS}/scheduler.conf"}
    ours.cluster.configure_scheduler(configuration)
    make([0])
    ours.api.wait_for(PODS, "metadata.name=burst-0", lambda seen: is_undecided(seen) and "403" in scheduled(seen)["message"])
    ours.shell(copy)
    wait_until_bound_by(ours)
