"""Textbook tests of additive models: one candidate given others, and forward selection.

Numbers are tested by F, classes by the likelihood ratio of (multinomial) logistic regressions.
Forward selection adds the column of smallest p-value until that is above alpha, over the number of
candidates left (Bonferroni). Nothing of the package is needed.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.special import ndtri
from scipy.stats import chi2, f, rankdata
from sklearn.linear_model import LogisticRegression
from sklearn.preprocessing import SplineTransformer

Array = NDArray[np.float64]

ALPHA = 0.05
#: Levels up to which numbers are taken as labels, and rows that a level must have.
FEW_LEVELS, LEAST_ROWS = 4, 5
#: Classes: of more candidates, only those with the largest correlation with residuals are fitted.
N_SCREENED = 10
WEAK_PENALTY = 1e3  # so that separated classes have a fit, too


def indicators(values: NDArray[Any]) -> Array:
    """Return an indicator of every level but the first that has enough rows."""
    levels, counts = np.unique(values.astype(str), return_counts=True)
    kept = levels[1:][counts[1:] >= LEAST_ROWS]
    return (values.astype(str)[:, np.newaxis] == kept).astype(float)


def line(values: Array) -> Array:
    """Return the values over their standard deviation."""
    return ((values - values.mean()) / (values.std() or 1.0))[:, np.newaxis]


def cubic(values: Array) -> Array:
    """Return the first three powers."""
    return line(values) ** np.arange(1, 4)


def spline(values: Array) -> Array:
    """Return cubic splines with six knots at quantiles."""
    knots = np.unique(np.quantile(values, np.linspace(0, 1, 6)))
    splines = SplineTransformer(knots=knots[:, np.newaxis], include_bias=False)
    return np.asarray(splines.fit_transform(values[:, np.newaxis]))


def hermite(values: Array) -> Array:
    """Return the first three powers of normal scores, centred."""
    z = ndtri(rankdata(values) / (len(values) + 1))
    return np.column_stack([z, z**2 - 1, z**3 - 3 * z])


BASES: dict[str, Callable[[Array], Array]] = {
    "line": line,
    "cubic F": cubic,
    "spline F": spline,
    "glm forward": hermite,
}


def basis(values: NDArray[Any], name: str, is_label: bool = False) -> Array:
    """Return the functions of a column: indicators of labels and of few levels."""
    if is_label or values.dtype.kind not in "fiub" or len(np.unique(values)) <= FEW_LEVELS:
        return indicators(values)
    return BASES[name](values.astype(float))


def with_products(first: Array, second: Array) -> Array:
    """Return the columns of the second, and their products with those of the first."""
    products = (first[:, :, np.newaxis] * second[:, np.newaxis]).reshape(len(first), -1)
    return np.column_stack([second, products])


def p_value(base: Array, more: Array, y: NDArray[Any]) -> float:
    """Return the p-value of further columns in a model of y, of numbers or of classes."""
    if y.dtype.kind == "f":
        residuals = y - _fitted(base, y)
        return float(_f_tests(base, [more], residuals)[0])
    n_classes = len(np.unique(y))
    gain = _deviance(base, y) - _deviance(np.column_stack([base, more]), y)
    return float(chi2.sf(gain, more.shape[1] * (n_classes - 1)))


def forward(
    columns: Sequence[NDArray[Any]], y: NDArray[Any], name: str, nominal: Sequence[bool] = ()
) -> list[int]:
    """Return the columns that forward selection by a basis finds."""
    labels = nominal if len(nominal) else [False] * len(columns)
    bases = [basis(one, name, label) for one, label in zip(columns, labels, strict=True)]
    left = [place for place, one in enumerate(bases) if one.shape[1]]
    selected: list[int] = []
    while left:
        base = np.column_stack([np.ones((len(y), 1)), *(bases[place] for place in selected)])
        if y.dtype.kind == "f":
            p = _f_tests(base, [bases[place] for place in left], y - _fitted(base, y))
            tested = left
        else:
            tested = _screened(base, bases, left, y)
            p = np.array([p_value(base, bases[place], y) for place in tested])
        if p.min() * len(left) > ALPHA:
            break
        selected.append(tested[int(p.argmin())])
        left.remove(selected[-1])
    return selected


def _fitted(base: Array, y: Array) -> Array:
    return np.asarray(base @ np.linalg.lstsq(base, y, rcond=None)[0])


def _f_tests(base: Array, candidates: Sequence[Array], residuals: Array) -> Array:
    """Return the p-values of candidates by what they explain of residuals."""
    q_base = _orthonormal(base, 1e-10)
    total, p = residuals @ residuals, np.ones(len(candidates))
    for place, one in enumerate(candidates):
        q_own = _orthonormal(one - q_base @ (q_base.T @ one), 1e-8, np.linalg.norm(one))
        n_own = q_own.shape[1]
        n_left = len(residuals) - q_base.shape[1] - n_own
        if n_own and n_left > 0:
            explained = float(((q_own.T @ residuals) ** 2).sum())
            ratio = (explained / n_own) / max((total - explained) / n_left, 1e-300)
            p[place] = f.sf(ratio, n_own, n_left)
    return p


def _orthonormal(columns: Array, tolerance: float, size: float = 0.0) -> Array:
    """Return an orthonormal basis of columns; what is small beside the size is rounding."""
    u, s, _ = np.linalg.svd(columns, full_matrices=False)
    return np.asarray(u[:, s > tolerance * max(size, s[0], 1e-300)])


def _screened(base: Array, bases: Sequence[Array], left: list[int], y: NDArray[Any]) -> list[int]:
    """Return the candidates that explain most of the residuals of the classes."""
    if len(left) <= N_SCREENED:
        return left
    classes = (y[:, np.newaxis] == np.unique(y)[1:]).astype(float)
    candidates = [bases[place] for place in left]
    residuals = classes - _probabilities(base, y)[:, 1:]
    p = [_f_tests(base, candidates, column - column.mean()) for column in residuals.T]
    return [left[place] for place in np.argsort(np.min(p, axis=0))[:N_SCREENED]]


def _probabilities(base: Array, y: NDArray[Any]) -> Array:
    """Return the fitted probabilities of the classes; the first column is the constant."""
    if base.shape[1] == 1:
        counts = np.unique(y, return_counts=True)[1]
        return np.tile(counts / len(y), (len(y), 1))
    model = LogisticRegression(C=WEAK_PENALTY, max_iter=500).fit(base[:, 1:], y)
    return np.asarray(model.predict_proba(base[:, 1:]))


def _deviance(base: Array, y: NDArray[Any]) -> float:
    own = _probabilities(base, y)[np.arange(len(y)), np.unique(y, return_inverse=True)[1]]
    return float(-2 * np.log(np.maximum(own, 1e-300)).sum())


METHODS = {name: partial(forward, name=name) for name in BASES}
