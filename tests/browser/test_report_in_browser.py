"""The report in a browser."""

from __future__ import annotations

import re
from collections import Counter
from functools import cache

import pytest
from visits import (
    DESKTOP,
    LOOKS,
    PHONE,
    background,
    barriers,
    broken_words,
    overhanging,
    tab_stops,
)

from pidselect.report.page import render_report
from pidselect.report.summary import summarise
from report import hostile

pytestmark = pytest.mark.browser

N_PLAIN = 13
ROWS = "#roles tbody tr"


@cache
def evil() -> str:
    """A complete page with hostile names."""
    return render_report(hostile.summary())


@cache
def plain(n_features: int = N_PLAIN, n_selected: int = 3) -> str:
    """A page of features named by number."""
    return render_report(hostile.summary(hostile.plain_names(n_features), n_selected))


def unusual(case: str) -> str:
    """A page on which something is left out."""
    names = hostile.plain_names(5)
    metadata = hostile.metadata(names, is_complete=case != "interrupted")
    nothing = case == "nothing selected"
    selection = hostile.selection(names, 0 if nothing else 3)
    explanation = hostile.explanation(names, 0) if nothing else None
    return render_report(summarise(selection, explanation=explanation, metadata=metadata))


def column(page, place: int) -> list[str]:
    """The values of a column from top to bottom: numbers at full length, or what is read."""
    return page.locator(ROWS).evaluate_all(
        "(rows, place) => rows.map(row => row.cells[place])"
        ".map(cell => cell.dataset.value ?? cell.textContent.trim())",
        place,
    )


def natural(text: str) -> list[tuple[bool, int, str]]:
    """A key by which column 2 comes before column 10."""
    parts = re.findall(r"\d+|\D+", text.lower())
    return [(not part.isdigit(), int(part) if part.isdigit() else 0, part) for part in parts]


def test_every_column_sorts_both_ways(visit):
    page = visit(plain())
    heads = page.locator("#roles thead th")
    sorting = Counter(head.get_attribute("data-sort") for head in heads.all())
    assert sorting == {"number": 9, "text": 3}
    for place, head in enumerate(heads.all()):
        before = column(page, place)
        ways = set()
        for _ in range(2):
            head.get_by_role("button").click()
            way = head.get_attribute("aria-sort")
            ways.add(way)
            found = column(page, place)
            assert Counter(found) == Counter(before)
            if head.get_attribute("data-sort") == "number":
                known = [float(value) for value in found if value]
                assert found[len(known) :] == [""] * (len(found) - len(known))  # unknown ones last
                assert known == sorted(known, reverse=way == "descending")
            else:
                assert found == sorted(found, key=natural, reverse=way == "descending")
        assert ways == {"ascending", "descending"}
        assert page.locator("#roles th[aria-sort]").count() == 1


def test_searching(visit):
    page = visit(plain())
    shown = page.locator("#shown")
    assert shown.inner_text() == f"{N_PLAIN} of {N_PLAIN} shown"
    for text, names in {
        "COLUMN 1": ["column 1", "column 10", "column 11", "column 12"],
        " n 12 ": ["column 12"],
        "no match": [],
    }.items():
        page.get_by_label("Find a feature").fill(text)
        assert page.locator(f"{ROWS}:visible .name").all_inner_texts() == names
        assert shown.inner_text() == f"{len(names)} of {N_PLAIN} shown"
    page.get_by_label("Find a feature").fill("")
    assert page.locator(f"{ROWS}:visible").count() == N_PLAIN


def test_a_link_to_a_hidden_feature_shows_it(visit):
    summary = hostile.summary(hostile.plain_names(N_PLAIN))
    page = visit(render_report({**summary, "profiles": []}))
    page.get_by_label("Find a feature").fill("column 12")
    page.locator(".selected a").first.click()
    assert page.locator(f"{ROWS}:visible").count() == N_PLAIN
    assert page.locator("#feature-1").is_visible()


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_colours_can_be_chosen(visit, scheme):
    """The button goes round: as the system has it, light, dark."""
    page = visit(plain(), scheme=scheme)
    button = page.locator("#theme")
    found = []
    for _ in range(4):
        found.append((button.inner_text().removeprefix("Colours: "), background(page)))
        button.click()
    (first, as_system), (second, light), (third, dark), last = found
    assert (first, second, third) == ("system", "light", "dark")
    assert min(light) > 200
    assert max(dark) < 60
    assert as_system == (dark if scheme == "dark" else light)
    assert last == found[0]


def test_hostile_names_stay_text(visit):
    page = visit(evil())
    assert page.locator("img, iframe, object, embed, form, b").count() == 0
    assert page.locator("script").count() == 1
    assert page.locator("style").count() == page.locator("head style").count() == 1
    handlers = (
        "nodes => nodes.flatMap(node => node.getAttributeNames()).filter(n => /^on/i.test(n))"
    )
    assert page.locator("*").evaluate_all(handlers) == []
    assert page.locator("#roles .name", has_text=hostile.IMAGE).is_visible()
    assert hostile.TARGET in page.locator("main").inner_text()
    assert "{{7*7}}" in page.locator("#roles").inner_text()
    page.get_by_label("Find a feature").fill("<img")
    assert page.locator(f"{ROWS}:visible").count() == 1


@pytest.mark.parametrize(("scheme", "width"), LOOKS)
def test_no_barriers(visit, scheme, width):
    page = visit(evil(), scheme=scheme, width=width)
    page.locator("details").evaluate_all("nodes => nodes.forEach(node => node.open = true)")
    assert overhanging(page) == []
    assert barriers(page) == []


