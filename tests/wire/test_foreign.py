"""Web pages: a browser on the same machine reaches the loopback address for every page that it shows."""

import json

import pytest
from objects import list_text, node
from raw import Raw
from secured import FILTER, Secured, judged

PATHS = [("POST", "/scheduler/filter"), ("POST", "/scheduler/bind"), ("POST", "/v1/dry-run"), ("GET", "/v1/inventory"), ("GET", "/metrics")]
VERBS = PATHS[:2]
OTHERS = PATHS[2:]
PAGE = "https://page.example"
HEAD = "apiVersion: gpu-extender.io/v1alpha1\nkind: SchedulerPolicy\n"


def asked(address, method, path, host, *headers):
    """(status, headers, body) of a request with this Host."""
    lines = [f"{method} {path} HTTP/1.1", f"Host: {host}", "Content-Length: 2", *headers]
    with Raw(address) as raw:
        raw.send("\r\n".join(lines).encode() + b"\r\n\r\n{}")
        return raw.answer()


@pytest.mark.parametrize(("method", "path"), PATHS)
@pytest.mark.parametrize(
    "host",
    ["page.example", "page.example:8888", "127.0.0.1.page.example", "localhost.page.example", "notlocalhost", "localhost.", "", "[::1].page.example"],
)
def test_names_of_others_are_rejected_on_loopback(service, method, path, host):
    """The name of a page's own server may resolve to the loopback address by now."""
    status, _, body = asked(service.address, method, path, host)
    assert status == 403 and b"Host" in body, body


@pytest.mark.parametrize("host", ["localhost", "LOCALHOST:8888", "gpu.localhost", "127.0.0.1:1", "[::1]", "[::1]:8888", "10.0.0.1"])
def test_local_names_and_addresses_are_answered(service, host):
    assert asked(service.address, "GET", "/v1/inventory", host)[0] == 200


@pytest.mark.parametrize(("method", "path"), VERBS)
@pytest.mark.parametrize("origin", [PAGE, "null", "", "http://localhost"])
def test_verbs_accept_no_origin(service, method, path, origin):
    status, _, body = asked(service.address, method, path, "localhost", f"Origin: {origin}")
    assert status == 403 and b"Origin" in body, body


def test_only_rejected_verbs_are_logged_and_safely(start_over):
    """GpuExtenderCallersRefused counts verbs, and its runbook reads why in the log."""
    service = start_over(node("n"))
    hostile = "page.example\x1b[2J\x9b\u202e" + "x" * 3000
    assert asked(service.address, "GET", "/v1/inventory", hostile)[0] == 403
    assert asked(service.address, "POST", "/scheduler/filter", hostile)[0] == 403
    line = service.log.wait_for({"mod": "gates"})
    assert (line["level"], line["path"]) == ("warn", "/scheduler/filter") and "the Host must be" in line["why"]
    assert line["host"].startswith("page.example") and len(line["host"]) < 1100
    (text,) = [each for each in service.log.lines if "mod=gates" in each]
    assert text.strip().isprintable(), ascii(text)


@pytest.mark.parametrize(("method", "path"), OTHERS)
@pytest.mark.parametrize("origin", [PAGE, "null", "https://localhost:8888", "http://localhost", "http://localhost:88888"])
def test_foreign_origins_are_rejected(service, method, path, origin):
    status, _, body = asked(service.address, method, path, "localhost:8888", f"Origin: {origin}")
    assert status == 403 and b"Origin" in body, body


@pytest.mark.parametrize(("method", "path"), OTHERS)
def test_the_own_origin_is_answered(service, method, path):
    assert asked(service.address, method, path, "localhost:8888", "Origin: http://localhost:8888")[0] != 403


@pytest.mark.parametrize(("method", "path"), PATHS)
@pytest.mark.parametrize("site", ["cross-site", "same-site", "", "Same-Origin"])
def test_requests_of_other_sites_without_an_origin_are_rejected(service, method, path, site):
    """A script, an image or a frame of another page: the browser sends no Origin with them."""
    status, _, body = asked(service.address, method, path, "localhost:8888", f"Sec-Fetch-Site: {site}", "Sec-Fetch-Mode: no-cors", "Sec-Fetch-Dest: script")
    assert status == 403 and b"Sec-Fetch-Site" in body, body


@pytest.mark.parametrize(
    ("site", "mode", "dest", "status"),
    [
        ("same-origin", "cors", "empty", 200),
        ("none", "navigate", "document", 200),
        ("cross-site", "navigate", "document", 200),
        ("cross-site", "navigate", "iframe", 403),
        ("cross-site", "no-cors", "document", 403),
    ],
)
def test_own_requests_and_links_are_answered(service, site, mode, dest, status):
    fetch = [f"Sec-Fetch-Site: {site}", f"Sec-Fetch-Mode: {mode}", f"Sec-Fetch-Dest: {dest}"]
    assert asked(service.address, "GET", "/v1/inventory", "localhost:8888", *fetch)[0] == status


@pytest.mark.parametrize("host", ["localhost", "page.example"])
@pytest.mark.parametrize(("method", "path"), PATHS)
def test_no_other_site_can_use_an_answer(service, method, path, host):
    _, headers, _ = asked(service.address, method, path, host)
    assert headers["x-content-type-options"] == "nosniff" and headers["cross-origin-resource-policy"] == "same-origin"


def test_an_answer_admits_no_page(service):
    """A browser asks first, by OPTIONS, and shows a page no answer without Access-Control-Allow-Origin."""
    asks = ["Origin: https://page.example", "Access-Control-Request-Method: POST"]
    for method, path in PATHS:
        for sent in ("OPTIONS", method):
            status, headers, _ = asked(service.address, sent, path, "localhost", *asks)
            assert status in (403, 405) and not [name for name in headers if name.startswith("access-control")]


def test_beyond_loopback_any_host_is_answered(start_service, write):
    """A Service's name, for example. Origins are judged nevertheless."""
    listen = 'listen: {verbs: "0.0.0.0:0", people: "0.0.0.0:0", insecureVerbs: true, insecurePeople: true}'
    policy = write("policy.yaml", f"{HEAD}{listen}\n")
    service = start_service("--config", policy, "--cluster-file", write("cluster.json", list_text(node("n"))), listen=None)
    address = service.addresses["people"].replace("0.0.0.0", "127.0.0.1")
    assert asked(address, "GET", "/v1/inventory", "gpu-extender.example")[0] == 200
    for method, path in PATHS:
        assert asked(address, method, path, "gpu-extender.example", f"Origin: {PAGE}")[0] == 403


def test_verbs_accept_no_origin_with_tls(tmp_path, start_service):
    """A browser may have the certificate."""
    secured = Secured(tmp_path, start_service)
    judged(secured.verb(secured.client))
    with secured.connection(secured.client) as connection:
        connection.request("POST", "/scheduler/filter", json.dumps(FILTER), {"Origin": "https://localhost"})
        assert connection.getresponse().status == 403
    line = secured.service.log.wait_for({"mod": "gates"})
    assert (line["common_name"], line["origin"]) == ("kube-scheduler", "https://localhost") and "Origin" in line["why"]
