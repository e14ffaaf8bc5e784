"""Penalised multinomial regression of classes on bases of the conditioning set.

The probabilities of a sample are those of a fit without it, by one Newton step from the fit with it
(Pregibon 1981); basis and penalty have the smallest deviance of these.

References
----------
Pregibon (1981), Logistic regression diagnostics, Annals of Statistics.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from pidselect.data import FloatArray
from pidselect.estimators.regression import Projection, Smoother, _Ridge

#: Axes of a basis that are used at most, in the samples.
MAX_AXES = 1 / 4

#: Bases that are tried beside lines and products, those with the smallest squared error, and
#: factors of the penalty that is best for squared error.
N_BASES, FACTORS = 3, (1.0, 0.1, 10.0)

#: Newton steps, and the largest change of a logit at which they end.
MAX_STEPS, TOLERANCE = 25, 1e-3

#: Least weight of a sample, and probability of its class.
MIN_WEIGHT, MIN_PROBABILITY = 1e-4, 1e-9

#: Most that a step changes a logit.
MAX_CHANGE = 5.0


class ClassFit(NamedTuple):
    """Probabilities of classes given S, of left-out samples."""

    probabilities: FloatArray  # (n_samples, n_classes)
    deviance: float
    projection: Projection | None  # of functions of candidates, weighted as the samples are


def fit_classes(smoother: Smoother, classes: FloatArray) -> ClassFit:
    """Regress indicators of classes, (n_samples, n_classes), on S."""
    mean = np.broadcast_to(classes.mean(axis=0), classes.shape)
    best = ClassFit(np.asarray(mean), _deviance(mean, classes), None)
    for ridge, shrinkage in _candidates(smoother, classes):
        order = np.argsort(-shrinkage, kind="stable")[: int(MAX_AXES * len(classes))]
        axes, kept = ridge.axes[:, order], np.clip(shrinkage[order], 1e-12, 1.0 - 1e-12)
        for factor in FACTORS:
            fit = _fit(axes, factor * (1.0 - kept) / kept, classes)
            if fit.deviance < best.deviance:
                best = fit
            elif fit.deviance > 1.02 * best.deviance and factor == 1.0:
                break
    return best


def _candidates(smoother: Smoother, classes: FloatArray) -> Sequence[tuple[_Ridge, FloatArray]]:
    """Return lines, products, and the bases with the smallest squared errors."""
    tried = []
    nothing = np.zeros((1, 1), dtype=bool)
    for ridge in (*smoother.first, *smoother.more):
        left, shrinkage = ridge.residuals(classes, nothing)
        tried.append((float((left**2).sum()), ridge, shrinkage.mean(axis=1)))
    simple = [one for one in tried if one[1].basis.is_simple]
    others = sorted((one for one in tried if not one[1].basis.is_simple), key=lambda one: one[0])
    simple = sorted(simple, key=lambda one: one[0])[:2] + simple[:1]
    return [(ridge, shrinkage) for _, ridge, shrinkage in (*simple, *others[:N_BASES])]


def _fit(axes: FloatArray, penalty: FloatArray, classes: FloatArray) -> ClassFit:
    """Fit by Newton steps for each class."""
    n_samples, n_classes = classes.shape
    frequency = classes.mean(axis=0)
    variance = float((frequency * (1.0 - frequency)).mean())
    design = np.column_stack([np.ones(n_samples), axes * np.sqrt(n_samples)])
    weight = np.concatenate([[1e-6], n_samples * variance * penalty])
    coefficients = np.zeros((design.shape[1], n_classes))
    coefficients[0] = np.log(frequency)
    # Two classes have opposite logits, each with half of the step.
    share = 0.5
    logits = design @ coefficients
    for _ in range(MAX_STEPS):
        probabilities = _softmax(logits)
        step = np.zeros_like(coefficients)
        for k in range(n_classes):
            if n_classes == 2 and k == 1:
                step[:, 1] = -step[:, 0]
                break
            own = np.maximum(probabilities[:, k] * (1.0 - probabilities[:, k]), MIN_WEIGHT)
            hessian = (design * own[:, np.newaxis]).T @ design
            hessian[np.diag_indices_from(hessian)] += weight
            gradient = design.T @ (classes[:, k] - probabilities[:, k])
            step[:, k] = share * np.linalg.solve(hessian, gradient - weight * coefficients[:, k])
        change = design @ step
        largest = float(np.abs(change).max())
        scale = min(1.0, MAX_CHANGE / max(largest, 1e-300))
        coefficients += scale * step
        logits += scale * change
        if largest < TOLERANCE:
            break
    probabilities = _softmax(logits)
    left_out = logits.copy()
    total = np.zeros(n_samples)
    for k in range(n_classes):
        own = np.maximum(probabilities[:, k] * (1.0 - probabilities[:, k]), MIN_WEIGHT)
        total += own
        hessian = (design * own[:, np.newaxis]).T @ design
        hessian[np.diag_indices_from(hessian)] += weight
        spread = (design * np.linalg.solve(hessian, design.T).T).sum(axis=1)
        error = probabilities[:, k] - classes[:, k]
        left_out[:, k] += (
            (0.5 if n_classes == 2 else 1.0) * spread * error / np.maximum(1.0 - own * spread, 0.1)
        )
    probabilities = _softmax(left_out)
    return ClassFit(probabilities, _deviance(probabilities, classes), None)


def _softmax(logits: FloatArray) -> FloatArray:
    exponents = np.exp(logits - logits.max(axis=1, keepdims=True))
    return np.asarray(exponents / exponents.sum(axis=1, keepdims=True))


def _deviance(probabilities: FloatArray, classes: FloatArray) -> float:
    own = (probabilities * classes).sum(axis=1)
    return float(-2.0 * np.log(np.maximum(own, MIN_PROBABILITY)).sum())
