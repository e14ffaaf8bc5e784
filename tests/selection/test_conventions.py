"""The selector looks as scikit-learn users expect."""

from __future__ import annotations

import numpy as np
import pytest
from sklearn.base import clone
from sklearn.model_selection import GridSearchCV
from sklearn.naive_bayes import GaussianNB
from sklearn.pipeline import make_pipeline
from systems import gates, numbers, quick

from pidselect import PIDSelector, mutual_information
from pidselect.data import read_block
from pidselect.estimators.discrete import target_entropy
from pidselect.selection.validation import CONSTRAINTS

# --- attributes ---------------------------------------------------------------------------------


def with_all_sorts_of_columns():
    """x0 and x1 matter; then noise, a copy of x0, a copy of the noise, a constant."""
    X, y = numbers(200)
    X, y = X[:, :3], y
    return np.column_stack([X, X[:, 0], 2 * X[:, 2] + 1, np.ones(200)]), y


def test_attributes_have_one_entry_per_column():
    X, y = with_all_sorts_of_columns()
    selector = quick().fit(X, y)
    assert selector.support_.tolist() == [True, True, False, False, False, False]
    np.testing.assert_array_equal(selector.get_support(), selector.support_)
    assert selector.n_features_ == 2
    assert selector.ranking_[:2].tolist() == [1, 1]
    assert sorted(selector.ranking_[2:]) == [2, 3, 4, 5]
    assert selector.ranking_[2] < selector.ranking_[3] < selector.ranking_[5]
    scores, p = selector.scores_, selector.pvalues_
    assert scores[3] == 0.0  # given x0, its copy has no information
    assert np.isnan(p[3])
    assert (scores[2], p[2]) == (scores[4], p[4])
    assert np.isnan([scores[5], p[5]]).all()


def test_scores_are_given_the_other_selected_columns():
    X, y = numbers(200)
    selector = quick(estimator="ksg-rank", surrogates="global").fit(X, y)
    assert sorted(selector.selected_) == [0, 1]
    given = [[1], [0], [0, 1], [0, 1]]
    expected = [
        mutual_information(X[:, j], y, X[:, some], estimator="ksg-rank")
        for j, some in enumerate(given)
    ]
    np.testing.assert_allclose(selector.scores_, np.maximum(expected, 0.0), rtol=1e-12)


def test_p_values_are_those_of_the_record():
    X, y = numbers(200)
    selector = quick().fit(X, y)
    record = selector.selection_
    last = [step for step in record.steps if step.phase == "forward"][-1]
    assert not last.accepted
    expected = {**dict(zip(last.candidates, last.p_values, strict=True)), **record.p_values}
    assert selector.pvalues_.tolist() == [expected[f"x{j}"] for j in range(4)]


def test_untested_columns_have_no_p_value():
    X, y = gates()
    limited = quick(max_features=1).fit(X, y)
    assert np.isnan(limited.pvalues_[~limited.support_]).all()
    assert np.isfinite(limited.scores_).all()
    untested = quick(n_permutations=0, max_features=2).fit(X, y)
    assert np.isnan(untested.pvalues_).all()
    fixed = quick(fixed_features=[3]).fit(X, y)
    assert np.isnan(fixed.pvalues_[3])
    assert (fixed.support_[3], fixed.ranking_[3]) == (True, 1)


@pytest.mark.parametrize("criterion", ["mi", "jmi", "mrmr"])
def test_p_values_of_other_criteria_are_of_other_quantities(criterion):
    X, y = gates()
    selector = quick(criterion=criterion, estimator="discrete", max_features=3).fit(X, y)
    assert np.isnan(selector.pvalues_[~selector.support_]).all()


def test_columns_of_a_group_share_their_entries():
    X, y = gates()
    selector = quick(feature_groups=[["x0", "x1"]]).fit(X, y)
    for entries in (selector.scores_, selector.pvalues_, selector.support_):
        assert entries[0] == entries[1]
    assert selector.n_features_ == 3


@pytest.mark.parametrize("estimator", ["auto", "copula", "mixed"])
def test_nothing_shown_exceeds_the_entropy_of_the_target(estimator):
    """The Gaussian copula reports more than a bit about a binary target."""
    rng = np.random.default_rng(0)
    y = np.arange(400) % 2
    X = np.column_stack([y + 0.01 * rng.normal(size=400), rng.normal(size=400)])
    entropy = target_entropy(read_block(y, "y", target=True))
    selector = quick(estimator=estimator).fit(X, y)
    assert max(value for step in selector.selection_.steps for value in step.values) <= entropy
    assert selector.scores_.max() <= entropy


# --- parameters ---------------------------------------------------------------------------------


def test_every_parameter_has_a_constraint_or_a_reason():
    others = {
        *("estimator", "fixed_features", "feature_groups", "feature_types", "random_state"),
    }
    assert set(PIDSelector().get_params()) == set(CONSTRAINTS) | others


def test_numpy_strings_and_integers_are_accepted():
    X, y = gates()
    selector = quick(
        criterion=np.str_("cmi"),
        estimator=np.str_("discrete"),
        surrogates=np.array(["global", "residual"]),
        backward=np.str_("maximum"),
        missing=np.str_("error"),
        device=np.str_("cpu"),
        n_permutations=np.int64(39),
        n_jobs=np.int64(1),
        lookahead=np.int32(1),
        verbose=np.int64(0),
    ).fit(X, y)
    expected = quick(estimator="discrete", backward="maximum", lookahead=1).fit(X, y)
    assert selector.selection_ == expected.selection_
    assert "np.str_" not in str(selector.selection_.to_dict())


def test_a_grid_over_an_array_of_criteria():
    X, y = gates()
    pipeline = make_pipeline(quick(estimator="discrete"), GaussianNB())
    grid = {"pidselector__criterion": np.array(["cmi", "mi"])}
    search = GridSearchCV(pipeline, grid, cv=2, error_score="raise").fit(X, y)
    assert str(search.best_params_["pidselector__criterion"]) in ("cmi", "mi")


def test_parameters_are_not_changed_by_a_fit():
    selector = quick(criterion=np.str_("cmi"), surrogates=["global"])
    before = selector.get_params()
    assert selector.fit(*gates()).get_params() == before
    assert clone(selector).get_params() == before


@pytest.mark.parametrize("n_permutations", [10**9, 10**12, 10**30])
def test_too_many_permutations_are_refused_at_once(n_permutations):
    with pytest.raises(
        ValueError, match=rf"n_permutations={n_permutations}.*at most n_permutations="
    ):
        PIDSelector(n_permutations=n_permutations).fit(*numbers())


@pytest.mark.parametrize("verbose", [-1, "loud", 0.5])
def test_verbose(verbose):
    with pytest.raises(ValueError, match="verbose="):
        quick(verbose=verbose).fit(*gates())


# --- metadata -----------------------------------------------------------------------------------


def test_sample_weight_is_refused():
    X, y = gates()
    with pytest.raises(TypeError, match="sample_weight"):
        quick().fit(X, y, sample_weight=np.ones(len(y)))
    assert quick().fit(X, y, sample_weight=None).n_features_ == 3
    with pytest.raises(TypeError, match="weights"):
        quick().fit(X, y, weights=None)
