"""The policy file is read again when it changes and on SIGHUP."""

import concurrent.futures
import json
import os
import signal
import threading

import pytest
from follow import policy
from objects import GPU, annotated, filter_args, node, pod

TAKEN, REFUSED = "the policy file was reloaded", "the policy file is unusable: keeping the old policy"
ALIAS = {"models": {"aliases": {"big": "H100"}}}
BIG = node("c", 8, "big")


def quota(gpus, **more):
    return {"quotas": [{"name": "team", "namespaces": ["ml"], "limits": [{"total": gpus}]}], **more}


class Reloading:
    """A service and its policy file."""

    def __init__(self, service, file):
        self.service, self.file = service, file

    def write(self, text):
        """Writes the file by renaming, as a careful editor does."""
        there = self.file.with_suffix(".new")
        there.write_text(text, encoding="utf-8")
        os.replace(there, self.file)

    def change(self, more, wait=TAKEN, **kubernetes):
        after = len(self.service.log.lines)
        self.write(policy(more, **kubernetes))
        self.service.signal(signal.SIGHUP)
        return self.service.log.wait_for({"msg": wait}, after=after)

    def policy(self):
        return self.service.get("/v1/policy").json()

    def fitting(self, asking, names=("a", "b", "c")):
        return self.service.post("/scheduler/filter", filter_args(asking, list(names))).json()["NodeNames"]

    def said(self, message):
        return [line for line in self.service.log.fields() if line.get("msg") == message]


@pytest.fixture
def reloading(api, follow, tmp_path):
    """reloading(more) -> a service over an API server that has taken its policy."""

    def start(more=None, **kubernetes):
        api.store.put(BIG)
        service = follow(more=more, **kubernetes)
        service.settle()
        (file,) = tmp_path.rglob("policy.yaml")
        return Reloading(service, file)

    return start


def test_a_quota_comes_changes_and_goes(reloading):
    it = reloading()
    asking = pod("new", 1)
    assert it.fitting(asking)
    before = it.policy()
    it.change(quota(0))
    assert it.fitting(asking) == [], "lowered below its use"
    (changed,) = [line for line in it.said("policy changed") if line["key"] == "quotas.team"]
    assert changed["before"] == "" and json.loads(changed["after"])["limits"] == [{"total": 0}]
    after = it.policy()
    assert after["digest"] != before["digest"] and after["values"]["quotas"][0]["name"] == "team"
    assert it.service.metric("gpu_extender_policy_info", digest=after["digest"]) == 1
    it.change(quota(1000))
    assert it.fitting(asking)
    it.change(None)
    assert it.policy()["digest"] == before["digest"] and it.policy()["values"] == before["values"]
    assert it.service.is_clean()


def test_a_repeated_binding_is_judged_by_the_new_quota(api, reloading):
    """The API server throttles it until the quota is lowered. What it held is free again."""
    asking = pod("new", 1)
    api.store.put(asking)
    it = reloading(quota(100), bindTimeoutSeconds=15)
    api.faults.fail("bind", 429, "TooManyRequests", retry_after=1, times=None)
    with concurrent.futures.ThreadPoolExecutor() as pool:
        error = pool.submit(it.service.bind, asking, "b")
        api.faults.wait_asked("bind", 1)
        used = it.service.get("/v1/quota").json()["quotas"][0]["limits"][0]["used"]
        it.change(quota(used - 1), bindTimeoutSeconds=15)
        assert error.result() == "gpu-extender: quota team leaves too few GPUs in total"
    assert it.service.get("/v1/quota").json()["quotas"][0]["limits"][0]["used"] == used - 1
    n_posts = api.faults.count("bind")
    api.faults.heal()
    it.change(quota(used), bindTimeoutSeconds=15)
    assert it.service.bind(asking, "b") is None and api.faults.count("bind") == n_posts + 1


def test_use_is_counted_anew(api, reloading):
    api.store.put(pod("runs", 3, "b", metadata={"namespace": "team"}))
    it = reloading()
    it.change({"quotas": [{"name": "team", "namespaces": ["team"], "limits": [{"total": 100}]}]})
    (first,) = it.service.get("/v1/quota").json()["quotas"]
    assert first["limits"][0]["used"] == 3


