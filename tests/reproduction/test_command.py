"""The command line: what it writes, and how an interrupted reproduction is resumed."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import time
from contextlib import suppress
from pathlib import Path

import pytest

from reproduction import EXPERIMENTS
from reproduction.__main__ import main

ROOT = Path(__file__).parents[2]
PARTS = ("redundancy/sampled", "redundancy/selection", "--runs", "30")


def run(*arguments: object) -> int:
    return main(["--jobs", "1", "--quiet", *map(str, arguments)])


def numbers(out: Path) -> dict:
    return json.loads((out / "numbers.json").read_text(encoding="utf-8"))


def lines(out: Path) -> list[str]:
    return (out / "runs" / "redundancy.jsonl").read_text().splitlines()


def test_experiments_and_parts_are_listed(tmp_path, capsys):
    assert run("--list", "--quick", "--out", tmp_path / "out") == 0
    shown = capsys.readouterr().out
    assert all(f"{name}: " in shown for name in EXPERIMENTS)
    assert "redundancy/parity: 1 runs" in shown
    assert not (tmp_path / "out").exists()


def test_page_and_numbers_are_written_and_redrawn(tmp_path, capsys):
    out = tmp_path / "out"
    assert run("lattice", "--out", out) == 0
    shown = capsys.readouterr().out
    assert "statements checked: 5 agrees, 2 identity, 1 differs" in shown
    assert str(out / "index.html") in shown
    assert {path.name for path in out.iterdir()} == {
        "index.html",
        "numbers.csv",
        "numbers.json",
        "runs",
    }
    assert numbers(out)["command"] == "python -m reproduction lattice"
    page = (out / "index.html").read_bytes()
    (out / "index.html").unlink()
    assert run("--redraw", "--out", out) == 0
    assert (out / "index.html").read_bytes() == page


def test_newer_numbers_of_some_parts_replace_stored_ones(tmp_path, capsys):
    out, newer = tmp_path / "out", tmp_path / "newer"
    assert run("redundancy", "lattice", "--runs", "30", "--out", out) == 0
    assert run("redundancy/selection", "--runs", "40", "--out", newer) == 0
    before, again = numbers(out), numbers(newer)
    assert run("--update", newer, "--out", out) == 0
    after = numbers(out)
    claims = {
        place: {one["name"]: one for one in found["experiments"][0]["claims"]}
        for place, found in (("before", before), ("newer", again), ("after", after))
    }
    for name, found in claims["after"].items():
        is_run = claims["newer"][name]["ours"]["runs"] > 0
        assert found == claims["newer" if is_run else "before"][name]
    assert claims["after"]["counterexample: CMI finds both"]["ours"]["runs"] == 40
    assert claims["after"]["AND: shared 0.311 (sampled)"]["ours"]["runs"] == 30
    assert after["experiments"][1] == before["experiments"][1]
    assert run("redundancy/selection", "--runs", "20", "--out", tmp_path / "fewer") == 0
    assert run("--update", tmp_path / "fewer", "--out", out) == 2
    assert "redundancy/selection has 20 runs, but 40" in capsys.readouterr().err
    assert numbers(out) == after


def test_quick_or_other_seeds_do_not_replace_stored_numbers(tmp_path, capsys):
    out = tmp_path / "out"
    assert run("lattice", "--out", out) == 0
    for place, options in (("quick", ["--quick"]), ("seed", ["--seed", "5"])):
        assert run("lattice", *options, "--out", tmp_path / place) == 0
        assert run("--update", tmp_path / place, "--out", out) == 2
        assert "same seed" in capsys.readouterr().err


def test_redrawing_judges_by_the_rules_of_today(tmp_path):
    """A stored verdict that the rule does not give is corrected; an identity is not counted."""
    out = tmp_path / "out"
    assert run("lattice", "--out", out) == 0
    stored = numbers(out)
    expected = json.loads(json.dumps(stored))
    for claim in stored["experiments"][0]["claims"]:
        claim["verdict"] = "agrees"
    (out / "numbers.json").write_text(json.dumps(stored))
    assert run("--redraw", "--out", out) == 0
    assert numbers(out) == expected


def test_resuming(tmp_path, capsys):
    out = tmp_path / "out"
    assert run("redundancy/exact", "--quick", "--out", out) == 0
    assert len(lines(out)) == 9
    assert run("redundancy/exact", "--quick", "--out", out) == 2
    assert "Resume" in capsys.readouterr().err
    assert run("redundancy/parity", "--resume", "--seed", "7", "--out", out) == 2
    assert "seed 0" in capsys.readouterr().err
    assert run("redundancy/exact", "redundancy/parity", "--resume", "--out", out) == 0
    assert len(lines(out)) == 10


@pytest.mark.parametrize(
    ("arguments", "named"),
    [
        (["freedman"], "friedman"),
        (["toy/select"], "selection"),
        (["--redraw"], "numbers.json"),
    ],
)
def test_wrong_calls_name_the_remedy(arguments, named, tmp_path, capsys):
    assert run(*arguments, "--out", tmp_path / "out") == 2
    error = capsys.readouterr().err
    assert named in error
    assert len(error.strip().splitlines()) == 1  # older versions of rich end an empty line


@pytest.mark.parametrize("arguments", [["--device", "gpu"], ["--runs", "0"], ["--jobs", "0"]])
def test_wrong_options(arguments, capsys):
    with pytest.raises(SystemExit) as stopped:
        main(arguments)
    assert stopped.value.code == 2
    assert arguments[0] in capsys.readouterr().err


@pytest.mark.parametrize("text", ["{", "{}"])
def test_damaged_numbers(tmp_path, capsys, text):
    (tmp_path / "numbers.json").write_text(text)
    assert run("--redraw", "--out", tmp_path) == 2
    assert "numbers.json" in capsys.readouterr().err


def start(out: Path) -> subprocess.Popen[str]:
    command = [sys.executable, "-m", "reproduction", *PARTS, "--jobs", "2", "--out", str(out)]
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join(filter(None, sys.path))}
    return subprocess.Popen(
        [*command, "--resume", "--quiet"],
        cwd=ROOT,
        env=environment,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.PIPE,
        text=True,
        start_new_session=True,
    )


def stop(process: subprocess.Popen[str], how: signal.Signals, log: Path) -> str:
    """Stop the process as soon as it has written another run, and return its messages."""
    before = log.stat().st_size if log.exists() else 0
    while (log.stat().st_size if log.exists() else 0) == before and process.poll() is None:
        time.sleep(0.01)
    process.send_signal(how)
    process.wait(timeout=60)
    with suppress(ProcessLookupError):
        os.killpg(process.pid, signal.SIGKILL)  # workers outlive a killed process for a while
    return process.communicate(timeout=60)[1]


def without_times(out: Path) -> object:
    summary = numbers(out)
    for one in summary["experiments"]:
        for part in one["parts"]:
            part.pop("seconds")
    return summary["experiments"]


@pytest.mark.skipif(os.name == "nt", reason="Windows has no signals to other processes")
def test_an_interrupted_reproduction_is_resumed(tmp_path):
    """Killed, then interrupted, it ends with the numbers of an undisturbed reproduction."""
    out = tmp_path / "out"
    log = out / "runs" / "redundancy.jsonl"
    stop(start(out), signal.SIGKILL, log)
    interrupted = start(out)
    message = stop(interrupted, signal.SIGINT, log)
    assert interrupted.returncode == 130, message
    assert f"redundancy/selection --runs 30 --out {out} --resume" in message
    assert run(*PARTS, "--out", out, "--resume") == 0
    assert run(*PARTS, "--out", tmp_path / "undisturbed") == 0
    assert without_times(out) == without_times(tmp_path / "undisturbed")
