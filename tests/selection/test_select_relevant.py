"""All relevant features: marginal tests beside the minimal set, and the roles of a fit."""

from __future__ import annotations

import json
from dataclasses import replace

import numpy as np
import pandas as pd
import pytest
from systems import gates, noise, numbers, quick

import naive_selection
from pidselect import EmptySelectionWarning, write_report
from pidselect.data import Block
from pidselect.selection import Step
from pidselect.selection.pool import Feature, FeaturePool
from pidselect.selection.relevance import OTHERS_STREAM, select_relevant
from pidselect.significance.rng import RELEVANCE


def measured(n=150, seed=0):
    """Return y = 1.5 a + b + noise, with a measured twice, an exact copy of b, and two of noise."""
    rng = np.random.default_rng(seed)
    a, b, *rest = rng.normal(size=(4, n))
    columns = {"a": a, "again": a + 0.3 * rng.normal(size=n), "b": b, "copy": 2 * b + 1}
    X = pd.DataFrame(columns | {"noise": rest[0], "other": rest[1], "constant": np.ones(n)})
    return X, 1.5 * a + b + 0.3 * rng.normal(size=n)


def relevant(**settings):
    return quick(select="relevant", **settings)


# --- what is selected ---------------------------------------------------------------------------


def naive_p_values(X, y, estimator, n_permutations, seed=0):
    """Return step-down p-values of the marginal information of every column of an array."""
    rules = naive_selection.Rules(estimator, n_permutations)
    stream_key = seed, RELEVANCE, OTHERS_STREAM
    rows = naive_selection.orders("global", None, stream_key, len(y), n_permutations)
    asked = {f"x{i}": naive_selection.Asked(column, None, rows) for i, column in enumerate(X.T)}
    contest = naive_selection.contest(asked, y, rules)
    order = sorted(contest, key=lambda name: -contest[name].observed)
    return naive_selection.step_down({"global": contest}, order)


@pytest.mark.parametrize("estimator", ["copula", "ksg-rank"])
@pytest.mark.parametrize("seed", range(3))
def test_selected_are_the_minimal_set_and_all_of_significant_marginal_information(seed, estimator):
    X, y = numbers(60, seed)
    rng = np.random.default_rng(seed)
    X = np.column_stack([X, X[:, 0] + 0.5 * rng.normal(size=60), X[:, 1] + rng.normal(size=60)])
    selector = relevant(estimator=estimator).fit(X, y)
    expected = naive_p_values(X, y, estimator, 39)
    tests = selector.selection_.marginal
    assert dict(zip(tests.candidates, tests.p_values, strict=True)) == pytest.approx(expected)
    minimal = quick(estimator=estimator).fit(X, y)
    marginal = {name for name, p in expected.items() if p <= 0.05}
    assert len(marginal) > 2
    assert selector.selection_.features == minimal.selection_.features
    assert set(selector.selection_.also_relevant) == marginal - set(minimal.selection_.features)
    assert selector.support_.tolist() == [
        f"x{i}" in marginal | set(minimal.selection_.features) for i in range(6)
    ]


def test_attributes():
    X, y = measured()
    selector = relevant().fit(X, y)
    assert selector.selection_.features == ("a", "b")
    assert set(selector.selection_.also_relevant) == {"again", "copy"}
    names = list(selector.get_feature_names_out())
    assert names == list(selector.transform(X)) == ["a", "again", "b", "copy"]
    assert selector.n_features_ == selector.support_.sum() == 4
    order = [X.columns[column] for column in selector.selected_]
    assert order == [*selector.selection_.features, *selector.selection_.also_relevant]
    assert selector.ranking_.tolist()[:4] == [1, 1, 1, 1]
    assert sorted(selector.ranking_.tolist()[4:]) == [2, 3, 4]


def test_scores_and_p_values_are_given_the_minimal_set():
    X, y = measured()
    selector, minimal = relevant().fit(X, y), quick().fit(X, y)
    assert not minimal.support_[1]
    np.testing.assert_array_equal(selector.scores_, minimal.scores_)
    np.testing.assert_array_equal(selector.pvalues_, minimal.pvalues_)


