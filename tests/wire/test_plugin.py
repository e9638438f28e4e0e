"""The service with a user's credential plugin and a proxy in its kubeconfig, and no API server that answers.

The plugin's output and the proxy's password are secrets: neither may appear in the log or in an answer.
"""

import json
import sys

import pytest

SECRET = "s3cr3t"
# Runs a program with SIGCHLD ignored, as some supervisors do.
WITHOUT_SIGCHLD = (
    sys.executable,
    "-c",
    "import os, signal, sys; signal.signal(signal.SIGCHLD, signal.SIG_IGN); os.execv(sys.argv[1], sys.argv[1:])",
)
CREDENTIAL = {
    "kind": "ExecCredential",
    "apiVersion": "client.authentication.k8s.io/v1",
    "status": {"token": SECRET},
}


@pytest.fixture
def start_with_plugin(start_service, write):
    """start_with_plugin(cluster's field="value", ..., under=command, env=variables) -> a Service that is nobody without its plugin."""

    def start(under=(), env=None, **cluster):
        plugin = write("plugin", f"#!/bin/sh\necho '{json.dumps(CREDENTIAL)}'\n")
        plugin.chmod(0o700)
        command = {"apiVersion": CREDENTIAL["apiVersion"], "command": str(plugin), "interactiveMode": "Never"}
        whole = {
            "current-context": "test",
            "contexts": [{"name": "test", "context": {"cluster": "test", "user": "test"}}],
            "clusters": [{"name": "test", "cluster": {"server": "https://127.0.0.1:1", **cluster}}],
            "users": [{"name": "test", "user": {"exec": command}}],
        }
        return start_service("--kubeconfig", write("kubeconfig", json.dumps(whole)), ready=False, under=under, env=env)

    return start


def said(service):
    """All log lines about the first failure."""
    service.log.wait_for({"mod": "inventory", "level": "warn", "kind": "nodes"})
    return service.log.text() + service.get("/readyz").text + service.get("/v1/inventory").text + service.get("/metrics").text


def test_the_plugins_answer_is_not_logged(start_with_plugin):
    assert SECRET not in said(start_with_plugin())


@pytest.mark.parametrize("scheme", ["http", "socks5"])
@pytest.mark.parametrize("host", ["127.0.0.1:1", "nowhere.invalid:3128"])
def test_the_proxys_password_is_not_logged(start_with_plugin, scheme, host):
    assert SECRET not in said(start_with_plugin(**{"proxy-url": f"{scheme}://user:{SECRET}@{host}"}))


# libcurl quotes an address that it can make nothing of; nothing is sent anywhere.
def test_the_environments_proxy_password_is_not_logged(start_with_plugin):
    proxy = {"https_proxy": f"http://user:{SECRET}@[1.2.3.4]:3128", "no_proxy": ""}
    words = said(start_with_plugin(env=proxy, server="https://192.0.2.1:6443"))
    assert "proxy" in words and SECRET not in words


def test_a_plugins_exit_is_seen_if_the_parent_ignores_sigchld(start_with_plugin):
    service = start_with_plugin(under=WITHOUT_SIGCHLD)
    assert service.log.wait_for({"msg": "following an API server"})
