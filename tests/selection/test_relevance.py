"""Strong and weak relevance by tests given subsets of the selected features."""

from __future__ import annotations

from dataclasses import replace
from itertools import combinations
from math import log

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from recording_callbacks import Recorder

import naive
import naive_selection
from pidselect.data import Block, read_block
from pidselect.estimators import Copula, Discrete
from pidselect.selection import relevance
from pidselect.selection.callbacks import CallbackList
from pidselect.selection.context import NamedEstimator, SelectionContext
from pidselect.selection.executor import Executor
from pidselect.selection.pool import Feature
from pidselect.selection.relevance import (
    OTHERS_STREAM,
    assess,
    max_subsets,
    subsets_of,
)
from pidselect.significance import RELEVANCE
from pidselect.significance.standardize import PILOT_PERMUTATIONS


def features(**columns):
    """Return features by their names."""
    return {
        name: Feature(name, (place,), read_block(values, name))
        for place, (name, values) in enumerate(columns.items())
    }


def inquire(y, estimator=None, **settings):
    member = NamedEstimator("one", estimator or Discrete())
    return SelectionContext(
        read_block(y, "y", target=True), (member,), **{"n_permutations": 99, **settings}
    )


def bits(seed=0, n=200):
    """y is a and b, with errors; again is another measurement of a, coin is independent."""
    rng = np.random.default_rng(seed)
    a, b, coin = rng.integers(0, 2, (3, n))
    y, again = (a & b) ^ (rng.random(n) < 0.05), a ^ (rng.random(n) < 0.1)
    return features(a=a, b=b, again=again, coin=coin), y


def roles(found):
    return {name: one.role for name, one in found.items()}


# --- the verdicts -------------------------------------------------------------------------------


@pytest.mark.parametrize("surrogates", [("global",), ("local",), ("global", "local")])
@pytest.mark.parametrize("n_permutations", [99, None])
def test_every_role(surrogates, n_permutations):
    known, y = bits()
    context = inquire(y, surrogates=surrogates, n_permutations=n_permutations)
    found = assess(context, [], [known["a"], known["b"]], list(known.values()))
    assert roles(found) == {
        "a": "strongly relevant",
        "b": "strongly relevant",
        "again": "weakly relevant",
        "coin": "irrelevant",
    }
    assert found["again"].n_subsets == found["coin"].n_subsets == 4
    assert found["a"].conditioning_set == ("b",)
    assert found["again"].p_value == 2 / (100 if n_permutations else 201)  # of two families


def test_relevant_only_beside_another():
    """The second input of an XOR is informative only given the first."""
    first, second = np.tile([0, 0, 1, 1], 50), np.tile([0, 1, 0, 1], 50)
    known = features(first=first, second=second)
    found = assess(inquire(first ^ second), [], [known["first"]], list(known.values()))
    assert found["second"].role == "adds to the selected set"
    assert found["second"].conditioning_set == ("first",)
    assert found["second"].bits == pytest.approx(1)
    assert found["first"].role == "weakly relevant"  # no marginal information
    assert found["first"].p_value > 0.05


def test_redundant_beside_all():
    """What is known from the selected features counts where these are not given."""
    known, y = bits()
    found = assess(inquire(y), [], [known["a"], known["b"]], [known["again"]])
    assert "a" not in found["again"].conditioning_set
    assert found["again"].bits > 0.1


def test_two_selected_copies_are_weakly_relevant():
    known, y = bits()
    known["twin"] = replace(known["a"], name="twin")
    found = assess(inquire(y), [], [known["a"], known["twin"]], [])
    assert set(roles(found).values()) == {"weakly relevant"}


def test_known_p_values_are_taken():
    known, y = bits()
    selected = [known["a"], known["b"]]
    found = assess(inquire(y), [], selected, [], {"a": 0.04, "b": 0.06})
    assert roles(found) == {"a": "strongly relevant", "b": "weakly relevant"}
    assert (found["a"].p_value, found["b"].p_value) == (0.04, 0.06)
    assert found["a"].bits is None  # nothing is estimated again
    tested = assess(inquire(y), [], selected, [])
    assert tested["b"].p_value == 0.01
    assert tested["b"].bits > 0.1


def test_fixed_features_are_in_every_conditioning_set():
    known, _ = bits()
    y = known["a"].block.columns[0].values  # nothing but a matters
    found = assess(inquire(y), [known["a"]], [], [known["again"], known["coin"]])
    assert roles(found) == {"a": "fixed", "again": "irrelevant", "coin": "irrelevant"}
    assert found["again"].conditioning_set == ("a",)
    assert found["a"].p_value is None


def test_what_does_not_vary_is_not_tested():
    known, y = bits()
    nothing = Feature("nothing", (9,), Block())
    lost = Feature("lost", (8,), Block())
    everyone = [known["a"], nothing, lost]
    found = assess(inquire(y), [], [known["a"], lost], everyone, {"a": 0.01, "lost": 0.01})
    assert found["nothing"].role == "irrelevant"
    assert found["nothing"].p_value is None
    assert found["lost"].role == "strongly relevant"
    assert (found["lost"].bits, found["lost"].p_value) == (None, 0.01)
    assert assess(inquire(y), [], [lost], [])["lost"].role == "weakly relevant"


