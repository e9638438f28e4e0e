"""A token that becomes void under the running service, which finds the new one in the file."""

from api import wait_until
from identity import SHORTEST_S, Token
from live import node_name

MODEL = "NVIDIA-H100-80GB-HBM3"


def swap(cluster):
    """The token that the service uses gets a true 401; only then the file has another."""
    identity = cluster.identity
    old, new = identity.token, Token(cluster.api, identity.account)
    old.make_void()
    wait_until(lambda: not identity.may_ask(old), lambda: "the old token is still taken")
    identity.hand_out(new)


def test_a_token_is_swapped_under_the_running_service(proxied):
    """Twice: within the minute in which a token file is not read again by itself, so that it is the 401 that makes it read."""
    claims = proxied.identity.token.claims()
    assert claims["exp"] - claims["iat"] == SHORTEST_S
    assert claims["sub"] == "system:serviceaccount:kube-system:gpu-extender"
    proxied.add_node("node", MODEL, 8)
    proxied.start()
    for number in range(2):
        proxied.create(f"before-{number}", 1)
        proxied.wait_until_bound(2 * number + 1)
        swap(proxied)
        proxied.create(f"after-{number}", 1)  # its binding is refused with 401 first
        pods = proxied.wait_until_bound(2 * number + 2)
        proxied.proxy.cut()  # and so are the watches that are opened anew
        proxied.proxy.mend()
        assert not proxied.bound_by_others(pods)
        assert {node_name(item) for item in pods.values()} == {"node"}
    assert proxied.used() == {"node": 4}
