"""Estimators by name, and those chosen by feature types: the defaults ("auto") and the paper's."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Sequence

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
            f"estimator={estimator!r} is a portfolio, but a single value needs one estimator, such "
            f"as estimator={estimator[0]!r}."
            if estimator
            else "estimator=() is empty. Pass a name or an object such as KSG(k=4)."
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


def default_portfolio(block: Block) -> tuple[str, ...]:
    """Return the names of the default estimators of a selection ("auto").

    ==================================================== ========================
    all columns                                          estimators
    ==================================================== ========================
    continuous, none missing                             "ksg-rank", "copula"
    discrete, at most 20 levels each, unordered          "discrete"
    ... or some of them ordinal with more than 2 levels  "discrete", "copula"
    any others                                           "mixed-rank", "copula"
    ==================================================== ========================

    The first is the `default_estimator`, which detects any dependence; the Gaussian copula detects
    monotone dependence with far fewer samples. For nominal columns alone it would detect nothing
    that the first does not.
    """
    general = default_estimator(block)
    is_ordered = general != "discrete" or any(
        column.feature_type == "ordinal" and column.levels() > 2 for column in block.columns
    )
    return (general, "copula") if is_ordered else (general,)


def is_portfolio(estimator: object) -> bool:
    """Return whether a selection combines several estimators."""
    return (
        estimator == "auto" if isinstance(estimator, str) else isinstance(estimator, (tuple, list))
    )


def resolve_portfolio(
    estimator: str | Estimator | tuple[str | Estimator, ...] | list[str | Estimator], block: Block
) -> tuple[tuple[str, Estimator], ...]:
    """Return the estimators of a selection with the names used in its record.

    "auto" is the `default_portfolio` of the block, which holds the columns of all variables, and
    "paper" the `paper_estimator`.

    Examples
    --------
    >>> resolve_portfolio(("copula", KSG(), KSG(k=10)), Block())
    (('copula', Copula()), ('KSG', KSG()), ('KSG 2', KSG(k=10)))
    """
    chosen: tuple[str | Estimator, ...]
    if not isinstance(estimator, (tuple, list)):
        chosen = default_portfolio(block) if is_portfolio(estimator) else (estimator,)
        chosen = (paper_estimator(block),) if chosen == ("paper",) else chosen
    elif not estimator:
        raise ValueError(f"estimator={estimator!r} is empty: pass at least one.")
    elif rules := [one for one in estimator if isinstance(one, str) and one in BY_TYPES]:
        raise ValueError(
            f'estimator={estimator!r}: "{rules[0]}" cannot be one of several. Use '
            f'estimator="{rules[0]}", or name the estimators.'
        )
    else:
        chosen = tuple(estimator)
    resolved = [resolve(one, block) for one in chosen]
    for index, one in enumerate(resolved):
        same = (other for other in resolved[:index] if type(one) is type(other))
        if any(one is other or one.get_params() == other.get_params() for other in same):
            raise ValueError(
                f"estimator={estimator!r} has {chosen[index]!r} twice: remove one of them."
            )
    return tuple(zip(_names(chosen), resolved, strict=True))


def _names(estimators: Sequence[str | Estimator]) -> list[str]:
    """Return the names as passed, and class names numbered from the second one on."""
    names: list[str] = []
    counts: Counter[str] = Counter()
    for one in estimators:
        if isinstance(one, str):
            names.append(str(one))
            continue
        name = type(one).__name__
        counts[name] += 1
        names.append(name if counts[name] == 1 else f"{name} {counts[name]}")
    return names
