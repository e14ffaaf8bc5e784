"""Strong and weak relevance by tests given nothing and given all selected features."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

import naive
from pidselect.data import Block, read_block
from pidselect.estimators import Copula, Discrete
from pidselect.selection.context import NamedEstimator, SelectionContext
from pidselect.selection.pool import Feature
from pidselect.selection.relevance import OTHERS_STREAM, Relevance, assess
from pidselect.significance.rng import RELEVANCE


def features(**columns):
    """Return features by their names."""
    return {
        name: Feature(name, (place,), read_block(values, name))
        for place, (name, values) in enumerate(columns.items())
    }


def inquire(y, estimator=None, **settings):
    member = NamedEstimator("one", estimator or Discrete())
    return SelectionContext(
        read_block(y, "y", target=True), member, **{"n_permutations": 99, **settings}
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
    smallest = 1 / (100 if n_permutations else 201)
    assert found["a"].p_value == found["a"].marginal_p_value == smallest
    assert found["again"].marginal_p_value == 2 * smallest  # of two families
    assert found["again"].p_value > 0.05


def test_relevant_only_beside_another():
    """The second input of an XOR is informative only given the first."""
    first, second = np.tile([0, 0, 1, 1], 50), np.tile([0, 1, 0, 1], 50)
    known = features(first=first, second=second)
    found = assess(inquire(first ^ second), [], [known["first"]], list(known.values()))
    assert found["second"] == Relevance("adds to the selected set", 0.02, 1.0)
    assert found["first"].role == "weakly relevant"  # no marginal information
    assert found["first"].p_value > 0.05


def test_what_adds_to_all_selected_features_is_not_weakly_relevant():
    """Given a, its copy adds nothing but b does; also if a is fixed."""
    known, y = bits()
    others = [known["again"], known["b"]]
    found = assess(inquire(y), [], [known["a"]], others)
    assert roles(found) == {
        "a": "strongly relevant",
        "again": "weakly relevant",
        "b": "adds to the selected set",
    }
    fixed = assess(inquire(y), [known["a"]], [], others)
    assert roles(fixed) == {"a": "fixed", "again": "irrelevant", "b": "adds to the selected set"}


def test_two_selected_copies_are_weakly_relevant():
    known, y = bits()
    known["twin"] = replace(known["a"], name="twin")
    found = assess(inquire(y), [], [known["a"], known["twin"]], [])
    assert set(roles(found).values()) == {"weakly relevant"}
    assert found["twin"].p_value > 0.05 > found["twin"].marginal_p_value


def test_fixed_features_are_in_every_conditioning_set():
    known, _ = bits()
    y = known["a"].block.columns[0].values  # nothing but a matters
    found = assess(inquire(y), [known["a"]], [], [known["again"], known["coin"]])
    assert roles(found) == {"a": "fixed", "again": "irrelevant", "coin": "irrelevant"}
    assert found["a"] == Relevance("fixed")


def test_what_does_not_vary_is_not_tested():
    known, y = bits()
    nothing = Feature("nothing", (9,), Block())
    lost = Feature("lost", (8,), Block())
    everyone = [known["a"], nothing, lost]
    found = assess(inquire(y), [], [known["a"], lost], everyone)
    assert found["nothing"] == Relevance("irrelevant")
    assert found["lost"] == Relevance("weakly relevant")
    assert found["a"].role == "strongly relevant"


def test_features_of_several_columns():
    first, second = np.tile([0, 0, 1, 1], 50), np.tile([0, 1, 0, 1], 50)
    both = Feature("both", (0, 1), read_block(np.column_stack([first, second]), "both"))
    found = assess(inquire(first ^ second), [], [], [both])
    assert found["both"] == Relevance("weakly relevant", 0.01, 0.01)


# --- the test -----------------------------------------------------------------------------------


def naive_family(context, known, names, given):
    """Return the p-value of each feature given a set, by the step-down maximum statistic."""
    n, seed = len(known[names[0]].block.columns[0].values), context.seed
    columns = {name: one.block.columns[0].values[:, np.newaxis] for name, one in known.items()}
    y = context.target.columns[0].values
    S = np.hstack([columns[name] for name in given]) if given else None
    n_draws = 1 + context.n_permutations
    scores = np.empty((len(names), n_draws))
    for draw in range(n_draws):  # one permutation at a time
        rows = np.arange(n)
        if draw:
            rows = np.array(naive.permutation((seed, RELEVANCE, OTHERS_STREAM, draw), n))
        for place, name in enumerate(names):
            scores[place, draw] = naive.discrete(columns[name][rows], y[:, np.newaxis], S)
    left, largest, found = list(range(len(names))), 0.0, {}
    while left:
        strongest = max(left, key=lambda place: scores[place, 0])
        null = scores[left, 1:].max(axis=0)
        largest = max(largest, naive.p_value(scores[strongest, 0], null))
        found[names[strongest]] = largest
        left.remove(strongest)
    return found


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
    given_all = naive_family(context, known, others, selected)
    marginal = naive_family(context, known, others, [])
    assert found["jointly"].role == "adds to the selected set"
    for name in others:
        p, of_marginal = 2 * given_all[name], 2 * marginal[name]
        role = "weakly relevant" if of_marginal <= 0.05 else "irrelevant"
        assert found[name].role == ("adds to the selected set" if p <= 0.05 else role)
        assert found[name].p_value == pytest.approx(min(1, p))
        assert found[name].marginal_p_value == pytest.approx(min(1, of_marginal))


def test_error_rate():
    """The family-wise error rate over four uninformative features in 200 data sets."""
    wrong = 0
    for seed in range(200):
        rng = np.random.default_rng(seed)
        a, *noise = rng.normal(size=(5, 60))
        known = features(a=a, **{f"n{i}": values for i, values in enumerate(noise)})
        context = inquire(a + rng.normal(size=60), Copula(), n_permutations=39, seed=seed)
        found = assess(context, [], [known["a"]], list(known.values()))
        wrong += any(found[f"n{i}"].role != "irrelevant" for i in range(4))
    assert 2 <= wrong <= 18  # 10 are expected; outside with probability below 0.01


def test_few_permutations_are_enough_for_both_families():
    """19 permutations suffice at level 0.05, but not at half of it."""
    known, y = bits()
    found = assess(inquire(y, n_permutations=19), [], [known["a"]], [known["again"]])
    assert found["again"].role == "weakly relevant"
    assert found["again"].marginal_p_value == 2 / 40
