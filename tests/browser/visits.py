"""Opening pages in a browser, and what can be asked there."""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from playwright.sync_api import Browser, BrowserContext, Dialog, Page, Route

DESKTOP, PHONE = 1280, 360

#: Both appearances and both widths, each once: no style depends on both, and contrast takes long.
LOOKS = [("light", PHONE), ("dark", DESKTOP)]

STOP = """() => {
  const element = document.activeElement;
  if (element === document.body) return null;
  const place = [...document.querySelectorAll("*")].indexOf(element);
  const isField = ["input", "select"].includes(element.localName);
  const text = isField ? "" : element.textContent.trim().replace(/\\s+/g, " ").slice(0, 60);
  const name = element.getAttribute("aria-label") || text || element.id;
  const isMarked = getComputedStyle(element).outlineStyle !== "none";
  return [place, `${element.localName} ${name}${isMarked ? "" : " (unseen)"}`];
}"""

OVERHANGING = """() => {
  const page = document.scrollingElement;
  if (page.scrollWidth <= page.clientWidth) return [];
  const beyond = [...document.body.querySelectorAll("*")]
    .filter((element) => element.getBoundingClientRect().right > page.clientWidth + 0.5)
    .map((element) => element.outerHTML.slice(0, 80));
  return beyond.length ? beyond : [`${page.scrollWidth} pixels on ${page.clientWidth}`];
}"""

BROKEN = """(nodes) => nodes.flatMap((node) => {
  const found = [];
  const texts = document.createTreeWalker(node, NodeFilter.SHOW_TEXT);
  const range = document.createRange();
  while (texts.nextNode()) {
    for (const word of texts.currentNode.data.matchAll(/\\S+/g)) {
      range.setStart(texts.currentNode, word.index);
      range.setEnd(texts.currentNode, word.index + word[0].length);
      const lines = new Set([...range.getClientRects()].map((box) => Math.round(box.top)));
      if (lines.size > 1) found.push(word[0]);
    }
  }
  return found;
})"""


@dataclass
class Visitor:
    """Opens pages one after the other, each in a fresh window, and notes what they do unasked."""

    browser: Browser
    folder: Path
    complaints: list[str] = field(default_factory=list)
    requests: list[str] = field(default_factory=list)
    dialogs: list[str] = field(default_factory=list)
    windows: list[BrowserContext] = field(default_factory=list)

    def __call__(
        self,
        content: str | Path,
        *,
        scheme: str = "light",
        width: int = DESKTOP,
        javascript: bool = True,
    ) -> Page:
        """Open a file, or markup that is put into one."""
        path = content
        if isinstance(content, str):
            path = self.folder / f"page{len(self.windows)}.html"
            path.write_text(content, encoding="utf-8")
        address = Path(path).resolve().as_uri()
        window = self.browser.new_context(
            viewport={"width": width, "height": 800},
            color_scheme=scheme,
            java_script_enabled=javascript,
        )
        self.windows.append(window)
        page = window.new_page()
        self._watch(page, address)
        page.goto(address)
        return page

    def leave(self) -> None:
        """Close all windows."""
        for window in self.windows:
            window.close()

    def _watch(self, page: Page, address: str) -> None:
        def pass_on(route: Route) -> None:
            if route.request.url.partition("#")[0] == address:
                route.continue_()
            else:
                self.requests.append(route.request.url)
                route.abort()

        def dismiss(dialog: Dialog) -> None:
            self.dialogs.append(dialog.message)
            dialog.dismiss()

        def hear(message: Any) -> None:
            if message.type in ("warning", "error"):
                self.complaints.append(f"{message.type}: {message.text}")

        page.route("**/*", pass_on)
        page.on("dialog", dismiss)
        page.on("console", hear)
        page.on("pageerror", lambda error: self.complaints.append(str(error)))
        page.on("requestfailed", lambda request: self.complaints.append(f"failed: {request.url}"))


def barriers(page: Page) -> list[str]:
    """Return what axe-core finds that is serious or critical, one line for each rule."""
    from axe_playwright_python.base import AXE_SCRIPT

    page.evaluate(AXE_SCRIPT)
    found = page.evaluate("axe.run(document, {resultTypes: ['violations']})")
    return [
        f"{rule['id']} ({rule['impact']}): {len(rule['nodes'])} times, {rule['nodes'][0]['html']}"
        for rule in found["violations"]
        if rule["impact"] in ("serious", "critical")
    ]


def tab_stops(page: Page, *, until: str = "", at_most: int = 500) -> list[str]:
    """Return what Tab leads to, to the end of the page or to the stop that is named.

    Each is named by its element and label; "(unseen)" follows where the focus does not show.
    """
    stops: list[str] = []
    seen = set()
    for _ in range(at_most):
        page.keyboard.press("Tab")
        stop = page.evaluate(STOP)
        if stop is None or stop[0] in seen:
            assert not until, f"Tab does not lead to {until}, but to {stops}"
            return stops
        seen.add(stop[0])
        stops.append(stop[1])
        if stops[-1] == until:
            return stops
    raise AssertionError(f"Tab still finds something new after {at_most} times")


def overhanging(page: Page) -> list[str]:
    """Return what makes the page wider than the window."""
    return page.evaluate(OVERHANGING)


def broken_words(page: Page, selector: str) -> list[str]:
    """Return the words within some elements that go over the end of a line."""
    return page.locator(selector).evaluate_all(BROKEN)


def background(page: Page) -> tuple[int, ...]:
    """Return red, green and blue of the ground of the page, 0 to 255."""
    colour = page.evaluate("getComputedStyle(document.body).backgroundColor")
    return tuple(int(value) for value in re.findall(r"\d+", colour)[:3])
