"""Pages of a real browser, Chromium, driven by playwright.

Whatever a test does, the browser may load only the service's own addresses, and may report no error: Pages.check() looks at the end.
"""

import glob
import json
import os
import sys

from service import ROOT

sys.path.extend(glob.glob(os.path.join(ROOT, ".cache/venv-ui/lib/python3*/site-packages")))

from axe_playwright_python.sync_playwright import Axe  # noqa: E402
from playwright.sync_api import expect  # noqa: E402

SHOTS = os.path.join(ROOT, "build/ui")
WAIT_MS = 300000  # of every wait; reached only on a failure
# Page.wait_for_function() is not for tests: what it evaluates again is text to the page, which its policy refuses.
expect.set_options(timeout=WAIT_MS)
DESK = {"width": 1400, "height": 900}
PHONE = {"width": 390, "height": 844}
SCREENS = {"desk": DESK, "phone": PHONE}


def read(path):
    with open(path, encoding="utf-8") as file:
        return file.read()


def shot(page, name):
    page.screenshot(path=os.path.join(SHOTS, f"{name}.png"), full_page=True)


def rows_of(page, caption):
    """The table's rows, as lists of texts."""
    return page.locator("table", has=page.locator("caption", has_text=caption)).locator("tbody tr").evaluate_all(
        "rows => rows.map(row => [...row.cells].map(cell => cell.innerText.trim()))"
    )


def cells_of(page):
    """Node -> how many of its cells show each state, of the nodes that have a tile of their own."""
    return page.evaluate(
        """() => {
            const nodes = {};
            for (const tile of document.querySelectorAll(".tile[data-node]")) {
                const counts = (nodes[tile.dataset.node] ??= {});
                for (const cell of tile.querySelectorAll(".cell")) counts[cell.classList[1]] = (counts[cell.classList[1]] ?? 0) + 1;
            }
            return nodes;
        }"""
    )


def tile(page, node):
    return page.locator(f".tile[data-node={json.dumps(node)}]")


def nodes_of(page, kind):
    """The nodes whose tiles have this class."""
    return set(page.locator(f".tile.{kind}").evaluate_all("tiles => tiles.map(tile => tile.dataset.node)"))


def tried(page, manifest):
    page.locator("#tab-try").click()
    page.locator("#manifest").fill(manifest)
    page.locator("#try-it").click()
    page.wait_for_selector(".answer article")


def assert_no_sideways(page):
    """Nothing of the page is wider than the window, so that it never scrolls sideways."""
    wide = page.evaluate("[document.documentElement.scrollWidth, innerWidth]")
    assert wide[0] <= wide[1], wide


def violations(page):
    results = Axe().run(page)
    assert results.violations_count == 0, results.generate_report()


class Pages:
    """Pages of one test. expected: texts of console errors that the test causes on purpose."""

    def __init__(self, browser):
        self.browser, self.contexts, self.faults, self.expected = browser, [], [], []

    def open(self, service, fragment="", wait=".tile", before=None, scheme="http", viewport=DESK, **options):
        """before(page): called before the page is loaded. wait: what must be there."""
        context = self.browser.new_context(viewport=viewport, **options)
        self.contexts.append(context)
        context.set_default_timeout(WAIT_MS)
        page = context.new_page()
        origin = f"{scheme}://{service.addresses['people']}"
        page.on("console", lambda message: message.type in ("error", "warning") and self.faults.append(message.text))
        page.on("pageerror", lambda error: self.faults.append(str(error)))
        page.on("dialog", lambda dialog: (self.faults.append(f"dialog: {dialog.message}"), dialog.dismiss()))
        page.on("request", lambda request: request.url.startswith(origin + "/") or self.faults.append(f"request: {request.url}"))
        if before:
            before(page)
        page.goto(f"{origin}/ui/{fragment}")
        if wait:
            page.wait_for_selector(wait)
        return page

    def check(self):
        for context in self.contexts:
            context.close()
        unexpected = [fault for fault in self.faults if not any(text in fault for text in self.expected)]
        assert not unexpected, unexpected
