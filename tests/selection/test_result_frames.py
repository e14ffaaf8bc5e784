"""Results as frames: in the caller's library, with types of their own, what is unknown as null."""

from __future__ import annotations

import narwhals as nw
import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
from systems import quick, season

from pidselect import decompose, stability
from pidselect.data.input import frame_library
from pidselect.decomposition import decompose_distribution
from pidselect.selection.result import FRAME_COLUMNS, Selection

LIBRARIES = {"pandas": pd.DataFrame, "polars": pl.DataFrame, "pyarrow": pa.table}
FEATURE_TYPES = {"pandas": pd.DataFrame, "polars": pl.DataFrame, "pyarrow": pa.Table}
DTYPES = {bool: nw.Boolean, float: nw.Float64, int: nw.Int64, str: nw.String}

libraries = pytest.mark.parametrize("library", LIBRARIES)


def check(frame, library, types):
    """It is a frame of the library, of these columns and types; return it as one of narwhals."""
    assert isinstance(frame, FEATURE_TYPES[library])
    read = nw.from_native(frame, eager_only=True)
    assert dict(read.schema) == {name: DTYPES[feature_type] for name, feature_type in types.items()}
    return read


def unknown(column):
    """Return how many values are null, or not a number as pandas has it."""
    return int(column.is_null().sum())


@libraries
@pytest.mark.parametrize("n_permutations", [0, 199])
def test_selections(library, n_permutations):
    """Where nothing is tested, there are no p-values, but they are of the same type."""
    columns, y = season()
    selector = quick(n_permutations=n_permutations, max_features=2, lookahead=1)
    selection = selector.fit(LIBRARIES[library](columns), y).selection_
    read = check(selection.to_frame(), library, FRAME_COLUMNS)
    assert len(read) == sum(len(step.candidates) for step in selection.steps)
    assert unknown(read["p_value"]) == (0 if n_permutations else len(read))
    values = [bits for step in selection.steps for bits in step.values]
    np.testing.assert_array_equal(np.array(read["bits"].to_list(), dtype=float), values)


@libraries
def test_an_empty_selection(library):
    frame = Selection((), (), (), frame_library=library).to_frame()
    assert len(check(frame, library, FRAME_COLUMNS)) == 0


@libraries
def test_explanations_and_pairs(library):
    columns, y = season()
    table = LIBRARIES[library]({**columns, "one": [1] * len(y)})
    selector = quick().fit(table, y)
    explanation = selector.explain(table, y)
    values = ("information", "added", "unique", "shared", "synergy")
    types = dict.fromkeys(["name", "feature_type", "role"], str) | {"selected": bool}
    types |= dict.fromkeys([*values, "p_value", "marginal_p_value", "share", "added_in_fit"], float)
    types |= dict.fromkeys([f"{v}_{end}" for v in values for end in ("lower", "upper")], float)
    types |= {"is_lower_bound": bool}
    types |= dict.fromkeys(["redundant_with", "overlaps_with", "method"], str)
    types |= dict.fromkeys(["reason", "sentence"], str)
    read = check(explanation.to_frame(), library, types)
    assert read["name"].to_list() == [feature.name for feature in explanation]
    assert unknown(read["unique"]) == sum(feature.unique is None for feature in explanation)
    assert unknown(read["unique"]) > 0
    pairs = check(
        explanation.pairs.to_frame(),
        library,
        {"feature": str, "and": str, "redundancy": float, "synergy": float, "dependent": bool},
    )
    n_selected = len(selector.selection_.features)
    assert len(pairs) == n_selected * (n_selected - 1) // 2 > 0
    assert pairs["redundancy"][0] == explanation.pairs.redundancy[0, 1]


@libraries
def test_pairs_that_are_not_estimable_are_null(library):
    columns, y = season()
    table = LIBRARIES[library](columns)
    pairs = quick().fit(table, y).explain(table, y).pairs
    object.__setattr__(pairs, "estimable", np.zeros_like(pairs.estimable))
    read = nw.from_native(pairs.to_frame(), eager_only=True)
    assert unknown(read["synergy"]) == len(read) > 0


@libraries
def test_stabilities(library):
    columns, y = season()
    found = stability(
        quick(estimator="mixed"), LIBRARIES[library](columns), y, n_subsamples=2, random_state=0
    )
    types = {"feature": str, "selected": int, "frequency": float, "lower": float, "upper": float}
    assert check(found.to_frame(), library, types)["feature"].to_list() == list(columns)


ATOM_TYPES = {
    **dict.fromkeys(["atom", "name"], str),
    "value": float,
    "unit": str,
    **dict.fromkeys(["informative", "misinformative", "corrected", "lower", "upper"], float),
}
SOURCE_TYPES = {
    "source": str,
    **dict.fromkeys(["information", "p_value"], float),
    **dict.fromkeys(["conditional_information", "conditional_p_value"], float),
}


@libraries
def test_decompositions(library):
    rng = np.random.default_rng(0)
    bits = rng.integers(0, 2, size=(2, 200))
    frame = LIBRARIES[library]({"a": bits[0], "b": bits[1], "y": bits[0] & bits[1]})
    sources = [frame[["a"]], frame[["b"]]] if library != "pyarrow" else [frame["a"], frame["b"]]
    plain = decompose(sources, frame["y"])
    read = check(plain.to_frame(), library, ATOM_TYPES)
    assert read["atom"].to_list() == list(plain.atoms)
    assert read["name"].to_list() == ["shared", "unique 1", "unique 2", "synergy"]
    assert read["value"].to_list() == list(plain.atoms.values())
    assert all(unknown(read[name]) == 4 for name in ("corrected", "lower", "upper"))
    assert len(check(plain.to_frame("sources"), library, SOURCE_TYPES)) == 0
    doubted = decompose(sources, frame["y"], n_permutations=20, n_bootstrap=40, random_state=0)
    read = check(doubted.to_frame(), library, ATOM_TYPES)
    tested = check(doubted.to_frame("sources"), library, SOURCE_TYPES)
    assert tested["source"].to_list() == [test.source for test in doubted.source_tests]
    assert tested["p_value"].to_list() == [test.p_value for test in doubted.source_tests]
    ends = zip(read["lower"].to_list(), read["upper"].to_list(), strict=True)
    assert list(ends) == list(doubted.intervals.values())
    assert "frame_library" not in doubted.to_dict()


def test_a_frame_of_something_else():
    found = decompose_distribution(np.full((2, 2, 2), 1 / 8))
    with pytest.raises(ValueError, match=r"of='atom'.*'atoms', 'sources'"):
        found.to_frame("atom")


def test_decompositions_of_three_sources():
    pmf = np.full((2, 2, 2, 2), 1 / 16)
    found = decompose_distribution(pmf, measure="sx")
    read = nw.from_native(found.to_frame(), eager_only=True)
    assert read["name"].to_list() == read["atom"].to_list() == list(found.atoms)
    assert unknown(read["informative"]) == 0


def test_the_frame_library_the_first_that_has_one():
    array = np.zeros(3)
    assert frame_library(array, [1, 2]) is None
    assert frame_library(array, pd.Series(array), pl.Series(array)) == "pandas"
    assert frame_library(pl.Series(array)) == "polars"
    assert frame_library(pa.chunked_array([array])) == "pyarrow"
    assert frame_library(pa.table({"a": array}), pd.Series(array)) == "pyarrow"
    both = [np.tile([0, 1], 50), np.tile([0, 0, 1, 1], 25)]
    assert isinstance(decompose(both, pl.Series(both[0])).to_frame(), pl.DataFrame)
    assert decompose(both, pl.Series(both[0])) == decompose(both, both[0])
