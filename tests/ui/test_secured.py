"""The page over TLS, for users with a token that a live API server reviews, and without."""

import functools

import pytest
from browsing import shot
from fake_api import FakeApi
from guarded import GuardedFollower
from objects import fill
from service import stopping

TOKEN = "reader-t0ken.abc"
JANE = {"username": "jane", "uid": "u-1", "groups": ["ops"], "extra": {}}
PATHS = ("inventory", "fragmentation", "policy", "pending", "quota", "decisions", "explain")


@pytest.fixture
def api():
    with FakeApi() as running:
        fill(running.store)
        running.people[TOKEN] = JANE
        running.rights |= {("jane", "get", f"/v1/{path}") for path in PATHS}
        yield running


@pytest.fixture
def guarded(api, tmp_path):
    with stopping(functools.partial(GuardedFollower, api, tmp_path)) as start:
        yield start(cacheSeconds=1)


def give(page, token):
    page.locator("#token").fill(token)
    page.get_by_role("button", name="Use it").click()


def open_page(pages, service, **more):
    return pages.open(service, wait="#token", scheme="https", ignore_https_errors=True, **more)


def test_a_token_is_asked_for_reviewed_and_not_stored(api, guarded, pages):
    pages.expected.append("401")
    page = open_page(pages, guarded)
    assert page.locator(".tile").count() == 0
    give(page, TOKEN)
    page.wait_for_selector(".tile")
    assert page.locator(".tile").first.get_attribute("data-node") in ("a", "b")
    assert api.faults.count("review token") >= 1
    kept = page.evaluate("JSON.stringify([location.href, document.cookie, {...localStorage}, {...sessionStorage}, document.body.innerHTML])")
    assert TOKEN not in kept
    page.reload()
    page.wait_for_selector("#token")
    assert page.locator(".tile").count() == 0


def test_a_wrong_token_shows_nothing(guarded, pages):
    pages.expected.append("401")
    page = open_page(pages, guarded)
    with page.expect_response(lambda response: "/v1/inventory" in response.url) as answered:
        give(page, "nobodys-t0ken.xyz")
    assert answered.value.status == 401
    assert page.locator("#token").count() == 1 and page.locator(".tile").count() == 0


def test_a_missing_right_is_named(api, guarded, pages):
    pages.expected += ["401", "403"]
    api.rights.clear()
    page = open_page(pages, guarded)
    give(page, TOKEN)
    page.locator(".notice.note", has_text='User "jane" cannot get path "/v1/inventory"').wait_for()
    assert page.locator(".tile").count() == 0
    shot(page, "no-right-live")
