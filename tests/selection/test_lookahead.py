"""Look-ahead: synergistic features are included jointly, and each must remain significant."""

from __future__ import annotations

import json
import warnings
from math import inf

import numpy as np
import pytest
from systems import (
    bits,
    chosen,
    context_for,
    features_of,
    gates,
    noise,
    numbers,
    parity,
    quick,
)

import naive_selection
from pidselect.selection import lookahead as lookahead_module
from pidselect.selection.context import SelectionContext
from pidselect.selection.lookahead import SINGLE_SHARE, JointSearch, Lookahead
from pidselect.significance.rng import START, permutations


def wary(**settings):
    """Return a quick selector with enough permutations for a part of alpha."""
    return quick(**{"n_permutations": 99, "estimator": "discrete", **settings})


def starting(**settings):
    """Return a selector that searches random starts alone."""
    return wary(**{"lookahead": 1, **settings})


def fit_to_nothing(X, y, **settings):
    selector = wary(**settings)
    with pytest.warns(UserWarning, match="No feature") as caught:
        selector.fit(X, y)
    return selector.selection_, str(caught[0].message)


def phases(record):
    return [step.phase for step in record.steps]


# --- pairs, triples and more ---------------------------------------------------------------------


@pytest.mark.parametrize("order", [2, 3, "auto"])
@pytest.mark.parametrize("seed", [1, 2, 3])
def test_xor_is_found_with_pairs(seed, order):
    X, y = parity(2, seed=seed)
    selector = wary(lookahead=order).fit(X, y)
    assert sorted(chosen(selector)) == ["x0", "x1"]
    record = selector.selection_
    pair = record.inclusion_step("x0")
    assert pair is record.inclusion_step("x1")
    assert (pair.phase, pair.jointly_included, pair.chosen) == (
        "lookahead",
        ("x0", "x1"),
        "x0 & x1",
    )
    assert (pair.candidates, pair.unit, pair.estimators) == (("x0 & x1",), "", ("interaction",))
    assert (pair.p_value, pair.n_permutations) == (0.01, 99)
    assert pair.score > 5 > pair.critical_value
    searched = "15 pairs" if order == 2 else "15 pairs and 20 triples"
    assert pair.note == f"all {searched} searched"
    assert pair.value == pytest.approx(1, abs=0.02)
    assert "x0 and x1 were included jointly" in str(record)
    assert phases(record)[:3] == ["forward", "lookahead", "joint_backward"]
    assert record.steps[2].accepted


@pytest.mark.parametrize("order", [3, "auto"])
@pytest.mark.parametrize("seed", [1, 2, 3])
def test_parity_of_three_needs_triples(seed, order):
    X, y = parity(3, seed=seed)
    selector = wary(lookahead=order).fit(X, y)
    assert sorted(chosen(selector)) == ["x0", "x1", "x2"]
    record = selector.selection_
    assert record.inclusion_step("x2").jointly_included == ("x0", "x1", "x2")
    assert record.inclusion_step("x2").note == "all 15 pairs and 20 triples searched"
    assert phases(record)[:3] == ["forward", "lookahead", "joint_backward"]
    short, said = fit_to_nothing(X, y, lookahead=2)
    assert short.steps[1].note == "all 15 pairs searched"
    assert "lookahead=3" in said


@pytest.mark.parametrize("order", [2, "auto"])
def test_pairs_are_searched_beside_what_is_selected(order):
    """y = 2 x0 + (x1 xor x2), now and then wrong: first x0, then the pair given x0."""
    X = bits(400)
    y = np.where(np.arange(400) % 8, 2 * X[:, 0] + (X[:, 1] ^ X[:, 2]), 1)
    selector = wary(lookahead=order).fit(X, y)
    assert chosen(selector)[0] == "x0"
    assert sorted(chosen(selector)[1:]) == ["x1", "x2"]
    assert selector.selection_.inclusion_step("x1").conditioning_set == ("x0",)


def test_a_pair_beside_a_continuous_feature():
    """y = 2 x0 + x1 x2 + noise: the pair is found in the residuals."""
    rng = np.random.default_rng(0)
    X = rng.normal(size=(300, 6))
    y = 2 * X[:, 0] + X[:, 1] * X[:, 2] + 0.3 * rng.normal(size=300)
    selector = quick(n_permutations="auto").fit(X, y)
    assert sorted(chosen(selector)) == ["x0", "x1", "x2"]


@pytest.mark.parametrize("system", [gates, numbers])
def test_where_single_features_suffice_nothing_else_is_selected(system):
    """The scan of what remains is on record, and the features are those without it."""
    X, y = system()
    selector = quick().fit(X, y)
    plain = quick(lookahead=1, alpha=SINGLE_SHARE * 0.05).fit(X, y)
    assert chosen(selector) == chosen(plain)
    (scan,) = (step for step in selector.selection_.steps if step.phase == "lookahead")
    assert not scan.accepted
    assert scan.note.startswith("1 pair searched")