def test_features_of_several_columns():
    first, second = np.tile([0, 0, 1, 1], 50), np.tile([0, 1, 0, 1], 50)
    both = Feature("both", (0, 1), read_block(np.column_stack([first, second]), "both"))
    found = assess(inquire(first ^ second), [], [], [both])
    assert found["both"].role == "weakly relevant"
    assert found["both"].bits == pytest.approx(1)


# --- the test -----------------------------------------------------------------------------------


def naive_family(context, known, names, family):
    """Return the smallest p-value of each feature by the step-down maximum statistic."""
    n, seed = len(known[names[0]].block.columns[0].values), context.seed
    columns = {name: one.block.columns[0].values[:, np.newaxis] for name, one in known.items()}
    y = context.target.columns[0].values
    pairs = [(name, T) for name in names for T in family]
    n_draws = 1 + PILOT_PERMUTATIONS + context.n_permutations
    values = np.empty((len(pairs), n_draws))
    for draw in range(n_draws):  # one permutation at a time
        rows = np.arange(n)
        if draw:
            rows = np.array(naive.permutation((seed, RELEVANCE, OTHERS_STREAM, draw), n))
        for place, (name, T) in enumerate(pairs):
            S = np.hstack([columns[s] for s in T]) if T else None
            values[place, draw] = naive.discrete(columns[name][rows], y[:, np.newaxis], S)
    scale = np.sign(values) * np.sqrt(np.abs(values))
    pilot = scale[:, 1 : 1 + PILOT_PERMUTATIONS]
    centre, spread = np.array(naive_selection.standards(pilot.tolist())).T
    scores = (scale - centre[:, np.newaxis]) / spread[:, np.newaxis]
    left, largest, found = list(range(len(pairs))), 0.0, dict.fromkeys(names, 1.0)
    while left:
        strongest = max(left, key=lambda place: scores[place, 0])
        null = scores[left, 1 + PILOT_PERMUTATIONS :].max(axis=0)
        largest = max(largest, naive.p_value(scores[strongest, 0], null))
        name = pairs[strongest][0]
        found[name] = min(found[name], largest)
        left.remove(strongest)
    return found


def naive_roles(context, known, selected, others):
    """Return role and p-value of each feature: two families, then a test given all selected."""
    subsets = [T for size in range(len(selected) + 1) for T in combinations(selected, size)]
    found = dict.fromkeys(others, 1.0)
    for family in (subsets[:1], subsets[1:]):
        undecided = [name for name in others if found[name] > context.alpha]
        p_values = naive_family(context, known, undecided, family)
        found |= {name: min(found[name], 2 * p) for name, p in p_values.items()}
    relevant = [name for name in others if found[name] <= context.alpha]
    adding = naive_family(context, known, relevant, [tuple(selected)])
    return {
        name: ("adds to the selected set", adding[name])
        if adding.get(name, 1.0) <= context.alpha
        else ("weakly relevant" if name in relevant else "irrelevant", p)
        for name, p in found.items()
    }


@pytest.mark.parametrize("seed", range(4))
def test_against_the_naive_twin(seed):
    rng = np.random.default_rng(seed)
    a, b, coin = rng.integers(0, 2, (3, 60))
    y = (a & b) ^ (rng.random(60) < 0.05)
    noisy, jointly = a ^ (rng.random(60) < 0.2), y ^ b ^ (rng.random(60) < 0.1)
    known = features(a=a, b=b, noisy=noisy, jointly=jointly, coin=coin)
    context = inquire(y, n_permutations=59, seed=seed)
    selected, others = ["a", "b"], ["noisy", "jointly", "coin"]
    found = assess(context, [], [known[s] for s in selected], [known[o] for o in others])
    expected = naive_roles(context, known, selected, others)
    assert expected["jointly"][0] == "adds to the selected set"
    for name in others:
        role, p_value = expected[name]
        assert found[name].role == role
        if role != "irrelevant":
            assert found[name].p_value == pytest.approx(p_value)


def test_what_adds_to_all_selected_features_is_not_weakly_relevant():
    """Given a, its copy adds nothing but b does; nothing is tested where that is known."""
    known, y = bits()
    others = [known["again"], known["b"]]
    found = assess(inquire(y), [], [known["a"]], others)
    assert roles(found) == {
        "a": "strongly relevant",
        "again": "weakly relevant",
        "b": "adds to the selected set",
    }
    assert found["b"].conditioning_set == ("a",)
    assert assess(inquire(y), [], [known["a"]], others, may_add=False)["b"].role == (
        "weakly relevant"
    )
    fixed = assess(inquire(y), [known["a"]], [], others)
    assert roles(fixed)["b"] == "adds to the selected set"