def test_fixed_features_are_given():
    """Given a, its second measurement adds nothing; given b, its copy is no candidate."""
    X, y = measured()
    selection = relevant(fixed_features=["a", "b"]).fit(X, y).selection_
    assert selection.marginal.conditioning_set == ("a", "b")
    assert selection.selected == ()
    assert selection.duplicates == {"copy": "b"}


def test_max_features_limits_all_selected_columns():
    X, y = measured()
    every = relevant().fit(X, y)
    for most in (1, 2, 3):
        selector = relevant(max_features=most).fit(X, y)
        assert selector.n_features_ == most
    np.testing.assert_array_equal(selector.selected_, every.selected_[:3])


def test_groups_of_columns_are_selected_as_one():
    X, y = measured()
    selector = relevant(feature_groups={"pair": ["again", "noise"]}).fit(X, y)
    assert "pair" in selector.selection_.selected
    assert selector.support_.tolist()[:5] == [True, True, True, True, True]


def marginal_step(p_values, scores):
    """Return marginal tests of features a, b, ..."""
    names = tuple("abcdef"[: len(p_values)])
    order = sorted(range(len(names)), key=lambda i: (p_values[i], -scores[i]))
    return Step(
        phase="marginal",
        conditioning_set=(),
        candidates=names,
        values=scores,
        scores=scores,
        unit="",
        estimators=("ksg",) * len(names),
        p_values=p_values,
        chosen=names[order[0]],
        critical_value=None,
        p_value=min(p_values),
        alpha=0.05,
        surrogates="global",
        n_permutations=199,
        accepted=True,
        jointly_included=tuple(names[i] for i in order if p_values[i] <= 0.05),
    )


def test_the_union():
    """Of the columns with copies, b is relevant, d is not."""
    candidates = tuple(Feature(name, (i,), Block()) for i, name in enumerate("abcdef"))
    pool = FeaturePool((), candidates, {6: 1, 7: 3}, {})
    tests = marginal_step((0.01, 0.01, 0.2, 0.5, 0.01, 0.01), (5.0, 6.0, 3.0, 1.0, 7.0, 4.0))
    column_names = [*"abcdef", "copy of b", "copy of d"]

    def select(max_columns=float("inf")):
        found = select_relevant(tests, pool, candidates[:1], column_names, max_columns)
        return [feature.name for feature in found]

    assert select() == ["e", "b", "copy of b", "f"]
    assert select(2) == ["e", "b"]
    assert select(0) == []


@pytest.mark.parametrize(
    "settings",
    [
        {"n_permutations": "auto"},
        {"criterion": "mi"},
        {"criterion": "mrmr"},
        {"estimator": "ksg", "surrogates": "global", "shared_permutations": False},
        {"lookahead": 2, "n_permutations": 199},
        {"fixed_features": "noise"},
        {"estimator": "copula", "surrogates": ("global", "local"), "fixed_features": "noise"},
    ],
    ids=str,
)
def test_with_other_settings(settings):
    X, y = measured()
    selector = relevant(**settings).fit(X, y)
    assert {"a", "again", "b", "copy"} <= set(selector.get_feature_names_out())
    assert "other" not in selector.get_feature_names_out()


def test_nothing_to_find():
    with pytest.warns(EmptySelectionWarning):
        selector = relevant().fit(*noise(seed=1))
    assert selector.n_features_ == 0
    assert not selector.selection_.marginal.accepted
    assert min(selector.selection_.marginal.p_values) > 0.05
    with pytest.warns(EmptySelectionWarning):
        assert relevant().fit(np.ones((20, 2)), np.arange(20.0)).selection_.marginal is None


# --- the record ---------------------------------------------------------------------------------


def test_record():
    X, y = measured()
    selection = relevant().fit(X, y).selection_
    assert selection.settings.select == "relevant"
    assert selection.settings.alpha == 0.05
    assert {step.alpha for step in selection.tests} == {0.05}
    assert [step.phase for step in selection.tests].count("marginal") == 1
    record = selection.to_dict()
    assert json.loads(json.dumps(record, allow_nan=False)) == record
    assert record["also_relevant"] == list(selection.also_relevant)
    assert record["marginal"]["p_values"] == list(selection.marginal.p_values)
    frame = selection.to_frame()
    rows = frame[frame["phase"] == "marginal"]
    assert list(rows["candidate"]) == list(selection.marginal.candidates)
    assert set(rows["candidate"][rows["accepted"]]) == {"a", "again", "b"}
    text = str(selection)
    assert all(name in text for name in ("a", "again", "b", "copy"))
    assert "not in the minimal set" in text


