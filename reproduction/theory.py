"""Sections 2, 3.1, 3.2, 5.1, 5.3 and 5.5, Appendix B: definitions, arguments and the test."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from itertools import product
from typing import Any

import numpy as np
from numpy.typing import NDArray

from pidselect import decompose_distribution
from pidselect.data import Block, read_block
from pidselect.datasets import SyntheticDataset
from pidselect.estimators import ESTIMATORS
from pidselect.estimators.base import Batch
from pidselect.significance import maximum_statistic, p_values, permutations
from reproduction.experiment import (
    Cell,
    Claims,
    Outcome,
    Part,
    Results,
    attempt,
    panel,
    percent,
)
from reproduction.experiment import means as mean_series
from reproduction.information import ALPHA, ATOMS, N_SAMPLES, PAPER, select, term
from reproduction.redundancy import CASES, information_between

#: Measures of redundancy that satisfy the axioms of Williams and Beer, and BROJA.
AXIOMATIC = ("broja", "imin", "mmi")

#: Random distributions of two features and a target of three states each.
N_RANDOM = 20

#: Shared, unique and synergistic bits of distributions made to have them.
SHARES = ((1.0, 0.5, 0.25), (0.1, 0.8, 0.1), (0.3, 0.0, 0.7), (0.5, 0.5, 0.0), (0.0, 0.2, 0.9))

#: Null tables: samples, candidates, and permutations for p-values of single candidates.
NULL_SAMPLES, NULL_CANDIDATES, NULL_PERMUTATIONS = 200, 10, 1000

#: Key of the random stream of these permutations.
STREAM = 41

#: How a selection starts from nothing, and its settings beside the paper's.
STARTS: dict[str, tuple[str, dict[str, Any]]] = {
    "single": ("single features", {}),
    "pairs": ("pairs", {"lookahead": 2}),
    "random": ("random subsets", {"n_random_starts": 20}),
}
ESTIMATES = {"ksg": "KSG", "count": "plug-in, equal counts", "width": "plug-in, equal width"}
ROLES = {"ksg": "mi", "count": "mi2", "width": "second"}

#: True I(X;Y|S) of the two systems on which estimates are compared.
TRUTH = {"independent": 0.0, "sum": 0.5}

# ---------------------------------------------------------------------------------- distributions


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


def _atoms(pmf: NDArray[np.float64], measure: str = "broja") -> dict[str, float]:
    found = decompose_distribution(pmf, measure=measure)
    values = (*found.unique, found.shared, found.synergy)
    return {name: float(value) for name, value in zip(ATOMS, values, strict=True)}


def _terms(pmf: NDArray[np.float64]) -> dict[str, float]:
    """Return information terms of two features and a target, in bits."""
    asked: dict[str, Sequence[Sequence[int]]] = {
        "mi1": ([0], [2]),
        "mi2": ([1], [2]),
        "mi of Y and F1": ([2], [0]),
        "cmi1": ([0], [2], [1]),
        "cmi2": ([1], [2], [0]),
        "joint": ([0, 1], [2]),
        "between": ([0], [1]),
        "entropy1": ([0], [0]),
        "entropy of Y": ([2], [2]),
    }
    return {name: information_between(pmf, *axes) for name, axes in asked.items()}


def _described(pmf: NDArray[np.float64]) -> Outcome:
    by_measure = {measure: _atoms(pmf, measure) for measure in AXIOMATIC}
    return {"atoms": by_measure, "terms": _terms(pmf)}


# ------------------------------------------------------------------------------------------- runs


def run_exact(seed: int) -> Outcome:
    """Compute terms and atoms of known and of random distributions."""
    rng = np.random.default_rng(seed)
    dependent = [rng.dirichlet(np.ones(27)).reshape(3, 3, 3) for _ in range(N_RANDOM)]
    moved = []
    for pmf in dependent:  # F1 and F2 independent given Y, with the same pairs (F1,Y) and (F2,Y)
        pairs = pmf.sum(axis=1)[:, np.newaxis], pmf.sum(axis=0)[np.newaxis]
        first, second = (_atoms(one) for one in (pmf, pairs[0] * pairs[1] / pmf.sum(axis=(0, 1))))
        moved.append(max(abs(first[name] - second[name]) for name in ("unique1", "unique2")))
    return {
        "cases": {name: _described(make()) for name, make in CASES.items()},
        "random": [_described(pmf) for pmf in dependent],
        "same pairs": max(moved),
        "shares": [_described(with_shares(*shares)) for shares in SHARES],
        "cancelling": _described(with_shares(1.0, 0.0, 1.0)),
        "redundant": _described(REDUNDANT),
        "weakly relevant": {name: _described(pmf) for name, pmf in WEAKLY_RELEVANT.items()},
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
    return {"selected": _discrete(seed, columns, y, **STARTS[start][1])}


# ----------------------------------------------------------------------------------------- claims


def _exact(results: Results) -> Outcome:
    return results.of("exact")[0]


def _everything(results: Results) -> list[Outcome]:
    """Return terms and atoms of all known and random distributions."""
    found = _exact(results)
    return [*found["cases"].values(), *found["random"], *found["shares"], found["cancelling"]]


def _case(results: Results, name: str) -> dict[str, float]:
    """Return terms and atoms by BROJA of a known distribution."""
    found = _exact(results)["cases"][name]
    return {**found["terms"], **found["atoms"]["broja"]}


def _largest(results: Results, of: Callable[[dict[str, float]], float]) -> list[float]:
    """Return the largest absolute value of an expression over all distributions."""
    seen = ({**one["terms"], **one["atoms"]["broja"]} for one in _everything(results))
    return [max(abs(of(one)) for one in seen)]


def _excess(terms: dict[str, float]) -> float:
    """Return by how much mutual information violates a property of it."""
    low = min(terms["mi1"], terms["mi2"], terms["joint"], 0.0)
    high = max(terms["mi1"] - terms["entropy1"], terms["mi1"] - terms["entropy of Y"], 0.0)
    return high - low + abs(terms["mi1"] - terms["mi of Y and F1"])


def _three_effects(results: Results) -> list[float]:
    signs = {"copy": 0.0, "same bit": -1.0, "XOR": 1.0}
    changes = {name: _case(results, name)["cmi1"] - _case(results, name)["mi1"] for name in signs}
    return [float(sum(np.sign(round(changes[name], 9)) == sign for name, sign in signs.items()))]


def _same_largest_atom(results: Results) -> list[float]:
    """Return the number of known distributions with one largest atom by all measures."""
    found = 0
    for case in _exact(results)["cases"].values():
        tops = [
            {name for name in ATOMS if one[name] > max(one.values()) - 1e-6}
            for one in case["atoms"].values()
        ]
        found += bool(set.intersection(*tops))
    return [float(found)]


def _shares_error(results: Results) -> list[float]:
    errors = []
    for wanted, found in zip(SHARES, _exact(results)["shares"], strict=True):
        one = found["atoms"]["broja"]
        values = zip(wanted, (one["shared"], one["unique1"], one["synergy"]), strict=True)
        errors += [*(abs(want - value) for want, value in values), abs(one["unique2"])]
    return [max(errors)]


def _errors(results: Results, system: str, by: str) -> NDArray[np.float64]:
    return np.array([run[by] for run in results.of("bias", system=system)]) - TRUTH[system]


def _less_error(results: Results) -> dict[str, NDArray[np.float64]]:
    return {
        f"{system}, {ESTIMATES[by]}": np.abs(_errors(results, system, by))
        - np.abs(_errors(results, system, "ksg"))
        for system in TRUTH
        for by in ("count", "width")
    }


def _finds_both(results: Results, start: str) -> NDArray[np.float64]:
    runs = results.of("synergy", start=start)
    return percent({"X1", "X2"} <= set(run["selected"]) for run in runs)


def _right_relevance(results: Results) -> NDArray[np.float64]:
    wanted = ({"strong", "weak 1"}, {"strong", "weak 2"})
    return percent(set(run["selected"]) in wanted for run in results.of("relevance"))


def _null(results: Results, key: str) -> NDArray[np.float64]:
    return np.array([float(run[key]) for run in results.of("null")])


def _redundant(results: Results) -> dict[str, float]:
    found = _exact(results)["redundant"]
    return {**found["terms"], **found["atoms"]["broja"]}


def _cancelling(results: Results) -> dict[str, float]:
    found = _exact(results)["cancelling"]
    return {**found["terms"], **found["atoms"]["broja"]}


CLAIMS: Claims = {
    "2.1: mutual information symmetric, non-negative, bounded by entropies": lambda r: _largest(
        r, _excess
    ),
    "2.1: conditioning leaves, lowers or raises information": _three_effects,
    "2.1: redundancy and synergy at the same time": lambda r: [
        min(_case(r, "AND")["shared"], _case(r, "AND")["synergy"])
    ],
    "2.1: equal MI and CMI despite an interaction": (
        lambda r: [_cancelling(r)["cmi1"] - _cancelling(r)["mi1"]],
        lambda r: [min(_cancelling(r)["shared"], _cancelling(r)["synergy"])],
    ),
    "2.1: independent noise decodes": (
        lambda r: [max(_case(r, "XOR")["between"], _case(r, "XOR")["mi2"])],
        lambda r: [_case(r, "XOR")["cmi1"] - _case(r, "XOR")["mi1"]],
    ),
    "2.2: atoms add up": lambda r: _largest(
        r, lambda one: one["joint"] - sum(one[name] for name in ATOMS)
    ),
    "2.2: atoms are not negative": lambda r: _largest(
        r, lambda one: min(0.0, *(one[name] for name in ATOMS))
    ),
    "2.2: classical terms do not determine the atoms": lambda r: [
        float(np.ptp([one["shared"] for one in _exact(r)["cases"]["copy"]["atoms"].values()]))
    ],
    "2.2: unique information depends on pairs alone": lambda r: [_exact(r)["same pairs"]],
    "3.1: relevancy, unique and synergistic, is the CMI": lambda r: _largest(
        r, lambda one: one["unique1"] + one["synergy"] - one["cmi1"]
    ),
    "3.1: MI misses synergy and includes redundancy": (
        lambda r: [_case(r, "XOR")["cmi1"] - _case(r, "XOR")["mi1"]],
        lambda r: [_case(r, "same bit")["mi1"] - _case(r, "same bit")["cmi1"]],
    ),
    "3.1: measures are qualitatively similar": _same_largest_atom,
    "3.2: MI less CMI is shared less synergy": lambda r: _largest(
        r, lambda one: one["mi2"] - one["cmi2"] - one["shared"] + one["synergy"]
    ),
    "5.1: all parts at once, in any shares": _shares_error,
    "5.1: synergy of independent features": (
        lambda r: [_case(r, "XOR")["between"]],
        lambda r: [_case(r, "XOR")["synergy"]],
    ),
    "5.3: strongly relevant is unique or synergistic": lambda r: _largest(
        r, lambda one: float((one["cmi1"] > 1e-5) != (one["unique1"] + one["synergy"] > 1e-5))
    ),
    "5.3: copies have neither unique information nor synergy": lambda r: [
        _case(r, "same bit")["unique1"] + _case(r, "same bit")["synergy"]
    ],
    "5.3: fully redundant without being copies": (
        lambda r: [max(_redundant(r)[name] for name in ("unique1", "unique2", "synergy"))],
        lambda r: [_redundant(r)["entropy1"] - _redundant(r)["between"]],
    ),
    "5.3: a weakly relevant feature is redundant with the set": lambda r: {
        name: [one["atoms"]["broja"]["shared"]]
        for name, one in _exact(r)["weakly relevant"].items()
    },
    "5.3: strongly, one weakly and no irrelevant feature selected": _right_relevance,
    "5.3: BROJA measures which information, not how much": (
        lambda r: [_case(r, "copy")["shared"]],
        lambda r: [_exact(r)["cases"]["copy"]["atoms"]["imin"]["shared"]],
    ),
    "5.5: nearest neighbours have less error than bins": _less_error,
    "5.5: nearest neighbours are not free of bias": lambda r: -_errors(r, "sum", "ksg"),
    "5.5: forward selection misses a purely synergistic pair": lambda r: _finds_both(r, "single"),
    "5.5: pairs find it": lambda r: _finds_both(r, "pairs"),
    "5.5: random subsets find it": lambda r: _finds_both(r, "random"),
    "B: estimates may be negative": lambda r: _null(r, "negative"),
    "B: family-wise error rate controlled": lambda r: 100.0 * (_null(r, "selected") - ALPHA),
    "B: maximum statistic equals Dunn and Sidak": lambda r: _null(r, "maximum") - _null(r, "sidak"),
}

# -------------------------------------------------------------------------------- table and figure


def _bias_table(results: Results) -> Iterable[Cell]:
    for system, truth in TRUTH.items():
        for by, label in ESTIMATES.items():
            errors = np.array(attempt(_errors, results, system, by))
            yield Cell(f"{system}, true value {truth:g}", label, errors + truth)


def _synergy_table(results: Results) -> Iterable[Cell]:
    for start, (label, _) in STARTS.items():
        yield Cell(label, "both found", attempt(_finds_both, results, start))


def _panels(results: Results) -> Iterable[Any]:
    seen = [system for system in TRUTH if len(attempt(_errors, results, system, "ksg"))]
    series = [
        mean_series(label, ROLES[by], seen, [_errors(results, one, by) for one in seen])
        for by, label in ESTIMATES.items()
    ]
    yield seen and panel("Error of I(X;Y|S)", "bars", series, y_label="bit")
    if runs := attempt(lambda: results.of("null")):
        levels = np.linspace(0.05, 1.0, 20)
        shares = {
            key: [100.0 * (_null(results, key)[:, np.newaxis] <= levels).mean(axis=0)]
            for key in ("maximum", "sidak")
        }
        series = [
            mean_series(label, role, levels, np.array(shares[key]).T)
            for key, label, role in (
                ("maximum", "maximum statistic", "first"),
                ("sidak", "Dunn and Sidak", "second"),
            )
        ]
        labels = {"x_label": "level", "y_label": "significant, % of runs"}
        yield panel(f"Null tables ({len(runs)} runs)", "lines", series, **labels)


PARTS = (
    Part("exact", run_exact, runs=1, quick_runs=1, seconds=0.3),
    Part("bias", run_bias, [{"system": system} for system in TRUTH], 50, seconds=0.02),
    Part("null", run_null, runs=400, quick_runs=20, seconds=0.35),
    Part("relevance", run_relevance, seconds=0.05),
    Part("synergy", run_synergy, [{"start": start} for start in STARTS], seconds=0.05),
)

TABLES = {
    "bias": _bias_table,
    "synergy": _synergy_table,
}

FIGURES = {
    "theory": _panels,
}
