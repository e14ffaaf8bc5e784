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

from collections.abc import Callable, Sequence
from functools import lru_cache, partial
from itertools import combinations
from math import comb
from operator import attrgetter
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy.linalg.lapack import dtrtri
from scipy.special import expit, ndtr, ndtri

from pidselect.data import Block, Column, FloatArray, IntArray
from pidselect.estimators.regression import DECIMALS

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

#: Iterations of a fit, those that find weights of rows where there are more functions than a few,
#: and the squared change of predictions, in variances, at which they end; those for a mixture.
N_ITERATIONS = 12
UPDATES = (0, 1, 3, 5, 8)
FEW_FUNCTIONS = 100
TOLERANCE = 1e-8
N_WEIGHTS = 30

#: Rows up to which the predictions from a set are kept.
MAX_KEPT = 2**16

#: Variance of the functions of a group at first; degrees of freedom of a group that is left out.
FIRST_VARIANCE = 0.1
NO_FREEDOM = 0.1

#: Least variance, weight of a row, and mass of a value; largest log odds and leverage; added to a
#: diagonal, relative to it.
LEAST_VARIANCE = 1e-6
LEAST_WEIGHT = 0.02
LEAST_MASS = 1e-12
MAX_ODDS = 15.0
MAX_LEVERAGE = 0.95
JITTER = 1e-11

#: Of a column: lines or effects, curves, and what enters products, each (n_functions, n_samples).
Functions = tuple[FloatArray, FloatArray, FloatArray]


