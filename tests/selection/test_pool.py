"""Candidate pool: fixed features, groups, duplicates, constants, identifiers, missing values."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest
from systems import chosen, gates, numbers, quick, season, xor

from pidselect.data import Table
from pidselect.selection.pool import build_pool

NAMES = ["a", "b", "c", "d", "e"]


def frame(X):
    return pd.DataFrame(X, columns=NAMES[: X.shape[1]])


# --- fixed features ------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "fixed",
    [["d"], [3], ("d",), "d", 3, np.int64(3), np.array([3]), np.array(["d"]), pd.Index(["d"])],
    ids=["name", "position", "tuple", "bare", "int", "int64", "array", "names", "index"],
)
def test_fixed_by_name_or_position(fixed):
    X, y = gates()
    selector = quick(fixed_features=fixed).fit(frame(X), y)
    assert selector.selected_[0] == 3
    assert sorted(selector.selected_) == [0, 1, 2, 3]
    assert selector.selection_.fixed_features == ("d",)
    assert "d" not in chosen(selector)
    assert selector.get_support().tolist() == [True, True, True, True, False]


def test_fixed_columns_are_conditioned_on_and_never_tested():
    """Given one input of an xor, the other one determines it."""
    X, y = xor()
    selector = quick(estimator="discrete", fixed_features=["x0"]).fit(X, y)
    assert selector.selected_.tolist() == [0, 1]
    first = selector.selection_.steps[0]
    assert (first.conditioning_set, first.chosen, first.value) == (
        ("x0",),
        "x1",
        pytest.approx(1.0),
    )
    for step in selector.selection_.steps:
        assert "x0" not in step.candidates
        assert step.conditioning_set[0] == "x0"


def test_fixed_features_alone_are_no_empty_selection():
    X, y = xor()
    assert quick(estimator="discrete", fixed_features=["x2"]).fit(X, y).selected_.tolist() == [2]


def test_a_constant_can_be_fixed():
    X, y = gates()
    X[:, 4] = 1
    selector = quick(fixed_features=["x4"]).fit(X, y)
    assert sorted(selector.selected_) == [0, 1, 2, 4]
    assert selector.selection_.skipped == {"x4": "constant"}


def test_no_steps_if_all_columns_are_fixed():
    X, y = gates()
    selector = quick(fixed_features=range(5)).fit(X, y)
    assert selector.selected_.tolist() == [0, 1, 2, 3, 4]
    assert selector.selection_.steps == ()


def test_fixed_columns_count_towards_max_features():
    X, y = gates()
    assert quick(fixed_features=["x3"], max_features=2).fit(X, y).selected_.tolist() == [3, 2]
    assert quick(fixed_features=["x3"], max_features=1).fit(X, y).selected_.tolist() == [3]


def test_more_fixed_columns_than_max_features():
    X, y = gates()
    settings = {"fixed_features": ["x3", "x4", "x0"], "feature_groups": {"pair": ["x3", "x4"]}}
    with pytest.raises(ValueError, match=r"fixed_features.* 3 .*max_features=2.*max_features=3"):
        quick(max_features=2, **settings).fit(X, y)
    assert len(quick(max_features=3, **settings).fit(X, y).selected_) == 3


def test_a_fixed_column_represents_its_duplicates():
    X, y = gates()
    X[:, 4] = 1 - X[:, 2]
    selector = quick(fixed_features=["x4"]).fit(X, y)
    assert sorted(selector.selected_) == [0, 1, 4]
    assert selector.selection_.duplicates == {"x2": "x4"}


def test_two_duplicates_can_both_be_fixed():
    X, y = gates()
    X[:, 4] = X[:, 2]
    selector = quick(fixed_features=["x2", "x4"]).fit(X, y)
    assert sorted(selector.selected_) == [0, 1, 2, 4]
    assert selector.selection_.duplicates == {}


# --- groups --------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("groups", "name"),
    [
        ({"pair": ["x0", "x1"]}, "pair"),
        ({"pair": [0, 1]}, "pair"),
        ([["x0", "x1"]], "x0+x1"),
        ([(0, 1), ["x2"]], "x0+x1"),
    ],
    ids=["names", "positions", "unnamed", "two"],
)
def test_an_xor_is_found_as_a_group(groups, name):
    X, y = xor()
    with pytest.warns(UserWarning, match="feature_groups"):
        assert quick(estimator="discrete").fit(X, y).selected_.tolist() == []
    selector = quick(estimator="discrete", feature_groups=groups).fit(X, y)
    assert selector.selection_.features == (name,)
    assert selector.selected_.tolist() == [0, 1]
    assert selector.selection_.steps[0].value == pytest.approx(1.0)
    np.testing.assert_array_equal(selector.transform(X), X[:, :2])
    assert list(selector.get_feature_names_out()) == ["x0", "x1"]


def test_a_group_leaves_together():
    """x2 or x3 stands in for the others until all of them are in."""
    rng = np.random.default_rng(0)
    first, second = rng.integers(0, 2, (2, 300))
    blurred = [np.where(rng.random(300) < 0.1, 1 - bits, bits) for bits in (first, second)]
    X = np.column_stack([first, second, *blurred])
    y = first + 2 * second
    settings = {"criterion": "mi", "feature_groups": {"blurred": [2, 3]}}
    assert sorted(quick(backward=None, **settings).fit(X, y).selected_) == [0, 1, 2, 3]
    selector = quick(backward="maximum", **settings).fit(X, y)
    assert sorted(selector.selected_) == [0, 1]
    removed = [step.chosen for step in selector.selection_.steps if step.phase == "backward"]
    assert removed[0] == "blurred"


def test_a_group_too_wide_is_passed_over():
    X, y = gates()
    selector = quick(feature_groups={"wide": [0, 2]}, max_features=1).fit(X, y)
    assert len(selector.selected_) == 1
    assert all("wide" not in step.candidates for step in selector.selection_.steps)


def test_a_group_is_fixed_as_a_whole():
    X, y = gates()
    selector = quick(feature_groups={"pair": ["x3", "x4"]}, fixed_features=["x4", "x3"]).fit(X, y)
    assert selector.selection_.fixed_features == ("pair",)
    assert selector.selected_[:2].tolist() == [3, 4]
    with pytest.raises(ValueError, match=r"'x4'.*'pair'.*'x3'"):
        quick(feature_groups={"pair": ["x3", "x4"]}, fixed_features=["x4"]).fit(X, y)


def test_a_constant_may_be_in_a_group():
    X, y = gates()
    X[:, 4] = 1
    selector = quick(feature_groups={"pair": [2, 4], "none": [3]}).fit(X, y)
    assert sorted(selector.selected_) == [0, 1, 2, 4]


def test_a_group_of_constants_is_no_candidate():
    X, y = gates()
    X[:, 3:] = 1
    selector = quick(feature_groups={"constants": [3, 4]}).fit(X, y)
    assert "constants" not in selector.selection_.steps[0].candidates


def test_a_group_may_have_the_name_of_one_of_its_columns():
    X, y = gates()
    selector = quick(feature_groups={"x0": ["x0", "x1"]}).fit(X, y)
    assert sorted(selector.selected_) == [0, 1, 2]


def test_groups_of_like_names_are_not_mixed_up():
    table = Table.read(pd.DataFrame(gates()[0], columns=["a+b", "c", "a", "b+c", "d"]))
    pool = build_pool(table, groups=[["a+b", "c"], ["a", "b+c"]])
    assert {feature.columns for feature in pool.candidates} == {(0, 1), (2, 3), (4,)}
    assert len({feature.name for feature in pool.candidates}) == 3


@pytest.mark.parametrize(
    ("groups", "names"),
    [
        ({1: ["x0"], "1": ["x2"]}, "'1'"),
        ([[0, 1], [0, 1]], r"'x0'.*'x0\+x1'"),
        ({"x4": [0, 1]}, "'x4'"),
    ],
)
def test_ambiguous_groups_are_refused(groups, names):
    with pytest.raises(ValueError, match=names):
        quick(feature_groups=groups).fit(*gates())


@pytest.mark.parametrize(
    ("parameter", "make"),
    [
        ("fixed_features", lambda: iter(["x0"])),
        ("fixed_features", lambda: (i for i in range(2))),
        ("fixed_features", lambda: map(int, "01")),
        ("feature_groups", lambda: iter([["x0", "x1"]])),
        ("feature_groups", lambda: [iter(["x0", "x1"])]),
        ("feature_groups", lambda: {"pair": iter(["x0", "x1"])}),
    ],
)
def test_iterators_are_refused(parameter, make):
    """A second fit would find them empty."""
    wanted = make()
    for _ in range(2):
        with pytest.raises(TypeError, match=rf"{parameter}.*list\("):
            quick(**{parameter: wanted}).fit(*gates())


# --- copies, constants, identifiers --------------------------------------------------------------


def test_copies_are_merged_and_reported():
    X, y = numbers()
    X[:, 2] = 3 - 2 * X[:, 0]
    selector = quick().fit(X, y)
    assert selector.selection_.duplicates == {"x2": "x0"}
    assert sorted(selector.selected_) == [0, 1]
    assert all("x2" not in step.candidates for step in selector.selection_.steps)


@pytest.mark.parametrize("image", [np.exp, lambda x: -(x**3), np.tanh])
def test_monotone_copies_are_merged_where_ranks_are_all_that_counts(image):
    X, y = numbers()
    X[:, 2] = image(X[:, 0])
    for estimator in ("ksg-rank", "copula"):
        selection = quick(estimator=estimator).fit(X, y).selection_
        assert selection.duplicates == {"x2": "x0"}
        assert sorted(selection.features) == ["x0", "x1"]
    for estimator in ("ksg", "gaussian"):
        selection = quick(estimator=estimator).fit(X, y).selection_
        assert selection.duplicates == {}
        assert "x2" in selection.steps[0].candidates


def test_relabelled_copies_are_merged():
    columns, y = season()
    columns["harbour"] = ["H1" if port == "south" else "H2" for port in columns["port"]]
    selector = quick().fit(pd.DataFrame(columns), y)
    assert selector.selection_.duplicates == {"harbour": "port"}
    assert sorted(chosen(selector)) == ["port", "wind"]


def test_copies_of_each_other_are_merged_also_if_a_group_has_a_third():
    X, _ = gates()
    X[:, 3] = X[:, 4] = X[:, 2]
    pool = build_pool(Table.read(X), groups={"pair": ["x1", "x2"]})
    assert pool.duplicates == {4: 3}
    assert [feature.name for feature in pool.candidates] == ["x0", "pair", "x3"]


def test_only_constants():
    with pytest.warns(UserWarning, match="No feature"):
        selector = quick().fit(np.ones((50, 2)), np.arange(50) % 2)
    assert selector.selected_.tolist() == []
    assert selector.selection_.steps == ()
    assert selector.transform(np.ones((3, 2))).shape == (3, 0)


def test_identifiers_are_skipped_with_a_warning():
    columns, y = season()
    columns["id"] = [f"ship {i}" for i in range(len(y))]
    with pytest.warns(UserWarning, match="'id'") as caught:
        selector = quick().fit(pd.DataFrame(columns), y)
    assert caught[0].filename == __file__
    assert list(selector.selection_.skipped) == ["id"]
    assert all("id" not in step.candidates for step in selector.selection_.steps)
    assert sorted(chosen(selector)) == ["port", "wind"]
    stated = quick(feature_types={"id": "nominal"}).fit(pd.DataFrame(columns), y)
    assert "id" in stated.selection_.steps[0].candidates


@pytest.mark.filterwarnings("ignore:skipped columns:UserWarning")
def test_identifiers_do_not_change_the_estimator():
    X, y = numbers()
    table = frame(X).assign(id=[f"row {i}" for i in range(len(y))])
    selector = quick(n_permutations=0, max_features=1).fit(table, y)
    assert type(selector.estimator_).__name__ == "KSG"


@pytest.mark.filterwarnings("ignore:skipped columns:UserWarning")
def test_an_identifier_cannot_be_fixed():
    columns, y = season()
    columns["id"] = [f"ship {i}" for i in range(len(y))]
    with pytest.raises(ValueError, match=r"fixed_features.*'id'.*feature_types=\{'id'"):
        quick(fixed_features=["id"]).fit(pd.DataFrame(columns), y)


# --- feature types -------------------------------------------------------------------------------


def test_stated_feature_types():
    columns, y = season()
    table = pd.DataFrame(columns)
    stated = {"boats": "continuous", "target": "continuous"}
    assert quick(feature_types=stated).fit(table, y).feature_types_["boats"] == "continuous"
    everything = ["nominal", "continuous", "nominal", "nominal"]
    assert list(quick(feature_types=everything).fit(table, y).feature_types_.values()) == everything


def test_the_feature_type_of_the_target():
    """Few levels are classes, unless stated otherwise."""
    X, _ = numbers()
    y = np.round(X[:, 0])
    for feature_types, name in ((None, "Mixed"), ({"target": "continuous"}, "KSG")):
        selector = quick(n_permutations=0, max_features=1, feature_types=feature_types)
        assert type(selector.fit(X, y).estimator_).__name__ == name


# --- missing values ------------------------------------------------------------------------------


def with_gaps(seed=0):
    """The gate's columns as numbers, every tenth value of x3 and every twentieth of x0 missing."""
    X, y = gates(300, seed)
    X = X.astype(float)
    X[::10, 3] = np.nan
    X[5::20, 0] = np.nan
    return X, y


