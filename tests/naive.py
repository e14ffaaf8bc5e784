"""The slow, obvious twin of every fast path: each function is its formula and nothing more.

These functions define the truth; a fast path is right when it agrees with them. They take plain
arrays, one row a sample and one column a variable, shape (n, d), and return nats. Distances are
whole (n, n) matrices. Nothing is scaled inside an estimator of neighbours: `zscore` and
`normal_scores` come before it.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Sequence
from fractions import Fraction
from functools import lru_cache, partial
from itertools import pairwise
from math import floor, frexp, fsum, inf, ldexp, log, nan, sqrt
from statistics import median
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy.special import digamma, ndtri
from scipy.stats import rankdata

Array = NDArray[np.float64]
Rows = NDArray[np.int64]

FAR = 1e300
"""The distance of a missing number to a number: larger than any other, yet finite."""


# --- scaling ------------------------------------------------------------------------------------


def zscore(columns: Array) -> Array:
    """Return each column divided by its standard deviation (ddof=1) and centred, about.

    Missing values stay missing and do not count. A column on a lattice is counted in its steps,
    as integers, and multiplied by 1 / std rounded to a few bits, so that no product is rounded.
    Any other is (v - mean) / std, rounded to a small part of the gaps between its values.
    """
    return np.array([_zscore(column) for column in columns.T]).reshape(columns.T.shape).T


def _zscore(column: Array) -> Array:
    present = tuple(sorted(column[~np.isnan(column)].tolist()))
    score = _scores(present)
    return np.array([score.get(value, nan) for value in column.tolist()])


@lru_cache(maxsize=1000)
def _scores(present: tuple[float, ...]) -> dict[float, float]:
    """Return the score of every value."""
    if len(set(present)) <= 1:
        return dict.fromkeys(present, 0.0)
    values = [Fraction(value) for value in present]
    levels = sorted(set(values))
    steps = lattice(levels)
    numbers = steps or {level: level for level in levels}
    mean = Fraction(sum(numbers[value] for value in values)) / len(values)
    squares = sum((numbers[value] - mean) ** 2 for value in values)
    deviation = _root(squares / (len(values) - 1))
    if steps:
        bits = min(26, 52 - max(steps.values()).bit_length())
        fraction, exponent = frexp(1 / deviation)
        factor = Fraction(round(fraction * 2**bits)) * Fraction(2) ** (exponent - bits)
        return {float(v): float((step - round(mean)) * factor) for v, step in steps.items()}
    score = {float(v): float((v - mean) / Fraction(deviation)) for v in levels}
    gaps = np.diff(list(score.values()))
    smallest, usual = float(np.min(gaps)), float(np.sort(gaps)[len(gaps) // 2])
    unit = 2.0 ** (min(frexp(smallest)[1] - 2, frexp(usual)[1] - 23))
    if smallest == 0 or max(score.values()) - min(score.values()) >= 2.0**52 * unit:
        return score
    return {value: round(number / unit) * unit for value, number in score.items()}


def _root(variance: Fraction) -> float:
    """Return the square root, also where the variance is not within the range of floats."""
    shift = (variance.numerator.bit_length() - variance.denominator.bit_length()) // 2
    return ldexp(sqrt(variance / Fraction(4) ** shift), shift)


def lattice(levels: Sequence[Fraction]) -> dict[Fraction, int] | None:
    """Return ascending numbers as multiples of a step above the first; None where there is none.

    The step is the smallest gap or an integer part of it, down to a thousandth. Numbers of 64 bits
    may be off by 2^-44 of the largest, those of 32 bits by 2^-22; they are equal only if they are
    so by their median size. A lattice of many steps takes many levels: else all numbers had one.
    """
    span, size = levels[-1] - levels[0], max(-levels[0], levels[-1])
    power = Fraction(2) ** frexp(size)[1]
    are_single = all(float(np.float32(float(v / power))) == v / power for v in levels)
    gaps, offsets = [b - a for a, b in pairwise(levels)], [v - levels[0] for v in levels]
    usual = median(map(abs, levels))
    for bits in (22, 44)[not are_single :]:
        error = power / 2**bits
        evidence = max(3, ((bits - 4) * (len(gaps) - 1) - 20) / len(gaps))
        if any(4 * error * usual / power < gap <= 4 * error for gap in gaps):
            continue
        smallest = min(gap for gap in gaps if gap > 4 * error)
        for part in range(1, 1001):
            n_steps = round(span / (smallest / part))
            step = span / n_steps
            if step < 64 * error or n_steps > 2**evidence:
                break
            if all(abs(round(offset / step) * step - offset) <= 8 * error for offset in offsets):
                return {level: round((level - levels[0]) / step) for level in levels}
    return None


def normal_scores(columns: Array) -> Array:
    """Return each column's normal scores with standard deviation 1 (ddof=1), missing stay missing.

    The score of average rank r is the r / (n + 1) quantile of the standard normal distribution,
    taken from the lower half and mirrored; nothing is centred. The deviation is summed exactly, so
    that columns alike up to their order or their sign have scores alike to the last bit.
    """
    return np.array([_normal_scores(column) for column in columns.T]).reshape(columns.T.shape).T


def _normal_scores(column: Array) -> Array:
    present = column[~np.isnan(column)]
    n = len(present)
    scores = [
        ndtri(r / (n + 1)) if r <= n + 1 - r else -ndtri((n + 1 - r) / (n + 1))
        for r in rankdata(present)
    ]
    if len(set(scores)) > 1:
        mean = fsum(scores) / n
        deviation = sqrt(fsum((score - mean) ** 2 for score in scores) / (n - 1))
        scores = [score / deviation for score in scores]
    else:
        scores = [0.0] * n
    found = np.full(len(column), nan)
    found[~np.isnan(column)] = scores
    return found


# --- nearest neighbours -------------------------------------------------------------------------


def distances(block: Array, nominal: Sequence[int] = ()) -> Array:
    """Return the distances of all samples to all, shape (n, n), in the maximum norm.

    A number differs by |a - b|; a missing number by 0 from a missing one and by `FAR` from any
    other. A label (the columns in `nominal`) differs by 0 or 1, missing being one more label.
    """
    largest = np.zeros((len(block), len(block)))
    for j, column in enumerate(block.T):
        missing = np.isnan(column)
        apart = np.abs(column[:, None] - column[None, :])
        apart[missing[:, None] ^ missing[None, :]] = FAR
        apart[missing[:, None] & missing[None, :]] = 0
        largest = np.maximum(largest, apart > 0 if j in nominal else apart)
    return largest


def others(matrix: Array) -> Array:
    """Return the distances with each sample's distance to itself out of reach."""
    return np.where(np.eye(len(matrix), dtype=bool), np.inf, matrix)


