"""Look-ahead: synergistic features are included jointly, and each must remain significant."""

from __future__ import annotations

import warnings
from itertools import combinations
from math import comb, inf, sqrt

import numpy as np
import pytest
from systems import chosen, quick, select

import naive_selection
from pidselect.data import Block, Column
from pidselect.estimators import KSG, Copula, Discrete
from pidselect.selection.backward import backward
from pidselect.selection.context import NamedEstimator, SelectionContext
from pidselect.selection.lookahead import JointSearch, Lookahead, screen_tuples
from pidselect.selection.pool import Feature
from pidselect.significance import LOOKAHEAD, START, maximum_statistic, permutations
from pidselect.significance.standardize import PILOT_PERMUTATIONS


def bits(n=240, seed=1, n_columns=6):
    return np.random.default_rng(seed).integers(0, 2, (n, n_columns))


def parity(order, **settings):
    """Bits of which the first few make the parity y; the others are noise."""
    X = bits(**settings)
    return X, X[:, :order].sum(axis=1) % 2


def wary(**settings):
    """Return a quick selector with enough permutations for a part of alpha."""
    return quick(**{"n_permutations": 99, "estimator": ("discrete",), **settings})


def fit_to_nothing(X, y, **settings):
    selector = wary(**settings)
    with pytest.warns(UserWarning, match="No feature") as caught:
        selector.fit(X, y)
    return selector.selection_, str(caught[0].message)


def phases(record):
    return [step.phase for step in record.steps]


def features_of(X, feature_type="ordinal"):
    return [
        Feature(
            f"x{j}", (j,), Block((Column(f"x{j}", feature_type, np.ascontiguousarray(v, float)),))
        )
        for j, v in enumerate(X.T)
    ]


def context_for(y, *estimators, feature_type="ordinal", **settings):
    target = Block((Column("y", feature_type, np.asarray(y, dtype=float)),))
    return SelectionContext(
        target, estimators or (NamedEstimator("discrete", Discrete()),), **settings
    )


# --- pairs, triples and more ---------------------------------------------------------------------


@pytest.mark.parametrize("estimator", ["discrete", ("discrete",)], ids=str)
@pytest.mark.parametrize("seed", [1, 2, 3])
def test_xor_is_found_with_pairs(seed, estimator):
    X, y = parity(2, seed=seed)
    selector = wary(lookahead=2, estimator=estimator).fit(X, y)
    assert sorted(chosen(selector)) == ["x0", "x1"]
    record = selector.selection_
    pair = record.inclusion_step("x0")
    assert pair is record.inclusion_step("x1")
    assert (pair.phase, pair.jointly_included, pair.chosen) == (
        "lookahead",
        ("x0", "x1"),
        "x0 & x1",
    )
    assert pair.candidates[:2] == ("x0 & x1", "x0 & x2")
    assert len(pair.candidates) == 15
    assert pair.note == "all 15 pairs searched"
    assert pair.value == pytest.approx(1, abs=0.02)
    assert "x0 and x1 were included jointly" in str(record)
    assert phases(record)[:3] == ["forward", "lookahead", "joint_backward"]
    assert record.steps[2].accepted


@pytest.mark.parametrize("seed", [1, 2, 3])
def test_xor_is_not_found_without_lookahead_and_the_warning_names_it(seed):
    record, said = fit_to_nothing(*parity(2, seed=seed))
    assert phases(record) == ["forward"]
    assert "lookahead=2" in said


@pytest.mark.parametrize("seed", [1, 2, 3])
def test_parity_of_three_needs_triples(seed):
    X, y = parity(3, seed=seed)
    selector = wary(lookahead=3).fit(X, y)
    assert sorted(chosen(selector)) == ["x0", "x1", "x2"]
    record = selector.selection_
    assert record.inclusion_step("x2").jointly_included == ("x0", "x1", "x2")
    assert record.inclusion_step("x2").note == "all 20 triples searched"
    assert phases(record)[:3] == ["forward", "lookahead", "lookahead"]
    assert not record.steps[1].accepted
    short, said = fit_to_nothing(X, y, lookahead=2)
    assert short.steps[1].note == "all 15 pairs searched"
    assert "lookahead=3" in said


