"""The public function `mutual_information`: I(x; y) or I(x; y | given) in one call."""

from __future__ import annotations

from typing import Any

from pidselect.data import Block, check_choice, read_block
from pidselect.estimators.base import NATS_PER_UNIT, Batch, Estimator, Unit, check_same_length
from pidselect.estimators.conditional import estimate_given, is_shown_by_residuals, less_biased
from pidselect.estimators.registry import resolve


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
        nearest neighbours of what a regression on these leaves (`estimators.conditional`). Others
        are "ksg", "mixed", "gaussian", "copula", or an object such as ``KSG(k=10)``.
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
    chosen = less_biased(chosen) if is_auto else chosen
    if is_auto and is_shown_by_residuals(chosen, given_block):
        value = estimate_given(x_block, y_block, given_block)
    elif estimate := getattr(chosen, "estimate", None):
        value = estimate(x_block, y_block, given_block)
    else:
        value = chosen.bind(y_block, given_block).score(Batch.observed(x_block))[0]
    return float(value) / NATS_PER_UNIT[unit]
