"""Fits of tables in partitions equal those of the same rows in memory."""

from __future__ import annotations

import json
import os
import signal
import warnings
from contextlib import contextmanager

import joblib
import numpy as np
import pandas as pd
import pytest
from mortal import within
from partitioned_tables import COUNTS, SAMPLE, levels, numbers, record, to_parquet

from pidselect import EmptySelectionWarning, IdentifierWarning, PIDSelector, write_report
from pidselect.data.partitions import largest_key, row_keys
from pidselect.selection import partitioned
from pidselect.selection.checkpoint import CheckpointRefusedError

dd = pytest.importorskip("dask.dataframe", reason="there is no Dask")
distributed = pytest.importorskip("distributed")

# --- counts of all rows -------------------------------------------------------------------------


def test_counts_equal_memory(tmp_path):
    frame = levels()
    expected = PIDSelector(**COUNTS).fit(frame.drop(columns="y"), frame["y"])
    assert {"a", "b", "flag"} <= set(expected.get_feature_names_out())
    lazy = dd.from_pandas(frame, npartitions=7, sort=False)
    for X, y in (
        (to_parquet(frame, tmp_path), "y"),
        (str(tmp_path), ["y"]),
        (lazy, "y"),
        (lazy.drop(columns="y"), lazy["y"]),
    ):
        found = PIDSelector(**COUNTS).fit(X, y)
        assert record(found) == record(expected)
        np.testing.assert_array_equal(found.scores_, expected.scores_)
        np.testing.assert_array_equal(found.pvalues_, expected.pvalues_)
        assert found.selection_.settings.n_rows == len(frame)


def test_values_are_those_of_rows():
    """The bits of counts are those of the ordinary estimator of all rows."""
    frame = levels()
    X, y = frame.drop(columns="y"), frame["y"]
    by_rows = PIDSelector(**{**COUNTS, "surrogates": ("global", "residual")}, estimator="discrete")
    by_tables = PIDSelector(**COUNTS, estimator="discrete").fit(X, y)
    by_rows.fit(X, y)
    assert by_tables.selected_.tolist() == by_rows.selected_.tolist()
    np.testing.assert_allclose(by_tables.scores_, by_rows.scores_, atol=1e-9)


def test_counts_are_the_default_of_many_rows(monkeypatch):
    """A level of 15 rows in 4,000 is found by counts; the sample of 300 has one or none of them."""
    monkeypatch.setattr(partitioned, "SAMPLE_ROWS", 300)
    frame = levels(4000)
    b = frame["b"].map({"x": 0, "y": 1, "z": 2})
    unexpected = ((frame["a"] + b + frame["flag"]) % 4 <= 1) & (frame["y"] == "yes")
    frame["rare"] = 0
    frame.loc[frame.index[unexpected][-15:], "rare"] = 1
    lazy = dd.from_pandas(frame, npartitions=4, sort=False)
    found = PIDSelector(n_permutations=50, random_state=0).fit(lazy, "y")
    settings = found.selection_.settings
    assert settings.surrogates == ("margins",)
    assert (settings.n_samples, settings.n_rows) == (4000, 4000)
    assert set(found.get_feature_names_out()) == {"a", "b", "flag", "rare"}
    assert found.selection_.duplicates == {"copy": "a"}
    explanation = found.explain(lazy, "y")
    assert explanation.in_sample
    for feature in explanation:
        if feature.selected:
            place = list(found.feature_names_in_).index(feature.name)
            assert feature.added == pytest.approx(found.scores_[place], abs=5e-4)  # as shown


def test_columns_that_are_equal_in_the_sample_only(monkeypatch):
    """Two rare columns are no duplicates, though both are constant in the sample."""
    monkeypatch.setattr(partitioned, "SAMPLE_ROWS", 300)
    rng = np.random.default_rng(0)
    frame = pd.DataFrame({"a": rng.integers(0, 2, 4000), "more": 0, "less": 0, "twin": 0})
    rows = row_keys(0, range(4000)) > np.uint64(largest_key(0, 4000, 300))
    outside = np.flatnonzero(rows)
    frame.loc[outside[:40], ["more", "twin"]] = 1
    frame.loc[outside[40:80], "less"] = 1
    y = rng.integers(0, 2, 4000)
    y[outside[:40]], y[outside[40:80]] = 1, 0
    frame["y"] = y
    lazy = dd.from_pandas(frame, npartitions=3, sort=False)
    found = PIDSelector(n_permutations=50, lookahead=1, random_state=0).fit(lazy, "y")
    assert set(found.get_feature_names_out()) == {"more", "less"}
    assert found.selection_.duplicates == {"twin": "more"}


