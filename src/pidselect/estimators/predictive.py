r"""Predictive information: how much better a target is predicted with a variable than without.

A set of columns A has one predictive distribution q(y | A); each row is predicted by a fit without
it. Relative to p, the frequencies of the values of the target,

.. math:: I(A; y) \approx \frac1N \sum_i \log_2 \frac{q_{-i}(y_i | a_i)}{p(y_i)}, \qquad
          I(x; y | S) = I(S \cup x; y) - I(S; y),

so that the information of the steps of a path adds up to that of the whole set. No distribution
predicts better than the true one: I(A; y) is a lower bound in expectation.

Numbers are replaced by their normal scores. Functions of A are lines, curves, effects of levels and
products of two columns, in groups: the curve of a column is one. The coefficients of a group have a
normal prior, which is a penalty; its variance maximises the marginal likelihood, and is nearly 0
for noise. Fits without a row have a closed form. A number is predicted by a mixture of p and of
normal distributions, with constant variance and with one that depends on A; a class by a mixture of
p and of logistic regressions of each class against the others.

References
----------
MacKay (1992), Bayesian interpolation, Neural Computation, for the variances. Vehtari, Gelman and
Gabry (2017), Practical Bayesian model evaluation using leave-one-out cross-validation and WAIC,
Statistics and Computing, for what is estimated.
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import combinations, groupby
from math import comb
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy.special import expit, ndtr, ndtri

from pidselect.data import Block, Column, FloatArray, IntArray

#: Curves of one column, of all columns of a set, and functions of a column that enter products.
N_CURVES = 10
MAX_CURVES = 300
N_IN_PRODUCTS = 6

#: Products of functions in a set: for up to so many candidates, for more, and for each row.
MAX_PRODUCTS = 240
FEW_CANDIDATES = 16
FEW_PRODUCTS = 15
PRODUCTS_PER_ROW = 0.5

#: Levels with an effect, and the rows they need; classes. The others are one.
MAX_LEVELS = 30
MIN_ROWS = 3
MAX_CLASSES = 12

#: Degrees of freedom that a group must explain beyond its own: functions of one column, of two.
DOUBT = 0.6
DOUBT_OF_PRODUCTS = 2.0

#: Iterations of a fit, and for the weights of a mixture; numbers that are fitted at once.
N_ITERATIONS = 12
N_WEIGHTS = 30
BATCH = 2**20

#: Variance of the functions of a group at first; degrees of freedom of a group that is left out.
FIRST_VARIANCE = 0.1
NO_FREEDOM = 0.1

#: Least variance, weight of a row, and mass of a value; largest log odds and leverage.
LEAST_VARIANCE = 1e-6
LEAST_WEIGHT = 0.02
LEAST_MASS = 1e-12
MAX_ODDS = 15.0
MAX_LEVERAGE = 0.95

#: Decimals of information in bits; more would depend on the order of summation.
DECIMALS = 9

#: Of a column: lines or effects, curves, and what enters products, each (n_samples, n_functions).
Functions = tuple[FloatArray, FloatArray, FloatArray]


def information(
    target: Block, given: Block, candidates: Sequence[Block], groups: IntArray | None = None
) -> FloatArray:
    """Return the information of each candidate about the target given S in bits, (n_candidates,).

    It is the mean of `gains`, or 0 where that is negative, without digits that depend on the order
    of summation.

    Examples
    --------
    A flag of two classes with 20 % errors has 1 - H(0.2) = 0.278 bit, and noise none:

    >>> rng = np.random.default_rng(0)
    >>> y, is_wrong, noise = rng.random((3, 10_000)) < [[0.5], [0.2], [0.5]]
    >>> def block(values):
    ...     return Block((Column("x", "nominal", values.astype(float)),))
    >>> information(block(y), Block(), [block(y != is_wrong), block(noise)]).round(1)
    array([0.3, 0. ])
    """
    found = gains(target, given, candidates, groups).mean(axis=1)
    return np.round(np.maximum(found, 0.0), DECIMALS)


def gains(
    target: Block, given: Block, candidates: Sequence[Block], groups: IntArray | None = None
) -> FloatArray:
    """Return log2 q(y | S, x) - log2 q(y | S) of candidates and rows, (n_candidates, n_samples).

    A target of several columns is predicted one by one, each with those before it in S. Rows in
    which one is a missing number have no gain. Groups of rows are a label in S. The prediction from
    a set is the same whichever of its columns is the candidate, but has fewer products of columns
    where there are more than 16 candidates.
    """
    n = target.n_samples
    found = np.zeros((len(candidates), n))
    missing = [np.isnan(c.values) for c in target.columns if c.feature_type != "nominal"]
    if np.any(missing):
        rows = np.flatnonzero(~np.any(missing, axis=0))
        if len(rows):
            known = [block.take(rows) for block in candidates]
            own = None if groups is None else groups[rows]
            found[:, rows] = gains(target.take(rows), given.take(rows), known, own)
        return found
    before = given.columns
    if groups is not None:
        before += (Column("groups", "nominal", np.asarray(groups, dtype=np.float64)),)
    most = MAX_PRODUCTS if len(candidates) <= FEW_CANDIDATES else FEW_PRODUCTS
    n_products = min(most, int(PRODUCTS_PER_ROW * n))
    for column in target.columns:
        added = [(), *(candidate.columns for candidate in candidates)]
        sets = [tuple(dict.fromkeys((*before, *some))) for some in added]
        nats = _log_ratios(column, sets, n_products)
        found += (nats[1:] - nats[0]) / np.log(2.0)
        before += (column,)
    return found


def _log_ratios(target: Column, sets: Sequence[tuple[Column, ...]], n_products: int) -> FloatArray:
    """Return log q(y | A) / p(y) of sets of columns, (n_sets, n_samples); the first is in all."""
    n = len(target.values)
    codes = target.codes()
    is_class = target.feature_type == "nominal" or codes.max() <= 1
    log_ratios = _log_ratios_of_classes if is_class else _log_ratios_of_numbers
    shared = {column: _functions(column) for column in sets[0]}
    width = sum(_widths(list(shared.values())))
    width += n_products + N_CURVES
    n_batch = max(1, BATCH // (n * width))
    found = []
    for start in range(0, len(sets), n_batch):
        batch = sets[start : start + n_batch]
        functions_of = (
            [shared.get(column) or _functions(column) for column in one] for one in batch
        )
        for widths, alike in groupby(functions_of, _widths):
            some = list(alike)
            if not any(widths):
                found.append(np.zeros((len(some), n)))
                continue
            design = _design(some, n_products)
            found.append(log_ratios(design, codes))
    return np.concatenate(found)


def _widths(one: Sequence[Functions]) -> list[int]:
    """Return the numbers of functions of each column of a set."""
    return [part.shape[1] for functions in one for part in functions]


def _functions(column: Column) -> Functions:
    """Return the functions of a column; a missing number is at the mean, with an effect."""
    codes = column.codes()
    counts = np.bincount(codes)
    is_flag = len(counts) <= 2
    if is_flag or column.feature_type == "nominal":
        frequent = np.argsort(-counts, kind="stable")[:MAX_LEVELS]
        used = frequent[counts[frequent] >= MIN_ROWS]
        if is_flag:
            used = used[1:]
        effects = _centred(codes[:, np.newaxis] == used)
        if is_flag:
            effects /= np.maximum(effects.std(axis=0), LEAST_VARIANCE)
        return effects, effects[:, :0], effects
    is_missing = np.isnan(column.values)[:, np.newaxis]
    if column.has_missing:
        counts = counts[:-1]
    middle = (np.cumsum(counts) - 0.5 * counts) / counts.sum()
    share = np.append(middle, 0.5)[codes][:, np.newaxis]
    score = ndtri(share)
    order = np.arange(2, N_CURVES)
    square = score**2 / 4.0
    cube = (score**3 - 3.0 * score) / 9.0
    waves = 2.0 * np.cos(np.pi * order * share) / order**1.5
    curves = np.concatenate([square, cube, waves], axis=1)
    score = _centred(score)
    curves = _centred(np.where(is_missing, 0.0, curves))
    curves -= score * (score.T @ curves) / (score**2).sum()
    lines = score
    if column.has_missing:
        lines = np.concatenate([score, _centred(is_missing)], axis=1)
    simple = np.concatenate([score, curves], axis=1)
    return lines, curves, simple[:, :N_IN_PRODUCTS]


def _centred(columns: NDArray[Any]) -> FloatArray:
    return np.asarray(columns - columns.mean(axis=0))


class _Design(NamedTuple):
    """Functions of sets of columns: a constant, groups of one column, and groups of two."""

    features: FloatArray  # (n_sets, n_samples, n_features)
    group: IntArray  # of each feature but the constant
    doubt: FloatArray  # of each group

    def without_products(self) -> _Design:
        """Return the functions of one column."""
        is_single = self.doubt[self.group] == DOUBT
        last = int(is_single.sum())
        features = self.features[:, :, : 1 + last]
        return _Design(features, self.group[:last], self.doubt)


def _design(sets: Sequence[Sequence[Functions]], n_products: int) -> _Design:
    """Return the functions of sets whose columns have the same numbers of functions."""
    n = len(sets[0][0][0])
    n_columns = len(sets[0])
    n_pairs = max(comb(n_columns, 2), 1)
    n_each = int(np.sqrt(n_products / n_pairs))
    n_curves = max(1, min(n // 8, MAX_CURVES // n_columns))
    designs = []
    for one in sets:
        groups = [lines for lines, _, _ in one]
        groups += [curves[:, :n_curves] for _, curves, _ in one]
        for (_, _, first), (_, _, second) in combinations(one, 2):
            products = first[:, :n_each, np.newaxis] * second[:, np.newaxis, :n_each]
            groups.append(_centred(products.reshape(n, -1)))
        designs.append(np.concatenate([np.ones((n, 1)), *groups], axis=1))
    numbers = np.arange(len(groups))
    group = np.repeat(numbers, [functions.shape[1] for functions in groups])
    is_single = numbers < 2 * n_columns
    doubt = np.where(is_single, DOUBT, DOUBT_OF_PRODUCTS)
    return _Design(np.stack(designs), group, doubt)


def _left_out(design: _Design, response: FloatArray, is_class: bool = False) -> FloatArray:
    """Return predictions of each row by a fit without it: means, or log odds of a class, 0 or 1.

    The response and the predictions have the shape (n_sets, n_samples). The variance of a group's
    coefficients becomes their sum of squares per degree of freedom, and doubt counts as such.
    """
    features, group, doubt = design
    own = np.eye(len(doubt))  # rows: features, columns: the groups they belong to
    squares = (features**2).mean(axis=1)[:, 1:]
    unit = 1.0 / np.maximum(squares @ own[group], LEAST_MASS)
    variance = FIRST_VARIANCE * unit
    spread = response.var(axis=1, keepdims=True)
    noise = np.ones(spread.shape) if is_class else 0.5 * spread
    fitted = np.zeros(response.shape)
    weight = np.ones(response.shape)
    working = response
    for iteration in range(N_ITERATIONS):
        if is_class:
            share = expit(fitted)
            weight = np.maximum(share * (1.0 - share), LEAST_WEIGHT)
            working = fitted + (response - share) / weight
        if is_class or iteration == 0:
            weighted = (features * weight[:, :, np.newaxis]).transpose(0, 2, 1)
            gram = weighted @ features
            moment = _times(weighted, working)
        penalty = np.pad(1.0 / variance[:, group], ((0, 0), (1, 0)))
        precision = gram / noise[:, :, np.newaxis]
        np.einsum("sff->sf", precision)[...] += penalty
        covariance = np.linalg.inv(precision)
        coefficients = _times(covariance, moment / noise)
        if is_class:
            odds = _times(features, coefficients)
            fitted = np.clip(odds, -MAX_ODDS, MAX_ODDS)
        if iteration == N_ITERATIONS - 1:
            break
        shrunk = penalty * np.einsum("sff->sf", covariance)
        freedom = np.maximum((1.0 - shrunk[:, 1:]) @ own[group], 0.0)
        if not is_class:
            error = (response**2).sum(axis=1, keepdims=True)
            change = coefficients * (_times(gram, coefficients) - 2.0 * moment)
            error += change.sum(axis=1, keepdims=True)
            left = response.shape[1] - 1.0
            left = left - freedom.sum(axis=1, keepdims=True)
            least = np.maximum(LEAST_VARIANCE * spread, LEAST_MASS)
            noise = np.maximum(error / np.maximum(left, 1.0), least)
        evidence = coefficients[:, 1:] ** 2 @ own[group]
        ratio = evidence / (freedom + doubt) / variance
        ratio = np.where(ratio < 1.0, ratio**2, ratio)  # faster towards 0
        variance *= np.clip(ratio, 0.02, 20.0)
        is_used = freedom > NO_FREEDOM
        variance = np.where(is_used, np.minimum(variance, 1e4 * unit), LEAST_MASS * unit)
        stays_in = is_used.any(axis=0)
        stays = np.append(True, stays_in[group])
        if not stays.all():
            features = features[:, :, stays]
            group = group[stays[1:]]
            gram = gram[:, stays][:, :, stays]
            moment = moment[:, stays]
    if not is_class:
        fitted = _times(features, coefficients)
    leverage = ((features @ covariance) * features).sum(axis=2)
    leverage = np.minimum(leverage * weight / noise, MAX_LEVERAGE)
    change = leverage / (1.0 - leverage)
    return np.asarray(fitted - change * (working - fitted))


def _times(matrices: FloatArray, vectors: FloatArray) -> FloatArray:
    return np.asarray((matrices @ vectors[:, :, np.newaxis])[:, :, 0])


def _log_ratios_of_numbers(design: _Design, codes: IntArray) -> FloatArray:
    """Return log q(y | A) / p(y) of numbers, (n_sets, n_samples).

    The mass of a value is that of the normal scores up to halfway to its neighbours.
    """
    n = len(codes)
    counts = np.bincount(codes)
    up_to = np.cumsum(counts)
    ends = ndtri(np.minimum(up_to / n, 1.0))
    ends[-1] = np.inf
    high = ends[codes]
    low = np.append(-np.inf, ends[:-1])[codes]
    middle = (up_to - 0.5 * counts) / n
    scores = ndtri(middle)[codes]
    mean = _left_out(design, np.broadcast_to(scores, design.features.shape[:2]))
    squares = (scores - mean) ** 2
    constant = np.maximum(squares.mean(axis=1, keepdims=True), LEAST_VARIANCE)
    logs = np.log(squares / constant + 0.02)
    logs = logs - logs.mean(axis=1, keepdims=True)
    change = _left_out(design.without_products(), logs)
    varying = np.exp(np.clip(change, -4.0, 4.0))
    varying *= np.maximum((squares / varying).mean(axis=1, keepdims=True), LEAST_VARIANCE)
    members = [np.zeros(mean.shape)]
    for variance in (constant, varying):
        deviation = np.sqrt(variance)
        left = (low - mean) / deviation
        right = (high - mean) / deviation
        sign = np.where(left + right > 0.0, -1.0, 1.0)  # masses are precise in the lower tail
        mass = np.abs(ndtr(sign * right) - ndtr(sign * left))
        ratio = np.maximum(mass, LEAST_MASS) * n / counts[codes]
        members.append(np.log(ratio))
    return _log_mixture(members)


def _log_ratios_of_classes(design: _Design, codes: IntArray) -> FloatArray:
    """Return log q(y | A) / p(y) of classes, (n_sets, n_samples); the rarest are one class."""
    order = np.argsort(-np.bincount(codes), kind="stable")
    rank = np.argsort(order)
    classes = np.minimum(rank[codes], MAX_CLASSES - 1)
    frequency = np.bincount(classes) / len(classes)
    shape = design.features.shape[:2]
    odds: list[FloatArray] = []
    for k in range(len(frequency)):
        if k == 1 and len(frequency) == 2:
            odds.append(-odds[0])
            continue
        response = np.broadcast_to(classes == k, shape).astype(np.float64)
        odds.append(_left_out(design, response, is_class=True))
    share = expit(np.clip(odds, -MAX_ODDS, MAX_ODDS))
    own = share[classes, :, np.arange(len(classes))].T
    probability = own / share.sum(axis=0)
    log_ratio = np.log(probability / frequency[classes])
    return _log_mixture([np.zeros(shape), log_ratio])


def _log_mixture(members: Sequence[FloatArray]) -> FloatArray:
    """Return the log density of the most probable mixture of log densities, (n_sets, n_samples)."""
    top = np.max(members, axis=0)
    density = np.exp(members - top)
    weights = np.full((*density.shape[:2], 1), 1.0 / len(members))
    mixture = (weights * density).sum(axis=0)
    for _ in range(N_WEIGHTS):
        share = density / mixture
        weights *= share.mean(axis=2, keepdims=True)
        mixture = (weights * density).sum(axis=0)
    return np.asarray(np.log(mixture) + top)
