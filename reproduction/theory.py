"""Sections 2, 3.1, 3.2, 5.1, 5.3 and 5.5, Appendix B: definitions, arguments and the test."""

from __future__ import annotations

from collections.abc import Callable
from itertools import product
from typing import Any

import numpy as np
from numpy.typing import NDArray

from pidselect.data import Block, read_block
from pidselect.datasets import SyntheticDataset
from pidselect.estimators import ESTIMATORS
from pidselect.estimators.base import Batch
from pidselect.significance.permutation_test import maximum_statistic, p_values
from pidselect.significance.rng import permutations
from reproduction.experiment import Claims, Outcome, Part, Results
from reproduction.information import ALPHA, ATOMS, N_SAMPLES, PAPER, select, term
from reproduction.quantities import Quantity, grid, percent, quantity
from reproduction.redundancy import CASES, described

#: Random distributions of two features and a target of three states each.
N_RANDOM = 20

#: Shared, unique and synergistic bits of distributions made to have them.
SHARES = ((1.0, 0.5, 0.25), (0.1, 0.8, 0.1), (0.3, 0.0, 0.7), (0.5, 0.5, 0.0), (0.0, 0.2, 0.9))

#: Null tables: samples, candidates, and permutations for p-values of single candidates.
NULL_SAMPLES, NULL_CANDIDATES, NULL_PERMUTATIONS = 200, 10, 1000

#: Key of the random stream of these permutations.
STREAM = 41

#: How a selection starts from nothing: its settings beside the paper's.
STARTS: dict[str, dict[str, Any]] = {
    "single": {},
    "pairs": {"lookahead": 2},
    "random": {"n_random_starts": 20},
}
ESTIMATES = {"ksg": "KSG", "count": "plug-in, equal counts", "width": "plug-in, equal width"}

#: True I(X;Y|S) of the two systems on which estimates are compared.
TRUTH = {"independent": 0.0, "sum": 0.5}


def from_bits(
    n_bits: int, split: Callable[[tuple[int, ...]], tuple[Any, ...]]
) -> NDArray[np.float64]:
    """Return the distribution of functions of fair bits: features and, last, the target.

    Examples
    --------
    >>> from_bits(2, lambda bits: (bits[0], bits[1], bits[0] ^ bits[1])).shape
    (2, 2, 2)
    """
    outcomes = [split(bits) for bits in product((0, 1), repeat=n_bits)]
    levels = [sorted(set(values)) for values in zip(*outcomes, strict=True)]
    pmf = np.zeros([len(values) for values in levels])
    for outcome in outcomes:
        pmf[tuple(v.index(o) for v, o in zip(levels, outcome, strict=True))] += 0.5**n_bits
    return pmf


def with_shares(shared: float, unique: float, synergy: float) -> NDArray[np.float64]:
    """Return a distribution with these atoms: bits that the target loses with some probability.

    F1 is (a, b, c) and F2 is (a, d). The target has a with probability `shared`, b with `unique`
    and the parity of c and d with `synergy`; otherwise it has a third state in its place.
    """
    pmf = np.zeros((8, 4, 27))
    for a, b, c, d in product((0, 1), repeat=4):
        for kept in product((True, False), repeat=3):
            chances = zip(kept, (shared, unique, synergy), strict=True)
            probability = np.prod([p if is_kept else 1.0 - p for is_kept, p in chances]) / 16
            seen = [value if k else 2 for k, value in zip(kept, (a, b, c ^ d), strict=True)]
            pmf[4 * a + 2 * b + c, 2 * a + d, 9 * seen[0] + 3 * seen[1] + seen[2]] += probability
    return pmf


#: Two features that share all their information about the target without being copies.
REDUNDANT = from_bits(3, lambda bit: ((bit[0], bit[1]), (bit[0], bit[2]), bit[0]))

#: A copy of a feature beside all features of the target: weakly relevant. The target is the
#: feature itself, or its parity with another.
WEAKLY_RELEVANT = {
    "copy of an informative feature": from_bits(1, lambda bit: (bit[0], bit[0], bit[0])),
    "copy of an input of XOR": from_bits(2, lambda bit: (bit[0], bit, bit[0] ^ bit[1])),
}


