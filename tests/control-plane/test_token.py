"""A token is revoked while the service runs, and the service reads the new one from the file."""

from api import wait_until
from identity import SHORTEST_S, Token
from live import node_name

MODEL = "NVIDIA-H100-80GB-HBM3"


def swap(cluster):
    """The service's token gets a true 401; only then the file has another."""
    identity = cluster.identity
    old, new = identity.token, Token(cluster.api, identity.account)
    old.make_void()
    wait_until(lambda: not identity.may_ask(old), lambda: "the old token is still taken")
    identity.hand_out(new)


def test_a_token_is_swapped_under_the_running_service(proxied):
    """Twice, within the minute in which a token file is not reread by itself: so the 401 causes the reread."""
    claims = proxied.identity.token.claims()
    assert claims["exp"] - claims["iat"] == SHORTEST_S
    assert claims["sub"] == "system:serviceaccount:kube-system:gpu-extender"
    proxied.add_node("node", MODEL, 8)
    proxied.start()
    for number in range(2):
        proxied.create(f"before-{number}", 1)
        proxied.wait_until_bound(2 * number + 1)
        swap(proxied)
        proxied.create(f"after-{number}", 1)  # its binding first gets a 401
        pods = proxied.wait_until_bound(2 * number + 2)
        proxied.proxy.cut()  # and so do the reopened watches
        proxied.proxy.mend()
        assert not proxied.bound_by_others(pods)
        assert {node_name(item) for item in pods.values()} == {"node"}
    assert proxied.used() == {"node": 4}