def test_inclusion_step():
    X, y = measured()
    selection = relevant().fit(X, y).selection_
    assert selection.inclusion_step("a").phase == "forward"
    again = selection.inclusion_step("again")
    assert (again.phase, again.chosen) == ("marginal", "again")
    assert again.p_value == again.p_values[again.candidates.index("again")]
    assert selection.inclusion_step("copy").chosen == "b"
    with pytest.raises(KeyError, match="noise"):
        selection.inclusion_step("noise")


def test_shown_in_notebooks_and_reports(tmp_path):
    X, y = measured()
    selector = relevant().fit(X, y)
    assert "not in the minimal set" in selector.selection_._repr_html_()
    page = write_report(selector, X, y, tmp_path / "report.html").read_text("utf-8")
    assert "Minimal set: a and b." in page
    assert "the minimal set has" in page
    assert page.count("not in the minimal set</span>") == 2


# --- roles --------------------------------------------------------------------------------------


def test_roles_of_a_fit():
    X, y = measured()
    assert relevant().fit(X, y).roles_ == {
        "a": "strongly relevant",
        "b": "strongly relevant",
        "again": "weakly relevant",
        "noise": "irrelevant",
        "other": "irrelevant",
        "copy": "duplicate",
        "constant": "skipped",
    }


def test_roles_without_marginal_tests():
    """The first step is a test of the marginal information of all candidates."""
    X, y = measured()
    selector = quick(feature_groups=[["noise", "other"]], max_features=1, fixed_features=["a"])
    roles = quick(max_features=1).fit(X, y).roles_
    assert {roles["again"], roles["b"]} >= {"weakly relevant"}
    assert roles["noise"] == "irrelevant"
    roles = selector.set_params(max_features=2).fit(X, y).roles_
    assert roles["a"] == "fixed"
    assert roles["noise+other"] == "untested"  # too wide


def test_selected_features_that_were_not_tested_given_the_others():
    """A criterion that subtracts redundancy has no final p-values."""
    selector = quick(criterion="mrmr").fit(*measured())
    assert not selector.selection_.p_values
    assert {selector.roles_[name] for name in selector.selection_.features} == {"weakly relevant"}


def test_explained_roles_of_relevant_features():
    """The explanation tests fewer features together, but contradicts no test of the fit."""
    X, y = measured()
    selector = relevant().fit(X, y)
    explanation = selector.explain(X, y)
    assert explanation["again"].role == "weakly relevant"
    assert not explanation["again"].selected
    assert any("minimal set" in note for note in explanation.notes)
    tests = selector.selection_.marginal
    doubted = replace(selector.selection_, also_relevant=("noise",), marginal=tests)
    selector.selection_ = doubted
    assert selector.explain(X, y)["noise"].role == "weakly relevant"
    assert selector.explain(X[:100], y[:100])["noise"].role == "irrelevant"


# --- parameters ---------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        ({"select": "all"}, "select='all'"),
        ({"n_permutations": 0, "max_features": 2}, "select='relevant'.*n_permutations"),
        ({"n_permutations": 18, "estimator": "discrete"}, "alpha=0.05.*=19"),
    ],
)
def test_refused(settings, message):
    with pytest.raises(ValueError, match=message):
        quick(**{"select": "relevant", **settings}).fit(*gates())


def test_of_equal_p_values_the_largest_score_is_first():
    tests = relevant().fit(*measured()).selection_.marginal
    rows = zip(tests.p_values, (-score for score in tests.scores), tests.candidates, strict=True)
    order = [name for p, _, name in sorted(rows) if p <= 0.05]
    found = [tests.p_values[tests.candidates.index(name)] for name in order]
    assert found == [min(tests.p_values)] * 3
    assert tests.jointly_included == tuple(order)
    assert (tests.chosen, tests.p_value) == (order[0], found[0])
