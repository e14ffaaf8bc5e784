"""Benchmarks start, their methods beside ours are right, and pages say what was measured."""

from __future__ import annotations

import ast
import importlib
import importlib.util
import json
import re
from pathlib import Path

import numpy as np
import pytest
from scipy import stats

ROOT = Path(__file__).parents[1]
FOLDER = ROOT / "benchmarks"


@pytest.fixture
def script(monkeypatch):
    """Import a script, which is no part of the package, by its name."""
    monkeypatch.syspath_prepend(str(FOLDER))
    return importlib.import_module


def imported_names(path):
    """Yield module and name of every import from this package."""
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        if isinstance(node, ast.ImportFrom) and (node.module or "").startswith("pidselect"):
            yield from ((node.module, alias.name) for alias in node.names)


@pytest.mark.parametrize("path", sorted(FOLDER.glob("*.py")), ids=lambda path: path.stem)
def test_benchmarks_import_what_is_there(path):
    for module, name in imported_names(path):
        found = importlib.import_module(module)
        assert hasattr(found, name) or importlib.util.find_spec(f"{module}.{name}"), name


# ----------------------------------------------------------------------------- pages


def test_pages_say_what_was_measured(script):
    """No table and no rate is typed: 34 to 50 on one page is 34 to 50 on all of them."""
    tables = script("tables")
    records = tables.Records.read()
    places, rates = [], set()
    for path in tables.PAGES:
        page = path.read_text(encoding="utf-8")
        assert tables.filled(page, records) == page, f"{path}: run python benchmarks/tables.py"
        # A line that begins with a comment is HTML, in which Markdown is not rendered.
        assert not re.search(r"^ *<!-- rate", page, re.MULTILINE), path
        places += [name for _, name, _ in tables.PLACE.findall(page)]
        rates |= {name for _, name, _ in tables.RATE.findall(page)}
    assert sorted(places) == sorted(tables.TABLES)
    assert rates == {*tables.RATES}


def test_a_changed_result_changes_the_pages(script):
    tables = script("tables")
    records = tables.Records.read()
    record = records.results["calibration"]
    rows = [{**row, "alarms": 987} for row in record["results"]["tables"]]
    results = {**records.results, "calibration": {**record, "results": {"tables": rows}}}
    changed = tables.Records(results, records.reproduction)
    for path, text in ((FOLDER / "numbers.md", "| 987 |"), (ROOT / "README.md", ">987 to 987<")):
        page = path.read_text(encoding="utf-8")
        assert text not in page
        assert text in tables.filled(page, changed)
    with pytest.raises(ValueError, match="There is no table 'no-such'"):
        tables.filled("<!-- table: no-such -->\n<!-- end -->", records)


# ----------------------------------------------------------------------------- comparison


def test_stored_means_of_the_comparison_are_those_of_its_cells(script):
    compare = script("compare")
    results = json.loads(compare.STORED.read_text(encoding="utf-8"))["results"]
    assert results["rows"] == compare.summarise([*compare.unpacked(results["cells"])])
    assert {row["method"] for row in results["rows"]} == {"all", *compare.METHODS}


def test_scores_of_the_comparison_are_differences_to_all_columns_in_the_same_fold(script):
    compare = script("compare")
    about = {"task": "prediction", "case": "wine"}
    cells = [
        {**about, "seed": 0, "method": "all", "forest": 0.9, "columns": 13},
        {**about, "seed": 1, "method": "all", "forest": 0.8, "columns": 13},
        {**about, "seed": 0, "method": "boruta", "forest": 0.95, "columns": 9},
        {**about, "seed": 1, "method": "boruta", "forest": 0.79, "columns": 7},
        {**about, "seed": 2, "method": "boruta", "note": "over 600 s"},
    ]
    rows = {(row["case"], row["method"]): row for row in compare.summarise(cells)}
    row = rows["wine", "boruta"]
    assert row["forest"]["mean"] == pytest.approx(0.02)
    assert (row["columns"]["mean"], row["tables"], row["notes"]) == (8, 2, {"over 600 s": 1})
    two = compare.mean_of([[1.0, 3.0], [4.0, 4.0, 4.0, 4.0]])  # cases of the same weight
    assert two == {"mean": 3.0, "standard_error": 0.5}


# ----------------------------------------------------------------------------- known truth


def test_truth_by_integration_is_that_of_the_formula(script):
    systems = script("explanation_systems")
    weights = [2.0, 1.0]
    known = systems.Normal(weights).truth(0)
    found = systems.Channel(lambda X: X @ weights, [systems.normal] * 2, noise=1.0).truth(0)
    for value in ("information", "added", "rest", "unique", "shared", "synergy"):
        assert getattr(found, value) == pytest.approx(getattr(known, value), abs=0.01), value


#: a -> c <- b, c -> d; the probabilities of d do not sum to one, as rounded ones may not.
NETWORK = """
network unknown {
}
variable a { type discrete [ 2 ] { yes, no }; }
variable d { type discrete [ 2 ] { yes, no }; }
variable b {
  type discrete [ 3 ] { low, mid, high };
}
variable c { type discrete [ 2 ] { yes, no }; }
probability ( a ) { table 0.3, 0.7; }
probability ( b ) { table 0.5, 0.25, 0.25; }
probability ( c | a, b ) {
  (yes, low) 1.0, 0.0;
  (no, low) 0.0, 1.0;
  (yes, mid) 0.2, 0.8;
  (no, mid) 0.6, 0.4;
  (yes, high) 0.5, 0.5;
  (no, high) 0.9, 0.1;
}
probability ( d | c ) {
  (yes) 0.45, 0.05;
  (no) 0.2, 0.8;
}
"""


def test_blankets_of_a_network_are_read_and_found_by_the_methods_beside_ours(script):
    network, peers = script("networks").read_bif(NETWORK), script("blanket_peers")
    blankets = {name: network.blanket(name) for name in network.names}
    assert {name: "".join(sorted(blanket)) for name, blanket in blankets.items()} == {
        **{"a": "bc", "b": "ac"},
        **{"c": "abd", "d": "c"},
    }
    states = network.sample(4000, np.random.default_rng(1))
    tests = peers.IndependenceTests(np.column_stack(list(states.values())))
    for method in (peers.hiton_mb, peers.iamb):
        for place, name in enumerate(network.names):
            assert {network.names[column] for column in method(tests, place)} == blankets[name]
    table = stats.contingency.crosstab(states["c"], states["b"]).count
    expected = stats.chi2_contingency(table, correction=False, lambda_="log-likelihood")
    p, minus_g2 = tests.test(network.names.index("b"), network.names.index("c"))
    assert -minus_g2 == pytest.approx(expected.statistic)
    assert p == pytest.approx(expected.pvalue)
