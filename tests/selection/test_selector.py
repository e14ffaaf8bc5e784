"""PIDSelector as scikit-learn, and its users, expect a selector to be."""

from __future__ import annotations

import pickle
from functools import partial

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn.linear_model import LinearRegression, LogisticRegression
from sklearn.model_selection import GridSearchCV
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.utils.estimator_checks import parametrize_with_checks
from systems import (
    EXPECTED_FAILURES,
    PAPER,
    assert_same,
    chosen,
    gates,
    noise,
    numbers,
    quick,
    season,
    xor,
)

import naive
from pidselect import PIDSelector
from pidselect.estimators import KSG, Discrete
from pidselect.significance.rng import BACKWARD, FORWARD

# --- scikit-learn -------------------------------------------------------------------------------


QUICK = {"n_permutations": 39, "random_state": 0}

#: The classes of the checks are numbers, as KSG needs them.
NUMBERS = {"target": "continuous"}


# The checks fit noise as well, of which nothing is selected.
@pytest.mark.filterwarnings("ignore:No feature was selected:UserWarning")
@parametrize_with_checks(
    [
        PIDSelector(),
        quick(missing="category"),
        quick(missing="drop"),
        PIDSelector.paper(estimator="ksg", feature_types=NUMBERS, **QUICK),
        quick(estimator="mixed", n_permutations="auto"),
        quick(n_permutations=0, max_features=1),
        quick(criterion="mi", max_samples=30),
        quick(max_conditioning=1, backward=None, n_jobs=2),
    ],
    expected_failed_checks=lambda selector: EXPECTED_FAILURES,
)
def test_scikit_learn_checks(estimator, check):
    check(estimator)


def test_pipeline():
    X, y = gates()
    pipeline = make_pipeline(StandardScaler(), quick(), LogisticRegression())
    assert pipeline.fit(X, y).score(X, y) > 0.9
    assert list(pipeline[:-1].get_feature_names_out()) == ["x0", "x1", "x2"]


def test_grid_search_reaches_the_estimator():
    X, y = numbers()
    pipeline = make_pipeline(quick(estimator=KSG()), LinearRegression())
    search = GridSearchCV(pipeline, {"pidselector__estimator__k": [3, 5]}, cv=2)
    search.fit(X, y)
    assert search.best_estimator_[0].estimator_.k in (3, 5)
    assert np.isfinite(search.cv_results_["mean_test_score"]).all()


def test_the_estimator_given_is_not_the_one_fitted():
    """So that changing a parameter after fit does not change what was used."""
    X, y = numbers()
    selector = quick(estimator=KSG(k=3)).fit(X, y)
    selector.set_params(estimator__k=9)
    assert selector.estimator_.k == 3


def test_any_object_that_can_bind_is_copied():
    class Plain:
        def __init__(self):
            self.parts = [Discrete()]

        def bind(self, target, given):
            return self.parts[0].bind(target, given)

    given = Plain()
    selector = quick(estimator=given).fit(*gates())
    assert selector.estimator_ is not given
    assert selector.estimator_.parts[0] is not given.parts[0]
    assert sorted(selector.selected_) == [0, 1, 2]


def test_a_pickle_holds_no_data():
    X, y = gates(2000)
    selector = quick().fit(X, y)
    assert selector.feature_types_ == dict.fromkeys(["x0", "x1", "x2", "x3", "x4"], "ordinal")
    assert len(pickle.dumps(selector)) < X.nbytes / 10


# --- what comes out -----------------------------------------------------------------------------


def test_selected_is_in_the_order_of_inclusion_and_transform_in_that_of_the_columns():
    X, y = gates()
    selector = quick().fit(X, y)
    forward = [step for step in selector.selection_.steps if step.phase == "forward"]
    assert [f"x{i}" for i in selector.selected_] == [s.chosen for s in forward if s.accepted]
    assert list(selector.selected_) != sorted(selector.selected_)
    np.testing.assert_array_equal(selector.transform(X), X[:, :3])