def test_parity_of_five_needs_larger_tuples():
    record, said = fit_to_nothing(*parity(5, n_columns=7), lookahead=3)
    assert phases(record) == ["forward", "lookahead", "lookahead"]
    assert "All 35 triples searched" in said
    assert "lookahead=4" in said


def test_tuples_of_four_have_a_name_too():
    selector = wary(lookahead=4, n_permutations=199).fit(*parity(4, n_columns=5))
    assert sorted(chosen(selector)) == ["x0", "x1", "x2", "x3"]
    assert selector.selection_.inclusion_step("x0").note == "all 5 tuples of 4 searched"


def test_pairs_are_searched_beside_what_is_selected():
    """y = 2 x0 + (x1 xor x2), now and then wrong: first x0, then the pair given x0."""
    X = bits(400)
    y = np.where(np.arange(400) % 8, 2 * X[:, 0] + (X[:, 1] ^ X[:, 2]), 1)
    selector = wary(lookahead=2).fit(X, y)
    assert chosen(selector)[0] == "x0"
    assert sorted(chosen(selector)[1:]) == ["x1", "x2"]
    assert selector.selection_.inclusion_step("x1").conditioning_set == ("x0",)


def test_continuous_synergy():
    """Which of two diagonals a point lies on: its coordinates are synergistic."""
    rng = np.random.default_rng(0)
    X, up = rng.normal(size=(150, 4)), rng.integers(0, 2, 150)
    X[:, 1] = np.where(up, X[:, 0], -X[:, 0]) + 0.3 * X[:, 1]
    selector = wary(lookahead=2, estimator=("mixed-rank",)).fit(X, up)
    assert sorted(chosen(selector)) == ["x0", "x1"]


# --- against the twin ----------------------------------------------------------------------------


def assert_equal_to_twin(step, contests, rules):
    twin = naive_selection.judge(contests, rules)
    assert step.chosen == twin.chosen
    assert step.candidates == tuple(twin.p_values)
    assert step.surrogates == twin.deciding
    assert step.p_values == tuple(twin.p_values.values())
    np.testing.assert_allclose(step.scores, list(twin.scores.values()), atol=1e-8)
    np.testing.assert_allclose(step.values, list(twin.bits.values()), atol=1e-10)
    assert step.critical_value == pytest.approx(twin.critical_value, abs=1e-8)


@pytest.mark.parametrize(
    ("estimator", "n_pilot"), [("discrete", 0), (("discrete",), PILOT_PERMUTATIONS)]
)
@pytest.mark.parametrize("known", [(), (0,)])
def test_pairs_equal_the_twin(estimator, n_pilot, known):
    """All pairs are permuted alike."""
    X, y = parity(3, n=80, n_columns=5)
    selector = quick(
        estimator=estimator, lookahead=2, fixed_features=known, surrogates=("global", "local")
    )
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", UserWarning)
        selector.fit(X, y)
    step = next(s for s in selector.selection_.steps if s.phase == "lookahead")
    rules = naive_selection.Rules(("discrete",), 39, n_pilot, alpha=0.025)
    given = X[:, known] if known else None
    contests = {}
    for scheme in ("global", "local") if known else ("global",):
        stream_key = (0, LOOKAHEAD, 2, len(known))
        rows = naive_selection.orders(scheme, given, stream_key, len(X), n_pilot + 39)
        asked = {
            f"x{i} & x{j}": naive_selection.Asked(X[:, [i, j]], given, rows)
            for i, j in combinations([c for c in range(5) if c not in known], 2)
        }
        contests[scheme] = naive_selection.contest(asked, y, rules)
    assert_equal_to_twin(step, contests, rules)


@pytest.mark.parametrize(
    ("estimator", "n_pilot"), [("discrete", 0), (("discrete",), PILOT_PERMUTATIONS)]
)
def test_starts_equal_the_twin(estimator, n_pilot):
    """Each candidate is tested given a start, by both schemes, as no start is empty."""
    X, y = parity(2, n=80, n_columns=5)
    selector = quick(estimator=estimator, n_random_starts=6, surrogates=("global", "local")).fit(
        X, y
    )
    step = next(s for s in selector.selection_.steps if s.phase == "random_starts")
    rules = naive_selection.Rules(("discrete",), 39, n_pilot, alpha=0.025)
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
            rows = naive_selection.orders(scheme, given, (0, START, 0, 1), len(X), n_pilot + 39)
            asked[name] = naive_selection.Asked(X[:, candidate], given, rows)
        contests[scheme] = naive_selection.contest(asked, y, rules)
    assert_equal_to_twin(step, contests, rules)


