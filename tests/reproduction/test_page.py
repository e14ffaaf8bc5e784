"""The page says what the summary says, in well-formed HTML that stands alone."""

import base64
import hashlib
import json
import re
from collections import Counter
from html.parser import HTMLParser
from itertools import pairwise

import made_up
import pytest
from jinja2 import UndefinedError

from reproduction.page import MARKS, _digits, render

VOID = {"meta", "link", "br", "img", "hr", "input", "wbr"}


class Reader(HTMLParser):
    """Reads a page into elements and texts, and makes sure that all tags are closed in order."""

    def __init__(self, page: str) -> None:
        super().__init__()
        self.elements: list[tuple[str, dict[str, str | None]]] = []
        self.words: list[str] = []
        self.open: list[str] = []
        self.feed(page)
        self.close()
        assert self.open == []

    def handle_starttag(self, tag, attrs):
        self.elements.append((tag, dict(attrs)))
        if tag not in VOID:
            self.open.append(tag)

    def handle_startendtag(self, tag, attrs):
        self.elements.append((tag, dict(attrs)))

    def handle_endtag(self, tag):
        assert self.open.pop() == tag

    def handle_data(self, data):
        if not {"style", "script"} & set(self.open):
            self.words.append(data)

    def all(self, tag: str) -> list[dict[str, str | None]]:
        return [attributes for name, attributes in self.elements if name == tag]

    @property
    def text(self) -> str:
        return " ".join(" ".join(self.words).split())


@pytest.fixture(scope="module")
def long() -> Reader:
    return Reader(render(made_up.summary(3, drawn=[made_up.bars(2), made_up.lattice()])))


def test_the_same_summary_gives_the_same_page():
    summary = made_up.summary(1, drawn=[made_up.lattice()])
    assert render(summary) == render(json.loads(json.dumps(summary)))


# ------------------------------------------------------------------------------------- structure


def test_ids_are_unique_and_every_link_within_leads_somewhere(long):
    ids = [attributes["id"] for _, attributes in long.elements if "id" in attributes]
    assert [name for name, number in Counter(ids).items() if number > 1] == []
    links = [attributes["href"] for attributes in long.all("a")]
    assert len(links) > 50
    assert {link.removeprefix("#") for link in links} <= set(ids)


def test_nothing_is_fetched(long):
    for tag, attributes in long.elements:
        for name in ("src", "href", "srcset", "data", "action"):
            if tag != "a" and name in attributes:
                assert attributes[name].startswith(("#", "data:"))
    (policy,) = [meta["content"] for meta in long.all("meta") if "http-equiv" in meta]
    assert policy.startswith("default-src 'none'")


def test_the_policy_lets_the_one_script_run():
    page = render(made_up.summary(1))
    (script,) = re.findall(r"<script>(.*?)</script>", page, flags=re.DOTALL)
    digest = base64.b64encode(hashlib.sha256(script.encode()).digest()).decode()
    assert f"'sha256-{digest}'" in page.replace("&#43;", "+").replace("&#39;", "'")


def test_headings_go_down_one_by_one(long):
    levels = [int(tag[1]) for tag, _ in long.elements if re.fullmatch(r"h[1-6]", tag)]
    assert levels[0] == 1
    assert levels.count(1) == 1
    assert all(after - before <= 1 for before, after in pairwise(levels))


def test_tables_have_captions_and_headers_have_scopes(long):
    assert len(long.all("table")) == len(long.all("caption"))
    assert all(attributes.get("scope") for attributes in long.all("th"))


def test_figures_are_drawn_with_words_for_those_who_do_not_see_them(long):
    drawings = long.all("svg")
    assert len(drawings) == len(long.all("figure")) == 3 * 2
    assert all(svg["role"] == "img" and svg["aria-label"] for svg in drawings)


# -------------------------------------------------------------------------------------- contents


def test_the_answer_comes_first_and_names_what_differs():
    summary = made_up.summary(1)
    page = Reader(render(summary))
    cells, claims = (summary["totals"][kind] for kind in ("cells", "claims"))
    assert (
        f"Of {sum(cells.values())} comparisons with numbers of the paper, {cells['agrees']}"
        in page.text
    )
    assert f"Of {sum(claims.values())} checks of the paper’s statements" in page.text
    assert page.text.index("The answer") < page.text.index("How to read this page")
    linked = [link["href"] for link in page.all("a")]
    for claim in summary["experiments"][0]["claims"]:
        place = "#experiment-0-" + re.sub(r"\W+", "-", claim["name"].lower())
        assert (place in linked) == (claim["verdict"] == "differs")


def test_every_cell_and_claim_is_there_with_its_verdict():
    summary = made_up.summary(2)
    page = Reader(render(summary))
    experiments = summary["experiments"]
    cells = [cell for e in experiments for table in e["comparisons"] for cell in table["cells"]]
    claims = [claim for e in experiments for claim in e["claims"]]
    shown = [a for a in page.all("div") if a.get("class") == "cell"]
    rows = [a for a in page.all("tr") if "data-verdict" in a]
    assert Counter(a.get("data-verdict") for a in shown) == Counter(c["verdict"] for c in cells)
    assert [a["data-verdict"] for a in rows] == [claim["verdict"] for claim in claims]
    for verdict, mark in MARKS.items():
        assert f"{mark} {verdict}" in page.text
    assert page.text.count("paper 81.0") == sum(cell["paper"] is not None for cell in cells)