def test_transform_of_other_rows():
    X, y = gates()
    selector = quick().fit(X, y)
    assert selector.transform(X[:1]).shape == (1, 3)
    assert selector.transform(np.tile(X, (3, 1))).shape == (600, 3)
    assert selector.transform(X.astype(np.float32)).dtype == np.float32
    assert selector.transform(X.tolist()).shape == (200, 3)


def test_transform_of_rows_keeps_numbers_as_numbers():
    columns, y = season()
    rows = [list(row) for row in zip(*columns.values(), strict=True)]
    found = quick().fit(rows, y).transform(rows)
    assert found[:, 0].tolist() == columns["wind"]
    assert found[:, 1].tolist() == columns["port"]


def test_transform_of_an_array_with_gaps():
    """Only columns are picked; scikit-learn demands the refusal where NaN cannot be fitted."""
    X, y = numbers()
    gaps = X.copy()
    gaps[3, 0], gaps[5, 1] = np.nan, np.inf
    for missing in ("drop", "category"):
        found = quick(missing=missing).fit(X, y).transform(gaps)
        np.testing.assert_array_equal(found, gaps[:, :2])
    selector = quick().fit(X, y)
    with pytest.raises(ValueError, match=r"infinity.*'x1' holds inf in row 5"):
        selector.transform(gaps)
    gaps[5, 1] = gaps[7, 3] = np.nan
    words = r"NaN: 'x0' \(1 missing\), 'x1' \(1 missing\), 'x3' \(1 missing\).*missing='drop'"
    with pytest.raises(ValueError, match=words):
        selector.transform(gaps)


def test_nothing_selected_gives_no_column():
    X, y = noise(seed=4)
    with pytest.warns(UserWarning, match="No feature was selected"):
        selector = quick().fit(X, y)
    assert selector.selected_.tolist() == []
    assert selector.selected_.dtype.kind == "i"
    assert sorted(selector.ranking_) == [2, 3, 4]
    assert np.isfinite(selector.pvalues_).all()
    assert selector.transform(X).shape == (100, 0)
    assert list(selector.get_feature_names_out()) == []


# --- targets ------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "form",
    [
        lambda y: np.where(y, "yes", "no"),
        lambda y: np.where(y, "yes", "no").astype(object),
        lambda y: y.astype(bool),
        lambda y: y.tolist(),
        lambda y: y.astype(float),
        lambda y: y[:, np.newaxis],
        lambda y: 3 - 2 * y,
    ],
    ids=["text", "object", "bool", "list", "float", "column", "other numbers"],
)
def test_target_in_any_form(form):
    X, y = gates()
    expected = quick().fit(X, y).selection_
    found = quick().fit(X, form(y)).selection_
    assert found.features == expected.features
    for step, twin in zip(found.steps, expected.steps, strict=True):
        np.testing.assert_allclose(step.values, twin.values, atol=1e-12)
        assert step.p_value == twin.p_value


def test_several_target_columns_are_one_joint_target():
    """Each of them alone has nothing to do with x0, but x0 is their parity."""
    X, parity = xor()
    both = X[:, :2]
    selector = quick().fit(np.column_stack([parity, X[:, 2]]), both)
    assert selector.selected_.tolist() == [0]
    assert selector.selection_.steps[0].value == pytest.approx(1.0, abs=0.05)
    for column in both.T:
        with pytest.warns(UserWarning, match="No feature was selected"):
            quick().fit(np.column_stack([parity, X[:, 2]]), column)


# --- settings -----------------------------------------------------------------------------------


