"""Selections, importances and predictions by columns: what Experiments III and IV compare."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from reproduction.agreement import equal_columns
from reproduction.experiment import Cell, Results, attempt
from reproduction.quantities import Quantity, share

Array = NDArray[np.float64]

#: The methods of forward selection.
FORWARD = {"lars": "LARS", "forest": "forest"}


class Model(NamedTuple):
    """A model: its name, its columns, and the arguments of its runs.

    Methods that return a quantity compute it from selections: our own, by the name of their
    settings, or forward selections by a method; or from importances or errors of prediction.
    """

    name: str
    relevant: Sequence[str]
    other: Sequence[str]
    point: Mapping[str, Any]

    @property
    def columns(self) -> list[str]:
        """The columns in their order."""
        return [*self.relevant, *self.other]

    def selections(self, r: Results, how: str, steps: int | None = None) -> list[list[str]]:
        """Return the first columns of each selection."""
        if how in FORWARD:
            runs = r.of(f"forward-{how}", **self.point, method=how)
        else:
            runs = r.of("selection", **self.point, settings=how)
        return [run["selected"][:steps] for run in runs]

    def each(
        self, how: str, value: Callable[[list[str]], float], steps: int | None = None
    ) -> Quantity:
        """Return a number of each selection."""
        return Quantity(
            lambda r: np.array([float(value(one)) for one in self.selections(r, how, steps)])
        )

    def holds(self, how: str, condition: Callable[[list[str]], bool]) -> Quantity:
        """Return the percentage of selections for which a condition holds."""
        return self.each(how, lambda one: 100.0 * condition(one))

    def selected(self, how: str, names: Sequence[str], steps: int | None = None) -> Quantity:
        """Return the percentage of some columns that each selection has."""
        return self.each(how, lambda one: share(one, names), steps)

    def found(self, how: str, steps: int | None = None) -> Quantity:
        """Return the percentage of the relevant columns that each selection has."""
        return self.selected(how, self.relevant, steps)

    def false(self, how: str) -> Quantity:
        """Return the percentage of the other columns that each selection has."""
        return self.selected(how, self.other)

    def equal(self, how: str, names: Sequence[str]) -> Quantity:
        """Return whether some columns are selected equally often."""
        columns = [self.selected(how, [name]) for name in names]
        return Quantity(lambda r: equal_columns(np.array([one(r) for one in columns]).T))

    def importances(self, r: Results, method: str, names: Sequence[str]) -> Array:
        """Return the importances of some columns, shape (n_runs, n_names)."""
        return np.array([[run[method][x] for x in names] for run in r.of("methods", **self.point)])

    def importance(self, method: str, *names: str, of: Callable[..., Array] = np.mean) -> Quantity:
        """Return the mean importance of some columns, or another function of it."""
        return Quantity(lambda r: of(self.importances(r, method, names), axis=1))

    def lowest_correlation(self) -> Quantity:
        """Return the lower correlation of Lasso's and of SVR's importances with those of LARS."""

        def values(r: Results) -> Array:
            tables = (self.importances(r, by, self.columns) for by in ("lars", "lasso", "svr"))
            runs = zip(*tables, strict=True)
            return np.array([np.corrcoef(table)[0, 1:].min() for table in runs])

        return Quantity(values)

    def errors(self, r: Results, part: str = "neighbours", **point: Any) -> Array:
        """Return the error of prediction from each set of columns, shape (n_runs, n_sets)."""
        return np.array([run["errors"] for run in r.of(part, **self.point, **point)])

    def place(self, names: Sequence[str]) -> int:
        """Return the position of a set of columns among the errors."""
        return sum(1 << self.columns.index(name) for name in names) - 1

    def error(self, names: Sequence[str]) -> Quantity:
        """Return the error of prediction from a set of columns."""
        return Quantity(lambda r: self.errors(r)[:, self.place(names)])


def rates(
    row: str, prefix: str, model: Model, how: str, paper: Sequence[float | None]
) -> Callable[[Results], Iterator[Cell]]:
    """Return cells of true and false positives and negatives in percent."""

    def cells(results: Results) -> Iterator[Cell]:
        true, wrong = (np.array(attempt(f(how), results)) for f in (model.found, model.false))
        values = (true, 100.0 - wrong, wrong, 100.0 - true)
        for rate, ours, theirs in zip(("TP", "TN", "FP", "FN"), values, paper, strict=True):
            yield Cell(row, prefix + rate, ours, theirs)

    return cells
