"""Revoked client certificates, by the CRL of the policy: tls.clientCRLFile."""

import json
import os
import re
import time

import pytest
from certificates import Authority
from secured import FILTER, HEAD, Secured, ask_on, judged, refused


def metrics_of(secured):
    text = secured.ask(secured.authority.client("op"), "GET", "/metrics").text
    return dict(re.findall(r"^(gpu_extender_tls\S*) (\S+)$", text, re.MULTILINE))


REVOKED = "the client certificate, or one above it, has been revoked"


def put_list(secured, path):
    """Replaces the policy's CRL like a mounted file; returns when the service has read it."""
    seen = len(secured.service.log.lines)
    os.replace(path, secured.folder / "list.pem")
    return secured.service.log.wait_for({"mod": "tls"}, after=seen)


@pytest.fixture
def listed(tmp_path, start_service):
    """A service with an empty list."""
    os.replace(Authority(tmp_path / "ca").revoke(), tmp_path / "list.pem")
    return Secured(tmp_path, start_service, clientCRLFile=str(tmp_path / "list.pem"), peopleClients={"names": ["op"]})


def test_a_revoked_certificate_is_rejected_at_its_next_request(listed):
    """It is rejected on an open connection, too; other certificates are not."""
    other = listed.authority.client("other")
    with listed.connection(listed.client) as connection, listed.connection(other) as kept:
        judged(ask_on(connection, "POST", "/scheduler/filter", FILTER))
        judged(ask_on(kept, "POST", "/scheduler/filter", FILTER))
        assert put_list(listed, listed.authority.revoke(listed.client[0]))["level"] == "info"
        refused(ask_on(connection, "POST", "/scheduler/filter", FILTER), REVOKED)
        judged(ask_on(kept, "POST", "/scheduler/filter", FILTER))
    refused(listed.verb(listed.client), REVOKED)
    judged(listed.verb(other))


def test_a_revoked_operator_certificate_is_rejected(listed):
    operator = listed.authority.client("op")
    assert listed.ask(operator, "GET", "/v1/inventory").status == 200
    put_list(listed, listed.authority.revoke(operator[0]))
    answer = listed.ask(operator, "GET", "/v1/inventory")
    assert answer.status == 401 and REVOKED in answer.json()["error"]


def test_an_invalid_list_leaves_the_old_in_force(listed, tmp_path):
    put_list(listed, listed.authority.revoke(listed.client[0]))
    broken, stranger = tmp_path / "broken.pem", Authority(tmp_path / "stranger", "stranger").revoke()
    broken.write_text("-----BEGIN X509 CRL-----\nnone\n-----END X509 CRL-----\n", encoding="utf-8")
    for path, fault in ((broken, "in PEM that can be read"), (stranger, "is issued by none of the authorities in tls.clientCAFile")):
        line = put_list(listed, path)
        assert line["level"] == "warn" and fault in line["err"]
        refused(listed.verb(listed.client), REVOKED)
    assert metrics_of(listed)['gpu_extender_tls_reloads_total{result="refused"}'] == "2"


def test_an_outdated_list_stays_in_force(listed):
    other = listed.authority.client("other")
    line = put_list(listed, listed.authority.revoke(listed.client[0], over=True))
    assert line["level"] == "warn" and "should have been renewed by 2025-01-02T00:00:00Z" in line["err"]
    refused(listed.verb(listed.client), REVOKED)
    judged(listed.verb(other))
    assert float(metrics_of(listed)["gpu_extender_tls_crl_next_update_timestamp_seconds"]) < time.time()


def test_check_validates_the_list(run_binary, write, tmp_path):
    authority = Authority(tmp_path / "ca")
    server = dict(zip(("certificateFile", "privateKeyFile"), map(str, authority.server())))
    files = {**server, "clientCAFile": str(authority.certificate)}

    def said(path, **files):
        policy = write("policy.yaml", json.dumps({**HEAD, "tls": {**files, "clientCRLFile": str(path)}}))
        return run_binary("--check", "--config", policy).stderr

    assert said(authority.revoke(), **files) == ""
    assert "No such file" in said("/nowhere/x.pem", **files)
    assert "holds no list of revoked certificates (CRL) in PEM" in said(write("empty.pem", ""), **files)
    old = authority.revoke(out="old.pem", over=True)
    assert "should have been renewed by 2025-01-02T00:00:00Z" in said(old, **files)
    assert "tls.clientCAFile: is missing" in said(old)
