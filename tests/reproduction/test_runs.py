from __future__ import annotations

import csv
import io
import json
from dataclasses import replace

import coins
import pytest

from reproduction.agreement import ABOVE, UNCHECKED
from reproduction.experiment import Condition, NotRunError, Results, RunRecord
from reproduction.runs import RunCount, RunLog, execute, pending_runs, run_key
from reproduction.summary import summarise, to_csv


def a_run(seed: int = 0, heads: int = 3) -> RunRecord:
    return RunRecord("coin", {"side": 1, "metal": "tin"}, seed, {"heads": heads}, 0.25, "here")


def keys(log: RunLog) -> list[int]:
    return [record.seed for record in log.records("toss").values()]


@pytest.fixture
def log(tmp_path):
    log = RunLog(tmp_path)
    execute(pending_runs([coins.EXPERIMENT], RunCount(), ["coins"]), log, n_jobs=1)
    return log


def test_added_runs_are_read_again(tmp_path):
    log = RunLog(tmp_path / "runs")
    assert log.is_empty
    log.add("toss", a_run(1))
    log.add("toss", a_run(0, heads=5))
    again = RunLog(tmp_path / "runs")
    assert not again.is_empty
    records = again.records("toss")
    assert records == {run_key(*run[:3]): run for run in (a_run(1), a_run(0, heads=5))}
    assert Results(records.values()).of("coin", side=1) == [{"heads": 5}, {"heads": 3}]
    with pytest.raises(NotRunError):
        Results(records.values()).of("coin", side=2)


def test_the_order_of_arguments_does_not_matter():
    assert run_key("a", {"x": 1, "y": "b"}, 0) == run_key("a", {"y": "b", "x": 1}, 0)
    assert run_key("a", {"x": 1}, 0) != run_key("a", {"x": 1.5}, 0)


@pytest.mark.parametrize("cut", [1, 5, 30])
def test_a_line_cut_short_is_removed(tmp_path, cut):
    log = RunLog(tmp_path)
    log.add("toss", a_run(0))
    log.add("toss", a_run(1))
    path = tmp_path / "toss.jsonl"
    path.write_bytes(path.read_bytes()[:-cut])
    again = RunLog(tmp_path)
    assert keys(again) == [0]
    again.add("toss", a_run(2))
    assert keys(RunLog(tmp_path)) == [0, 2]


@pytest.mark.parametrize("line", ["no json", '{"part": "coin"}', "[1, 2]", "{}", "7"])
def test_a_damaged_line_is_named(tmp_path, line):
    RunLog(tmp_path).add("toss", a_run())
    path = tmp_path / "toss.jsonl"
    path.write_text(path.read_text() + line + "\n")
    with pytest.raises(ValueError, match=r"Line 2 .*toss\.jsonl"):
        RunLog(tmp_path).records("toss")


def test_only_one_process_writes(tmp_path):
    pytest.importorskip("fcntl")
    with RunLog(tmp_path).lock():
        other = RunLog(tmp_path)
        with pytest.raises(FileExistsError, match="Another process"), other.lock():
            pass
    with RunLog(tmp_path).lock():
        assert RunLog(tmp_path).is_empty


def test_runs_at_other_points_are_not_used(tmp_path):
    log = RunLog(tmp_path)
    now = RunRecord("toss", {"coin": "fair"}, 0, {"heads": 1}, 0.1, "here")
    for run in (now, now._replace(point={"coin": "bent"}), now._replace(part="spin")):
        log.add("coins", run)
    assert log.current(coins.EXPERIMENT) == [now]


def test_finished_runs_are_not_repeated(log):
    seen = []
    runs = pending_runs([coins.EXPERIMENT], RunCount(), ["coins"])
    execute(runs, log, n_jobs=1, on_run=lambda done, total: seen.append((done, total)))
    assert seen == []
    more = pending_runs([coins.EXPERIMENT], RunCount(runs=108), ["coins/toss"])
    execute(more, log, n_jobs=1, on_run=lambda done, total: seen.append((done, total)))
    assert seen == [(1, 4), (2, 4), (3, 4), (4, 4)]


