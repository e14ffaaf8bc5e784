from __future__ import annotations

import json

import coins
import pytest

from reproduction.store import Record, Store, key_of, results_of


def a_run(seed: int = 0, heads: int = 3) -> Record:
    return Record("coin", {"side": 1, "metal": "tin"}, seed, {"heads": heads}, 0.25, "here")


def test_what_is_added_is_there_for_others(tmp_path):
    store = Store(tmp_path / "runs")
    assert store.is_empty
    store.add("toss", a_run(1))
    store.add("toss", a_run(0, heads=5))
    again = Store(tmp_path / "runs")
    assert not again.is_empty
    assert again.records("toss") == {run.key: run for run in (a_run(1), a_run(0, heads=5))}
    found = results_of(again.records("toss").values())
    assert found.of("coin", side=1) == [{"heads": 5}, {"heads": 3}]
    assert again.records("throw") == {}


def test_the_order_of_a_points_names_does_not_matter():
    assert key_of("a", {"x": 1, "y": "b"}, 0) == key_of("a", {"y": "b", "x": 1}, 0)
    assert key_of("a", {"x": 1}, 0) != key_of("a", {"x": 1.5}, 0)


@pytest.mark.parametrize("cut", [1, 5, 30])
def test_a_line_cut_short_is_taken_away(tmp_path, cut):
    store = Store(tmp_path)
    store.add("toss", a_run(0))
    store.add("toss", a_run(1))
    path = tmp_path / "toss.jsonl"
    path.write_bytes(path.read_bytes()[:-cut])
    again = Store(tmp_path)
    assert list(again.records("toss")) == [a_run(0).key]
    again.add("toss", a_run(2))
    assert [run.seed for run in Store(tmp_path).records("toss").values()] == [0, 2]


@pytest.mark.parametrize("line", ["no json", '{"part": "coin"}', "[1, 2]", "{}", "7"])
def test_a_strange_line_is_named(tmp_path, line):
    Store(tmp_path).add("toss", a_run())
    path = tmp_path / "toss.jsonl"
    path.write_text(path.read_text() + line + "\n")
    with pytest.raises(ValueError, match=r"Line 2 of .*toss\.jsonl.* is no run"):
        Store(tmp_path).records("toss")


def test_no_number_that_json_does_not_have(tmp_path):
    with pytest.raises(ValueError, match="JSON"):
        Store(tmp_path).add("toss", Record("coin", {}, 0, {"heads": float("nan")}, 0.1, "here"))
    assert Store(tmp_path).is_empty


def test_runs_of_other_points_are_not_shown(tmp_path):
    store = Store(tmp_path)
    now = Record("toss", {"coin": "fair"}, 0, {"heads": 1}, 0.1, "here")
    for run in (
        now,
        Record("toss", {"coin": "fair", "height": 2}, 0, {"heads": 2}, 0.1, "here"),
        Record("spin", {"coin": "fair"}, 0, {"heads": 3}, 0.1, "here"),
    ):
        store.add("coins", run)
    assert store.current(coins.EXPERIMENT) == [now]


def test_only_one_writes_at_a_time(tmp_path):
    pytest.importorskip("fcntl")
    with Store(tmp_path).alone():
        other = Store(tmp_path)
        with pytest.raises(FileExistsError, match="Another reproduction"), other.alone():
            pass
    with Store(tmp_path).alone():
        assert Store(tmp_path).is_empty


def test_the_first_seed_is_kept(tmp_path):
    assert Store(tmp_path).first_seed(7) == 7
    assert Store(tmp_path).first_seed(0) == 7


def test_the_environment_is_written_down_once(tmp_path):
    store = Store(tmp_path)
    assert store.environments() == {}
    name = store.here()
    assert Store(tmp_path).here() == name
    (found,) = json.loads((tmp_path / "environments.json").read_text()).values()
    assert found["python"]
    assert found["numpy"]
