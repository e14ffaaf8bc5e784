from __future__ import annotations

import csv
import io
import json

import coins
import pytest

from reproduction.runner import Plan, make, planned
from reproduction.store import Store
from reproduction.summary import summarise, to_csv


@pytest.fixture
def store(tmp_path):
    store = Store(tmp_path)
    make(planned([coins.EXPERIMENT], Plan()), store, n_jobs=1)
    return store


def test_everything_that_was_found_is_told(store):
    summary = summarise([coins.EXPERIMENT], store, Plan(seed=0), command="toss")
    assert summary["totals"]["cells"] == {"agrees": 1, "differs": 1, "undecided": 0, "not run": 0}
    assert summary["totals"]["claims"]["agrees"] == 1
    (told,) = summary["experiments"]
    assert [(part["name"], part["points"], part["runs"]) for part in told["parts"]] == [
        ("toss", 2, "25"),
        ("throw", 1, "1"),
    ]
    (here,) = summary["environments"]
    assert here["runs"] == 51
    json.dumps(summary, allow_nan=False)


def test_nothing_run_is_told_too(tmp_path):
    summary = summarise([coins.EXPERIMENT], Store(tmp_path), Plan(), command="toss")
    assert summary["totals"]["cells"]["not run"] == 2
    assert summary["experiments"][0]["figures"][0]["panels"][0]["series"][0]["y"] == [None, None]
    json.dumps(summary, allow_nan=False)


def test_parts_run_unequally_often(tmp_path):
    store = Store(tmp_path)
    make(planned([coins.EXPERIMENT], Plan())[:30], store, n_jobs=1)
    summary = summarise([coins.EXPERIMENT], store, Plan(), command="toss")
    assert summary["experiments"][0]["parts"][0]["runs"] == "5 to 25"


def test_every_number_has_a_line(store):
    summary = summarise([coins.EXPERIMENT], store, Plan(), command="toss")
    lines = list(csv.DictReader(io.StringIO(to_csv(summary))))
    assert [(line["kind"], line["where"], line["what"], line["x"]) for line in lines] == [
        ("table", "heads", "fair; heads", ""),
        ("table", "heads", "bent; heads", ""),
        ("statement", "bent is biased", "difference", ""),
        ("figure", "heads: Heads", "heads", "fair"),
        ("figure", "heads: Heads", "heads", "bent"),
        ("figure", "heads: Two", "", "{1}"),
    ]
    fair = lines[0]
    assert float(fair["value"]) == pytest.approx(float(lines[3]["value"]))
    assert (fair["paper"], fair["runs"], fair["verdict"]) == ("50.0", "25", "agrees")
    assert lines[-1]["value"] == "2"
