"""PIDSelector on dataframes: names, dtypes and output in the caller's library."""

from __future__ import annotations

import datetime as dt
import warnings
from decimal import Decimal

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
from sklearn import config_context
from sklearn.compose import ColumnTransformer
from sklearn.pipeline import make_pipeline
from systems import chosen, gates, noise, numbers, quick, season

from pidselect import PIDSelector

LIBRARIES = {"pandas": pd.DataFrame, "polars": pl.DataFrame, "pyarrow": pa.table}
frames = pytest.mark.parametrize("library", LIBRARIES)
outputs = pytest.mark.parametrize("library", ["pandas", "polars"])


@frames
def test_names_and_record(library):
    columns, y = season()
    selector = quick().fit(LIBRARIES[library](columns), y)
    expected = quick().fit(pd.DataFrame(columns), y).selection_
    assert selector.selection_.steps == expected.steps
    assert selector.feature_names_in_.tolist() == list(columns)
    assert selector.n_features_in_ == 4
    assert sorted(chosen(selector)) == ["port", "wind"]
    assert selector.selected_.tolist() == [list(columns).index(n) for n in chosen(selector)]
    assert selector.get_feature_names_out().tolist() == ["wind", "port"]
    feature_types = ["ordinal", "continuous", "nominal", "nominal"]
    assert list(selector.feature_types_.items()) == list(zip(columns, feature_types, strict=True))


STEPS = [int(step) for step in np.random.default_rng(0).integers(0, 10**6, 60)]
START = dt.datetime(2020, 1, 1)
COLUMNS = {
    "date": [START.date() + dt.timedelta(step % 3000) for step in STEPS],
    "moment": [START + dt.timedelta(seconds=step) for step in STEPS],
    "zoned": [(START + dt.timedelta(seconds=step)).replace(tzinfo=dt.UTC) for step in STEPS],
    "duration": [dt.timedelta(seconds=step) for step in STEPS],
    "clock": [dt.time(step % 24, step % 60) for step in STEPS],
    "decimal": [Decimal(step) / 100 for step in STEPS],
    "large": [2**60 + 256 * step + 1 for step in STEPS],
    "gaps": [None, *STEPS[1:]],
    "large gaps": [None, *(2**60 + 256 * step + 1 for step in STEPS[1:])],
    "flag": [step % 2 == 0 for step in STEPS],
    "flag gaps": [None, *(step % 2 == 0 for step in STEPS[1:])],
    "text": [f"t{step % 3}" for step in STEPS],
}
ARRAY_DTYPES = {"moment": "M", "duration": "m", "large": "i", "gaps": "f", "flag": "b"}


def keep_all(table, names):
    """Return a selector that selects all columns."""
    selector = PIDSelector(
        fixed_features=names, max_features=len(names), n_permutations=0, missing="category"
    )
    return selector.fit(table, np.array(STEPS) % 7)


def same(found, expected):
    """Return whether values are equal and missing in the same places."""
    pairs = zip(found, expected, strict=True)
    return all(pd.isna(a) if pd.isna(b) else a == b for a, b in pairs)


@frames
@pytest.mark.parametrize("name", COLUMNS)
@pytest.mark.filterwarnings("error", "ignore:No feature")
def test_transform_keeps_library_dtypes_and_values(library, name):
    table = LIBRARIES[library]({name: COLUMNS[name], "x": STEPS})
    found = keep_all(table, [name, "x"]).transform(table)
    assert isinstance(found, LIBRARIES[library] if library != "pyarrow" else pa.Table)
    assert found.equals(table)


