"""The page that kubectl gpu ui serves: a secret instead of a token."""

import json
import os
import subprocess

import pytest
from browsing import shot
from kubectl_gpu import PLUGIN, Ui
from service import SAMPLE_CLUSTER


@pytest.fixture
def ui(sample):
    running = Ui("--url", f"http://{sample.addresses['people']}")
    yield running
    running.stop()


def fragment_of(ui):
    return ui.url.partition("/ui/")[2]


def test_the_secret_shows_the_page_and_leaves_the_address(sample, ui, pages):
    page = pages.open(ui, f"{fragment_of(ui)}&node=h100-1")
    assert ui.secret not in page.url and "node=h100-1" in page.url
    kept = page.evaluate("JSON.stringify([location.href, document.cookie, {...localStorage}, {...sessionStorage}, document.documentElement.outerHTML])")
    assert ui.secret not in kept
    models = sample.get("/v1/inventory").json()["models"]
    assert page.locator(".big").inner_text() == str(sum(model["usable"] for model in models if model["unit"] == "gpu"))
    page.locator("#tab-waiting").click()
    page.get_by_role("button", name="ml-training/big-train-0").click()
    page.get_by_role("button", name="Copy as kubectl gpu").wait_for()
    assert page.get_by_role("button", name="Copy as curl").count() == 0  # curl has no secret
    shot(page, "plugin")


def test_after_a_reload_the_address_is_opened_again(ui, pages):
    pages.expected.append("401")
    page = pages.open(ui, fragment_of(ui))
    page.reload()
    page.get_by_text("open the address that kubectl gpu ui printed").first.wait_for()
    assert page.locator(".tile").count() == 0
    page.evaluate("address => { location.href = address; }", ui.url)
    page.wait_for_selector(".tile")
    assert ui.secret not in page.url


def test_copied_commands_ask_where_the_page_asks(sample, pages, tmp_path, ends):
    """The commands also work in another folder. The cluster file has a name with characters of the shell."""
    os.symlink(SAMPLE_CLUSTER, tmp_path / "it's $(touch x).yaml")
    ui = Ui("--cluster-file", os.path.relpath(tmp_path / "it's $(touch x).yaml"))
    ends.callback(ui.stop)
    page = pages.open(ui, f"{fragment_of(ui)}&view=try&drain=h100-1", wait=".facts", permissions=["clipboard-read", "clipboard-write"])
    page.get_by_role("button", name="Copy as kubectl gpu").click()
    page.get_by_text("Copied.").wait_for()
    command = page.evaluate("navigator.clipboard.readText()").replace("kubectl gpu", PLUGIN, 1) + " -o json"
    (tmp_path / "other").mkdir()
    told = subprocess.run(["sh", "-c", command], capture_output=True, text=True, cwd=tmp_path / "other", check=False)
    asked = {"changes": [{"drain": ["h100-1"]}], "workloads": []}
    assert json.loads(told.stdout)["changes"] == sample.post("/v1/what-if", asked).json()["changes"]
    assert os.listdir(tmp_path / "other") == []