def test_an_alias_names_the_model_of_nodes_and_of_running_pods(api, reloading):
    api.store.put(annotated("asks", models="big"))
    it = reloading()
    h100 = annotated("new", models="H100")
    assert it.fitting(h100, ["c"]) == []
    lists = it.service.relists(cause="policy")
    it.change(ALIAS)
    assert it.fitting(h100, ["c"]) == ["c"]
    it.service.wait("pods are listed again", lambda: it.service.relists(cause="policy") == lists + 1)
    it.service.settle()
    assert it.policy()["values"]["models"]["aliases"] == {"big": "H100"}


def test_a_new_model_label_is_read(api, reloading):
    api.store.put(node("d", 8, "none", metadata={"labels": {"example.com/card": "T4"}}))
    it = reloading()
    asking = annotated("new", models="T4")
    assert it.fitting(asking, ["d"]) == []
    it.change({"models": {"labels": ["example.com/card", "nvidia.com/gpu.product"]}})
    assert it.fitting(asking, ["d"]) == ["d"]


def test_placement_changes(reloading):
    it = reloading()
    it.change({"placement": {"policy": "spread"}, "filter": {"shortlist": 1}})
    assert len(it.fitting(pod("new", 1))) == 1
    assert it.service.get("/v1/policy").json()["values"]["placement"]["policy"] == "spread"


def test_observing_ends(reloading):
    it = reloading({"mode": "observe"})
    asking = annotated("new", models="V100")
    assert it.fitting(asking) == ["a", "b", "c"]
    it.change({"mode": "enforce"})
    assert it.fitting(asking) == []


def test_sighup_looks_at_once(reloading):
    it = reloading()
    it.service.signal(signal.SIGHUP)
    it.service.log.wait_for({"msg": "the policy file was read"})
    assert it.said(TAKEN) == []
    it.write(policy(quota(0)))
    it.service.signal(signal.SIGHUP)
    it.service.log.wait_for({"msg": TAKEN})


BROKEN = {
    "no YAML": ("{", "policy.yaml:"),
    "an unknown key": (policy({"placment": {}}), "did you mean placement"),
    "half of it": (policy(quota(3))[:-9], "policy.yaml:"),
    "empty": ("", "apiVersion"),
    "values that do not go together": (policy({"scheduler": {"httpTimeoutSeconds": 1}}), "httpTimeoutSeconds"),
}


@pytest.mark.parametrize("how", BROKEN)
def test_a_broken_file_changes_nothing(how, reloading):
    it = reloading(quota(0))
    text, why = BROKEN[how]
    before = it.policy()
    it.write(text)
    it.service.log.wait_for({"msg": REFUSED})
    assert why in it.policy()["fault"]
    assert {**it.policy(), "fault": None} == before and it.fitting(pod("new", 1)) == []
    assert it.service.get("/readyz").status == 200
    assert it.service.metric("gpu_extender_policy_file_unusable") == 1
    assert it.service.metric("gpu_extender_policy_reloads_total", result="refused") == 1
    it.change(quota(1000))
    assert it.fitting(pod("new", 1)) and it.policy()["fault"] is None
    assert it.service.metric("gpu_extender_policy_file_unusable") == 0


def test_a_file_that_is_gone_changes_nothing(reloading):
    it = reloading(quota(0))
    os.remove(it.file)
    it.service.log.wait_for({"msg": REFUSED})
    assert "No such file" in it.policy()["fault"] and it.fitting(pod("new", 1)) == []
    it.change(quota(1000))
    assert it.fitting(pod("new", 1))


