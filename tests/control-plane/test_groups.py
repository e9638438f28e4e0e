"""Pods of a PodGroup on a real control plane with the gates on: a group is placed whole, quotas hold for it as a whole, a group without room or
quota costs few calls, and without the right to read PodGroups they are single pods."""

import time

import pytest
from cluster import PODS, is_refused, is_undecided, prepare
from identity import Identity, renamed, without
from live import LiveCluster, node_name, wait_until_it_binds
from plane import Plane, is_since

H100 = "NVIDIA-H100-80GB-HBM3"
# What kube-apiserver serves if asked to, and kube-scheduler's gates of PodGroups. From 1.37 on it is one.
SERVED, GATES = ("v1beta1", "GenericWorkload=true") if is_since("1.37") else ("v1alpha2", "GenericWorkload=true,GangScheduling=true")
GROUPS = f"/apis/scheduling.k8s.io/{SERVED}/namespaces/gpu/podgroups"
LOOK_S = 5
POLICY = """
apiVersion: gpu-extender.io/v1alpha1
kind: SchedulerPolicy
quotas:
- name: team-a
  namespaces: [gpu]
  limits: [{{resource: nvidia.com/gpu, total: {}}}]
"""


class Gated(Plane):
    def apiserver_options(self):
        return (*super().apiserver_options(), "--feature-gates=GenericWorkload=true", f"--runtime-config=scheduling.k8s.io/{SERVED}=true")


class GroupCluster(LiveCluster):
    gates = GATES

    def start_scheduler(self, address=None, **changes):
        start = self.plane.start_scheduler
        self.plane.start_scheduler = lambda *arguments: start(*arguments, options=(f"--feature-gates={self.gates}",))
        try:
            super().start_scheduler(address, **changes)
        finally:
            del self.plane.start_scheduler

    def begin(self, total=None, **changes):
        """Our service with a quota of so many GPUs, and kube-scheduler."""
        options = () if total is None else ("--config", self.plane.write(f"policy-{self.name}.yaml", POLICY.format(total)))
        self.start_service(*options)
        wait_until_it_binds(self.service)
        self.start_scheduler(**changes)

    def create_group(self, name, min_count, members, gpus, **more):
        policy = {"gang": {"minCount": min_count}} if min_count else {"basic": {}}
        # From 1.37 on a group has a priority of its own, which must be that of its pods.
        priority = {key: value for key, value in more.items() if key == "priorityClassName" and is_since("1.37")}
        self.api.create(GROUPS, {"metadata": {"name": name}, "spec": {"schedulingPolicy": policy, **priority}})
        self.ends.callback(self.api.delete, f"{GROUPS}/{name}")
        self.create_all(name, members, gpus, schedulingGroup={"podGroupName": name}, **more)

    def bound_of(self, name):
        return sum(bool(node_name(item)) for item in self.api.get(PODS)["items"] if item["metadata"]["name"].startswith(name))

    def calls_a_second(self):
        """Of filter, over a while: a rate is what this measures."""
        before, began = self.filter_requests(), time.monotonic()
        time.sleep(LOOK_S)
        return (self.filter_requests() - before) / (time.monotonic() - began)


@pytest.fixture(scope="module")
def gated(programs, tmp_path_factory):
    with Gated(programs, tmp_path_factory.mktemp("gated")) as running:
        prepare(running.api)
        running.start_kwok()
        yield running


@pytest.fixture
def groups(gated, name):
    with GroupCluster(gated, name) as running:
        running.add_nodes("n", 2, H100, 8)
        yield running


def test_a_group_with_room_and_quota_is_bound_whole(groups):
    groups.begin(total=16)
    groups.create_group("fits", 4, 4, 4)
    groups.wait_until_bound(4)
    assert sum(groups.used().values()) == 16
    assert groups.metric("gpu_extender_filter_ledger_behind_total") == 0


def test_a_group_over_its_quota_is_bound_not_at_all_and_costs_few_calls(groups):
    """The Error backs kube-scheduler 1.36 off, where a rejection would bring the group back 1,200 times a second. Later ones are rejected."""
    groups.begin(total=15)
    groups.create_group("over", 4, 4, 4)
    groups.api.wait_for(PODS, "metadata.name=over-0", is_refused if is_since("1.37") else is_undecided)
    assert groups.calls_a_second() < 20
    assert groups.bound_of("over") == 0
    groups.create("single", 8)
    groups.node_of("single")


def test_members_beyond_the_minimum_come_one_by_one(groups):
    groups.begin(total=6)
    groups.create_group("more", 2, 4, 2)
    groups.wait_until_bound(3)
    assert groups.bound_of("more") == 3


def test_a_basic_group_comes_one_by_one(groups):
    groups.begin(total=4)
    groups.create_group("basic", 0, 4, 2)
    groups.wait_until_bound(2)
    assert groups.bound_of("basic") == 2


def test_a_group_that_preempts_is_never_refused_for_room(groups):
    groups.begin()
    groups.create_all("low", 4, 4)
    groups.wait_until_bound(4)
    groups.create_group("high", 2, 2, 4, priorityClassName="above-the-others")
    groups.wait_until_bound(2, "high")
    assert groups.metric("gpu_extender_filter_ledger_behind_total") == 0


def test_without_pod_groups_members_are_single_pods(groups):
    account = "gpu-extender-without-podgroups"
    groups.kubeconfig = Identity(groups.plane, account, renamed(without("podgroups", "list", "watch"), account)).kubeconfig()
    groups.begin(total=16)
    assert "pod groups are unknown" in groups.service.get("/readyz").text
    groups.create_group("single", 2, 2, 4)
    groups.wait_until_bound(2)