# --- elimination of features that were included jointly ------------------------------------------


@pytest.mark.parametrize("seed", [1, 2, 3])
def test_a_feature_that_adds_nothing_is_removed(seed):
    """Of a random start and a candidate, the noise is removed, at the level of the search."""
    X, y = parity(2, seed=seed)
    selector = wary(n_random_starts=10, backward=None).fit(X, y)
    assert sorted(chosen(selector)) == ["x0", "x1"]
    joint, *eliminated = selector.selection_.steps[1:5]
    noise = set(joint.jointly_included) - {"x0", "x1"}
    assert [step.phase for step in eliminated] == ["joint_backward"] * 3
    assert [step.accepted for step in eliminated] == [False, False, True]
    assert {step.chosen for step in eliminated[:2]} == noise
    assert {step.alpha for step in (joint, *eliminated)} == {0.025}


def test_features_that_add_nothing_are_all_removed():
    X, y = parity(5)
    context = context_for(y, n_permutations=99)
    found = backward(context, (), features_of(X)[2:4], maximum_statistic, "joint_backward")
    remaining, steps, _ = found
    assert remaining == []
    assert [step.accepted for step in steps] == [False, False]


# --- levels --------------------------------------------------------------------------------------


@pytest.mark.parametrize("n_random_starts", [0, 5])
@pytest.mark.parametrize("order", [1, 2, 3, 4])
def test_shares_of_alpha_sum_to_alpha(order, n_random_starts):
    search = Lookahead(order, n_random_starts)
    shares = [search.alpha_at(0.08, level) for level in range(1, search.n_levels + 1)]
    assert sum(shares) == pytest.approx(0.08)
    assert sorted(shares, reverse=True) == shares


def test_each_level_has_its_part_of_alpha():
    X, y = parity(5, n_columns=7)
    record, _ = fit_to_nothing(X, y, lookahead=3, n_random_starts=4, alpha=0.08)
    assert phases(record) == ["forward", "lookahead", "lookahead", "random_starts"]
    assert [step.alpha for step in record.steps] == [0.04, 0.02, 0.01, 0.01]
    plain, _ = fit_to_nothing(X, y, alpha=0.08)
    assert plain.steps[0].alpha == 0.08


def test_too_few_permutations_for_a_level_are_refused():
    with pytest.raises(ValueError, match=r"alpha=0\.05.*3 tests.*alpha=0\.0125"):
        wary(lookahead=3, n_permutations=39).fit(*parity(2))


@pytest.mark.parametrize(("seed", "n_random_starts"), [(1, 0), (2, 0), (1, 10)])
def test_the_smallest_p_value_is_no_close_call(seed, n_random_starts):
    """p is 1/201 at 0.025, as small as it can be."""
    settings = {"n_random_starts": n_random_starts} if n_random_starts else {"lookahead": 2}
    record = wary(n_permutations=200, **settings).fit(*parity(2, seed=seed)).selection_
    entry = record.inclusion_step("x0")
    assert (entry.p_value, entry.alpha) == (1 / 201, 0.025)
    assert all(step.p_value == 1 / 201 for step in record.steps if step.accepted)
    assert not any(step.close_call for step in record.steps if step.accepted)


def test_a_close_call_is_noted_beside_what_was_searched():
    """A parity that is often wrong: p-values of all sizes."""
    seen = set()
    for seed in range(20):
        X, y = parity(2, n=60, seed=seed, n_columns=4)
        wrong = np.random.default_rng(seed).random(60) < 0.25
        context = context_for(np.where(wrong, 1 - y, y), n_permutations=99, alpha=0.1)
        _, (step, *_) = JointSearch(context, (), features_of(X), Lookahead(2), inf).run()
        reached, error = round(100 * step.p_value) - 1, sqrt(step.p_value * (1 - step.p_value) / 99)
        is_close = reached > 0 and abs(step.p_value - 0.05) <= 2 * error
        assert step.note == "all 6 pairs searched"
        assert step.close_call == is_close
        seen.add(is_close)
    assert seen == {False, True}


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
    assert chosen(wary(lookahead=2, max_features=3, fixed_features=[5]).fit(X, y)) == ["x0", "x1"]
    assert chosen(wary(lookahead=2, max_features=2).fit(X, y)) == ["x0", "x1"]


