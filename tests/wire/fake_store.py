"""The store of a fake API server: objects of a few kinds, their versions, and the events of watches.

It follows docs of Kubernetes where the service relies on them: one counter of versions for all, lists at one version in pages,
events after a version, a field selector under which a pod that stops matching is DELETED with what it was before, and Binding
as the real server's BindingREST decides. A stored object is never modified, only replaced.
"""

import itertools
import threading

from objects import merged

UNFINISHED = "status.phase!=Succeeded,status.phase!=Failed"
FAILED = "status.phase=Failed"
KINDS = {
    "nodes": "Node",
    "pods": "Pod",
    "namespaces": "Namespace",
    "priorityclasses": "PriorityClass",
    "deviceclasses": "DeviceClass",
    "resourceslices": "ResourceSlice",
    "resourceclaims": "ResourceClaim",
    "devicetaintrules": "DeviceTaintRule",
    "resourceclaimtemplates": "ResourceClaimTemplate",
    "poddisruptionbudgets": "PodDisruptionBudget",
    "podgroups": "PodGroup",
    "configmaps": "ConfigMap",
}


def status(code, reason, message, **more):
    """A Status object, as the API server answers with."""
    kind = {"kind": "Status", "apiVersion": "v1", "metadata": {}}
    return {**kind, "status": "Success" if code < 300 else "Failure", "code": code, "reason": reason, "message": message, **more}


GONE = status(410, "Expired", "The resourceVersion for the provided list is too old.")


def key_of(item):
    return item["metadata"].get("namespace", ""), item["metadata"]["name"]


def stamped(item, version):
    """A copy with this version. The metadata comes before the long members, in the order of the API server."""
    metadata = dict(item["metadata"])
    first = {name: metadata.pop(name) for name in ("name", "namespace", "uid") if name in metadata}
    metadata.pop("resourceVersion", None)
    return {**item, "metadata": {**first, "resourceVersion": str(version), **metadata}}


def matches(item, selector):
    phase = item.get("status", {}).get("phase")
    return not selector or (phase == "Failed" if selector == FAILED else phase not in ("Succeeded", "Failed"))


class Store:
    """Any thread may call any method. `changed` is notified after every event that a thread may wait for."""

    def __init__(self):
        self.changed = threading.Condition()
        self.version = 1000
        self.objects = {kind: {} for kind in KINDS}
        self.events = {kind: [] for kind in KINDS}  # (version, before, after)
        self.oldest = {kind: 0 for kind in KINDS}  # events up to this version were compacted
        self.pages = {}  # token -> (version, the items that are left)
        self.tokens = itertools.count()
        self.bound = []  # (uid, node) of every Binding that took effect

    def _replace(self, kind, key, after):
        before = self.objects[kind].get(key)
        self.version += 1
        if after:
            after = stamped(after, self.version)
            self.objects[kind][key] = after
        else:
            del self.objects[kind][key]
        self.events[kind].append((self.version, before, after))
        self.changed.notify_all()

    def put(self, *items):
        """Creates each object, or replaces the one of its name."""
        kinds = {name: kind for kind, name in KINDS.items()}
        with self.changed:
            for item in items:
                self._replace(kinds[item["kind"]], key_of(item), item)

    def remove(self, *items):
        kinds = {name: kind for kind, name in KINDS.items()}
        with self.changed:
            for item in items:
                self._replace(kinds[item["kind"]], key_of(item), None)

    def change(self, kind, name, namespace="", **changes):
        with self.changed:
            self._replace(kind, (namespace, name), merged(self.objects[kind][namespace, name], changes))

    def get(self, kind, name, namespace=""):
        """The object, or None if absent."""
        with self.changed:
            return self.objects[kind].get((namespace, name))

    def all(self, kind):
        with self.changed:
            return list(self.objects[kind].values())

    def forget(self, kind):
        """Like etcd's compaction: no watch may begin at an earlier version."""
        with self.changed:
            self.events[kind].clear()
            self.oldest[kind] = self.version

    def list(self, kind, limit, token, selector):
        """A List object; None if the token has expired."""
        with self.changed:
            if token:
                version, left = self.pages.pop(token, (0, None))
            else:
                version, left = self.version, [item for _, item in sorted(self.objects[kind].items()) if matches(item, selector)]
            if left is None:
                return None
            size = limit or len(left)
            metadata = {"resourceVersion": str(version)}
            if len(left) > size:
                metadata["continue"] = f"token/{next(self.tokens)}=="
                metadata["remainingItemCount"] = len(left) - size
                self.pages[metadata["continue"]] = version, left[size:]
        return {"kind": KINDS[kind] + "List", "apiVersion": "v1", "metadata": metadata, "items": left[:size]}

    def events_after(self, kind, version, selector):
        """(version, type, object) of each event; the caller holds `changed`."""
        for number, before, after in self.events[kind]:
            had, has = bool(before) and matches(before, selector), bool(after) and matches(after, selector)
            if number <= version or not (had or has):
                continue
            if has:
                yield number, "MODIFIED" if had else "ADDED", after
            else:
                yield number, "DELETED", stamped(before, number)

    def bind(self, namespace, name, binding):
        """The Status of a POST to pods/NAME/binding."""
        with self.changed:
            pod = self.objects["pods"].get((namespace, name))
            if not pod:
                return status(404, "NotFound", f'pods "{name}" not found')
            uid = binding["metadata"].get("uid")
            if uid and uid != pod["metadata"]["uid"]:
                return status(409, "Conflict", "Precondition failed: UID in precondition", details={"kind": "pods"})
            on = pod["spec"].get("nodeName")
            if on:
                message = f'Operation cannot be fulfilled on pods/binding "{name}": pod {name} is already assigned to node "{on}"'
                return status(409, "Conflict", message, details={"kind": "pods/binding"})
            changes = {"metadata": {"annotations": binding["metadata"].get("annotations", {})}}
            self._replace("pods", (namespace, name), merged(pod, {**changes, "spec": {"nodeName": binding["target"]["name"]}}))
            self.bound.append((pod["metadata"]["uid"], binding["target"]["name"]))
            return status(201, "", "")