def run_exact(seed: int) -> Outcome:
    """Compute terms and atoms of known and of random distributions."""
    rng = np.random.default_rng(seed)
    dependent = [rng.dirichlet(np.ones(27)).reshape(3, 3, 3) for _ in range(N_RANDOM)]
    moved = []
    for pmf in dependent:  # F1 and F2 independent given Y, with the same pairs (F1,Y) and (F2,Y)
        pairs = pmf.sum(axis=1)[:, np.newaxis], pmf.sum(axis=0)[np.newaxis]
        first, second = (
            described(one)["atoms"]["broja"]
            for one in (pmf, pairs[0] * pairs[1] / pmf.sum(axis=(0, 1)))
        )
        moved.append(max(abs(first[name] - second[name]) for name in ("unique1", "unique2")))
    return {
        "cases": {name: described(make()) for name, make in CASES.items()},
        "random": [described(pmf) for pmf in dependent],
        "same pairs": max(moved),
        "shares": [described(with_shares(*shares)) for shares in SHARES],
        "cancelling": described(with_shares(1.0, 0.0, 1.0)),
        "redundant": described(REDUNDANT),
        "weakly relevant": {name: described(pmf) for name, pmf in WEAKLY_RELEVANT.items()},
    }


def run_bias(seed: int, system: str) -> Outcome:
    """Estimate I(X;Y|S) of normal variables, S of two columns, where the true value is known.

    X, both columns of S and the noise are standard normal; Y is the noise alone, or the sum of X,
    the columns of S and the noise.
    """
    x, first, second, noise = np.random.default_rng(seed).standard_normal((4, N_SAMPLES))
    y = noise if system == "independent" else x + first + second + noise
    given = np.column_stack([first, second])
    found = {"ksg": term(x, y, given, n_permutations=0)["bits"]}
    for binning in ("count", "width"):
        found[binning] = term(x, y, given, binning=binning, n_permutations=0)["bits"]
    return found


def run_null(seed: int) -> Outcome:
    """Select where no candidate is informative; test the best one by two corrections.

    Returns whether anything is "selected", the percentage of "negative" estimates, and the p-value
    of the largest by the "maximum" statistic and by the correction of Dunn and "sidak".
    """
    table = np.random.default_rng(seed).standard_normal((NULL_SAMPLES, 1 + NULL_CANDIDATES))
    names = tuple(f"X{place}" for place in range(1, 1 + NULL_CANDIDATES))
    data = SyntheticDataset(table[:, 1:], table[:, 0], names, (), "Independent columns")
    bound = ESTIMATORS["ksg"]().bind(read_block(data.y, "y", target=True), Block(()))
    observed, surrogates = [], []
    for place, column in enumerate(data.X.T):
        block = read_block(column, names[place])
        key = (seed, STREAM, place)
        rows = permutations(key, range(1, 1 + NULL_PERMUTATIONS), NULL_SAMPLES)
        observed.append(float(bound.score(Batch.observed(block))[0]))
        surrogates.append(bound.score(Batch(block, rows)))
    best = int(np.argmax(observed))
    largest = np.array([observed[best]])
    single = float(p_values(largest, surrogates[best])[0])
    return {
        "selected": bool(select(data, seed, PAPER)["selected"]),
        "negative": 100.0 * float(np.mean(np.array(observed) < 0.0)),
        "maximum": float(p_values(largest, maximum_statistic(np.array(surrogates)))[0]),
        "sidak": 1.0 - (1.0 - single) ** NULL_CANDIDATES,
    }


def _discrete(seed: int, columns: dict[str, Any], y: NDArray[Any], **settings: Any) -> list[str]:
    table = np.column_stack(list(columns.values())).astype(float)
    data = SyntheticDataset(table, y, tuple(columns), (), "Columns of few levels")
    how = {**PAPER, "estimator": "discrete", **settings}
    return list(select(data, seed, how)["selected"])


def run_relevance(seed: int) -> Outcome:
    """Select among a strongly relevant, two weakly relevant and two irrelevant features.

    "weak 1" and "weak 2" contain the same bit and each a bit of its own, which is irrelevant.
    """
    rng = np.random.default_rng(seed)
    bit, strong, own1, own2, *irrelevant = rng.integers(0, 2, size=(6, N_SAMPLES))
    columns = {"strong": strong, "weak 1": 2 * bit + own1, "weak 2": 2 * bit + own2}
    columns |= {f"irrelevant {place}": one for place, one in enumerate(irrelevant, start=1)}
    seen = [np.where(rng.random(N_SAMPLES) < 0.1, 1 - one, one) for one in (bit, strong)]
    return {"selected": _discrete(seed, columns, 2 * seen[0] + seen[1])}