def test_feature_groups_in_tuples():
    """x0 and x1 are a group: with x2 they are a pair of features and three columns."""
    X, y = parity(3)
    groups = {"both": [0, 1]}
    selector = wary(lookahead=2, feature_groups=groups).fit(X, y)
    assert sorted(chosen(selector)) == ["both", "x2"]
    assert selector.selected_.tolist() == [0, 1, 2]
    pair = selector.selection_.inclusion_step("x2")
    assert pair.jointly_included == ("both", "x2")
    assert pair.note == "all 10 pairs searched"
    record, _ = fit_to_nothing(X, y, lookahead=2, feature_groups=groups, max_features=2)
    assert record.steps[1].note.startswith("6 of 10 pairs searched")


# --- the budget ----------------------------------------------------------------------------------


def leaning(seed, n=400, n_columns=12):
    """y is the xor of x3 and x7 in most rows; where it is 1, each is a little more often 1."""
    rng = np.random.default_rng(seed)
    X = rng.integers(0, 2, (n, n_columns))
    agrees = rng.random(n) < np.where(X[:, 3] & X[:, 7], 0.55, 0.85)
    return X, np.where(agrees, X[:, 3] ^ X[:, 7], 1 - (X[:, 3] ^ X[:, 7]))


@pytest.mark.parametrize("seed", [1, 2, 3])
def test_beyond_the_budget_the_strongest_are_searched(seed):
    X, y = leaning(seed)
    context = context_for(y, n_permutations=99, alpha=0.05, shared_permutations=True)
    found, steps = JointSearch(context, (), features_of(X), Lookahead(2, max_tuples=30), inf).run()
    assert sorted(feature.name for feature in found) == ["x3", "x7"]
    assert len(steps[0].candidates) == comb(8, 2) <= 30
    assert steps[0].note.startswith("28 of 66 pairs searched, those of the strongest single")
    assert set(steps[0].jointly_included) == {"x3", "x7"}


@pytest.mark.parametrize("seed", [1, 2, 3])
def test_beyond_the_budget_what_is_too_wide_does_not_end_the_search(seed):
    """Four columns as one feature have many bits, but exceed max_columns with any other."""
    X, y = leaning(seed)
    wide = Feature(
        "wide",
        (20, 21, 22, 23),
        Block(
            tuple(
                Column(f"w{j}", "ordinal", column.astype(float))
                for j, column in enumerate(bits(400, seed + 10, 4).T)
            )
        ),
    )
    candidates, max_columns, few_pairs = [wide, *features_of(X)], 2, Lookahead(2, max_tuples=30)
    context = context_for(y, n_permutations=99, alpha=0.05, shared_permutations=True)
    strongest = screen_tuples(context, (), candidates, 2, (LOOKAHEAD, 2, 0), 30).tuples
    assert any(wide in pair for pair in strongest)
    found, steps = JointSearch(context, (), candidates, few_pairs, max_columns).run()
    assert sorted(feature.name for feature in found) == ["x3", "x7"]
    assert not any("wide" in name for name in steps[0].candidates)
    assert steps[0].note.startswith("28 of 78 pairs searched")
    assert JointSearch(context, (), candidates, few_pairs, 1).run() == ([], [])


def test_a_selection_keeps_to_the_largest_number_of_tuples():
    plan = {"lookahead": Lookahead(2, max_tuples=10)}
    _, steps, _ = select(wary(lookahead=2), *parity(5, n_columns=7), plan)
    assert len(steps[1].candidates) == 10
    assert "10 of 21 pairs" in steps[1].note


@pytest.mark.parametrize("portfolio", [False, True])
def test_screening_is_repeated_in_every_permutation(portfolio):
    X, y = bits(60, seed=1), bits(60, seed=2)[:, 0]
    context = context_for(y, shared_permutations=True, is_portfolio=portfolio, seed=3)
    stream_key = (LOOKAHEAD, 2, 0)
    scores = screen_tuples(context, (), features_of(X), 2, stream_key, max_tuples=6)
    rows = naive_selection.orders("global", None, (3, *stream_key), 60, 70)
    rules = naive_selection.Rules(("discrete",), 20, PILOT_PERMUTATIONS if portfolio else 0)
    expected = naive_selection.screened(list(X.T), y, rows, 4, rules)
    found = scores.score(range(71))
    assert found.shape == (1, 6, 1, 71)
    np.testing.assert_allclose(found[0, :, 0], expected, atol=1e-12)
    parts = [scores.score(some) for some in (range(1), range(1, 17), range(17, 71))]
    np.testing.assert_array_equal(np.concatenate(parts, axis=-1), found)
    tuples = [tuple(feature.name for feature in pair) for pair in scores.tuples]
    assert len(set(tuples)) == 6
    assert [" & ".join(pair) for pair in tuples] == [c.name for c in scores.candidates]