def test_rare_class_of_the_target(monkeypatch):
    """A target that is constant in the sample has levels in all rows, or is refused."""
    monkeypatch.setattr(partitioned, "SAMPLE_ROWS", 300)
    keys = row_keys(0, range(4000)) > np.uint64(largest_key(0, 4000, 300))
    rare = np.zeros(4000, dtype=int)
    rare[np.flatnonzero(keys)[:30]] = 1
    frame = pd.DataFrame({"a": rare ^ (np.arange(4000) % 50 == 0), "b": np.arange(4000) % 3})
    frame["y"] = rare
    lazy = dd.from_pandas(frame, npartitions=3, sort=False)
    settings = {"n_permutations": 50, "lookahead": 1, "random_state": 0}
    found = PIDSelector(**settings).fit(lazy, "y")
    assert found.get_feature_names_out().tolist() == ["a"]
    with pytest.raises(ValueError, match="300 of 4,000 rows"):
        PIDSelector(**settings, max_samples=300).fit(lazy, "y")
    with pytest.raises(ValueError, match="target is constant"):
        PIDSelector(**settings).fit(lazy.assign(y=1), "y")


def test_schemes_of_dependent_rows_are_kept(monkeypatch):
    monkeypatch.setattr(partitioned, "SAMPLE_ROWS", 300)
    lazy = dd.from_pandas(levels(), npartitions=3, sort=False)
    settings = {"surrogates": ("shift", "residual"), "n_permutations": 19, "lookahead": 1}
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", EmptySelectionWarning)
        found = PIDSelector(**settings, random_state=0).fit(lazy, "y")
    assert found.selection_.settings.surrogates == ("shift", "residual")


def test_margins_do_not_know_groups():
    frame = levels(200)
    with pytest.raises(ValueError, match="groups"):
        PIDSelector(**COUNTS).fit(frame[["a", "b"]], frame["y"], groups=np.arange(200) % 5)


def test_constants_and_identifiers(monkeypatch):
    """What is not counted is left alone by fit and explain."""
    monkeypatch.setattr(partitioned, "SAMPLE_ROWS", 300)
    monkeypatch.setattr("pidselect.data.counts.MAX_LEVELS", 1000)
    frame = levels()
    frame["day"] = pd.Timestamp("2026-01-01")
    frame["id"] = [f"person {number}" for number in range(len(frame))]
    lazy = dd.from_pandas(frame, npartitions=3, sort=False)
    with pytest.warns(IdentifierWarning, match="'id'"):
        found = PIDSelector(n_permutations=50, lookahead=1, random_state=0).fit(lazy, "y")
    assert set(found.selection_.skipped) == {"day", "id"}
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", IdentifierWarning)
        assert found.explain(lazy, "y").in_sample


def test_changed_rows_outside_the_sample(tmp_path, monkeypatch):
    """A checkpoint is of all rows, not of the sample alone."""
    monkeypatch.setattr(partitioned, "SAMPLE_ROWS", 300)
    frame = levels()
    (folder := tmp_path / "files").mkdir()
    selector = PIDSelector(
        n_permutations=50, lookahead=1, random_state=0, checkpoint=tmp_path / "fit.json"
    )
    selector.fit(to_parquet(frame, folder), "y")
    rows = row_keys(0, range(len(frame))) > np.uint64(largest_key(0, len(frame), 300))
    frame.loc[rows, "noise"] = 0
    to_parquet(frame, folder)
    assert not selector.explain(folder, "y").in_sample
    with pytest.raises(CheckpointRefusedError, match="noise"):
        selector.fit(folder, "y")