# --- against the twin ----------------------------------------------------------------------------


def assert_equal_to_twin(step, contests, rules):
    twin = naive_selection.judge(contests, rules)
    assert step.chosen == twin.chosen
    assert step.candidates == tuple(twin.p_values)
    assert step.surrogates == twin.deciding
    assert step.p_values == tuple(twin.p_values.values())
    np.testing.assert_allclose(step.scores, list(twin.scores.values()), atol=1e-8)
    bits = np.maximum(list(twin.scores.values()), 0.0)
    np.testing.assert_allclose(step.values, bits, atol=1e-10)
    assert step.critical_value == pytest.approx(twin.critical_value, abs=1e-8)


def test_starts_equal_the_twin():
    """Each candidate is tested given a start, by both schemes, as no start is empty."""
    X, y = parity(2, n=80, n_columns=5)
    selector = starting(n_random_starts=6, surrogates=("global", "local"))
    selector.fit(X, y)
    step = next(s for s in selector.selection_.steps if s.phase == "random_starts")
    rules = naive_selection.Rules("discrete", 99, alpha=step.alpha)
    # Subsets have a random stream of their own.
    orders = permutations((0, START, 0, 0), range(1, 7), 5)
    starts = {" & ".join(f"x{c}" for c in sorted(order[:3])) for order in orders}
    assert {name.split(" given ")[1] for name in step.candidates} == starts
    contests = {}
    for scheme in ("global", "local"):
        asked = {}
        for name in step.candidates:
            candidate, *start = [int(x[1:]) for x in name.replace(" given ", " & ").split(" & ")]
            given = X[:, start]
            rows = naive_selection.orders(scheme, given, (0, START, 0, 1), len(X), 99)
            asked[name] = naive_selection.Asked(X[:, candidate], given, rows)
        contests[scheme] = naive_selection.contest(asked, y, rules)
    assert_equal_to_twin(step, contests, rules)


# --- elimination of features that were included jointly ------------------------------------------


@pytest.mark.parametrize("seed", [1, 2, 3])
def test_a_feature_that_adds_nothing_is_removed(seed):
    """Of a random start and a candidate, the noise is removed."""
    X, y = parity(2, seed=seed)
    selector = starting(n_random_starts=10, backward=None).fit(X, y)
    assert sorted(chosen(selector)) == ["x0", "x1"]
    joint, *eliminated = selector.selection_.steps[1:5]
    noise = set(joint.jointly_included) - {"x0", "x1"}
    assert [step.phase for step in eliminated] == ["joint_backward"] * 3
    assert [step.accepted for step in eliminated] == [False, False, True]
    assert {step.chosen for step in eliminated[:2]} == noise
    assert joint.alpha == pytest.approx(0.01)
    assert {step.alpha for step in eliminated} == {0.05}


# --- levels --------------------------------------------------------------------------------------


def test_each_test_has_its_part_of_alpha():
    X, y = parity(5, n_columns=7)
    record, _ = fit_to_nothing(X, y, lookahead=3, n_random_starts=4, alpha=0.1)
    assert phases(record) == ["forward", "lookahead", "random_starts"]
    assert [step.alpha for step in record.steps] == pytest.approx([0.08, 0.01, 0.01])
    pairs, _ = fit_to_nothing(X, y, lookahead=2, alpha=0.1)
    assert [step.alpha for step in pairs.steps] == pytest.approx([0.08, 0.02])
    plain, _ = fit_to_nothing(X, y, lookahead=1, alpha=0.1)
    assert [step.alpha for step in plain.steps] == [0.1]


def test_too_few_permutations_for_a_level_are_refused():
    with pytest.raises(ValueError, match=r"alpha=0\.05.*smallest share is 0\.01"):
        wary(lookahead=3, n_permutations=98).fit(*parity(2))


def test_with_too_few_permutations_nothing_is_searched_by_default():
    """Single candidates then have all of alpha, and the record says why."""
    X, y = parity(2)
    record, said = fit_to_nothing(X, y, n_permutations=98)
    (step,) = record.steps
    assert (step.phase, step.alpha) == ("forward", 0.05)
    assert step.note == "no look-ahead: too few permutations, 99 are needed for its level"
    assert "lookahead=2" not in said  # it would be refused
    assert chosen(wary(n_permutations=99).fit(X, y)) == ["x0", "x1"]
    starts, _ = fit_to_nothing(X, X.sum(axis=1) % 2, n_permutations=99, n_random_starts=1)
    assert [step.alpha for step in starts.steps] == pytest.approx([0.04, 0.01])
    assert phases(starts) == ["forward", "random_starts"]


