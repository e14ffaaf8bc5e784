"""Estimators by name, and those chosen by feature types: the defaults ("auto") and the paper's."""

from __future__ import annotations

from collections.abc import Callable

from pidselect.data import CLASS_LEVELS, Block, Column, check_choice
from pidselect.estimators.base import Estimator
from pidselect.estimators.discrete import Discrete
from pidselect.estimators.gaussian import Copula, Gaussian
from pidselect.estimators.ksg import KSG
from pidselect.estimators.mixed import Mixed

#: Every named estimator. A new one is one more line.
ESTIMATORS: dict[str, Callable[[], Estimator]] = {
    "ksg": KSG,
    "ksg-rank": lambda: KSG(scale="rank"),
    "mixed": Mixed,
    "mixed-rank": lambda: Mixed(scale="rank"),
    "discrete": Discrete,
    "gaussian": Gaussian,
    "copula": Copula,
}


def resolve(estimator: str | Estimator, block: Block) -> Estimator:
    """Return the estimator of a name; "auto" is the `default_estimator` of the columns."""
    if isinstance(estimator, (tuple, list)):
        raise TypeError(
            f"estimator={estimator!r} holds several, but one is used: pass a name such as 'auto', "
            "or an object such as KSG(k=4)."
        )
    if not isinstance(estimator, str):
        if isinstance(estimator, type):
            raise TypeError(f"estimator={estimator!r} is a class; use {estimator.__name__}().")
        if not hasattr(estimator, "bind"):
            raise TypeError(
                f"estimator={estimator!r} is not an estimator: it has no method bind(target, "
                'given). Pass a name such as "auto" or "ksg", or an object such as KSG(k=4).'
            )
        return estimator
    name = str(estimator)  # also of a subclass of str, as in arrays of NumPy
    check_choice(name, (*BY_TYPES, *ESTIMATORS), "estimator")
    return ESTIMATORS[BY_TYPES[name](block) if name in BY_TYPES else name]()


def default_estimator(block: Block) -> str:
    """Return the name of the default estimator for the columns of all variables.

    "ksg-rank" if all are continuous without missing values, "discrete" if all are discrete with at
    most 20 levels each, else "mixed-rank".
    """
    if all(
        column.feature_type == "continuous" and not column.has_missing for column in block.columns
    ):
        return "ksg-rank"
    if all(column.is_discrete and column.levels() <= CLASS_LEVELS for column in block.columns):
        return "discrete"
    return "mixed-rank"


def paper_estimator(block: Block) -> str:
    """Return the name of the paper's estimator for the columns of all variables.

    "ksg" if all are numbers, continuous or with more than 20 ordinal levels; "discrete" if none is.
    """
    numbers, levels = list[Column](), list[Column]()
    for column in block.columns:
        is_many = column.feature_type == "ordinal" and column.levels() > CLASS_LEVELS
        (numbers if is_many or not column.is_discrete else levels).append(column)
    if numbers and levels:
        raise ValueError(
            'estimator="paper" needs numbers alone (KSG) or few levels alone (plug-in), but column '
            f"{levels[0].name!r} is {levels[0].feature_type} with {levels[0].levels()} levels and "
            f'{numbers[0].name!r} a number. Use estimator="mixed", or state "continuous" in '
            "feature_types for levels that are numbers. The paper's experiment I adds noise to "
            "class labels."
        )
    return "ksg" if numbers else "discrete"


#: The rule of a name that stands for an estimator by feature types.
BY_TYPES: dict[str, Callable[[Block], str]] = {"auto": default_estimator, "paper": paper_estimator}