@frames
@pytest.mark.parametrize("name", COLUMNS)
@pytest.mark.parametrize("wanted", ["default", "pandas", "polars"])
@pytest.mark.filterwarnings("error", "ignore:No feature")
def test_set_output_keeps_values(library, name, wanted):
    table = LIBRARIES[library]({name: COLUMNS[name]})
    selector = keep_all(table, [name]).set_output(transform=wanted)
    found = selector.transform(table)
    expected = list(table[name]) if library == "pandas" else COLUMNS[name]
    if wanted == "default":
        assert isinstance(found, np.ndarray)
        is_date = name == "date" and library != "pandas"
        if name in ("zoned", "large gaps"):  # NumPy has no type for them
            return
        kind = "M" if is_date else ARRAY_DTYPES.get(name, "O")
        assert found.dtype.kind == kind
        values = found[:, 0]
        if kind in "Mm" and np.datetime_data(found.dtype)[0] == "ns":  # before pandas 3
            values = values.astype(f"{kind}8[us]")
        assert same(values.tolist(), expected)
    else:
        assert isinstance(found, LIBRARIES[wanted])
        assert list(found.columns) == [name]
        assert same(list(found[name]), expected)


@frames
def test_an_array_of_columns_of_several_types(library):
    columns = {key: COLUMNS[key] for key in ("large", "moment", "text", "flag")}
    table = LIBRARIES[library]({**columns, "x": [step / 8 for step in STEPS]})
    selector = keep_all(table, ["large", "moment", "text", "flag", "x"])
    found = selector.set_output(transform="default").transform(table)
    assert found.dtype == object
    assert found[5].tolist() == [
        COLUMNS["large"][5],
        np.datetime64(COLUMNS["moment"][5], "us"),
        COLUMNS["text"][5],
        COLUMNS["flag"][5],
        STEPS[5] / 8,
    ]
    small = LIBRARIES[library]({"n": STEPS, "x": [step / 8 for step in STEPS]})
    assert (
        keep_all(small, ["n", "x"]).set_output(transform="default").transform(small).dtype == float
    )


@frames
@pytest.mark.parametrize("wanted", ["default", "pandas", "polars"])
def test_dates_in_pipelines(library, wanted):
    table = LIBRARIES[library]({"moment": COLUMNS["moment"], "x": STEPS})
    y = np.array(STEPS) % 7
    twice = make_pipeline(keep_all(table, [0, 1]), keep_all(table, [0, 1]))
    assert twice.fit(table, y).transform(table).equals(table)
    passing = ColumnTransformer([("all", keep_all(table, [0, 1]), [0, 1])])
    pipeline = make_pipeline(keep_all(table, [0, 1]), passing).set_output(transform=wanted)
    found = pipeline.fit(table, y).transform(table)
    if wanted == "default":
        assert isinstance(found, np.ndarray)
        assert found[:, 1].tolist() == STEPS
        assert found[7, 0] == np.datetime64(COLUMNS["moment"][7])
    else:
        assert isinstance(found, LIBRARIES[wanted])
        assert list(found["all__moment"]) == COLUMNS["moment"]


@pytest.mark.parametrize("wanted", ["pandas", "polars"])
@frames
def test_the_output_set_for_all_estimators(library, wanted):
    table = LIBRARIES[library]({"date": COLUMNS["date"], "x": STEPS})
    with config_context(transform_output=wanted):
        found = keep_all(table, ["date", "x"]).transform(table)
    assert isinstance(found, LIBRARIES[wanted])
    assert list(found["date"]) == COLUMNS["date"]


def test_pandas_keeps_its_index_and_categories():
    columns, y = season()
    table = pd.DataFrame(columns, index=range(1000, 1150)).astype({"port": "category"})
    found = quick().set_output(transform="pandas").fit(table, y).transform(table)
    pd.testing.assert_frame_equal(found, table[["wind", "port"]])


@outputs
def test_set_output_from_an_array(library):
    X, y = gates()
    found = quick().set_output(transform=library).fit(X, y).transform(X)
    assert isinstance(found, LIBRARIES[library])
    assert list(found.columns) == ["x0", "x1", "x2"]
    np.testing.assert_array_equal(found.to_numpy(), X[:, :3])