def test_null_tables_are_not_selected_from():
    """At a level of 5 %, few of 60 null tables have anything selected."""
    rng = np.random.default_rng(0)
    n_found = 0
    for seed in range(60):
        X = rng.integers(0, 4, (300, 5))
        y = rng.integers(0, 2, 300)
        settings = {**COUNTS, "random_state": seed}
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", EmptySelectionWarning)
            n_found += bool(PIDSelector(**settings).fit(X, y).n_features_)
    assert n_found <= 9  # above with probability 0.2 % at exactly 5 %


def test_missing_values(tmp_path):
    frame = levels()
    frame["b"] = frame["b"].where(frame["noise"] > 0, None)
    folder = to_parquet(frame, tmp_path)
    with pytest.raises(ValueError, match=r"'b' \(\d+ missing\).*category"):
        PIDSelector(**COUNTS).fit(folder, "y")
    expected = PIDSelector(**COUNTS, missing="category").fit(frame.drop(columns="y"), frame["y"])
    found = PIDSelector(**COUNTS, missing="category").fit(folder, "y")
    assert record(found) == record(expected)


def test_relevant_features_and_random_starts(tmp_path):
    frame = levels()
    folder = to_parquet(frame, tmp_path)
    for settings in (
        {"select": "relevant"},
        {"n_random_starts": 2, "n_permutations": 99},
        {"n_permutations": "auto"},
    ):
        merged = {**COUNTS, **settings}
        expected = PIDSelector(**merged).fit(frame.drop(columns="y"), frame["y"])
        assert record(PIDSelector(**merged).fit(folder, "y")) == record(expected), settings


def test_resumed(tmp_path):
    (folder := tmp_path / "files").mkdir()
    to_parquet(levels(), folder)
    expected = PIDSelector(**COUNTS).fit(folder, "y")
    again = PIDSelector(**COUNTS, checkpoint=tmp_path / "fit.json")
    assert record(again.fit(folder, "y")) == record(expected)
    assert record(again.fit(folder, "y")) == record(expected)


# --- a sample of rows ---------------------------------------------------------------------------


def test_sample_equals_memory(tmp_path):
    """The same rows are drawn from a table in memory and in partitions."""
    frame = numbers()
    X, y = frame.drop(columns=["y", "person"]), frame["y"]
    expected = PIDSelector(**SAMPLE).fit(X, y)
    assert set(expected.get_feature_names_out()) == {"a", "b"}
    rows = row_keys(3, range(len(X))) <= np.uint64(largest_key(3, len(X), 150))
    alone = PIDSelector(**SAMPLE).fit(X[rows], y[rows])
    assert record(alone) == record(expected)
    (few := tmp_path / "few").mkdir()
    for table in (
        to_parquet(frame.drop(columns="person"), few),
        dd.from_pandas(frame.drop(columns="person"), npartitions=2, sort=False),
        dd.from_pandas(frame.drop(columns="person"), npartitions=9, sort=False),
    ):
        found = PIDSelector(**SAMPLE).fit(table, "y")
        assert record(found) == record(expected)
        assert found.selection_.settings.n_rows == 1000
        assert "150 of 1,000 rows" in found.selection_.settings.describe_rows()
    explanation = found.explain(table, "y")
    assert explanation.in_sample
    assert explanation.to_dict() == alone.explain(X[rows], y[rows]).to_dict()


def test_all_rows_are_not_gathered(monkeypatch):
    monkeypatch.setattr(partitioned, "SAMPLE_ROWS", 30)
    lazy = dd.from_pandas(numbers(50), npartitions=2, sort=False)
    with pytest.raises(ValueError, match="all 50 rows"):
        PIDSelector(max_samples=None).fit(lazy, "y")


def test_all_rows_of_a_small_table():
    frame = numbers(300)
    lazy = dd.from_pandas(frame, npartitions=3, sort=False)
    settings = {"n_permutations": 50, "random_state": 0, "lookahead": 1}
    expected = PIDSelector(**settings).fit(
        frame.drop(columns=["y", "person"]), frame["y"], groups=frame["person"]
    )
    found = PIDSelector(**settings).fit(lazy, "y", groups="person")
    assert record(found) == record(expected)
    assert list(found.feature_names_in_) == ["a", "b", "c", "d", "kind"]