def ksg1(x: Array, y: Array, given: Array | None = None, k: int = 4) -> float:
    """Return I(x; y | S) by algorithm 1 of Kraskov, Stögbauer and Grassberger.

    psi(k) + < psi(n_S + 1) - psi(n_xS + 1) - psi(n_yS + 1) >, where n counts the other samples
    strictly inside the distance to the k-th neighbour in (x, y, S); without S,
    psi(k) + psi(N) - < psi(n_x + 1) + psi(n_y + 1) >.

    References
    ----------
    Kraskov, Stögbauer, Grassberger (2004), Phys. Rev. E 69, 066138, equation 8.
    Frenzel, Pompe (2007), Phys. Rev. Lett. 99, 204101.
    """
    dx, dy, ds = (others(block) for block in _blocks(x, y, given))
    dxs, dys = np.maximum(dx, ds), np.maximum(dy, ds)
    radius = np.sort(np.maximum(dxs, dys), axis=1)[:, k - 1, None]
    n_s, n_xs, n_ys = ((block < radius).sum(axis=1) for block in (ds, dxs, dys))
    if _nothing(given):
        n_s = len(x) - 1
    return float(digamma(k) + np.mean(digamma(n_s + 1) - digamma(n_xs + 1) - digamma(n_ys + 1)))


def ksg2(x: Array, y: Array, given: Array | None = None, k: int = 4) -> float:
    """Return I(x; y | S) by algorithm 2 of Kraskov, Stögbauer and Grassberger.

    psi(k) - 2/k + < psi(n_S) - psi(n_xS) - psi(n_yS) + 1/n_xS + 1/n_yS >; without S,
    psi(k) - 1/k + psi(N) - < psi(n_x) + psi(n_y) >. Each of x, y and S has its own radius, the
    largest distance in it among the k nearest neighbours in (x, y, S) and all others as near as the
    k-th, and n counts the other samples within all radii concerned, borders included.

    References
    ----------
    Kraskov, Stögbauer, Grassberger (2004), Phys. Rev. E 69, 066138, equation 9.
    Wibral, Vicente, Lindner (2014), in Directed Information Measures in Neuroscience.
    """
    dx, dy, ds = (others(block) for block in _blocks(x, y, given))
    joint = np.maximum(np.maximum(dx, dy), ds)
    near = joint <= np.sort(joint, axis=1)[:, k - 1, None]
    in_x, in_y, in_s = (
        block <= np.where(near, block, 0).max(axis=1, keepdims=True) for block in (dx, dy, ds)
    )
    n_xs, n_ys, n_s = ((box & in_s).sum(axis=1) for box in (in_x, in_y, in_s))
    if _nothing(given):
        mean = np.mean(digamma(n_xs) + digamma(n_ys))
        return float(digamma(k) - 1 / k + digamma(len(x)) - mean)
    mean = np.mean(digamma(n_s) - digamma(n_xs) - digamma(n_ys) + 1 / n_xs + 1 / n_ys)
    return float(digamma(k) - 2 / k + mean)


