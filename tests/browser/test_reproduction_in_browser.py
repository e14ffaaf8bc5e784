"""The page of the paper's experiments, in a real browser."""

from __future__ import annotations

import sys
from functools import cache
from pathlib import Path

import pytest
from visits import LOOKS, PHONE, barriers, overhanging, tab_stops

from reproduction import EXPERIMENTS
from reproduction import page as pages

sys.path.append(str(Path(__file__).parents[1] / "reproduction"))
import made_up

sys.path.append(str(Path(__file__).parents[1] / "reproduction"))

SHOWN = Path(__file__).parents[2] / "docs" / "reproduction" / "index.html"


@cache
def made(n_experiments: int = 1, text: str = "") -> str:
    """A page of made-up numbers."""
    return pages.render(made_up.summary(n_experiments, text=text))


def test_the_page_that_is_shown(visit):
    """All is there at once, without a script; the large page is no wider than a phone."""
    page = visit(SHOWN, width=PHONE, javascript=False)
    assert page.locator("section.experiment").count() == len(EXPERIMENTS)
    assert not page.locator("#filter").is_visible()
    assert overhanging(page) == []


def test_the_structure_of_the_page_that_is_shown(visit):
    """Contrast takes long on so many cells, and is checked on a shorter page."""
    assert barriers(visit(SHOWN), without=("color-contrast",)) == []


@pytest.mark.parametrize(("scheme", "width"), LOOKS)
def test_no_barriers(visit, scheme, width):
    page = visit(made(), scheme=scheme, width=width)
    assert overhanging(page) == []
    assert barriers(page) == []


def test_only_one_verdict_if_asked_for(visit):
    page = visit(made())
    rows = page.locator(".claims tbody tr")
    everything = rows.count()
    for verdict in ("differs", "undecided"):
        button = page.locator(f"#filter button[value={verdict}]")
        button.click()
        assert button.get_attribute("aria-pressed") == "true"
        shown = page.locator(".claims tbody tr:visible")
        assert 0 < shown.count() < everything
        assert {row.get_attribute("data-verdict") for row in shown.all()} == {verdict}
    page.locator("#filter button[value=all]").click()
    assert page.locator(".claims tbody tr:visible").count() == everything


def test_a_link_to_what_is_hidden_shows_it(visit):
    page = visit(made())
    page.locator("#filter button[value=undecided]").click()
    link = page.locator(".differing a").first
    target = page.locator(link.get_attribute("href"))
    assert not target.is_visible()
    link.click()
    assert target.is_visible()


def test_keys_reach_links_buttons_and_what_scrolls(visit):
    page = visit(made())
    stops = tab_stops(page)
    reachable = "a[href], button:enabled, summary, [tabindex='0']"
    wanted = page.locator(reachable).filter(visible=True)
    assert len(stops) == wanted.count()
    button = page.locator("#filter button[value=differs]")
    button.focus()
    page.keyboard.press("Enter")
    assert button.get_attribute("aria-pressed") == "true"


def test_hostile_names_stay_text(visit):
    page = visit(made(text=made_up.HOSTILE))
    assert page.locator("img, iframe, object, embed").count() == 0
    assert page.locator("script").count() == 1
    assert "<img src=x onerror=alert(1)>" in page.locator("h1").inner_text()