def test_transform_and_report(tmp_path):
    frame = numbers(300).drop(columns="person")
    lazy = dd.from_pandas(frame, npartitions=3, sort=False)
    selector = PIDSelector(n_permutations=20, random_state=0, lookahead=1).fit(lazy, "y")
    names = selector.get_feature_names_out().tolist()
    transformed = selector.transform(lazy)
    assert isinstance(transformed, type(lazy))
    pd.testing.assert_frame_equal(transformed.compute(), frame[names])
    with pytest.raises(ValueError, match="'a'"):
        selector.transform(lazy.drop(columns="a"))
    page = write_report(selector, lazy, "y", tmp_path / "report.html")
    assert "a" in page.read_text("utf-8")
    with pytest.raises(TypeError, match=r"to_table\(columns="):
        selector.transform(str(tmp_path))


@pytest.mark.parametrize(
    ("arguments", "problem"),
    [
        ({"y": "z"}, "y: there is no column 'z'"),
        ({"y": 3}, "name of a column"),
        ({"y": "y", "groups": "persom"}, "did you mean 'person'"),
    ],
)
def test_wrong_arguments(arguments, problem):
    lazy = dd.from_pandas(numbers(50), npartitions=2, sort=False)
    with pytest.raises((TypeError, ValueError), match=problem):
        PIDSelector().fit(lazy, **arguments)


def test_target_named_as_a_feature():
    lazy = dd.from_pandas(numbers(50), npartitions=2, sort=False)
    with pytest.raises(ValueError, match="y='y'"):
        PIDSelector().fit(lazy, lazy["y"])


@pytest.mark.parametrize(
    "settings",
    [{"estimator": "copula"}, {"criterion": "jmi"}, {"surrogates": ("margins", "local")}],
)
def test_margins_need_counts(settings):
    frame = levels(100)
    with pytest.raises(ValueError, match="margins"):
        PIDSelector(**{**COUNTS, **settings}).fit(frame[["a", "b"]], frame["y"])


def test_continuous_columns_are_refused(tmp_path):
    frame = numbers(200)
    with pytest.raises(ValueError, match="'a' is"):
        PIDSelector(**COUNTS, estimator="discrete").fit(frame[["a", "b"]], frame["y"] > 0)


# --- a cluster ----------------------------------------------------------------------------------


@contextmanager
def cluster(n_workers=3):
    with (
        distributed.LocalCluster(
            n_workers=n_workers,
            threads_per_worker=1,
            processes=True,
            host="127.0.0.1",
            dashboard_address="127.0.0.1:0",
            silence_logs=50,
        ) as workers,
        distributed.Client(workers) as client,
    ):
        client.wait_for_workers(n_workers, timeout=60)
        yield client


def _die_once(frame, folder):
    """Kill the first worker that comes by."""
    path = os.path.join(folder, "killed")
    try:
        with open(path, "x"):
            pass
    except FileExistsError:
        return frame
    with open(path, "w") as file:
        json.dump(os.getpid(), file)
    os.kill(os.getpid(), signal.SIGKILL)
    return frame


def test_dask_cluster_with_a_killed_worker(tmp_path):
    frame = levels()
    (files := tmp_path / "files").mkdir()
    to_parquet(frame, files)
    expected = PIDSelector(**COUNTS).fit(frame.drop(columns="y"), frame["y"])
    sampled = {**SAMPLE, "lookahead": 1, "estimator": "discrete", "max_samples": 1000}
    by_sample = PIDSelector(**sampled).fit(frame.drop(columns="y"), frame["y"])

    def fit():
        with cluster() as client:
            lazy = dd.from_pandas(frame, npartitions=9, sort=False)
            mortal = lazy.map_partitions(_die_once, str(tmp_path), meta=lazy._meta)
            results = [PIDSelector(**COUNTS).fit(mortal, "y")]
            assert (tmp_path / "killed").exists()
            results.append(PIDSelector(**sampled).fit(lazy, "y"))
            with joblib.parallel_config(backend="dask", client=client):
                results.append(PIDSelector(**COUNTS).fit(files, "y"))
            return results

    counted, from_sample, from_files = within(fit, 400)
    assert record(counted) == record(expected)
    assert record(from_files) == record(expected)
    assert record(from_sample) == record(by_sample)