def test_the_links_of_a_mounted_config_map_are_swapped(reloading):
    it = reloading()
    folder = it.file.parent
    for name, more in (("..one", quota(0)), ("..two", quota(1000))):
        (folder / name).mkdir()
        (folder / name / "policy.yaml").write_text(policy(more), encoding="utf-8")
    it.file.unlink()
    (folder / "..data").symlink_to("..one")
    it.file.symlink_to("..data/policy.yaml")
    it.service.log.wait_for({"msg": TAKEN})
    assert it.fitting(pod("new", 1)) == []
    after = len(it.service.log.lines)
    (folder / "..data_tmp").symlink_to("..two")
    os.replace(folder / "..data_tmp", folder / "..data")
    it.service.log.wait_for({"msg": TAKEN}, after=after)
    assert it.fitting(pod("new", 1))


# One of each section that needs a restart.
RESTART = {
    "listen.verbs": ({"listen": {"verbs": "127.0.0.3:0"}}, '"127.0.0.3:0"'),
    "gpuResources": ({"gpuResources": [GPU]}, json.dumps([GPU])),
    "limits.pods": ({"limits": {"objectBytes": 4194304, "pods": 7}}, "7"),
    "decisions.keep": ({"decisions": {"keep": 3}}, "3"),
    "authentication.cacheSeconds": ({"authentication": {"cacheSeconds": 1}}, "1"),
    "wake.objectName": ({"wake": {"objectName": "other"}}, '"other"'),
    "leaderElection.leaseName": ({"leaderElection": {"leaseName": "other"}}, '"other"'),
}


@pytest.mark.parametrize("key", RESTART)
def test_what_needs_a_restart_is_named(key, reloading):
    it = reloading()
    more, value = RESTART[key]
    it.change({**more, **quota(0)})
    (line,) = it.said("restart needed")
    (entry,) = it.policy()["needsRestart"]
    assert (line["key"], line["after"]) == (entry["key"], entry["inFile"]) == (key, value)
    assert it.service.metric("gpu_extender_policy_needs_restart") == 1
    assert it.fitting(pod("new", 1)) == [], "the rest is in force"
    it.change(None)
    assert it.policy()["needsRestart"] == [] and it.service.metric("gpu_extender_policy_needs_restart") == 0


def test_no_call_fails_while_the_policy_changes(reloading):
    it = reloading()
    stop, wrong = threading.Event(), []

    def call():
        while not stop.is_set():
            answer = it.service.post("/scheduler/filter", filter_args(pod("new", 1), ["a", "b"]))
            if answer.status != 200 or answer.json()["Error"] or not answer.json()["NodeNames"]:
                wrong.append(answer)

    threads = [threading.Thread(target=call) for _ in range(2)]
    for thread in threads:
        thread.start()
    for n in range(4):
        it.change(quota(1000 + n, **ALIAS))
    stop.set()
    for thread in threads:
        thread.join()
    assert not wrong
    it.service.settle()
    assert it.service.is_clean()


def test_the_table(reloading):
    it = reloading(quota(7))
    text = it.service.get("/v1/policy?output=table").text
    assert it.policy()["digest"] in text and "policy.yaml" in text
    assert ["placement.policy", '"slot-price"'] in [line.split() for line in text.splitlines()]


def test_over_a_cluster_file(start_over, tmp_path):
    file = tmp_path / "p.yaml"
    head = {"apiVersion": "gpu-extender.io/v1alpha1", "kind": "SchedulerPolicy"}
    file.write_text(json.dumps(head), encoding="utf-8")
    service = start_over(BIG, options=["--config", file])
    it = Reloading(service, file)
    asking = annotated("new", models="H100")
    assert it.fitting(asking, ["c"]) == []
    it.write(json.dumps({**head, **ALIAS}))
    service.log.wait_for({"msg": TAKEN})
    assert it.fitting(asking, ["c"]) == ["c"]
    after = len(service.log.lines)
    service.signal(signal.SIGHUP)
    service.log.wait_for({"msg": "reloaded"}, after=after)
    assert it.fitting(asking, ["c"]) == ["c"], "the policy in force is kept"


def test_without_a_policy_file(start_over):
    service = start_over(BIG)
    said = service.get("/v1/policy").json()
    assert (said["file"], said["fault"], said["needsRestart"]) == (None, None, [])
    assert said["values"]["placement"]["policy"] == "slot-price"
