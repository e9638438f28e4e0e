"""The identity of our service: the ServiceAccount of manifests/rbac/rbac.yaml with its rights, and tokens from the API server.

Applies the file like `kubectl apply --server-side`. Each token is bound to its own Secret, so that it can be revoked.
"""

import base64
import copy
import json
import os

import yaml
from api import wait_until
from plane import HOST

RBAC = os.path.join(os.path.dirname(__file__), "..", "..", "manifests", "rbac", "rbac.yaml")
NAMESPACE = "kube-system"
SHORTEST_S = 600  # shortest life granted by TokenRequest
REVIEWS = "/apis/authorization.k8s.io/v1/subjectaccessreviews"
PATHS = {
    "ServiceAccount": f"/api/v1/namespaces/{NAMESPACE}/serviceaccounts",
    "ClusterRole": "/apis/rbac.authorization.k8s.io/v1/clusterroles",
    "ClusterRoleBinding": "/apis/rbac.authorization.k8s.io/v1/clusterrolebindings",
}


def manifests():
    """The objects of manifests/rbac/rbac.yaml."""
    with open(RBAC, encoding="utf-8") as file:
        return list(yaml.safe_load_all(file))


def apply(api, objects):
    for item in objects:
        path = f"{PATHS[item['kind']]}/{item['metadata']['name']}?fieldManager=tests&force=true"
        api.ask("PATCH", path, item, "application/apply-patch+yaml")


def without(resource, *verbs):
    """The manifests without these verbs on that resource."""
    changed = copy.deepcopy(manifests())
    (role,) = [item for item in changed if item["kind"] == "ClusterRole"]
    rules = []
    for rule in role["rules"]:
        rest = [name for name in rule["resources"] if name != resource]
        rules.append({**rule, "resources": rest})
        if resource in rule["resources"]:
            rules.append({**rule, "resources": [resource], "verbs": [other for other in rule["verbs"] if other not in verbs]})
    role["rules"] = [rule for rule in rules if rule["resources"] and rule["verbs"]]
    return changed


def renamed(objects, name):
    """The same for an account of another name."""
    changed = copy.deepcopy(objects)
    for item in changed:
        item["metadata"]["name"] = name
        for reference in (item.get("roleRef"), *item.get("subjects", [])):
            if reference:
                reference["name"] = name
    return changed


def attributes_of(rule, namespace):
    """Attributes of a SubjectAccessReview that the first item of a rule allows."""
    if "nonResourceURLs" in rule:
        return {"nonResourceAttributes": {"verb": rule["verbs"][0], "path": rule["nonResourceURLs"][0]}}
    resource, _, part = rule["resources"][0].partition("/")
    asked = {"verb": rule["verbs"][0], "group": rule["apiGroups"][0], "resource": resource, "subresource": part, "namespace": namespace}
    return {"resourceAttributes": {**asked, "name": rule.get("resourceNames", [""])[0]}}


def spec_of(subject):
    """The subject of a SubjectAccessReview."""
    if subject["kind"] == "ServiceAccount":
        return {"user": f"system:serviceaccount:{subject['namespace']}:{subject['name']}"}
    return {"user": "somebody", "groups": [subject["name"]]} if subject["kind"] == "Group" else {"user": subject["name"]}


def wait_until_may(api, subject, attributes, may=True):
    """The API server's authorizer sees roles and bindings by watch, a moment after they are written."""
    review = {"spec": {**spec_of(subject), **attributes}}
    wait_until(lambda: api.create(REVIEWS, review)["status"].get("allowed", False) == may, lambda: f"{may}: {review}")


def wait_until_given(api, binding):
    """Waits until the subjects of a RoleBinding or ClusterRoleBinding have its role."""
    namespace, role = binding["metadata"].get("namespace", ""), binding["roleRef"]
    scope = f"namespaces/{namespace}/roles" if role["kind"] == "Role" else "clusterroles"
    rule = api.get(f"/apis/rbac.authorization.k8s.io/v1/{scope}/{role['name']}")["rules"][0]
    for subject in binding["subjects"]:
        wait_until_may(api, subject, attributes_of(rule, namespace))


class Token:
    """A token of an account from TokenRequest. more: of the request."""

    def __init__(self, api, account, namespace=NAMESPACE, **more):
        self.api = api
        secrets = f"/api/v1/namespaces/{namespace}/secrets"
        secret = api.create(secrets, {"metadata": {"generateName": f"{account}-"}})["metadata"]
        self.secret = f"{secrets}/{secret['name']}"
        bound = {"apiVersion": "v1", "kind": "Secret", "name": secret["name"], "uid": secret["uid"]}
        request = {"spec": {"expirationSeconds": SHORTEST_S, "boundObjectRef": bound, **more}}
        path = f"/api/v1/namespaces/{namespace}/serviceaccounts/{account}/token"
        self.text = api.create(path, request)["status"]["token"]

    def claims(self):
        middle = self.text.split(".")[1]
        return json.loads(base64.urlsafe_b64decode(middle + "=" * (-len(middle) % 4)))

    def make_void(self):
        """Revokes the token; the API server's cache of it expires within 10 s."""
        self.api.ask("DELETE", self.secret)


class Identity:
    """An account as our service sees it: a kubeconfig, and a token file that is swapped like the kubelet's."""

    def __init__(self, plane, name, objects=None):
        self.plane, self.name = plane, name
        (account,) = [item for item in objects or manifests() if item["kind"] == "ServiceAccount"]
        apply(plane.api, objects or manifests())
        self.account = account["metadata"]["name"]
        self.token_file = plane.path(f"token-{name}")
        self.n_tokens = 0
        self.token = Token(plane.api, self.account)
        self.hand_out(self.token)

    def hand_out(self, token):
        """Makes the token file, a link, point to this token."""
        self.token = token
        self.n_tokens += 1
        target = self.plane.write(f"token-{self.name}-{self.n_tokens}", token.text + "\n")
        os.symlink(target, self.token_file + ".new")
        os.replace(self.token_file + ".new", self.token_file)

    def kubeconfig(self, port=None):
        """port: of the API server's proxy, if any."""
        return self.plane.write_kubeconfig(f"kubeconfig-{self.name}", {"tokenFile": self.token_file}, port or self.plane.port)

    def may_ask(self, token):
        """Whether the API server still accepts the token."""
        status = self.plane.api.with_token(token.text).status_of("GET", "/api/v1/nodes?limit=1")
        assert status in (200, 401), f"{HOST}: {status}"
        return status == 200