def mixed(
    x: Array,
    y: Array,
    given: Array | None = None,
    k: int = 4,
    *,
    nominal_x: Sequence[int] = (),
    nominal_y: Sequence[int] = (),
    nominal_given: Sequence[int] = (),
) -> float:
    """Return I(x; y | S) for any mixture of numbers and labels, by Mesner and Shalizi.

    < psi(k~) + psi(n_S) - psi(n_xS) - psi(n_yS) >, where rho is the distance to the k-th
    neighbour in (x, y, S), n counts the other samples at most rho away, and k~ does so in
    (x, y, S): k, or more where distances are tied. Without S, n_S = N - 1. The sample itself is
    never counted.

    References
    ----------
    Mesner, Shalizi (2019), IEEE Trans. Inf. Theory 67, 464-484.
    """
    dx = others(distances(x, nominal_x))
    dy = others(distances(y, nominal_y))
    ds = others(np.zeros_like(dx) if _nothing(given) else distances(given, nominal_given))
    dxs, dys = np.maximum(dx, ds), np.maximum(dy, ds)
    joint = np.maximum(dxs, dys)
    rho = np.sort(joint, axis=1)[:, k - 1, None]
    tilde, n_s, n_xs, n_ys = ((block <= rho).sum(axis=1) for block in (joint, ds, dxs, dys))
    return float(np.mean(digamma(tilde) + digamma(n_s) - digamma(n_xs) - digamma(n_ys)))


def _nothing(given: Array | None) -> bool:
    return given is None or given.shape[1] == 0


def _blocks(x: Array, y: Array, given: Array | None) -> tuple[Array, Array, Array]:
    dx, dy = distances(x), distances(y)
    return dx, dy, np.zeros_like(dx) if _nothing(given) else distances(given)


# --- counts and covariances ---------------------------------------------------------------------


def entropy(block: Array, correction: str | None = None) -> float:
    """Return the plug-in entropy -sum p log p of the rows, a block without columns having 0.

    A missing value is a level like any other. Miller and Madow add (K - 1) / 2N for K occupied
    cells.

    References
    ----------
    Miller (1955), Note on the bias of information estimates.
    """
    n = len(block)
    counts = Counter(tuple(None if v != v else v for v in row) for row in block.tolist())
    plug_in = -sum(count / n * log(count / n) for count in counts.values())
    return plug_in + (len(counts) - 1) / (2 * n) * (correction == "miller-madow")


def discrete(
    x: Array, y: Array, given: Array | None = None, correction: str | None = None
) -> float:
    """Return I(x; y | S) = H(x,S) + H(y,S) - H(S) - H(x,y,S) from counts of the levels."""
    s = np.empty((len(x), 0)) if given is None else given
    xs, ys, xys = np.hstack([x, s]), np.hstack([y, s]), np.hstack([x, y, s])
    return (
        entropy(xs, correction)
        + entropy(ys, correction)
        - entropy(s, correction)
        - entropy(xys, correction)
    )


def spread_out(block: Array, nominal: Sequence[int] = ()) -> Array:
    """Return numbers with 0 for the missing and indicators of labels and of what is missing.

    A label (the columns in `nominal`) has one indicator for each level but the first, missing being
    one more level. Numbers with some missing are centred first and get an indicator of missing.
    """
    columns = [np.empty((len(block), 0))]
    for j, column in enumerate(block.T):
        missing = np.isnan(column)
        if j in nominal:
            levels = [column == level for level in np.unique(column[~missing])] + [missing]
            columns.extend(one[:, None] for one in [one for one in levels if one.any()][1:])
        elif missing.any():
            columns.append(np.where(missing, 0.0, column - np.nanmean(column))[:, None])
            columns.append(missing[:, None])
        else:
            columns.append(column[:, None])
    return np.hstack(columns)


