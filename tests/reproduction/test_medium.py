"""Appendix C: runs that are counted, and a report of whatever was run."""

from __future__ import annotations

import json
from typing import Any

import pytest

from pidselect.datasets import regression
from reproduction import medium
from reproduction.agreement import Verdict
from reproduction.experiment import Findings, Outcome, Results
from reproduction.runner import Plan

NAMES = {
    "few found at N = 100",
    "half of 10 found at N = 1000",
    "9 of 10 found at N = 50,000",
    "false positives below alpha",
    "more samples find more (10 of 50)",
    "more samples find more (20 of 30)",
}


def without_time(outcome: Outcome) -> Outcome:
    return {key: value for key, value in outcome.items() if key != "seconds"}


def made_up(true: int, false: int = 0, problem: str = "10 of 50", device: str = "cpu") -> Outcome:
    n_features, n_informative = medium.PROBLEMS[problem]
    hits = [f"X{number + 1}" for number in range(true)]
    return {
        "selected": [*hits, *(f"Z{number + 1}" for number in range(false))],
        "hits": hits,
        "relevant": n_informative,
        "irrelevant": n_features - n_informative,
        "true": true,
        "false": false,
        "seconds": 2.0,
        "device": device,
    }


def results(numbers: dict[int, tuple[int, int]], n_runs: int = 20, device: str = "cpu") -> Results:
    """Return runs of both problems, as the paper: found and false ones for each sample size."""
    runs: dict[str, list[Any]] = {}
    for problem, (_, informative) in medium.PROBLEMS.items():
        for n_samples, (tenths, false) in numbers.items():
            large = "large" if problem == "10 of 50" else "large-20"
            part = {100: "small", 1000: "middle", 50_000: large}[n_samples]
            point = {"problem": problem, "n_samples": n_samples, "settings": "paper"}
            outcome = made_up(tenths * informative // 10, false, problem, device)
            runs.setdefault(part, []).extend((point, seed, outcome) for seed in range(n_runs))
    return Results(runs)


def verdicts(findings: Findings) -> dict[str, Verdict]:
    return {claim.name: claim.verdict for claim in findings.claims}


@pytest.mark.parametrize("settings", ["paper", "copula"])
def test_a_run_is_plain_and_the_same_twice(settings: str) -> None:
    once, again = (medium.run(1, "20 of 30", 100, settings) for _ in range(2))
    assert json.loads(json.dumps(once)) == once
    assert without_time(once) == without_time(again)
    assert once["seconds"] > 0


def test_a_run_counts_right() -> None:
    outcome = medium.run(0, "10 of 50", 100, "copula")
    problem = regression(100, n_features=50, n_informative=10, random_state=0)
    relevant = {problem.names[column] for column in problem.relevant}
    assert set(outcome["hits"]) == set(outcome["selected"]) & relevant
    assert outcome["true"] + outcome["false"] == len(outcome["selected"])
    assert (outcome["relevant"], outcome["irrelevant"]) == (10, 40)
    # The copula describes such data exactly: hardly one of the ten is missed.
    assert outcome["true"] >= 8
    assert outcome["device"] == "cpu"


def test_a_large_run_takes_all_draws_on_a_gpu_and_few_on_a_cpu(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    asked: list[dict[str, Any]] = []

    def note(seed: int, problem: str, n_samples: int, settings: dict[str, Any]) -> Outcome:
        asked.append({"seed": seed, "n_samples": n_samples, **settings})
        return made_up(9)

    monkeypatch.setattr(medium, "_select", note)
    medium.run_large(3, "10 of 50")
    medium.run_large(3, "10 of 50", device="cuda")
    assert [run["n_permutations"] for run in asked] == ["auto", 200]
    assert [run["device"] for run in asked] == ["cpu", "cuda"]
    assert {(run["seed"], run["n_samples"]) for run in asked} == {(3, 50_000)}


def test_a_cpu_makes_one_of_the_large_runs() -> None:
    parts = {part.name: part for part in medium.EXPERIMENT.parts}
    cpu, gpu = Plan(device="cpu"), Plan(device="cuda")
    assert [cpu.n_runs(parts[name]) for name in ("large", "large-20")] == [1, 0]
    assert [gpu.n_runs(parts[name]) for name in ("large", "large-20")] == [10, 10]
    assert Plan(quick=True).n_runs(parts["large"]) == 0


def test_nothing_run_is_said() -> None:
    findings = medium.report(Results({}))
    assert set(verdicts(findings)) >= NAMES
    assert set(verdicts(findings).values()) == {Verdict.NOT_RUN}
    assert not findings.figures
    assert all(cell.ours.runs == 0 for table in findings.comparisons for cell in table.cells)


def test_one_run_of_one_size_is_shown() -> None:
    findings = medium.report(results({1000: (8, 0)}, n_runs=1))
    seen = verdicts(findings)
    assert seen["half of 10 found at N = 1000"] is Verdict.UNDECIDED
    assert seen["more samples find more (10 of 50)"] is Verdict.NOT_RUN
    found, growth = findings.figures
    assert [panel.title for panel in found.panels] == [
        "10 of 50, N = 1,000 (1 run)",
        "20 of 30, N = 1,000 (1 run)",
    ]
    assert [panel.series[0].y for panel in growth.panels] == [[8.0], [16.0]]
    json.dumps([figure.to_dict() for figure in findings.figures], allow_nan=False)


def test_what_the_paper_says_agrees() -> None:
    findings = medium.report(results({100: (0, 0), 1000: (5, 0), 50_000: (9, 1)}))
    assert set(verdicts(findings).values()) == {Verdict.AGREES}


def test_the_opposite_differs() -> None:
    findings = medium.report(results({100: (9, 4), 1000: (4, 4), 50_000: (4, 4)}))
    assert set(verdicts(findings).values()) == {Verdict.DIFFERS}


def test_unequal_numbers_of_runs_are_paired_as_far_as_they_go() -> None:
    many, one = results({100: (1, 0), 1000: (6, 0)}), results({50_000: (9, 0)}, n_runs=1)
    runs = {**many._runs, **one._runs}
    claims = {claim.name: claim for claim in medium.report(Results(runs)).claims}
    assert claims["50,000 samples find more still (10 of 50)"].ours[::2] == (3.0, 1)
    assert claims["more samples find more (10 of 50)"].ours == (5.0, 0.0, 20)


def test_bars_are_totals_and_false_ones_stand_apart() -> None:
    found, _ = medium.report(results({100: (3, 2)}, n_runs=4)).figures
    right, wrong = found.panels[0].series
    assert list(right.x) == [*(f"X{number}" for number in range(1, 11)), "Z"]
    assert list(right.y) == [4.0] * 3 + [0.0] * 8
    assert list(wrong.y) == [0.0] * 10 + [8.0]


def test_times_on_a_gpu_have_their_own_column() -> None:
    findings = medium.report(results({50_000: (9, 0)}, device="cuda"))
    seconds = next(table for table in findings.comparisons if table.name == "seconds")
    shown = {(cell.row, cell.column): cell.ours.runs for cell in seconds.cells}
    assert shown["10 of 50, N = 50,000", "as the paper, KSG, on a GPU"] == 20
    assert shown["10 of 50, N = 50,000", "as the paper, KSG"] == 0
