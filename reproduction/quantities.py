"""Quantities of each run, of which claims and tables consist."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from typing import Any, Concatenate, ParamSpec

import numpy as np
from numpy.typing import NDArray

from reproduction.experiment import Cell, Results, attempt

P = ParamSpec("P")


class Quantity:
    """A quantity of each run, computed from the results when they are there.

    Differences, sums and ratios are run by run, of the runs that both have.

    Examples
    --------
    >>> late, soon = Quantity(lambda r: [3.0, 4.0, 9.0]), Quantity(lambda r: [1.0, 1.0])
    >>> (100 * (late - soon))(Results([]))
    array([200., 300.])
    """

    def __init__(self, values: Callable[[Results], Any]) -> None:
        self._values = values

    def __call__(self, results: Results) -> Any:
        """Return the quantity of each run, or several by label."""
        return self._values(results)

    def _with(self, other: Any, operate: Callable[[Any, Any], Any]) -> Quantity:
        def values(results: Results) -> Any:
            first = np.asarray(self(results), dtype=float)
            if not isinstance(other, Quantity):
                return operate(first, other)
            second = np.asarray(other(results), dtype=float)
            runs = min(len(first), len(second))
            return operate(first[:runs], second[:runs])

        return Quantity(values)

    def __sub__(self, other: Any) -> Quantity:
        return self._with(other, np.subtract)

    def __rmul__(self, factor: float) -> Quantity:
        return self._with(factor, np.multiply)

    def __truediv__(self, other: Any) -> Quantity:
        return self._with(other, np.divide)


def quantity(
    function: Callable[Concatenate[Results, P], Any],
) -> Callable[P, Quantity]:
    """Return a function of the other arguments that returns the quantity."""
    return lambda *arguments, **options: Quantity(lambda r: function(r, *arguments, **options))


def percent(holds: Iterable[Any]) -> NDArray[np.float64]:
    """Return 100 where something holds and 0 elsewhere: the mean is a percentage."""
    return np.array([100.0 if value else 0.0 for value in holds])


def share(names: Sequence[str], group: Sequence[str]) -> float:
    """Return the percentage of a group that is among the names.

    Examples
    --------
    >>> share(["Z1", "W2", "W3"], ["W1", "W2", "W3", "W4"])
    50.0
    """
    return 100.0 * len(set(names) & set(group)) / len(group)


def grid(
    values: Callable[..., Quantity], rows: Mapping[Any, str], columns: Mapping[Any, str]
) -> Callable[[Results], Iterator[Cell]]:
    """Return a table of ``values(row, column)``, by the labels of rows and columns."""
    return lambda results: (
        Cell(row_label, label, attempt(values(row, column), results))
        for row, row_label in rows.items()
        for column, label in columns.items()
    )
