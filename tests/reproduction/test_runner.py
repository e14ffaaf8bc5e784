from __future__ import annotations

from dataclasses import replace

import coins
import pytest

from reproduction.experiment import Part
from reproduction.runner import Clock, Plan, Task, make, planned
from reproduction.store import Store, results_of


def seeds(store: Store, part: str = "toss") -> list[int]:
    return sorted(run.seed for run in store.records("coins").values() if run.part == part)


def test_runs_of_a_plan():
    assert Plan().n_runs(coins.TOSS) == 25
    assert Plan(quick=True).n_runs(coins.TOSS) == 3
    assert Plan(quick=True, runs=7).n_runs(coins.TOSS) == 7
    assert Plan(runs=10).n_runs(coins.TOSS) == 3  # in proportion to 100, rounded up
    assert Plan(runs=1).n_runs(coins.TOSS) == 1
    assert Plan(runs=400).n_runs(coins.TOSS) == 100
    assert Plan().n_runs(coins.THROW) == 1
    assert Plan(device="cuda").n_runs(coins.THROW) == 10
    assert Plan(quick=True, runs=7).n_runs(coins.THROW) == 0
    assert Plan(runs=7).n_runs(Part("exact", dict, runs=1)) == 1


def test_planned_points_and_seeds():
    tasks = planned([coins.EXPERIMENT], Plan(quick=True, seed=5))
    assert [(task.point, task.seed) for task in tasks] == [
        ({"coin": "fair"}, 5),
        ({"coin": "fair"}, 6),
        ({"coin": "fair"}, 7),
    ]
    assert len(planned([coins.EXPERIMENT], Plan())) == 51
    assert {task.part.name for task in planned([coins.EXPERIMENT], Plan(), ["coins/throw"])} == {
        "throw"
    }
    assert planned([coins.EXPERIMENT], Plan(), ["other"]) == []


@pytest.mark.parametrize("n_jobs", [1, 2])
def test_only_what_is_missing_is_run(tmp_path, n_jobs):
    store, seen = Store(tmp_path), []
    tasks = planned([coins.EXPERIMENT], Plan(runs=16))
    make(tasks[:3], store, n_jobs=n_jobs, watch=seen.append)
    make(tasks, Store(tmp_path), n_jobs=n_jobs, watch=seen.append)
    assert [state.total for state in seen] == [3] * 3 + [len(tasks) - 3] * (len(tasks) - 3)
    assert seen[-1].seconds_left == pytest.approx(0, abs=1e-6)
    again = Store(tmp_path)
    assert seeds(again) == sorted([0, 1, 2, 3] * 2)
    expected = coins.toss(2, coin="bent")
    results = results_of(again.records("coins").values())
    assert results.of("toss", coin="bent")[2] == expected
    assert results.of("throw") == [{"device": "cpu"}]
    assert {run.environment for run in again.records("coins").values()} == {again.here()}


def test_a_failed_run_is_named_and_the_others_are_kept(tmp_path):
    bad = replace(coins.TOSS, name="bad", run=coins.fail, seconds=0.01)
    experiment = replace(coins.EXPERIMENT, parts=[coins.TOSS, bad])
    store = Store(tmp_path)
    with pytest.raises(ValueError, match="under the table") as caught:
        make(planned([experiment], Plan(quick=True)), store, n_jobs=1)
    assert caught.value.__notes__ == ["This was coins/bad(coin=fair), seed 0."]
    assert seeds(Store(tmp_path)) == [0, 1, 2]


def test_a_gpu_is_missed_before_anything_is_run(tmp_path, monkeypatch):
    def refuse(device: str) -> None:
        raise RuntimeError(f"no {device}")

    monkeypatch.setattr("reproduction.runner.check_device", refuse)
    tasks = planned([coins.EXPERIMENT], Plan(device="cuda"))
    with pytest.raises(RuntimeError, match="no cuda"):
        make(tasks, Store(tmp_path), n_jobs=1)
    assert Store(tmp_path).is_empty
    make([task for task in tasks if not task.part.on_gpu], Store(tmp_path), n_jobs=1)


def test_the_clock_counts_down():
    short = Task("coins", replace(coins.TOSS, seconds=1.0), {}, 0, "cpu")
    alone = Task("coins", replace(coins.THROW, seconds=10.0), {}, 0, "cpu")
    clock = Clock([short, short], [alone], workers=2)
    assert clock.seconds_left == pytest.approx(11.0, abs=0.1)
    clock.note(short)
    clock.note(short)
    assert 9 < clock.seconds_left < 10  # these two took no time at all
    clock.note(alone)
    assert clock.seconds_left == pytest.approx(0, abs=1e-6)
    assert clock.done == clock.total == 3