def test_rows_with_missing_values_are_dropped():
    X, y = with_gaps()
    selector = quick(missing="drop").fit(X, y)
    whole = ~np.isnan(X).any(axis=1)
    assert selector.selection_ == quick().fit(X[whole], y[whole]).selection_
    assert selector.selection_.settings.n_samples == whole.sum() == 255
    assert selector.transform(X).shape == (300, 3)


def test_missing_values_as_a_level():
    X, y = with_gaps()
    selector = quick(missing="category", estimator="discrete").fit(X, y)
    level = quick(estimator="discrete").fit(np.where(np.isnan(X), 2.0, X), y)
    assert selector.selection_ == level.selection_
    np.testing.assert_array_equal(selector.transform(X), X[:, selector.get_support()])


def test_missingness_may_be_informative():
    X, _ = numbers()
    y = (np.arange(len(X)) % 3 == 0).astype(int)
    X[y == 1, 2] = np.nan
    selector = quick(missing="category").fit(X, y)
    assert selector.selected_.tolist() == [2]


def test_missing_values_in_the_target():
    X, y = gates()
    target = y.astype(float)
    target[:50] = np.nan
    expected = quick().fit(X[50:], y[50:]).selection_
    assert quick(missing="drop").fit(X, target).selection_ == expected
    selector = quick(missing="category").fit(X, target)
    assert selector.selection_.settings.n_samples == 200


@pytest.mark.parametrize("groups", [["x0", "x1"], ("x0", "x1"), [0, 1], ["x0", ["x1", "x2"]]])
def test_columns_instead_of_groups_of_columns_are_refused(groups):
    table = Table.read(np.random.default_rng(0).normal(size=(20, 3)))
    with pytest.raises(TypeError, match=r"feature_groups=\["):
        build_pool(table, groups=groups)