@pytest.mark.parametrize("order", [2, 3])
def test_in_the_data_as_observed_places_are_the_tuples_on_record(order):
    """In every test: what one rejects and what another rejects must be the same tuple."""
    rng = np.random.default_rng(0)
    X = rng.normal(size=(80, 10))
    X[:, 1:5] += 1.5 * X[:, [0]]
    estimators = (NamedEstimator("ksg-rank", KSG(scale="rank")), NamedEstimator("copula", Copula()))
    context = context_for(
        X[:, 0] + rng.normal(size=80),
        *estimators,
        feature_type="continuous",
        is_portfolio=True,
        surrogates=("global", "local"),
        shared_permutations=True,
    )
    known, *candidates = features_of(X, "continuous")
    scores = screen_tuples(context, [known], candidates, order, (LOOKAHEAD, order, 1), max_tuples=6)
    found = scores.score(range(1))
    (bound,) = context.bind([[known]], ["global"])
    rows = bound.samplers[0]((0,), range(1))
    for place, candidate in enumerate(scores.candidates):
        expected = bound.score(candidate.block, rows)
        for test in range(2):
            np.testing.assert_allclose(found[test, place], expected, atol=1e-12)


def test_all_tuples_are_permuted_alike():
    """A feature has the same surrogate in each of its pairs, whatever `shared` says."""
    X, y = parity(2)
    found = [
        JointSearch(
            context_for(y, shared_permutations=shared), (), features_of(X), Lookahead(2), inf
        ).run()
        for shared in (True, False)
    ]
    assert found[0][1] == found[1][1]


# --- random starts -------------------------------------------------------------------------------


@pytest.mark.parametrize("seed", [1, 2, 3])
def test_random_starts_find_xor_among_few(seed):
    X, y = parity(2, seed=seed)
    selector = wary(n_random_starts=10).fit(X, y)
    assert sorted(chosen(selector)) == ["x0", "x1"]
    record = selector.selection_
    start = record.inclusion_step("x0")
    assert start.phase == "random_starts"
    assert {"x0", "x1"} < set(start.jointly_included)
    assert len(start.jointly_included) == 1 + Lookahead().start_size
    assert " given " in start.chosen
    assert "random starts of 3 features searched" in start.note
    assert phases(record)[:3] == ["forward", "random_starts", "joint_backward"]
    assert [step.alpha for step in record.steps[:2]] == [0.025, 0.025]


def test_starts_are_limited_by_candidates_and_max_features():
    X, y = parity(2, n_columns=3)
    selector = wary(n_random_starts=10).fit(X, y)
    assert sorted(chosen(selector)) == ["x0", "x1"]
    assert (
        "3 different random starts of 2 features" in selector.selection_.inclusion_step("x0").note
    )
    record, _ = fit_to_nothing(X, y, n_random_starts=10, max_features=2)
    assert phases(record) == ["forward"]


def test_each_start_is_bound_once(monkeypatch):
    """Binding is slow: candidates with the same start share it."""
    X, y = parity(5)
    context, given = context_for(y, n_permutations=39), []
    bind = SelectionContext.bind

    def counted(self, sets, *args, **settings):
        given.extend(tuple(feature.name for feature in features) for features in sets)
        return bind(self, sets, *args, **settings)

    monkeypatch.setattr(SelectionContext, "bind", counted)
    _, steps = JointSearch(context, (), features_of(X), Lookahead(1, 4), inf).run()
    assert [step.accepted for step in steps] == [False]
    assert len(given) == len(set(given)) == int(steps[0].note.split()[0])


def test_the_same_seed_searches_the_same():
    X, y = parity(2)
    first, second = (wary(n_random_starts=6, lookahead=2).fit(X, y).selection_ for _ in range(2))
    assert first == second