def gaussian(
    x: Array,
    y: Array,
    given: Array | None = None,
    *,
    nominal_x: Sequence[int] = (),
    nominal_y: Sequence[int] = (),
    nominal_given: Sequence[int] = (),
) -> float:
    """Return I(x; y | S) = 1/2 log( |C_xS| |C_yS| / (|C_S| |C_xyS|) ), C the covariances."""
    x, y = spread_out(x, nominal_x), spread_out(y, nominal_y)
    s = np.empty((len(x), 0)) if given is None else spread_out(given, nominal_given)
    xs, ys, xys = np.hstack([x, s]), np.hstack([y, s]), np.hstack([x, y, s])
    return 0.5 * (_logdet(xs) + _logdet(ys) - _logdet(s) - _logdet(xys))


def _logdet(block: Array) -> float:
    if block.shape[1] == 0:
        return 0.0
    return float(np.linalg.slogdet(np.atleast_2d(np.cov(block, rowvar=False)))[1])


def copula(
    x: Array,
    y: Array,
    given: Array | None = None,
    *,
    nominal_x: Sequence[int] = (),
    nominal_y: Sequence[int] = (),
    nominal_given: Sequence[int] = (),
) -> float:
    """Return the Gaussian I(x; y | S) of normal scores, labels staying labels.

    References
    ----------
    Ince et al. (2017), Human Brain Mapping 38, 1541-1573.
    """
    s = np.empty((len(x), 0)) if given is None else given
    labels = (nominal_x, nominal_y, nominal_given)
    scores = [block.copy() for block in (x, y, s)]
    for block, nominal in zip(scores, labels, strict=True):
        numbers = [j for j in range(block.shape[1]) if j not in nominal]
        block[:, numbers] = normal_scores(block[:, numbers])
    return gaussian(*scores, nominal_x=nominal_x, nominal_y=nominal_y, nominal_given=nominal_given)


# --- surrogates ---------------------------------------------------------------------------------

MASK = (1 << 64) - 1
GOLDEN = 0x9E3779B97F4A7C15


def mix(z: int) -> int:
    """Return SplitMix64's scrambling of a 64-bit word.

    References
    ----------
    Steele, Lea, Flood (2014), Fast splittable pseudorandom number generators, OOPSLA.
    """
    z = ((z ^ (z >> 30)) * 0xBF58476D1CE4E5B9) & MASK
    z = ((z ^ (z >> 27)) * 0x94D049BB133111EB) & MASK
    return z ^ (z >> 31)


def permutation(stream_key: Sequence[int], n: int) -> list[int]:
    """Return the permutation of 0..n-1 of a stream key (seed, ..., number of the permutation).

    Its entries are folded into one key; the t-th random number is mix(key + t * GOLDEN); Fisher and
    Yates's shuffle from the top takes number t as a fraction of 2^64 for its t-th swap.
    """
    key = 0
    for entry in stream_key:
        key = mix(((key ^ (entry & MASK)) + GOLDEN) & MASK)
    rows = list(range(n))
    for t, i in enumerate(range(n - 1, 0, -1), 1):
        j = (mix((key + t * GOLDEN) & MASK) * (i + 1)) >> 64
        rows[i], rows[j] = rows[j], rows[i]
    return rows


# --- significance -------------------------------------------------------------------------------

SLACK = 1e-10
"""Values closer than this are the same value, computed in another order."""


def p_value(observed: float, null: Sequence[float]) -> float:
    """Return (1 + #{null >= observed}) / (1 + n), equality up to `SLACK`.

    References
    ----------
    Phipson, Smyth (2010), Stat. Appl. Genet. Mol. Biol. 9, 39.
    """
    return (1 + sum(value >= observed - SLACK for value in null)) / (1 + len(null))


def critical_value(null: Sequence[float], alpha: float) -> float:
    """Return the value an observation must exceed for p <= alpha.

    p <= alpha allows m = floor(alpha (n + 1)) - 1 null values at or above the observation, so
    the line is the (m + 1)-th largest; infinite where n is too small for alpha.
    """
    allowed = floor(alpha * (len(null) + 1) + 1e-9) - 1
    if allowed < 0:
        return inf
    return sorted(null, reverse=True)[allowed] if allowed < len(null) else -inf


def maximum_statistic(values: Array) -> Array:
    """Return each draw's largest value over the features, values of shape (n_features, n_draws)."""
    return np.max(values, axis=0)


def minimum_statistic(values: Array) -> Array:
    """Return each draw's smallest value over the features, of shape (n_features, n_draws)."""
    return np.min(values, axis=0)


def strongest(values: Sequence[float]) -> int:
    """Return the place of the largest value, the first of those that are equal up to `SLACK`."""
    return next(i for i, value in enumerate(values) if value >= max(values) - SLACK)


