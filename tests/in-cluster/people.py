"""Accounts of users, with or without the right to read from our service."""

from identity import wait_until_given

NAMESPACE = "/api/v1/namespaces/default/serviceaccounts"
BINDINGS = "/apis/rbac.authorization.k8s.io/v1/clusterrolebindings"


def token(api, name, *roles):
    """A token of a new ServiceAccount with these ClusterRoles."""
    api.create(NAMESPACE, {"metadata": {"name": name}})
    subject = {"kind": "ServiceAccount", "name": name, "namespace": "default"}
    for role in roles:
        reference = {"apiGroup": "rbac.authorization.k8s.io", "kind": "ClusterRole", "name": role}
        binding = {"metadata": {"name": f"{name}-{role}"}, "roleRef": reference, "subjects": [subject]}
        api.create(BINDINGS, binding)
        wait_until_given(api, binding)
    return api.create(f"{NAMESPACE}/{name}/token", {"spec": {}})["status"]["token"]