def run_synergy(seed: int, start: str) -> Outcome:
    """Select among six bits, where the target is the parity of two, flipped in 10 % of samples."""
    rng = np.random.default_rng(seed)
    bits = rng.integers(0, 2, size=(6, N_SAMPLES))
    y = bits[0] ^ bits[1] ^ (rng.random(N_SAMPLES) < 0.1)
    columns = {f"X{place}": one for place, one in enumerate(bits, start=1)}
    return {"selected": _discrete(seed, columns, y, **STARTS[start])}


@quantity
def _exact(results: Results, *keys: str) -> list[Any]:
    """Return an entry of the outcome for known distributions."""
    found: Any = results.of("exact")[0]
    for key in keys:
        found = found[key]
    return [found]


@quantity
def _largest(results: Results, of: Callable[[dict[str, float]], float]) -> list[float]:
    """Return the largest absolute value of an expression over all distributions."""
    found = results.of("exact")[0]
    known = [*found["cases"].values(), *found["random"], *found["shares"], found["cancelling"]]
    return [max(abs(of({**one, **one["atoms"]["broja"]})) for one in known)]


@quantity
def _of(results: Results, name: str, of: Callable[[Outcome], float]) -> list[float]:
    """Return an expression of the terms, and atoms by BROJA, of a known distribution."""
    found = results.of("exact")[0]
    one = found["cases"][name] if name in CASES else found[name]
    return [of({**one, **one["atoms"]["broja"]})]


def _excess(terms: dict[str, float]) -> float:
    """Return by how much mutual information violates a property of it."""
    low = min(terms["mi1"], terms["mi2"], terms["joint"], 0.0)
    high = max(terms["mi1"] - terms["entropy1"], terms["mi1"] - terms["entropy of Y"], 0.0)
    return high - low + abs(terms["mi1"] - terms["mi of Y and F1"])


@quantity
def _three_effects(results: Results) -> list[float]:
    """Return the number of cases in which conditioning has the sign of the paper."""
    signs = {"copy": 0.0, "same bit": -1.0, "XOR": 1.0}
    changes = {name: _of(name, lambda one: one["cmi1"] - one["mi1"])(results)[0] for name in signs}
    return [float(sum(np.sign(round(changes[name], 9)) == sign for name, sign in signs.items()))]


@quantity
def _same_largest_atom(results: Results) -> list[float]:
    """Return the number of known distributions with one largest atom by all measures."""
    found = 0
    for case in results.of("exact")[0]["cases"].values():
        tops = [
            {name for name in ATOMS if one[name] > max(one.values()) - 1e-6}
            for one in case["atoms"].values()
        ]
        found += bool(set.intersection(*tops))
    return [float(found)]


@quantity
def _shares_error(results: Results) -> list[float]:
    errors = []
    for (shared, unique, synergy), found in zip(
        SHARES, results.of("exact")[0]["shares"], strict=True
    ):
        wanted = dict(zip(ATOMS, (unique, 0.0, shared, synergy), strict=True))
        errors += [abs(found["atoms"]["broja"][atom] - bits) for atom, bits in wanted.items()]
    return [max(errors)]


@quantity
def _estimates(results: Results, system: str, by: str) -> NDArray[np.float64]:
    return np.array([run[by] for run in results.of("bias", system=system)])


@quantity
def _error(results: Results, system: str, by: str) -> NDArray[np.float64]:
    return np.abs(_estimates(system, by)(results) - TRUTH[system])


@quantity
def _finds(
    results: Results, /, part: str, holds: Callable[[set[str]], bool], **point: str
) -> NDArray[np.float64]:
    """Return how often a condition on the selected features holds."""
    return percent(holds(set(run["selected"])) for run in results.of(part, **point))


def _both(start: str) -> Quantity:
    return _finds("synergy", lambda names: names >= {"X1", "X2"}, start=start)


@quantity
def _null(results: Results, key: str) -> NDArray[np.float64]:
    return np.array([float(run[key]) for run in results.of("null")])


