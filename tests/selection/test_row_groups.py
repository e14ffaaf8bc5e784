"""Groups of rows: surrogates permute samples within them, or whole groups."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest
import sklearn
from sklearn.exceptions import UnsetMetadataPassedError
from sklearn.linear_model import LinearRegression
from sklearn.model_selection import GroupKFold, cross_validate
from sklearn.pipeline import make_pipeline
from systems import chosen, numbers, quick

from pidselect.selection.forward import forward

pytestmark = pytest.mark.filterwarnings("ignore:No feature was selected:UserWarning")


#: Where the means of groups differ in a candidate and in the target, its statistic is large in all
#: permutations within groups, and so is the largest over the candidates.


def persons(n_persons=20, n_rows=10, seed=0):
    """x0 and y differ from person to person, else they are unrelated; x1 is informative about y."""
    rng = np.random.default_rng(seed)
    who = np.repeat(np.arange(n_persons), n_rows)
    level = 3 * rng.normal(size=n_persons)[who]
    X = rng.normal(size=(len(who), 3))
    X[:, 0] += level
    return X, level + X[:, 1] + 0.3 * rng.normal(size=len(who)), who


def traits(n_persons=20, n_rows=10, seed=0):
    """All columns and the target are the same in all rows of a person but for a little noise."""
    rng = np.random.default_rng(seed)
    who = np.repeat(np.arange(n_persons), n_rows)
    X = rng.normal(size=(n_persons, 3))[who] + 0.1 * rng.normal(size=(len(who), 3))
    y = rng.normal(size=n_persons)[who] + 0.1 * rng.normal(size=len(who))
    return X, y, who


# --- what groups are for -------------------------------------------------------------------------


@pytest.mark.parametrize("seed", range(3))
def test_what_only_differs_between_groups_is_not_selected(seed):
    X, y, who = persons(seed=seed)
    assert "x0" in chosen(quick(surrogates="global").fit(X, y))
    both = quick(estimator="copula", surrogates=("global", "local"))
    assert "x0" not in chosen(quick().fit(X, y, who)) + chosen(both.fit(X, y, who))


@pytest.mark.parametrize("seed", range(3))
def test_differences_between_groups_do_not_hide_those_within(seed):
    X, y, who = persons(seed=seed)
    assert chosen(quick().fit(X, y, who)) == ["x1"]


@pytest.mark.parametrize("seed", range(3))
def test_traits_of_persons_are_tested_by_whole_persons(seed):
    X, y, who = traits(seed=seed)
    assert chosen(quick(surrogates="global").fit(X, y)) != []
    assert chosen(quick(surrogates="blocks").fit(X, y, who)) == []
    found = quick(surrogates="blocks").fit(X, X[:, 1] + 0.1 * y, who)
    assert chosen(found) == ["x1"]


def test_rows_in_any_order():
    """A group need not be contiguous; permutations depend on the order of rows."""
    X, y, who = persons()
    order = np.random.default_rng(0).permutation(len(y))
    assert chosen(quick().fit(X[order], y[order], who[order])) == ["x1"]


# --- how they are given --------------------------------------------------------------------------


@pytest.mark.parametrize(
    "form",
    [
        lambda who: [f"person {number}" for number in who],
        lambda who: pd.Series(who, index=range(len(who), 0, -1)).astype("category"),
    ],
    ids=["names", "category"],
)
def test_what_groups_are_called_does_not_matter(form):
    X, y, who = persons()
    expected = quick().fit(X, y, who).selection_
    assert quick().fit(X, y, groups=form(who)).selection_ == expected


@pytest.mark.parametrize(
    ("groups", "message"),
    [
        (np.arange(99) % 5, "groups.*99.*100"),
        (np.arange(101) % 5, "groups.*101.*100"),
        (np.where(np.arange(100) == 3, np.nan, 1.0), "groups.*1 missing"),
        ([None, *["a", "b", "c"] * 33], "groups.*1 missing"),
        (np.zeros((100, 2)), "groups.*2 columns"),
    ],
    ids=["too few", "too many", "nan", "none", "two columns"],
)
def test_bad_groups_are_refused(groups, message):
    selector = quick()
    with pytest.raises(ValueError, match=message):
        selector.fit(*numbers(), groups=groups)
    assert not hasattr(selector, "selection_")


@pytest.mark.parametrize(
    ("groups", "message"),
    [
        (None, "groups=None"),
        (np.repeat([0, 1], [40, 60]), "2 groups.* 1 "),
        (np.arange(100) % 3 // 2, "2 groups.* 1 "),
        (
            np.repeat(np.arange(6), [10, 10, 10, 15, 15, 40]),
            r"6 groups.* 12 .*1/12.*alpha=0\.008",
        ),
    ],
    ids=["none", "no two alike", "in pieces", "too few alike"],
)
def test_groups_that_cannot_be_exchanged(groups, message):
    with pytest.raises(ValueError, match=message):
        quick(surrogates="blocks").fit(*numbers(), groups=groups)


@pytest.mark.parametrize("sizes", [[10] * 4 + [60], [10] * 3 + [15] * 2 + [20] * 2, [1] * 100])
def test_enough_groups_alike_can_be_exchanged(sizes):
    """24 ways, then 3! 2! 2! of them, then more than can be counted."""
    who = np.repeat(np.arange(len(sizes)), sizes)
    X, y = numbers()
    found = quick(surrogates="blocks", estimator="gaussian").fit(X, y, who).selection_
    assert found.settings.n_groups == len(sizes)


def test_a_strict_level_needs_more_groups_alike():
    X, y = numbers()
    strict = quick(surrogates="blocks", estimator="gaussian", alpha=0.01, n_permutations=99)
    with pytest.raises(ValueError, match=r" 24 .*alpha=0\.01"):
        strict.fit(X, y, np.repeat(np.arange(4), 25))
    assert sorted(chosen(strict.fit(X, y, np.repeat(np.arange(50), 2)))) == ["x0", "x1"]


@pytest.mark.parametrize("surrogates", ["global", "local", "shift", ("global", "blocks")], ids=str)
def test_a_target_that_is_the_same_in_all_rows_of_a_group(surrogates):
    X, _, who = persons()
    level = np.random.default_rng(0).normal(size=20)[who]
    selector = quick(surrogates=surrogates, estimator="gaussian")
    with pytest.raises(ValueError, match='surrogates="blocks"'):
        selector.fit(X, level, who)
    with pytest.raises(ValueError, match='surrogates="blocks"'):
        selector.fit(X, np.where(level > 0, "high", "low"), who)
    varies = level.copy()
    varies[0] += 1.0
    assert selector.fit(X, varies, who).selection_.settings.n_groups == 20
    blocks = quick(surrogates="blocks", estimator="gaussian")
    assert blocks.fit(X, level, who).selection_.settings.n_groups == 20


# --- a part of the rows --------------------------------------------------------------------------


@pytest.mark.parametrize("mixed_up", [False, True])
def test_rows_that_are_dropped_leave_their_groups(mixed_up):
    """As if they had not been passed, also if the first group changes."""
    X, y, who = persons()
    if mixed_up:
        order = np.random.default_rng(0).permutation(len(y))
        X, y, who = X[order], y[order], who[order]
    gaps = X.copy()
    gaps[:25:2, 2] = np.nan
    whole = ~np.isnan(gaps).any(axis=1)
    found = quick(missing="drop").fit(gaps, y, who).selection_
    assert found == quick().fit(X[whole], y[whole], who[whole]).selection_


def test_a_group_that_is_dropped_altogether():
    X, y, who = persons()
    X[who == 5] = np.nan
    selector = quick(missing="drop").fit(X, y, who)
    assert selector.selection_.settings.n_groups == 19
    assert chosen(selector) == ["x1"]


def test_groups_are_given_for_all_rows_also_if_some_are_dropped():
    X, y, who = persons()
    X[0, 0] = np.nan
    with pytest.raises(ValueError, match=r"groups.*199.*200"):
        quick(missing="drop").fit(X, y, who[1:])


def test_a_part_of_the_samples_keeps_its_groups(monkeypatch):
    X, y, who = persons()
    gaps = X.copy()
    gaps[::9, 2] = np.nan
    seen = []

    def recording(context, *rest):
        seen.append(context)
        return forward(context, *rest)

    monkeypatch.setattr("pidselect.selection.fit.forward", recording)
    quick(missing="drop", max_samples=120).fit(gaps, y, who)
    group_of = dict(zip(y.tolist(), who.tolist(), strict=True))
    values = seen[0].target.columns[0].values
    assert len(values) == 120
    pairs = {(group_of[v], g) for v, g in zip(values.tolist(), seen[0].groups, strict=True)}
    assert len(pairs) == len({who for who, _ in pairs}) == len({group for _, group in pairs})


# --- as scikit-learn passes them -----------------------------------------------------------------


def test_fit_transform():
    X, y, who = persons()
    np.testing.assert_array_equal(quick().fit_transform(X, y, groups=who), X[:, [1]])


def test_a_pipeline_passes_them_on():
    X, y, who = persons()
    expected = quick().fit(X, y, who).selection_
    with sklearn.config_context(enable_metadata_routing=True):
        pipeline = make_pipeline(quick().set_fit_request(groups=True), LinearRegression())
        assert pipeline.fit(X, y, groups=who)[0].selection_ == expected
        with pytest.raises(UnsetMetadataPassedError, match="groups"):
            make_pipeline(quick(), LinearRegression()).fit(X, y, groups=who)


def test_cross_validation_passes_them_to_its_splits_and_to_the_selector():
    X, y, who = persons()
    with sklearn.config_context(enable_metadata_routing=True):
        pipeline = make_pipeline(quick().set_fit_request(groups=True), LinearRegression())
        results = cross_validate(
            pipeline, X, y, cv=GroupKFold(2), params={"groups": who}, return_estimator=True
        )
    for fitted in results["estimator"]:
        assert fitted[0].selection_.settings.n_groups == 10
        assert fitted[0].selected_.tolist() == [1]
