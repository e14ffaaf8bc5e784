r"""Regression of one response on functions of a set of columns, by marginal likelihood.

Functions are lines, curves, effects of levels and products of two columns, in groups: the curve of
a column is one. The coefficients of a group have a normal prior, which is a penalty; its variance
maximises the marginal likelihood, and is nearly 0 for noise, so that a few columns that matter are
found among many. Fits without a row have a closed form.

References
----------
MacKay (1992), Bayesian interpolation, Neural Computation.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial
from itertools import combinations
from math import comb
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy.linalg.lapack import dtrtri
from scipy.special import expit, ndtri

from pidselect.data import Column, FloatArray, IntArray

#: Curves of one column, of all columns of a set, and functions of a column that enter products.
N_CURVES = 10
MAX_CURVES = 300
N_IN_PRODUCTS = 6

#: Levels with an effect, and the rows they need.
MAX_LEVELS = 30
MIN_ROWS = 3

#: Degrees of freedom that a group must explain beyond its own: functions of one column, of two.
DOUBT = 0.6
DOUBT_OF_PRODUCTS = 2.0

#: Iterations of a fit, those that find weights of rows where there are more functions than a few,
#: and the squared change of predictions, in variances, at which they end.
N_ITERATIONS = 12
UPDATES = (0, 1, 3, 5, 8)
FEW_FUNCTIONS = 100
TOLERANCE = 1e-8

#: Variance of the functions of a group at first; degrees of freedom of a group that is left out.
FIRST_VARIANCE = 0.1
NO_FREEDOM = 0.1

#: Least variance, weight of a row, and mass; largest log odds and leverage; added to a diagonal,
#: relative to it.
LEAST_VARIANCE = 1e-6
LEAST_WEIGHT = 0.02
LEAST_MASS = 1e-12
MAX_ODDS = 15.0
MAX_LEVERAGE = 0.95
JITTER = 1e-11

#: Of a column: lines or effects, curves, and what enters products, each (n_functions, n_samples).
Functions = tuple[FloatArray, FloatArray, FloatArray]


def functions_of(column: Column) -> Functions:
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


class Design(NamedTuple):
    """Functions of a set of columns in groups: a constant, those of one column, and of two."""

    features: FloatArray  # (n_features, n_samples)
    gram: FloatArray  # products of features, (n_features, n_features)
    group: IntArray  # of each feature
    doubt: FloatArray  # of each group

    def without_products(self) -> Design:
        """Return the functions of one column."""
        last = int((self.doubt[self.group] == DOUBT).sum())
        return Design(self.features[:last], self.gram[:last, :last], self.group[:last], self.doubt)


def design_of(functions: Sequence[Functions], n_products: int) -> Design:
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
    return Design(features, features @ features.T, group, doubt)


class _Fit(NamedTuple):
    """Coefficients of the features that are not left out, and what their covariance is made of."""

    kept: IntArray  # (n_kept,): their numbers
    features: FloatArray  # (n_kept, n_samples)
    variance: FloatArray  # (n_kept,): of the prior of coefficients
    coefficients: FloatArray
    root: FloatArray  # the covariance of coefficients is root @ root.T
    noise: float
    weight: FloatArray  # (n_samples,)
    working: FloatArray  # (n_samples,): the response of the last step


def left_out(design: Design, response: FloatArray, is_class: bool = False) -> FloatArray:
    """Return predictions of each row by a fit without it: means, or log odds of a class, 0 or 1.

    The response and the predictions have the shape (n_samples,).
    """
    fit = _fit(design, response, is_class)
    fitted = fit.coefficients @ fit.features
    if is_class:
        fitted = np.clip(fitted, -MAX_ODDS, MAX_ODDS)
    leverage = ((fit.root.T @ fit.features) ** 2).sum(axis=0) * fit.weight / fit.noise
    leverage = np.minimum(leverage, MAX_LEVERAGE)
    change = leverage / (1.0 - leverage)
    return np.asarray(fitted - change * (fit.working - fitted))


def prior_variances(design: Design, response: FloatArray, is_class: bool = False) -> FloatArray:
    """Return the variances of the priors of coefficients, (n_features,); 0 where left out.

    Those for a number are relative to the variance of its noise.
    """
    fit = _fit(design, response, is_class)
    found = np.zeros(len(design.features))
    found[fit.kept] = fit.variance / fit.noise
    return found


def _fit(design: Design, response: FloatArray, is_class: bool) -> _Fit:
    """Fit a response by marginal likelihood.

    The variance of a group's coefficients becomes their sum of squares per degree of freedom, and
    doubt counts as such.
    """
    features, gram, group, doubt = design
    n = len(response)
    sum_in_groups = partial(np.bincount, minlength=len(doubt))
    unit = 1.0 / np.maximum(sum_in_groups(group, np.diagonal(gram) / n), LEAST_MASS)
    variance = FIRST_VARIANCE * unit
    spread = float(response.var())
    noise = 1.0 if is_class else 0.5 * spread
    weight, working, fitted = np.ones(n), response, np.zeros(n)
    kept, coefficients = np.arange(len(features)), np.zeros(len(features))
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
            kept = kept[stays]
    return _Fit(kept, features, variance[group], coefficients, root, noise, weight, working)
