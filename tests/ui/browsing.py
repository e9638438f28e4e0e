"""Pages of a real browser, Chromium, driven by playwright.

Whatever a test does, the browser may load only the service's own addresses, and may report no error: Pages.check() looks at the end.
"""

import glob
import os
import sys

from service import ROOT

sys.path.extend(glob.glob(os.path.join(ROOT, ".cache/venv-ui/lib/python3*/site-packages")))

SHOTS = os.path.join(ROOT, "build/ui")
WAIT_MS = 300000  # of every wait; reached only on a failure


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
    """Node -> how many of its cells show each state, of the nodes in sight."""
    return page.evaluate(
        """() => Object.fromEntries([...document.querySelectorAll(".lines .node")].map(node => {
            const counts = {};
            for (const cell of node.querySelectorAll(".cell")) {
                const state = cell.classList[1];
                counts[state] = (counts[state] ?? 0) + 1;
            }
            return [node.title, counts];
        }))"""
    )


def tried(page, manifest):
    page.get_by_role("tab", name="Try").click()
    page.locator("#manifest").fill(manifest)
    page.get_by_role("button", name="Try it").click()
    page.wait_for_selector("article")


class Pages:
    """Pages of one test. expected: texts of console errors that the test causes on purpose."""

    def __init__(self, browser):
        self.browser, self.contexts, self.faults, self.expected = browser, [], [], []

    def open(self, service, fragment="", wait=".node", before=None, scheme="http", **options):
        """before(page): called before the page is loaded. wait: what must be there."""
        context = self.browser.new_context(viewport={"width": 1300, "height": 1000}, **options)
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