def test_processes_give_the_same_outcomes(log, tmp_path):
    parallel = RunLog(tmp_path / "parallel")
    execute(pending_runs([coins.EXPERIMENT], RunCount(), ["coins"]), parallel, n_jobs=2)
    outcomes = (
        {key: run.outcome for key, run in one.records("coins").items()} for one in (log, parallel)
    )
    assert next(outcomes) == next(outcomes)


@pytest.mark.parametrize(
    ("count", "toss", "throw"),
    [
        (RunCount(), 25, 1),
        (RunCount(device="cuda"), 25, 10),
        (RunCount(quick=True), 3, 0),
        (RunCount(runs=10), 3, 1),
        (RunCount(quick=True, runs=7), 7, 0),
    ],
)
def test_repetitions(count, toss, throw):
    assert [count.repetitions(part) for part in (coins.TOSS, coins.THROW)] == [toss, throw]
    assert len(count.points(coins.TOSS)) == (1 if count.quick else 2)


@pytest.mark.parametrize("function", [coins.fail, coins.no_number])
def test_a_run_that_fails_is_named(tmp_path, function):
    bad = replace(coins.EXPERIMENT, parts=[replace(coins.TOSS, run=function)])
    with pytest.raises(RuntimeError, match=r"coins/toss\(coin=fair\), seed 0"):
        execute(pending_runs([bad], RunCount(), ["coins"]), RunLog(tmp_path), n_jobs=1)


def test_summary(log):
    summary = summarise([coins.EXPERIMENT], log, RunCount(), "toss")
    cells = summary["totals"]["cells"]
    assert {verdict: count for verdict, count in cells.items() if count} == {
        "agrees": 1,
        "differs": 1,
    }
    assert summary["totals"]["claims"]["agrees"] == 2
    (found,) = summary["experiments"]
    assert [(part["name"], part["points"], part["runs"]) for part in found["parts"]] == [
        ("toss", 2, "25"),
        ("throw", 1, "1"),
    ]
    assert summary["environments"][0]["runs"] == 51
    assert found["claims"][1]["measured"] == "heads - 40 (fair, the least favourable of 2)"
    lines = list(csv.DictReader(io.StringIO(to_csv(summary))))
    assert [(line["kind"], line["where"], line["x"]) for line in lines] == [
        ("table", "heads", ""),
        ("table", "heads", ""),
        ("statement", "biased", ""),
        ("statement", "above 40", ""),
        ("figure", "heads: Heads", "fair"),
        ("figure", "heads: Heads", "biased"),
    ]
    assert float(lines[0]["value"]) == pytest.approx(float(lines[4]["value"]))


def test_identities_and_what_is_not_checked_do_not_count_as_agreeing(log):
    held, other = coins.EXPERIMENT.claims
    unchecked = replace(other, conditions=[Condition(UNCHECKED, "", lambda r: [])])
    claims = [replace(held, identity="By counting."), unchecked]
    experiment = replace(coins.EXPERIMENT, claims=claims)
    totals = summarise([experiment], log, RunCount(), "toss")["totals"]["claims"]
    assert (totals["identity"], totals["unchecked"], totals["agrees"]) == (1, 1, 0)


def test_an_identity_that_does_not_hold_differs(log):
    wrong = replace(
        coins.EXPERIMENT.claims[0],
        identity="By counting.",
        conditions=[Condition(ABOVE, "difference", lambda r: -coins.heads(r, "fair"))],
    )
    found = wrong.evaluate(Results(log.records("coins").values()))
    assert found["verdict"] == "differs"


def test_summary_of_nothing(tmp_path):
    summary = summarise([coins.EXPERIMENT], RunLog(tmp_path), RunCount(), "toss")
    assert summary["totals"]["cells"]["not run"] == summary["totals"]["claims"]["not run"] == 2
    assert summary["experiments"][0]["figures"] == []
    json.dumps(summary, allow_nan=False)
