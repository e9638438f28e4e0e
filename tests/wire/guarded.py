"""A service over TLS that authenticates users, over an API server or a cluster file.

Probes have their own socket without TLS.
"""

import contextlib
import http.client
import json
import ssl

from certificates import Authority
from fake_api import HOST
from follow import Follower, policy
from service import LIMIT_S, Answer, Service

# Paths of every kind that users may request.
PATHS = (
    ("GET", "/v1/inventory"),
    ("GET", "/v1/node-groups"),
    ("GET", "/v1/pending"),
    ("GET", "/v1/decisions"),
    ("GET", "/v1/groups"),
    ("GET", "/v1/observed"),
    ("GET", "/v1/fragmentation"),
    ("GET", "/v1/quota"),
    ("GET", "/v1/policy"),
    ("GET", "/v1/snapshot"),
    ("GET", "/v1/pods/ml/old-0/explain"),
    ("GET", "/v1/explain?namespace=ml&name=old-0"),
    ("GET", "/metrics"),
    ("HEAD", "/v1/inventory"),
    ("POST", "/v1/dry-run"),
    ("POST", "/v1/what-if"),
)
DRY_RUN = {"apiVersion": "v1", "kind": "Pod", "metadata": {"name": "p"}, "spec": {"containers": [{"name": "c", "image": "i"}]}}


def tls_policy(folder, aggregated=False, more=None, **authentication):
    """The text of the policy, and the client's TLS: without a certificate, and as the operator."""
    authority = Authority(folder / "authority")
    server, operator = authority.server(), authority.client("operator")
    whole = json.loads(policy(more))
    whole["listen"] = {"verbs": f"{HOST}:0", "people": f"{HOST}:0", "probes": "127.0.0.2:0"}
    whole["tls"] = {"certificateFile": str(server[0]), "privateKeyFile": str(server[1]), "clientCAFile": str(authority.certificate)}
    whole["tls"]["clientCRLFile"] = str(authority.revoke())
    whole["tls"]["peopleClients"] = {"names": ["operator"]}
    whole["authentication"] = authentication
    whole["aggregatedAPI"] = {"enabled": aggregated}
    nobody, known = (ssl.create_default_context(cafile=str(authority.certificate)) for _ in range(2))
    known.load_cert_chain(*map(str, operator))
    return json.dumps(whole), nobody, known


class Guarded:
    """A mixin for both. visit() sends requests without a certificate; all others use the operator's."""

    tls = operator = None

    def prepare(self, folder, authentication):
        """The options of the service, with files in `folder`."""
        text, self.tls, self.operator = tls_policy(folder, **authentication)
        (folder / "guarded.yaml").write_text(text, encoding="utf-8")
        return "--config", folder / "guarded.yaml"

    def connection(self):
        if self.address == self.addresses["probes"]:
            return super().connection()
        return self.connect(self.operator)

    def connect(self, tls, source=HOST):
        """source: the client's own address."""
        host, _, port = self.address.rpartition(":")
        return http.client.HTTPSConnection(host, int(port), timeout=LIMIT_S, context=tls, source_address=(source, 0))

    def visit(self, token=None, path="/v1/inventory", method="GET", body=None, header=None):
        """header: the whole Authorization value, instead of a token."""
        header = f"Bearer {token}" if token else header
        with contextlib.closing(self.connect(self.tls)) as connection:
            connection.request(method, path, json.dumps(body) if body else None, {"Authorization": header} if header else {})
            return Answer(connection.getresponse())


class GuardedService(Guarded, Service):
    """A guarded service over the source in its options."""

    def __init__(self, folder, *options, **authentication):
        Service.__init__(self, *options, *self.prepare(folder, authentication), listen=None)


class GuardedFollower(Guarded, Follower):
    """A guarded service that follows `api`."""

    def __init__(self, api, folder, *options, **authentication):
        (folder / "kubeconfig").write_text(api.kubeconfig(), encoding="utf-8")
        self.api, self.ready, self.calm = api, True, None
        options = *options, "--kubeconfig", folder / "kubeconfig", *self.prepare(folder, authentication)
        Service.__init__(self, *options, listen=None)
