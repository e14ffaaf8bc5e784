"""Explaining and decomposing from the command line."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest
from calling import QUICK, call, read_json, words, write

from pidselect import decompose
from pidselect.selection.progress import LATER_STAGES


@pytest.fixture
def lamp(tmp_path, monkeypatch):
    """Two switches and a lamp that is on where they differ."""
    monkeypatch.chdir(tmp_path)
    up, down = np.random.default_rng(0).integers(0, 2, size=(2, 200))
    columns = {"up": up.tolist(), "down": down.tolist(), "lamp": (up ^ down).tolist()}
    write(Path("lamp.csv"), columns)
    return columns


def test_roles_sentences_and_stability(table):
    options = ("--measure", "imin", "--bins", "2", "--stability", "3", "--json", "r.json")
    result = call("explain", table, "--target", "y", *QUICK, *options)
    assert result.exit_code == 0, result.output
    assert {"y,", "(2", "120"} <= set(result.stdout.splitlines()[0].split())
    found = read_json(Path("r.json"))
    rows = {one["name"]: one for one in found["features"]}
    assert rows["length"]["role"] == "strongly relevant"
    assert rows["length"]["unique"] is not None
    assert rows["length_mm"]["unique"] is None
    assert f"{rows['length']['added']:.3f}" in result.stdout
    assert "length adds" in words(result.stdout)
    assert "3 subsamples" in result.stdout
    assert found["stability"]["frequencies"]["length"] == 1.0
    lines = result.stderr.splitlines()
    assert [line for line in lines if line in LATER_STAGES.values()] == [
        LATER_STAGES[stage] for stage in ("atoms", "stability")
    ]


def test_exclusive_or_is_synergistic(lamp):
    arguments = ("lamp.csv", "--target", "lamp", "--source", "up", "--source", "down")
    result = call("decompose", *arguments, "--json", "r.json")
    assert result.exit_code == 0, result.output
    known = decompose([np.array(lamp["up"]), np.array(lamp["down"])], np.array(lamp["lamp"]))
    found = read_json(Path("r.json"))
    assert found["atoms"] == pytest.approx(dict(known.atoms), abs=1e-9)
    assert found["variables"] == ["up", "down", "lamp"]
    assert all(name in result.stdout for name in lamp)
    assert result.stdout.splitlines()[-1].endswith("r.json")


def test_p_values_intervals_and_units(lamp):
    arguments = ("lamp.csv", "--target", "lamp", "--source", "up", "--source", "down")
    settings = ("--n-permutations", "19", "--bootstrap", "40", "--unit", "nat", "--json", "-")
    first, second = (call("decompose", *arguments, *settings) for _ in range(2))
    assert first.exit_code == 0, first.output
    assert first.stdout == second.stdout
    found = json.loads(first.stdout)
    tests = [(test["source"], test["conditional_p_value"]) for test in found["source_tests"]]
    assert (found["unit"], tests) == ("nat", [("up", 0.05), ("down", 0.05)])


def test_bins_or_none(lamp):
    write(Path("lamp.csv"), {**lamp, "volts": [i % 50 for i in range(200)]})
    arguments = ("lamp.csv", "--target", "lamp", "--source", "up", "--source", "volts", "--quiet")
    binned, whole = (call("decompose", *arguments, "--bins", bins) for bins in ("4", "none"))
    assert "4 bins: volts" in binned.stdout
    assert whole.exit_code == 0, whole.output
    assert "bins" not in whole.stdout
    refused = call("decompose", *arguments, "--bins", "few")
    assert (refused.exit_code, "'few'" in refused.stderr) == (2, True)


def test_several_columns_as_one_source(table):
    arguments = ("--source", "length,width", "--source", "noise", "--measure", "gaussian")
    result = call("decompose", table, "--target", "y", *arguments)
    assert result.exit_code == 0, result.output
    assert "length, width" in result.stdout


def test_too_few_samples_are_noted(table):
    result = call("decompose", table, "--target", "y", "--source", "length", "--source", "width")
    assert result.exit_code == 0, result.output
    assert "Note: " in result.stderr
    assert all(word in result.stderr for word in ("120", "measure", "gaussian"))


@pytest.mark.parametrize(
    ("arguments", "named"),
    [
        (["--source", "lenght"], ["--source", "'lenght'", "'length'"]),
        (["--source", "length", "--source", "y"], ["--source", "--target", "'y'"]),
        (["--source", "length", "--missing", "category"], ["--missing drop"]),
        (["--source", "length"], ["--source"]),
        (
            ["--source", "length", "--source", "width", "--source", "noise"],
            ["measure='imin'", "'mmi'", "'sx'"],
        ),
    ],
)
def test_wrong_calls_of_decompose(table, arguments, named):
    result = call("decompose", table, "--target", "y", *arguments)
    assert result.exit_code == 2, result.output
    assert all(word in result.stderr for word in named)


def test_a_source_that_is_an_identifier(lamp):
    write(Path("lamp.csv"), {**lamp, "note": [f"no {i}" for i in range(200)]})
    arguments = ("lamp.csv", "--target", "lamp", "--source", "up", "--source", "note")
    refused = call("decompose", *arguments)
    assert refused.exit_code == 2
    assert "'note'" in refused.stderr
    assert "--feature-types note=nominal" in refused.stderr
    assert len(refused.stderr.splitlines()) == 1
    meant = call("decompose", *arguments, "--feature-types", "note=nominal", "--quiet")
    assert (meant.exit_code, meant.stderr) == (0, "")
    assert "note" in meant.stdout


def test_missing_values_of_sources(tmp_path, monkeypatch, lamp):
    lamp["up"][3] = ""
    write(Path("lamp.csv"), lamp)
    arguments = ("lamp.csv", "--target", "lamp", "--source", "up", "--source", "down")
    refused = call("decompose", *arguments)
    assert refused.exit_code == 2
    assert all(word in refused.stderr for word in ("'up' (1 missing)", "missing='drop'"))
    dropped = call("decompose", *arguments, "--missing", "drop")
    assert dropped.exit_code == 0, dropped.output
    assert "199 samples" in dropped.stdout
