"""Penalised multinomial regression of classes on bases of the conditioning set.

The probabilities of a sample are those of a fit without it, by one Newton step from the fit with it
(Pregibon 1981); basis and penalty have the smallest deviance of these.

References
----------
Pregibon (1981), Logistic regression diagnostics, Annals of Statistics.
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import cycle
from operator import itemgetter
from typing import NamedTuple

import numpy as np
from scipy.linalg import cho_solve, solve_triangular

from pidselect.data import FloatArray
from pidselect.estimators.regression import Ridge, Smoother

#: Axes of a basis that are used at most, in the samples.
MAX_AXES = 1 / 4

#: Factors of the penalty that are tried on the best basis, until one is better.
FACTORS = (0.1, 10.0)

#: Newton steps, those at which weights of samples are found, their factor for three classes or
#: more, as steps of classes are taken at once, and the largest change of a logit at which they end.
MAX_STEPS = 25
WEIGHTED = (0, 1, 2, 4, 7, 11, 16)
CURVATURE = 1.5
TOLERANCE = 1e-3

#: Penalty of the constant.
RIDGE = 1e-6

#: Least weight of a sample, and probability of its class.
MIN_WEIGHT = 1e-4
MIN_PROBABILITY = 1e-9

#: Most that a step changes a logit.
MAX_CHANGE = 5.0


class ClassFit(NamedTuple):
    """Probabilities of classes given S, of left-out samples."""

    probabilities: FloatArray  # (n_samples, n_classes)
    deviance: float


def fit_classes(smoother: Smoother, classes: FloatArray) -> ClassFit:
    """Regress indicators of classes, (n_samples, n_classes), on S."""
    mean = np.broadcast_to(classes.mean(axis=0), classes.shape)
    best = ClassFit(np.asarray(mean), _deviance(mean, classes))
    chosen = None
    for ridge, shrinkage in _candidates(smoother, classes):
        order = np.argsort(-shrinkage, kind="stable")[: int(MAX_AXES * len(classes))]
        kept = np.clip(shrinkage[order], 1e-12, 1.0 - 1e-12)
        basis = ridge.axes[:, order], (1.0 - kept) / kept
        fit = _fit(*basis, classes)
        if fit.deviance < best.deviance:
            best, chosen = fit, basis
    if chosen is not None:
        axes, penalty = chosen
        for factor in FACTORS:
            fit = _fit(axes, factor * penalty, classes)
            if fit.deviance < best.deviance:
                return fit
    return best


def _candidates(smoother: Smoother, classes: FloatArray) -> Sequence[tuple[Ridge, FloatArray]]:
    """Return lines, and the bases with the smallest squared errors and marginal likelihood."""
    tried = []
    nothing = np.zeros((1, 1), dtype=bool)
    for ridge in (*smoother.first, *smoother.more):
        left, shrinkage = ridge.residuals(classes, nothing)
        error = float((left**2).sum())
        tried.append((error, ridge, shrinkage.mean(axis=1)))
    simple = [one for one in tried if one[1].basis.is_simple]
    others = [one for one in tried if not one[1].basis.is_simple]
    best = [min(some, key=itemgetter(0)) for some in (simple[1:], others) if some]
    found = [(ridge, shrinkage) for _, ridge, shrinkage in (*simple[:1], *best)]
    responses = classes[:, 1:] if classes.shape[1] == 2 else classes
    for ridge in smoother.weighted(responses, are_classes=True):
        found += [(ridge, shrinkage) for shrinkage in ridge.shrinkage]
    return found


def _fit(axes: FloatArray, penalty: FloatArray, classes: FloatArray) -> ClassFit:
    """Return probabilities of left-out samples; the penalty is relative to the mean weight."""
    n_samples, n_classes = classes.shape
    frequency = classes.mean(axis=0)
    variance = float((frequency * (1.0 - frequency)).mean())
    design = np.column_stack([np.ones(n_samples), axes * np.sqrt(n_samples)])
    ridge = np.concatenate([[RIDGE], n_samples * variance * penalty])
    coefficients = np.zeros((design.shape[1], n_classes))
    coefficients[0] = np.log(frequency)
    logits = design @ coefficients
    curvature = 2.0 if n_classes == 2 else CURVATURE
    for number in range(MAX_STEPS):
        probabilities = _softmax(logits)
        if number in WEIGHTED:
            roots = _roots(design, ridge, curvature * _weights(probabilities))
        gradient = design.T @ (classes - probabilities) - ridge[:, np.newaxis] * coefficients
        solved = [
            cho_solve((root, True), of_class, check_finite=False)
            for root, of_class in zip(cycle(roots), gradient.T, strict=False)
        ]
        step = np.transpose(solved - np.mean(solved, axis=0))
        change = design @ step
        largest = float(np.abs(change).max())
        scale = min(1.0, MAX_CHANGE / max(largest, MIN_PROBABILITY))
        coefficients += scale * step
        logits += scale * change
        if largest < TOLERANCE:
            break
    probabilities = _softmax(logits)
    weights = _weights(probabilities)
    halves = [
        solve_triangular(root, design.T, lower=True, check_finite=False)
        for root in _roots(design, ridge, weights)
    ]
    leverage = np.stack([(half**2).sum(axis=0) for half in halves], axis=1)
    # Logits are relative: those of K classes share the step of one.
    share = (n_classes - 1) / n_classes
    remainder = np.maximum(1.0 - weights * leverage, 0.1)
    left_out = logits + share * leverage * (probabilities - classes) / remainder
    probabilities = _softmax(left_out)
    return ClassFit(probabilities, _deviance(probabilities, classes))


def _weights(probability: FloatArray) -> FloatArray:
    """Return the weights of samples in the fit of a class."""
    return np.maximum(probability * (1.0 - probability), MIN_WEIGHT)


def _roots(design: FloatArray, ridge: FloatArray, weights: FloatArray) -> list[FloatArray]:
    """Return Cholesky factors of second derivatives for each class; those of two are one."""
    found = []
    for weight in weights.T[: 1 if weights.shape[1] == 2 else None]:
        weighted = design * np.sqrt(weight)[:, np.newaxis]
        hessian = weighted.T @ weighted
        hessian[np.diag_indices_from(hessian)] += ridge
        found.append(np.linalg.cholesky(hessian))
    return found


def _softmax(logits: FloatArray) -> FloatArray:
    exponents = np.exp(logits - logits.max(axis=1, keepdims=True))
    return np.asarray(exponents / exponents.sum(axis=1, keepdims=True))


def _deviance(probabilities: FloatArray, classes: FloatArray) -> float:
    own = (probabilities * classes).sum(axis=1)
    return float(-2.0 * np.log(np.maximum(own, MIN_PROBABILITY)).sum())