def information(
    target: Block, given: Block, candidates: Sequence[Block], groups: IntArray | None = None
) -> FloatArray:
    """Return the information of each candidate about the target given S in bits, (n_candidates,).

    It is the mean of `gains`, or 0 where that is negative.

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
    where there are more than 16 candidates. Other predictions are kept with the target.
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
    is_few = len(candidates) <= FEW_CANDIDATES
    is_kept = is_few and groups is None and n <= MAX_KEPT
    n_products = min(MAX_PRODUCTS if is_few else FEW_PRODUCTS, int(PRODUCTS_PER_ROW * n))
    functions_of = lru_cache(_functions)
    for column in target.columns:
        is_label = column.feature_type == "nominal"
        nats = []
        for added in [(), *(candidate.columns for candidate in candidates)]:
            some = tuple(sorted(dict.fromkeys((*before, *added)), key=attrgetter("name")))
            predict = partial(_log_ratios, is_label, some, n_products, functions_of)
            key = (n_products, *some)
            nats.append(column.made(predict, key) if is_kept else predict(column.values))
        found += (np.array(nats[1:]).reshape(found.shape) - nats[0]) / np.log(2.0)
        before += (column,)
    return found


def _log_ratios(
    is_label: bool,
    columns: Sequence[Column],
    n_products: int,
    functions_of: Callable[[Column], Functions],
    values: FloatArray,
) -> FloatArray:
    """Return log q(y | A) / p(y) of the values of a target, (n_samples,), for a set of columns."""
    codes = np.unique(values, return_inverse=True)[1]
    functions = [functions_of(column) for column in columns]
    if not any(len(part) for one in functions for part in one):
        return np.zeros(len(values))
    design = _design(functions, n_products)
    is_class = is_label or codes.max() <= 1
    return (_log_ratios_of_classes if is_class else _log_ratios_of_numbers)(design, codes)


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
        effects = _centred(codes == used[:, np.newaxis])
        if is_flag:
            effects /= np.maximum(effects.std(axis=1, keepdims=True), LEAST_VARIANCE)
        return effects, effects[:0], effects
    is_missing = np.isnan(column.values)
    if column.has_missing:
        counts = counts[:-1]
    middle = (np.cumsum(counts) - 0.5 * counts) / counts.sum()
    share = np.append(middle, 0.5)[codes]
    score = ndtri(share)
    order = np.arange(2, N_CURVES)[:, np.newaxis]
    square = score**2 / 4.0
    cube = (score**3 - 3.0 * score) / 9.0
    waves = 2.0 * np.cos(np.pi * order * share) / order**1.5
    curves = _centred(np.where(is_missing, 0.0, np.vstack([square, cube, waves])))
    line = _centred(score)
    curves -= (curves @ line / (line @ line))[:, np.newaxis] * line
    lines = np.vstack([line, _centred(is_missing)] if column.has_missing else [line])
    return lines, curves, np.vstack([line, curves])[:N_IN_PRODUCTS]


def _centred(rows: NDArray[Any]) -> FloatArray:
    return np.asarray(rows - rows.mean(axis=-1, keepdims=True))


class _Design(NamedTuple):
    """Functions of a set of columns in groups: a constant, those of one column, and of two."""

    features: FloatArray  # (n_features, n_samples)
    gram: FloatArray  # products of features, (n_features, n_features)
    group: IntArray  # of each feature
    doubt: FloatArray  # of each group

    def without_products(self) -> _Design:
        """Return the functions of one column."""
        last = int((self.doubt[self.group] == DOUBT).sum())
        return _Design(self.features[:last], self.gram[:last, :last], self.group[:last], self.doubt)


def _design(functions: Sequence[Functions], n_products: int) -> _Design:
    """Return the functions of a set, for those of its columns."""
    n = functions[0][0].shape[1]
    n_columns = len(functions)
    n_each = int(np.sqrt(n_products / max(comb(n_columns, 2), 1)))
    n_curves = max(1, min(n // 8, MAX_CURVES // n_columns))
    groups = [np.ones((1, n))]
    groups += [lines for lines, _, _ in functions]
    groups += [curves[:n_curves] for _, curves, _ in functions]
    for (_, _, first), (_, _, second) in combinations(functions, 2):
        products = first[:n_each, np.newaxis] * second[:n_each]
        groups.append(_centred(products.reshape(-1, n)))
    features = np.concatenate(groups)
    numbers = np.arange(len(groups))
    doubt = np.where(numbers <= 2 * n_columns, DOUBT, DOUBT_OF_PRODUCTS)
    group = np.repeat(numbers, [len(some) for some in groups])
    return _Design(features, features @ features.T, group, doubt)


def _left_out(design: _Design, response: FloatArray, is_class: bool = False) -> FloatArray:
    """Return predictions of each row by a fit without it: means, or log odds of a class, 0 or 1.

    The response and the predictions have the shape (n_samples,). The variance of a group's
    coefficients becomes their sum of squares per degree of freedom, and doubt counts as such.
    """
    features, gram, group, doubt = design
    n = len(response)
    sum_in_groups = partial(np.bincount, minlength=len(doubt))
    unit = 1.0 / np.maximum(sum_in_groups(group, np.diagonal(gram) / n), LEAST_MASS)
    variance = FIRST_VARIANCE * unit
    spread = float(response.var())
    noise = 1.0 if is_class else 0.5 * spread
    weight, working, fitted = np.ones(n), response, np.zeros(n)
    coefficients = np.zeros(len(features))
    for iteration in range(N_ITERATIONS):
        if is_class:
            share = expit(fitted)
            if iteration in UPDATES or len(features) <= FEW_FUNCTIONS:
                weight = np.maximum(share * (1.0 - share), LEAST_WEIGHT)
                root = features * np.sqrt(weight)
                gram = root @ root.T if iteration else weight[0] * gram
            working = fitted + (response - share) / weight
        if is_class or iteration == 0:
            moment = features @ (weight * working)
        penalty = 1.0 / variance[group]
        penalty[0] = 0.0
        precision = gram / noise
        np.einsum("ff->f", precision)[...] *= 1.0 + JITTER
        np.einsum("ff->f", precision)[...] += penalty
        # The covariance of the coefficients is root @ root.T.
        root = dtrtri(np.linalg.cholesky(precision).T, overwrite_c=1)[0]
        before, coefficients = coefficients, root @ (moment @ root) / noise
        if is_class:
            fitted = np.clip(coefficients @ features, -MAX_ODDS, MAX_ODDS)
        change = coefficients - before
        is_settled = change @ gram @ change < TOLERANCE * noise * n
        if is_settled or iteration == N_ITERATIONS - 1:
            break
        shrunk = penalty * (root**2).sum(axis=1)
        freedom = np.maximum(sum_in_groups(group, 1.0 - shrunk), 0.0)
        if not is_class:
            error = response @ response + coefficients @ (gram @ coefficients - 2.0 * moment)
            least = max(LEAST_VARIANCE * spread, LEAST_MASS)
            noise = max(error / max(n - freedom.sum(), 1.0), least)
        evidence = sum_in_groups(group, coefficients**2)
        ratio = evidence / (freedom + doubt) / variance
        ratio = np.where(ratio < 1.0, ratio**2, ratio)  # faster towards 0
        variance *= np.clip(ratio, 0.02, 20.0)
        variance = np.minimum(variance, 1e4 * unit)
        stays = (freedom > NO_FREEDOM)[group]
        if not stays.all():
            features, gram = features[stays], gram[stays][:, stays]
            group, moment, coefficients = group[stays], moment[stays], coefficients[stays]
    if not is_class:
        fitted = coefficients @ features
    leverage = ((root.T @ features) ** 2).sum(axis=0) * weight / noise
    leverage = np.minimum(leverage, MAX_LEVERAGE)
    change = leverage / (1.0 - leverage)
    return np.asarray(fitted - change * (working - fitted))


def _log_ratios_of_numbers(design: _Design, codes: IntArray) -> FloatArray:
    """Return log q(y | A) / p(y) of numbers.

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
    mean = _left_out(design, scores)
    squares = (scores - mean) ** 2
    constant = max(squares.mean(), LEAST_VARIANCE)
    logs = np.log(squares / constant + 0.02)
    change = _left_out(design.without_products(), logs - logs.mean())
    varying = np.exp(np.clip(change, -4.0, 4.0))
    varying *= max((squares / varying).mean(), LEAST_VARIANCE)
    members = [np.zeros(n)]
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
    """Return log q(y | A) / p(y) of classes; the rarest are one class."""
    order = np.argsort(-np.bincount(codes), kind="stable")
    rank = np.argsort(order)
    classes = np.minimum(rank[codes], MAX_CLASSES - 1)
    frequency = np.bincount(classes) / len(classes)
    odds: list[FloatArray] = []
    for k in range(len(frequency)):
        is_second = k == 1 and len(frequency) == 2
        response = np.asarray(classes == k, dtype=np.float64)
        odds.append(-odds[0] if is_second else _left_out(design, response, is_class=True))
    share = expit(np.clip(odds, -MAX_ODDS, MAX_ODDS))
    own = share[classes, np.arange(len(classes))]
    log_ratio = np.log(own / share.sum(axis=0) / frequency[classes])
    return _log_mixture([np.zeros(len(classes)), log_ratio])


def _log_mixture(members: Sequence[FloatArray]) -> FloatArray:
    """Return the log density of the most probable mixture of log densities, (n_samples,)."""
    top = np.max(members, axis=0)
    density = np.exp(members - top)
    weights = np.full((len(members), 1), 1.0 / len(members))
    mixture = (weights * density).sum(axis=0)
    for _ in range(N_WEIGHTS):
        weights *= (density / mixture).mean(axis=1, keepdims=True)
        mixture = (weights * density).sum(axis=0)
    return np.asarray(np.log(mixture) + top)