def test_bits_are_those_given_the_subset():
    known, y = bits(n=60)
    found = assess(inquire(y), [], [known["a"], known["b"]], list(known.values()))["again"]
    again, *given_columns = (
        known[name].block.columns[0].values[:, np.newaxis]
        for name in ("again", *found.conditioning_set)
    )
    S = np.hstack(given_columns) if given_columns else None
    expected = naive.discrete(again, y[:, np.newaxis], S) / log(2)
    assert found.bits == pytest.approx(expected, abs=1e-10)


def test_error_rate():
    """The family-wise error rate over four uninformative features in 200 data sets."""
    wrong = 0
    for seed in range(200):
        rng = np.random.default_rng(seed)
        a, b, *noise = rng.normal(size=(6, 60))
        known = features(a=a, b=b, **{f"n{i}": values for i, values in enumerate(noise)})
        context = inquire(a + b + rng.normal(size=60), Copula(), n_permutations=39, seed=seed)
        selected = [known["a"], known["b"]]
        final = {"a": 0.01, "b": 0.01}
        found = assess(context, [], selected, list(known.values()), final)
        wrong += any(found[f"n{i}"].role != "irrelevant" for i in range(4))
    assert 2 <= wrong <= 18  # 10 are expected; outside with probability below 0.01


def test_nothing_depends_on_how_the_work_is_spread():
    known, y = bits(n=100)
    context = inquire(y, surrogates=("global", "local"), n_permutations=39)
    arguments = ([], [known["a"], known["b"]], list(known.values()))
    expected = assess(context, *arguments)
    assert assess(replace(context, executor=Executor(2, max_memory=1)), *arguments) == expected
    assert assess(replace(context, shared_permutations=True), *arguments) == expected


@pytest.mark.parametrize("surrogates", [("global",), ("global", "local")])
@pytest.mark.parametrize("seed", range(4))
def test_early_stopping_changes_no_role(seed, surrogates, monkeypatch):
    """The same decisions as tests with all permutations of all schemes."""
    rng = np.random.default_rng(seed)
    a, *noise = rng.normal(size=(4, 50))
    known = features(a=a, **{f"n{i}": values for i, values in enumerate(noise)})
    y = a + 0.3 * noise[0] + rng.normal(size=50)
    context = inquire(y, Copula(), n_permutations=199, seed=seed, surrogates=surrogates)
    arguments = ([], [known["a"]], list(known.values()), {"a": 0.01})
    found = assess(context, *arguments)
    monkeypatch.setattr(relevance, "INTERIM", ())
    complete = assess(context, *arguments)
    assert roles(found) == roles(complete)
    for name, one in found.items():
        assert one.p_value == complete[name].p_value or one.role == "irrelevant"


def test_values_that_no_decision_needs_are_not_computed():
    known, y = bits()
    recorder = Recorder()
    executor = Executor(callbacks=CallbackList([recorder]))
    context = inquire(y, n_permutations=199, surrogates=("global", "local"), executor=executor)
    final = {"a": 0.01, "b": 0.01}
    assess(context, [], [known["a"], known["b"]], list(known.values()), final)
    own, given_subsets, given_all = (n_values for _, n_values in recorder.stages)
    # Both features by themselves with all permutations: "again" is significant.
    assert own == 2 * (1 + PILOT_PERMUTATIONS + 199)
    # Then the coin alone, given three subsets, by one scheme, until nothing can be significant.
    few = {1 + PILOT_PERMUTATIONS + m for m in relevance.INTERIM}
    assert given_subsets in {3 * n for n in few}
    assert given_all in few  # of "again", which is redundant


def test_few_permutations_are_enough_for_both_families():
    """19 permutations suffice at level 0.05, but not at half of it."""
    known, y = bits()
    found = assess(inquire(y, n_permutations=19), [], [known["a"]], [known["again"]])
    assert found["again"].role == "weakly relevant"
    assert found["again"].p_value == 2 / 40


# --- subsets ------------------------------------------------------------------------------------


@given(st.integers(0, 9), st.integers(1, 40))
def test_subsets(n, most):
    found = subsets_of(range(n), most)
    assert len(found) == len(set(found)) <= most
    assert all(len(set(one)) == len(one) and set(one) <= set(range(n)) for one in found)
    assert found[0] == ()
    if n and most > 1:
        assert found[1] == tuple(range(n))
    if most >= 2**n and n <= 4:  # then there are no others than these sizes
        assert len(found) == 2**n


def test_many_features_are_tested_given_fewer_subsets():
    known, y = bits(n=40)
    noise = np.random.default_rng(0).integers(0, 2, (900, 40))
    others = list(features(**{f"n{i}": values for i, values in enumerate(noise)}).values())
    selected = [known["a"], known["b"]]
    found = assess(inquire(y, n_permutations=19), [], selected, others)
    assert {found[feature.name].n_subsets for feature in others} == {max_subsets(900)} == {2}
    assert found["n0"].conditioning_set in ((), ("a", "b"))