# --- max_features --------------------------------------------------------------------------------


def test_a_pair_exceeds_max_features():
    X, y = parity(2)
    record, _ = fit_to_nothing(X, y, lookahead=2, max_features=1)
    assert phases(record) == ["forward"]
    assert "max_features" in record.steps[0].note
    fixed = wary(lookahead=2, max_features=2, fixed_features=[5]).fit(X, y)
    assert chosen(fixed) == []
    one, _ = fit_to_nothing(X[:, :1], y, lookahead=2)
    assert "too few candidates" in one.steps[0].note
    assert one.steps[0].alpha == record.steps[0].alpha == 0.05
    assert fit_to_nothing(X[:, :1], y)[0].steps[0].note == ""
    assert chosen(wary(lookahead=2, max_features=3, fixed_features=[5]).fit(X, y)) == ["x0", "x1"]
    assert chosen(wary(lookahead=2, max_features=2).fit(X, y)) == ["x0", "x1"]


@pytest.mark.parametrize(("max_features", "has_triples"), [(2, False), (3, True), (None, True)])
def test_triples_need_three_columns(max_features, has_triples):
    record, _ = fit_to_nothing(*parity(5), lookahead=3, max_features=max_features)
    note = "all 15 pairs" + " and 20 triples" * has_triples + " searched"
    assert record.steps[1].note.startswith(note)
    assert ("no triples: max_features" in record.steps[1].note) != has_triples


@pytest.mark.parametrize("bound", ["MAX_REQUESTED_OPERATIONS", "MAX_PAIR_BYTES"])
def test_too_many_triples_are_not_searched(bound, monkeypatch):
    """The record says how many there are, and that pairs alone are searched."""
    monkeypatch.setattr(lookahead_module, bound, 1)
    record, _ = fit_to_nothing(*parity(5), lookahead=3)
    assert record.steps[1].note.startswith("all 15 pairs searched, no triples: 20 are too many")


@pytest.mark.parametrize("lookahead", ["auto", 2, 3])
def test_a_pair_whose_effect_a_selected_feature_reverses(lookahead):
    """Averaged over s, the pair has no effect."""
    X = bits(400)
    y = np.where(np.arange(400) % 4, X[:, 0] ^ X[:, 1] ^ X[:, 2], X[:, 0])
    selector = wary(lookahead=lookahead).fit(X, y)
    assert sorted(chosen(selector)) == ["x0", "x1", "x2"]
    note = selector.selection_.inclusion_step("x1").note
    assert note.endswith("pairs also with each selected feature")


def test_what_remains_alone_of_a_tuple_is_not_included():
    """The estimator does not see the pair; neither feature is informative alone."""
    n_found = 0
    for seed in range(12):
        rng = np.random.default_rng(seed)
        X = rng.normal(size=(200, 5))
        y = np.sign(X[:, 0] * X[:, 1])
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            selector = quick(estimator="gaussian", n_permutations=99, random_state=seed).fit(X, y)
        phase = [step for step in selector.selection_.steps if step.phase == "joint_backward"]
        n_found += bool(phase)
        alone = [step for step in phase if len(step.candidates) == 1]
        assert all(step.alpha == pytest.approx(0.05 / 5) for step in alone)
    assert n_found > 8


def test_feature_groups_in_tuples():
    """x0 and x1 are a group of two columns: x0 xor x2 is a pair of it and x2."""
    X, y = bits(), bits()[:, 0] ^ bits()[:, 2]
    groups = {"both": [0, 1]}
    selector = wary(lookahead=2, feature_groups=groups).fit(X, y)
    assert sorted(chosen(selector)) == ["both", "x2"]
    assert selector.selected_.tolist() == [0, 1, 2]
    pair = selector.selection_.inclusion_step("x2")
    assert pair.jointly_included == ("both", "x2")
    assert pair.note == "all 10 pairs searched"
    record, _ = fit_to_nothing(X, y, lookahead=2, feature_groups=groups, max_features=2)
    assert record.steps[1].note == "all 6 pairs searched, others exceed max_features"


# --- the bound of operations ---------------------------------------------------------------------


def test_beyond_a_bound_triples_then_pairs_are_not_searched_by_default(monkeypatch):
    X, y = parity(3)
    monkeypatch.setattr(lookahead_module, "MAX_TRIPLE_OPERATIONS", 1.0)
    record, _ = fit_to_nothing(X, y)
    assert record.steps[1].note == "all 15 pairs searched"
    assert sorted(chosen(wary(lookahead=3).fit(X, y))) == ["x0", "x1", "x2"]
    monkeypatch.setattr(lookahead_module, "MAX_OPERATIONS", 1.0)
    record, said = fit_to_nothing(X, y)
    assert phases(record) == ["forward"]
    assert record.steps[0].alpha == 0.05
    assert record.steps[0].note == "no look-ahead: 15 pairs are searched with lookahead=2 only"
    assert "lookahead=2" in said
    assert phases(fit_to_nothing(X, y, lookahead=2)[0]) == ["forward", "lookahead"]


