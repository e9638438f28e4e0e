"""Access of users, decided by the real API server: ServiceAccount tokens from TokenRequest, and the ClusterRoles of
manifests/base/viewers.yaml. Our service sends reviews with the rights of manifests/base/replica-rbac.yaml."""

import base64
import json
import os
import subprocess

import pytest
import yaml
from api import wait_until
from cluster import MANIFESTS
from guarded import DRY_RUN, GuardedService
from identity import NAMESPACE, PATHS, Identity, Token, apply, wait_until_given

CACHE_S = 1
READS = ("/v1/inventory", "/v1/pending", "/v1/quota", "/v1/snapshot")
ASKING = "gpu-extender-authentication"


def shipped(file):
    """{name: ClusterRole} of a file of manifests/base."""
    with open(os.path.join(MANIFESTS, "base", file), encoding="utf-8") as stream:
        return {item["metadata"]["name"]: item for item in yaml.safe_load_all(stream) if item["kind"] == "ClusterRole"}


def binding(name, role, subject):
    reference = {"apiGroup": "rbac.authorization.k8s.io", "kind": "ClusterRole", "name": role}
    head = {"apiVersion": "rbac.authorization.k8s.io/v1", "kind": "ClusterRoleBinding", "metadata": {"name": name}}
    return {**head, "roleRef": reference, "subjects": [subject]}


def account(name):
    return {"kind": "ServiceAccount", "name": name, "namespace": NAMESPACE}


@pytest.fixture
def roles(plane, name):
    """roles(role, subject) -> a function that removes the role. All are removed in the end."""
    taken = []

    def give(role, subject):
        item = binding(f"{name}-{len(taken)}", role, subject)
        path = f"{PATHS['ClusterRoleBinding']}/{item['metadata']['name']}"
        apply(plane.api, [item])
        wait_until_given(plane.api, item)
        taken.append(lambda: plane.api.ask("DELETE", path))
        return taken[-1]

    apply(plane.api, [*shipped("viewers.yaml").values(), shipped("replica-rbac.yaml")[ASKING]])
    yield give
    for take in taken:
        if plane.api.status_of("GET", PATHS["ClusterRoleBinding"]) == 200:
            try:
                take()
            except AssertionError:
                pass  # the test removed it


@pytest.fixture
def person(plane, name):
    """person("jane") -> a ServiceAccount of that name without rights."""

    def make(who):
        full = f"{name}-{who}"
        plane.api.create(f"/api/v1/namespaces/{NAMESPACE}/serviceaccounts", {"metadata": {"name": full}})
        return full

    return make


@pytest.fixture
def start(plane, name, tmp_path):
    """start() -> our service with TLS."""
    identity = Identity(plane, name)
    started = []

    def begin():
        started.append(GuardedService(tmp_path, "--kubeconfig", identity.kubeconfig(), cacheSeconds=CACHE_S))
        return started[-1]

    yield begin
    for service in started:
        service.stop()


@pytest.fixture
def guarded(start, roles):
    roles(ASKING, account("gpu-extender"))
    return start()


def may(service, token, path, method="GET"):
    return service.visit(token.text, path, method, DRY_RUN if method == "POST" else None).status


def test_shipped_roles_grant_their_rights(plane, guarded, roles, person):
    people = {role: person(role) for role in ("gpu-extender-viewer", "gpu-extender-metrics")}
    for role, who in people.items():
        roles(role, account(who))
    viewer, prometheus = (Token(plane.api, who) for who in people.values())
    outsider = Token(plane.api, person("outsider"))
    for path in READS:
        assert [may(guarded, who, path) for who in (viewer, prometheus, outsider)] == [200, 403, 403], path
    assert [may(guarded, who, "/v1/dry-run", "POST") for who in (viewer, prometheus, outsider)] == [200, 403, 403]
    assert [may(guarded, who, "/v1/inventory", "HEAD") for who in (viewer, prometheus, outsider)] == [200, 403, 403]
    assert [may(guarded, who, "/metrics") for who in (viewer, prometheus, outsider)] == [403, 200, 403]
    said = guarded.visit(outsider.text).json()["error"]
    name = f"system:serviceaccount:{NAMESPACE}:{outsider.claims()['kubernetes.io']['serviceaccount']['name']}"
    assert said == f'forbidden: User "{name}" cannot get path "/v1/inventory"'


def test_a_role_of_a_group_counts(plane, guarded, roles, person):
    """The user's groups from the token are passed on."""
    who = Token(plane.api, person("one-of-many"))
    assert may(guarded, who, "/v1/quota") == 403
    group = {"apiGroup": "rbac.authorization.k8s.io", "kind": "Group", "name": f"system:serviceaccounts:{NAMESPACE}"}
    roles("gpu-extender-viewer", group)
    wait_until(lambda: may(guarded, who, "/v1/quota") == 200, lambda: "the group's role does not count")


def test_revoked_right_ends_soon(plane, guarded, roles, person):
    who = person("leaver")
    take = roles("gpu-extender-viewer", account(who))
    token = Token(plane.api, who)
    wait_until(lambda: may(guarded, token, "/v1/quota") == 200, lambda: "the role does not count")
    take()
    wait_until(lambda: may(guarded, token, "/v1/quota") == 403, lambda: "the role still counts")


def part(value):
    return base64.urlsafe_b64encode(json.dumps(value).encode()).rstrip(b"=").decode()


def signed(plane, claims):
    """A token signed with the API server's own key."""
    text = f"{part({'alg': 'RS256'})}.{part(claims)}"
    command = ["openssl", "dgst", "-sha256", "-sign", plane.path("service-account.key")]
    signature = subprocess.run(command, input=text.encode(), check=True, capture_output=True).stdout
    return f"{text}.{base64.urlsafe_b64encode(signature).rstrip(b'=').decode()}"


def test_invalid_tokens_are_rejected(plane, guarded, roles, person):
    who = person("somebody")
    roles("gpu-extender-viewer", account(who))
    good = Token(plane.api, who)
    claims = good.claims()
    hour_ago = {**claims, **{key: claims[key] - 3600 for key in ("exp", "iat", "nbf")}}
    assert guarded.visit(good.text).status == 200
    assert guarded.visit(signed(plane, claims)).status == 200, "so what is signed here is a token but for what is wrong with it"
    nobodys = {
        "none": None,
        "garbage": "garbage",
        "over": signed(plane, hour_ago),
        "for others": Token(plane.api, who, audiences=["others"]).text,
        "badly signed": good.text[:-8] + "AAAAAAAA",
    }
    for what, text in nobodys.items():
        answer = guarded.visit(text)
        assert (answer.status, answer.headers["www-authenticate"]) == (401, "Bearer"), what
    good.make_void()
    wait_until(lambda: guarded.visit(good.text).status == 401, lambda: "a token that is void is still taken")
    for text in (good.text, *filter(None, nobodys.values())):
        assert text not in guarded.log.text()


def test_no_user_is_admitted_without_review_rights(plane, start, person):
    """No user is admitted, and the log gives the cause."""
    service = start()
    token = Token(plane.api, person("somebody")).text
    wait_until(lambda: service.visit(token).status == 503, lambda: "the right that another test had is still there")
    line = service.log.wait_for({"mod": "auth", "level": "warn", "review": "TokenReview"})
    assert line["err"].startswith("403: ")
    assert service.get("/v1/inventory").status == 200, "a certificate needs no review"
