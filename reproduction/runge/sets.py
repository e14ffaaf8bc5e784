"""The variables of the model by Runge et al., and what is counted of them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import partial

import numpy as np

from pidselect.datasets.base import numbered
from reproduction.agreement import (
    is_about,
    is_above,
    is_at_least,
    is_not_below,
)
from reproduction.averages import share
from reproduction.experiment import Outcome

#: The variables of each set, in the order of columns.
GROUPS = {"Z": numbered("Z", 3), "W": numbered("W", 4), "X": numbered("X", 2)}
VARIABLES = tuple(name for names in GROUPS.values() for name in names)
DRIVERS = (*GROUPS["Z"], *GROUPS["W"])

#: The place of a variable that is not included: after all others.
LAST = len(VARIABLES) + 1


def place(selected: Sequence[str], group: Sequence[str]) -> float:
    """Return the mean place of a group in the order of inclusion; what is left out comes last.

    Examples
    --------
    >>> place(["Z1", "W1", "X1"], GROUPS["X"])
    6.5
    """
    places = [selected.index(name) + 1 if name in selected else LAST for name in group]
    return float(np.mean(places))


def number_of(names: Sequence[str]) -> int:
    """Return the number of a set of variables, as `subset_errors` counts them.

    Examples
    --------
    >>> number_of(["Z1", "Z3"])
    5
    """
    return sum(1 << VARIABLES.index(name) for name in names)


def mean_over(group: str, values: Mapping[str, float]) -> float:
    """Return the mean value of the variables in a set."""
    return float(np.mean([values[name] for name in GROUPS[group]]))


def shares(outcomes: Sequence[Outcome], group: str, first: int | None = None) -> list[float]:
    """Return how much of a set each run has selected, or selected first, in percent."""
    return [share(outcome["selected"][:first], GROUPS[group]) for outcome in outcomes]


# Parts of a claim: the whole has a name and a statement.
above, not_below, at_least, about = (
    partial(build, "", "") for build in (is_above, is_not_below, is_at_least, is_about)
)
