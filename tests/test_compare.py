"""The comparison with other selectors: cells are kept, and means are those of the cells."""

from __future__ import annotations

import importlib
import json
import subprocess
import sys
import threading
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]
FOLDER = ROOT / "benchmarks"

#: Two methods that need nothing but scikit-learn, on one table of each of two cases.
CELLS = ["--tasks", "copies", "--methods", "kbest", "hiton", "--runs", "1"]
BOUND = 180.0  # seconds


@pytest.fixture
def compare(monkeypatch):
    monkeypatch.syspath_prepend(str(FOLDER))
    return importlib.import_module("compare")


@pytest.fixture
def files(tmp_path):
    return tmp_path / "stored.json", tmp_path / "journal.jsonl"


def arguments(files):
    stored, journal = map(str, files)
    return [*CELLS, "--out", stored, "--journal", journal, "--python", sys.executable]


def test_a_killed_run_is_resumed(compare, files):
    stored, journal = files
    command = [sys.executable, "-u", str(FOLDER / "compare.py"), *arguments(files)]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as process:
        timer = threading.Timer(BOUND, process.kill)
        timer.start()
        said = [process.stdout.readline() for _ in range(2)]  # what is missing, then a cell
        process.kill()
        timer.cancel()
    assert "4 are missing" in said[0]
    assert said[1].startswith("1 of 4")
    _, before = compare.read(stored, journal)
    assert 1 <= len(before) <= 4  # all of them if this process was slow to kill that one
    with journal.open("a", encoding="utf-8") as file:
        file.write('{"task": "copies", "ca')  # killed while it wrote

    compare.main(arguments(files))
    machines, after = compare.read(stored, journal)
    assert not journal.exists()
    assert len(after) == 4
    assert [cell for cell in after if cell in before] == before  # times, too: not measured again
    assert machines[0]["jobs"] == 1
    assert {"cpu", "others"} <= {*machines[0]}

    content = stored.read_text(encoding="utf-8")
    compare.main(arguments(files))
    again = stored.read_text(encoding="utf-8")
    assert json.loads(again)["results"] == json.loads(content)["results"]


def test_a_cell_beyond_its_limit_says_so(compare, files):
    compare.main([*arguments(files), "--limit", "0.001"])
    _, cells = compare.read(*files)
    assert {cell["note"].partition(" ")[0] for cell in cells} == {"over"}
    rows = json.loads(files[0].read_text(encoding="utf-8"))["results"]["rows"]
    assert all(row["tables"] == 0 and row["notes"] for row in rows)


def test_measures_of_a_selection(compare):
    tasks = importlib.import_module("compare_tasks")
    table = tasks.with_copies(False, seed=0)
    assert table.X.shape == (300, 24)
    found = tasks.planted(table, {0, 6, 12, 1, 20})
    assert found["recall"] == pytest.approx(2 / 6)
    assert (found["copies"], found["probes"], found["false"]) == (2, 1, 3)
    assert found["f1"] == pytest.approx(2 * 2 / (5 + 6))
    nothing = tasks.planted(table, set())
    assert "precision" not in nothing
    assert nothing["f1"] == 0


def test_means_of_cases_have_the_same_weight(compare):
    assert compare.mean_of([[1.0, 3.0], [4.0, 4.0, 4.0, 4.0]]) == {
        "mean": 3.0,
        "standard_error": 0.5,  # sqrt(1 + 0) / 2
    }
    assert compare.mean_of([[1.0]]) == {"mean": 1.0, "standard_error": None}
    assert compare.mean_of([[1.0], [3.0]]) == {"mean": 2.0, "standard_error": 1.0}


def test_scores_are_differences_to_all_columns_in_the_same_fold(compare):
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
    assert row["columns"]["mean"] == 8
    assert (row["tables"], row["notes"]) == (2, {"over 600 s": 1})
    assert rows["all cases", "boruta"]["cases"] == 1
    assert [*compare.unpacked(compare.packed(cells))] != []
    key = compare.key_of
    assert sorted(compare.unpacked(compare.packed(cells)), key=key) == sorted(cells, key=key)


def test_first_tables_of_all_come_first(compare):
    keys = compare.plan([*compare.TASKS], compare.METHODS)
    first = {(key.task, key.case, key.method) for key in keys if key.seed == 0}
    assert [key.seed for key in keys[: len(first)]] == [0] * len(first)
    assert {(key.task, key.case, key.method) for key in keys} == first
    assert len({*keys}) == len(keys)


def test_stored_means_are_those_of_the_stored_cells(compare):
    results = json.loads(compare.STORED.read_text(encoding="utf-8"))["results"]
    assert results["rows"] == compare.summarise([*compare.unpacked(results["cells"])])
    assert {row["method"] for row in results["rows"]} == {"all", *compare.METHODS}


def test_pictures_have_a_line_for_every_method(compare):
    plot = importlib.import_module("compare_plot")
    results = json.loads(compare.STORED.read_text(encoding="utf-8"))["results"]
    assert [*plot.NAMES] == [*compare.METHODS]
    for panels in plot.pictures(results["titles"]).values():
        for series in (series for panel in panels for series in panel.series):
            assert {*plot.NAMES} & {*series.points(results["rows"])}, series
