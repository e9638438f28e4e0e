"""A service that the front proxy of the fake API server forwards to. Checks nothing."""

import contextlib
import json

from certificates import Authority
from guarded import GuardedFollower
from secured import context
from service import Answer

GROUP = "/apis/visibility.gpu-extender.io"
BASE = f"{GROUP}/v1alpha1"
INVENTORY = f"{BASE}/views/inventory"
JANE = {"X-Remote-User": "jane"}
NAMED = "front-proxy-client"


def config_map(authority, **more):
    data = {
        "requestheader-client-ca-file": authority.certificate.read_text(encoding="utf-8"),
        "requestheader-allowed-names": json.dumps([NAMED]),
        "requestheader-username-headers": json.dumps(["X-Remote-User"]),
        "requestheader-uid-headers": json.dumps(["X-Remote-Uid"]),
        "requestheader-group-headers": json.dumps(["X-Remote-Group"]),
        "requestheader-extra-headers-prefix": json.dumps(["X-Remote-Extra-"]),
    }
    metadata = {"name": "extension-apiserver-authentication", "namespace": "kube-system"}
    return {"apiVersion": "v1", "kind": "ConfigMap", "metadata": metadata, "data": {**data, **more}}


class Fronted(GuardedFollower):
    def __init__(self, api, folder, **authentication):
        super().__init__(api, folder, aggregated=True, **authentication)
        self.own = Authority(folder / "authority")

    def forward(self, client, path=INVENTORY, headers=JANE, method="GET", body=None):
        """headers: a dict, or pairs."""
        pairs = headers.items() if isinstance(headers, dict) else headers
        with contextlib.closing(self.connect(context(self.own, client))) as connection:
            connection.putrequest(method, path)
            text = json.dumps(body).encode() if body else b""
            for name, value in (*pairs, ("Content-Length", str(len(text)))):
                connection.putheader(name, value)
            connection.endheaders(text)
            return Answer(connection.getresponse())

    def trusts(self, after=0):
        self.log.wait_for({"mod": "front", "level": "info"}, after=after)


def status(answer, code, reason):
    body = answer.json()
    assert (answer.status, body["kind"], body["apiVersion"], body["code"], body["reason"]) == (code, "Status", "v1", code, reason), body
    return body["message"]
