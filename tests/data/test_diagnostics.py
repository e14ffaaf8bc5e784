"""Remarks on data with known faults, and none on data without."""

import numpy as np
import pandas as pd
import pytest
import sklearn.datasets

from pidselect.data import read_dataset
from pidselect.data.diagnostics import inspect_data

N = 300


@pytest.fixture
def rng():
    return np.random.default_rng(0)


def remarks(X, y, n_rows=None, **more):
    """Return the remarks by their topics; each topic once."""
    found = inspect_data(read_dataset(X, y, **more), n_rows)
    by_topic = {remark.topic: remark for remark in found}
    assert len(by_topic) == len(found)
    return by_topic


def test_sound_data_need_no_remark(rng):
    X = pd.DataFrame({"a": rng.normal(size=N), "b": rng.integers(0, 5, N), "c": ["x", "y"] * 150})
    assert remarks(X, rng.normal(size=N)) == {}
    assert remarks(X, rng.permutation(["yes", "no", "no"] * 100)) == {}


def test_few_samples_and_many_columns(rng):
    for n, p in ((40, 5), (150, 160)):
        found = remarks(rng.normal(size=(n, p)), rng.normal(size=n))
        assert set(found) == {"few samples"}
        assert f"{n} samples of {p} columns" in found["few samples"].sentence


def test_small_classes_are_named(rng):
    y = np.array(["yes"] * 150 + ["no"] * 147 + ["<b>"] * 3)
    found = remarks(rng.normal(size=(N, 2)), pd.Series(y, name="answer"))
    assert found["small classes"].columns == ("answer",)
    assert "fewer than 10 samples: <b> (3)." in found["small classes"].sentence
    numbers = remarks(rng.normal(size=(N, 2)), [0] * 200 + [1] * 96 + [2] * 3 + [3])
    told = numbers["small classes"].sentence
    assert "fewer than 10 samples: 2 (3), 3 (1)." in told
    assert "ordinal" in told
    assert "amounts" not in found["small classes"].sentence


def test_rows_left_out_are_counted(rng):
    X = rng.normal(size=(N, 2))
    X[[5, N - 1], 0] = np.nan
    y = rng.normal(size=N)
    assert "2 of 300 rows" in remarks(X, y, N, missing="drop")["rows left out"].sentence
    assert "1 of 299 rows" in remarks(X, y, missing="drop")["rows left out"].sentence
    kept = remarks(X, y, missing="category")
    assert set(kept) == {"missing values"}
    assert kept["missing values"].columns == ("x0",)


def test_copies_are_no_near_duplicates(rng):
    a = rng.normal(size=N)
    assert remarks(np.column_stack([a, 2 * a + 1, rng.normal(size=N)]), rng.normal(size=N)) == {}


def test_near_duplicates_are_grouped_whatever_their_scale_and_sign(rng):
    a, b = rng.normal(size=(2, N))
    little = 0.01 * rng.normal(size=(3, N))
    X = np.column_stack([a, b, np.exp(a + little[0]), -(a**3) + little[1] / 100, b + little[2]])
    found = inspect_data(read_dataset(X, rng.normal(size=N)))
    assert [remark.columns for remark in found] == [("x0", "x2", "x3"), ("x1", "x4")]
    assert {remark.topic for remark in found} == {"near-duplicates"}


def test_near_duplicates_are_found_across_blocks_of_columns(rng):
    a = rng.normal(size=(N, 1500))
    X = np.column_stack([a, a[:, [1400, 0]] + 0.01 * rng.normal(size=(N, 2))])
    found = inspect_data(read_dataset(X, rng.normal(size=N)))
    groups = [finding.columns for finding in found if finding.topic == "near-duplicates"]
    assert groups == [("x0", "x1501"), ("x1400", "x1500")]


def test_of_too_many_columns_no_pairs_are_compared(rng):
    a = rng.normal(size=(200, 10_000))
    X = np.column_stack([a, a[:, 0] + 1e-6 * rng.normal(size=200)])
    assert set(remarks(X, rng.normal(size=200))) == {"few samples"}


@pytest.mark.parametrize("sign", [1, -1])
def test_a_row_number_is_found_and_a_sorted_column_with_ties_is_not(rng, sign):
    X = np.column_stack([rng.normal(size=N), sign * np.arange(N), np.repeat(np.arange(N // 2), 2)])
    found = remarks(X, rng.normal(size=N))
    assert found["row counter"].columns == ("x1",)


@pytest.mark.parametrize("name", ["load_iris", "load_wine", "load_diabetes", "load_breast_cancer"])
def test_few_remarks_on_tables_that_are_known(name):
    table = getattr(sklearn.datasets, name)()
    found = inspect_data(read_dataset(table.data, table.target))
    n_groups = 2 if name == "load_breast_cancer" else 0  # radius, perimeter and area
    assert [remark.topic for remark in found] == ["near-duplicates"] * n_groups


def test_a_column_that_gives_the_target_away_is_found(rng):
    y = rng.normal(size=N)
    X = np.column_stack([rng.normal(size=N), np.exp(y)])
    assert remarks(X, y)["leakage"].columns == ("x1",)
    classes = rng.permutation(["yes", "no", "no"] * 100)
    codes = pd.DataFrame({"a": rng.integers(0, 3, N), "code": (classes == "yes") * 2})
    assert remarks(codes, classes)["leakage"].columns == ("code",)


def test_texts_of_many_levels_are_found(rng):
    X = pd.DataFrame({"street": [f"street {i}" for i in rng.integers(0, 120, N)]})
    assert remarks(X, rng.normal(size=N))["many levels"].columns == ("street",)


def test_remarks_print_well(rng):
    (remark,) = inspect_data(read_dataset(rng.normal(size=(50, 1)), rng.normal(size=50)))
    assert (remark.topic, remark.columns) == ("few samples", ())
    assert str(remark).startswith("few samples: There are only 50 samples of 1 column.")