@pytest.mark.filterwarnings("ignore:No feature was selected:UserWarning")
@frames
def test_nothing_selected_keeps_the_rows(library):
    X, y = noise(seed=4)
    table = LIBRARIES[library](dict(zip("abc", X.T, strict=True)))
    selector = quick().fit(table, y)
    assert selector.selected_.tolist() == []
    assert selector.transform(table).shape == (rows_without_columns(table, 100), 0)


@pytest.mark.filterwarnings("ignore:No feature was selected:UserWarning")
@frames
@pytest.mark.parametrize("wanted", ["pandas", "polars"])
def test_nothing_selected_gives_a_frame_without_columns(library, wanted):
    X, y = noise(seed=4)
    table = LIBRARIES[library](dict(zip("abc", X.T, strict=True)))
    found = quick().set_output(transform=wanted).fit(table, y).transform(table)
    assert isinstance(found, LIBRARIES[wanted])
    assert found.shape == (rows_without_columns(found, 100), 0)


def rows_without_columns(frame, n_rows):
    """Return how many rows a frame has without its columns: before polars 2, none."""
    is_old = isinstance(frame, pl.DataFrame) and int(pl.__version__.partition(".")[0]) < 2
    return 0 if is_old else n_rows


@frames
@pytest.mark.parametrize("name", ["wind", "port"])
def test_transform_of_a_frame_with_gaps(library, name):
    """As for arrays: refused where they cannot be fitted, in whatever column, else passed on."""
    columns, y = season()
    gaps = LIBRARIES[library]({**columns, name: [None, *columns[name][1:]]})
    for missing in ("drop", "category"):
        selector = quick(missing=missing).fit(LIBRARIES[library](columns), y)
        assert selector.transform(gaps).shape == (150, 2)
    selector = quick().fit(LIBRARIES[library](columns), y)
    with pytest.raises(ValueError, match=rf"NaN: '{name}' \(1 missing\).*missing='drop'"):
        selector.transform(gaps)


def test_column_transformer():
    X, y = numbers()
    table = pd.DataFrame(X, columns=list("abcd")).assign(label="x")
    transformer = ColumnTransformer(
        [("chosen", quick(), ["a", "b", "c"])], remainder="drop", verbose_feature_names_out=True
    )
    transformer.set_output(transform="pandas")
    found = transformer.fit_transform(table, y)
    assert list(found.columns) == ["chosen__a", "chosen__b"]
    np.testing.assert_array_equal(found.to_numpy(), X[:, :2])


def test_target_as_a_series():
    X, y = gates()
    expected = quick().fit(X, y).selection_
    for target in (
        pd.Series(y, name="open", index=range(7, 207)),
        pl.Series("open", y),
        pd.DataFrame({"open": y}),
        pl.DataFrame({"open": y}),
        pd.Series(y).astype("category"),
        pa.chunked_array([y[:80], y[80:]]),
    ):
        assert quick().fit(X, target).selection_ == expected


def test_columns_with_numbers_for_names():
    """As pandas.DataFrame(array) has them."""
    X, y = gates()
    table = pd.DataFrame(X)
    selector = quick().fit(table, y)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        found = selector.transform(table)
    np.testing.assert_array_equal(found, X[:, :3])
    assert selector.get_support().tolist() == [True, True, True, False, False]
    assert selector.selection_.steps[0].chosen == "2"
    assert not hasattr(selector, "feature_names_in_")


def test_names_that_are_partly_text_are_refused_before_any_work(monkeypatch):
    X, y = gates()
    table = pd.DataFrame(X, columns=["a", "b", "c", 3, 4])
    monkeypatch.setattr("pidselect.selection.selector.build_pool", None)
    selector = quick()
    with pytest.raises(TypeError, match="string names"):
        selector.fit(table, y)
    assert not hasattr(selector, "n_features_in_")


def test_fit_on_one_library_and_transform_another():
    columns, y = season()
    selector = quick().fit(pd.DataFrame(columns), y)
    for make in (pl.DataFrame, pa.table):
        table = make(columns)
        assert selector.transform(table).equals(table.select(["wind", "port"]))