def search_of(n_columns, n_samples=200, order="auto", **settings):
    X = np.random.default_rng(0).normal(size=(n_samples, n_columns))
    context = context_for(X[:, 0], feature_type="continuous", **settings)
    return JointSearch(context, (), features_of(X, "continuous"), Lookahead(order), inf)


def test_the_bound_depends_on_counts():
    """Of columns, samples and permutations."""
    assert search_of(100, n_permutations=200).order == 3
    assert search_of(400, n_permutations=200).order == 2
    assert search_of(100, 100_000, n_permutations=200).order == 2
    assert search_of(100, n_permutations=20_000).order == 2
    assert search_of(400, n_permutations=200, order=3).order == 3
    assert search_of(400, n_permutations=200, order=2).order == 2


# --- nothing to scan -----------------------------------------------------------------------------


@pytest.mark.filterwarnings("ignore:No feature was selected")
@pytest.mark.parametrize("order", ["auto", 2, 3])
def test_a_target_that_does_not_vary_given_what_is_selected(order):
    """y is a function of x0, with more levels than classes."""
    rng = np.random.default_rng(0)
    X = rng.integers(0, 6, (240, 4))
    selector = wary(lookahead=order).fit(X, 2 * X[:, 0])
    assert chosen(selector) == ["x0"]
    continuous = rng.normal(size=(100, 4))
    selector = quick(lookahead=order).fit(continuous, 2 * continuous[:, 0])
    assert chosen(selector) == ["x0"]


@pytest.mark.filterwarnings("ignore:No feature was selected")
@pytest.mark.parametrize("kind", ["ceiling", "floor", "rare"])
def test_columns_of_which_most_samples_are_the_same(kind):
    rng = np.random.default_rng(0)
    X = {
        "ceiling": lambda: np.minimum(rng.normal(size=(100, 4)), -1.3),
        "floor": lambda: np.maximum(rng.normal(size=(100, 4)), 1.3),
        "rare": lambda: (rng.random((100, 4)) < 0.03).astype(int),
    }[kind]()
    record = quick(lookahead=3).fit(X, X.sum(axis=1) > X.sum() / 100).selection_
    again = quick(lookahead=3).fit(X[:, ::-1], rng.normal(size=100)).selection_
    assert record.settings.lookahead == again.settings.lookahead == 3
    json.dumps([record.to_dict(), again.to_dict()], allow_nan=False)


@pytest.mark.filterwarnings("ignore:No feature was selected")
@pytest.mark.parametrize("n_permutations", [199, "auto"])
@pytest.mark.parametrize("seed", range(4))
def test_one_redundant_pair(seed, n_permutations):
    """Its interaction is negative: p is 1, and the record is plain JSON."""
    X, y = noise(80, seed, n_columns=2)
    X[:, 1] = np.where(np.arange(80) < 76, X[:, 0], X[:, 1])
    selector = quick(n_permutations=n_permutations, lookahead=2)
    selection = selector.fit(X > 0, y > 0).selection_
    scan = selection.steps[1]
    assert scan.phase == "lookahead"
    assert scan.p_value > 0.1
    assert np.isfinite(scan.score)
    json.dumps(selection.to_dict(), allow_nan=False)
    assert "nan" not in str(selection).lower()


# --- random starts -------------------------------------------------------------------------------


def test_starts_are_limited_by_candidates_and_max_features():
    X, y = parity(2, n_columns=3)
    selector = starting(n_random_starts=10).fit(X, y)
    assert sorted(chosen(selector)) == ["x0", "x1"]
    assert (
        "3 different random starts of 2 features" in selector.selection_.inclusion_step("x0").note
    )
    record, _ = fit_to_nothing(X, y, n_random_starts=10, max_features=2, lookahead=1)
    assert phases(record) == ["forward"]


def test_each_start_is_bound_once(monkeypatch):
    """Binding is slow: candidates with the same start share it."""
    X, y = parity(5)
    context, given = context_for(y, n_permutations=99), []
    bind = SelectionContext.bind

    def counted(self, sets, *args, **settings):
        given.extend(tuple(feature.name for feature in features) for features in sets)
        return bind(self, sets, *args, **settings)

    monkeypatch.setattr(SelectionContext, "bind", counted)
    _, steps = JointSearch(context, (), features_of(X), Lookahead(1, 4), inf).run()
    assert [step.accepted for step in steps] == [False]
    assert len(given) == len(set(given)) == int(steps[0].note.split()[0])
