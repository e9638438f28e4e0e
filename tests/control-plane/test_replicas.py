"""Two replicas: one decides, and the other when the first stops, is killed or is cut off; nothing is bound twice.

A leader that ends in order gives its Lease up: there the Lease is longer than any wait, so that it cannot have expired. The duration
of each hand-over is printed.
"""

import contextlib
import datetime
import json
import signal

import pytest
from api import LIMIT_S, wait_until
from identity import Identity, apply, manifests, renamed, without
from live import BOUND_BY, bound
from proxy import Proxy
from replicas import ADDRESS, EXPIRES, GIVEN_UP, LEASE, LEASES, SERVICE, SLICES, Replicas, leads_since

MODEL = "NVIDIA-H100-80GB-HBM3"
GPUS = 240
EARLY, MIDDLE = 160, 40  # pods created at the beginning; pods bound when the fault comes
SILENCE_S = 5
BLIND = "gpu-extender-blind"
STANDS_BACK = "no longer leading: rejecting kube-scheduler's calls"
FILTER = {"Pod": {"metadata": {"name": "p", "uid": "u"}}, "NodeNames": []}


def now():
    return datetime.datetime.now(datetime.timezone.utc)


def seconds_from(then, moment):
    return (datetime.datetime.fromisoformat(moment.replace("Z", "+00:00")) - then).total_seconds()


def expiry(replicas):
    """When the Lease expires if its holder is gone."""
    lease = replicas.lease()
    renewed = datetime.datetime.fromisoformat(lease["renewTime"].replace("Z", "+00:00"))
    return renewed + datetime.timedelta(seconds=lease["leaseDurationSeconds"])


def refused(replica):
    """The verbs of a replica that does not lead. (Without a body, which it would not read: a client still sending might miss the
    answer.)"""
    for verb in ("filter", "prioritize", "preempt", "bind"):
        answer = replica.post(f"/scheduler/{verb}", b"")
        assert (answer.status, answer.body) == (503, b""), answer
        assert answer.headers["connection"] == "close"
        assert answer.headers["content-length"] == "0"


@contextlib.contextmanager
def asked_over_one_connection(leader):
    """A connection over which it has decided. It closes it when it loses the lead, so that kube-scheduler finds the next leader."""
    with contextlib.closing(leader.connection()) as kept:
        kept.request("POST", "/scheduler/filter", json.dumps(FILTER))
        assert kept.getresponse().read() and kept.sock
        yield kept.sock


def is_closed(sock):
    return sock.recv(1) == b""