def test_a_number_stands_with_its_error_and_the_papers():
    page = Reader(render(with_cells([cell("Friedman I", "TP", 81.26, 0.94, 100, paper=81.0)])))
    assert "81.3 ± 0.9 paper 81.0 ✓ agrees" in page.text
    assert "Mean ± standard error of 100 runs." in page.text


def test_one_run_has_no_error_and_none_no_value():
    cells = [
        cell("a", "TP", 12.0, None, 1, paper=81.0, verdict="undecided"),
        cell("b", "TP", None, None, 0, paper=81.0, verdict="not run"),
        cell("c", "TP", None, None, 0),
    ]
    text = Reader(render(with_cells(cells))).text
    assert "a 12.0 1 run paper 81.0 ? undecided" in text
    assert "b paper 81.0 – not run" in text
    assert "c not run" in text
    assert "None" not in text
    assert "nan" not in text


def test_columns_with_a_common_head_are_grouped():
    cells = [cell("a", f"{head}: {rate}", 1.0, 0.1, 5) for head in ("CMI", "MI") for rate in "TF"]
    heads = [th for th in Reader(render(with_cells(cells))).all("th") if "colspan" in th]
    assert [(th["colspan"], th["scope"]) for th in heads] == [("2", "colgroup")] * 2


def test_a_wide_table_is_turned():
    names = ("CMI", "MI", "defaults")
    cells = [
        cell(row, f"{head}: {rate}", float(place), 0.1, 5)
        for row in ("I", "II")
        for place, (head, rate) in enumerate((head, rate) for head in names for rate in "ABCD")
    ]
    text = Reader(render(with_cells(cells))).text
    assert "A B C D I CMI 0.0 ± 0.1 1.0 ± 0.1 2.0 ± 0.1 3.0 ± 0.1 MI 4.0 ± 0.1" in text
    assert "II CMI 0.0 ± 0.1" in text


def test_a_cell_given_twice_is_shown_twice():
    cells = [cell("a", "TP", 1.0, 0.1, 5), cell("a", "TP", 2.0, 0.1, 5)]
    assert "1.0 ± 0.1 2.0 ± 0.1" in Reader(render(with_cells(cells))).text


def test_notes_remarks_parts_and_environments_are_told(long):
    for words in (
        "The number of bins is not stated. Here: Five, of both kinds.",
        "Only with bins of equal width; see the note.",
        "selection 12 20 to 100 12 min 34 s",
        "time of one core 9 min 27 s 2 h 3 min",
        "the first seed is 0",
        "2026-11-16 05:00 UTC",
        "This was a quick reproduction",
    ):
        assert words in long.text
    assert "quick reproduction:" not in Reader(render({**made_up.summary(1), "quick": False})).text


def test_a_filter_without_anything_to_show_is_disabled():
    summary = {**made_up.summary(1), "totals": {"cells": {"differs": 2}, "claims": {}}}
    buttons = {button["value"]: button for button in Reader(render(summary)).all("button")}
    assert [name for name, button in buttons.items() if "disabled" in button] == ["undecided"]


def test_an_empty_summary_is_a_page():
    empty = {"cells": {}, "claims": {}}
    summary = {**made_up.summary(0), "totals": empty, "environments": [], "general_notes": []}
    text = Reader(render(summary)).text
    assert "Of 0 comparisons with numbers of the paper, none agree." in text


@pytest.mark.parametrize(
    ("mean", "error", "digits"),
    [(0.311, 0.0, 3), (81.2, 12.0, 0), (1.0, 0.05, 3), (7579.0, 0.0, 0), (None, None, 0)],
)
def test_claims_show_two_digits_of_their_error(mean, error, digits):
    assert _digits({"mean": mean, "standard_error": error}) == digits


# ---------------------------------------------------------------------------------------- safety


def test_hostile_texts_stay_text():
    text = made_up.HOSTILE
    page = render(made_up.summary(1, text=text, drawn=[made_up.hostile()]))
    reader = Reader(page)
    assert reader.all("img") == []
    assert len(reader.all("script")) == 1
    assert not any(name.startswith("on") for _, found in reader.elements for name in found)
    assert reader.text.count(text) > 50


def test_a_missing_key_is_an_error():
    summary = made_up.summary(1)
    del summary["experiments"][0]["where"]
    with pytest.raises(UndefinedError, match="where"):
        render(summary)


# ---------------------------------------------------------------------------------------- made up


def cell(row, column, mean, error, runs, paper=None, verdict=None):
    ours = {"mean": mean, "standard_error": error, "runs": runs}
    decided = verdict or ("agrees" if paper is not None else None)
    return {"row": row, "column": column, "ours": ours, "paper": paper, "verdict": decided}


def with_cells(cells):
    summary = made_up.summary(1)
    table = {"name": "t", "title": "T", "caption": "C.", "digits": 1, "cells": cells}
    summary["experiments"][0]["comparisons"] = [table]
    return summary
