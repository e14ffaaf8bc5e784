"""Remarks on data with known faults, and none on data without."""

from dataclasses import replace

import numpy as np
import pandas as pd
import pytest
import sklearn.datasets

from pidselect.data import read_dataset
from pidselect.data.diagnostics import Topic, inspect_data

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
    found = remarks(rng.normal(size=(40, 50)), rng.normal(size=40))
    assert set(found) == {"few samples", "more columns than samples"}
    assert "only 40 samples" in found["few samples"].sentence
    assert "50 columns but 40 samples" in found["more columns than samples"].sentence


def test_small_classes_are_named(rng):
    y = np.array(["yes"] * 150 + ["no"] * 147 + ["<b>"] * 3)
    found = remarks(rng.normal(size=(N, 2)), pd.Series(y, name="answer"))
    assert found["small classes"].columns == ("answer",)
    assert "1 class has fewer than 10 samples: <b> (3)." in found["small classes"].sentence
    numbers = remarks(rng.normal(size=(N, 2)), [0] * 200 + [1] * 96 + [2] * 3 + [3])
    told = numbers["small classes"].sentence
    assert "2 classes have fewer than 10 samples: 2 (3), 3 (1)." in told
    assert "ordinal" in told
    assert "amounts" not in found["small classes"].sentence


def test_rows_left_out_are_counted(rng):
    X = rng.normal(size=(N, 2))
    X[[5, N - 1], 0] = np.nan
    y = rng.normal(size=N)
    assert "2 of 300 rows were" in remarks(X, y, N, missing="drop")["rows left out"].sentence
    assert "1 of 299 row was" in remarks(X, y, missing="drop")["rows left out"].sentence
    kept = remarks(X, y, missing="category")
    assert set(kept) == {"missing values"}
    assert kept["missing values"].columns == ("x0",)


@pytest.mark.filterwarnings("ignore:skipped columns")
def test_skipped_columns_are_told_by_reason(rng):
    X = pd.DataFrame(
        {
            "a": rng.normal(size=N),
            "one": 1.0,
            "two": 2.0,
            "name": [f"person {i}" for i in range(N)],
        }
    )
    constant, identifier = inspect_data(read_dataset(X, rng.normal(size=N)))
    assert constant.columns == ("one", "two")
    assert constant.sentence.startswith("2 columns are constant")
    assert identifier.columns == ("name",)
    assert identifier.sentence.startswith("1 column is an identifier")