CLAIMS: Claims = {
    "2.1: mutual information symmetric, non-negative, bounded by entropies": _largest(_excess),
    "2.1: conditioning leaves, lowers or raises information": _three_effects(),
    "2.1: redundancy and synergy at the same time": _of(
        "AND", lambda one: min(one["shared"], one["synergy"])
    ),
    "2.1: equal MI and CMI despite an interaction": (
        _of("cancelling", lambda one: one["cmi1"] - one["mi1"]),
        _of("cancelling", lambda one: min(one["shared"], one["synergy"])),
    ),
    "2.1: independent noise decodes": (
        _of("XOR", lambda one: max(one["between"], one["mi2"])),
        _of("XOR", lambda one: one["cmi1"] - one["mi1"]),
    ),
    "2.2: atoms add up": _largest(lambda one: one["joint"] - sum(one[name] for name in ATOMS)),
    "2.2: atoms are not negative": _largest(lambda one: min(0.0, *(one[name] for name in ATOMS))),
    "2.2: classical terms do not determine the atoms": _of(
        "copy", lambda one: float(np.ptp([by["shared"] for by in one["atoms"].values()]))
    ),
    "2.2: unique information depends on pairs alone": _exact("same pairs"),
    "3.1: relevancy, unique and synergistic, is the CMI": _largest(
        lambda one: one["unique1"] + one["synergy"] - one["cmi1"]
    ),
    "3.1: MI misses synergy and includes redundancy": (
        _of("XOR", lambda one: one["cmi1"] - one["mi1"]),
        _of("same bit", lambda one: one["mi1"] - one["cmi1"]),
    ),
    "3.1: measures are qualitatively similar": _same_largest_atom(),
    "3.2: MI less CMI is shared less synergy": _largest(
        lambda one: one["mi2"] - one["cmi2"] - one["shared"] + one["synergy"]
    ),
    "5.1: all parts at once, in any shares": _shares_error(),
    "5.1: synergy of independent features": (
        _of("XOR", lambda one: one["between"]),
        _of("XOR", lambda one: one["synergy"]),
    ),
    "5.3: strongly relevant is unique or synergistic": _largest(
        lambda one: float((one["cmi1"] > 1e-5) != (one["unique1"] + one["synergy"] > 1e-5))
    ),
    "5.3: copies have neither unique information nor synergy": _of(
        "same bit", lambda one: one["unique1"] + one["synergy"]
    ),
    "5.3: fully redundant without being copies": (
        _of("redundant", lambda one: max(one["unique1"], one["unique2"], one["synergy"])),
        _of("redundant", lambda one: one["entropy1"] - one["between"]),
    ),
    "5.3: a weakly relevant feature is redundant with the set": {
        name: _exact("weakly relevant", name, "atoms", "broja", "shared")
        for name in WEAKLY_RELEVANT
    },
    "5.3: strongly, one weakly and no irrelevant feature selected": _finds(
        "relevance", lambda names: names in ({"strong", "weak 1"}, {"strong", "weak 2"})
    ),
    "5.3: BROJA measures which information, not how much": (
        _exact("cases", "copy", "atoms", "broja", "shared"),
        _exact("cases", "copy", "atoms", "imin", "shared"),
    ),
    "5.5: nearest neighbours have less error than bins": {
        f"{system}, {ESTIMATES[by]}": _error(system, by) - _error(system, "ksg")
        for system in TRUTH
        for by in ("count", "width")
    },
    "5.5: nearest neighbours are not free of bias": (
        -1.0 * (_estimates("sum", "ksg") - TRUTH["sum"])
    ),
    "5.5: forward selection misses a purely synergistic pair": _both("single"),
    "5.5: pairs find it": _both("pairs"),
    "5.5: random subsets find it": _both("random"),
    "B: estimates may be negative": _null("negative"),
    "B: family-wise error rate controlled": 100.0 * (_null("selected") - ALPHA),
    "B: maximum statistic equals Dunn and Sidak": _null("maximum") - _null("sidak"),
}

PARTS = (
    Part("exact", run_exact, runs=1, quick_runs=1, seconds=0.3),
    Part("bias", run_bias, [{"system": system} for system in TRUTH], 50, seconds=0.02),
    Part("null", run_null, runs=400, quick_runs=20, seconds=0.35),
    Part("relevance", run_relevance, seconds=0.05),
    Part("synergy", run_synergy, [{"start": start} for start in STARTS], seconds=0.05),
)

TABLES = {
    "bias": grid(
        _estimates,
        {system: f"{system}, true value {truth:g}" for system, truth in TRUTH.items()},
        ESTIMATES,
    ),
}
