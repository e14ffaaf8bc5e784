r"""Predictive information: how much better a target is predicted with a variable than without.

A set of columns A has one predictive distribution q(y | A); each row is predicted by a fit without
it. Relative to p, the frequencies of the values of the target,

.. math:: I(A; y) \approx \frac1N \sum_i \log_2 \frac{q_{-i}(y_i | a_i)}{p(y_i)}, \qquad
          I(x; y | S) = I(S \cup x; y) - I(S; y),

so that the information of the steps of a path adds up to that of the whole set. No distribution
predicts better than the true one: I(A; y) is a lower bound in expectation.

The regressions are those of `estimators.evidence`, on normal scores. A number is predicted by a
mixture of p and of normal distributions, with constant variance and with one that depends on A; a
class by a mixture of p and of logistic regressions of each class against the others.

References
----------
Vehtari, Gelman and Gabry (2017), Practical Bayesian model evaluation using leave-one-out
cross-validation and WAIC, Statistics and Computing, for what is estimated.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import lru_cache, partial
from operator import attrgetter

import numpy as np
from scipy.special import expit, ndtr, ndtri

from pidselect.data import Block, Column, FloatArray, IntArray
from pidselect.estimators.evidence import (
    LEAST_MASS,
    LEAST_VARIANCE,
    MAX_ODDS,
    Design,
    Functions,
    design_of,
    functions_of,
    left_out,
)
from pidselect.estimators.regression import DECIMALS

#: Products of functions in a set: for up to so many candidates, for more, and for each row.
MAX_PRODUCTS = 240
FEW_CANDIDATES = 16
FEW_PRODUCTS = 15
PRODUCTS_PER_ROW = 0.5

#: Classes; the rarest are one.
MAX_CLASSES = 12

#: Iterations that find the weights of a mixture.
N_WEIGHTS = 30

#: Rows up to which the predictions from a set are kept.
MAX_KEPT = 2**16


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
    cached = lru_cache(functions_of)
    for column in target.columns:
        is_label = column.feature_type == "nominal"
        nats = []
        for added in [(), *(candidate.columns for candidate in candidates)]:
            some = tuple(sorted(dict.fromkeys((*before, *added)), key=attrgetter("name")))
            predict = partial(_log_ratios, is_label, some, n_products, cached)
            key = (n_products, *some)
            nats.append(column.made(predict, key) if is_kept else predict(column.values))
        found += (np.array(nats[1:]).reshape(found.shape) - nats[0]) / np.log(2.0)
        before += (column,)
    return found


def _log_ratios(
    is_label: bool,
    columns: Sequence[Column],
    n_products: int,
    made: Callable[[Column], Functions],
    values: FloatArray,
) -> FloatArray:
    """Return log q(y | A) / p(y) of the values of a target, (n_samples,), for a set of columns."""
    codes = np.unique(values, return_inverse=True)[1]
    functions = [made(column) for column in columns]
    if not any(len(part) for one in functions for part in one):
        return np.zeros(len(values))
    design = design_of(functions, n_products)
    is_class = is_label or codes.max() <= 1
    return (_log_ratios_of_classes if is_class else _log_ratios_of_numbers)(design, codes)


def _log_ratios_of_numbers(design: Design, codes: IntArray) -> FloatArray:
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
    mean = left_out(design, scores)
    squares = (scores - mean) ** 2
    constant = max(squares.mean(), LEAST_VARIANCE)
    logs = np.log(squares / constant + 0.02)
    change = left_out(design.without_products(), logs - logs.mean())
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


def _log_ratios_of_classes(design: Design, codes: IntArray) -> FloatArray:
    """Return log q(y | A) / p(y) of classes; the rarest are one class."""
    order = np.argsort(-np.bincount(codes), kind="stable")
    rank = np.argsort(order)
    classes = np.minimum(rank[codes], MAX_CLASSES - 1)
    frequency = np.bincount(classes) / len(classes)
    odds: list[FloatArray] = []
    for k in range(len(frequency)):
        is_second = k == 1 and len(frequency) == 2
        response = np.asarray(classes == k, dtype=np.float64)
        odds.append(-odds[0] if is_second else left_out(design, response, is_class=True))
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
