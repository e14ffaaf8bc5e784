"""The stored numbers of the full reproduction, and the page that is written from them."""

from __future__ import annotations

import copy
import html
import json
import math
import re
from pathlib import Path

import pytest

from reproduction import EXPERIMENTS, load_experiment, read_claims, read_texts
from reproduction.agreement import Agreement, Estimate, compare
from reproduction.page import render_page
from reproduction.summary import to_csv

FOLDER = Path(__file__).parents[2] / "docs" / "reproduction"
STORED = json.loads((FOLDER / "numbers.json").read_text(encoding="utf-8"))
RECORDS = {record["name"]: record for record in STORED["experiments"]}


def estimate_of(found: dict) -> Estimate:
    ours = {name: math.nan if one is None else one for name, one in found["ours"].items()}
    return Estimate(**ours)


def test_all_experiments_of_a_full_run_are_stored():
    assert list(RECORDS) == list(EXPERIMENTS)
    assert not STORED["quick"]


@pytest.mark.parametrize("name", EXPERIMENTS)
def test_names_are_those_of_the_experiment(name):
    experiment, record = load_experiment(name), RECORDS[name]
    assert [one["name"] for one in record["claims"]] == [one.name for one in experiment.claims]
    assert [one["name"] for one in record["comparisons"]] == list(experiment.tables)
    assert [one["name"] for one in record["parts"]] == [part.name for part in experiment.parts]


@pytest.mark.parametrize("name", EXPERIMENTS)
def test_stored_verdicts_follow_from_the_rules(name):
    experiment, record = load_experiment(name), RECORDS[name]
    for claim, stored in zip(experiment.claims, record["claims"], strict=True):
        rules = [condition.rule for condition in claim.conditions]
        ours = estimate_of(stored)
        found = [
            Agreement.UNCHECKED if rule is None else claim.counted(rule.judge(ours))
            for rule in rules
        ]
        if len(rules) > 1 or "Cochran" in str(rules):  # more than the stored number decides
            assert stored["verdict"] in found
        else:
            assert [stored["verdict"]] == found
    for table in record["comparisons"]:
        for cell in table["cells"]:
            paper = cell["paper"]
            verdict = None if paper is None else compare(estimate_of(cell), paper)
            assert cell["verdict"] == verdict


def test_totals():
    claims = [claim["verdict"] for record in RECORDS.values() for claim in record["claims"]]
    assert STORED["totals"]["claims"] == {str(one): claims.count(one) for one in Agreement}
    assert STORED["totals"]["claims"]["not run"] == 0


def test_the_page_counts_only_what_could_have_differed():
    page = (FOLDER / "index.html").read_text(encoding="utf-8")
    totals = STORED["totals"]["claims"]
    n_tested = totals["agrees"] + totals["differs"] + totals["undecided"]
    assert f"{totals['agrees']} of {n_tested} statements agree" in page
    assert f"{totals['identity']} further statements are identities" in page
    assert f"{totals['unchecked']} are not checked" in page


def test_no_number_is_counted_twice():
    """Statements that agree or differ have numbers of their own, or are identities."""
    numbers = [
        (record["name"], claim["ours"]["mean"], claim["ours"]["standard_error"])
        for record in RECORDS.values()
        for claim in record["claims"]
        if claim["verdict"] in ("agrees", "differs") and claim["ours"]["standard_error"]
    ]
    repeated = {one for one in numbers if numbers.count(one) > 1}
    assert {one[0] for one in repeated} <= {"toy", "noise"}  # different quantities that coincide


def test_what_differs_or_is_unchecked_is_explained():
    explained = {row["name"] for row in read_claims() if row["remark"]}
    for record in RECORDS.values():
        for claim in record["claims"]:
            assert claim["verdict"] not in ("differs", "unchecked") or claim["name"] in explained


def test_every_text_is_used():
    for name in EXPERIMENTS:
        experiment, texts = load_experiment(name), read_texts()[name]
        assert list(experiment.tables) == list(texts["tables"])


def test_the_table_holds_the_stored_numbers():
    assert (FOLDER / "numbers.csv").read_text(encoding="utf-8") == to_csv(STORED)


def test_the_page_shows_the_stored_numbers_and_all_statements():
    page = html.unescape((FOLDER / "index.html").read_text(encoding="utf-8"))
    assert STORED["made"][:10] in page
    statements = [row["statement"] for row in read_claims()]
    assert [statement for statement in statements if statement not in page] == []


@pytest.fixture(scope="module")
def small_page() -> str:
    summary = copy.deepcopy(STORED)
    summary["experiments"] = [RECORDS["redundancy"], RECORDS["lattice"]]
    summary["command"] = "<img src=x onerror=alert(1)>"
    return render_page(summary)


def test_the_page_needs_nothing_else(small_page):
    assert not re.search(r"(?:src|href)=\"(?!#|data:)", small_page)
    assert "<img" not in small_page
    ids = re.findall(r'\bid="([^"]+)"', small_page)
    assert len(ids) == len(set(ids))
    links = set(re.findall(r'href="#([^"]+)"', small_page))
    assert links <= set(ids)


def test_numbers_of_the_paper_are_beside_ours(small_page):
    assert "paper 7,579" in small_page
    assert "0.311" in small_page
