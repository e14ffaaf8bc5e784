"""The page of the paper's experiments, in a real browser."""

from __future__ import annotations

import json
from functools import cache
from pathlib import Path

import pytest
from visits import LOOKS, PHONE, barriers, overhanging

from reproduction import EXPERIMENTS
from reproduction.page import render_page

FOLDER = Path(__file__).parents[2] / "docs" / "reproduction"


@cache
def small_page() -> str:
    """A page of one experiment, with verdicts of each type."""
    summary = json.loads((FOLDER / "numbers.json").read_text(encoding="utf-8"))
    summary["experiments"] = summary["experiments"][:1]
    summary["experiments"][0]["claims"][0]["verdict"] = "undecided"
    summary["totals"]["claims"]["undecided"] = 1
    return render_page(summary)


def test_the_stored_page(visit):
    """All is shown without a script; the large page is no wider than a phone."""
    page = visit(FOLDER / "index.html", width=PHONE, javascript=False)
    assert page.locator("section.experiment").count() == len(EXPERIMENTS)
    assert not page.locator("#filter").is_visible()
    assert overhanging(page) == []


@pytest.mark.parametrize(("scheme", "width"), LOOKS)
def test_no_barriers(visit, scheme, width):
    page = visit(small_page(), scheme=scheme, width=width)
    assert overhanging(page) == []
    assert barriers(page) == []


def test_the_filter_shows_one_verdict(visit):
    page = visit(small_page())
    everything = page.locator(".claims tbody tr").count()
    for verdict in ("differs", "undecided"):
        button = page.locator(f"#filter button[value={verdict}]")
        button.click()
        assert button.get_attribute("aria-pressed") == "true"
        shown = page.locator(".claims tbody tr:visible")
        assert 0 < shown.count() < everything
        assert {row.get_attribute("data-verdict") for row in shown.all()} == {verdict}
    page.locator("#filter button[value=all]").click()
    assert page.locator(".claims tbody tr:visible").count() == everything
