"""Estimators by name, and mutual information in one call."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any, Literal

from pidselect.data import CLASS_LEVELS, Block, check_choice, read_block
from pidselect.estimators.base import Batch, Estimator
from pidselect.estimators.discrete import Discrete
from pidselect.estimators.gaussian import Copula, Gaussian
from pidselect.estimators.ksg import KSG
from pidselect.estimators.mixed import Mixed

#: Every estimator that has a name. To add one, add its line.
ESTIMATORS: dict[str, Callable[[], Estimator]] = {
    "ksg": KSG,
    "ksg-rank": lambda: KSG(scale="rank"),
    "mixed": Mixed,
    "discrete": Discrete,
    "gaussian": Gaussian,
    "copula": Copula,
}

Unit = Literal["bit", "nat"]
NATS_PER_UNIT: dict[str, float] = {"bit": math.log(2.0), "nat": 1.0}


def resolve(estimator: str | Estimator, block: Block) -> Estimator:
    """Return the estimator that a name stands for.

    "auto" goes by the columns of `block`, which is all that will ever be scored: "ksg" if all are
    continuous, "discrete" if all are discrete with at most 20 levels each, else "mixed".
    """
    if not isinstance(estimator, str):
        if isinstance(estimator, type):
            raise TypeError(f"estimator={estimator!r} is a class; use {estimator.__name__}().")
        if not hasattr(estimator, "bind"):
            raise TypeError(
                f"estimator={estimator!r} is no estimator: it has no method bind(target, given). "
                'Give a name such as "auto" or "ksg", or an object such as KSG(k=4).'
            )
        return estimator
    check_choice(estimator, ("auto", *ESTIMATORS), "estimator")
    return ESTIMATORS[_fitting(block) if estimator == "auto" else estimator]()


def _fitting(block: Block) -> str:
    if all(column.kind == "continuous" and not column.has_missing for column in block.columns):
        return "ksg"
    if all(column.is_discrete and column.levels() <= CLASS_LEVELS for column in block.columns):
        return "discrete"
    return "mixed"


def mutual_information(
    x: Any, y: Any, given: Any = None, *, estimator: str | Estimator = "auto", unit: Unit = "bit"
) -> float:
    """Estimate how much x tells about y, given what else is known.

    Parameters
    ----------
    x, y : array-like or table, shape (n_samples,) or (n_samples, n_columns)
        Two variables; several columns count as one joint variable.
    given : array-like or table, optional
        What is known already: the value is then the conditional mutual information
        I(x; y | given).
    estimator : str or object
        "auto" chooses by the kinds of the columns; else "ksg", "ksg-rank", "mixed", "discrete",
        "gaussian", "copula", or an object such as ``KSG(k=10)``.
    unit : {"bit", "nat"}

    Returns
    -------
    float
        The estimate as it is: where there is no information it scatters around zero, and may be
        negative.

    Examples
    --------
    Noise tells nothing about the sum by itself, and everything once the signal is known.

    >>> import numpy as np
    >>> rng = np.random.default_rng(0)
    >>> noise, signal = rng.integers(0, 2, size=(2, 1000))
    >>> total = (noise + signal) % 2
    >>> round(mutual_information(noise, total), 2)
    0.0
    >>> round(mutual_information(noise, total, given=signal), 2)
    1.0
    """
    check_choice(unit, tuple(NATS_PER_UNIT), "unit")
    x_block, y_block = read_block(x, "x"), read_block(y, "y", target=True)
    given_block = Block() if given is None else read_block(given, "given")
    for name, block in (("x", x_block), ("given", given_block)):
        if len(block) and block.n_samples != y_block.n_samples:
            raise ValueError(
                f"{name} has {block.n_samples} samples and y has {y_block.n_samples}: "
                "each needs one value per sample."
            )
    bound = resolve(estimator, x_block + y_block + given_block).bind(y_block, given_block)
    return float(bound.score(Batch.observed(x_block))[0]) / NATS_PER_UNIT[unit]