def test_the_wording_of_a_reason_decides_nothing(rng):
    X = np.column_stack([np.repeat([1.0, 2.0], N // 2), rng.normal(size=N)])
    whole = read_dataset(X, rng.normal(size=N))
    rows = np.arange(N // 2)
    reason = "identifier: of the first half"
    table = whole.table.take(rows, reason)
    half = replace(whole, table=table, target=whole.target.take(rows), rows=rows)
    (found,) = [one for one in inspect_data(half, len(rows)) if one.topic == Topic.SKIPPED]
    assert found.columns == ("x0",)
    assert reason in found.sentence


def test_copies_are_no_near_duplicates(rng):
    a = rng.normal(size=N)
    X = np.column_stack([a, 2 * a + 1, rng.normal(size=N)])
    found = remarks(X, rng.normal(size=N))
    assert set(found) == {"copies"}
    assert found["copies"].columns == ("x0", "x1")


def test_near_duplicates_are_grouped_whatever_their_scale_and_sign(rng):
    a, b = rng.normal(size=(2, N))
    little = 0.01 * rng.normal(size=(3, N))
    X = np.column_stack([a, b, np.exp(a + little[0]), -(a**3) + little[1] / 100, b + little[2]])
    found = inspect_data(read_dataset(X, rng.normal(size=N)))
    assert [remark.columns for remark in found] == [("x0", "x2", "x3"), ("x1", "x4")]
    assert {remark.topic for remark in found} == {"near-duplicates"}
    assert "the others are mostly redundant" in found[0].sentence


def test_near_duplicates_are_found_across_blocks_of_columns(rng):
    a = rng.normal(size=(N, 1500))
    X = np.column_stack([a, a[:, [1400, 0]] + 0.01 * rng.normal(size=(N, 2))])
    found = inspect_data(read_dataset(X, rng.normal(size=N)))
    groups = [finding.columns for finding in found if finding.topic == Topic.NEAR_DUPLICATES]
    assert groups == [("x0", "x1501"), ("x1400", "x1500")]


def test_many_groups_are_cut_short(rng):
    a = rng.normal(size=(N, 22))
    X = np.column_stack([a, a + 0.001 * rng.normal(size=a.shape)])
    found = inspect_data(read_dataset(X, rng.normal(size=N)))
    assert [len(finding.columns) for finding in found] == [2] * 20 + [0]
    assert "2 more" in found[-1].sentence


def test_of_too_many_columns_no_pairs_are_compared(rng):
    a = rng.normal(size=(30, 10_000))
    X = np.column_stack([a, a[:, 0] + 1e-6 * rng.normal(size=30)])
    assert not remarks(X, rng.normal(size=30))["near-duplicates"].columns


def test_large_tables_are_sampled_always_alike(rng):
    a = rng.normal(size=100_500)
    X = np.column_stack([a, a + 0.001 * rng.normal(size=len(a)), np.where(a < 0, 0.0, a**2)])
    dataset = read_dataset(X, rng.normal(size=len(a)), feature_types={"x2": "continuous"})
    found = inspect_data(dataset)
    assert {finding.topic for finding in found} == {Topic.NEAR_DUPLICATES, Topic.TIES}
    assert inspect_data(dataset) == found


@pytest.mark.parametrize("sign", [1, -1])
def test_a_row_number_is_found_and_a_sorted_column_with_ties_is_not(rng, sign):
    X = np.column_stack([rng.normal(size=N), sign * np.arange(N), np.repeat(np.arange(N // 2), 2)])
    found = remarks(X, rng.normal(size=N))
    assert found["counts the rows"].columns == ("x1",)


def test_ties_are_told_with_their_share(rng):
    rain = np.where(rng.random(N) < 0.6, 0.0, rng.gamma(2.0, size=N))
    twice = np.repeat(rng.normal(size=N // 2), 2)  # pairs do no harm
    found = remarks(np.column_stack([rain, twice]), rng.normal(size=N))
    assert found["ties"].columns == ("x0",)
    share = round(100 * np.mean(rain == 0))
    assert f"but {share} % of the samples share their value" in found["ties"].sentence
    assert remarks(twice[:, None], rain)["ties"].columns == ("target",)


def test_ties_are_no_remark_where_the_estimator_allows_for_them(rng):
    rain = np.where(rng.random(N) < 0.6, 0.0, rng.gamma(2.0, size=N))
    X = np.column_stack([rain, rng.normal(size=N)])
    assert remarks(X, rng.permutation(["yes", "no", "no"] * 100)) == {}
    assert remarks(np.column_stack([X, rng.integers(0, 9, N)]), rng.normal(size=N)) == {}


@pytest.mark.parametrize("digits", [1, 2])
def test_measurements_with_few_digits_need_a_remark_only_if_a_third_is_tied(rng, digits):
    found = remarks(rng.normal(size=(N, 3)).round(digits), rng.normal(size=N))
    assert ("ties" in found) == (digits == 1)


@pytest.mark.parametrize("name", ["load_iris", "load_wine", "load_diabetes", "load_breast_cancer"])
def test_few_remarks_on_tables_that_are_known(name):
    table = getattr(sklearn.datasets, name)()
    found = inspect_data(read_dataset(table.data, table.target))
    n_groups = 2 if name == "load_breast_cancer" else 0  # radius, perimeter and area
    assert [remark.topic for remark in found] == ["near-duplicates"] * n_groups


def test_a_column_that_gives_the_target_away_is_found(rng):
    y = rng.normal(size=N)
    X = np.column_stack([rng.normal(size=N), np.exp(y)])
    assert remarks(X, y)["gives the target away"].columns == ("x1",)
    classes = rng.permutation(["yes", "no", "no"] * 100)
    codes = pd.DataFrame({"a": rng.integers(0, 3, N), "code": (classes == "yes") * 2})
    assert remarks(codes, classes)["gives the target away"].columns == ("code",)


def test_texts_of_many_levels_are_found(rng):
    X = pd.DataFrame({"street": [f"street {i}" for i in rng.integers(0, 120, N)]})
    assert remarks(X, rng.normal(size=N))["many levels"].columns == ("street",)


def test_remarks_are_plain_and_print_well(rng):
    (remark,) = inspect_data(read_dataset(rng.normal(size=(50, 1)), rng.normal(size=50)))
    assert remark.to_dict() == {
        "topic": "few samples",
        "columns": [],
        "sentence": remark.sentence,
    }
    assert str(remark).startswith("few samples: There are only 50 samples.")