@pytest.mark.parametrize("width", [DESKTOP, PHONE])
def test_pictures_stay_on_the_page(visit, width):
    page = visit(evil(), width=width)
    for frame in page.locator(".importance li, .profile, #joint ~ .pair .scroll").all():
        box = frame.bounding_box()
        assert box["x"] >= 0
        assert box["x"] + box["width"] <= width
    ends = page.locator(".amount > *, .dots > *").evaluate_all(
        "nodes => nodes.map(node => [node.getBoundingClientRect(),"
        " node.parentNode.getBoundingClientRect()]).map(([a, b]) => [a.left - b.left,"
        " b.right - a.right])"
    )
    assert min(min(pair) for pair in ends) > -6  # markers are centred on their ends


@pytest.mark.parametrize("case", ["nothing selected", "not explained", "interrupted"])
def test_pages_on_which_something_is_left_out(visit, case):
    page = visit(unusual(case), width=PHONE)
    assert page.locator(".alarm").is_visible() == (case == "interrupted")
    assert overhanging(page) == []
    assert barriers(page) == []


@pytest.mark.parametrize("width", [DESKTOP, 1105, 768, PHONE])
def test_no_word_or_number_is_broken(visit, width):
    names = ("flavanoids", "color_intensity", "wind", "nonflavanoid_phenols", "acceleration")
    page = visit(render_report(hostile.summary(names)), width=width)
    page.locator("details").evaluate_all("nodes => nodes.forEach(node => node.open = true)")
    cells = ".made, h3, th, td, .chip, .result, caption, figcaption, .importance li, dt, button"
    assert broken_words(page, cells) == []
    if width == DESKTOP:
        page.emulate_media(media="print")
        page.set_viewport_size({"width": 718, "height": 1040})  # A4 without its margins
        assert broken_words(page, cells) == []
        assert overhanging(page) == []


def test_a_browser_that_knows_no_two_colours_is_light(visit):
    """As before 2024, when the function by which both are said came."""
    style, script, rest = plain().partition("<script>")
    unknown = style.replace("light-dark(", "no-such-function(")
    page = visit(f"{unknown}{script}{rest}", scheme="dark")
    assert min(background(page)) > 200
    assert not page.locator("#theme").is_visible()


def test_tab_leads_everywhere_and_shows_where(visit):
    page = visit(plain())
    reachable = "a[href], button, input, select, summary, [tabindex='0']"
    n_reachable = page.locator(reachable).filter(visible=True).count()
    stops = tab_stops(page)
    assert stops[:2] == ["a Skip to the selected features", "button Colours: system"]
    assert len(stops) == n_reachable
    assert [stop for stop in stops if "unseen" in stop] == []


def test_keys_alone_are_enough(visit):
    """From the top to the end, as Tab goes."""
    page = visit(plain())
    tab_stops(page, until="button Colours: system")
    page.keyboard.press("Space")
    assert page.locator("#theme").inner_text() == "Colours: light"
    tab_stops(page, until="summary Candidates of each step")
    page.keyboard.press("Enter")
    assert page.locator("details.candidates > details").first.is_visible()
    tab_stops(page, until="input search")
    page.keyboard.type("column 1")
    assert page.locator("#shown").inner_text() == f"4 of {N_PLAIN} shown"
    tab_stops(page, until="select role")
    page.keyboard.type("strongly")
    assert page.locator("#shown").inner_text() == f"1 of {N_PLAIN} shown"
    tab_stops(page, until="button Unique")
    for key, way in {"Enter": "descending", "Space": "ascending"}.items():
        page.keyboard.press(key)
        assert page.locator("#roles th[aria-sort]").get_attribute("aria-sort") == way


def test_the_selected_features_are_one_key_away(visit):
    page = visit(plain())
    tab_stops(page, until="a Skip to the selected features")
    page.keyboard.press("Enter")
    assert page.evaluate("document.activeElement.id") == "selected"


def test_printing(visit):
    """On paper there is nothing to press, and the ground is white whatever was chosen."""
    page = visit(plain(), scheme="dark")
    page.locator("#theme").click()
    page.locator("#theme").click()
    assert page.locator("#theme").inner_text() == "Colours: dark"
    page.emulate_media(media="print", color_scheme="light")
    for control in ("#theme", ".controls", ".skip"):
        assert not page.locator(control).is_visible()
    assert page.locator(f"{ROWS}:visible").count() == N_PLAIN
    assert min(background(page)) > 200


def test_without_a_script(visit):
    page = visit(plain(), javascript=False)
    assert page.locator(f"{ROWS}:visible").count() == N_PLAIN
    for section in ("selected", "path", "features", "data", "reproduce"):
        assert page.locator(f"h2#{section}").is_visible()
    assert page.locator("button:visible, input:visible, select:visible").count() == 0
    page.locator("details.candidates > summary").click()
    assert page.locator("details.candidates > details").first.is_visible()


def test_many_features(visit):
    page = visit(plain(120, 32), width=PHONE)
    assert overhanging(page) == []
    head = page.locator("#roles thead th").nth(1).get_by_role("button")
    head.click()
    head.click()
    assert column(page, 1) == [f"column {place}" for place in reversed(range(120))]
    page.get_by_label("Find a feature").fill("column 11")
    assert page.locator("#shown").inner_text() == "11 of 120 shown"