def test_a_part_of_the_samples():
    X, y = numbers(300)
    selector = quick(max_samples=100).fit(X, y)
    assert selector.selection_.settings.n_samples == 100
    assert sorted(chosen(selector)) == sorted(chosen(quick().fit(X, y))) == ["x0", "x1"]
    assert quick(max_samples=100).fit(X, y).selection_ == selector.selection_
    other = quick(max_samples=100, random_state=1).fit(X, y).selection_
    assert other.steps[0].values != selector.selection_.steps[0].values


def test_duplicates_are_determined_from_all_samples():
    """x5 differs from x2 in 3 of 3000 samples, few of which are among the 200 used."""
    X, y = gates(3000)
    X = np.column_stack([X, X[:, 2]])
    X[[10, 1500, 2900], 5] ^= 1
    selection = quick(max_samples=200).fit(X, y).selection_
    assert selection.settings.n_samples == 200
    assert selection.duplicates == {}
    assert "x5" in selection.steps[0].candidates
    X[:, 5] = 1 - X[:, 2]
    assert quick(max_samples=200).fit(X, y).selection_.duplicates == {"x5": "x2"}


def test_what_is_constant_only_in_the_samples_used_is_not_scored():
    X, y = gates(3000)
    X[:, 3], X[:, 4] = 7, np.arange(3000) == 17
    for more in ({}, {"feature_groups": [["x1", "x4"]]}, {"fixed_features": ["x4"]}):
        selection = quick(max_samples=200, **more).fit(X, y).selection_
        assert selection.skipped == {
            "x3": "constant",
            "x4": "constant in the max_samples=200 samples used",
        }
        assert all({"x3", "x4"}.isdisjoint(step.candidates) for step in selection.steps)
    assert quick().fit(X, y).selection_.skipped == {"x3": "constant"}


def test_identifiers_are_determined_from_all_samples():
    """Every text is there thrice, but hardly ever twice in a tenth of the samples."""
    X, y = gates(300)
    table = [[*row, f"ship {i % 100}"] for i, row in enumerate(X.tolist())]
    selection = quick(max_samples=30).fit(table, y).selection_
    assert selection.skipped == {}
    assert "x5" in selection.steps[0].candidates


@pytest.mark.filterwarnings("ignore:No feature was selected")
def test_groups_must_suffice_for_the_smallest_level_of_lookahead():
    """24 arrangements suffice for 0.05, but not for the 0.01 of tuples."""
    X = np.random.default_rng(0).integers(0, 2, (80, 3))
    settings = {"surrogates": "blocks", "estimator": "discrete", "n_permutations": 99}
    who = np.repeat(np.arange(4), 20)
    with pytest.raises(ValueError, match=r"blocks.*24"):
        quick(**settings, lookahead=2).fit(X, X[:, 0] ^ X[:, 1], who)
    (step,) = quick(**settings).fit(X, X[:, 0] ^ X[:, 1], who).selection_.steps
    assert (step.alpha, step.note) == (0.05, "no look-ahead: too few groups for its level")


