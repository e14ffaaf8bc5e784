"""The command line: what it writes, and how a reproduction is resumed."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from reproduction import EXPERIMENTS
from reproduction.__main__ import main

pytestmark = pytest.mark.reproduction


def run(*arguments: object) -> int:
    return main(["--jobs", "1", *map(str, arguments)])


def numbers(out: Path) -> dict:
    return json.loads((out / "numbers.json").read_text(encoding="utf-8"))


def by_name(out: Path) -> dict:
    return {one["name"]: one for one in numbers(out)["experiments"]}


def test_experiments_are_listed(capsys):
    with pytest.raises(SystemExit):
        main(["--help"])
    shown = " ".join(capsys.readouterr().out.split())
    assert all(f"{name}, " in shown for name in EXPERIMENTS)


def test_page_and_numbers_are_written_and_redrawn(tmp_path, capsys):
    out = tmp_path / "out"
    assert run("lattice", "--out", out) == 0
    shown = capsys.readouterr().out
    assert "statements checked: 5 agrees, 2 identity, 1 differs" in shown
    assert str(out / "index.html") in shown
    names = {path.name for path in out.iterdir()}
    assert names == {"index.html", "numbers.csv", "numbers.json", "runs.sqlite3"}
    assert numbers(out)["command"] == "python -m reproduction lattice"
    page = (out / "index.html").read_bytes()
    (out / "index.html").unlink()
    assert run("--redraw", "--out", out) == 0
    assert (out / "index.html").read_bytes() == page


def test_a_run_is_resumed_and_not_repeated(tmp_path, capsys):
    """A quick reproduction is continued, by two processes, to what an undisturbed one gives."""
    out, whole = tmp_path / "out", tmp_path / "whole"
    assert run("redundancy", "--quick", "--out", out) == 0
    assert run("redundancy", "--quick", "--out", out) == 2
    assert "Resume" in capsys.readouterr().err
    assert main(["redundancy", "--runs", "4", "--resume", "--jobs", "2", "--out", str(out)]) == 0
    environments = numbers(out)["environments"]
    assert [one["runs"] for one in environments] == [9 + 1 + 2 * 4 + 5 * 4]
    assert run("redundancy", "--runs", "4", "--out", whole) == 0
    found, expected = by_name(out)["redundancy"], by_name(whole)["redundancy"]
    for key in ("claims", "comparisons"):
        assert found[key] == expected[key]


def test_newer_numbers_replace_stored_ones(tmp_path, capsys):
    out, newer = tmp_path / "out", tmp_path / "newer"
    assert run("redundancy", "lattice", "--runs", "3", "--out", out) == 0
    before = by_name(out)
    assert run("redundancy", "--runs", "4", "--out", newer) == 0
    assert run("--update", newer, "--out", out) == 0
    assert by_name(out) == {
        "redundancy": by_name(newer)["redundancy"],
        "lattice": before["lattice"],
    }
    assert run("lattice", "--quick", "--out", tmp_path / "quick") == 0
    assert run("--update", tmp_path / "quick", "--out", out) == 2
    assert "same seed" in capsys.readouterr().err


def test_wrong_calls_name_the_remedy(tmp_path, capsys):
    for arguments, named in ((["freedman"], "friedman"), (["--runs", "0"], "at least 1")):
        with pytest.raises(SystemExit) as stopped:
            main(arguments)
        assert stopped.value.code == 2
        assert named in capsys.readouterr().err
    assert run("--redraw", "--out", tmp_path) == 2
    assert "numbers.json" in capsys.readouterr().err
