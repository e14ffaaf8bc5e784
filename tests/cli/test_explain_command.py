"""Explaining and decomposing from the command line."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest
from calling import QUICK, call, read_json, words, write

from pidselect import decompose


@pytest.fixture
def lamp(tmp_path, monkeypatch):
    """Two switches and a lamp that is on where they differ."""
    monkeypatch.chdir(tmp_path)
    up, down = np.random.default_rng(0).integers(0, 2, size=(2, 200))
    columns = {"up": up.tolist(), "down": down.tolist(), "lamp": (up ^ down).tolist()}
    write(Path("lamp.csv"), columns)
    return columns


def test_roles_bars_and_sentences(table):
    result = call("explain", table, "--target", "y", *QUICK, "--json", "r.json")
    assert result.exit_code == 0, result.output
    text = words(result.stdout)
    assert "What features tell about y (2 selected, 120 samples)" in text
    assert "length is strongly relevant: it tells" in text
    assert "length_mm is a copy of length" in text
    (line,) = [one for one in result.stdout.splitlines() if one.startswith("length   ")]
    assert set(line.split()[-1]) <= set("█▒░")
    rows = {one["name"]: one for one in read_json(Path("r.json"))["features"]}
    assert rows["length"]["role"] == "strongly relevant"
    assert rows["length"]["unique"] is not None


def test_a_measure_by_name(table):
    result = call("explain", table, "--target", "y", *QUICK, "--measure", "imin", "--bins", "2")
    assert result.exit_code == 0, result.output
    assert "strongly relevant" in result.stdout


def test_wrong_ways_to_take_apart(table):
    result = call("explain", table, "--target", "y", *QUICK, "--bins", "1")
    assert result.exit_code == 2
    assert "--bins 1" in result.stderr


def test_what_follows_the_selection_is_told_on_the_way(table):
    result = call("explain", table, "--target", "y", *QUICK, "--stability", "3")
    assert result.exit_code == 0, result.output
    told = result.stderr.splitlines()
    after = ["testing roles", "taking features apart", "selecting on random halves, 3 times"]
    assert [line for line in told if line in after] == after


def test_two_switches_tell_only_together(lamp):
    arguments = ("lamp.csv", "--target", "lamp", "--source", "up", "--source", "down")
    result = call("decompose", *arguments, "--json", "r.json")
    assert result.exit_code == 0, result.output
    known = decompose([np.array(lamp["up"]), np.array(lamp["down"])], np.array(lamp["lamp"]))
    found = read_json(Path("r.json"))
    assert found["atoms"] == pytest.approx(dict(known.atoms), abs=1e-9)
    assert found["variables"] == ["up", "down", "lamp"]
    assert "1 is up, 2 is down; the target is lamp" in result.stdout
    assert result.stdout.endswith("Record: r.json\n")


def test_doubt_and_units(lamp):
    arguments = ("lamp.csv", "--target", "lamp", "--source", "up", "--source", "down")
    draws = ("--permutations", "19", "--bootstrap", "40", "--unit", "nat", "--json", "-")
    first, second = (call("decompose", *arguments, *draws) for _ in range(2))
    assert first.exit_code == 0, first.output
    assert first.stdout == second.stdout
    found = json.loads(first.stdout)
    assert (found["unit"], found["p_values"]["{1,2}"]) == ("nat", 0.05)


def test_several_columns_as_one_source(table):
    arguments = ("--source", "length,width", "--source", "noise", "--measure", "gaussian")
    result = call("decompose", table, "--target", "y", *arguments)
    assert result.exit_code == 0, result.output
    assert "1 is length, width, 2 is noise; the target is y" in result.stdout


def test_too_few_samples_are_noted(table):
    result = call("decompose", table, "--target", "y", "--source", "length", "--source", "width")
    assert result.exit_code == 0, result.output
    assert "Note: 120 samples fill" in result.stderr
    assert "--measure gaussian" in result.stderr


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (["--source", "lenght"], "--source: there is no column 'lenght'; did you mean 'length'?"),
        (["--source", "length", "--source", "y"], "'y' is named twice"),
        (["--source", "length", "--missing", "category"], "does not go with decompose"),
        (["--source", "length"], "Give --source once for each of them."),
        (
            ["--source", "length", "--source", "width", "--source", "noise"],
            "Use --measure imin or mmi or sx, or join",
        ),
    ],
)
def test_wrong_calls_of_decompose(table, arguments, said):
    result = call("decompose", table, "--target", "y", *arguments)
    assert result.exit_code == 2, result.output
    assert said in result.stderr


def test_a_source_that_is_an_identifier(lamp):
    write(Path("lamp.csv"), {**lamp, "note": [f"no {i}" for i in range(200)]})
    arguments = ("lamp.csv", "--target", "lamp", "--source", "up", "--source", "note")
    refused = call("decompose", *arguments)
    assert refused.exit_code == 2
    assert refused.stderr.startswith("Error: 'note' is an identifier:")
    assert refused.stderr.endswith("state --kinds note=nominal.\n")
    assert len(refused.stderr.splitlines()) == 1
    meant = call("decompose", *arguments, "--kinds", "note=nominal", "--quiet")
    assert (meant.exit_code, meant.stderr) == (0, "")
    assert "2 is note" in meant.stdout


def test_missing_values_of_sources(tmp_path, monkeypatch, lamp):
    lamp["up"][3] = ""
    write(Path("lamp.csv"), lamp)
    arguments = ("lamp.csv", "--target", "lamp", "--source", "up", "--source", "down")
    refused = call("decompose", *arguments)
    assert refused.exit_code == 2
    assert "'up' (1); they are in 1 of 200 rows" in refused.stderr
    dropped = call("decompose", *arguments, "--missing", "drop")
    assert dropped.exit_code == 0, dropped.output
    assert "from 199 samples" in dropped.stdout