def begin(live, replicas, kubeconfig=None):
    """The leader, then the other one, and a burst in progress. kubeconfig: the leader's."""
    live.add_nodes("node", GPUS // 8, MODEL, 8)
    leader = replicas.start(kubeconfig)
    leads_since(leader)
    other = replicas.start()
    refused(other)
    live.create_all("burst", EARLY, 1)
    live.service = leader
    live.start_scheduler(replicas.service.address)
    live.wait_until_bound(MIDDLE)
    return leader, other


def all_is_well(live, replica):
    """Creates pods for the rest of the GPUs, so that the next leader has work however fast the last one was. Then everything is bound by
    us, no node uses more than its GPUs, and the ledger agrees. Returns the names of the binders."""
    live.create_all("late", GPUS - EARLY, 1)
    live.service = replica
    pods = live.wait_until_bound(GPUS)
    assert not live.bound_by_others(pods)
    assert set(live.used().values()) == {8}
    return {item["metadata"]["annotations"][BOUND_BY] for item in bound(pods)}


def tell(capsys, what, seconds):
    with capsys.disabled():
        print(f"\nhand-over after {what}: {seconds:.2f} s")


def test_one_leads_and_the_other_rejects(live):
    replicas = Replicas(live)
    live.add_nodes("node", 1, MODEL, 8)
    leader = replicas.start()
    leads_since(leader)
    other = replicas.start()
    refused(other)
    assert leader.post("/scheduler/filter", FILTER).status == 200
    assert "gpu_extender_leader 1\n" in leader.get("/metrics").text
    assert "gpu_extender_leader 0\n" in other.get("/metrics").text
    assert other.get("/readyz").status == 200
    assert (leader.get("/readyz?verbose").text, leader.get("/readyz").text) == ("ok\nthis replica: leader\n", "ok\n")
    assert other.get("/readyz?verbose").text == "ok\nthis replica: follower\n"
    assert replicas.lease()["holderIdentity"].startswith("replica-1_")

    port = int(leader.address.rpartition(":")[2])
    item = live.api.wait_for(SLICES, f"metadata.name={SERVICE}", lambda item: item["ports"][0]["port"] == port)
    assert item["metadata"]["labels"]["kubernetes.io/service-name"] == SERVICE
    assert (item["addressType"], item["endpoints"][0]["addresses"]) == ("IPv4", [ADDRESS])

    live.api.merge(f"{SLICES}/{SERVICE}", {"ports": [{"name": "verbs", "protocol": "TCP", "port": 1}]})
    live.api.wait_for(SLICES, f"metadata.name={SERVICE}", lambda item: item["ports"][0]["port"] == port)
    live.api.delete(f"{SLICES}/{SERVICE}")
    live.api.wait_for(SLICES, f"metadata.name={SERVICE}", lambda item: item["ports"][0]["port"] == port)

    live.api.merge(f"{LEASES}/{LEASE}", {"metadata": {"labels": {"theirs": "kept"}}})
    version = live.api.get(f"{LEASES}/{LEASE}")["metadata"]["resourceVersion"]
    item = live.api.wait_for(LEASES, f"metadata.name={LEASE}", lambda item: item["metadata"]["resourceVersion"] != version)
    assert item["metadata"]["labels"] == {"theirs": "kept"}
    assert leader.post("/scheduler/filter", FILTER).status == 200


def test_the_leader_is_stopped_in_a_burst(live, capsys):
    replicas = Replicas(live)
    leader, other = begin(live, replicas)
    transitions = replicas.lease()["leaseTransitions"]
    began = now()
    leader.signal(signal.SIGTERM)
    took = seconds_from(began, leads_since(other))
    leader.stop()
    tell(capsys, "SIGTERM", took)
    assert len(all_is_well(live, other)) == 2
    assert replicas.lease()["leaseTransitions"] == transitions + 1
    assert "the Lease could not be released" not in leader.log.text()


def test_idle_leader_is_stopped(live, capsys):
    """No event shows how current the new leader's ledger is."""
    replicas = Replicas(live)
    leader = replicas.start()
    leads_since(leader)
    other = replicas.start()
    began = now()
    leader.signal(signal.SIGTERM)
    took = seconds_from(began, leads_since(other))
    leader.stop()
    tell(capsys, "SIGTERM in a quiet cluster", took)


def test_slow_client_delays_no_hand_over(live, capsys):
    """A user's request in progress: the service lives until it is answered, but does not lead any more."""
    replicas = Replicas(live)
    leader = replicas.start()
    leads_since(leader)
    other = replicas.start()
    with contextlib.closing(leader.connection()) as slow:
        slow.putrequest("POST", "/v1/dry-run")
        slow.putheader("Content-Length", "2")
        slow.endheaders(b"{")
        slow.sock.settimeout(LIMIT_S)
        began = now()
        leader.signal(signal.SIGTERM)
        took = seconds_from(began, leads_since(other))
        tell(capsys, "SIGTERM with a slow client", took)
        slow.send(b"}")
        assert slow.getresponse().status in (400, 503)
    leader.stop()


def test_the_leader_is_killed_in_a_burst(live, capsys):
    replicas = Replicas(live, EXPIRES)
    leader, other = begin(live, replicas)
    began = now()
    leader.kill()
    over, leads = expiry(replicas), leads_since(other)
    tell(capsys, f"SIGKILL with a lease of {EXPIRES.lease_s} s", seconds_from(began, leads))
    assert seconds_from(over, leads) >= 0, f"the Lease expired at {over}:\n{other.log.text()}"
    assert len(all_is_well(live, other)) == 2


def test_leader_is_paused_in_a_burst(live, capsys):
    """SIGSTOP, like a paused machine: when it wakes, another one leads."""
    replicas = Replicas(live, EXPIRES)
    leader, other = begin(live, replicas)
    with asked_over_one_connection(leader) as kept:
        began = now()
        leader.signal(signal.SIGSTOP)
        over, leads = expiry(replicas), leads_since(other)
        leader.signal(signal.SIGCONT)
        tell(capsys, "a pause", seconds_from(began, leads))
        assert seconds_from(over, leads) >= 0, f"the Lease expired at {over}:\n{other.log.text()}"
        assert is_closed(kept)  # and so are other connections open at its wake-up, idle or not
    refused(leader)
    all_is_well(live, other)
    refused(leader)
    wait_until(lambda: leader.get("/readyz").status == 200, leader.log.text)
    live.service = leader
    assert set(live.used().values()) == {8}


def test_disconnected_leader_binds_no_more(proxied):
    """It stops before another replica could lead, follows, and leads again when it can."""
    replicas = Replicas(proxied, EXPIRES)
    proxied.add_nodes("node", 1, MODEL, 8)
    leader = replicas.start()
    leads_since(leader)
    with asked_over_one_connection(leader) as kept:
        proxied.proxy.cut()
        since = leader.log.wait_for({"msg": STANDS_BACK})["ts"]
        assert seconds_from(expiry(replicas), since) < 1 - EXPIRES.bind_s, "a binding that left before may still take effect"
        assert is_closed(kept)
    refused(leader)
    n_lines = len(leader.log.fields())
    proxied.proxy.mend()
    leads_since(leader, after=n_lines)
    wait_until(lambda: leader.post("/scheduler/filter", FILTER).status == 200, leader.log.text)


def whys(replica):
    """Reasons for losing the lead."""
    return [line["why"] for line in replica.log.fields() if line["msg"] == STANDS_BACK]


def test_leader_without_watches_releases_the_lease(live, capsys):
    """It may not list and watch pods any more, but holds the Lease: the other one, with another account, has the better ledger."""
    proxy = live.ends.enter_context(Proxy(live.plane.port))
    blind = Identity(live.plane, f"{live.name}-blind", renamed(manifests(), BLIND))
    replicas = Replicas(live, accounts=[BLIND], silence_s=SILENCE_S)
    leader, other = begin(live, replicas, blind.kubeconfig(proxy.port))
    began = now()
    apply(live.api, renamed(without("pods", "list", "watch"), BLIND))
    asking = live.api.with_token(blind.token.text)
    wait_until(lambda: asking.status_of("GET", "/api/v1/pods?limit=1") == 403, lambda: "the right is still there")
    proxy.cut()  # an open watch continues whatever the rights
    proxy.mend()
    took = seconds_from(began, leads_since(other))
    tell(capsys, f"a leader saw nothing any more (which it bears for {SILENCE_S} + {GIVEN_UP.renew_s} s)", took)
    # If a renewal took too long, it briefly stepped down before.
    wait_until(lambda: any(why.startswith("the pods are stale") for why in whys(leader)), lambda: whys(leader))
    refused(leader)
    assert leader.get("/readyz").status == 503
    assert len(all_is_well(live, other)) == 2

    apply(live.api, renamed(manifests(), BLIND))
    wait_until(lambda: leader.get("/readyz?verbose").text == "ok\nthis replica: follower\n", leader.log.text)
    n_lines = len(leader.log.fields())
    other.stop()
    leads_since(leader, after=n_lines)
    live.service = leader
    assert set(live.used().values()) == {8}


@pytest.mark.parametrize("leader_first", [True, False])
def test_replicas_are_replaced_one_after_another(live, leader_first):
    """Like a rolling update: a new one is ready before an old one stops."""
    replicas = Replicas(live)
    old, other = begin(live, replicas)
    if not leader_first:
        old, other = other, old
    new = replicas.start()
    old.stop()
    newer = replicas.start()
    other.stop()
    wait_until(lambda: any("gpu_extender_leader 1\n" in each.get("/metrics").text for each in (new, newer)), new.log.text)
    all_is_well(live, new)
