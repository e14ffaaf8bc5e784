"""Estimators by name, and mutual information in one call."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
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
    "mixed-rank": lambda: Mixed(scale="rank"),
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
    if isinstance(estimator, (tuple, list)):
        raise TypeError(
            f"estimator={estimator!r} names several, but one value needs one estimator, such as "
            f"estimator={estimator[0]!r}."
            if estimator
            else "estimator=() names none. Give a name or an object such as KSG(k=4)."
        )
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
    if all(
        column.feature_type == "continuous" and not column.has_missing for column in block.columns
    ):
        return "ksg"
    if all(column.is_discrete and column.levels() <= CLASS_LEVELS for column in block.columns):
        return "discrete"
    return "mixed"


def is_portfolio(estimator: object) -> bool:
    """Return whether a selection weighs several estimators against each other."""
    return (
        estimator == "auto" if isinstance(estimator, str) else isinstance(estimator, (tuple, list))
    )


def resolve_members(
    estimator: str | Estimator | tuple[str | Estimator, ...] | list[str | Estimator], block: Block
) -> tuple[tuple[str, Estimator], ...]:
    """Return the estimators of a selection with the names they go by in its record.

    Parameters
    ----------
    estimator : str, object, or tuple or list of these
        "auto" stands for those that suit the columns, see `default_portfolio`.
    block : Block
        All columns that will ever be scored.

    Examples
    --------
    >>> resolve_members(("copula", KSG(), KSG(k=10)), Block())
    (('copula', Copula()), ('KSG', KSG()), ('KSG 2', KSG(k=10)))
    """
    chosen: tuple[str | Estimator, ...]
    if not isinstance(estimator, (tuple, list)):
        chosen = default_portfolio(block) if is_portfolio(estimator) else (estimator,)
    elif not estimator:
        raise ValueError(f"estimator={estimator!r} names none: give at least one.")
    elif "auto" in [one for one in estimator if isinstance(one, str)]:
        raise ValueError(
            f'estimator={estimator!r}: "auto" is a choice of its own and cannot be one of several. '
            'Use estimator="auto", or name the estimators.'
        )
    else:
        chosen = tuple(estimator)
    found = [resolve(one, block) for one in chosen]
    for place, one in enumerate(found):
        if any(_are_same(one, other) for other in found[:place]):
            raise ValueError(
                f"estimator={estimator!r} has {chosen[place]!r} twice: leave one of them out."
            )
    return tuple(zip(_names(chosen), found, strict=True))


def default_portfolio(block: Block) -> tuple[str, ...]:
    """Return the estimators that suit the columns, which is what "auto" selects with.

    ==================================================== ========================
    all columns                                          estimators
    ==================================================== ========================
    continuous, none missing                             "ksg-rank", "copula"
    discrete, at most 20 levels each, unordered          "discrete"
    ... or some of them ordinal with more than 2 levels  "discrete", "copula"
    any others                                           "mixed-rank", "copula"
    ==================================================== ========================

    The first of each sees any relation, and the second those that are monotone, with far fewer
    samples; of labels alone it would see nothing that counting does not.
    """
    general = _fitting(block)
    if general == "discrete":
        ordered = any(
            column.feature_type == "ordinal" and column.levels() > 2 for column in block.columns
        )
        return ("discrete", "copula") if ordered else ("discrete",)
    return (f"{general}-rank", "copula")


def _names(estimators: Sequence[str | Estimator]) -> list[str]:
    """Return a name for each: as given, or its class, with a number from the second one on."""
    names: list[str] = []
    classes: list[str] = []
    for one in estimators:
        if isinstance(one, str):
            names.append(one)
            continue
        classes.append(type(one).__name__)
        number = classes.count(classes[-1])
        names.append(classes[-1] if number == 1 else f"{classes[-1]} {number}")
    return names


def _are_same(one: Estimator, other: Estimator) -> bool:
    return one is other or (type(one) is type(other) and one.get_params() == other.get_params())


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
        "auto" chooses by the kinds of the columns; else "ksg", "ksg-rank", "mixed", "mixed-rank",
        "discrete", "gaussian", "copula", or an object such as ``KSG(k=10)``.
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
