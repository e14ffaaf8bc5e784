"""The slow, obvious twin of every decomposition: definitions as loops over plain dicts.

A distribution is a dict from outcomes (s_1, ..., s_n, t) to probabilities above 0; a set of
sources is a frozenset of numbers from 1; an antichain is a frozenset of such sets. All values are
in nats. Below the twins are distributions to try them on, and ways to change a distribution that
should, or should not, change its atoms.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Iterable, Mapping, Sequence
from functools import cache
from itertools import combinations, product
from math import inf, log
from typing import NamedTuple

import numpy as np
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays
from numpy.typing import NDArray
from scipy.optimize import linprog

Array = NDArray[np.float64]
Outcome = tuple[int, ...]
Distribution = Mapping[Outcome, float]
Sources = frozenset[int]
Antichain = frozenset[Sources]


def to_dict(pmf: Array) -> Distribution:
    """Return the outcomes above 0 of a joint distribution, the target last."""
    return {outcome: float(p) for outcome, p in np.ndenumerate(pmf) if p > 0}


def marginal(distribution: Distribution, axes: Iterable[int]) -> Distribution:
    """Return the distribution of some of the variables."""
    axes = tuple(axes)
    sums: dict[Outcome, float] = defaultdict(float)
    for outcome, p in distribution.items():
        sums[tuple(outcome[axis] for axis in axes)] += p
    return sums


def states(sources: Sources, outcome: Outcome) -> Outcome:
    """Return what the sources are in an outcome."""
    return tuple(outcome[source - 1] for source in sorted(sources))


# --- the lattice --------------------------------------------------------------------------------


@cache
def antichains(n_sources: int) -> tuple[Antichain, ...]:
    """Return all collections of sets of sources in which no set contains another."""
    sets = _nonempty_subsets(range(1, n_sources + 1))
    return tuple(
        collection
        for collection in _nonempty_subsets(sets)
        if not any(a < b for a in collection for b in collection)
    )


def _nonempty_subsets(items: Iterable) -> list[frozenset]:
    items = list(items)
    sizes = range(1, len(items) + 1)
    return [frozenset(some) for size in sizes for some in combinations(items, size)]


def is_below(lower: Antichain, upper: Antichain) -> bool:
    """Return whether each set of the upper contains a set of the lower; each is below itself."""
    return all(any(a <= b for a in lower) for b in upper)


def label(antichain: Antichain) -> str:
    """Return an antichain as it is written, such as "{1}{2,3}"."""
    members = sorted(tuple(sorted(sources)) for sources in antichain)
    return "".join("{" + ",".join(map(str, sources)) + "}" for sources in members)


@cache
def below(n_sources: int) -> Mapping[Antichain, tuple[Antichain, ...]]:
    """Return for each antichain all others that are below it."""
    every = antichains(n_sources)
    return {a: tuple(b for b in every if b != a and is_below(b, a)) for a in every}


def atoms(redundancy: Callable[[Antichain], float], n_sources: int) -> dict[str, float]:
    """Return the atoms by label: redundancy is the sum of all atoms at and below an antichain."""
    found: dict[Antichain, float] = {}

    def atom(antichain: Antichain) -> float:
        if antichain not in found:
            lower = below(n_sources)[antichain]
            found[antichain] = redundancy(antichain) - sum(atom(other) for other in lower)
        return found[antichain]

    return {label(antichain): atom(antichain) for antichain in antichains(n_sources)}


# --- measures -----------------------------------------------------------------------------------


def information(pmf: Array, sources: Iterable[int], given: Iterable[int] = ()) -> float:
    """Return I(sources; target | given)."""
    joint, last = to_dict(pmf), pmf.ndim - 1
    x, s = ({source - 1 for source in group} for group in (sources, given))
    entropies = [
        -sum(p * log(p) for p in marginal(joint, axes).values())
        for axes in (x | s, s | {last}, s, x | s | {last})
    ]
    return entropies[0] + entropies[1] - entropies[2] - entropies[3]


def specific_information(pmf: Array, sources: Sources, t: int) -> float:
    """Return the sum over a of p(a|t) ln(p(t|a) / p(t)), a being states of the sources."""
    last = pmf.ndim - 1
    axes = [source - 1 for source in sorted(sources)]
    joint = marginal(to_dict(pmf), [*axes, last])
    alone, target = marginal(joint, range(len(axes))), marginal(joint, [len(axes)])
    total = 0.0
    for (*a, state), p in joint.items():
        if state == t:
            total += p / target[(t,)] * log(p / alone[tuple(a)] / target[(t,)])
    return total


def imin(pmf: Array) -> dict[str, float]:
    """Williams and Beer: the mean over target states of the least specific information."""
    target = marginal(to_dict(pmf), [pmf.ndim - 1])

    @cache
    def specific(sources: Sources, t: int) -> float:
        return specific_information(pmf, sources, t)

    def redundancy(antichain: Antichain) -> float:
        return sum(p * min(specific(a, t) for a in antichain) for (t,), p in target.items())

    return atoms(redundancy, pmf.ndim - 1)


def mmi(pmf: Array) -> dict[str, float]:
    """The least mutual information of a member with the target."""

    @cache
    def of(sources: Sources) -> float:
        return information(pmf, sources)

    return atoms(lambda antichain: min(of(a) for a in antichain), pmf.ndim - 1)


class SharedExclusions(NamedTuple):
    atoms: dict[str, float]
    informative: dict[str, float]
    misinformative: dict[str, float]


def sx(pmf: Array) -> SharedExclusions:
    """Makkeh et al.: the mean of ln P(t|W) / P(t), W meaning that some member is as observed."""
    joint = to_dict(pmf)
    target = marginal(joint, [pmf.ndim - 1])

    def is_in_union(antichain: Antichain, other: Outcome, outcome: Outcome) -> bool:
        return any(states(a, other) == states(a, outcome) for a in antichain)

    def informative(antichain: Antichain) -> float:
        mean = 0.0
        for outcome, p in joint.items():
            agree = [q for other, q in joint.items() if is_in_union(antichain, other, outcome)]
            mean -= p * log(sum(agree))
        return mean

    def misinformative(antichain: Antichain) -> float:
        mean = 0.0
        for outcome, p in joint.items():
            agree = [
                q
                for other, q in joint.items()
                if other[-1] == outcome[-1] and is_in_union(antichain, other, outcome)
            ]
            mean += p * log(target[outcome[-1:]] / sum(agree))
        return mean

    parts = [atoms(part, pmf.ndim - 1) for part in (informative, misinformative)]
    return SharedExclusions({key: parts[0][key] - parts[1][key] for key in parts[0]}, *parts)


def broja(pmf: Array, n_rounds: int = 1000) -> dict[str, float]:
    """Bertschinger et al.: the least I_q(T; X1 | X2) over all q with the same (x, t) marginals.

    That is the least divergence of q from p(t,x2) r(x1|x2) over all q and r, found in turn: the
    best r for a q is q(x1|x2), the best q for an r comes by fitting the marginals in turn. The
    result only ever falls, and is never below the true one.
    """
    with_first, with_second = pmf.sum(axis=1, keepdims=True), pmf.sum(axis=0, keepdims=True)
    q = with_first * with_second / np.maximum(pmf.sum(axis=(0, 1)), 1e-300)
    for _ in range(n_rounds):
        pair = q.sum(axis=2, keepdims=True)
        q = with_second * pair / np.maximum(pair.sum(axis=0, keepdims=True), 1e-300)
        for _ in range(30):
            q = q * with_first / np.maximum(q.sum(axis=1, keepdims=True), 1e-300)
            q = q * with_second / np.maximum(q.sum(axis=0, keepdims=True), 1e-300)
    unique = information(q, [1], given=[2])
    shared = information(pmf, [1]) - unique
    return {
        "{1}{2}": shared,
        "{1}": unique,
        "{2}": information(pmf, [2]) - shared,
        "{1,2}": information(pmf, [1], given=[2]) - unique,
    }


PAIRS = ((0, 1), (0, 2), (1, 2))


def possible_outcomes(distribution: Distribution) -> set[Outcome]:
    """Return the outcomes above 0 in some distribution with the same two-variable marginals.

    For each outcome, the most that a distribution can give it. That this is above 0 depends on
    which outcomes are possible already, not on how probable they are, so these all get 1.
    """
    ranges = [sorted({outcome[axis] for outcome in distribution}) for axis in range(3)]
    outcomes = list(product(*ranges))
    sums, totals = [], []
    for i, j in PAIRS:
        for pair in product(ranges[i], ranges[j]):
            sums.append([float((outcome[i], outcome[j]) == pair) for outcome in outcomes])
            totals.append(float(sum((outcome[i], outcome[j]) == pair for outcome in distribution)))
    most = [
        -linprog([-float(outcome == other) for other in outcomes], A_eq=sums, b_eq=totals).fun
        for outcome in outcomes
    ]
    return {outcome for outcome, value in zip(outcomes, most, strict=True) if value > 1e-4}


def maximum_entropy(distribution: Distribution, n_rounds: int = 3000) -> Distribution | None:
    """Return the distribution of largest entropy with these two-variable marginals, by scaling.

    Scale to one marginal after the other until all fit to rounding (iterative proportional
    fitting), from all possible outcomes alike; None if that takes more rounds.
    """
    marginals = {pair: marginal(distribution, pair) for pair in PAIRS}
    q = dict.fromkeys(sorted(possible_outcomes(distribution)), 1.0)
    for _ in range(n_rounds):
        error = 0.0
        for pair in PAIRS:
            present = marginal(q, pair)
            for (i, j), p in marginals[pair].items():
                error = max(error, abs(present[i, j] - p))
            q = {
                outcome: p * marginals[pair][key] / present[key]
                for outcome, p in q.items()
                for key in [(outcome[pair[0]], outcome[pair[1]])]
            }
        if error < 1e-15:
            return q
    return None


def ccs(pmf: Array) -> dict[str, float] | None:
    """Ince: the mean of i(a;t) + i(b;t) - i(ab;t) where all these have one sign.

    None if the distribution of largest entropy, under which it is meant, is not found by scaling.
    """
    q = maximum_entropy(to_dict(pmf))
    if q is None:
        return None
    one = {axes: marginal(q, axes) for axes in ((0,), (1,), (2,), (0, 1), (0, 2), (1, 2))}
    shared = 0.0
    for (a, b, t), p in q.items():
        first = log(one[0, 2][a, t] / one[(0,)][(a,)] / one[(2,)][(t,)])
        second = log(one[1, 2][b, t] / one[(1,)][(b,)] / one[(2,)][(t,)])
        both = log(p / one[0, 1][a, b] / one[(2,)][(t,)])
        common = first + second - both
        if len({_sign(i) for i in (common, first, second, both)}) == 1:
            shared += p * common
    redundancies = {"{1}{2}": shared}

    def redundancy(antichain: Antichain) -> float:
        (sources, *more) = antichain
        return redundancies[label(antichain)] if more else information(pmf, sources)

    return atoms(redundancy, 2)


def _sign(value: float) -> int:
    return 0 if abs(value) < 1e-10 else 1 if value > 0 else -1


# --- distributions to try -----------------------------------------------------------------------


@st.composite
def pmfs(draw: st.DrawFn, n_sources: int = 2, most_states: int = 3, fewest: int = 0) -> Array:
    """Return joint distributions of small integer weights: many zeros, ties and coincidences.

    A power makes half of them skewed. With `fewest` 1 all outcomes are possible.
    """
    sizes = st.tuples(*[st.integers(1, most_states)] * (n_sources + 1))
    weights = draw(
        arrays(np.float64, sizes, elements=st.integers(fewest, 9).map(float)).filter(np.any)
    )
    weights = weights ** draw(st.sampled_from([1, 5]))
    return weights / weights.sum()


def permute_states(pmf: Array, seed: int) -> Array:
    """Rename the states of every variable."""
    rng = np.random.default_rng(seed)
    for axis, size in enumerate(pmf.shape):
        pmf = np.take(pmf, rng.permutation(size), axis=axis)
    return pmf


def add_impossible_states(pmf: Array, seed: int) -> Array:
    """Give every variable states that never occur."""
    before = np.random.default_rng(seed).integers(0, 3, (pmf.ndim, 2))
    return np.pad(pmf, before)


def split_state(pmf: Array, axis: int, share: float = 0.3) -> Array:
    """Make two of a variable's first state that tell the same, chosen by an independent coin."""
    first, rest = np.split(pmf, [1], axis=axis)
    return np.concatenate([share * first, (1 - share) * first, rest], axis=axis)


def swap_sources(pmf: Array, order: Sequence[int]) -> Array:
    """Let source k be what source order[k] was, counted from 0."""
    return pmf.transpose(*order, pmf.ndim - 1)


def swap_label(text: str, order: Sequence[int]) -> str:
    """Return the label, after `swap_sources`, of what had this label before."""
    members = [map(int, member.split(",")) for member in text[1:-1].split("}{")]
    place = {source + 1: new + 1 for new, source in enumerate(order)}
    return label(frozenset(frozenset(place[source] for source in member) for member in members))


def largest_difference(first: Mapping[str, float], second: Mapping[str, float]) -> float:
    """Return how far apart two decompositions are, infinite if they have not the same atoms."""
    if first.keys() != second.keys():
        return inf
    return max(abs(first[key] - second[key]) for key in first)