def weakest(values: Sequence[float]) -> int:
    """Return the place of the smallest value, the first of those that are equal up to `SLACK`."""
    return next(i for i, value in enumerate(values) if value <= min(values) + SLACK)


# --- selection ----------------------------------------------------------------------------------

Score = Callable[[Array, Array, Array], float]
"""(x, y, given) -> I(x; y | given)"""

Permute = Callable[[str, int, int, int], Sequence[int]]
"""(phase, step, column, draw) -> the order of the rows; steps from 0, draws from 1"""


class Step(NamedTuple):
    """One decision: the features weighed and their values, the one in question, its test.

    Accepted means that the one in question belongs to the selection after this step.
    """

    phase: str
    candidates: tuple[int, ...]
    values: tuple[float, ...]
    chosen: int
    null: tuple[float, ...]
    critical_value: float | None
    p_value: float
    accepted: bool


def forward(x: Array, y: Array, score: Score, permute: Permute, alpha: float, n: int) -> list[Step]:
    """Return the steps of forward selection; the last one failed, unless nothing is left.

    Of all candidates c take the one with the largest I(c; y | S). Null: for each of n draws
    permute every candidate on its own and keep the largest value. Include while p <= alpha.

    References
    ----------
    Wollstadt, Schmitt, Wibral (2023), J. Mach. Learn. Res. 24.
    """
    steps: list[Step] = []
    selected: list[int] = []
    while len(selected) < x.shape[1] and all(step.accepted for step in steps):
        given = {c: x[:, selected] for c in range(x.shape[1]) if c not in selected}
        values = [score(x[:, [c]], y, s) for c, s in given.items()]
        draws = _surrogates(x, y, given, score, partial(permute, "forward", len(steps)), n)
        null, chosen = maximum_statistic(draws), strongest(values)
        steps.append(_step("forward", list(given), values, chosen, null, alpha))
        if steps[-1].accepted:
            selected.append(steps[-1].chosen)
    return steps


def backward(
    x: Array,
    y: Array,
    selected: Sequence[int],
    score: Score,
    permute: Permute,
    alpha: float,
    n: int,
    statistic: Callable[[Array], Array] = minimum_statistic,
) -> list[Step]:
    """Return the steps of backward elimination; accepted means that the weakest stays.

    Of all selected f take the one with the smallest I(f; y | S without f). Null: for each of n
    draws permute every f on its own, each given S without itself, and keep the smallest value.
    Remove while p > alpha. By the maximum `statistic`, step down: the strongest feature is tested
    against the largest values of all, the next one without it, and so on; the weakest, against its
    own, has the largest p-value of them.
    """
    steps: list[Step] = []
    kept = list(selected)
    while kept and not any(step.accepted for step in steps):
        given = {f: x[:, [g for g in kept if g != f]] for f in kept}
        values = [score(x[:, [f]], y, s) for f, s in given.items()]
        draws = _surrogates(x, y, given, score, partial(permute, "backward", len(steps)), n)
        null, chosen = statistic(draws), weakest(values)
        if statistic is maximum_statistic:
            step = _step("backward", kept, values, chosen, draws[chosen], alpha)
            order = sorted(range(len(kept)), key=lambda j: -values[j])
            p = max(
                p_value(values[j], np.max(draws[order[rank:]], axis=0))
                for rank, j in enumerate(order)
            )
            critical = step.critical_value if p == step.p_value else None
            step = step._replace(p_value=p, accepted=p <= alpha, critical_value=critical)
            steps.append(step)
        else:
            steps.append(_step("backward", kept, values, chosen, null, alpha))
        if not steps[-1].accepted:
            kept.remove(steps[-1].chosen)
    return steps


def _surrogates(
    x: Array,
    y: Array,
    given: dict[int, Array],
    score: Score,
    order: Callable[[int, int], Sequence[int]],
    n: int,
) -> Array:
    """Return the values of n rearrangements of each feature, of shape (n_features, n)."""
    return np.array(
        [
            [score(x[order(c, draw)][:, [c]], y, s) for draw in range(1, n + 1)]
            for c, s in given.items()
        ]
    )


def _step(
    phase: str,
    features: Sequence[int],
    values: Sequence[float],
    index: int,
    null: Array,
    alpha: float,
) -> Step:
    line, p = critical_value(null, alpha), p_value(values[index], null)
    return Step(
        phase,
        tuple(features),
        tuple(values),
        features[index],
        tuple(null.tolist()),
        line,
        p,
        accepted=p <= alpha,
    )
