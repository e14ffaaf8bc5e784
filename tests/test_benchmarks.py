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
    rows = [{**row, "percent": 98.7} for row in record["results"]["rows"]]
    results = {**records.results, "calibration": {**record, "results": {"rows": rows}}}
    changed = tables.Records(results, records.reproduction)
    for path, text in ((FOLDER / "numbers.md", "| 98.7 |"), (ROOT / "README.md", ">98.7<")):
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


# ----------------------------------------------------------------------------- parts


def test_parts_that_are_stored_are_not_measured_again(script, tmp_path, monkeypatch):
    common = script("common")
    monkeypatch.setattr(common, "OUT", tmp_path)
    done = []

    def work(name, seed):
        done.append((name, seed))
        if name == "broken":
            raise ValueError("no such table")
        return {"seed": seed}

    keys = [("a", 0), ("a", 1), ("broken", 0)]
    options = common.resumable("", runs=1, help_runs="").parse_args([])
    first = common.collect("some", keys, work, options)
    assert [row.get("seed") for row in first] == [0, 1, None]
    assert first[-1]["note"] == "ValueError: no such table"
    path = tmp_path / "some.jsonl"
    lines = path.read_text().splitlines(keepends=True)
    path.write_text("".join([lines[0], *lines[2:], lines[1][:-20]]))  # the last was cut off
    again = common.collect("some", [*keys, ("a", 2)], work, options)
    assert done == [*keys, ("a", 1), ("a", 2)]
    assert [row.get("seed") for row in again] == [0, 1, None, 2]
    monkeypatch.setattr(common, "version_of_package", lambda: "another")
    common.collect("some", keys[:1], work, options)
    assert done[-1] == keys[0]


def test_cases_make_the_same_data_again_and_nulls_have_names_of_their_own(script):
    cases = script("cases")
    assert {case.group for case in cases.CASES.values()} == {*script("conditional_nulls").ROWS}
    for name, case in cases.CASES.items():
        one, same = (case.make(np.random.default_rng(3), 60) for _ in range(2))
        X, types, fixed = one.frame()
        assert len(X) == len(one.y) == 60, name
        assert X.shape[1] > len(fixed), name
        assert set(types) <= set(X) - set(fixed), name
        assert X.equals(same.frame()[0]), name
        assert (one.y == same.y).all(), name
        assert X.isna().any(axis=None) == ("missing" in name), name


def test_textbook_tests_are_those_of_scipy(script):
    textbook = script("textbook")
    rng = np.random.default_rng(0)
    label, s = rng.integers(3, size=200), rng.normal(size=200)
    y = 0.3 * label + s + rng.normal(size=200)
    constant = np.ones((200, 1))
    p = textbook.p_value(constant, textbook.basis(label, "line"), y)
    assert p == pytest.approx(stats.f_oneway(*(y[label == one] for one in range(3))).pvalue)
    p = textbook.p_value(constant, textbook.basis(s, "line"), y)
    assert p == pytest.approx(stats.pearsonr(s, y).pvalue)
    flag = (y > 0).astype(int)
    table = stats.contingency.crosstab(label, flag).count
    expected = stats.chi2_contingency(table, correction=False, lambda_="log-likelihood").pvalue
    p = textbook.p_value(constant, textbook.basis(label, "line"), flag)
    assert p == pytest.approx(expected, rel=0.01)  # the fit has a weak penalty
    columns = [s, *rng.normal(size=(20, 200)), np.where(label == 0, "no", "yes")]
    assert set(textbook.forward(columns, 2 * s**2 + y, "line")) <= {0, 21}
    for name in ("cubic F", "spline F", "glm forward"):
        assert textbook.forward(columns, 2 * s**2 + y, name)[0] == 0
        assert textbook.forward(columns, (s**2 > 0.5).astype(int), name) == [0]


def test_the_published_simulation_has_its_correlations_and_ratio(script):
    simulations = script("simulations")
    make = simulations.published(simulations.FUNCTIONS["exp(-x^2)"], 4000)
    X, y, relevant = make(np.random.default_rng(0))
    assert 5 <= len(relevant) <= 15
    for lag in (1, 2):
        products = (X[:, lag:] * X[:, :-lag]).mean()
        assert products == pytest.approx(0.5**lag, abs=0.01)
    signal = np.exp(-(X[:, relevant] ** 2)).sum(axis=1)
    ratio = signal.var() / (y - signal).var()
    assert 0.45 < ratio < 2.1
    for design in simulations.DESIGNS.values():
        X, y, relevant = design.make(np.random.default_rng(1))
        assert len(X) == len(y)
        assert set(relevant) < set(range(X.shape[1]))


def test_real_tables_have_codes_of_labels_and_complete_rows(script):
    pd = pytest.importorskip("pandas")
    frame = pd.DataFrame({"kind": ["b", "a", "b"], "size": [1.0, 2.0, None], "mass": [3, 4, 5]})
    table = script("fill_tables").of_frame(frame, "mass")
    assert table.X.tolist() == [[1.0, 1.0], [0.0, 2.0]]
    assert (table.y.tolist(), table.nominal, table.names) == ([3.0, 4.0], (0,), ["kind", "size"])


def test_differences_of_predictions_are_fold_by_fold(script):
    difference = script("prediction").difference
    others = {0: {"forest": 0.5}, 1: {"note": "over 600 s"}, 2: {"forest": 0.25}}
    found = difference({0: 0.75, 1: 1.0, 2: 0.75}, others, "forest")
    assert found == {"mean": 0.375, "standard_error": pytest.approx(0.125)}
