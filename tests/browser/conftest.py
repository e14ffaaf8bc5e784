"""A real Chromium for the tests in this folder; without one they are skipped, with the reason."""

from __future__ import annotations

import os
import shutil
from collections.abc import Iterator
from typing import TYPE_CHECKING

import pytest
from visits import Visitor

if TYPE_CHECKING:
    from playwright.sync_api import Browser

NAMES = ("chromium", "chromium-browser", "google-chrome")


def chromium() -> str:
    """Return the program named by CHROMIUM, or else the first one found on the path."""
    named = os.environ.get("CHROMIUM")
    program = shutil.which(named) if named else next(filter(None, map(shutil.which, NAMES)), None)
    if named and not program:
        pytest.fail(f"CHROMIUM names no program that can be run: {named}")
    if not program:
        pytest.skip(f"there is no browser ({', '.join(NAMES)}, or CHROMIUM=/path/to/one)")
    return program


def pytest_runtest_setup() -> None:
    """Skip before any fixture does, so that all tests make one line of the summary."""
    pytest.importorskip("playwright", reason="there is no playwright: pip install playwright")
    chromium()


@pytest.fixture(scope="module")
def browser() -> Iterator[Browser]:
    """One browser for a file. It ends with it, as its event loop would bar others from theirs."""
    from playwright.sync_api import sync_playwright

    with sync_playwright() as playwright:
        # The pages are our own, and root cannot have a sandbox.
        browser = playwright.chromium.launch(executable_path=chromium(), chromium_sandbox=False)
        yield browser
        browser.close()


@pytest.fixture
def visit(browser, tmp_path) -> Iterator[Visitor]:
    """Open pages; whatever the test does there, they must not complain, ask for more or pop up."""
    visitor = Visitor(browser, tmp_path)
    yield visitor
    visitor.leave()
    assert visitor.complaints == []
    assert visitor.requests == []
    assert visitor.dialogs == []
