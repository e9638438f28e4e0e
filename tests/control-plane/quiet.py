"""A minute without events in a cluster with one pending pod, which only we reject.

If a rejection permits it, kube-scheduler tries to preempt for such a pod and retries repeatedly. Only observation over time shows
that it does not. The minute is a watch that the API server ends.
"""

import collections

import cluster as clusters
from cluster import ABOVE, PODS
from live import LiveCluster
from plane import Plane

QUIET_S = 60
NODES = [f"node-{number}" for number in range(12)]
HAVE, WANTED = "NVIDIA-A100-SXM4-80GB", "H100"

Observed = collections.namedtuple("Observed", "condition event states filter_requests other_is_on pods")


def observe(programs, folder):
    """Twelve nodes with room, each with a pod of lower priority than the rejected one."""
    with Plane(programs, folder) as plane:
        clusters.prepare(plane.api)
        with LiveCluster(plane, "quiet") as cluster:
            for name in NODES:
                cluster.add_node(name, HAVE, 4)
                cluster.add_running(f"runs-on-{name}", name, 1)
            cluster.start()
            cluster.create("refused", 1, models=WANTED, priority_class=ABOVE)
            return what_happens(cluster)


def what_happens(cluster):
    condition = cluster.refusal_of("refused")
    event = cluster.event_of("refused", "FailedScheduling")
    states = cluster.changes_of("refused", QUIET_S)
    filter_requests = cluster.filter_requests()
    # There were no calls because all was quiet, not because kube-scheduler was gone.
    cluster.create("other", 1, models=HAVE)
    other_is_on = cluster.node_of("other")
    return Observed(condition, event, states, filter_requests, other_is_on, cluster.api.get(PODS)["items"])
