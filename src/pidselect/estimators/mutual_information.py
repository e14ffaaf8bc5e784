r"""The public function `mutual_information`: I(x; y) or I(x; y | given) in one call.

Nearest neighbours in (x, y, S) are far apart if S has several columns, and dependence of x and y
within that distance is lost: for the sum of ten normal variables and N = 1000 samples, `KSG` of the
ranks has 0.07 bit where 0.50 is true. Two identities help. For any functions g and f,

.. math:: I(x; y | S) = I(x - g(S); y - f(S) | S) = I(x - g(S); y - f(S) | c S), \quad c > 0 .

So with ``estimator="auto"`` x and y are replaced by their residuals on S (`estimators.regression`),
and the columns of S are put on a smaller scale, so that neighbours are near in x and y rather than
in S. The same example has 0.46 bit.

A column of labels has no residuals. Given a smaller scale of S, dependence of both on S could then
appear as dependence of x and y: for a nominal target, S remains on its scale.
"""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
from scipy.stats import rankdata

from pidselect.data import CLASS_LEVELS, Block, check_choice, is_constant, read_block
from pidselect.estimators.base import NATS_PER_UNIT, Batch, Estimator, Unit, check_same_length
from pidselect.estimators.discrete import Discrete
from pidselect.estimators.ksg import KSG
from pidselect.estimators.mixed import Mixed
from pidselect.estimators.registry import default_estimator, resolve
from pidselect.estimators.regression import Regression

#: The scale of the conditioning set, given a target of numbers. Of 0.1, 0.25, 0.5 and 1, it has the
#: smallest error over 13 systems with 1 to 9 columns of S and N from 300 to 4,000.
GIVEN_SCALE = 0.25


def mutual_information(
    x: Any, y: Any, given: Any = None, *, estimator: str | Estimator = "auto", unit: Unit = "bit"
) -> float:
    """Estimate the (conditional) mutual information I(x; y | given).

    Parameters
    ----------
    x, y : array-like or table, shape (n_samples,) or (n_samples, n_columns)
        Several columns form one joint variable.
    given : array-like or table, optional
        The conditioning set. Without it, the mutual information I(x; y) is estimated.
    estimator : str or object
        "auto" chooses by feature types: "ksg-rank" for continuous columns,
        "discrete" for columns of at most 20 levels, else "mixed-rank"; given columns of numbers,
        nearest neighbours of what a regression on these leaves. Others are "ksg", "mixed",
        "gaussian", "copula", or an object such as ``KSG(k=10)``.
    unit : {"bit", "nat"}

    Returns
    -------
    float
        The estimate, never clipped: for independent variables it scatters around zero and may be
        negative.

    See Also
    --------
    decompose : Which part of the information is unique, shared and synergistic.
    PIDSelector : Select features by the same quantity, with tests.

    Examples
    --------
    One input of an XOR gate is independent of the output, but determines it given the other input.

    >>> import numpy as np
    >>> from pidselect import mutual_information
    >>> rng = np.random.default_rng(0)
    >>> noise, signal = rng.integers(0, 2, size=(2, 1000))
    >>> total = (noise + signal) % 2
    >>> abs(round(mutual_information(noise, total), 2))
    0.0
    >>> round(mutual_information(noise, total, given=signal), 2)
    1.0
    """
    check_choice(unit, tuple(NATS_PER_UNIT), "unit")
    x_block, y_block = read_block(x, "x"), read_block(y, "y", target=True)
    given_block = Block() if given is None else read_block(given, "given")
    for name, block in (("x", x_block), ("given", given_block)):
        if len(block):
            check_same_length(block, y_block.n_samples, name)
    chosen = resolve(estimator, x_block + y_block + given_block)
    is_auto = isinstance(estimator, str) and estimator == "auto"
    if is_auto and isinstance(chosen, Discrete):
        chosen = Discrete("miller-madow")
    elif is_auto and has_numbers(given_block):
        return by_residuals(x_block, y_block, given_block) / NATS_PER_UNIT[unit]
    if estimate := getattr(chosen, "estimate", None):
        value = estimate(x_block, y_block, given_block)
    else:
        value = chosen.bind(y_block, given_block).score(Batch.observed(x_block))[0]
    return float(value) / NATS_PER_UNIT[unit]


def has_numbers(given: Block) -> bool:
    """Return whether a column of the conditioning set is a number, or a count of many levels."""
    return any(
        column.feature_type != "nominal"
        and (not column.is_discrete or column.levels() > CLASS_LEVELS)
        for column in given.columns
    )


def by_residuals(x: Block, target: Block, given: Block) -> float:
    """Return I(x; y | S) in nats, of ranks of the residuals of x and y on S."""
    regression = Regression.of(target, list(x.columns), given)
    has_labels = any(column.feature_type == "nominal" for column in target.columns)
    x, target = (varying(block) for block in (regression.residual(x), regression.target))
    if not len(x) or not len(target):  # S determines x or y
        return 0.0
    is_continuous = default_estimator(x + target + given) == "ksg-rank"
    estimator = KSG(scale=None) if is_continuous else Mixed(scale=None)
    return estimator.estimate(
        unit_ranks(x),
        unit_ranks(target),
        unit_ranks(given, 1.0 if has_labels else GIVEN_SCALE),
    )


def varying(block: Block) -> Block:
    """Return the columns that are not constant."""
    return Block(tuple(column for column in block.columns if not is_constant(column.values)))


def unit_ranks(block: Block, scale: float = 1.0) -> Block:
    """Return columns of numbers as ranks from 0 to `scale`, equal values with their mean rank."""
    columns = list(block.columns)
    for place, column in enumerate(columns):
        if column.feature_type != "nominal":
            known = ~np.isnan(column.values)
            rank = rankdata(column.values[known])
            ranks = np.full(len(known), np.nan)
            ranks[known] = scale * (rank - 0.5) / max(1, len(rank))
            columns[place] = replace(column, values=ranks)
    return Block(tuple(columns))