def test_without_tests_the_target_may_be_constant_in_groups():
    X, _ = numbers()
    y = np.repeat(np.random.default_rng(0).normal(size=50), 2)
    selector = quick(n_permutations=0, max_features=1, estimator="gaussian")
    assert len(selector.fit(X, y, np.arange(100) // 2).selection_.features) == 1


def test_auto_depends_on_the_feature_types_where_nothing_is_tested():
    untested = partial(quick, n_permutations=0, max_features=1)
    X, y = numbers()
    assert repr(quick(lookahead=1).fit(X, y).estimator_) == "ScoreTest()"
    assert repr(untested().fit(X, y).estimator_) == "KSG(scale='rank')"
    assert repr(untested().fit(*gates()).estimator_) == "Discrete()"
    with_constant = np.column_stack([X, np.ones(len(X))])
    assert isinstance(untested().fit(with_constant, y).estimator_, KSG)
    assert isinstance(untested(fixed_features=[4]).fit(with_constant, y).estimator_, KSG)
    X[:, 3] = np.round(X[:, 3])
    assert repr(untested().fit(X, y).estimator_) == "Mixed(scale='rank')"


def test_a_constant_text_can_be_fixed_beside_numbers():
    """It carries no information, so the estimator need not support text."""
    X, y = numbers()
    rows = [[*row, "same"] for row in X.tolist()]
    expected = quick(estimator="ksg").fit(X, y)
    for changes in ({"fixed_features": [4]}, {"feature_groups": [[1, 4]]}):
        selector = quick(estimator="ksg", **changes).fit(rows, y)
        assert set(selector.selected_) == {*expected.selected_, 4}


def test_of_equal_candidates_the_first_is_selected():
    """Both err in ten samples, each in its own: rounding must not decide between them."""
    y = np.tile([0, 1], 100)
    first, second = y.copy(), y.copy()
    first[:10] ^= 1
    second[100:110] ^= 1
    for level in ([0, 1], [1, 0], [5, 2]):
        X = np.column_stack([np.array(level)[first], second])
        for turned in (X, X[:, ::-1]):
            selector = quick(criterion="mi", estimator="discrete").fit(turned, y)
            assert selector.selection_.steps[0].chosen == "x0"


# --- against the twin ---------------------------------------------------------------------------

PHASES = {"forward": FORWARD, "backward": BACKWARD}


def twin_steps(X, y, score, seed, n_draws):
    """Return the steps of a whole selection, forward and then backward."""

    def permute(phase, step, column, draw):
        return naive.permutation((seed, PHASES[phase], step, column, draw), len(y))

    x, y = X.astype(float), y[:, np.newaxis].astype(float)
    forward = naive.forward(x, y, score, permute, 0.05, n_draws)
    included = [step.chosen for step in forward if step.accepted]
    return forward + naive.backward(x, y, included, score, permute, 0.05, n_draws)


def scaled_ksg(x, y, given, k):
    return naive.ksg1(*(naive.zscore(block) for block in (x, y, given)), k=k)


@pytest.mark.parametrize("seed", [0, 5])
@pytest.mark.parametrize(
    ("system", "estimator", "score"),
    [
        (partial(gates, 80), "discrete", naive.discrete),
        (partial(numbers, 50), KSG(k=3), partial(scaled_ksg, k=3)),
    ],
    ids=["discrete", "ksg"],
)
def test_whole_selection_equals_the_twin(system, estimator, score, seed):
    X, y = system(seed=seed)
    settings = {**PAPER, "estimator": estimator, "random_state": seed, "n_permutations": 19}
    selector = quick(**settings).fit(X, y)
    expected = twin_steps(X, y, score, seed, 19)
    assert_same(selector.selection_.steps, expected)
    removed = {step.chosen for step in expected if step.phase == "backward" and not step.accepted}
    included = [step.chosen for step in expected if step.phase == "forward" and step.accepted]
    assert selector.selected_.tolist() == [c for c in included if c not in removed]


# --- what must not matter -----------------------------------------------------------------------


@given(st.permutations(range(4)))
@settings(max_examples=4)
def test_order_of_the_columns_does_not_matter(order):
    X, y = numbers()
    expected = quick(lookahead=1).fit(X, y)
    found = quick(lookahead=1).fit(X[:, order], y)
    assert [order[i] for i in found.selected_] == expected.selected_.tolist()
    for step, twin in zip(found.selection_.steps, expected.selection_.steps, strict=True):
        values = {order[int(c[1:])]: v for c, v in zip(step.candidates, step.values, strict=True)}
        known = {int(c[1:]): v for c, v in zip(twin.candidates, twin.values, strict=True)}
        np.testing.assert_allclose([values[c] for c in known], list(known.values()), rtol=1e-9)
        lines = np.array([step.critical_value, twin.critical_value], dtype=float)
        np.testing.assert_allclose(lines[0], lines[1], rtol=1e-9)
        assert step.p_value == twin.p_value
